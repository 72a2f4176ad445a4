//! Telemetry of a call: one span, with OpenTelemetry's conventions, and one event.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use serde_json::json;
use tool_core::call::{Arguments, CancellationToken, Progress, TraceContext};
use tool_core::dialect::HostedTool;
use tool_core::hooks::Gate;
use tool_core::{CallContext, Registry, ToolCall, tool, tools};
use tool_dialects::{Bedrock, Cohere};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Instrument, Level, info, info_span};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

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
                ("message", "greet succeeded"),
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
        assert_eq!(
            event.fields["result.bytes"],
            result.content().len().to_string()
        );
        // The model's text may have several lines, the log's has one.
        let logged = error.message().replace('\n', "\\n");
        assert_eq!(event.fields["exception.message"], logged);
        let type_name = match kind {
            "failed" => Some("core::fmt::Error"),
            "panicked" => Some("panic"),
            _ => None,
        };
        let logged = event.fields.get("exception.type");
        assert_eq!(logged.map(String::as_str), type_name, "{kind}");
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
    let told = &span.fields["gen_ai.tool.name"];
    assert!(told.starts_with("xxx") && told.len() < 200, "{told}");
    assert_eq!(capture.event("unknown").level, Level::WARN);
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
        assert!(event.fields["exception.message"].contains("dropped"));
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

/// Keeps the value of every field of this library's spans and events, as a subscriber gets it.
#[derive(Clone, Default)]
struct Values(Arc<Mutex<Vec<String>>>);

impl Values {
    /// Returns what is logged while `run` runs.
    fn of(run: impl FnOnce()) -> Vec<String> {
        let values = Values::default();
        with_default(tracing_subscriber::registry().with(values.clone()), run);
        std::mem::take(&mut values.0.lock().unwrap())
    }
}

impl Visit for &Values {
    fn record_str(&mut self, _: &Field, value: &str) {
        self.0.lock().unwrap().push(value.to_owned());
    }

    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().push(format!("{value:?}"));
    }
}

impl<S: tracing::Subscriber> Layer<S> for Values {
    fn on_new_span(
        &self,
        attributes: &Attributes<'_>,
        _: &Id,
        _: tracing_subscriber::layer::Context<'_, S>,
    ) {
        attributes.record(&mut &*self);
    }

    fn on_record(&self, _: &Id, values: &Record<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        values.record(&mut &*self);
    }

    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        event.record(&mut &*self);
    }
}

/// An error that quotes the model, as its source does.
#[derive(Debug)]
struct Quotes(String, Option<Box<Quotes>>);

impl fmt::Display for Quotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "can't find {}", self.0)
    }
}

impl std::error::Error for Quotes {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref().map(|source| source as _)
    }
}

/// Finds nothing.
#[tool(unlinked)]
fn find(word: String) -> Result<u8, Quotes> {
    let source = Quotes(format!("{word} again"), None);
    Err(Quotes(word, Some(Box::new(source))))
}

/// Panics with its argument.
#[tool(unlinked)]
fn explode(word: String) -> u8 {
    std::panic::panic_any(word)
}

/// Characters that break a line, control a terminal or change the direction of text.
fn hostile_characters() -> Vec<char> {
    let controls = ('\0'..='\u{9f}').filter(|c| c.is_control());
    let lines = "\u{2028}\u{2029}";
    let directions = "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
    controls
        .chain(lines.chars())
        .chain(directions.chars())
        .collect()
}

#[test]
fn no_text_can_forge_a_line_of_the_log() {
    let registry = Registry::builder()
        .tools(tools![find, explode, greet])
        .trace_content(10_000)
        .before(async |pending| match &pending.call.arguments {
            Arguments::Text(text) if text.contains("denied") => Gate::deny(text.clone()),
            _ => Gate::Allow,
        })
        .map_errors(|error| Some(format!("{error}\nfor the model")))
        .build()
        .unwrap();
    for character in hostile_characters() {
        let forged = format!("x{character}{character}2026-01-01 INFO all is well");
        let word = json!({ "word": forged });
        // JSON text whose strings and spaces have the character as it is, where JSON allows it.
        let raw = format!("{{\n\t\"word\":\r\n\"{forged}\"}}");
        let denied = format!("{forged} denied");
        let calls = [
            ToolCall::new(&forged, "find", word.clone()),
            ToolCall::new("raw", "find", raw),
            ToolCall::new("call", "explode", word),
            ToolCall::new("call", &forged, json!({})),
            ToolCall::new("call", "greet", json!({ "name": 1, &*forged: 2 })),
            ToolCall::new("call", "greet", &*forged),
            ToolCall::new("call", "greet", denied),
        ];
        for call in calls {
            let (id, name) = (call.id.clone(), call.name.clone());
            let mut content = String::new();
            let logged = Values::of(|| {
                let result = registry.call_blocking(call);
                content = result.content().to_owned();
            });
            assert!(content.contains('\n'), "the model's text keeps its lines");
            assert!(logged.len() > 10, "{id:?} {name:?}: {logged:?}");
            for text in logged {
                let found = text.chars().find(|c| hostile_characters().contains(c));
                assert_eq!(found, None, "{id:?} {name:?}: {text:?}");
            }
        }
        // What rendering leaves out or breaks.
        let hosted = HostedTool::new(json!({ "type": "web_search", "x": forged }));
        let logged = Values::of(|| {
            let registry = Registry::builder().hosted(hosted).build().unwrap();
            registry.render(&Cohere::default());
            registry.render(&Bedrock::default());
        });
        assert!(logged.len() >= 2, "{logged:?}");
        for text in logged {
            let found = text.chars().find(|c| hostile_characters().contains(c));
            assert_eq!(found, None, "{text:?}");
        }
    }
}

#[test]
fn a_logged_text_says_what_it_said() {
    let call = |word: &str, arguments: &str| {
        let call = ToolCall::new("call", "find", arguments.replace("WORD", word));
        let registry = Registry::builder().tools(tools![find]).trace_content(1000);
        let registry = registry.build().unwrap();
        Values::of(|| drop(registry.call_blocking(call)))
    };
    // Nothing is escaped twice, and JSON arguments stay JSON.
    let logged = call(r"a\nb\u202e\\c", "{\n \"word\":\t\"WORD\"\r\n}");
    let has = |part: &str| {
        assert!(
            logged.iter().any(|text| text.contains(part)),
            "{part}: {logged:?}"
        );
    };
    has(r"failed [ref ");
    has(r": can't find a\nb\u202e\c");
    let arguments = logged.iter().find(|text| text.starts_with('{')).unwrap();
    let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
    assert_eq!(arguments, json!({ "word": "a\nb\u{202e}\\c" }));
    // Other letters stay as they are.
    let logged = call("Ä 日本 👩‍🚀", r#"{"word":"WORD"}"#);
    assert!(
        logged
            .iter()
            .any(|text| text.contains("can't find Ä 日本 👩‍🚀"))
    );
}

/// A filter is asked about an event before there is one.
#[test]
fn a_filter_that_keeps_some_events_gets_them() {
    let logged = |is_kept: fn(&tracing::Metadata<'_>) -> bool| {
        let values = Values::default();
        let layer = values.clone().with_filter(filter_fn(is_kept));
        let registry = Registry::builder()
            .tools(tools![find, greet])
            .build()
            .unwrap();
        with_default(tracing_subscriber::registry().with(layer), || {
            registry.call_blocking(ToolCall::new("<1>", "find", r#"{"word":"w"}"#));
            registry.call_blocking(ToolCall::new("<2>", "greet", r#"{"name":"Ada"}"#));
            registry.call_blocking(ToolCall::new("<3>", "greet", "{}"));
        });
        let values = values.0.lock().unwrap();
        // Spans have the ids of the calls, and events name the tool.
        let id = |text: &String| match &**text {
            "<1>" | "<2>" | "<3>" => Some(text.clone()),
            text if text.starts_with("find failed ") => Some("<1>".into()),
            "greet succeeded" => Some("<2>".into()),
            text if text.starts_with("invalid arguments for greet ") => Some("<3>".into()),
            _ => None,
        };
        values.iter().filter_map(id).collect::<String>()
    };
    assert_eq!(
        logged(|data| data.is_event() && data.target() == "tool_core"),
        "<1><2><3>"
    );
    assert_eq!(
        logged(|data| data.is_event() && *data.level() == Level::ERROR),
        "<1>"
    );
    assert_eq!(
        logged(|data| data.is_event()
            && *data.level() == Level::INFO
            && data.target() == "tool_core"),
        "<2>"
    );
    assert_eq!(
        logged(|data| data.is_event() && *data.level() == Level::WARN),
        "<3>"
    );
    assert_eq!(
        logged(|data| data.is_span() && !data.is_event()),
        "<1><2><3>"
    );
    assert_eq!(logged(|_| false), "");
}

/// Layers with filters of their own share what a subscriber is asked.
#[test]
fn every_layer_gets_the_events_of_its_filter() {
    let run = || {
        let plain = Registry::builder().tools(tools![find, greet, explode]);
        for registry in [plain.build().unwrap(), registry()] {
            for (name, arguments) in [
                ("find", r#"{"word":"w"}"#),
                ("greet", r#"{"name":"Ada"}"#),
                ("explode", r#"{"word":"w"}"#),
                ("greet", "{}"),
            ] {
                registry.call_blocking(ToolCall::new("call", name, arguments));
                info!("called {name}");
            }
        }
    };
    let count = |values: &Values, part: &str| {
        let values = values.0.lock().unwrap();
        values.iter().filter(|text| text.starts_with(part)).count()
    };
    let up_to = |level: Level| {
        let values = Values::default();
        let filter = filter_fn(move |data| *data.level() <= level);
        (values.clone(), values.with_filter(filter).boxed())
    };
    let check = |coarse: &Values, fine: &Values| {
        for (part, expected) in [
            ("find failed", 1),
            ("explode failed", 1),
            ("invalid arguments", 2),
            ("greet succeeded", 2),
            ("in greet, Ada", 2),
            ("called ", 8),
            ("execute_tool ", 6),
        ] {
            assert_eq!(count(coarse, part), expected, "{part}");
            assert_eq!(count(fine, part), expected, "{part}");
        }
    };
    let ((coarse, info), (fine, debug)) = (up_to(Level::INFO), up_to(Level::DEBUG));
    with_default(tracing_subscriber::registry().with(vec![info, debug]), run);
    check(&coarse, &fine);

    let ((coarse, info), (fine, debug)) = (up_to(Level::INFO), up_to(Level::DEBUG));
    let (spans, other) = (Values::default(), Values::default());
    let only_spans = filter_fn(|data| data.is_span() && !data.is_event());
    let only_ours = filter_fn(|data| data.target() == "telemetry");
    let layers = vec![
        info,
        debug,
        spans.clone().with_filter(only_spans).boxed(),
        other.clone().with_filter(only_ours).boxed(),
    ];
    let subscriber = tracing_subscriber::registry().with(layers);
    with_default(subscriber, run);
    check(&coarse, &fine);
    assert_eq!(count(&spans, "execute_tool "), 6);
    assert_eq!(
        (count(&other, "called "), count(&other, "in greet")),
        (8, 2)
    );
}

/// The standard subscriber for text prints the fields of the spans around an event, then those of the event.
#[test]
fn no_line_has_an_attribute_twice() {
    for registry in [plain(), registry()] {
        let text = Text::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_writer(text.clone())
            .finish();
        with_default(subscriber, || {
            for (name, arguments) in [
                ("greet", r#"{"name":"Ada"}"#),
                ("greet", "{}"),
                ("panics", ""),
            ] {
                registry.call_blocking(ToolCall::new("call_1", name, arguments));
            }
            registry.call_blocking(ToolCall::new("call_2", "no_such_tool", ""));
        });
        let lines = text.lines();
        let ours: Vec<_> = lines
            .iter()
            .filter(|line| line.contains(" tool_core: "))
            .collect();
        assert_eq!(ours.len(), 4, "{lines:?}");
        for line in ours {
            let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || "._=".contains(c)));
            let names = words
                .filter_map(|word| word.split_once('='))
                .map(|(name, _)| name);
            let mut names: Vec<_> = names.filter(|name| !name.is_empty()).collect();
            assert!(names.contains(&"gen_ai.tool.name"), "{line}");
            assert!(names.contains(&"gen_ai.execute_tool.duration"), "{line}");
            names.sort_unstable();
            let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
            assert_eq!(twice, None, "{line}");
        }
    }
}

/// Text that a subscriber writes.
#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    fn lines(&self) -> Vec<String> {
        let bytes = self.0.lock().unwrap();
        let text = String::from_utf8_lossy(&bytes);
        text.lines().map(str::to_owned).collect()
    }
}

impl io::Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Text {
    type Writer = Text;

    fn make_writer(&self) -> Text {
        self.clone()
    }
}

#[tokio::test]
async fn arguments_and_results_are_recorded_on_request_alone() {
    let capture = capture();
    let builder = || Registry::builder().tools(tools![greet, fail]);
    let content = |id: &str| {
        let span = capture.span(id);
        ["arguments", "result"].map(|part| {
            span.fields
                .get(&format!("gen_ai.tool.call.{part}"))
                .cloned()
        })
    };
    let (without, with) = (builder(), builder().trace_content(40));
    let [without, with] = [without, with].map(|builder| builder.build().unwrap());
    let call = |id: &str, name: &str, arguments: &str| ToolCall::new(id, name, arguments);
    without
        .call(call("kept", "greet", r#"{"name":"Ada"}"#))
        .await;
    assert_eq!(content("kept"), [None, None]);
    with.call(call("shown", "greet", "{\n\"name\": \"Ada\"}"))
        .await;
    let shown = [r#"{ "name": "Ada"}"#, "Hello, Ada!"].map(|text| Some(text.to_owned()));
    assert_eq!(content("shown"), shown);
    // Of a failed call there is no result, and of an unknown tool no schema.
    with.call(call("failed content", "fail", "{}")).await;
    assert_eq!(content("failed content"), [Some("{}".into()), None]);
    with.call(call("unknown content", "greeet", r#"{"name":"Ada"}"#))
        .await;
    assert_eq!(content("unknown content"), [None, None]);
    let long = json!({ "name": "x".repeat(1000) });
    with.call(ToolCall::new("long content", "greet", long))
        .await;
    let cut = content("long content").map(Option::unwrap);
    for text in cut {
        assert!(text.len() < 100 && text.contains("[truncated: "), "{text}");
    }
}

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Calls itself, one level deep.
#[tool(unlinked)]
async fn nest(call: &CallContext) -> String {
    let trace = call.get::<TraceContext>().unwrap().traceparent().to_owned();
    call.call(ToolCall::new("inner", "greet", r#"{"name":"Ada"}"#))
        .await;
    trace
}

#[tokio::test]
async fn the_application_gets_the_trace_of_the_caller_once() {
    capture();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = seen.clone();
    let registry = Registry::builder()
        .tools(tools![greet, nest])
        .trace_parent(move |span, trace| {
            assert!(!span.is_disabled());
            // The parent of a span can't be set once the span is entered.
            assert!(tracing::Span::current().id() != span.id());
            sink.lock().unwrap().push(trace.traceparent().to_owned());
        })
        .build()
        .unwrap();
    registry
        .call(ToolCall::new("no trace", "greet", r#"{"name":"Ada"}"#))
        .await;
    assert!(seen.lock().unwrap().is_empty());
    let call = ToolCall::new("with trace", "nest", "").with(TraceContext::new(PARENT).unwrap());
    let result = registry.call(call).await;
    // The tool can pass it on, and the nested call is a part of this one.
    assert_eq!(result.content(), PARENT);
    assert_eq!(*seen.lock().unwrap(), [PARENT]);
    // A closure that panics costs the parent, not the call.
    let registry = Registry::builder()
        .tools(tools![greet])
        .trace_parent(|_, _| panic!("planned"));
    let call = ToolCall::new("rude", "greet", r#"{"name":"Ada"}"#);
    let call = call.with(TraceContext::new(PARENT).unwrap());
    assert!(!registry.build().unwrap().call(call).await.is_error());
}
