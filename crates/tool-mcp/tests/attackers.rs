//! Attacks a server over real sockets. No test depends on how long something takes: limits of time are short,
//! and each test waits for what must happen.

#[path = "support/notes.rs"]
mod notes;
#[path = "support/raw.rs"]
mod raw;
mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use notes::{export_notes, print_notes, relay, wipe_notes};
use raw::{
    HOST, INITIALIZE, JSON, PING, Reply, assert_alive, config, connect, initialize, modern, post,
    read, request, send, session, start, stateless,
};
use serde_json::{Value, json};
use support::in_time;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tool_core::call::elicit::{Elicit, ElicitError};
use tool_core::dynamic::DynamicTool;
use tool_core::{CallContext, Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::http::{Auth, AuthError, HttpConfig};
use tool_mcp::server::{TaskPolicy, UserId};

/// Adds two numbers.
#[tool(unlinked)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Returns a long text.
#[tool(unlinked)]
fn fill(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Asks for a colour.
#[tool(unlinked)]
async fn paint(wall: &str, call: &CallContext) -> Result<String, ElicitError> {
    let answer = call.elicit("go", Elicit::confirm("Paint?")).await?;
    Ok(format!("{wall} {answer:?}"))
}

/// Ends when the test says so.
#[tool(unlinked)]
async fn hang(#[param(context)] signals: &Arc<Signals>) -> String {
    struct OnDrop(Arc<Signals>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.dropped.notify_one();
        }
    }
    let _guard = OnDrop(signals.clone());
    signals.started.notify_one();
    signals.release.notified().await;
    "released".into()
}

#[derive(Default)]
struct Signals {
    started: Notify,
    release: Notify,
    dropped: Notify,
}

const SHORT: Duration = Duration::from_millis(50);

fn server() -> Server {
    let tools = tools![add, fill, paint];
    Server::new(Registry::builder().tools(tools).build().unwrap())
}

/// A server whose users are their tokens.
fn server_of_users() -> Server {
    server().identity(|request, call| {
        Ok(match request.bearer() {
            Some(token) => call.with(UserId::new(token)),
            None => call,
        })
    })
}

#[tokio::test]
async fn evil_hosts_and_origins_are_rejected() {
    let address = start(server(), stateless()).await;
    for (headers, status) in [
        ("Host: localhost", 200),
        ("host: LOCALHOST:81", 200),
        ("Host: 127.0.0.1:9", 200),
        ("Host: [::1]", 200),
        ("Host: [::1]:80", 200),
        ("Host: evil.example.com", 403),
        ("Host: localhost.evil.example.com", 403),
        ("Host: evil.example.com:80", 403),
        ("Host: 127.0.0.1.evil.example.com", 403),
        ("Host: localhost@evil.example.com", 400),
        ("Host: evil.example.com@localhost", 400),
        ("Host: [::2]", 403),
        ("Host: 127.0.0.2", 403),
        ("Host: localhost:evil", 400),
        ("Host: [::1]:evil", 400),
        ("Host: [::1]evil", 400),
        ("Host: [::1]evil:80", 400),
        ("Host: [::1].evil.example.com", 400),
        ("Host: localhost:80:80", 400),
        ("Host: localhost:99999", 400),
        ("Host: localhost:+80", 400),
        (
            "Host: localhost:00000000000000000000000000000000000000080",
            200,
        ),
        ("Host: local host", 400),
        ("X-Host: localhost", 400),
        ("Host: localhost\r\nHost: localhost", 400),
        ("Host: localhost\r\nOrigin: http://localhost", 403),
        ("Host: localhost\r\nOrigin: null", 403),
        ("Host: localhost\r\nOrigin: ", 403),
        ("Host: localhost\r\nOrigin: \u{ff}", 403),
    ] {
        let reply = send(
            address,
            request("POST", &format!("{headers}\r\n{JSON}"), PING),
        )
        .await;
        assert_eq!(reply.status, status, "{headers}: {reply:?}");
    }
    let origins = [
        "https://app.example.com",
        "http://[::1]:*",
        "http://localhost:5173",
    ];
    let settings = config(|config| {
        config.sessions = false;
        config.origins = origins.map(Into::into).to_vec();
    });
    let address = start(server(), settings).await;
    for (origin, status) in [
        ("https://app.example.com", 200),
        ("HTTPS://APP.example.com:443", 200),
        ("https://app.example.com:8443", 403),
        ("http://app.example.com", 403),
        ("https://app.example.com.evil.example.com", 403),
        ("https://evil.example.com/https://app.example.com", 403),
        ("https://app.example.com@evil.example.com", 403),
        ("http://[::1]", 200),
        ("http://[::1]:99", 200),
        ("https://[::1]", 403),
        ("http://localhost:5173", 200),
        ("http://localhost", 403),
        ("null", 403),
        (
            "https://app.example.com\r\nOrigin: https://evil.example.com",
            400,
        ),
    ] {
        let reply = post(address, &format!("Origin: {origin}\r\n"), PING).await;
        assert_eq!(reply.status, status, "{origin}: {reply:?}");
    }
    // The body of a request from elsewhere is not read.
    let head = format!("POST /mcp HTTP/1.1\r\nHost: evil\r\n{JSON}Content-Length: 9\r\n\r\n");
    assert_eq!(send(address, head).await.status, 403);
}

#[tokio::test]
async fn a_long_name_is_not_sent_back() {
    let long = "x".repeat(1_000_000);
    for sessions in [false, true] {
        let settings = config(|config| config.sessions = sessions);
        let address = start(server(), settings).await;
        let headers = if sessions {
            session(address, "").await
        } else {
            String::new()
        };
        for body in [
            PING.replace("ping", &long),
            PING.replace(
                "\"ping\"",
                &format!("\"resources/read\",\"params\":{{\"uri\":\"{long}\"}}"),
            ),
            PING.replace(
                "\"ping\"",
                &format!("\"tools/call\",\"params\":{{\"name\":\"{long}\"}}"),
            ),
        ] {
            let reply = post(address, &headers, &body).await;
            assert!(reply.body.len() < 3_000, "{} bytes", reply.body.len());
        }
    }
}

#[tokio::test]
async fn browsers_let_pages_of_allowed_origins_in_and_no_others() {
    let origins = ["https://app.example.com", "http://localhost:*"];
    let settings = config(|config| config.origins = origins.map(Into::into).to_vec());
    let address = start(server(), settings).await;
    let ask = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: \
               content-type,mcp-protocol-version,mcp-param-city\r\n";
    for (origin, is_allowed) in [
        ("https://app.example.com", true),
        ("http://localhost:5173", true),
        ("https://app.example.com:8443", false),
        ("https://app.example.com.evil.example.com", false),
        ("http://localhost:5173.evil.example.com", false),
        ("http://localhost.evil.example.com:80", false),
        ("null", false),
    ] {
        let headers = format!("{HOST}Origin: {origin}\r\n");
        let preflight = request("OPTIONS", &format!("{headers}{ask}"), "");
        let reply = send(address, preflight).await;
        let allowed = reply.header("access-control-allow-origin");
        assert_eq!(allowed, is_allowed.then_some(origin), "{reply:?}");
        if is_allowed {
            assert_eq!(reply.status, 200);
            let names = reply.header("access-control-allow-headers").unwrap();
            assert!(names.contains("mcp-param-city"), "{names}");
        }
        // The page may read the session.
        let reply = initialize(address, &format!("Origin: {origin}\r\n")).await;
        assert_eq!(
            reply.status,
            if is_allowed { 200 } else { 403 },
            "{reply:?}"
        );
        let readable = reply.header("access-control-expose-headers");
        assert!(readable.unwrap_or_default().contains("mcp-session-id"));
    }
    // A server for no pages answers none.
    let address = start(server(), HttpConfig::default()).await;
    let headers = format!("{HOST}Origin: http://localhost\r\n{ask}");
    let reply = send(address, request("OPTIONS", &headers, "")).await;
    assert_eq!(
        reply.header("access-control-allow-origin"),
        None,
        "{reply:?}"
    );
}

/// Returns a number of more than 64 bits.
#[tool]
fn same(number: u128) -> String {
    number.to_string()
}

#[tokio::test]
async fn large_integers_stay_exact_over_http() {
    let number = u128::MAX - 1;
    for settings in [HttpConfig::default(), stateless()] {
        let has_sessions = settings.sessions;
        let registry = Registry::builder().tools(tools![same]).build().unwrap();
        let address = start(Server::new(registry), settings).await;
        let header = if has_sessions {
            session(address, "").await
        } else {
            String::new()
        };
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"same","arguments":{{"number":{number}}}}}}}"#
        );
        let reply = post(address, &header, &call).await;
        let text = reply.message()["result"]["content"][0]["text"].clone();
        assert_eq!(text, number.to_string(), "{reply:?}");
    }
}

#[tokio::test]
async fn who_is_refused_gets_neither_a_session_nor_a_list() {
    let refusing = || {
        server().identity(|request, call| match request.bearer() {
            Some(token) => Ok(call.with(UserId::new(token))),
            None => Err("a token is \"missing\"".into()),
        })
    };
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for settings in [HttpConfig::default(), stateless()] {
        let address = start(refusing(), settings).await;
        for body in [INITIALIZE, list, PING] {
            let reply = post(address, "", body).await;
            assert_eq!(reply.status, 403, "{reply:?}");
            assert_eq!(
                reply.message()["error"]["message"],
                "a token is \"missing\""
            );
        }
        let reply = initialize(address, "Authorization: Bearer ada\r\n").await;
        assert_eq!(reply.status, 200, "{reply:?}");
    }
}

#[tokio::test]
async fn one_user_does_not_take_all_sessions() {
    let settings = config(|config| {
        config.max_sessions = 4;
        config.max_sessions_per_user = 2;
    });
    let address = start(server_of_users(), settings).await;
    for (user, status) in [
        ("ada", 200),
        ("ada", 200),
        ("ada", 429),
        ("bob", 200),
        ("ada", 429),
        ("bob", 200),
        ("eve", 503),
    ] {
        let reply = initialize(address, &format!("Authorization: Bearer {user}\r\n")).await;
        assert_eq!(reply.status, status, "{user}: {reply:?}");
        assert_eq!(reply.header("retry-after").is_some(), status != 200);
    }
}

#[tokio::test]
async fn bad_messages_are_errors_of_json_rpc() {
    let address = start(server(), stateless()).await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call = json!({"name": "add", "arguments": {"a": 1, "b": 2}}).to_string();
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{call}}}"#);
    let cut = &call[..call.len() - 1];
    let deep_call = call.replace(":2}", &format!(":{deep}}}"));
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        (cut, -32700),
        ("\u{feff}{}", -32700),
        (r#"{"a":1e999999999"#, -32700),
        (&deep[..deep.len() - 1], -32700),
        (&deep, -32600),
        (&deep_call, -32600),
        ("null", -32600),
        ("[]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
    ] {
        let reply = post(address, "", body).await;
        let start = body.get(..body.len().min(60));
        assert_eq!(reply.status, 400, "{start:?}: {reply:?}");
        assert_eq!(reply.code(), code, "{start:?}");
    }
    // Over the length of the body, or under it.
    let pong = format!("{PING}{PING}");
    assert_eq!(post(address, "", &pong).await.code(), -32700);
    let head = format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: 99\r\n\r\n{PING}");
    let mut stream = connect(address).await;
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    let reply = read(&mut stream).await;
    assert!([0, 400].contains(&reply.status), "{reply:?}");
    assert_alive(address).await;
}

#[tokio::test]
async fn wrong_methods_types_and_versions_are_rejected() {
    let address = start(server(), HttpConfig::default()).await;
    let no_type = format!("{HOST}Accept: application/json, text/event-stream\r\n");
    let html = format!("{no_type}Content-Type: text/html\r\n");
    let form = format!("{no_type}Content-Type: application/x-www-form-urlencoded\r\n");
    let twice = format!("{HOST}{JSON}Content-Type: text/html\r\n");
    let no_accept = format!("{HOST}Content-Type: application/json\r\n");
    let all = format!("{HOST}{JSON}");
    let version = format!("{all}MCP-Protocol-Version: 1999-01-01\r\n");
    let no_session = format!("{all}Mcp-Session-Id: 5\r\n");
    for (method, headers, status) in [
        ("PUT", &all, 405),
        ("PATCH", &all, 405),
        ("HEAD", &all, 405),
        ("OPTIONS", &all, 405),
        ("TRACE", &all, 405),
        ("BREW", &all, 405),
        ("POST", &no_type, 415),
        ("POST", &html, 415),
        ("POST", &form, 415),
        ("POST", &twice, 400),
        ("POST", &no_accept, 406),
        ("GET", &no_accept, 406),
        ("POST", &version, 400),
        ("GET", &version, 400),
        ("DELETE", &version, 400),
        ("GET", &all, 400),
        ("DELETE", &all, 400),
        ("POST", &all, 400),
        ("POST", &no_session, 404),
        ("GET", &no_session, 404),
        ("DELETE", &no_session, 404),
    ] {
        let reply = send(address, request(method, headers, PING)).await;
        assert_eq!(reply.status, status, "{method} {headers}: {reply:?}");
    }
    let elsewhere = request("POST", &all, PING).replace("/mcp", "/mcp/../mcp");
    assert_eq!(send(address, elsewhere).await.status, 404);
}

#[tokio::test]
async fn giant_requests_are_rejected() {
    let settings = config(|config| {
        config.sessions = false;
        config.max_body_bytes = 1000;
    });
    let address = start(server(), settings).await;
    let fits = format!("{PING}{}", " ".repeat(1000 - PING.len()));
    assert_eq!(post(address, "", &fits).await.status, 200);
    assert_eq!(post(address, "", &format!("{fits} ")).await.status, 413);
    // Announced, and never sent.
    let head = format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}");
    let announced = format!("{head}Content-Length: 18446744073709551615\r\n\r\n");
    assert!([400, 413, 431].contains(&send(address, announced).await.status));
    let announced = format!("{head}Content-Length: 100000000000\r\n\r\n");
    assert_eq!(send(address, announced).await.status, 413);
    // In parts that do not say where they end.
    let chunk = format!("64\r\n{}\r\n", " ".repeat(100));
    let chunked = format!(
        "{head}Transfer-Encoding: chunked\r\n\r\n{}",
        chunk.repeat(11)
    );
    assert_eq!(send(address, chunked).await.status, 413);
    let tiny = format!(
        "{head}Transfer-Encoding: chunked\r\n\r\n{}",
        "1\r\n \r\n".repeat(1001)
    );
    assert_eq!(send(address, tiny).await.status, 413);
    // Heads.
    let long = format!("X: {}\r\n", "x".repeat(100_000));
    assert_eq!(post(address, &long, PING).await.status, 431);
    assert_eq!(
        post(address, &"X: x\r\n".repeat(101), PING).await.status,
        431
    );
    let line = format!("GET /{} HTTP/1.1\r\n{HOST}\r\n", "x".repeat(100_000));
    assert!([414, 431].contains(&send(address, line).await.status));
    assert_alive(address).await;
}

/// Sends a text, and then a byte again and again, until the server closes the connection.
async fn drip(address: SocketAddr, text: String, byte: &'static [u8]) -> Reply {
    let (mut reader, mut writer) = connect(address).await.into_split();
    let dripping = tokio::spawn(async move {
        writer.write_all(text.as_bytes()).await.unwrap();
        while writer.write_all(byte).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let mut bytes = Vec::new();
    let _ = in_time(reader.read_to_end(&mut bytes)).await;
    dripping.abort();
    Reply::parse(&bytes)
}

#[tokio::test]
async fn slow_heads_end() {
    let settings = config(|config| config.head_timeout = SHORT);
    let address = start(server(), settings).await;
    let head = format!("POST /mcp HTTP/1.1\r\n{HOST}X: ");
    // A part, nothing at all, and a byte now and then.
    assert_ne!(send(address, &head).await.status, 200);
    assert_ne!(send(address, "").await.status, 200);
    assert_ne!(drip(address, head, b"x").await.status, 200);
    // A connection without a second request.
    let request = request("GET", HOST, "").replace("Connection: close\r\n", "");
    // A busy machine may take too long for the head of the first.
    in_time(async { while send(address, &request).await.status != 406 {} }).await;
}

#[tokio::test]
async fn slow_bodies_end() {
    let settings = config(|config| config.body_timeout = SHORT);
    let address = start(server(), settings).await;
    let head = format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: 1000000\r\n\r\n");
    assert_eq!(send(address, format!("{head}{{")).await.status, 408);
    assert_eq!(drip(address, head, b" ").await.status, 408);
}

/// Asks again and again, until the status is as expected.
async fn until_status(address: SocketAddr, headers: &str, body: &str, status: u16) {
    in_time(async {
        while post(address, headers, body).await.status != status {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn connections_are_limited() {
    let settings = config(|config| {
        config.sessions = false;
        config.max_connections = 2;
    });
    let address = start(server(), settings).await;
    let first = connect(address).await;
    let _second = connect(address).await;
    let mut third = connect(address).await;
    let reply = read(&mut third).await;
    assert_eq!(reply.status, 503, "{reply:?}");
    drop(first);
    until_status(address, "", PING, 200).await;
}

#[tokio::test]
async fn a_client_that_stops_reading_loses_its_connection() {
    let settings = config(|config| {
        config.sessions = false;
        config.max_connections = 1;
        config.write_timeout = SHORT;
    });
    let address = start(server(), settings).await;
    let mut stalled = connect(address).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fill","arguments":{"bytes":30000000}}}"#;
    let request = request("POST", &format!("{HOST}{JSON}"), body);
    stalled.write_all(request.as_bytes()).await.unwrap();
    // It holds the only connection until the server ends it.
    until_status(address, "", PING, 200).await;
    let mut rest = Vec::new();
    let _ = in_time(stalled.read_to_end(&mut rest)).await;
    assert!(rest.len() < 30_000_000);
}

#[tokio::test]
async fn a_client_that_stops_reading_its_events_loses_its_connection() {
    let settings = config(|config| {
        config.max_connections = 2;
        config.write_timeout = SHORT;
    });
    let address = start(server(), settings).await;
    let session = session(address, "").await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fill","arguments":{"bytes":30000000}}}"#;
    let request = request("POST", &format!("{HOST}{JSON}{session}"), body);
    let mut stalled = [connect(address).await, connect(address).await];
    for stream in &mut stalled {
        stream.write_all(request.as_bytes()).await.unwrap();
    }
    until_status(address, &session, PING, 200).await;
}

#[tokio::test]
async fn changes_wait_as_one_for_clients_that_read_nothing() {
    let (sessions, changes) = if std::env::var_os("TOOL_CORE_LONG").is_some() {
        (300, 12_000)
    } else {
        (20, 1000)
    };
    let registry = Registry::builder().tools(tools![add]).build().unwrap();
    let settings = config(|config| config.write_timeout = Duration::from_secs(600));
    let address = start(Server::new(registry.clone()), settings).await;
    let mut streams = Vec::new();
    for _ in 0..sessions {
        let header = session(address, "").await;
        let mut stream = connect(address).await;
        let get = request(
            "GET",
            &format!("{HOST}Accept: text/event-stream\r\n{header}"),
            "",
        );
        stream.write_all(get.as_bytes()).await.unwrap();
        // The stream is open once the server has sent its head.
        let mut byte = [0];
        in_time(stream.read_exact(&mut byte)).await.unwrap();
        streams.push((header, stream));
    }
    let before = memory();
    let tool = registry.get("add").unwrap();
    // Without a turn for any other task.
    for _ in 0..changes {
        registry.remove("add").unwrap();
        registry.add([tool.clone()]).unwrap();
    }
    for (header, _) in &streams {
        assert_eq!(post(address, header, PING).await.status, 200);
    }
    // Meaningful if this test runs alone.
    println!("{} KiB for {sessions} clients", memory() - before);
    for (header, mut stream) in streams {
        let delete = request("DELETE", &format!("{HOST}{header}"), "");
        assert_eq!(send(address, delete).await.status, 204);
        let events = read(&mut stream).await.body;
        let notices = events.matches("notifications/tools/list_changed").count();
        assert!((1..=2).contains(&notices), "{notices} notices");
    }
}

/// Returns the memory of this process in KiB, or 0 where it is not known.
fn memory() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.map_or(0, |number| number.parse().unwrap())
}

#[tokio::test]
async fn idle_sessions_are_limited() {
    let most = if std::env::var_os("TOOL_CORE_LONG").is_some() {
        10_000
    } else {
        200
    };
    let settings = config(|config| config.max_sessions = most);
    let address = start(server(), settings).await;
    let mut last = String::new();
    let before = memory();
    for _ in 0..most {
        let reply = initialize(address, "").await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply
            .header("mcp-session-id")
            .unwrap()
            .clone_into(&mut last);
    }
    // Meaningful if this test runs alone.
    println!("{} KiB for {most} sessions", memory() - before);
    for _ in 0..3 {
        let reply = initialize(address, "").await;
        assert_eq!(reply.status, 503, "{reply:?}");
        assert!(reply.header("retry-after").is_some());
    }
    // Those that exist go on, and one that ends makes room.
    let header = format!("Mcp-Session-Id: {last}\r\n");
    assert_eq!(post(address, &header, PING).await.status, 200);
    let delete = request("DELETE", &format!("{HOST}{header}"), "");
    assert_eq!(send(address, delete).await.status, 204);
    assert_eq!(post(address, &header, PING).await.status, 404);
    until_status(address, "", INITIALIZE, 200).await;
}

#[tokio::test]
async fn idle_sessions_expire() {
    let settings = config(|config| {
        config.max_sessions = 1;
        config.session_idle = SHORT;
    });
    let address = start(server(), settings).await;
    assert_eq!(initialize(address, "").await.status, 200);
    until_status(address, "", INITIALIZE, 200).await;
}

/// Checks that a session belongs to the user who started it.
async fn assert_sessions_are_kept_apart(address: SocketAddr, expected: u16) {
    let ada = "Authorization: Bearer ada\r\n";
    let bob = "Authorization: Bearer bob\r\n";
    let own = session(address, ada).await;
    let id = own.strip_prefix(ada).unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{}}}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    for (user, expected) in [(bob, 404), ("", expected)] {
        let headers = format!("{user}{id}");
        for body in [PING, answer, cancel] {
            assert_eq!(
                post(address, &headers, body).await.status,
                expected,
                "{user} {body}"
            );
        }
        let all = format!("{HOST}{JSON}{headers}");
        for method in ["GET", "DELETE"] {
            let reply = send(address, request(method, &all, "")).await;
            assert_eq!(reply.status, expected, "{user} {method}");
        }
        let resume = format!("{all}Last-Event-ID: 0\r\n");
        assert_eq!(
            send(address, request("GET", &resume, "")).await.status,
            expected
        );
    }
    assert_eq!(post(address, &own, PING).await.status, 200);
    let reply = send(address, request("DELETE", &format!("{HOST}{own}"), "")).await;
    assert_eq!(reply.status, 204);
}

#[tokio::test]
async fn a_session_of_another_user_is_unknown() {
    let address = start(server_of_users(), HttpConfig::default()).await;
    assert_sessions_are_kept_apart(address, 404).await;
    // A session of nobody is not open to users: it could be one that an attacker left.
    let nobody = session(address, "").await;
    let headers = format!("Authorization: Bearer ada\r\n{nobody}");
    assert_eq!(post(address, &headers, PING).await.status, 404);
    // The same with a check of tokens before.
    let settings = config(|config| {
        config.auth = Some(Auth::bearer(|token| async { Ok(UserId::new(token)) }));
    });
    let address = start(server(), settings).await;
    assert_sessions_are_kept_apart(address, 401).await;
}

#[tokio::test]
async fn a_router_has_the_same_checks() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let settings = config(|config| {
        config.max_body_bytes = 1000;
        config.body_timeout = SHORT;
        config.max_sessions = 2;
    });
    let router = server_of_users().router(settings);
    tokio::spawn(async move { axum::serve(listener, router).await });
    assert_sessions_are_kept_apart(address, 404).await;
    assert_eq!(post(address, "", &" ".repeat(1001)).await.status, 413);
    assert_eq!(post(address, "", "{").await.code(), -32700);
    assert_eq!(
        post(address, "Origin: http://evil\r\n", PING).await.status,
        403
    );
    let slow = format!("POST /mcp HTTP/1.1\r\n{HOST}{JSON}Content-Length: 9\r\n\r\n");
    assert_eq!(send(address, slow).await.status, 408);
    until_status(address, "", INITIALIZE, 503).await;
}

#[tokio::test]
async fn a_task_of_another_user_is_unknown() {
    let server = server_of_users().tasks(|_| TaskPolicy::Required);
    let address = start(server, HttpConfig::default()).await;
    let call = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
    let reply = modern(address, "ada", "tools/call", call).await;
    let task = reply.message()["result"]["taskId"].clone();
    assert!(task.is_string(), "{reply:?}");
    for (user, other) in [
        ("bob", "tasks/get"),
        ("bob", "tasks/cancel"),
        ("bob", "tasks/update"),
    ] {
        let params = json!({"taskId": task, "inputResponses": {}});
        let reply = modern(address, user, other, params).await;
        assert_eq!(
            reply.message()["error"]["message"],
            "unknown task",
            "{reply:?}"
        );
    }
    let reply = modern(address, "ada", "tasks/get", json!({"taskId": task})).await;
    assert_eq!(reply.message()["result"]["taskId"], task, "{reply:?}");
}

#[tokio::test]
async fn a_request_state_is_for_one_call_of_one_user() {
    let address = start(server_of_users(), HttpConfig::default()).await;
    let call = |wall: &str, state: Option<&Value>| {
        let mut params = json!({"name": "paint", "arguments": {"wall": wall}});
        if let Some(state) = state {
            params["requestState"] = state.clone();
            params["inputResponses"] = json!({"go": {"action": "decline"}});
        }
        params
    };
    let asked = modern(address, "ada", "tools/call", call("left", None))
        .await
        .message();
    let state = &asked["result"]["requestState"];
    assert!(state.is_string(), "{asked}");
    let mut forged = state.as_str().unwrap().to_owned();
    let last = forged.pop().unwrap();
    forged.push(if last == 'A' { 'B' } else { 'A' });
    for (user, params) in [
        ("bob", call("left", Some(state))),
        ("ada", call("right", Some(state))),
        ("ada", call("left", Some(&json!(forged)))),
        ("ada", call("left", Some(&json!("")))),
    ] {
        let reply = modern(address, user, "tools/call", params).await;
        assert_eq!(reply.code(), -32602, "{user}: {reply:?}");
    }
    let answered = modern(address, "ada", "tools/call", call("left", Some(state))).await;
    let text = answered.message()["result"]["content"][0]["text"].clone();
    assert_eq!(text, "left Declined", "{answered:?}");
    // Again.
    let replayed = modern(address, "ada", "tools/call", call("left", Some(state))).await;
    assert_eq!(replayed.code(), -32602, "{replayed:?}");
    // Late.
    let server = server_of_users().state_lifetime(Duration::ZERO);
    let address = start(server, HttpConfig::default()).await;
    let asked = modern(address, "ada", "tools/call", call("left", None))
        .await
        .message();
    let state = &asked["result"]["requestState"];
    tokio::time::sleep(Duration::from_millis(5)).await;
    let late = modern(address, "ada", "tools/call", call("left", Some(state))).await;
    assert_eq!(late.code(), -32602, "{late:?}");
}

#[tokio::test]
async fn a_call_does_not_wait_for_a_session_that_the_client_makes_up() {
    let address = start(server(), stateless()).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"paint","arguments":{"wall":"left"}}}"#;
    let reply = post(address, "Mcp-Session-Id: 5\r\n", body).await;
    let result = &reply.message()["result"];
    assert_eq!(result["isError"], true, "{reply:?}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("the client has no session"), "{text}");
}

#[tokio::test]
async fn junk_ends_the_connection() {
    let address = start(server(), stateless()).await;
    let valid =
        request("POST", &format!("{HOST}{JSON}"), PING).replace("Connection: close\r\n", "");
    for junk in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"{\"jsonrpc\":\"2.0\"}\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost localhost\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
    ] {
        let reply = send(address, junk).await;
        assert_ne!(reply.status, 200, "{reply:?}");
        // Behind a request that is answered.
        let reply = send(address, [valid.as_bytes(), junk].concat()).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.body.matches("HTTP/1.1 200").count(), 0, "{reply:?}");
    }
    // Requests that do not wait for responses are answered in order.
    let last = request("POST", &format!("{HOST}{JSON}"), PING);
    let reply = send(address, format!("{}{last}", valid.repeat(20))).await;
    assert_eq!(reply.body.matches("HTTP/1.1 200").count(), 20);
}

#[tokio::test]
async fn tokens_are_checked_and_clients_learn_where_to_get_them() {
    let auth = Auth::bearer(|token| async move {
        match &*token {
            "ada" => Ok(UserId::new(token)),
            "weak" => Err(AuthError::InsufficientScope("tools:call".into())),
            "away" => Err(AuthError::Unavailable),
            _ => Err(AuthError::InvalidToken),
        }
    });
    let auth = auth
        .resource(
            "https://tools.example.com/mcp",
            ["https://login.example.com"],
        )
        .scopes(["tools:list", "tools:call"]);
    let settings = config(|config| {
        config.sessions = false;
        config.auth = Some(auth);
    });
    let address = start(server(), settings).await;
    let all = r#"scope="tools:list tools:call""#;
    for (header, status, parts) in [
        ("", 401, vec!["bearer scope", all]),
        ("Authorization: Basic YTpi\r\n", 401, vec![all]),
        ("Authorization: Bearer\r\n", 401, vec![all]),
        (
            "Authorization: Bearer eve\r\n",
            401,
            vec![r#"error="invalid_token""#, all],
        ),
        (
            "Authorization: Bearer weak\r\n",
            403,
            vec![r#"error="insufficient_scope""#, r#"scope="tools:call""#],
        ),
        (
            "Authorization: Bearer ada\r\nAuthorization: Bearer eve\r\n",
            400,
            vec![],
        ),
        ("Authorization: Bearer away\r\n", 503, vec![]),
        ("Authorization: bearer ada\r\n", 200, vec![]),
    ] {
        let reply = post(address, header, PING).await;
        assert_eq!(reply.status, status, "{header}: {reply:?}");
        let challenge = reply.header("www-authenticate").unwrap_or_default();
        for part in &parts {
            assert!(challenge.contains(part), "{challenge}");
        }
        let metadata = "resource_metadata=\"https://tools.example.com/.well-known/oauth-protected-resource/mcp\"";
        assert_eq!(
            challenge.contains(metadata),
            !parts.is_empty(),
            "{challenge}"
        );
    }
    for path in ["", "/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let reply = send(address, request("GET", HOST, "").replace("/mcp", &path)).await;
        assert_eq!(reply.status, 200);
        let expected = json!({
            "resource": "https://tools.example.com/mcp",
            "authorization_servers": ["https://login.example.com"],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["tools:list", "tools:call"],
        });
        assert_eq!(reply.message(), expected);
    }
}

/// A server with a call in flight, and what ends both.
struct Closing {
    signals: Arc<Signals>,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<Result<(), tool_mcp::server::ServeError>>,
    call: TcpStream,
    events: TcpStream,
    idle: TcpStream,
}

async fn closing(change: impl FnOnce(&mut HttpConfig)) -> Closing {
    let signals = Arc::new(Signals::default());
    let registry = Registry::builder()
        .tools(tools![hang])
        .context(signals.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let shutdown = async { drop(stopped.await) };
    let server = Server::new(registry.build().unwrap());
    let serving = tokio::spawn(server.serve_until(listener, config(change), shutdown));
    let session = session(address, "").await;
    let mut events = connect(address).await;
    let request_events = request("GET", &format!("{HOST}{JSON}{session}"), "");
    events.write_all(request_events.as_bytes()).await.unwrap();
    // The stream is open once its head is here.
    let mut head = [0; 12];
    in_time(events.read_exact(&mut head)).await.unwrap();
    let mut idle = connect(address).await;
    let request_idle = request("GET", HOST, "").replace("Connection: close\r\n", "");
    idle.write_all(request_idle.as_bytes()).await.unwrap();
    in_time(idle.read_exact(&mut head)).await.unwrap();
    let mut call = connect(address).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}"#;
    let request = request("POST", &format!("{HOST}{JSON}{session}"), body);
    call.write_all(request.as_bytes()).await.unwrap();
    in_time(signals.started.notified()).await;
    Closing {
        signals,
        address,
        stop,
        serving,
        call,
        events,
        idle,
    }
}

#[tokio::test]
async fn calls_end_before_the_server_does() {
    let mut closing = closing(|config| config.shutdown_timeout = Duration::from_secs(3600)).await;
    closing.stop.send(()).unwrap();
    // The stream of notifications and idle connections end, and nobody can connect, while the call goes on.
    read(&mut closing.events).await;
    read(&mut closing.idle).await;
    assert!(TcpStream::connect(closing.address).await.is_err());
    closing.signals.release.notify_one();
    let reply = read(&mut closing.call).await;
    assert_eq!(reply.message()["result"]["content"][0]["text"], "released");
    in_time(closing.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_that_do_not_end_are_dropped_with_the_server() {
    let mut closing = closing(|config| config.shutdown_timeout = SHORT).await;
    closing.stop.send(()).unwrap();
    in_time(closing.serving).await.unwrap().unwrap();
    in_time(closing.signals.dropped.notified()).await;
    let reply = read(&mut closing.call).await;
    assert!(!reply.body.contains("released"), "{reply:?}");
}

/// Tools of which `add` and `relay` are for all, and the others for admins.
fn tools_of_admins(has_all: bool) -> Registry {
    let region = r#"{
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"]
    }"#;
    let region = DynamicTool::foreign("wipe_region")
        .description("Wipes a region.")
        .parameters_json(region)
        .tags(["admin"])
        .build(async |_, _| Ok::<_, String>("wiped"))
        .unwrap();
    let registry = Registry::builder().tools(tools![add, relay, print_notes]);
    let registry = if has_all {
        registry
            .tools(tools![wipe_notes, export_notes])
            .tool(region)
    } else {
        registry
    };
    registry.build().unwrap()
}

/// Removes what is random in an answer.
fn without_references(text: &str) -> String {
    let mut parts = text.split("[ref ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once(']').map_or(part, |(_, rest)| rest));
    }
    text
}

#[tokio::test]
async fn a_tool_of_another_user_is_unknown_by_each_way_in() {
    let users = |registry: Registry| {
        let server = Server::new(registry).identity(|request, call| {
            let token = request.bearer().ok_or("a token is missing")?;
            Ok(call.with(UserId::new(token)))
        });
        server.tasks(|tool| {
            if tool.tags().any(|tag| tag == "admin") {
                TaskPolicy::Required
            } else {
                TaskPolicy::Never
            }
        })
    };
    // In the way of `identity`, and without the message.
    let server = users(tools_of_admins(true)).visible(|request, tool| {
        request.bearer() == Some("ada") || !tool.tags().any(|tag| tag == "admin")
    });
    let address = start(server, HttpConfig::default()).await;
    let other = start(users(tools_of_admins(false)), HttpConfig::default()).await;
    let sessions = [
        session(address, "Authorization: Bearer bob\r\n").await,
        session(other, "Authorization: Bearer bob\r\n").await,
    ];
    let inner = |name: &str, arguments: Value| {
        let arguments = json!({"name": name, "arguments": arguments.to_string()});
        json!({"name": "relay", "arguments": arguments})
    };
    let mut ways = vec![("tools/list", json!({}))];
    let search = json!({"query": "export, print or wipe notes of a region", "limit": 20});
    ways.push(("tools/call", inner("search_tools", search)));
    for name in [
        "wipe_notes",
        "export_notes",
        "wipe_region",
        // A "did you mean" would name it.
        "wipe_note",
        "export_note",
    ] {
        // Without the header that its parameter needs.
        let arguments = json!({"region": "north"});
        ways.push(("tools/call", json!({"name": name})));
        ways.push(("tools/call", json!({"name": name, "arguments": arguments})));
        ways.push(("tools/call", inner(name, json!({}))));
        ways.push(("tools/call", inner("call_tool", json!({"name": name}))));
    }
    for (method, params) in ways {
        let mine = modern(address, "bob", method, params.clone()).await;
        let theirs = modern(other, "bob", method, params.clone()).await;
        assert_eq!(mine.status, theirs.status, "{params}: {mine:?}");
        let (mut mine, mut theirs) = (mine.message(), theirs.message());
        for message in [&mut mine, &mut theirs] {
            // A list for one user is not for others.
            if let Some(result) = message["result"].as_object_mut() {
                result.remove("cacheScope");
            }
        }
        let [mine, theirs] = [mine, theirs].map(|message| without_references(&message.to_string()));
        assert_eq!(mine, theirs, "{params}");
        for secret in ["wiped", "exported", "Wipes", "Exports"] {
            assert!(!mine.contains(secret), "{mine}");
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mine = post(address, &sessions[0], &body.to_string()).await;
        let theirs = post(other, &sessions[1], &body.to_string()).await;
        assert_eq!(mine.status, theirs.status, "{params}: {mine:?}");
        let replies = [mine, theirs];
        let [mine, theirs] = replies.map(|reply| without_references(&reply.message().to_string()));
        assert_eq!(mine, theirs, "{params}");
    }
    // They are there for the other user, who is told which header is missing.
    let list = modern(address, "ada", "tools/list", json!({})).await;
    assert!(list.body.contains("wipe_notes") && list.body.contains("wipe_region"));
    let call = json!({"name": "wipe_region", "arguments": {"region": "north"}});
    let reply = modern(address, "ada", "tools/call", call).await;
    assert!(
        reply.body.to_ascii_lowercase().contains("region"),
        "{reply:?}"
    );
    assert!(!reply.body.contains("unknown tool"), "{reply:?}");
}
