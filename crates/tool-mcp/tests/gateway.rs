//! A gateway: a server of what it imports from others.

// Clients before version 2026-07-28 subscribe by requests that are deprecated.
#![allow(deprecated)]

mod support;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    ArgumentInfo, CompleteRequestParams, GetPromptRequestParams, ReadResourceRequestParams,
    Reference, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
use tool_core::call::{Progress, TraceContext};
use tool_core::{CallContext, Registry, ToolType, tool, tools};
use tool_mcp::server::http::HttpConfig;
use tool_mcp::server::{Changes, Imports, ProtocolError, UserId};
use tool_mcp::{Backoff, Import, ImportBuilder, Protocol, Server, Status};

use self::support::{
    Answer, BOTH, Lifecycle, OnDrop, Running, TestClient, call, connect, import_of, in_time,
    params, text,
};
use tokio::net::TcpListener;

/// What the tools note.
#[derive(Clone, Default)]
struct Notes {
    starts: Arc<AtomicUsize>,
    traces: Arc<Mutex<Vec<String>>>,
    waits: Arc<Notify>,
    cancelled: Arc<Notify>,
}

/// A seat.
#[derive(ToolType)]
struct Seat {
    /// The row.
    row: u8,
}

/// Books a seat.
#[tool]
async fn book(#[param(context)] notes: &Notes, call: &CallContext) -> Result<String, ElicitError> {
    notes.starts.fetch_add(1, Ordering::Relaxed);
    let seat = call.elicit("seat", Elicit::<Seat>::form("Which row?"));
    let Elicited::Accepted(seat) = seat.await? else {
        return Ok("no seat".into());
    };
    let paid = call.elicit("pay", Elicit::confirm("Pay 9 €?")).await?;
    Ok(format!("row {}: {}", seat.row, paid.accepted().is_some()))
}

/// Reports progress and notes its trace.
#[tool]
fn count(to: u32, #[param(context)] notes: &Notes, call: &CallContext) -> u32 {
    if let Some(trace) = call.get::<TraceContext>() {
        notes
            .traces
            .lock()
            .unwrap()
            .push(trace.traceparent().to_owned());
    }
    for done in 1..=to {
        call.report(&Progress::of(done.into(), to.into()));
    }
    to
}

/// Waits until it is cancelled.
#[tool]
async fn wait(#[param(context)] notes: &Notes) -> String {
    let _guard = OnDrop(notes.cancelled.clone());
    notes.waits.notify_one();
    std::future::pending().await
}

/// Starts a server, and imports its tools into the registry of a gateway.
async fn gateway(notes: &Notes, protocol: Protocol) -> (Imports, Server) {
    let tools = Registry::builder()
        .tools(tools![book, count, wait])
        .context(notes.clone())
        .build()
        .unwrap();
    let import = import_of(move || Server::new(tools.clone()));
    let import = import.name("seats").protocol(protocol);
    let server = Server::new(Registry::new()).import("", import);
    let imports = server.imports();
    in_time(imports.all()[0].connected()).await.unwrap();
    (imports, server)
}

const PROTOCOLS: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_passes_questions_on() {
    for protocol in PROTOCOLS {
        for lifecycle in BOTH {
            let notes = Notes::default();
            let (_import, server) = gateway(&notes, protocol).await;
            let answers = [Answer::Accept(json!({"row": 4})), Answer::Accept(json!({}))];
            let client = TestClient::answering(answers);
            let running = connect(server, lifecycle, client.clone()).await;
            let what = format!("{protocol:?} {lifecycle:?}");
            assert_eq!(
                text(&running, "book", json!({})).await,
                "row 4: true",
                "{what}"
            );
            let questions = ["seats asks: Which row?", "seats asks: Pay 9 €?"];
            assert_eq!(client.questions(), questions, "{what}");
            // Only where a call can't go on, it runs again for each question.
            let starts = match (protocol, lifecycle) {
                (Protocol::V2025_11_25, Lifecycle::Legacy) => 1,
                _ => 3,
            };
            assert_eq!(notes.starts.load(Ordering::Relaxed), starts, "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_declines_for_a_client_without_a_user() {
    for protocol in PROTOCOLS {
        let (_import, server) = gateway(&Notes::default(), protocol).await;
        let mut client = TestClient::default();
        client.capabilities.elicitation = None;
        let running = connect(server, Lifecycle::Legacy, client).await;
        assert_eq!(text(&running, "book", json!({})).await, "no seat");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_passes_progress_cancellation_and_traces_on() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for protocol in PROTOCOLS {
        for lifecycle in BOTH {
            let notes = Notes::default();
            let (_import, server) = gateway(&notes, protocol).await;
            let client = TestClient::default();
            let running = connect(server, lifecycle, client.clone()).await;
            let mut request = params("count", json!({"to": 3}));
            request.meta = serde_json::from_value(json!({"traceparent": TRACE})).unwrap();
            in_time(running.call_tool(request)).await.unwrap();
            // The handler of the client runs in tasks of its own.
            in_time(async {
                while client.progress.lock().unwrap().len() < 3 {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            let traces = notes.traces.lock().unwrap().clone();
            let ids = |trace: &str| trace.split('-').nth(1).map(str::to_owned);
            assert_eq!(
                traces.iter().map(|trace| ids(trace)).collect::<Vec<_>>(),
                [ids(TRACE)]
            );

            let request = rmcp::model::CallToolRequest::new(params("wait", json!({})));
            let options = rmcp::service::PeerRequestOptions::no_options();
            let handle = running
                .send_cancellable_request(request.into(), options)
                .await;
            in_time(notes.waits.notified()).await;
            handle.unwrap().cancel(None).await.unwrap();
            in_time(notes.cancelled.notified()).await;
        }
    }
}

/// A server of notes in this process, which may be down.
#[derive(Clone)]
struct Library {
    name: &'static str,
    registry: Registry,
    changes: Changes,
    is_down: Arc<AtomicBool>,
    /// Ends the connections.
    ends: Arc<Notify>,
    /// `true` if it has more resources.
    has_secrets: bool,
}

/// A note.
#[tool(unlinked)]
async fn note(
    id: String,
    #[param(context)] name: &&'static str,
    call: &CallContext,
) -> Result<String, ProtocolError> {
    if id == "404" {
        return Err(ProtocolError::new(-32002, "there is no such note"));
    }
    if id == "ask" {
        let answer = call.elicit("sure", Elicit::confirm("Read it?")).await;
        return Ok(format!("{answer:?}"));
    }
    let trace = call
        .get::<TraceContext>()
        .map(|trace| trace.traceparent()[3..35].to_owned());
    Ok(format!("{name} {id} {}", trace.unwrap_or_default()))
}

/// The limits.
#[tool(unlinked)]
fn limits(#[param(context)] name: &&'static str) -> String {
    format!("limits of {name}")
}

/// The plans.
#[tool(unlinked)]
fn plans() -> &'static str {
    "secret"
}

/// A plan.
#[tool(unlinked)]
fn plan(id: String) -> String {
    id
}

#[derive(Debug, ToolType)]
enum Language {
    English,
    Esperanto,
}

/// Reviews a text.
#[tool(unlinked)]
fn review(language: Language, #[param(context)] name: &&'static str) -> String {
    format!("{name}: review it in {language:?}.")
}

/// Says hello.
#[tool(unlinked)]
fn hello(#[param(context)] name: &&'static str) -> String {
    format!("hello from {name}")
}

/// Another tool.
#[tool(unlinked)]
fn more() {}

impl Library {
    fn new(name: &'static str) -> Library {
        Library {
            name,
            registry: Registry::builder()
                .tools(tools![hello])
                .context(name)
                .build()
                .unwrap(),
            changes: Changes::new(),
            is_down: Arc::default(),
            ends: Arc::default(),
            has_secrets: false,
        }
    }

    fn server(&self) -> Server {
        let server = self.open_server();
        if !self.has_secrets {
            return server;
        }
        server
            .resource("secret:plans", tools![plans])
            .resource("secret://{id}", tools![plan])
    }

    fn open_server(&self) -> Server {
        Server::new(self.registry.clone())
            .name(self.name, "1.0.0")
            .resource("notes://{id}", tools![note])
            .resource("notes:limits", tools![limits])
            .prompt(tools![review])
            .changes(&self.changes)
    }

    fn import(&self, protocol: Protocol) -> ImportBuilder {
        let library = self.clone();
        let import = Import::stream(move || {
            let library = library.clone();
            async move {
                if library.is_down.load(Ordering::Relaxed) {
                    return Err(std::io::Error::other("the library is closed"));
                }
                let (near, far) = tokio::io::duplex(64 * 1024);
                let (input, output) = tokio::io::split(far);
                let serving = library.server().serve_stream(input, output);
                tokio::spawn(async move {
                    tokio::select! {
                        _ = serving => {}
                        () = library.ends.notified() => {}
                    }
                });
                Ok::<DuplexStream, _>(near)
            }
        });
        let backoff = Backoff::default().first(Duration::from_millis(5));
        import.name(self.name).protocol(protocol).restart(backoff)
    }
}

async fn all_connected(imports: &Imports) {
    for import in imports.all() {
        in_time(import.connected()).await.unwrap();
    }
}

fn json_of<T: serde::Serialize>(result: Result<T, rmcp::ServiceError>) -> Value {
    match result {
        Ok(result) => serde_json::to_value(result).unwrap(),
        Err(rmcp::ServiceError::McpError(error)) => json!({ "error": error }),
        Err(error) => panic!("{error}"),
    }
}

async fn read(client: &Running, uri: &str) -> Value {
    json_of(in_time(client.read_resource(ReadResourceRequestParams::new(uri))).await)
}

async fn prompt(client: &Running, name: &str) -> Value {
    let mut params = GetPromptRequestParams::new(name);
    params.arguments = json!({"language": "English"}).as_object().cloned();
    json_of(in_time(client.get_prompt(params)).await)
}

/// Waits until the closure holds.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    waited.unwrap_or_else(|_| panic!("{what}: it did not happen in 20 seconds"));
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_and_prompts_of_imported_servers_are_served_too() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for protocol in PROTOCOLS {
        for lifecycle in BOTH {
            let server = Server::new(Registry::new())
                .import("one_", Library::new("one").import(protocol))
                .import("two_", Library::new("two").import(protocol));
            let imports = server.imports();
            all_connected(&imports).await;
            let client = TestClient::answering([Answer::Decline]);
            let client = connect(server, lifecycle, client).await;
            let tools = client.list_all_tools().await.unwrap();
            let tools: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(tools, ["one_hello", "two_hello"]);
            assert_eq!(
                text(&client, "two_hello", json!({})).await,
                "hello from two"
            );

            // URIs have no prefix: the first server has them.
            let listed = client.list_all_resources().await.unwrap();
            let listed: Vec<_> = listed.iter().map(|resource| &*resource.uri).collect();
            assert_eq!(listed, ["notes:limits"]);
            assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 1);
            let contents = read(&client, "notes:limits").await["contents"].clone();
            assert_eq!(
                contents,
                json!([{"uri": "notes:limits", "mimeType": "text/plain", "text": "limits of one"}])
            );
            let mut params = ReadResourceRequestParams::new("notes://7");
            params.meta = serde_json::from_value(json!({"traceparent": TRACE})).unwrap();
            let reply = json_of(in_time(client.read_resource(params)).await);
            assert_eq!(
                reply["contents"][0]["text"],
                "one 7 0af7651916cd43dd8448eb211c80319c"
            );
            let asked = read(&client, "notes://ask").await;
            assert_eq!(
                asked["contents"][0]["text"], "Ok(Declined)",
                "{protocol:?} {lifecycle:?}"
            );
            assert_eq!(client.service().questions(), ["one asks: Read it?"]);
            let missing = read(&client, "notes://404").await;
            let message = missing["error"]["message"].as_str().unwrap();
            assert!(message.contains("there is no such note"), "{message}");
            let unknown = read(&client, "nowhere://7").await;
            assert_eq!(unknown["error"]["message"], "unknown resource");
            let long = format!("notes://{}", "7".repeat(1 << 16));
            let message = &read(&client, &long).await["error"]["message"];
            assert_eq!(message, "the URI has more than 65536 bytes");

            let prompts = client.list_all_prompts().await.unwrap();
            let names: Vec<_> = prompts.iter().map(|prompt| &*prompt.name).collect();
            assert_eq!(names, ["one_review", "two_review"]);
            let reply = prompt(&client, "two_review").await;
            assert_eq!(
                reply["messages"],
                json!([{"role": "user", "content": {"type": "text", "text": "two: review it in English."}}])
            );
            assert_eq!(reply["description"], "Reviews a text.");
            assert_eq!(prompt(&client, "review").await["error"]["code"], -32602);
            let typed = ArgumentInfo::new("language", "es");
            let of = Reference::for_prompt("two_review");
            let completed = client.complete(CompleteRequestParams::new(of, typed)).await;
            assert_eq!(completed.unwrap().completion.values, ["Esperanto"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_reported_and_joins_later() {
    for lifecycle in BOTH {
        let (up, down) = (Library::new("up"), Library::new("down"));
        down.is_down.store(true, Ordering::Relaxed);
        let server = Server::new(Registry::new())
            // Or a client keeps lists for some time.
            .cache_for(Duration::ZERO)
            .import("up_", up.import(Protocol::Newest))
            .import("down_", down.import(Protocol::Newest));
        let imports = server.imports();
        let [up_import, down_import] = &imports.all()[..] else {
            panic!("two imports")
        };
        in_time(up_import.connected()).await.unwrap();
        until("the failure is known", async || {
            imports.to_string().contains("the library is closed")
        })
        .await;
        assert!(matches!(
            down_import.status(),
            Status::Away { restarts: true, .. }
        ));
        let report = imports.to_string();
        assert!(
            report.contains("up as \"up_\": the server is connected"),
            "{report}"
        );
        assert!(
            report.contains("1 resources, 1 templates and 1 prompts"),
            "{report}"
        );
        assert!(
            report.contains("down as \"down_\": the server is away"),
            "{report}"
        );

        let client = connect(server, lifecycle, TestClient::default()).await;
        let mut subscription = None;
        if lifecycle == Lifecycle::Modern {
            let filter = SubscriptionFilter::builder().tools_list_changed();
            subscription = Some(in_time(client.listen(filter.build())).await.unwrap());
        }
        assert_eq!(client.list_all_tools().await.unwrap().len(), 1);
        assert_eq!(client.list_all_prompts().await.unwrap().len(), 1);
        down.is_down.store(false, Ordering::Relaxed);
        in_time(down_import.connected()).await.unwrap();
        match &mut subscription {
            Some(subscription) => {
                let notice = in_time(subscription.next()).await.unwrap();
                assert!(matches!(
                    notice,
                    Some(ServerNotification::ToolListChangedNotification(_))
                ));
            }
            None => {
                in_time(client.service().changes.notified()).await;
                client.service().noticed("prompts").await;
            }
        }
        assert_eq!(
            text(&client, "down_hello", json!({})).await,
            "hello from down"
        );
        let prompts = client.list_all_prompts().await.unwrap();
        assert_eq!(prompts.len(), 2);

        // Away again: it stays listed, and calls say what is wrong.
        down.is_down.store(true, Ordering::Relaxed);
        down.ends.notify_waiters();
        until("the loss is known", async || {
            down_import.status() != Status::Connected
        })
        .await;
        let result = call(&client, "down_hello", json!({})).await;
        assert_eq!(result["isError"], true);
        let reply = prompt(&client, "down_review").await;
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains("the server is away"), "{message}");
        assert_eq!(text(&client, "up_hello", json!({})).await, "hello from up");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_an_imported_server_reach_the_clients() {
    for protocol in PROTOCOLS {
        let library = Library::new("one");
        let server = Server::new(Registry::new()).import("one_", library.import(protocol));
        all_connected(&server.imports()).await;
        let client = connect(server, Lifecycle::Legacy, TestClient::default()).await;
        let subscribe = client.subscribe(SubscribeRequestParams::new("notes://7"));
        in_time(subscribe).await.unwrap();
        let unknown = client.subscribe(SubscribeRequestParams::new("nowhere://7"));
        assert_eq!(json_of(in_time(unknown).await)["error"]["code"], -32002);
        // The subscription is passed on in the background.
        until("the update arrives", async || {
            library.changes.resource_updated("notes://7");
            library.changes.resource_updated("notes://8");
            let notices = client.service().notices.lock().unwrap().clone();
            assert!(!notices.contains(&"notes://8".to_owned()));
            notices.contains(&"notes://7".to_owned())
        })
        .await;
        // Many changes at once.
        for _ in 0..20 {
            library.registry.add(tools![more]).unwrap();
            library.registry.remove("more").unwrap();
        }
        library.registry.add(tools![more]).unwrap();
        until("the tool is listed", async || {
            in_time(client.service().changes.notified()).await;
            client.list_all_tools().await.unwrap().len() == 2
        })
        .await;
        // Of a list that is the same as before, nobody is told.
        library.changes.prompts_changed();
        library.registry.remove("more").unwrap();
        in_time(client.service().changes.notified()).await;
        let notices = client.service().notices.lock().unwrap().clone();
        assert!(!notices.contains(&"prompts".to_owned()), "{notices:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_see_a_server_sees_nothing_of_it() {
    for lifecycle in BOTH {
        let secrets = Library {
            has_secrets: true,
            ..Library::new("one")
        };
        let server = Server::new(Registry::new())
            .import("one_", secrets.import(Protocol::Newest).tags(["secret"]))
            .import("two_", Library::new("two").import(Protocol::Newest))
            .visible(|_, tool| !tool.tags().any(|tag| tag == "secret"))
            .identity(|_, call| Ok(call.with(UserId::new("ada"))));
        all_connected(&server.imports()).await;
        let client = connect(server, lifecycle, TestClient::default()).await;
        assert_eq!(client.list_all_tools().await.unwrap().len(), 1);
        // The other server has the same URIs.
        let reply = read(&client, "notes:limits").await;
        assert_eq!(reply["contents"][0]["text"], "limits of two");
        let prompts = client.list_all_prompts().await.unwrap();
        assert_eq!(prompts[0].name, "two_review");
        let hidden = prompt(&client, "one_review").await;
        assert_eq!(hidden, prompt(&client, "nothing").await);
        // Nor what only the hidden server has.
        let resources = client.list_all_resources().await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["notes:limits"]);
        let templates = client.list_all_resource_templates().await.unwrap();
        let uris: Vec<_> = templates
            .iter()
            .map(|template| &*template.uri_template)
            .collect();
        assert_eq!(uris, ["notes://{id}"]);
        for uri in ["secret:plans", "secret://7"] {
            assert_eq!(
                read(&client, uri).await["error"]["message"],
                "unknown resource"
            );
        }
    }
}

/// Serves a gateway over HTTP. Needs a runtime.
fn http_gateway(listener: TcpListener, server: Server) -> Imports {
    let imports = server.imports();
    tokio::spawn(server.serve(listener, HttpConfig::default()));
    imports
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_import_each_other_end_with_an_error() {
    let listen = async || {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        (listener, url)
    };
    let import = |url: &str| {
        Import::http(url)
            .connect_timeout(Duration::from_secs(10))
            .restart(Backoff::default().first(Duration::from_millis(20)))
    };
    let looped = |imports: &Imports| {
        imports.all().iter().any(|import| match import.status() {
            Status::Away { reason, restarts } => !restarts && reason.contains("in a loop"),
            _ => false,
        })
    };
    // One that imports itself.
    let (listener, url) = listen().await;
    let own = Registry::builder().tools(tools![more]).build().unwrap();
    let server = Server::new(own.clone()).import("own_", import(&url));
    let imports = http_gateway(listener, server);
    until("the loop is found", async || looped(&imports)).await;
    assert_eq!(own.len(), 1);

    // Three in a circle.
    let mut listeners = Vec::new();
    for _ in 0..3 {
        listeners.push(listen().await);
    }
    let urls: Vec<_> = listeners.iter().map(|(_, url)| url.clone()).collect();
    let mut all = Vec::new();
    let mut registries = Vec::new();
    for (at, (listener, _)) in listeners.into_iter().enumerate() {
        let registry = Registry::builder().tools(tools![more]).build().unwrap();
        let server = Server::new(registry.clone()).import("next_", import(&urls[(at + 1) % 3]));
        registries.push(registry);
        all.push(http_gateway(listener, server));
    }
    until("the loop is found", async || all.iter().any(looped)).await;
    // No server has a tool twice, so none has more than the three of the circle.
    for registry in registries {
        assert!(registry.len() <= 3, "{}", registry.len());
    }
}

#[tokio::test]
async fn a_request_that_has_passed_many_gateways_is_rejected() {
    let server = Server::new(Registry::builder().tools(tools![more]).build().unwrap())
        .import("one_", Library::new("one").import(Protocol::Newest));
    all_connected(&server.imports()).await;
    let client = connect(server, Lifecycle::Modern, TestClient::default()).await;
    for (hops, is_rejected) in [(0, false), (7, false), (8, true), (u64::MAX, true)] {
        let mut request = params("one_hello", json!({}));
        request.meta = serde_json::from_value(json!({"tool-core/hops": hops})).unwrap();
        let reply = json_of(in_time(client.call_tool(request)).await);
        let message = reply["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(message.contains("in a loop"), is_rejected, "{reply}");
    }
}

#[tokio::test]
async fn two_imports_need_different_prefixes() {
    let built = std::panic::catch_unwind(|| {
        Server::new(Registry::new())
            .import("one_", Library::new("one").import(Protocol::Newest))
            .import("one_", Library::new("two").import(Protocol::Newest))
    });
    let problem = built.expect_err("it panics");
    let problem = problem.downcast_ref::<String>().unwrap();
    assert!(
        problem.contains("the import `one_`") && problem.contains("one_read_resource"),
        "{problem}"
    );
}
