//! Serves tools over HTTP.

#[path = "support/log.rs"]
mod log;
mod support;

use std::sync::Arc;

use futures_util::FutureExt;
use log::Log;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientServiceExt, model::ClientCapabilities};
use serde_json::json;
use support::{Answer, BOTH, Lifecycle, Running, TestClient, call, in_time, text};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tool_core::call::Progress;
use tool_core::call::elicit::{Elicit, ElicitError};
use tool_core::{CallContext, Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Reports progress.
#[tool]
fn count(to: u32, call: &CallContext) -> u32 {
    for done in 1..=to {
        call.report(&Progress::of(done.into(), to.into()));
    }
    to
}

/// Asks for a colour.
#[tool]
async fn paint(call: &CallContext) -> Result<String, ElicitError> {
    let answer = call.elicit("go", Elicit::confirm("Paint?")).await?;
    Ok(format!("{answer:?}"))
}

/// Ends when the test says so.
#[tool(unlinked)]
async fn hang(#[param(context)] signals: &Arc<Signals>) {
    struct OnDrop(Arc<Signals>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.dropped.notify_one();
        }
    }
    let _guard = OnDrop(signals.clone());
    signals.started.notify_one();
    std::future::pending::<()>().await;
}

#[derive(Default)]
struct Signals {
    started: Notify,
    dropped: Notify,
}

fn registry() -> Registry {
    let tools = tools![add, count, paint];
    Registry::builder().tools(tools).build().unwrap()
}

/// Starts a server. Returns its address.
async fn serve(server: Server, config: HttpConfig) -> std::net::SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve(listener, config));
    address
}

async fn connect(
    address: std::net::SocketAddr,
    lifecycle: Lifecycle,
    client: TestClient,
) -> Running {
    let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
    client
        .serve_with_lifecycle(transport, lifecycle.mode())
        .await
        .expect("the client connects")
}

#[test]
fn one_sync_tool_on_a_runtime_with_one_thread_is_warned_about() {
    /// Returns at once.
    #[tool(unlinked)]
    async fn quick() {
        tokio::task::yield_now().await;
    }
    /// Has threads of its own.
    #[tool(unlinked, blocking)]
    fn slow() {}

    let warning = |registry: Registry, mut runtime: tokio::runtime::Builder| {
        let (log, _guard) = Log::start(tracing::Level::WARN);
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let serving = Server::new(registry).serve(listener, HttpConfig::default());
            // The first poll warns, and waits for a client.
            assert!(serving.now_or_never().is_none());
        });
        log.text()
    };
    let one = tokio::runtime::Builder::new_current_thread;
    let several = tokio::runtime::Builder::new_multi_thread;
    let text = warning(registry(), one());
    assert!(
        text.contains("a call of a sync tool keeps all clients waiting") && text.contains("add"),
        "{text}"
    );
    assert_eq!(warning(registry(), several()), "");
    let patient = Registry::builder()
        .tools(tools![quick, slow])
        .build()
        .unwrap();
    assert_eq!(warning(patient, one()), "");
}

#[tokio::test]
async fn tools_are_listed_and_called_over_http() {
    let registry = registry();
    let address = serve(Server::new(registry.clone()), HttpConfig::default()).await;
    for lifecycle in BOTH {
        let handler = TestClient::answering([Answer::Decline]);
        let client = connect(address, lifecycle, handler.clone()).await;
        assert_eq!(client.list_all_tools().await.unwrap().len(), 3);
        assert_eq!(text(&client, "add", json!({"a": 2, "b": 3})).await, "5");
        assert_eq!(text(&client, "count", json!({"to": 50})).await, "50");
        let mut seen = handler.progress.lock().unwrap().clone();
        seen.sort_by(f64::total_cmp);
        assert_eq!(seen, (1..=50).map(f64::from).collect::<Vec<_>>());
        assert_eq!(text(&client, "paint", json!({})).await, "Declined");
        if lifecycle == Lifecycle::Modern {
            let filter = rmcp::model::SubscriptionFilter::builder()
                .tools_list_changed()
                .build();
            let mut subscription = in_time(client.listen(filter)).await.unwrap();
            registry.remove("count").unwrap();
            assert!(in_time(subscription.next()).await.unwrap().is_some());
        }
    }
}

#[tokio::test]
async fn a_legacy_client_is_notified_over_http() {
    let registry = registry();
    let address = serve(Server::new(registry.clone()), HttpConfig::default()).await;
    let handler = TestClient::default();
    let client = connect(address, Lifecycle::Legacy, handler.clone()).await;
    // The stream of notifications is open once the server has answered.
    client.list_all_tools().await.unwrap();
    registry.remove("count").unwrap();
    in_time(handler.changes.notified()).await;
}

#[tokio::test]
async fn a_legacy_client_without_a_session_can_not_be_asked() {
    let mut config = HttpConfig::default();
    config.sessions = false;
    let address = serve(Server::new(registry()), config).await;
    let client = connect(address, Lifecycle::Legacy, TestClient::default()).await;
    assert_eq!(text(&client, "add", json!({"a": 2, "b": 3})).await, "5");
    let result = call(&client, "paint", json!({})).await;
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.ends_with("the user can't be asked: the client has no session"),
        "{text}"
    );
    // A modern client needs no session.
    let handler = TestClient::answering([Answer::Decline]);
    let client = connect(address, Lifecycle::Modern, handler).await;
    assert_eq!(support::text(&client, "paint", json!({})).await, "Declined");
    let handler = TestClient {
        capabilities: ClientCapabilities::default(),
        ..TestClient::default()
    };
    let client = connect(address, Lifecycle::Modern, handler).await;
    assert_eq!(
        call(&client, "paint", json!({})).await["error"]["code"],
        -32021
    );
}

/// Sends a request as text. Returns the first line of the response.
async fn status(address: std::net::SocketAddr, headers: &str) -> String {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\n{headers}Content-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    in_time(stream.read_to_string(&mut response)).await.unwrap();
    response.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn pages_of_other_sites_are_kept_out() {
    let mut config = HttpConfig::default();
    config.sessions = false;
    config.origins = vec!["https://app.example.com:443".into()];
    let address = serve(Server::new(registry()), config).await;
    let ok = "HTTP/1.1 200 OK";
    let forbidden = "HTTP/1.1 403 Forbidden";
    for (headers, expected) in [
        ("Host: localhost\r\n", ok),
        ("Host: evil.example.com\r\n", forbidden),
        (
            "Host: localhost\r\nOrigin: https://evil.example.com\r\n",
            forbidden,
        ),
        ("Host: localhost\r\nOrigin: null\r\n", forbidden),
        ("Host: localhost\r\nOrigin: https://app.example.com\r\n", ok),
    ] {
        assert_eq!(status(address, headers).await, expected, "{headers}");
    }
    let address = serve(Server::new(registry()), HttpConfig::default()).await;
    let headers = "Host: localhost\r\nOrigin: http://localhost\r\n";
    assert_eq!(status(address, headers).await, forbidden);
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_call() {
    let signals = Arc::new(Signals::default());
    let registry = Registry::builder()
        .tools(tools![hang])
        .context(signals.clone())
        .build()
        .unwrap();
    let address = serve(Server::new(registry), HttpConfig::default()).await;
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"hang",{meta}}}}}"#
    );
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: \
         hang\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    in_time(signals.started.notified()).await;
    drop(stream);
    in_time(signals.dropped.notified()).await;
}

/// Opens a session, and returns the head lines of its requests.
async fn open_session(stream: &mut TcpStream) -> String {
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    let reply = exchange(stream, "", &initialize).await;
    let (_, id) = reply
        .split_once("mcp-session-id: ")
        .unwrap_or_else(|| panic!("{reply}"));
    let id = id.lines().next().unwrap();
    let headers = format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    exchange(stream, &headers, &initialized).await;
    headers
}

/// Sends a message, and returns the head of the response and, if it has a length, the body.
async fn exchange(stream: &mut TcpStream, headers: &str, message: &serde_json::Value) -> String {
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).await.unwrap();
    let mut received = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&received);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.split("content-length: ").nth(1);
            let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text.into_owned();
            }
        }
        assert_ne!(in_time(stream.read_buf(&mut received)).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_response_of_a_session_is_sent_in_one_piece() {
    let address = serve(Server::new(registry()), HttpConfig::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers = open_session(&mut stream).await;
    let params = json!({"name": "add", "arguments": {"a": 2, "b": 3}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let reply = exchange(&mut stream, &headers, &call).await;
    assert!(reply.contains("content-length: "), "{reply}");
    assert!(reply.contains("text/event-stream"), "{reply}");
    assert!(reply.contains(r#""text":"5""#), "{reply}");
}

#[tokio::test]
async fn a_stream_starts_before_a_call_that_waits() {
    let signals = Arc::new(Signals::default());
    let builder = Registry::builder().tools(tools![hang]);
    let registry = builder.context(signals.clone()).build().unwrap();
    let address = serve(Server::new(registry), HttpConfig::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers = open_session(&mut stream).await;
    let params = json!({"name": "hang"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let reply = exchange(&mut stream, &headers, &call).await;
    assert!(reply.contains("transfer-encoding: chunked"), "{reply}");
    in_time(signals.started.notified()).await;
    drop(stream);
}

#[tokio::test]
async fn a_call_that_rmcp_does_not_read_is_answered_as_if_it_did() {
    let address = serve(Server::new(registry()), HttpConfig::default()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let session = open_session(&mut stream).await;
    let modern = |name: &str| {
        format!(
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {name}\r\n"
        )
    };
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for params in [
        json!({"name": "add", "arguments": {"a": 2, "b": 3}}),
        json!({"name": "add", "arguments": {"a": 2, "b": 1e30}}),
        json!({"name": "add", "arguments": {"a": "x"}}),
        json!({"name": "add"}),
        json!({"name": "ad"}),
        json!({"name": "paint"}),
    ] {
        let mut call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
        // The status and the message: the events of a session have numbers.
        let answer = |reply: String| {
            let start = reply
                .find(r#"{"jsonrpc"#)
                .unwrap_or_else(|| panic!("{reply}"));
            let message = reply[start..].lines().next().unwrap();
            // Without the reference to the log.
            let parts: Vec<_> = message.split("[ref ").collect();
            let parts = parts.iter().enumerate();
            let parts = parts.map(|(at, part)| part[if at > 0 { 6 } else { 0 }..].to_owned());
            (reply[..15].to_owned(), parts.collect::<String>())
        };
        let read = answer(exchange(&mut stream, &session, &call).await);
        call["extra"] = json!(1);
        let other = answer(exchange(&mut stream, &session, &call).await);
        assert_eq!(read, other);

        call.as_object_mut().unwrap().remove("extra");
        call["params"]["_meta"] = meta.clone();
        let headers = modern(params["name"].as_str().unwrap());
        let read = exchange(&mut stream, &headers, &call).await;
        let other = exchange(
            &mut stream,
            &format!("{headers}x-a: 1\r\nx-a: 2\r\n"),
            &call,
        )
        .await;
        assert_eq!(answer(read), answer(other));
    }
}
