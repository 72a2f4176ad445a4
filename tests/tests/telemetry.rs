//! Telemetry of a call: one span, with OpenTelemetry's conventions, and one event.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use tool_core::{CallContext, CancellationToken, Gate, Progress, Registry, ToolCall, tool, tools};
use tracing::{Instrument, Level, info, info_span};

#[allow(dead_code)] // Other tests look at messages.
#[path = "../support/capture.rs"]
mod capture;

use capture::{Event, capture};

/// Says hello.
#[tool(unlinked)]
fn greet(name: &str) -> String {
    info!("in greet, {name}");
    format!("Hello, {name}!")
}

/// Fails.
#[tool(unlinked)]
async fn fail() -> Result<u8, std::fmt::Error> {
    tokio::task::yield_now().await;
    Err(std::fmt::Error)
}

/// Panics.
#[tool(unlinked)]
fn panics() {
    panic!("planned");
}

/// Never ends.
#[tool(unlinked)]
async fn wait() {
    std::future::pending::<()>().await;
}

/// Never ends in its time.
#[tool(unlinked, read_only, timeout = "2ms")]
async fn hang() {
    std::future::pending::<()>().await;
}

/// Is never let through.
#[tool(unlinked, destructive)]
fn destroy() {}

struct Absent;

/// Lacks something.
#[tool(unlinked)]
fn lack(#[param(context)] _absent: &Absent) {}

/// Says on every way where it is.
#[tool(unlinked)]
async fn speak(word: &str, call: &CallContext) {
    info!("at first, {word}");
    tokio::task::yield_now().await;
    info!("at last, {word}");
    call.report(&Progress::new(1.0).message(word));
}

/// Says on a thread where it is.
#[tool(unlinked, blocking)]
fn block(word: &str) {
    info!("on a thread, {word}");
}

fn registry() -> Registry {
    Registry::builder()
        .tools(tools![
            greet, fail, panics, wait, hang, destroy, lack, speak, block
        ])
        .context_per_call::<Absent>()
        .before(async |pending| {
            info!("before {}", pending.call.id);
            tokio::task::yield_now().await;
            match pending.tool.annotations.destructive {
                Some(true) => Gate::deny("no"),
                _ => Gate::Allow,
            }
        })
        .after(async |_, result| {
            tokio::task::yield_now().await;
            info!("after {}", result.call_id());
            result
        })
        .build()
        .unwrap()
}

/// Without a hook: the fast path of a call.
fn plain() -> Registry {
    let tools = tools![greet, fail, panics, speak];
    Registry::builder().tools(tools).build().unwrap()
}

/// Returns the fields of an event that are the same in every run.
fn fields(event: &Event) -> Vec<(&str, &str)> {
    let duration = &event.fields["gen_ai.execute_tool.duration"];
    let duration: f64 = duration.parse().unwrap();
    assert!((0.0..60.0).contains(&duration), "{duration} seconds");
    let fields = event.fields.iter().map(|(key, value)| (&**key, &**value));
    fields
        .filter(|(key, _)| !matches!(*key, "gen_ai.execute_tool.duration" | "around"))
        .collect()
}

#[tokio::test]
async fn a_successful_call_has_a_conventional_span_and_one_event() {
    let capture = capture();
    for (id, registry) in [("good plain", plain()), ("good guarded", registry())] {
        let call = ToolCall::new(id, "greet", r#"{"name":"Ada"}"#);
        let result = registry.call(call).await;
        assert_eq!(result.content(), "Hello, Ada!");
        let span = capture.span(id);
        assert_eq!((span.name, span.target), ("execute_tool", "tool_core"));
        assert!(span.is_closed);
        let fields_of_span: Vec<_> = span.fields.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(
            fields_of_span,
            [
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.call.id", id),
                ("gen_ai.tool.description", "Says hello."),
                ("gen_ai.tool.name", "greet"),
                ("gen_ai.tool.type", "function"),
                ("otel.name", "execute_tool greet"),
            ]
        );
        let event = capture.event(id);
        assert_eq!(event.level, Level::INFO);
        assert_eq!(
            fields(&event),
            [
                ("arguments.bytes", "14"),
                ("coercions", "0"),
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.call.id", id),
                ("gen_ai.tool.name", "greet"),
                ("message", "the call succeeded"),
                ("result.bytes", "11"),
            ]
        );
        assert_eq!(event.fields["around"], id, "it is outside of its span");
    }
}

#[tokio::test]
async fn a_failed_call_has_a_span_with_a_status_and_one_event() {
    let capture = capture();
    let registry = registry();
    let token = CancellationToken::new();
    token.cancel();
    for (name, arguments, kind, level, is_retryable) in [
        ("fail", "{}", "failed", Level::ERROR, false),
        ("panics", "", "panicked", Level::ERROR, false),
        ("hang", "", "timed_out", Level::ERROR, true),
        ("lack", "", "unavailable", Level::ERROR, false),
        ("wait", "", "cancelled", Level::WARN, false),
        ("destroy", "", "denied", Level::WARN, false),
        ("greet", "{", "malformed_json", Level::WARN, false),
        ("greet", "{}", "invalid_arguments", Level::WARN, false),
    ] {
        let id = format!("bad {kind}");
        let mut call = ToolCall::new(&id, name, arguments);
        if name == "wait" {
            call = call.cancel_with(&token);
        }
        let result = registry.call(call).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind().as_str(), kind);
        let span = capture.span(&id);
        assert_eq!(span.fields["otel.status_code"], "ERROR", "{kind}");
        assert_eq!(span.fields["error.type"], kind);
        assert!(span.is_closed, "{kind}");
        let event = capture.event(&id);
        assert_eq!(event.level, level, "{kind}");
        assert_eq!(event.fields["reference"], error.id());
        assert_eq!(event.fields["retryable"], is_retryable.to_string());
        assert_eq!(event.fields["error.type"], kind);
        assert_eq!(event.fields["gen_ai.tool.name"], name);
        assert_eq!(
            event.fields["result.bytes"],
            result.content().len().to_string()
        );
        assert_eq!(event.fields["message"], error.message());
        assert_eq!(event.fields["around"], id);
        fields(&event);
    }
}

#[tokio::test]
async fn an_unknown_tool_name_is_not_a_span_name() {
    let capture = capture();
    let name = "x".repeat(100_000);
    registry().call(ToolCall::new("unknown", &name, "")).await;
    let span = capture.span("unknown");
    assert_eq!(span.fields.get("otel.name"), None);
    assert_eq!(span.fields["error.type"], "unknown_tool");
    let event = capture.event("unknown");
    for told in [
        &span.fields["gen_ai.tool.name"],
        &event.fields["gen_ai.tool.name"],
    ] {
        assert!(told.starts_with("xxx") && told.len() < 200, "{told}");
    }
    assert_eq!(event.level, Level::WARN);
}

#[tokio::test]
async fn a_dropped_call_has_its_event_too() {
    let capture = capture();
    for (id, registry) in [("dropped", registry()), ("dropped plain", plain())] {
        {
            let name = if id == "dropped" { "wait" } else { "speak" };
            let mut call = pin!(registry.call(ToolCall::new(id, name, r#"{"word":"a"}"#)));
            let mut context = Context::from_waker(Waker::noop());
            assert_eq!(call.as_mut().poll(&mut context).map(drop), Poll::Pending);
            assert!(capture.events(id).is_empty());
        }
        let span = capture.span(id);
        assert_eq!(span.fields["error.type"], "cancelled");
        assert_eq!(span.fields["otel.status_code"], "ERROR");
        assert!(span.is_closed);
        let event = capture.event(id);
        assert_eq!(event.level, Level::WARN);
        assert_eq!(event.fields["error.type"], "cancelled");
        assert!(event.fields["message"].contains("dropped"));
        assert_eq!(event.fields["around"], id);
        fields(&event);
    }
    // A call that was never polled never began.
    drop(plain().call(ToolCall::new("never", "greet", "")));
    assert!(capture.events("never").is_empty());
}

#[tokio::test]
async fn everything_in_a_call_is_inside_of_its_span() {
    let capture = capture();
    let registry = registry();
    let call = ToolCall::new("inside", "speak", r#"{"word":"guarded"}"#);
    let call = call.on_progress(|progress| info!("told {}", progress.message.as_ref().unwrap()));
    registry.call(call).await;
    for message in [
        "before inside",
        "at first, guarded",
        "at last, guarded",
        "told guarded",
        "after inside",
    ] {
        let around = capture.call_around(message);
        assert_eq!(around.as_deref(), Some("inside"), "{message}");
    }
    let call = ToolCall::new("inside a thread", "block", r#"{"word":"guarded"}"#);
    registry.call(call).await;
    let around = capture.call_around("on a thread, guarded");
    assert_eq!(around.as_deref(), Some("inside a thread"));
    // On the fast path, too.
    let call =
        |id: &str, name: &str, arguments: &str| plain().call(ToolCall::new(id, name, arguments));
    call("short", "greet", r#"{"name":"short"}"#).await;
    call("short async", "speak", r#"{"word":"short"}"#).await;
    for (message, id) in [
        ("in greet, short", "short"),
        ("at first, short", "short async"),
        ("at last, short", "short async"),
    ] {
        assert_eq!(capture.call_around(message).as_deref(), Some(id));
    }
}

#[tokio::test]
async fn a_span_is_a_child_of_the_applications_span() {
    let capture = capture();
    let registry = registry();
    let calls = ["first child", "second child"].map(|id| ToolCall::new(id, "fail", ""));
    registry
        .call_all(calls)
        .instrument(info_span!("turn"))
        .await;
    for id in ["first child", "second child"] {
        let parent = capture.span(id).parent.expect("it has a parent");
        assert_eq!(capture.name(parent), "turn");
    }
    registry.call(ToolCall::new("orphan", "fail", "")).await;
    assert_eq!(capture.span("orphan").parent, None);
}
