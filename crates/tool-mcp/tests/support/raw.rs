//! Requests over sockets, as text.

#![allow(dead_code, unreachable_pub)]

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tool_mcp::Server;
use tool_mcp::server::http::HttpConfig;

use super::support::in_time;

pub fn config(change: impl FnOnce(&mut HttpConfig)) -> HttpConfig {
    let mut config = HttpConfig::default();
    change(&mut config);
    config
}

pub async fn start(server: Server, config: HttpConfig) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(server.serve(listener, config));
    address
}

/// What a server sends until it closes the connection.
#[derive(Debug, Default)]
pub struct Reply {
    /// 0 if it sends nothing.
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    pub fn parse(bytes: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Reply {
            status: status.unwrap_or(0),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The message, which is the body or in an event.
    pub fn message(&self) -> Value {
        let texts = self
            .body
            .lines()
            .map(|line| line.trim_start_matches("data: "));
        let mut messages = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
        let found = messages.find(Value::is_object);
        found.unwrap_or_else(|| panic!("no message in {self:?}"))
    }

    pub fn code(&self) -> Value {
        self.message()["error"]["code"].clone()
    }
}

pub async fn connect(address: SocketAddr) -> TcpStream {
    in_time(TcpStream::connect(address)).await.unwrap()
}

/// Reads until the server closes the connection.
pub async fn read(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // A server that closes early may reset the connection.
    let _ = in_time(stream.read_to_end(&mut bytes)).await;
    Reply::parse(&bytes)
}

pub async fn send(address: SocketAddr, bytes: impl AsRef<[u8]>) -> Reply {
    let mut stream = connect(address).await;
    let _ = in_time(stream.write_all(bytes.as_ref())).await;
    read(&mut stream).await
}

pub const JSON: &str =
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
pub const HOST: &str = "Host: localhost\r\n";
pub const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Writes a request. The connection ends with its response.
pub fn request(method: &str, headers: &str, body: &str) -> String {
    format!(
        "{method} /mcp HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub async fn post(address: SocketAddr, headers: &str, body: &str) -> Reply {
    send(
        address,
        request("POST", &format!("{HOST}{JSON}{headers}"), body),
    )
    .await
}

pub async fn assert_alive(address: SocketAddr) {
    let reply = post(address, "", PING).await;
    assert_eq!(reply.status, 200, "{reply:?}");
}

pub fn stateless() -> HttpConfig {
    config(|config| config.sessions = false)
}

/// A request of protocol version 2026-07-28.
pub async fn modern(address: SocketAddr, user: &str, method: &str, mut params: Value) -> Reply {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {},
            "extensions": {"io.modelcontextprotocol/tasks": {}},
        },
    });
    let name = params["name"].as_str().or(params["taskId"].as_str());
    let headers = format!(
        "Authorization: Bearer {user}\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nMcp-Name: \
         {}\r\n",
        name.unwrap_or_default()
    );
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    post(address, &headers, &body.to_string()).await
}

pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;

pub async fn initialize(address: SocketAddr, headers: &str) -> Reply {
    post(address, headers, INITIALIZE).await
}

/// Starts a session. Returns the header with its id.
pub async fn session(address: SocketAddr, headers: &str) -> String {
    let reply = initialize(address, headers).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let id = reply.header("mcp-session-id").expect("a session");
    let header = format!("{headers}Mcp-Session-Id: {id}\r\n");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(post(address, &header, initialized).await.status, 202);
    header
}
