//! Imports the tools of a server of this crate, in both lifecycles.

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
use tool_core::call::{CancellationToken, Progress, TraceContext};
use tool_core::content::{Content, Image};
use tool_core::{
    CallContext, Registry, RegistryError, ToolCall, ToolErrorKind, ToolType, tool, tools,
};
use tool_mcp::{Elicitation, ImportBuilder, Protocol, Server, Status};

use self::support::{import_of, in_time, run};

const BOTH: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[derive(Serialize, ToolType)]
struct Weather {
    /// Degrees Celsius.
    celsius: f64,
}

/// The weather.
#[tool]
fn weather(city: &str) -> Result<(Weather, Vec<Content>), String> {
    if city == "Atlantis" {
        return Err("there is no such city".into());
    }
    let parts = vec![Content::text("A map:"), Image::png(b"map").into()];
    Ok((Weather { celsius: 21.5 }, parts))
}

/// Reports progress.
#[tool]
fn count(to: u32, call: &CallContext) -> u32 {
    for done in 1..=to {
        call.report(&Progress::of(done.into(), to.into()).message("step"));
    }
    to
}

/// Waits until it is cancelled.
#[tool]
async fn wait(#[param(context)] signals: &Signals, call: &CallContext) -> String {
    signals.started.notify_one();
    let token = call.cancellation().clone();
    let signals = signals.clone();
    let _guard = OnDrop(Some(signals));
    token.cancelled().await;
    "cancelled".into()
}

struct OnDrop(Option<Signals>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        if let Some(signals) = self.0.take() {
            signals.cancelled.notify_one();
        }
    }
}

#[derive(Clone, Default)]
struct Signals {
    started: Arc<Notify>,
    cancelled: Arc<Notify>,
}

/// A seat.
#[derive(Debug, ToolType)]
struct Seat {
    /// The row.
    row: u8,
}

/// Books a seat.
#[tool]
async fn book(call: &CallContext) -> Result<String, ElicitError> {
    let answer = call
        .elicit("seat", Elicit::<Seat>::form("Which row?"))
        .await?;
    Ok(match answer {
        Elicited::Accepted(seat) => format!("row {}", seat.row),
        Elicited::Declined => "declined".into(),
        Elicited::Dismissed => "dismissed".into(),
    })
}

/// Rolls a die.
#[tool]
fn roll_die() -> u8 {
    4
}

fn server_tools(signals: &Signals) -> Registry {
    let tools = tools![add, weather, count, wait, book];
    let builder = Registry::builder().tools(tools).context(signals.clone());
    builder.build().unwrap()
}

/// Imports the tools of a server in this process. Each connection starts it anew.
fn import(server: &Registry, protocol: Protocol) -> ImportBuilder {
    let server = server.clone();
    import_of(move || Server::new(server.clone()))
        .name("memory")
        .protocol(protocol)
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall::new("call_1", name, arguments)
}

/// Returns the trace of the caller.
#[tool(unlinked)]
fn trace(call: &CallContext) -> Vec<String> {
    let trace = call.get::<TraceContext>();
    let headers = trace.into_iter().flat_map(TraceContext::headers);
    headers
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_carries_the_trace_of_its_caller() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for protocol in BOTH {
        let server = Registry::builder().tools(tools![trace]).build().unwrap();
        for (sent, expected) in [
            (None, json!([])),
            (
                TraceContext::new(PARENT),
                json!([format!("traceparent={PARENT}")]),
            ),
            (
                TraceContext::new(PARENT)
                    .map(|trace| trace.with_tracestate("vendor=1").with_baggage("user=ada")),
                json!([
                    format!("traceparent={PARENT}"),
                    "tracestate=vendor=1",
                    "baggage=user=ada"
                ]),
            ),
        ] {
            let registry = Registry::new();
            let import = import(&server, protocol).trace_context(move || sent.clone());
            let import = in_time(import.connect(&registry)).await.unwrap();
            let result = run(&registry, "trace", json!({})).await;
            let found: Value = serde_json::from_str(result.content()).unwrap();
            assert_eq!(found, expected);
            in_time(import.close()).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_imported_and_called() {
    for protocol in BOTH {
        let registry = Registry::new();
        let import = import(&server_tools(&Signals::default()), protocol).prefix("demo_");
        let import = in_time(import.tags(["demo"]).connect(&registry))
            .await
            .unwrap();
        assert_eq!(import.status(), Status::Connected);
        let report = import.report();
        let names: Vec<_> = report.taken.iter().map(|tool| &*tool.source).collect();
        assert_eq!(names, ["add", "book", "count", "wait", "weather"]);
        assert_eq!(report.taken[0].name, "demo_add");
        assert!(report.rejected.is_empty() && report.held.is_empty() && report.notes.is_empty());
        assert_eq!(registry.select_tags(["demo"]).len(), 5);

        let result = run(&registry, "demo_add", json!({"a": 2, "b": 3})).await;
        assert_eq!(result.content(), "5", "{protocol:?}");
        let result = run(&registry, "demo_add", json!({"a": 2})).await;
        assert_eq!(
            result.error().unwrap().kind(),
            ToolErrorKind::InvalidArguments
        );

        let result = run(&registry, "demo_weather", json!({"city": "Lisbon"})).await;
        assert_eq!(result.structured(), Some(json!({"celsius": 21.5})));
        let parts = result.parts();
        assert_eq!(
            parts[parts.len() - 2..],
            [Content::text("A map:"), Image::png(b"map").into()]
        );
        let result = run(&registry, "demo_weather", json!({"city": "Atlantis"})).await;
        assert!(result.is_error() && result.content().ends_with("there is no such city"));

        in_time(import.close()).await;
        assert!(registry.is_empty());
    }
}

#[test]
fn a_call_needs_no_runtime_of_its_own() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let registry = Registry::new();
    let signals = Signals::default();
    let import = import(&server_tools(&signals), Protocol::Newest).connect(&registry);
    let _import = runtime.block_on(in_time(import)).unwrap();
    let result = registry.call_blocking(call("add", json!({"a": 2, "b": 3})));
    assert_eq!(result.content(), "5");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_progress_arrives_before_the_result() {
    for protocol in BOTH {
        let registry = Registry::new();
        let server = server_tools(&Signals::default());
        let _import = in_time(import(&server, protocol).connect(&registry))
            .await
            .unwrap();
        for _ in 0..20 {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let sink = seen.clone();
            let call = call("count", json!({"to": 20}));
            let call =
                call.on_progress(move |progress| sink.lock().unwrap().push(progress.clone()));
            assert_eq!(in_time(registry.call(call)).await.content(), "20");
            let seen = seen.lock().unwrap();
            let done: Vec<_> = seen.iter().map(|progress| progress.done).collect();
            assert_eq!(
                done,
                (1..=20).map(f64::from).collect::<Vec<_>>(),
                "{protocol:?}"
            );
            assert_eq!(seen[19].total, Some(20.0));
            assert_eq!(seen[19].message.as_deref(), Some("step"));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancellation_reaches_the_server() {
    for protocol in BOTH {
        let registry = Registry::new();
        let signals = Signals::default();
        let server = server_tools(&signals);
        let _import = in_time(import(&server, protocol).connect(&registry))
            .await
            .unwrap();
        // By the token.
        let token = CancellationToken::new();
        let waiting = tokio::spawn({
            let (registry, token) = (registry.clone(), token.clone());
            async move {
                registry
                    .call(call("wait", json!({})).cancel_with(&token))
                    .await
            }
        });
        in_time(signals.started.notified()).await;
        token.cancel();
        in_time(signals.cancelled.notified()).await;
        let result = in_time(waiting).await.unwrap();
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Cancelled);
        // By dropping the future.
        let waiting = tokio::spawn({
            let registry = registry.clone();
            async move { registry.call(call("wait", json!({}))).await }
        });
        in_time(signals.started.notified()).await;
        waiting.abort();
        in_time(signals.cancelled.notified()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_takes_too_long_fails_and_is_cancelled() {
    let registry = Registry::new();
    let signals = Signals::default();
    let import = import(&server_tools(&signals), Protocol::V2025_11_25);
    let import = import
        .call_timeout(Duration::from_millis(50))
        .connect(&registry);
    let _import = in_time(import).await.unwrap();
    let result = run(&registry, "wait", json!({})).await;
    let error = result.error().unwrap();
    assert!(!error.is_retryable());
    assert!(error.message().contains("did not answer within"), "{error}");
    assert!(
        error.message().contains("check before you repeat"),
        "{error}"
    );
    in_time(signals.cancelled.notified()).await;
}

struct User(&'static str);

#[tokio::test(flavor = "multi_thread")]
async fn the_application_answers_questions() {
    for protocol in BOTH {
        let registry = Registry::new();
        let server = server_tools(&Signals::default());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let import = import(&server, protocol).on_elicit(move |question: Elicitation| {
            let sink = sink.clone();
            async move {
                let call = question.call.as_ref();
                let user = call.and_then(|call| call.get::<User>()).map(|user| user.0);
                let message = question.request.message.clone();
                sink.lock()
                    .unwrap()
                    .push((question.server.clone(), message, user));
                Elicited::Accepted(json!({"row": 7}))
            }
        });
        // A person is slower than a server may be.
        let import = import.call_timeout(Duration::from_secs(20));
        let _import = in_time(import.connect(&registry)).await.unwrap();
        let call = call("book", json!({})).with(User("Ada"));
        assert_eq!(
            in_time(registry.call(call)).await.content(),
            "row 7",
            "{protocol:?}"
        );
        let expected = ("memory".to_owned(), "Which row?".to_owned(), Some("Ada"));
        assert_eq!(*seen.lock().unwrap(), [expected]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_declined_without_a_handler() {
    for protocol in BOTH {
        let registry = Registry::new();
        let server = server_tools(&Signals::default());
        let _import = in_time(import(&server, protocol).connect(&registry))
            .await
            .unwrap();
        assert_eq!(
            run(&registry, "book", json!({})).await.content(),
            "declined"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_stops_while_the_user_is_asked() {
    for protocol in BOTH {
        let registry = Registry::new();
        let server = server_tools(&Signals::default());
        let import = import(&server, protocol).call_timeout(Duration::from_millis(300));
        let import = import.on_elicit(async |_| {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Elicited::Dismissed
        });
        let _import = in_time(import.connect(&registry)).await.unwrap();
        assert_eq!(
            run(&registry, "book", json!({})).await.content(),
            "dismissed"
        );
    }
}

/// Waits until the registry satisfies a condition.
async fn until(registry: &Registry, condition: impl Fn(&Registry) -> bool) {
    let changed = Arc::new(Notify::new());
    let signal = changed.clone();
    let _listener = registry.on_change(move |_, _| signal.notify_one());
    in_time(async {
        while !condition(registry) {
            changed.notified().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_the_server_are_followed() -> Result<(), RegistryError> {
    for protocol in BOTH {
        let registry = Registry::new();
        let server = server_tools(&Signals::default());
        let import = in_time(import(&server, protocol).connect(&registry))
            .await
            .unwrap();
        let changes = Arc::new(Mutex::new(Vec::new()));
        let sink = changes.clone();
        let _listener = registry.on_change(move |_, change| {
            let name = |tool: &tool_core::ToolEntry| tool.name.to_string();
            let added: Vec<_> = change.added.iter().map(name).collect();
            let removed: Vec<_> = change.removed.iter().map(name).collect();
            sink.lock()
                .unwrap()
                .push((added, removed, change.replaced.len()));
        });
        server.exchange(&tools![add], tools![roll_die])?;
        until(&registry, |registry| registry.get("roll_die").is_some()).await;
        assert!(registry.get("add").is_none());
        assert_eq!(run(&registry, "roll_die", json!({})).await.content(), "4");
        // In one step, and the other tools keep their entries.
        let expected = (vec!["roll_die".to_owned()], vec!["add".to_owned()], 0);
        assert_eq!(*changes.lock().unwrap(), [expected], "{protocol:?}");
        assert_eq!(import.report().taken.len(), 5);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn annotations_count_only_if_trusted() {
    let server = server_tools(&Signals::default());
    for is_trusted in [false, true] {
        let registry = Registry::new();
        let mut import = import(&server, Protocol::V2025_11_25);
        if is_trusted {
            import = import.trust_annotations();
        }
        let import = in_time(import.connect(&registry)).await.unwrap();
        let annotations = registry.get("add").unwrap().annotations;
        assert_eq!(annotations.read_only, is_trusted.then_some(true));
        // The report shows what the server claims.
        assert_eq!(import.report().taken[0].claims.read_only, Some(true));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_is_taken_is_rejected() {
    let registry = Registry::builder()
        .tools(tools![add, roll_die])
        .build()
        .unwrap();
    let server = server_tools(&Signals::default());
    let own = in_time(import(&server, Protocol::V2025_11_25).connect(&registry))
        .await
        .unwrap();
    let report = own.report();
    assert_eq!(report.taken.len(), 4);
    assert_eq!(report.rejected.len(), 1);
    assert_eq!(report.rejected[0].source, "add");
    assert!(report.rejected[0].reason.contains("use a prefix"));
    assert!(
        report.to_string().contains("add rejected: another tool"),
        "{report}"
    );
    // A second import with a prefix.
    let other = import(&server, Protocol::V2025_11_25).prefix("other_");
    let other = in_time(other.connect(&registry)).await.unwrap();
    assert_eq!(registry.len(), 2 + 4 + 5);
    drop(own);
    assert_eq!(registry.len(), 2 + 5);
    drop(other);
    assert_eq!(registry.len(), 2);
    assert_eq!(
        run(&registry, "add", json!({"a": 1, "b": 1}))
            .await
            .content(),
        "2"
    );
}
