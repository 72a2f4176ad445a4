//! Imports the tools of a server over HTTP.
#![cfg(feature = "client-http")]

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tool_core::call::Progress;
use tool_core::{CallContext, Registry, ToolCall, tool, tools};
use tool_mcp::server::http::HttpConfig;
use tool_mcp::{Import, ImportErrorKind, Protocol, Server};

#[path = "support/in_time.rs"]
mod in_time;
#[path = "support/log.rs"]
mod log;

use in_time::{in_time, run};
use log::Log;

const BOTH: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

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

/// Rolls a die.
#[tool]
fn roll_die() -> u8 {
    4
}

async fn serve(registry: &Registry, address: &str) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind(address).await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(registry.clone());
    let task = tokio::spawn(async move {
        let _ = server.serve(listener, HttpConfig::default()).await;
    });
    (address, task)
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_imported_and_called() {
    for protocol in [Protocol::Newest, BOTH[0], BOTH[1]] {
        let server = Registry::builder()
            .tools(tools![add, count])
            .build()
            .unwrap();
        let (address, _server) = serve(&server, "127.0.0.1:0").await;
        let registry = Registry::new();
        let import = Import::http(format!("http://{address}/mcp")).protocol(protocol);
        let import = in_time(import.connect(&registry)).await.unwrap();
        assert_eq!(import.report().taken.len(), 2);
        assert_eq!(
            run(&registry, "add", json!({"a": 2, "b": 3}))
                .await
                .content(),
            "5"
        );
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let call = ToolCall::new("call_2", "count", json!({"to": 5}));
        let call = call.on_progress(move |progress| sink.lock().unwrap().push(progress.done));
        assert_eq!(in_time(registry.call(call)).await.content(), "5");
        assert_eq!(
            *seen.lock().unwrap(),
            [1.0, 2.0, 3.0, 4.0, 5.0],
            "{protocol:?}"
        );
        // Changes.
        server.add(tools![roll_die]).unwrap();
        in_time(async {
            while registry.get("roll_die").is_none() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        in_time(import.close()).await;
        assert!(registry.is_empty());
    }
}

/// Answers each request with one response, and notes what it received.
async fn answering(response: String) -> (SocketAddr, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let received = Arc::new(Mutex::new(String::new()));
    let sink = received.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (sink, response) = (sink.clone(), response.clone());
            tokio::spawn(async move {
                let mut bytes = vec![0; 65536];
                let length = stream.read(&mut bytes).await.unwrap_or(0);
                sink.lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&bytes[..length]));
                let _ = stream.write_all(response.as_bytes()).await;
                let _: std::io::Result<()> = stream.shutdown().await;
            });
        }
    });
    (address, received)
}

#[tokio::test]
async fn secrets_reach_no_error_no_log_and_no_other_host() {
    let (log, _guard) = Log::start(tracing::Level::DEBUG);

    let (elsewhere, elsewhere_received) = answering("HTTP/1.1 500 Oops\r\n\r\n".into()).await;
    let body = "401: bad token tok-5f2c-9a77, key key-88-99, query qry-11-22";
    let length = body.len();
    let responses = [
        (
            format!(
                "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
            Some(ImportErrorKind::Unauthorized),
        ),
        (
            format!(
                "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
            None,
        ),
        (
            format!("HTTP/1.1 500 Oops\r\ncontent-length: {length}\r\n\r\n{body}"),
            None,
        ),
        (
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            ),
            None,
        ),
        (
            format!(
                "HTTP/1.1 307 Elsewhere\r\nlocation: http://{elsewhere}/mcp\r\ncontent-length: 0\r\n\r\n"
            ),
            None,
        ),
        // The connection is closed without an answer.
        (String::new(), None),
    ];
    let mut texts = Vec::new();
    for (response, kind) in responses {
        let (address, received) = answering(response).await;
        let url = format!("http://{address}/mcp?key=qry-11-22");
        let import = Import::http(url)
            .bearer("tok-5f2c-9a77")
            .header("x-api-key", "key-88-99");
        texts.push(format!("{import:?} {import:#?}"));
        let error = in_time(import.connect(&Registry::new())).await.unwrap_err();
        if let Some(kind) = kind {
            assert_eq!(error.kind(), kind, "{error}");
        }
        texts.push(format!("{error} {error:?}"));
        let received = received.lock().unwrap();
        assert!(
            received.contains("authorization: Bearer tok-5f2c-9a77"),
            "{received}"
        );
        assert!(received.contains("x-api-key: key-88-99") && received.contains("qry-11-22"));
    }
    assert_eq!(*elsewhere_received.lock().unwrap(), "");
    // No server at all.
    let import = Import::http("http://user:pwd-33-44@127.0.0.1:1/mcp?key=qry-11-22");
    let error = in_time(import.connect(&Registry::new())).await.unwrap_err();
    texts.push(format!("{error} {error:?}"));
    let import = Import::http("no url with qry-11-22").bearer("tok\n-5f2c-9a77");
    let error = in_time(import.connect(&Registry::new())).await.unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::Start);
    texts.push(format!("{error} {error:?}"));
    texts.push(log.text());
    for text in texts {
        for secret in ["5f2c-9a77", "key-88-99", "qry-11-22", "pwd-33-44"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_is_a_retryable_error() {
    for protocol in BOTH {
        let server = Registry::builder().tools(tools![add]).build().unwrap();
        // A runtime of its own ends the server with all connections.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let serving = server.clone();
        let address = runtime
            .spawn(async move { serve(&serving, "127.0.0.1:0").await.0 })
            .await
            .unwrap();
        let registry = Registry::new();
        let import = Import::http(format!("http://{address}/mcp")).protocol(protocol);
        let _import = in_time(import.connect(&registry)).await.unwrap();
        tokio::task::spawn_blocking(move || drop(runtime))
            .await
            .unwrap();
        // A call that was sent on an open connection just before it was cut may have run. No other is sent.
        let error = in_time(async {
            loop {
                let result = run(&registry, "add", json!({"a": 2, "b": 3})).await;
                let error = result.error().expect("the server is gone").clone();
                if error.is_retryable() {
                    break error;
                }
                let cut = "the call may have had an effect";
                assert!(error.message().contains(cut), "{error}");
            }
        })
        .await;
        assert!(!error.message().contains("http://"), "{error}");
        // It comes back.
        let (_, _task) = serve(&server, &address.to_string()).await;
        let result = run(&registry, "add", json!({"a": 2, "b": 3})).await;
        assert_eq!(result.content(), "5", "{protocol:?}");
    }
}

/// Answers one request of a connection. `reply` is what follows the status line of a call, with `ID` for its id.
async fn script(mut stream: TcpStream, reply: &str) -> Option<()> {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length = head
                .split_once("content-length: ")
                .map_or("0", |(_, rest)| rest);
            let length: usize = length.lines().next()?.parse().ok()?;
            break (head.len() + 4, length);
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    while bytes.len() < head + length {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let json = |result: Value, id: &Value| {
        let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        format!(
            "200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let reply = match serde_json::from_slice::<Value>(&bytes[head..]) {
        Ok(request) => match request["method"].as_str()? {
            "initialize" => json(
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "script", "version": "1"},
                }),
                &request["id"],
            ),
            "tools/list" => json(
                json!({"tools": [{"name": "pay", "inputSchema": {"type": "object"}}]}),
                &request["id"],
            ),
            "tools/call" => reply.replace("ID", &request["id"].to_string()),
            _ => "202 Accepted\r\nContent-Length: 0\r\n\r\n".into(),
        },
        Err(_) => "405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".into(),
    };
    let reply = reply.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    stream
        .write_all(format!("HTTP/1.1 {reply}").as_bytes())
        .await
        .ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_the_server_may_have_run_is_not_retryable() {
    const EVENTS: &str = "200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let event = |data: &str| format!("{EVENTS}data: {data}\n\n");
    let large = "x".repeat(200_000);
    let content = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":ID,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let body = |body: &str| format!("200 OK\r\nContent-Type: application/json\r\n\r\n{body}");
    let cases = [
        ("a bad gateway", "502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".to_owned()),
        ("overload", "503 Service Unavailable\r\nContent-Length: 0\r\n\r\n".to_owned()),
        (
            "a redirect",
            "307 Temporary Redirect\r\nLocation: http://127.0.0.2:9/mcp\r\nContent-Length: 0\r\n\r\n".to_owned(),
        ),
        ("a cut body", body(&content("a")[..40])),
        ("a body that ends early", "200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{".to_owned()),
        ("a large body", body(&content(&large))),
        ("no JSON", body("NaN")),
        ("no result", body(r#"{"jsonrpc":"2.0","id":ID}"#)),
        ("no response", String::new()),
        ("an event that is no JSON", event(r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"x":NaN}}"#)),
        ("an event without an id", event("{{")),
        ("an event without a result", event(r#"{"jsonrpc":"2.0","id":ID}"#)),
        ("a large event", event(&content(&large))),
        ("a stream without events", EVENTS.to_owned()),
        ("the answer to another request", body(r#"{"jsonrpc":"2.0","id":999,"result":{"content":[]}}"#)),
        ("an answer with a string for the id", body(r#"{"jsonrpc":"2.0","id":"ID","result":{"content":[]}}"#)),
        ("an error of no request", body(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x"}}"#)),
        ("a notification in place of an answer", body(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)),
        ("an event that answers another request", event(r#"{"jsonrpc":"2.0","id":999,"result":{"content":[]}}"#)),
    ];
    let cases = cases.map(|(what, reply)| {
        tokio::spawn(async move {
            let (address, server) = serve_script(reply).await;
            let registry = Registry::new();
            let _import = import_script(address, &registry).await;
            let result = run(&registry, "pay", json!({})).await;
            let error = result.error().unwrap_or_else(|| panic!("{what}"));
            let is_unclear = error.message().contains("may have had an effect");
            assert!(is_unclear && !error.is_retryable(), "{what}: {error}");
            // Without a server, there is nothing to repeat.
            server.abort();
            let _ = server.await;
            let result = run(&registry, "pay", json!({})).await;
            let error = result.error().unwrap();
            let is_unsent = error.message().contains("was not sent");
            assert!(is_unsent && error.is_retryable(), "{what}: {error}");
        })
    });
    for case in cases {
        case.await.unwrap();
    }
}

async fn serve_script(reply: String) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let reply: Arc<str> = reply.into();
        while let Ok((stream, _)) = listener.accept().await {
            let reply = reply.clone();
            tokio::spawn(async move { script(stream, &reply).await });
        }
    });
    (address, server)
}

async fn import_script(address: SocketAddr, registry: &Registry) -> Import {
    let import = Import::http(format!("http://{address}/mcp"))
        .protocol(Protocol::V2025_11_25)
        .max_message_bytes(100_000);
    in_time(import.connect(registry)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_with_half_a_character_is_repaired() {
    let data =
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"a\ud83d"}]}}"#;
    let reply = format!("200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {data}\n\n");
    let (address, _server) = serve_script(reply).await;
    let registry = Registry::new();
    let _import = import_script(address, &registry).await;
    let result = run(&registry, "pay", json!({})).await;
    assert!(!result.is_error(), "{}", result.content());
    assert!(
        result.content().starts_with("a\u{fffd}\n["),
        "{:?}",
        result.content()
    );
}

/// A server with sessions, whose streams open late. A call tells whether there is one. Returns the number of the session:
/// another one than it is has expired.
async fn serve_late(delay: Duration) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let current = Arc::new(AtomicUsize::new(1));
    let open = Arc::new(Mutex::new(Vec::new()));
    let (opens, session) = (open.clone(), current.clone());
    let of = |headers: &HeaderMap| {
        let id = headers.get("mcp-session-id")?.to_str().ok()?;
        id.strip_prefix("session-")?.parse::<usize>().ok()
    };
    let stream = get(async move |headers: HeaderMap| {
        tokio::time::sleep(delay).await;
        opens.lock().unwrap().extend(of(&headers));
        let events = futures_util::stream::pending::<Result<String, std::io::Error>>();
        let body = axum::body::Body::from_stream(events);
        ([("content-type", "text/event-stream")], body)
    });
    let answer = async move |headers: HeaderMap, body: String| {
        let request: Value = serde_json::from_str(&body).unwrap();
        let number = session.load(Ordering::SeqCst);
        if of(&headers).is_some_and(|sent| sent != number) {
            return StatusCode::NOT_FOUND.into_response();
        }
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "late", "version": "1"},
            }),
            Some("tools/list") => json!({
                "tools": [{"name": "pay", "inputSchema": {"type": "object"}}]
            }),
            Some("tools/call") => {
                let text = if open.lock().unwrap().contains(&number) {
                    "asked"
                } else {
                    "lost"
                };
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => return StatusCode::ACCEPTED.into_response(),
        };
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        let id = format!("session-{number}");
        ([("mcp-session-id", id)], axum::Json(answer)).into_response()
    };
    let router = Router::new().route("/mcp", stream.post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, current)
}

/// A server asks on the stream of the session, unless a question belongs to the call. Without a stream, it is lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_until_the_server_can_ask() {
    for (delay, told) in [(300, "asked"), (60_000, "lost")] {
        let (address, session) = serve_late(Duration::from_millis(delay)).await;
        let registry = Registry::new();
        let _import = import_script(address, &registry).await;
        // `rmcp` renews the session that expires.
        for number in [1, 1, 2, 2] {
            session.store(number, Ordering::SeqCst);
            let result = run(&registry, "pay", json!({})).await;
            assert_eq!(result.content(), told, "session {number}");
        }
    }
}
