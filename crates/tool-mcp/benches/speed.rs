//! CPU time of a server beside a plain server of `rmcp`, with the same client: `cargo bench -p tool-mcp`.
//!
//! Client and server share a thread, whose time on the CPU is read from the kernel (Linux): other programs
//! disturb it little. The client writes prepared bytes and looks for the end of each response, so nearly all
//! time is the server's. Rounds alternate between the servers, and the least time counts.

#![allow(missing_docs)]
#![allow(clippy::cast_precision_loss, clippy::unused_self)]

use std::fmt::Write as _;
use std::sync::Arc;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::JsonSchema;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{Json, ServerHandler, ServiceExt, tool_handler, tool_router};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tool_core::{Registry, ToolType, tool, tools, toolset};
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> String {
    (a + b).to_string()
}

/// A point.
#[derive(Deserialize, JsonSchema, Serialize, ToolType)]
#[schemars(crate = "rmcp::schemars")]
struct Point {
    /// To the right.
    x: i32,
    /// Up.
    y: i32,
}

/// Mirrors a point.
#[tool]
fn mirror(x: i32, y: i32) -> Point {
    Point { x: -x, y: -y }
}

#[derive(Clone)]
struct Weather;

/// The unit of a temperature.
#[derive(Deserialize, JsonSchema, ToolType)]
#[schemars(crate = "rmcp::schemars")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[toolset]
impl Weather {
    /// The forecast for a city.
    #[tool]
    fn forecast(
        &self,
        /// The city.
        city: String,
        /// How many days.
        days: u8,
        /// The unit.
        unit: Option<Unit>,
    ) -> String {
        let _ = unit;
        format!("{city} {days}")
    }
}

fn ours(more: usize) -> Server {
    let mut builder = Registry::builder().tools(tools![add, mirror]);
    for number in 0..more {
        builder = builder.toolset(&format!("city_{number}_"), Weather);
    }
    Server::new(builder.build().unwrap())
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
struct Numbers {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[allow(dead_code)]
struct Forecast {
    /// The city.
    city: String,
    /// How many days.
    days: u8,
    /// The unit.
    unit: Option<Unit>,
}

#[derive(Clone)]
struct Plain {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Plain {
    #[rmcp::tool(description = "Adds two numbers.")]
    fn add(&self, Parameters(Numbers { a, b }): Parameters<Numbers>) -> String {
        (a + b).to_string()
    }

    #[rmcp::tool(description = "Mirrors a point.")]
    fn mirror(&self, Parameters(Point { x, y }): Parameters<Point>) -> Json<Point> {
        Json(Point { x: -x, y: -y })
    }

    #[rmcp::tool(description = "The forecast for a city.")]
    fn forecast(&self, Parameters(forecast): Parameters<Forecast>) -> String {
        format!("{} {}", forecast.city, forecast.days)
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Plain {}

fn plain(more: usize) -> Plain {
    let mut router = Plain::tool_router();
    let forecast = router.map.remove("forecast").unwrap();
    for number in 0..more {
        let name = format!("city_{number}_forecast");
        let mut route = forecast.clone();
        route.attr.name = name.into();
        router.add_route(route);
    }
    Plain {
        tool_router: router,
    }
}

/// Nanoseconds of this thread on the CPU.
fn cpu() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse().unwrap()
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;

const ADD: &str = r#""name":"add","arguments":{"a":2,"b":3}"#;
const MIRROR: &str = r#""name":"mirror","arguments":{"x":2,"y":3}"#;

/// Returns a request of 2026-07-28 (`modern`) or of before.
fn request(id: usize, method: &str, params: &str, modern: bool) -> String {
    let comma = if modern && !params.is_empty() {
        ","
    } else {
        ""
    };
    let meta = if modern { META } else { "" };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{comma}{meta}}}}}"#
    )
}

/// A connection on which each message is a line.
struct Lines<S> {
    stream: S,
    buffer: Vec<u8>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lines<S> {
    async fn ask(&mut self, line: &str) -> usize {
        self.stream.write_all(line.as_bytes()).await.unwrap();
        self.buffer.clear();
        loop {
            self.stream.read_buf(&mut self.buffer).await.unwrap();
            if self.buffer.last() == Some(&b'\n') {
                return self.buffer.len();
            }
        }
    }
}

async fn lines(
    serve: impl FnOnce(tokio::io::DuplexStream),
    modern: bool,
) -> Lines<tokio::io::DuplexStream> {
    let (near, far) = tokio::io::duplex(1 << 20);
    serve(far);
    let mut lines = Lines {
        stream: near,
        buffer: Vec::new(),
    };
    if !modern {
        let params = r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}"#;
        lines
            .ask(&(request(0, "initialize", params, false) + "\n"))
            .await;
        let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        lines
            .stream
            .write_all(initialized.as_bytes())
            .await
            .unwrap();
    }
    lines
}

fn serve_ours(more: usize) -> impl FnOnce(tokio::io::DuplexStream) {
    move |stream| {
        let (input, output) = tokio::io::split(stream);
        tokio::spawn(ours(more).serve_stream(input, output));
    }
}

fn serve_plain(more: usize) -> impl FnOnce(tokio::io::DuplexStream) {
    move |stream| {
        tokio::spawn(async move { plain(more).serve(stream).await.unwrap().waiting().await });
    }
}

/// A connection of HTTP/1.1.
struct Http {
    stream: TcpStream,
    buffer: Vec<u8>,
    session: String,
    port: u16,
}

impl Http {
    async fn connect(port: u16, modern: bool) -> Http {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut http = Http {
            stream,
            buffer: Vec::new(),
            session: String::new(),
            port,
        };
        if !modern {
            let params = r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}"#;
            let body = request(0, "initialize", params, false);
            http.ask(&http.post(&body, "")).await;
            let text = String::from_utf8_lossy(&http.buffer).to_lowercase();
            let (_, rest) = text.split_once("mcp-session-id: ").unwrap();
            let session = rest.lines().next().unwrap();
            http.session = format!("mcp-session-id: {session}\r\n");
            let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            http.ask(&http.post(body, "")).await;
        }
        http
    }

    fn post(&self, body: &str, headers: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\naccept: \
             application/json, text/event-stream\r\n{}{headers}content-length: {}\r\n\r\n{body}",
            self.port,
            self.session,
            body.len()
        )
    }

    fn call(&self, id: usize, method: &str, params: &str, modern: bool) -> String {
        let body = request(id, method, params, modern);
        let mut headers = String::new();
        if modern {
            write!(
                headers,
                "mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n"
            )
            .unwrap();
            if let Some(rest) = params.strip_prefix(r#""name":""#) {
                write!(headers, "mcp-name: {}\r\n", rest.split('"').next().unwrap()).unwrap();
            }
        } else {
            headers.push_str("mcp-protocol-version: 2025-11-25\r\n");
        }
        self.post(&body, &headers)
    }

    /// Returns the length of the response.
    async fn ask(&mut self, request: &str) -> usize {
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.buffer.clear();
        let mut head = None;
        loop {
            let read = self.stream.read_buf(&mut self.buffer).await.unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&self.buffer));
            if head.is_none() {
                head = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            }
            let Some(head) = head else { continue };
            let text = String::from_utf8_lossy(&self.buffer[..head]).to_lowercase();
            let done = match text.split_once("content-length: ") {
                Some((_, rest)) => {
                    let length: usize = rest.lines().next().unwrap().parse().unwrap();
                    self.buffer.len() >= head + 4 + length
                }
                None => self.buffer.ends_with(b"0\r\n\r\n"),
            };
            if done {
                return self.buffer.len();
            }
        }
    }
}

async fn listen_ours(more: usize) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(ours(more).serve(listener, HttpConfig::default()));
    port
}

/// As the documentation of `rmcp` shows it, but with `TCP_NODELAY`.
async fn listen_plain(more: usize, json: bool) -> u16 {
    use axum::serve::ListenerExt as _;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    let server = plain(more);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_json_response(json),
    );
    let router = axum::Router::new().route_service("/mcp", service);
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

const ROUNDS: usize = 7;

/// Pages of memory of this process, in KiB.
fn memory() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4
}

/// Reports the memory of idle sessions, which come over one connection.
async fn sessions() {
    const COUNT: usize = 1000;
    print!("{:<28}", "memory of 1,000 sessions");
    for (name, port) in [
        ("ours", listen_ours(0).await),
        ("plain", listen_plain(0, false).await),
    ] {
        let mut http = Http::connect(port, false).await;
        let params = r#""protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}"#;
        http.session.clear();
        let initialize = http.post(&request(0, "initialize", params, false), "");
        for _ in 0..100 {
            http.ask(&initialize).await;
        }
        let before = memory();
        for _ in 0..COUNT {
            http.ask(&initialize).await;
        }
        print!(" {name} {} KiB", memory() - before);
    }
    println!();
}

fn report(name: &str, count: usize, servers: &[(&str, u64, usize)]) {
    let first = servers[0].1;
    print!("{name:<28}");
    for (server, time, bytes) in servers {
        let micros = *time as f64 / count as f64 / 1000.0;
        print!(" {server} {micros:>8.2} µs {bytes:>6} B");
        if *time != first {
            print!(" ({:.2} × the speed)", *time as f64 / first as f64);
        }
    }
    println!();
}

/// Reports the time from nothing to the first list, of 200 tools, without the start of a process.
async fn start() {
    const COUNT: usize = 20;
    let mut best = [u64::MAX; 2];
    let mut bytes = [0; 2];
    let list = request(7, "tools/list", "", false) + "\n";
    for _ in 0..ROUNDS {
        let begin = cpu();
        for _ in 0..COUNT {
            let mut server = lines(serve_ours(198), false).await;
            bytes[0] = server.ask(&list).await;
        }
        best[0] = best[0].min(cpu() - begin);
        let begin = cpu();
        for _ in 0..COUNT {
            let mut server = lines(serve_plain(198), false).await;
            bytes[1] = server.ask(&list).await;
        }
        best[1] = best[1].min(cpu() - begin);
    }
    let servers = [("ours", best[0], bytes[0]), ("plain", best[1], bytes[1])];
    report("start to the first list", COUNT, &servers);
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    start().await;
    sessions().await;
    for modern in [false, true] {
        let version = if modern { "2026-07-28" } else { "2025-11-25" };
        for (name, method, params, more, count) in [
            ("call", "tools/call", ADD, 0, 3000),
            ("structured", "tools/call", MIRROR, 0, 3000),
            ("list of 200", "tools/list", "", 198, 60),
        ] {
            let mut best = [u64::MAX; 2];
            let mut bytes = [0; 2];
            for _ in 0..ROUNDS {
                let servers = [
                    lines(serve_ours(more), modern).await,
                    lines(serve_plain(more), modern).await,
                ];
                for (index, mut server) in servers.into_iter().enumerate() {
                    let line = request(7, method, params, modern) + "\n";
                    for _ in 0..20 {
                        bytes[index] = server.ask(&line).await;
                    }
                    let text = String::from_utf8_lossy(&server.buffer);
                    assert!(text.contains(r#""result""#), "{text}");
                    let start = cpu();
                    for _ in 0..count {
                        server.ask(&line).await;
                    }
                    best[index] = best[index].min(cpu() - start);
                }
            }
            let servers = [("ours", best[0], bytes[0]), ("plain", best[1], bytes[1])];
            report(&format!("stdio {version} {name}"), count, &servers);

            let ports = [
                listen_ours(more).await,
                listen_plain(more, false).await,
                listen_plain(more, true).await,
            ];
            let mut best = [u64::MAX; 3];
            let mut bytes = [0; 3];
            let count = count.min(1000);
            for _ in 0..ROUNDS {
                for (index, port) in ports.into_iter().enumerate() {
                    let mut http = Http::connect(port, modern).await;
                    let text = http.call(7, method, params, modern);
                    for _ in 0..20 {
                        bytes[index] = http.ask(&text).await;
                    }
                    let reply = String::from_utf8_lossy(&http.buffer);
                    assert!(reply.contains(r#""result""#), "{reply}");
                    let start = cpu();
                    for _ in 0..count {
                        http.ask(&text).await;
                    }
                    best[index] = best[index].min(cpu() - start);
                }
            }
            let servers = [
                ("ours", best[0], bytes[0]),
                ("plain", best[1], bytes[1]),
                ("plain as JSON", best[2], bytes[2]),
            ];
            report(&format!("http {version} {name}"), count, &servers);
        }
    }
}
