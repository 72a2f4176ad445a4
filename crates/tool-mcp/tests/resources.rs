//! Resources, prompts and completion.

// Clients before version 2026-07-28 subscribe by requests that are deprecated.
#![allow(deprecated)]

#[path = "support/raw.rs"]
mod raw;
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use raw::{config, post, start, stateless};
use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, ListResourcesResult,
    PaginatedRequestParams, ReadResourceRequestParams, Reference, Resource, ServerCapabilities,
    ServerNotification, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientServiceExt, ErrorData, ServerHandler, ServiceError};
use serde::Serialize;
use serde_json::{Value, json};
use support::{Answer, BOTH, Lifecycle, Running, TestClient, call, connect, in_time};
use tool_core::call::elicit::{Elicit, ElicitError};
use tool_core::content::{Content, File, Image};
use tool_core::hooks::Gate;
use tool_core::registry::MemoryResults;
use tool_core::{CallContext, Registry, ToolCall, ToolType, tool, tools};
use tool_mcp::server::http::{Auth, AuthError};
use tool_mcp::server::{Changes, ProtocolError, Rate, Token, UserId};
use tool_mcp::{Import, ImportErrorKind, Protocol, Server};

/// The prefix of each note.
struct Prefix(&'static str);

/// A note.
#[tool(unlinked, title = "Note")]
fn note(id: u64, #[param(context)] prefix: &Prefix) -> Result<String, ProtocolError> {
    match id {
        404 => Err(ProtocolError::new(-32002, "there is no such note")),
        _ => Ok(format!("{} {id}", prefix.0)),
    }
}

#[derive(Serialize, ToolType)]
struct Limits {
    notes: u32,
}

/// What a user may have.
#[tool(unlinked)]
fn limits() -> Limits {
    Limits { notes: 9 }
}

/// A file, as it is.
#[tool(unlinked)]
fn file(name: String) -> Vec<Content> {
    vec![
        Content::text(name),
        Image::png(*b"\x89PNG").into(),
        File::new("a.pdf", "application/pdf", *b"%PDF").into(),
    ]
}

/// A language of the library.
#[derive(Debug, ToolType)]
enum Language {
    English,
    Esperanto,
    Portuguese,
}

/// Reviews a text.
#[tool(unlinked)]
fn review(
    /// The language of the review.
    language: Language,
    /// The lines to read.
    lines: Option<Vec<u32>>,
    topic: Option<String>,
) -> String {
    format!("Review {lines:?} in {language:?} about {topic:?}.")
}

/// Asks before it reads.
#[tool(unlinked)]
async fn secret(call: &CallContext) -> Result<String, ElicitError> {
    let answer = call.elicit("sure", Elicit::confirm("Read it?")).await?;
    Ok(format!("{answer:?}"))
}

fn registry() -> Registry {
    Registry::builder().context(Prefix("note")).build().unwrap()
}

fn server_of(registry: Registry) -> Server {
    Server::new(registry)
        .resource("notes://{id}", tools![note])
        .resource("notes:limits", tools![limits])
        .resource("files://{name}.raw", tools![file])
        .resource("notes:secret", tools![secret])
        .prompt(tools![review])
}

/// Returns what the client gets as JSON: the result, or the error.
fn json<T: Serialize>(result: Result<T, ServiceError>) -> Value {
    match result {
        Ok(result) => serde_json::to_value(result).unwrap(),
        Err(ServiceError::McpError(error)) => {
            json!({ "error": serde_json::to_value(error).unwrap() })
        }
        Err(error) => panic!("{error}"),
    }
}

async fn read(client: &Running, uri: &str) -> Value {
    json(in_time(client.read_resource(ReadResourceRequestParams::new(uri))).await)
}

async fn prompt(client: &Running, name: &str, arguments: Value) -> Value {
    let mut params = GetPromptRequestParams::new(name);
    params.arguments = arguments.as_object().cloned();
    json(in_time(client.get_prompt(params)).await)
}

async fn complete(client: &Running, of: Reference, argument: &str, value: &str) -> Value {
    let typed = ArgumentInfo::new(argument, value);
    json(in_time(client.complete(CompleteRequestParams::new(of, typed))).await)
}

/// Returns a client of each version, over a stream, in sessions and without them.
async fn clients(server: impl Fn() -> Server) -> Vec<(Lifecycle, Running)> {
    let mut clients = Vec::new();
    for lifecycle in BOTH {
        let handler = || TestClient::answering([Answer::Decline]);
        clients.push((lifecycle, connect(server(), lifecycle, handler()).await));
        let address = start(server(), config(|_| {})).await;
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
        let client = handler().serve_with_lifecycle(transport, lifecycle.mode());
        clients.push((lifecycle, client.await.expect("the client connects")));
    }
    clients
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    for (lifecycle, client) in clients(|| server_of(registry())).await {
        let listed = client.list_all_resources().await.unwrap();
        let listed: Vec<_> = listed.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(listed, ["notes:limits", "notes:secret"]);
        let templates = client.list_all_resource_templates().await.unwrap();
        assert_eq!(templates.len(), 2);
        assert_eq!(
            serde_json::to_value(&templates[1]).unwrap(),
            json!({"uriTemplate": "notes://{id}", "name": "note", "title": "Note", "description": "A note."})
        );
        assert!(client.list_all_tools().await.unwrap().is_empty());

        let contents = read(&client, "notes://7").await["contents"].clone();
        assert_eq!(
            contents,
            json!([{"uri": "notes://7", "mimeType": "text/plain", "text": "note 7"}])
        );
        let contents = read(&client, "notes:limits").await["contents"].clone();
        assert_eq!(
            contents,
            json!([{"uri": "notes:limits", "mimeType": "application/json", "text": "{\"notes\":9}"}])
        );
        let contents = read(&client, "files://a%20b.raw").await["contents"].clone();
        let uri = "files://a%20b.raw";
        assert_eq!(
            contents,
            json!([
                {"uri": uri, "mimeType": "text/plain", "text": "a b"},
                {"uri": uri, "mimeType": "image/png", "blob": "iVBORw=="},
                {"uri": uri, "mimeType": "application/pdf", "blob": "JVBERg=="},
            ])
        );
        // It asks the user, in either way.
        let answered = read(&client, "notes:secret").await;
        assert_eq!(
            answered["contents"][0]["text"], "Declined",
            "{lifecycle:?} {answered}"
        );
    }
}

#[tokio::test]
async fn bad_uris_get_an_error() {
    for (lifecycle, client) in clients(|| server_of(registry())).await {
        let not_found = match lifecycle {
            Lifecycle::Legacy => -32002,
            Lifecycle::Modern => -32602,
        };
        let reply = read(&client, "notes://seven").await;
        assert_eq!(reply["error"]["code"], -32602);
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("id: expected an integer"), "{message}");
        let reply = read(&client, "notes://404").await;
        assert_eq!(reply["error"]["code"], not_found, "{reply}");
        for uri in [
            "notes://",
            "notes://.",
            "notes://..",
            "notes://%2e%2e",
            "notes://..%2f7",
            "notes://../7",
            "notes://7/",
            "notes://%00",
            "notes://%ff",
            "notes://7?a=b",
            "Notes://7",
            "note",
            "files://..%5Cx.raw",
            "files://%2e..raw",
            "files://..%2F..%2Fetc%2Fpasswd.raw",
            "files://..%2fx.raw",
            "files://%2E%2E%2Fx.raw",
            "files://%2e%2e%5cx.raw",
            "files:///etc/passwd.raw",
            "files://../x.raw",
            "files://.raw",
            "files://a.txt",
            "notes:limits/..",
            "notes:limits%2F..",
        ] {
            let reply = read(&client, uri).await;
            assert_eq!(reply["error"]["code"], not_found, "{uri}: {reply}");
            assert_eq!(reply["error"]["data"]["uri"], uri);
        }
        // Decoded once: no path, but a name with a percent sign.
        for (uri, name) in [
            ("files://%252e%252e.raw", "%2e%2e"),
            ("files://..%252f..%252fetc.raw", "..%2f..%2fetc"),
            ("files://%25252e.raw", "%252e"),
        ] {
            let reply = read(&client, uri).await;
            assert_eq!(reply["contents"][0]["text"], name);
        }
        let uri = format!("notes://{}", "7".repeat(1 << 20));
        let params = ReadResourceRequestParams::new(uri);
        let reply = match in_time(client.read_resource(params)).await {
            Err(error @ ServiceError::TransportSend(_)) => {
                // The client sends the URI in a header, too.
                assert!(error.to_string().contains("HTTP 431"), "{error}");
                continue;
            }
            reply => json(reply),
        };
        assert_eq!(reply["error"]["code"], -32602);
        let message = reply["error"]["message"].as_str().unwrap();
        assert_eq!(message, "the URI has more than 65536 bytes");
    }
}

#[tokio::test]
async fn prompts_are_listed_and_return_messages() {
    for (_, client) in clients(|| server_of(registry())).await {
        let listed = client.list_all_prompts().await.unwrap();
        assert_eq!(
            serde_json::to_value(&listed).unwrap(),
            json!([{
                "name": "review",
                "description": "Reviews a text.",
                "arguments": [
                    {"name": "language", "description": "The language of the review.", "required": true},
                    {"name": "lines", "description": "The lines to read.", "required": false},
                    {"name": "topic", "required": false},
                ],
            }])
        );
        let arguments = json!({"language": "English", "lines": "[1,2]", "topic": "12"});
        let reply = prompt(&client, "review", arguments).await;
        let text = "Review Some([1, 2]) in English about Some(\"12\").";
        assert_eq!(
            reply["messages"],
            json!([{"role": "user", "content": {"type": "text", "text": text}}])
        );
        for (arguments, problem) in [
            (json!({}), "language"),
            (json!({"language": "Latin"}), "language: "),
            (json!({"language": "English", "lines": "x"}), "lines"),
            (json!({"language": "English", "tone": "x"}), "tone"),
        ] {
            let reply = prompt(&client, "review", arguments).await;
            assert_eq!(reply["error"]["code"], -32602, "{reply}");
            let message = reply["error"]["message"].as_str().unwrap();
            assert!(message.contains(problem), "{message}");
        }
        assert_eq!(
            prompt(&client, "note", json!({})).await["error"]["code"],
            -32602
        );
    }
}

#[tokio::test]
async fn arguments_are_completed() {
    let server = || {
        server_of(registry()).complete(async |typed| {
            assert_ne!(typed.value, "panic");
            (0..120)
                .map(|at| format!("{} {} {at}", typed.name, typed.argument))
                .collect()
        })
    };
    for (_, client) in clients(server).await {
        let reply = complete(&client, Reference::for_prompt("review"), "language", "e").await;
        assert_eq!(
            reply["completion"]["values"],
            json!(["English", "Esperanto"])
        );
        let note = || Reference::for_resource("notes://{id}");
        let reply = complete(&client, note(), "id", "4").await;
        let values = reply["completion"]["values"].as_array().unwrap();
        assert_eq!((values.len(), &values[0]), (100, &json!("note id 0")));
        assert_eq!(reply["completion"]["hasMore"], true);
        let reply = complete(&client, note(), "id", "panic").await;
        assert_eq!(reply["error"]["code"], -32603);
        for unknown in [
            Reference::for_prompt("note"),
            Reference::for_resource("notes://7"),
        ] {
            assert_eq!(
                complete(&client, unknown, "id", "").await["error"]["code"],
                -32602
            );
        }
    }
}

fn subscribe_to(uri: &str) -> SubscribeRequestParams {
    SubscribeRequestParams::new(uri)
}

/// What a notice is about, as `TestClient::notices` has it.
fn about(notice: ServerNotification) -> String {
    match notice {
        ServerNotification::ResourceListChangedNotification(_) => "resources".into(),
        ServerNotification::PromptListChangedNotification(_) => "prompts".into(),
        ServerNotification::ResourceUpdatedNotification(updated) => updated.params.uri,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_client_is_notified_of_what_it_subscribed_to_and_of_lists() {
    let changes = Changes::new();
    let server = || server_of(registry()).changes(&changes);
    let tell = || {
        changes.resource_updated("notes://8");
        changes.resource_updated("notes://7");
        changes.prompts_changed();
        changes.resources_changed();
    };
    for (lifecycle, client) in clients(server).await {
        let capabilities = client.peer_info().unwrap().capabilities.clone();
        let resources = capabilities.resources.unwrap();
        assert_eq!(
            (resources.subscribe, resources.list_changed),
            (Some(true), Some(true))
        );
        assert_eq!(capabilities.prompts.unwrap().list_changed, Some(true));
        let mut expected = ["notes://7", "prompts", "resources"].map(str::to_owned);
        expected.sort();
        if lifecycle == Lifecycle::Legacy {
            in_time(client.subscribe(subscribe_to("notes://7")))
                .await
                .unwrap();
            tell();
            for what in &expected {
                client.service().noticed(what).await;
            }
            client
                .unsubscribe(UnsubscribeRequestParams::new("notes://7"))
                .await
                .unwrap();
            in_time(client.subscribe(subscribe_to("notes:limits")))
                .await
                .unwrap();
            client.service().notices.lock().unwrap().clear();
            tell();
            // The last of the notices that are sent together.
            changes.resource_updated("notes:limits");
            client.service().noticed("notes:limits").await;
            let notices = client.service().notices.lock().unwrap().clone();
            assert!(!notices.contains(&"notes://7".to_owned()), "{notices:?}");
            continue;
        }
        let filter = SubscriptionFilter::builder()
            .resources_list_changed()
            .prompts_list_changed()
            .resource_subscriptions(["notes://7", "nowhere://1"]);
        let mut subscription = in_time(client.listen(filter.build())).await.unwrap();
        // The handler of the subscription starts after its acknowledgement.
        let mut told = Vec::new();
        while told.len() < 3 {
            tell();
            changes.resource_updated("nowhere://1");
            let notice = in_time(subscription.next()).await.unwrap().unwrap();
            let about = about(notice);
            assert!(expected.contains(&about), "{about}");
            if !told.contains(&about) {
                told.push(about);
            }
        }
    }
}

#[tokio::test]
async fn without_changes_there_is_nothing_to_subscribe_to() {
    for (lifecycle, client) in clients(|| server_of(registry())).await {
        let capabilities = client.peer_info().unwrap().capabilities.clone();
        assert_eq!(capabilities.resources.unwrap().subscribe, None);
        if lifecycle == Lifecycle::Legacy {
            let reply = json(in_time(client.subscribe(subscribe_to("notes://7"))).await);
            assert_eq!(reply["error"]["code"], -32601);
        } else {
            let filter = SubscriptionFilter::builder().resource_subscription("notes://7");
            let subscription = in_time(client.listen(filter.build())).await.unwrap();
            assert_eq!(subscription.acknowledged().resource_subscriptions, None);
        }
    }
}

#[tokio::test]
async fn subscriptions_are_limited_and_need_what_a_read_needs() {
    let changes = Changes::new();
    let server = || {
        server_of(registry())
            .changes(&changes)
            .visible(|_, tool| &*tool.name != "limits")
            .scopes(|tool| (&*tool.name == "file").then_some("files:read"))
    };
    let client = connect(server(), Lifecycle::Legacy, TestClient::default()).await;
    let code = async |uri: String| {
        let reply = json(in_time(client.subscribe(SubscribeRequestParams::new(uri))).await);
        reply["error"]["code"].clone()
    };
    // Unknown, hidden, forbidden, and too long.
    let long = format!("notes://{}", "7".repeat(3000));
    for (uri, expected) in [
        ("notes://", -32002),
        ("notes://%2e%2e", -32002),
        ("notes:limits", -32002),
        ("files://a.raw", -32600),
        (&*long, -32602),
    ] {
        assert_eq!(code(uri.into()).await, json!(expected), "{uri}");
    }
    for id in 0..1000 {
        assert_eq!(code(format!("notes://{id}")).await, Value::Null);
    }
    assert_eq!(code("notes://1000".into()).await, -32600);
    // One that it has already is no other.
    assert_eq!(code("notes://7".into()).await, Value::Null);
    client
        .unsubscribe(UnsubscribeRequestParams::new("notes://8"))
        .await
        .unwrap();
    assert_eq!(code("notes://1000".into()).await, Value::Null);

    let client = connect(server(), Lifecycle::Modern, TestClient::default()).await;
    let uris = (0..2000).map(|id| format!("notes://{id}"));
    let filter = SubscriptionFilter::builder()
        .resource_subscriptions([long.clone()].into_iter().chain(uris));
    let subscription = in_time(client.listen(filter.build())).await.unwrap();
    let accepted = subscription.acknowledged().resource_subscriptions.clone();
    let accepted = accepted.unwrap();
    assert!(accepted.len() == 1000 && !accepted.contains(&long));
    drop(subscription);
    // Those that the client can't read are accepted like all others, which says nothing about them.
    let uris = ["notes:limits", "files://a.raw", "nowhere://1", "notes://7"];
    let filter = SubscriptionFilter::builder().resource_subscriptions(uris);
    let mut subscription = in_time(client.listen(filter.build())).await.unwrap();
    let accepted = subscription.acknowledged().resource_subscriptions.clone();
    assert_eq!(accepted.unwrap(), uris);
    let told = in_time(async {
        loop {
            for uri in uris {
                changes.resource_updated(uri);
            }
            tokio::select! {
                notice = subscription.next() => return about(notice.unwrap().unwrap()),
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
            }
        }
    });
    assert_eq!(told.await, "notes://7");
}

#[tokio::test]
async fn a_resource_that_is_hidden_later_is_not_notified_of() {
    let changes = Changes::new();
    let is_hidden = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let hidden = is_hidden.clone();
    let server = server_of(registry())
        .changes(&changes)
        .visible(move |_, tool| {
            &*tool.name != "note" || !hidden.load(std::sync::atomic::Ordering::Relaxed)
        });
    let client = connect(server, Lifecycle::Legacy, TestClient::default()).await;
    in_time(client.subscribe(subscribe_to("notes://7")))
        .await
        .unwrap();
    in_time(client.subscribe(subscribe_to("notes:limits")))
        .await
        .unwrap();
    is_hidden.store(true, std::sync::atomic::Ordering::Relaxed);
    changes.resource_updated("notes://7");
    changes.resource_updated("notes:limits");
    client.service().noticed("notes:limits").await;
    assert_eq!(*client.service().notices.lock().unwrap(), ["notes:limits"]);
}

#[tokio::test]
async fn capabilities_are_those_that_the_server_has() {
    let capabilities = |server: Server| {
        let capabilities = server.into_handler().get_info().capabilities;
        [
            capabilities.resources.is_some(),
            capabilities.prompts.is_some(),
            capabilities.completions.is_some(),
        ]
    };
    let server = || Server::new(registry());
    assert_eq!(capabilities(server()), [false; 3]);
    assert_eq!(
        capabilities(server().resource("notes://{id}", tools![note])),
        [true, false, false]
    );
    assert_eq!(
        capabilities(server().prompt(tools![review])),
        [false, true, true]
    );
    assert_eq!(
        capabilities(server().complete(async |_| Vec::new())),
        [false; 3]
    );
}

#[test]
fn mistakes_end_the_program_at_its_start() {
    /// A note of a day.
    #[tool(unlinked)]
    fn daily(day: &str) -> String {
        day.into()
    }

    let problem = |build: &dyn Fn(Server) -> Server| {
        let built = catch_unwind(AssertUnwindSafe(|| build(Server::new(registry()))));
        let problem = built.expect_err("it panics");
        problem.downcast_ref::<String>().expect("a message").clone()
    };
    for (build, expected) in [
        (
            &(|server: Server| {
                server
                    .resource("notes://{id}", tools![note])
                    .resource("notes://{day}", tools![daily])
            }) as &dyn Fn(Server) -> Server,
            "`notes://{day}` and `notes://{id}` (note) overlap",
        ),
        (
            &|server| server.resource("notes://{id}", tools![daily]),
            "the variable `id`, which is no parameter of daily",
        ),
        (
            &|server| server.resource("notes://today", tools![daily]),
            "daily requires `day`",
        ),
        (
            &|server| server.resource("notes://{day}", tools![daily, note]),
            "2 functions; it needs one",
        ),
        (
            &|server| server.resource("notes://{+day}", tools![daily]),
            "without an operator",
        ),
        (&|server| server.prompt(tools![daily, daily]), "daily"),
        (
            &|server| {
                server
                    .prompt(tools![daily])
                    .resource("notes://{day}", tools![daily])
            },
            "daily",
        ),
    ] {
        let problem = problem(build);
        assert!(problem.contains(expected), "{problem}");
    }
    let without_context = Server::new(Registry::new());
    let build = AssertUnwindSafe(|| without_context.resource("notes://{id}", tools![note]));
    assert!(catch_unwind(build).is_err());
}

#[tokio::test]
async fn hooks_of_the_registry_decide_on_reads_and_prompts() {
    let registry = || {
        Registry::builder()
            .context(Prefix("note"))
            .before(async |hook| match &*hook.call.name {
                "note" | "review" => Gate::deny("the library is closed"),
                "limits" => Gate::hold("somebody must look"),
                _ => Gate::Allow,
            })
            .build()
            .unwrap()
    };
    for (_, client) in clients(|| server_of(registry())).await {
        let closed = [
            read(&client, "notes://7").await,
            prompt(&client, "review", json!({"language": "English"})).await,
        ];
        for reply in closed {
            assert_eq!(reply["error"]["code"], -32600);
            let message = reply["error"]["message"].as_str().unwrap();
            assert!(message.contains("the library is closed"), "{message}");
        }
        assert_eq!(read(&client, "notes:limits").await["error"]["code"], -32600);
    }
}

#[tokio::test]
async fn what_is_not_visible_is_unknown() {
    let server = || {
        server_of(registry())
            .visible(|_, tool| !matches!(&*tool.name, "note" | "limits" | "review"))
            .page_size(1)
    };
    for (lifecycle, client) in clients(server).await {
        let unknown = read(&client, "nowhere://7").await;
        let hidden = read(&client, "notes://7").await;
        assert_eq!(hidden["error"]["code"], unknown["error"]["code"]);
        assert_eq!(hidden["error"]["message"], unknown["error"]["message"]);
        assert!(read(&client, "notes:limits").await["error"].is_object());
        let listed = client.list_all_resources().await.unwrap();
        assert_eq!(listed.len(), 1, "{lifecycle:?}");
        assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 1);
        assert!(client.list_all_prompts().await.unwrap().is_empty());
        let reply = prompt(&client, "review", json!({"language": "English"})).await;
        assert_eq!(reply["error"]["code"], -32602);
        assert_eq!(reply, prompt(&client, "nothing", json!({})).await);
        let reply = complete(&client, Reference::for_prompt("review"), "language", "").await;
        assert_eq!(reply["error"]["code"], -32602);
    }
}

#[tokio::test]
async fn a_user_without_the_scope_reads_and_completes_nothing() {
    let server = || {
        server_of(registry()).scopes(|tool| match &*tool.name {
            "note" | "review" => vec!["notes:read"],
            "limits" => panic!("the scopes can't be said"),
            _ => Vec::new(),
        })
    };
    let auth = || {
        Auth::bearer(|token| async move {
            let token = match &*token {
                "reader" => Token::new(UserId::new("ada")).scopes(["notes:read"]),
                "guest" => Token::new(UserId::new("bob")),
                _ => return Err(AuthError::InvalidToken),
            };
            Ok(token)
        })
    };
    let head = |method: &str, name: &str| {
        let version = "2026-07-28";
        format!("MCP-Protocol-Version: {version}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n")
    };
    let body = |method: &str, mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    };
    let address = start(server(), stateless().auth(auth())).await;
    let of_review = json!({
        "ref": {"type": "ref/prompt", "name": "review"},
        "argument": {"name": "language", "value": ""},
    });
    for (method, name, params) in [
        ("resources/read", "notes://7", json!({"uri": "notes://7"})),
        (
            "prompts/get",
            "review",
            json!({"name": "review", "arguments": {"language": "English"}}),
        ),
        ("completion/complete", "review", of_review),
    ] {
        for (token, status) in [("reader", 200), ("guest", 403)] {
            let headers = format!("{}Authorization: Bearer {token}\r\n", head(method, name));
            let reply = post(address, &headers, &body(method, params.clone())).await;
            assert_eq!(reply.status, status, "{method} {token}: {reply:?}");
            assert_eq!(
                reply.body.contains("\"result\""),
                status == 200,
                "{reply:?}"
            );
        }
    }
    // Over a stream there is no token. A check that can't be made counts as failed.
    for lifecycle in BOTH {
        let client = connect(server(), lifecycle, TestClient::default()).await;
        for uri in ["notes://7", "notes:limits"] {
            assert_eq!(read(&client, uri).await["error"]["code"], -32600);
        }
        let reply = prompt(&client, "review", json!({"language": "English"})).await;
        assert_eq!(reply["error"]["code"], -32600);
        let reply = complete(&client, Reference::for_prompt("review"), "language", "").await;
        assert_eq!(reply["error"]["code"], -32600);
        assert!(read(&client, "files://a.raw").await["contents"].is_array());
    }
}

#[tokio::test]
async fn reads_count_for_the_rate_of_the_user() {
    let server = || server_of(registry()).rate(Rate::new(2, Duration::from_secs(3600)));
    for lifecycle in BOTH {
        let client = connect(server(), lifecycle, TestClient::default()).await;
        for _ in 0..2 {
            assert!(read(&client, "notes://7").await["contents"].is_array());
        }
        assert_eq!(read(&client, "notes://8").await["error"]["code"], -32600);
    }
}

/// A handler with a resource of its own.
struct Old;

impl ServerHandler for Old {
    fn get_info(&self) -> rmcp::model::InitializeResult {
        let capabilities = ServerCapabilities::builder().enable_resources().build();
        rmcp::model::InitializeResult::new(capabilities)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let old = Resource::new("old://1", "old");
        Ok(ListResourcesResult::with_all_items(vec![old]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<rmcp::model::ReadResourceResponse, ErrorData> {
        let contents = vec![rmcp::model::ResourceContents::text("old", params.uri)];
        Ok(rmcp::model::ReadResourceResult::new(contents).into())
    }
}

#[tokio::test]
async fn the_resources_of_a_handler_follow_those_of_the_server() {
    for lifecycle in BOTH {
        let server = server_of(registry()).with_handler(Old);
        let client = connect(server, lifecycle, TestClient::default()).await;
        let listed = client.list_all_resources().await.unwrap();
        let listed: Vec<_> = listed.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(listed, ["notes:limits", "notes:secret", "old://1"]);
        assert_eq!(read(&client, "old://1").await["contents"][0]["text"], "old");
        assert_eq!(
            read(&client, "notes://7").await["contents"][0]["text"],
            "note 7"
        );
    }
}

#[tokio::test]
async fn imported_resources_and_prompts_are_read_by_the_application_and_by_two_tools() {
    for protocol in [Protocol::V2025_11_25, Protocol::V2026_07_28] {
        let open = || async {
            let (near, far) = tokio::io::duplex(64 * 1024);
            let (input, output) = tokio::io::split(far);
            tokio::spawn(
                server_of(registry())
                    .page_size(1)
                    .serve_stream(input, output),
            );
            Ok::<_, std::io::Error>(near)
        };
        let own = Registry::new();
        let import = Import::stream(open)
            .protocol(protocol)
            .prefix("lib_")
            .resource_tools();
        let import = import.connect(&own).await.unwrap();
        let listed = import.list_resources().await.unwrap();
        assert_eq!(listed.len(), 2, "{listed:?}");
        assert_eq!(import.list_resource_templates().await.unwrap().len(), 2);
        assert_eq!(import.list_prompts().await.unwrap()[0]["name"], "review");
        let contents = import.read_resource("notes://7").await.unwrap();
        assert_eq!(contents[0]["text"], "note 7");
        let error = import.read_resource("notes://seven").await.unwrap_err();
        assert_eq!(error.kind(), ImportErrorKind::Rejected);
        assert!(
            error.to_string().contains("id: expected an integer"),
            "{error}"
        );
        let arguments = [("language", "English")];
        let messages = import.get_prompt("review", arguments).await.unwrap();
        assert_eq!(messages[0]["role"], "user");

        let call = |name, arguments: Value| own.call(ToolCall::new("1", name, arguments));
        let result = call("lib_read_resource", json!({"uri": "notes://7"})).await;
        assert!(result.content().contains("note 7"), "{}", result.content());
        let result = call("lib_read_resource", json!({"uri": "notes://.."})).await;
        assert!(result.is_error());
        let arguments = json!({"name": "review", "arguments": {"language": "English"}});
        let result = call("lib_get_prompt", arguments).await;
        assert!(
            result.content().contains("in English"),
            "{}",
            result.content()
        );
        import.close().await;
        assert!(own.is_empty());
    }
}

#[tokio::test]
async fn without_request_a_model_reads_no_resources() {
    let open = || async {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(far);
        tokio::spawn(server_of(registry()).serve_stream(input, output));
        Ok::<_, std::io::Error>(near)
    };
    let own = Registry::new();
    let import = Import::stream(open).connect(&own).await.unwrap();
    assert!(own.is_empty());
    drop(import);
}

/// Lists numbers.
#[tool(unlinked)]
fn count(to: u32) -> Vec<u32> {
    (1..=to).collect()
}

/// Fails with a long text.
#[tool(unlinked)]
fn build() -> Result<(), String> {
    Err("error: it does not compile\n".repeat(50))
}

fn keeping() -> Server {
    let registry = Registry::builder().tools(tools![count, build]);
    let registry = registry.spill(MemoryResults::new(), 100);
    Server::new(registry.build().unwrap())
}

/// Calls a tool whose result is kept. Returns the URI in its link.
async fn kept(client: &Running) -> String {
    let result = call(client, "count", json!({"to": 100})).await;
    let link = &result["content"][1];
    link["uri"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
        .to_owned()
}

#[tokio::test]
async fn long_results_are_linked_and_read_in_their_session() {
    let whole = serde_json::to_string(&(1..=100).collect::<Vec<u32>>()).unwrap();
    for (at, (lifecycle, client)) in clients(keeping).await.into_iter().enumerate() {
        let info = client.peer_info().unwrap();
        assert!(info.capabilities.resources.is_some());
        let listed = client.list_all_tools().await.unwrap();
        let names: Vec<_> = listed.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["build", "count", "read_result"]);
        assert!(listed.iter().all(|tool| tool.output_schema.is_none()));
        let result = call(&client, "count", json!({"to": 100})).await;
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with(&whole[..100]) && result["structuredContent"].is_null());
        // Without a session and a user, nobody knows whose it is.
        if at == 3 {
            assert_eq!(lifecycle, Lifecycle::Modern);
            assert_eq!(result["content"].as_array().unwrap().len(), 1);
            assert!(text.contains("[truncated: "), "{text}");
            continue;
        }
        let link = &result["content"][1];
        let uri = link["uri"].as_str().unwrap();
        assert_eq!(
            *link,
            json!({"type": "resource_link", "uri": uri, "name": "the whole result of count", "mimeType": "text/plain", "size": 293})
        );
        let contents = read(&client, uri).await["contents"].clone();
        assert_eq!(
            contents,
            json!([{"uri": uri, "mimeType": "text/plain", "text": whole}])
        );
        // A client that has tools alone reads on, too.
        let handle = uri.strip_prefix("tool-result:///").unwrap();
        assert!(text.contains(handle));
        let found = text_of(&client, json!({"handle": handle, "search": "99,100]"})).await;
        assert!(found.starts_with("line 1, byte 286: …"), "{found}");
        // An error has a link, too.
        let failed = call(&client, "build", json!({})).await;
        assert_eq!(failed["isError"], true);
        let uri = failed["content"][1]["uri"].as_str().unwrap();
        let text = read(&client, uri).await["contents"][0]["text"].clone();
        assert_eq!(text.as_str().unwrap().lines().count(), 50);
    }
}

async fn text_of(client: &Running, arguments: Value) -> String {
    support::text(client, "read_result", arguments).await
}

#[tokio::test]
async fn a_kept_result_is_unknown_to_other_sessions_and_other_users() {
    let server = keeping().scopes(|tool| match &*tool.name {
        "read_result" => vec!["read"],
        _ => Vec::new(),
    });
    let auth = Auth::bearer(|token| async move {
        let scopes: &[&str] = if token == "guest" { &[] } else { &["read"] };
        Ok::<_, AuthError>(Token::new(UserId::new(token)).scopes(scopes.iter().copied()))
    });
    let address = start(server, config(|config| config.auth = Some(auth))).await;
    let client = async |user: &str, lifecycle: Lifecycle| {
        let uri = format!("http://{address}/mcp");
        let config = StreamableHttpClientTransportConfig::with_uri(uri).auth_header(user);
        let transport = StreamableHttpClientTransport::from_config(config);
        let client = TestClient::default().serve_with_lifecycle(transport, lifecycle.mode());
        client.await.expect("the client connects")
    };
    let (ada, same_ada) = (
        client("ada", Lifecycle::Legacy).await,
        client("ada", Lifecycle::Legacy).await,
    );
    let bob = client("bob", Lifecycle::Legacy).await;
    let modern = client("ada", Lifecycle::Modern).await;
    let modern_bob = client("bob", Lifecycle::Modern).await;
    let of_session = kept(&ada).await;
    let of_user = kept(&modern).await;
    let unknown = async |client: &Running, uri: &str| {
        let made_up = "tool-result:///r0000000000000000";
        let found = read(client, uri).await.to_string();
        let expected = read(client, made_up).await.to_string();
        assert!(expected.contains("error"), "{expected}");
        assert_eq!(found.replace(uri, made_up), expected);
        let handle = uri.strip_prefix("tool-result:///").unwrap();
        let text = text_of(client, json!({"handle": handle})).await;
        assert!(text.contains("no result has this handle"), "{text}");
    };
    for other in [&same_ada, &bob, &modern, &modern_bob] {
        unknown(other, &of_session).await;
    }
    // Without sessions, results are those of their user.
    for other in [&ada, &bob, &modern_bob] {
        unknown(other, &of_user).await;
    }
    let again = client("ada", Lifecycle::Modern).await;
    for (client, uri) in [(&ada, &of_session), (&modern, &of_user), (&again, &of_user)] {
        let contents = read(client, uri).await["contents"][0]["text"].clone();
        assert_eq!(contents.as_str().unwrap().len(), 293, "{contents}");
    }
    // What may not call the tool may not read either.
    let guest = client("guest", Lifecycle::Legacy).await;
    let of_guest = kept(&guest).await;
    let refused = in_time(guest.read_resource(ReadResourceRequestParams::new(of_guest))).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("Insufficient scope"), "{refused}");
}
