//! Streams of sessions that are resumed on another connection.

#[path = "support/raw.rs"]
mod raw;
mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use raw::{HOST, JSON, send, session, start};
use support::in_time;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tool_core::{Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::Changes;
use tool_mcp::server::http::HttpConfig;

/// Another tool.
#[tool(unlinked)]
fn wave() {}

/// Says when it starts, and waits until it may end.
#[tool(unlinked)]
async fn wait_for_signal(#[param(context)] signals: &Arc<Signals>) -> &'static str {
    signals.started.notify_one();
    signals.may_end.notified().await;
    "the end"
}

#[derive(Default)]
struct Signals {
    started: Notify,
    may_end: Notify,
}

/// Reads from a connection until it has sent a text.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut read = String::new();
    in_time(async {
        let mut bytes = [0; 4096];
        while !read.contains(text) {
            let count = stream.read(&mut bytes).await.unwrap();
            assert_ne!(count, 0, "the connection ended: {read}");
            read.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    })
    .await;
    read
}

/// Sends a request, and returns the connection, whose response may take long.
async fn open(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = raw::connect(address).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

fn get(session: &str, last: &str) -> String {
    format!(
        "GET /mcp HTTP/1.1\r\n{HOST}{session}Accept: text/event-stream\r\nLast-Event-ID: {last}\r\n\r\n"
    )
}

#[tokio::test]
async fn a_response_that_came_while_its_client_was_away_is_sent_when_it_resumes() {
    let signals = Arc::new(Signals::default());
    let registry = Registry::builder()
        .tools(tools![wait_for_signal])
        .context(signals.clone())
        .build()
        .unwrap();
    let address = start(Server::new(registry), HttpConfig::default()).await;
    let session = session(address, "").await;
    let body =
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait_for_signal"}}"#;
    let request = format!(
        "POST /mcp HTTP/1.1\r\n{HOST}{JSON}{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = open(address, &request).await;
    in_time(signals.started.notified()).await;
    let head = read_until(&mut stream, "retry: ").await;
    let id = head.split("id: ").nth(1).unwrap().lines().next().unwrap();
    assert!(id.contains('/'), "{head}");
    drop(stream);
    signals.may_end.notify_one();

    let mut stream = open(address, &get(&session, id)).await;
    let rest = read_until(&mut stream, "the end").await;
    let seen = format!("id: {id}");
    assert!(!rest.lines().any(|line| line == seen), "{rest}");
    // Another session does not have it.
    let other = raw::session(address, "").await;
    let request = get(&other, id).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let reply = send(address, request).await;
    assert!(!reply.body.contains("the end"), "{reply:?}");
}

#[tokio::test]
async fn a_stream_of_notices_is_resumed_after_the_event_that_its_client_names() {
    let registry = Registry::builder().build().unwrap();
    let changes = Changes::new();
    let server = Server::new(registry.clone()).changes(&changes);
    let address = start(server, HttpConfig::default()).await;
    let session = session(address, "").await;
    let request = format!("GET /mcp HTTP/1.1\r\n{HOST}{session}Accept: text/event-stream\r\n\r\n");
    let mut stream = open(address, &request).await;
    registry.add(tools![wave]).unwrap();
    let first = read_until(&mut stream, "list_changed").await;
    assert!(first.lines().any(|line| line == "id: 0"), "{first}");
    drop(stream);
    // Of two notices of the same change, one would be dropped.
    changes.prompts_changed();
    // Until the server knows that the connection is gone, another stream gets nothing.
    let rest = in_time(Box::pin(async {
        loop {
            let mut stream = open(address, &get(&session, "0")).await;
            let reading = read_until(&mut stream, "list_changed");
            if let Ok(rest) = tokio::time::timeout(Duration::from_millis(500), reading).await {
                return rest;
            }
        }
    }))
    .await;
    assert!(rest.lines().any(|line| line == "id: 1"), "{rest}");
    assert!(!rest.lines().any(|line| line == "id: 0"), "{rest}");
    // Nobody has sent such an event.
    for unknown in ["99", "x", "0/99", "99999999999999999999999", "-1"] {
        let request = get(&session, unknown).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        let reply = send(address, request).await;
        assert!(!reply.body.contains("list_changed"), "{reply:?}");
    }
}
