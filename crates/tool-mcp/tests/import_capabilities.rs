//! What imported servers use of the application besides tools: its model, its roots, its log; and their resources and
//! prompts, if they are broken or hostile. The servers are scripts that answer line by line.

// Clients before version 2026-07-28 subscribe by requests that are deprecated.
#![allow(deprecated)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::SubscribeRequestParams;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::{Notify, Semaphore, mpsc};
use tool_core::{Registry, ToolCall};
use tool_mcp::{Import, ImportBuilder, ImportErrorKind, LogLevel, LogMessage, Protocol};

#[path = "support/in_time.rs"]
mod in_time;
#[path = "support/log.rs"]
mod log;

use in_time::in_time;
use log::Log;

/// What the client answers to the requests of a server.
#[derive(Clone, Default)]
struct Script {
    lines: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>>,
    replies: Arc<Mutex<Vec<Value>>>,
    /// The requests and notifications of the client.
    requests: Arc<Mutex<Vec<Value>>>,
    /// How many gateways the server says that its tools come through.
    gateways: usize,
}

impl Script {
    /// Sends a message to the client.
    fn send(&self, message: &Value) {
        let lines = self.lines.lock().unwrap().clone().expect("a connection");
        let _ = lines.send(format!("{message}\n"));
    }

    /// Sends a request, and returns the answer of the client.
    async fn ask(&self, id: &str, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.reply(id).await
    }

    async fn reply(&self, id: &str) -> Value {
        in_time(async {
            loop {
                let found = self
                    .replies
                    .lock()
                    .unwrap()
                    .iter()
                    .find(|reply| reply["id"] == id)
                    .cloned();
                if let Some(reply) = found {
                    return reply;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await
    }

    /// Waits for a message of the client.
    async fn received(&self, method: &str) -> Value {
        in_time(async {
            loop {
                let requests = self.requests.lock().unwrap().clone();
                if let Some(found) = requests
                    .into_iter()
                    .find(|request| request["method"] == method)
                {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await
    }

    /// Imports from the script. The closure returns a result for a method and its parameters, and `null` for no answer.
    fn import(
        &self,
        protocol: Protocol,
        answer: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
    ) -> ImportBuilder {
        let (script, answer) = (self.clone(), Arc::new(answer));
        Import::stream(move || {
            let (script, answer) = (script.clone(), answer.clone());
            async move {
                let (near, far) = tokio::io::duplex(64 * 1024);
                let (read, mut write) = tokio::io::split(far);
                let (sender, mut lines) = mpsc::unbounded_channel::<String>();
                *script.lines.lock().unwrap() = Some(sender);
                tokio::spawn(async move {
                    while let Some(line) = lines.recv().await {
                        if write.write_all(line.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                    let _ = write.shutdown().await;
                });
                tokio::spawn(async move {
                    let mut lines = BufReader::new(read).lines();
                    while let Ok(Some(line)) = lines.next_line().await {
                        let message: Value = serde_json::from_str(&line).unwrap();
                        let Some(method) = message["method"].as_str() else {
                            script.replies.lock().unwrap().push(message);
                            continue;
                        };
                        script.requests.lock().unwrap().push(message.clone());
                        let Some(id) = message.get("id") else {
                            continue;
                        };
                        let capabilities = json!({
                            "tools": {}, "logging": {}, "prompts": {}, "resources": {"subscribe": true}, "completions": {},
                        });
                        let result = match method {
                            "initialize" => json!({
                                "protocolVersion": "2025-11-25",
                                "capabilities": capabilities,
                                "serverInfo": {"name": "script", "version": "1"},
                            }),
                            "server/discover" => json!({
                                "resultType": "complete",
                                "supportedVersions": ["2026-07-28"],
                                "capabilities": capabilities,
                                "ttlMs": 0,
                                "cacheScope": "private",
                            }),
                            "tools/list" => json!({
                                "tools": [{"name": "work", "inputSchema": {"type": "object"}}],
                                "_meta": {"tool-core/gateways": (0..script.gateways).map(|id| id.to_string()).collect::<Vec<_>>()},
                                "resultType": "complete",
                                "ttlMs": 0,
                                "cacheScope": "private",
                            }),
                            "logging/setLevel" => json!({}),
                            _ => answer(method, &message["params"]),
                        };
                        if !result.is_null() {
                            script.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
                        }
                    }
                });
                Ok::<DuplexStream, _>(near)
            }
        })
        .name("script")
        .protocol(protocol)
    }
}

fn nothing(_: &str, _: &Value) -> Value {
    Value::Null
}

fn message(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}], "maxTokens": 10})
}

fn answer_of(text: &str) -> Value {
    json!({"role": "assistant", "content": {"type": "text", "text": text}, "model": "test"})
}

#[tokio::test]
async fn by_default_a_server_is_told_of_nothing_and_gets_nothing() {
    let script = Script::default();
    let import = script.import(Protocol::V2025_11_25, nothing);
    let import = in_time(import.connect(&Registry::new())).await.unwrap();
    let capabilities = script.received("initialize").await["params"]["capabilities"].clone();
    assert!(capabilities.get("sampling").is_none() && capabilities.get("roots").is_none());
    assert!(capabilities.get("elicitation").is_some());
    for (id, method) in [("1", "sampling/createMessage"), ("2", "roots/list")] {
        let reply = script.ask(id, method, message("hello")).await;
        assert_eq!(reply["error"]["code"], -32601, "{reply}");
    }
    let requests = script.requests.lock().unwrap().clone();
    assert!(
        !requests
            .iter()
            .any(|request| request["method"] == "logging/setLevel")
    );
    drop(import);
}

#[tokio::test]
async fn a_server_gets_the_model_and_the_roots_that_it_was_given() {
    let script = Script::default();
    let import = script
        .import(Protocol::V2025_11_25, nothing)
        .roots(["file:///home/ada"])
        .on_sample(async |sample| {
            let text = sample.params["messages"][0]["content"]["text"].clone();
            match text.as_str() {
                Some("panic") => panic!("the model is broken"),
                Some("wrong") => Ok(json!({"model": 7})),
                Some("no") => Err("not today".into()),
                text => Ok(answer_of(&format!("{} says {text:?}", sample.server))),
            }
        });
    let import = in_time(import.connect(&Registry::new())).await.unwrap();
    let capabilities = script.received("initialize").await["params"]["capabilities"].clone();
    assert!(capabilities["sampling"].is_object() && capabilities["roots"].is_object());
    let reply = script
        .ask("1", "sampling/createMessage", message("hello"))
        .await;
    assert_eq!(
        reply["result"]["content"]["text"],
        r#"script says Some("hello")"#
    );
    let reply = script.ask("2", "roots/list", json!({})).await;
    assert_eq!(
        reply["result"]["roots"],
        json!([{"uri": "file:///home/ada"}])
    );
    for (id, text, problem) in [
        ("3", "panic", "the model failed"),
        ("4", "wrong", "the model failed"),
        ("5", "no", "not today"),
        ("6", &*"x".repeat(1 << 20), "bytes"),
    ] {
        let reply = script
            .ask(id, "sampling/createMessage", message(text))
            .await;
        let error = reply["error"]["message"].as_str().unwrap();
        assert!(error.contains(problem), "{error}");
    }
    drop(import);
}

#[tokio::test]
async fn requests_to_the_model_are_limited() {
    let script = Script::default();
    let (started, may_end) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let import = {
        let (started, may_end) = (started.clone(), may_end.clone());
        script
            .import(Protocol::V2025_11_25, nothing)
            .on_sample(move |_| {
                let (started, may_end) = (started.clone(), may_end.clone());
                async move {
                    started.notify_one();
                    let _permit = may_end.acquire().await;
                    Ok(answer_of("done"))
                }
            })
    };
    let import = in_time(import.connect(&Registry::new())).await.unwrap();
    for id in 0..4 {
        script.send(&json!({
            "jsonrpc": "2.0", "id": format!("{id}"), "method": "sampling/createMessage", "params": message("hello"),
        }));
        in_time(started.notified()).await;
    }
    let reply = script
        .ask("4", "sampling/createMessage", message("hello"))
        .await;
    let error = reply["error"]["message"].as_str().unwrap();
    assert!(
        error.contains("4 requests to the model are running"),
        "{error}"
    );
    may_end.add_permits(1000);
    for id in ["0", "1", "2", "3"] {
        assert!(script.reply(id).await["result"].is_object());
    }
    for id in 5..61 {
        let reply = script
            .ask(&id.to_string(), "sampling/createMessage", message("hello"))
            .await;
        assert!(reply["result"].is_object(), "{id}: {reply}");
    }
    let reply = script
        .ask("61", "sampling/createMessage", message("hello"))
        .await;
    let error = reply["error"]["message"].as_str().unwrap();
    assert!(
        error.contains("60 requests to the model in a minute"),
        "{error}"
    );
    drop(import);
}

#[tokio::test]
async fn a_server_of_the_newest_version_asks_by_its_result() {
    let script = Script::default();
    let answer = |method: &str, params: &Value| {
        assert_eq!(method, "tools/call");
        if params["inputResponses"].is_object() {
            let text = params["inputResponses"].to_string();
            return json!({"resultType": "complete", "content": [{"type": "text", "text": text}]});
        }
        json!({
            "resultType": "input_required",
            "requestState": "s",
            "inputRequests": {
                "model": {"method": "sampling/createMessage", "params": message("hello")},
                "roots": {"method": "roots/list"},
            },
        })
    };
    let import = script
        .import(Protocol::V2026_07_28, answer)
        .roots(["file:///home/ada"])
        .on_log(LogLevel::Warning, |_| {})
        .on_sample(async |sample| {
            assert!(sample.call.is_some());
            Ok(answer_of("hi"))
        });
    let registry = Registry::new();
    let import = in_time(import.connect(&registry)).await.unwrap();
    let result = in_time(registry.call(ToolCall::new("1", "work", "{}"))).await;
    let answers: Value = serde_json::from_str(result.content()).unwrap();
    assert_eq!(answers["model"]["content"]["text"], "hi");
    assert_eq!(answers["roots"]["roots"][0]["uri"], "file:///home/ada");
    let meta = script.received("tools/call").await["params"]["_meta"].clone();
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "warning");
    let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert!(capabilities["sampling"].is_object() && capabilities["roots"].is_object());
    drop(import);

    // Without the handler, such a question ends the call.
    let registry = Registry::new();
    let import = script.import(Protocol::V2026_07_28, answer);
    let import = in_time(import.connect(&registry)).await.unwrap();
    let result = in_time(registry.call(ToolCall::new("1", "work", "{}"))).await;
    assert!(
        result.is_error() && result.content().contains("not supported"),
        "{}",
        result.content()
    );
    drop(import);
}

#[tokio::test]
async fn messages_of_a_log_are_filtered_and_limited() {
    let script = Script::default();
    let messages = Arc::new(Mutex::new(Vec::new()));
    let seen = messages.clone();
    let import = script
        .import(Protocol::V2025_11_25, |_, _| json!({"content": []}))
        .on_log(LogLevel::Notice, move |message: LogMessage| {
            assert_ne!(message.text, "panic");
            seen.lock().unwrap().push(message);
        });
    let registry = Registry::new();
    let import = in_time(import.connect(&registry)).await.unwrap();
    let level = script.received("logging/setLevel").await;
    assert_eq!(level["params"]["level"], "notice");
    let log = |level: &str, data: Value| {
        script.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/message",
            "params": {"level": level, "logger": "disk", "data": data},
        }));
    };
    log("info", json!("not wanted"));
    log("error", json!("panic"));
    log("warning", json!("the disk is full"));
    log("alert", json!({"disk": 7}));
    log("error", json!("é".repeat(1 << 20)));
    for at in 0..1000 {
        log("error", json!(at));
    }
    // Messages arrive in order, so all have when this returns.
    in_time(registry.call(ToolCall::new("1", "work", "{}"))).await;
    let messages = messages.lock().unwrap();
    assert_eq!(
        (
            &*messages[0].server,
            messages[0].level,
            messages[0].logger.as_deref(),
            &*messages[0].text
        ),
        (
            "script",
            LogLevel::Warning,
            Some("disk"),
            "the disk is full"
        )
    );
    assert_eq!(
        (messages[1].level, &*messages[1].text),
        (LogLevel::Alert, r#"{"disk":7}"#)
    );
    assert!(
        messages[2].text.len() <= 16 << 10,
        "{}",
        messages[2].text.len()
    );
    assert!(messages.len() < 1000, "{}", messages.len());
    drop(import);
}

#[tokio::test]
async fn lists_of_resources_are_bounded() {
    let script = Script::default();
    let pages = Arc::new(AtomicUsize::new(0));
    let counted = pages.clone();
    let resource = json!({"uri": "notes://7", "name": "seven"});
    let import = script
        .import(Protocol::V2025_11_25, move |method, params| {
            let page = counted.fetch_add(1, Ordering::Relaxed);
            match method {
                "resources/list" => json!({"resources": vec![resource.clone(); 4]}),
                // The same page again.
                "resources/templates/list" => json!({"resourceTemplates": [], "nextCursor": "x"}),
                // Pages without end.
                "prompts/list" if params["cursor"] != "wrong" => {
                    json!({"prompts": [], "nextCursor": page.to_string()})
                }
                "resources/read" if params["uri"] == "input" => {
                    json!({"resultType": "input_required", "contents": []})
                }
                "resources/read" => json!({"contents": {"uri": "notes://7"}}),
                "prompts/get" => Value::Null,
                _ => json!({}),
            }
        })
        .max_tools(3)
        .call_timeout(Duration::from_millis(100));
    let import = in_time(import.connect(&Registry::new())).await.unwrap();
    let rejected = |result: Result<Vec<Value>, tool_mcp::ImportError>, problem: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ImportErrorKind::Rejected);
        assert!(error.to_string().contains(problem), "{error}");
    };
    rejected(
        in_time(import.list_resources()).await,
        "lists more than 3 resources",
    );
    let before = pages.load(Ordering::Relaxed);
    rejected(
        in_time(import.list_resource_templates()).await,
        "does not end its list",
    );
    assert_eq!(pages.load(Ordering::Relaxed), before + 2);
    let before = pages.load(Ordering::Relaxed);
    rejected(
        in_time(import.list_prompts()).await,
        "does not end its list",
    );
    assert_eq!(pages.load(Ordering::Relaxed), before + 1000);
    rejected(
        in_time(import.read_resource("notes://7")).await,
        "another result",
    );
    rejected(
        in_time(import.read_resource("input")).await,
        "asks for input",
    );
    // It never answers.
    let error = in_time(import.get_prompt("x", [("a", "b")]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::TimedOut, "{error}");
    // The server is told that nobody waits.
    script.received("notifications/cancelled").await;
    *script.lines.lock().unwrap() = None;
    drop(import);
}

#[tokio::test]
async fn a_cancelled_read_ends_at_the_server_too() {
    let script = Script::default();
    let import = script
        .import(Protocol::V2025_11_25, nothing)
        .resource_tools();
    let registry = Registry::new();
    let import = in_time(import.connect(&registry)).await.unwrap();
    let token = tool_core::call::CancellationToken::new();
    let call = ToolCall::new("1", "read_resource", r#"{"uri":"notes://7"}"#).cancel_with(&token);
    let reading = tokio::spawn({
        let registry = registry.clone();
        async move { registry.call(call).await.content().to_owned() }
    });
    script.received("resources/read").await;
    token.cancel();
    let content = in_time(reading).await.unwrap();
    assert!(content.contains("cancelled"), "{content}");
    script.received("notifications/cancelled").await;
    drop(import);
}

#[tokio::test]
async fn a_list_that_takes_long_ends() {
    let script = Script::default();
    let import = script
        .import(Protocol::V2025_11_25, nothing)
        .list_timeout(Duration::from_millis(100));
    let import = in_time(import.connect(&Registry::new())).await.unwrap();
    let error = in_time(import.list_resources()).await.unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::TimedOut, "{error}");
    // Each page comes in time, but not all of them.
    let slow = Script::default();
    let import_slow = slow
        .import(Protocol::V2025_11_25, |_, params| {
            std::thread::sleep(Duration::from_millis(10));
            let next = params["cursor"].as_str().unwrap_or_default();
            json!({"resources": [], "nextCursor": format!("{next}x")})
        })
        .list_timeout(Duration::from_millis(500));
    let import_slow = in_time(import_slow.connect(&Registry::new()))
        .await
        .unwrap();
    let error = in_time(import_slow.list_resources()).await.unwrap_err();
    assert_eq!(error.kind(), ImportErrorKind::TimedOut, "{error}");
    // A server that is away is another error.
    *script.lines.lock().unwrap() = None;
    let error = in_time(async {
        loop {
            let error = import.read_resource("notes://7").await.unwrap_err();
            if error.kind() == ImportErrorKind::Away {
                return error;
            }
        }
    })
    .await;
    assert!(error.to_string().contains("away"), "{error}");
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    waited.unwrap_or_else(|_| panic!("{what}: it did not happen in 20 seconds"));
}

#[tokio::test]
async fn a_gateway_leaves_out_what_a_broken_server_lists() {
    let script = Script::default();
    let import = script
        .import(Protocol::V2025_11_25, |method, _| match method {
            "resources/list" => json!({"resources": [{"uri": "a://1", "name": "one"}, {"uri": 7}, "x"]}),
            "resources/templates/list" => json!({"resourceTemplates": vec![json!({"uriTemplate": "a://{x}", "name": "x"}); 9]}),
            "prompts/list" => json!({"prompts": "none"}),
            _ => json!({}),
        })
        .max_tools(5);
    let server = tool_mcp::Server::new(Registry::new()).import("x_", import);
    let imports = server.imports();
    in_time(imports.all()[0].connected()).await.unwrap();
    let report = imports.to_string();
    for expected in [
        "1 resources, 0 templates and 0 prompts",
        "2 of the resources are no resources of the protocol",
        "the server lists more than 5 resourceTemplates",
        "the prompts can't be listed",
    ] {
        assert!(report.contains(expected), "{expected}: {report}");
    }
}

/// On one thread, whose log is complete.
#[tokio::test]
async fn subscriptions_at_an_imported_server_are_limited() {
    const MOST: usize = 1000;
    let (log, _guard) = Log::start(tracing::Level::WARN);
    let script = Script::default();
    let import = script.import(Protocol::V2025_11_25, |method, _| match method {
        "resources/list" => json!({"resources": []}),
        "resources/templates/list" => {
            json!({"resourceTemplates": [{"uriTemplate": "a://{x}", "name": "x"}]})
        }
        "prompts/list" => json!({"prompts": []}),
        _ => json!({}),
    });
    let server = tool_mcp::Server::new(Registry::new()).import("x_", import);
    let imports = server.imports();
    in_time(imports.all()[0].connected()).await.unwrap();
    let handler = server.into_handler();
    let mut clients = Vec::new();
    // One client alone has no more either.
    for _ in 0..2 {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let serving = handler.clone();
        tokio::spawn(async move {
            Box::pin(rmcp::serve_server(serving, far))
                .await
                .unwrap()
                .waiting()
                .await
        });
        let client = ().serve_with_lifecycle(near, ClientLifecycleMode::Initialize);
        clients.push(in_time(client).await.unwrap());
    }
    let subscribe = async |client: usize, uri: String| {
        let subscribed = clients[client].subscribe(SubscribeRequestParams::new(uri));
        in_time(subscribed).await.unwrap();
    };
    for id in 0..MOST {
        subscribe(0, format!("a://{id}")).await;
    }
    assert!(!log.text().contains("can be subscribed to"));
    subscribe(1, "a://more".into()).await;
    assert!(log.text().contains("no more than 1000 resources"));
    // One that it has already is no other.
    subscribe(1, "a://7".into()).await;
    let uris = || {
        let requests = script.requests.lock().unwrap();
        let requests = requests.iter();
        let subscriptions = requests.filter(|request| request["method"] == "resources/subscribe");
        let uris = subscriptions.map(|request| request["params"]["uri"].to_string());
        uris.collect::<std::collections::BTreeSet<_>>()
    };
    until("all are passed on", || uris().len() == MOST).await;
    assert!(!uris().contains("\"a://more\""));
}

#[tokio::test]
async fn tools_that_come_through_very_many_gateways_are_taken_for_a_loop() {
    for (gateways, is_loop) in [(64, false), (65, true)] {
        let script = Script {
            gateways,
            ..Script::default()
        };
        let registry = Registry::new();
        let import = script.import(Protocol::V2025_11_25, |_, _| json!({}));
        let server = tool_mcp::Server::new(registry.clone()).import("x_", import);
        let imports = server.imports();
        let import = &imports.all()[0];
        if is_loop {
            until("the loop is found", || {
                import
                    .status()
                    .to_string()
                    .contains("more than 64 gateways")
            })
            .await;
            assert!(registry.is_empty());
        } else {
            in_time(import.connected()).await.unwrap();
            assert_eq!(registry.len(), 1);
        }
    }
}
