//! Failed calls: what the model is told and what the operator sees.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Serialize, Serializer};
use tool_core::call::Transient;
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult, tool};
use tracing::field::{Field, Visit};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

/// An error whose cause holds a secret.
#[derive(Debug)]
struct Outage {
    cause: Leak,
}

#[derive(Debug)]
struct Leak;

impl fmt::Display for Outage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sensor does not answer")
    }
}

impl Error for Outage {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("refused with password hunter2")
    }
}

impl Error for Leak {}

/// An error that implements only `Display`.
struct Displayed;

impl fmt::Display for Displayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only words")
    }
}

type Aliased<T> = Result<T, Outage>;

/// Fails with an error that has a cause.
#[tool]
fn fail() -> Result<u8, Outage> {
    Err(Outage { cause: Leak })
}

/// Fails behind an alias, and asynchronously.
#[tool]
async fn fail_aliased() -> Aliased<()> {
    tokio::task::yield_now().await;
    Err(Outage { cause: Leak })
}

/// Fails with an error that can only be displayed.
#[tool]
fn fail_displayed() -> Result<String, Displayed> {
    Err(Displayed)
}

/// Fails with a boxed error.
#[tool]
fn fail_boxed() -> Result<String, Box<dyn Error + Send + Sync>> {
    Err(Box::new(Outage { cause: Leak }))
}

/// Fails with a boxed error that can't leave its thread.
#[tool]
fn fail_confined() -> Result<String, Box<dyn Error>> {
    Err(Box::new(Outage { cause: Leak }))
}

/// Fails with such an error behind a wait.
#[tool]
async fn fail_confined_later() -> Result<String, Box<dyn Error>> {
    tokio::task::yield_now().await;
    Err(Box::new(Outage { cause: Leak }))
}

/// Fails for a while, with such an error.
#[tool]
fn fail_transient() -> Result<String, Box<dyn Error>> {
    Err(Transient::new("busy").into())
}

/// Panics.
#[tool]
fn panic_at_once(secret: &str) -> u8 {
    panic!("payload with {secret}")
}

/// Panics after it has waited.
#[tool]
async fn panic_later() -> u8 {
    tokio::task::yield_now().await;
    std::panic::panic_any(7)
}

/// Works.
#[tool]
fn work() {}

struct Unserializable;

impl Serialize for Unserializable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("secret detail"))
    }
}

/// Returns what can't be written.
#[tool]
fn unserializable() -> Unserializable {
    Unserializable
}

/// Whether an event is enabled is cached for the whole process, so a test with a subscriber must
/// not run
/// beside one without.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn call(name: &str, arguments: &str) -> ToolResult {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    call_now(name, arguments)
}

fn call_now(name: &str, arguments: &str) -> ToolResult {
    let registry = Registry::linked().unwrap();
    let call = registry.call(ToolCall::new("call_7", name, arguments));
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(call)
}

fn message(result: &ToolResult) -> String {
    let error = result.error().expect("an error");
    assert!(result.structured().is_none());
    error.message().replace(error.id(), "…")
}

#[test]
fn the_model_sees_only_the_display_of_an_error() {
    for name in [
        "fail",
        "fail_aliased",
        "fail_boxed",
        "fail_confined",
        "fail_confined_later",
    ] {
        let result = call(name, "{}");
        assert_eq!(
            message(&result),
            format!("{name} failed [ref …]: the sensor does not answer")
        );
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::Failed);
        let cause = error
            .source()
            .and_then(Error::source)
            .expect("the operator gets the causes");
        assert!(cause.to_string().contains("hunter2"));
    }
    assert_eq!(
        message(&call("fail_displayed", "")),
        "fail_displayed failed [ref …]: only words"
    );
    let result = call("fail_transient", "");
    assert!(result.error().unwrap().is_retryable());
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn a_panic_becomes_a_result_and_the_process_continues() {
    for name in ["panic_at_once", "panic_later"] {
        let arguments = if name == "panic_later" {
            "{}"
        } else {
            "{\"secret\":\"hunter2\"}"
        };
        let result = call(name, arguments);
        assert_eq!(
            message(&result),
            format!("{name} failed [ref …]: internal error; it has been reported")
        );
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Panicked);
    }
    assert_eq!(
        call("panic_at_once", "{\"secret\":\"x\"}")
            .error()
            .unwrap()
            .detail(),
        "payload with x"
    );
}

#[test]
fn a_result_that_cannot_be_serialized_is_an_error() {
    let result = call("unserializable", "{}");
    assert_eq!(
        message(&result),
        "unserializable returned an invalid result [ref …]: the call was carried out, but its result \
         can't be shown; it has been reported, so do not repeat the call"
    );
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::InvalidResult);
    assert_eq!(error.detail(), "can't be written as JSON");
    assert!(error.source().is_some());
}

#[test]
fn references_are_short_and_unique() {
    let ids: std::collections::BTreeSet<_> = (0..200)
        .map(|_| call("fail", "{}").error().unwrap().id().to_owned())
        .collect();
    assert!(ids.len() >= 199, "{} of 200", ids.len());
    for id in ids {
        assert_eq!(id.len(), 6);
        assert!(
            id.bytes()
                .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()),
            "{id}"
        );
    }
}

/// Records every span, record and event as a line.
#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl<S: tracing::Subscriber> Layer<S> for Capture {
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        _: &tracing::Id,
        _: Context<'_, S>,
    ) {
        let mut line = Line(format!("span {}", attributes.metadata().name()));
        attributes.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn on_record(&self, _: &tracing::Id, values: &tracing::span::Record<'_>, _: Context<'_, S>) {
        let mut line = Line("record".into());
        values.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut line = Line(format!("{}", event.metadata().level()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
}

fn traced(name: &str, arguments: &str, level: tracing::Level) -> (ToolResult, Vec<String>) {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let capture = Capture::default();
    let filter = tracing_subscriber::filter::LevelFilter::from_level(level);
    let subscriber = tracing_subscriber::registry().with(capture.clone().with_filter(filter));
    let result = tracing::subscriber::with_default(subscriber, || call_now(name, arguments));
    let lines = capture.0.lock().unwrap().clone();
    (result, lines)
}

#[test]
fn the_operator_gets_the_reference_the_call_and_the_causes() {
    let (result, lines) = traced("fail", "{}", tracing::Level::INFO);
    let id = result.error().unwrap().id();
    assert!(lines[0].starts_with("span execute_tool"), "{lines:?}");
    for field in [
        "gen_ai.tool.name=\"fail\"",
        "gen_ai.tool.call.id=\"call_7\"",
    ] {
        assert!(lines[0].contains(field), "{lines:?}");
    }
    assert!(
        lines
            .iter()
            .any(|line| line == "record otel.name=\"execute_tool fail\""),
        "{lines:?}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line == "record error.type=\"failed\""),
        "{lines:?}"
    );
    let event = lines
        .iter()
        .find(|line| line.starts_with("ERROR"))
        .expect("an event");
    for part in [
        &*format!("reference=\"{id}\""),
        "causes=\"refused with password hunter2\"",
    ] {
        assert!(event.contains(part), "{event} lacks {part}");
    }
    assert!(
        !event.contains("arguments="),
        "arguments are recorded on request alone: {event}"
    );
}

#[cfg_attr(panic = "abort", ignore = "a tool or a test panics")]
#[test]
fn a_panic_payload_is_logged_and_arguments_are_not() {
    let arguments = "{\"secret\":\"hunter2\"}";
    let (result, lines) = traced("panic_at_once", arguments, tracing::Level::DEBUG);
    assert!(!result.content().contains("hunter2"));
    let event = lines
        .iter()
        .find(|line| line.starts_with("ERROR"))
        .expect("an event");
    assert!(event.contains("causes=\"payload with hunter2\""), "{event}");
    let content = lines.iter().find(|line| line.contains("gen_ai.tool.call."));
    assert_eq!(content.filter(|line| line.contains("arguments=")), None);
}

#[test]
fn a_rejected_call_is_a_warning_and_a_successful_one_is_logged_too() {
    let (_, lines) = traced("fail", "{\"x\":1}", tracing::Level::DEBUG);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("WARN") && line.contains("invalid arguments"))
    );
    let (_, lines) = traced("no_such_tool", "", tracing::Level::DEBUG);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("WARN") && line.contains("unknown tool"))
    );
    let (result, lines) = traced("work", "", tracing::Level::INFO);
    assert!(!result.is_error());
    let events: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("result.bytes"))
        .collect();
    assert_eq!(events.len(), 1, "{lines:?}");
    assert!(events[0].starts_with("INFO"), "{lines:?}");
    // A subscriber for warnings and errors sees nothing.
    let (_, lines) = traced("work", "", tracing::Level::WARN);
    assert!(lines.is_empty(), "{lines:?}");
}
