//! Rates of users, and scopes of tokens.

#[path = "support/raw.rs"]
mod raw;
mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use raw::{Reply, config, modern, post, session, start, stateless};
use serde_json::{Value, json};
use support::{BOTH, TestClient, call, connect};
use tool_core::{CallContext, Registry, ToolCall, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::http::{Auth, AuthError, HttpConfig};
use tool_mcp::server::{Rate, Rates, TaskPolicy, Token, UserId};

/// Reads a note.
#[tool(unlinked, read_only)]
fn read_note() -> &'static str {
    "a note"
}

/// Writes a note.
#[tool(unlinked, tags = ["write"])]
fn write_note() -> &'static str {
    "written"
}

/// Prints a note.
#[tool(unlinked, defer, tags = ["write"])]
fn print_note() -> &'static str {
    "printed"
}

/// Calls a tool.
#[tool(unlinked, tags = ["free"])]
async fn relay(name: &str, arguments: &str, call: &CallContext) -> String {
    let result = call.call(ToolCall::new("inner", name, arguments)).await;
    result.content().to_owned()
}

fn registry() -> Registry {
    let tools = tools![read_note, write_note, print_note, relay];
    Registry::builder().tools(tools).build().unwrap()
}

fn of_users(server: Server) -> Server {
    server.identity(|request, call| {
        Ok(match request.bearer() {
            Some(token) => call.with(UserId::new(token)),
            None => call,
        })
    })
}

/// Two calls an hour, and a clock.
fn rates() -> (Rates, Arc<AtomicU64>) {
    let (start, seconds) = (Instant::now(), Arc::new(AtomicU64::new(0)));
    let clock = seconds.clone();
    let rates = Rates::new(|tool| {
        let rate = Rate::new(2, Duration::from_secs(3600));
        (!tool.tags().any(|tag| tag == "free")).then_some(rate)
    });
    let now = move || start + Duration::from_secs(clock.load(Ordering::SeqCst));
    (rates.clock(now), seconds)
}

/// Makes a call in a session.
async fn in_session(address: SocketAddr, header: &str, name: &str, arguments: Value) -> Reply {
    let params = json!({"name": name, "arguments": arguments});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    post(address, header, &body.to_string()).await
}

fn text(result: &Value) -> &str {
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn a_call_too_many_is_429_over_http() {
    for has_sessions in [false, true] {
        let (rates, seconds) = rates();
        let server = of_users(Server::new(registry()).rate(rates));
        let address = start(server, config(|config| config.sessions = has_sessions)).await;
        let mut headers = Vec::new();
        for user in ["ada", "bob"] {
            let header = format!("Authorization: Bearer {user}\r\n");
            headers.push(if has_sessions {
                session(address, &header).await
            } else {
                header
            });
        }
        let make = async |user: usize, name: &str| {
            if has_sessions {
                in_session(address, &headers[user], name, json!({})).await
            } else {
                {
                    let user = ["ada", "bob"][user];
                    modern(address, user, "tools/call", json!({"name": name})).await
                }
            }
        };
        let expect = async |user: usize, name: &str, retry: Option<&str>| {
            let reply = make(user, name).await;
            assert_eq!(
                reply.status,
                if retry.is_some() { 429 } else { 200 },
                "{reply:?}"
            );
            assert_eq!(reply.header("retry-after"), retry);
        };
        expect(0, "read_note", None).await;
        expect(0, "read_note", None).await;
        expect(0, "read_note", Some("1800")).await;
        // Another tool, and another user.
        expect(0, "write_note", None).await;
        expect(1, "read_note", None).await;
        seconds.store(1799, Ordering::SeqCst);
        expect(0, "read_note", Some("1")).await;
        seconds.store(1800, Ordering::SeqCst);
        expect(0, "read_note", None).await;
        expect(0, "read_note", Some("1800")).await;
        // Unknown tools have no limit.
        for _ in 0..3 {
            let reply = make(0, "no_tool").await;
            assert_ne!(reply.status, 429, "{reply:?}");
            assert_eq!(reply.code(), -32602, "{reply:?}");
        }
    }
}

#[tokio::test]
async fn clients_without_a_name_are_one_user() {
    let (rates, _) = rates();
    let server = of_users(Server::new(registry()).rate(rates));
    let address = start(server, HttpConfig::default()).await;
    for expected in [200, 200, 429] {
        let session = session(address, "").await;
        let reply = in_session(address, &session, "read_note", json!({})).await;
        assert_eq!(reply.status, expected, "{reply:?}");
    }
}

#[tokio::test]
async fn a_call_too_many_over_a_stream_says_how_long_to_wait() {
    for lifecycle in BOTH {
        let (rates, seconds) = rates();
        let server = Server::new(registry()).rate(rates);
        let client = connect(server, lifecycle, TestClient::default()).await;
        let make = async || call(&client, "read_note", json!({})).await;
        assert_eq!(text(&make().await), "a note");
        assert_eq!(text(&make().await), "a note");
        seconds.store(600, Ordering::SeqCst);
        let result = make().await;
        assert_eq!(result["isError"], true);
        let expected = "read_note was not run: there were too many calls of it; make the same call again in 1200 s";
        assert_eq!(text(&result), expected);
        seconds.store(1800, Ordering::SeqCst);
        assert_eq!(text(&make().await), "a note");
    }
}

#[tokio::test]
async fn calls_that_tools_make_count_for_the_user() {
    let inner =
        |name: &str, arguments: Value| json!({"name": name, "arguments": arguments.to_string()});
    for is_task in [false, true] {
        let (rates, _) = rates();
        let server = of_users(Server::new(registry()).rate(rates)).tasks(move |_| {
            if is_task {
                TaskPolicy::Required
            } else {
                TaskPolicy::Never
            }
        });
        let address = start(server, stateless()).await;
        let relay = async |user: &str, arguments: Value| {
            let params = json!({"name": "relay", "arguments": arguments});
            let reply = modern(address, user, "tools/call", params).await;
            let mut result = reply.message()["result"].clone();
            while let Some(task) = result["taskId"].as_str()
                && !result["result"].is_object()
            {
                let params = json!({"taskId": task});
                let reply = modern(address, user, "tasks/get", params).await;
                result = reply.message()["result"].clone();
            }
            let result = if is_task { &result["result"] } else { &result };
            text(result).to_owned()
        };
        let meta = inner("call_tool", json!({"name": "print_note"}));
        assert_eq!(relay("ada", meta.clone()).await, "printed");
        assert_eq!(
            relay("ada", inner("print_note", json!({}))).await,
            "printed"
        );
        for arguments in [meta.clone(), inner("print_note", json!({}))] {
            let text = relay("ada", arguments).await;
            assert!(text.contains("too many calls"), "{text}");
        }
        let search = || inner("search_tools", json!({"query": "print"}));
        for _ in 0..2 {
            assert!(relay("ada", search()).await.contains("print_note"));
        }
        assert!(relay("ada", search()).await.contains("too many calls"));
        assert_eq!(relay("bob", meta).await, "printed");
        if !is_task {
            let params = json!({"name": "print_note"});
            let reply = modern(address, "ada", "tools/call", params).await;
            assert_eq!(reply.status, 429);
        }
    }
}

#[tokio::test]
async fn a_tool_that_is_not_visible_has_neither_a_rate_nor_scopes() {
    let (rates, _) = rates();
    let server = of_users(Server::new(registry()).rate(rates));
    let server = server
        .scopes(|_| ["nobody has this"])
        .visible(|request, tool| {
            request.bearer() == Some("ada") || !tool.tags().any(|tag| tag == "write")
        });
    let address = start(server, stateless()).await;
    let make =
        |user: &'static str| modern(address, user, "tools/call", json!({"name": "write_note"}));
    assert_eq!(make("ada").await.status, 403);
    let reply = make("bob").await;
    assert_eq!(reply.code(), -32602, "{reply:?}");
}

fn panics(is_bad: bool) {
    assert!(!is_bad, "the closure panics");
}

#[tokio::test]
async fn what_can_not_be_checked_does_not_run() {
    let rates = Rates::new(|tool| {
        panics(&*tool.name == "write_note");
        None
    });
    let by_rate = Server::new(registry()).rate(rates);
    let by_scopes = Server::new(registry()).scopes(|tool| {
        panics(&*tool.name == "write_note");
        [""; 0]
    });
    for server in [by_rate, by_scopes] {
        let address = start(server, stateless()).await;
        let reply = modern(address, "ada", "tools/call", json!({"name": "write_note"})).await;
        let result = &reply.message()["result"];
        assert!(text(result).contains("can't be checked"), "{result}");
        let params =
            json!({"name": "relay", "arguments": {"name": "write_note", "arguments": "{}"}});
        let reply = modern(address, "ada", "tools/call", params).await;
        let result = &reply.message()["result"];
        assert!(text(result).contains("can't be checked"), "{result}");
    }
}

/// The scopes of a token are its words after the user.
fn auth() -> Auth {
    let auth = Auth::bearer(|token| async move {
        let mut words = token.split('+');
        let user = words.next().filter(|user| *user != "eve");
        let user = user.ok_or(AuthError::InvalidToken)?;
        Ok(Token::new(UserId::new(user)).scopes(words))
    });
    auth.resource(
        "https://tools.example.com/mcp",
        ["https://login.example.com"],
    )
}

fn scoped() -> Server {
    Server::new(registry()).scopes(|tool| {
        let mut scopes = vec!["notes:read"];
        if tool.tags().any(|tag| tag == "write") {
            scopes.push("notes:write");
        }
        if tool.tags().any(|tag| tag == "free") {
            scopes.clear();
        }
        scopes
    })
}

#[tokio::test]
async fn a_missing_scope_is_403_with_a_challenge() {
    for has_sessions in [false, true] {
        let settings = config(|config| {
            config.sessions = has_sessions;
            config.auth = Some(auth());
        });
        let address = start(scoped(), settings).await;
        let make = async |token: &str, name: &str, arguments: Value| {
            if has_sessions {
                let header = session(address, &format!("Authorization: Bearer {token}\r\n")).await;
                return in_session(address, &header, name, arguments).await;
            }
            let params = json!({"name": name, "arguments": arguments});
            modern(address, token, "tools/call", params).await
        };
        for (token, name, missing) in [
            ("ada", "read_note", Some("notes:read")),
            ("ada+notes:read", "read_note", None),
            (
                "ada+notes:read+other",
                "write_note",
                Some("notes:read notes:write"),
            ),
            (
                "ada+notes:write",
                "write_note",
                Some("notes:read notes:write"),
            ),
            ("ada+notes:write+notes:read", "write_note", None),
            (
                "ada+notes:read+notes:writer",
                "write_note",
                Some("notes:read notes:write"),
            ),
        ] {
            let reply = make(token, name, json!({})).await;
            let Some(scopes) = missing else {
                assert_eq!(reply.status, 200, "{token}: {reply:?}");
                assert_ne!(reply.message()["result"]["isError"], true);
                continue;
            };
            assert_eq!(reply.status, 403, "{token}: {reply:?}");
            let expected = format!(
                "bearer error=\"insufficient_scope\",scope=\"{scopes}\",resource_metadata=\"\
                 https://tools.example.com/.well-known/oauth-protected-resource/mcp\""
            );
            assert_eq!(reply.header("www-authenticate"), Some(&*expected));
        }
        // A tool does not call for its user what the token may not.
        for (token, expected) in [
            (
                "ada+notes:read",
                "the token needs the scopes notes:read notes:write",
            ),
            ("ada+notes:read+notes:write", "printed"),
        ] {
            for (name, arguments) in [
                ("print_note", json!({})),
                ("call_tool", json!({"name": "print_note"})),
            ] {
                let arguments = json!({"name": name, "arguments": arguments.to_string()});
                let reply = make(token, "relay", arguments).await;
                let result = &reply.message()["result"];
                assert!(text(result).ends_with(expected), "{result}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_without_a_token_has_no_scopes() {
    // The user is known, and no token.
    let address = start(of_users(scoped()), stateless()).await;
    let reply = modern(address, "ada", "tools/call", json!({"name": "read_note"})).await;
    assert_eq!(reply.status, 403, "{reply:?}");
    let challenge = reply.header("www-authenticate");
    assert_eq!(
        challenge,
        Some("bearer error=\"insufficient_scope\",scope=\"notes:read\"")
    );
    for lifecycle in BOTH {
        let client = connect(scoped(), lifecycle, TestClient::default()).await;
        let result = call(&client, "read_note", json!({})).await;
        assert_eq!(result["isError"], true);
        assert!(
            text(&result).ends_with("the token needs the scopes notes:read"),
            "{result}"
        );
        // An application may say what its client may.
        let trusted = scoped().identity(|_, call| {
            Ok(call.with(Token::new(UserId::new("ada")).scopes(["notes:read"])))
        });
        let client = connect(trusted, lifecycle, TestClient::default()).await;
        assert_eq!(text(&call(&client, "read_note", json!({})).await), "a note");
        let result = call(&client, "write_note", json!({})).await;
        assert_eq!(result["isError"], true);
    }
}
