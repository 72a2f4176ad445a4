//! Telemetry with the feature `tracing`.
//!
//! A subscriber is the application's code. If it panics, the call goes on, without its log.

use std::borrow::Cow;
use std::cell::Cell;
use std::mem;
use std::time::Instant;

use serde::de::IgnoredAny;

use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Span};

use crate::call::boundary::{Guarded, OPERATOR_TEXT, catch, displayed, sources};
use crate::call::error::{ToolError, ToolErrorKind};
use crate::call::{Arguments, ToolCall, ToolResult};
use crate::provider::dialect::{Rendered, ToolRequest};
use crate::runtime::HAS_CLOCK;
use crate::schema::messages::{self, affects_layout};
use crate::spec::ToolSpec;

/// The telemetry of one call; empty if no subscriber is interested.
pub(crate) struct Telemetry(Guarded<Box<ActiveSpan>>);

/// The span of a call, for use elsewhere.
pub(crate) struct Scope(Guarded<Span>);

struct ActiveSpan {
    span: Guarded<Span>,
    /// The data of the event; `None` if no subscriber wants it.
    event: Option<EventData>,
    is_finished: Cell<bool>,
}

/// The data of the event that is known when the call starts.
struct EventData {
    /// `None` without a clock.
    start: Option<Instant>,
    name: String,
    call_id: String,
    arguments_bytes: usize,
    /// For the event of a failed call, if a subscriber may want debug events.
    arguments: Option<Arguments>,
}

impl Scope {
    /// Runs a part of the call inside the span.
    #[inline]
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        match self.0.get() {
            Some(span) => in_span(span, run),
            None => run(),
        }
    }
}

/// Runs a part of a call inside its span.
fn in_span<T>(span: &Span, run: impl FnOnce() -> T) -> T {
    let entered = catch(|| span.enter()).ok().map(Guarded::new);
    let value = run();
    drop(entered);
    value
}

impl Telemetry {
    #[inline]
    pub(crate) fn new(call: &ToolCall, tool: Option<&ToolSpec>) -> Telemetry {
        // One check instead of three, for a program without a subscriber.
        if LevelFilter::current() == LevelFilter::OFF {
            return Telemetry(Guarded::none());
        }
        let active = catch(|| ActiveSpan::new(call, tool)).ok().flatten();
        Telemetry(active.into())
    }

    /// Runs a sync tool inside the span.
    #[inline]
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        match self.0.get() {
            Some(active) => in_span(&active.span, run),
            None => run(),
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        let span = self
            .0
            .get()
            .map(|active| catch(|| Span::clone(&active.span)));
        Scope(span.and_then(Result::ok).into())
    }

    /// Emits the event of the result.
    #[inline]
    pub(crate) fn finish(self, result: &ToolResult) {
        if self.0.get().is_some() {
            finish(self, result);
        } else {
            // Spares each call the question of what there is to drop.
            mem::forget(self);
        }
    }
}

#[cold]
fn finish(telemetry: Telemetry, result: &ToolResult) {
    if let Some(active) = telemetry.0.get() {
        let _ = catch(|| active.finish(result));
    }
}

impl ActiveSpan {
    fn new(call: &ToolCall, tool: Option<&ToolSpec>) -> Option<Box<ActiveSpan>> {
        let has_event = is_any_event_enabled();
        // Creating the span completes the question above; see `is_any_event_enabled`.
        let _ = tracing::span_enabled!(target: "tool_core", Level::INFO);
        // Guarded from here on: dropping it while a panic unwinds may panic again, which would abort.
        let span = Guarded::new(tracing::info_span!(
            target: "tool_core",
            "execute_tool",
            "otel.name" = Empty,
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = &*name(call),
            "gen_ai.tool.call.id" = &*line(&call.id),
            "gen_ai.tool.type" = "function",
            "gen_ai.tool.description" = tool.map(|tool| line(&tool.description)).as_deref(),
            "error.type" = Empty,
        ));
        // Not for names that a model made up: span names must have a low cardinality.
        if tool.is_some() && !span.is_disabled() {
            span.record("otel.name", ["execute_tool ", &name(call)].concat());
        }
        let event = has_event.then(|| {
            // A finer question would be about an event that does not follow.
            let may_log_arguments = LevelFilter::current() >= LevelFilter::DEBUG;
            EventData {
                start: HAS_CLOCK.then(Instant::now),
                name: name(call).into_owned(),
                call_id: line(&call.id).into_owned(),
                arguments_bytes: call.arguments.bytes(),
                arguments: may_log_arguments.then(|| call.arguments.clone()),
            }
        });
        let is_active = event.is_some() || !span.is_disabled();
        is_active.then(|| {
            Box::new(ActiveSpan {
                span,
                event,
                is_finished: Cell::new(false),
            })
        })
    }

    fn record_error(&self, kind: ToolErrorKind) {
        self.span.record("error.type", kind.as_str());
        self.span.record("otel.status_code", "ERROR");
    }

    fn finish(&self, result: &ToolResult) {
        self.is_finished.set(true);
        if let Some(error) = result.error() {
            self.record_error(error.kind());
        }
        if let Some(data) = &self.event {
            in_span(&self.span, || match result.error() {
                Some(error) => failed(data, result, error),
                None => succeeded(data, result),
            });
        }
    }
}

/// Emits an event for a call without a result, because its future was dropped.
impl Drop for ActiveSpan {
    fn drop(&mut self) {
        if self.is_finished.get() {
            return;
        }
        self.record_error(ToolErrorKind::Cancelled);
        if let Some(data) = &self.event {
            in_span(&self.span, || dropped(data));
        }
    }
}

/// Returns `true` if a subscriber wants an event of a level that the end of a call may have.
///
/// Not `enabled!`, which asks for neither an event nor a span: a filter that keeps only events
/// would lose them all.
///
/// A span or an event has to follow. In tracing-subscriber 0.3, a filter of one layer keeps its
/// answer, and that layer then drops the next span or event that the other layers take unasked.
fn is_any_event_enabled() -> bool {
    tracing::event_enabled!(target: "tool_core", Level::ERROR)
        || tracing::event_enabled!(target: "tool_core", Level::WARN)
        || tracing::event_enabled!(target: "tool_core", Level::INFO)
}

/// Returns the arguments for an event of a failed call, which has to follow: see
/// [`is_any_event_enabled`].
macro_rules! arguments {
    ($level:ident, $data:expr) => {
        $data.arguments.as_ref().and_then(|arguments| {
            let is_wanted = tracing::event_enabled!(target: "tool_core", Level::$level)
                && tracing::event_enabled!(target: "tool_core", Level::DEBUG);
            // The last answer is that about the event.
            let _ = tracing::event_enabled!(target: "tool_core", Level::$level);
            is_wanted.then(|| logged_arguments(arguments))
        })
    };
}

/// Returns a text for the log, on one line.
///
/// Every text that is logged passes through here, because a model can write part of it. Characters
/// that break lines, control a terminal or change the direction of text are escaped as in JSON, so
/// JSON text stays valid. A text that is on one line already is not changed.
fn line(text: &str) -> Cow<'_, str> {
    // Most texts are plain ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(affects_layout) {
        return text.into();
    }
    let mut line = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            _ if affects_layout(character) => {
                messages::push(&mut line, format_args!("\\u{:04x}", u32::from(character)));
            }
            _ => line.push(character),
        }
    }
    line.into()
}

fn name(call: &ToolCall) -> Cow<'_, str> {
    match messages::name(&call.name) {
        Cow::Borrowed(name) => line(name),
        Cow::Owned(name) => line(&name).into_owned().into(),
    }
}

/// Returns the arguments of a call for the log. JSON stays valid.
fn logged_arguments(arguments: &Arguments) -> String {
    let mut text = arguments.clone().into_text();
    // In valid JSON these are between the tokens only.
    let breaks = ['\n', '\r', '\t'];
    if text.contains(breaks) && serde_json::from_str::<IgnoredAny>(&text).is_ok() {
        text = text.replace(breaks, " ");
    }
    line(&text).into_owned()
}

/// Emits an event with the fields common to all, at the end of a call.
macro_rules! event {
    ($level:ident, $data:expr, { $($fields:tt)* }, $($message:tt)+) => {
        tracing::$level!(
            target: "tool_core",
            {
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = $data.name,
                gen_ai.tool.call.id = $data.call_id,
                gen_ai.execute_tool.duration = $data.start.map(|start| start.elapsed().as_secs_f64()),
                arguments.bytes = $data.arguments_bytes,
                $($fields)*
            },
            $($message)+
        )
    };
}

fn succeeded(data: &EventData, result: &ToolResult) {
    event!(
        info,
        data,
        {
            result.bytes = result.content().len(),
            coercions = result.coercions().len(),
        },
        "the call succeeded"
    );
}

/// Emits an error if the operator has to act, a warning if the model has to.
#[cold]
fn failed(data: &EventData, result: &ToolResult, error: &ToolError) {
    use ToolErrorKind::{Failed, InvalidResult, Panicked, TimedOut, Unavailable};

    macro_rules! failure {
        ($macro:ident, $level:ident) => {{
            let causes = causes(error).map(|text| line(&text).into_owned());
            let arguments = arguments!($level, data);
            event!(
                $macro,
                data,
                {
                    "error.type" = error.kind().as_str(),
                    reference = error.id(),
                    retryable = error.is_retryable(),
                    result.bytes = result.content().len(),
                    coercions = result.coercions().len(),
                    causes = causes,
                    gen_ai.tool.call.arguments = arguments,
                },
                "{}",
                line(error.original_message())
            );
        }};
    }

    match error.kind() {
        Failed | InvalidResult | Panicked | TimedOut | Unavailable => failure!(error, ERROR),
        _ => failure!(warn, WARN),
    }
}

#[cold]
fn dropped(data: &EventData) {
    let arguments = arguments!(WARN, data);
    event!(
        warn,
        data,
        {
            "error.type" = ToolErrorKind::Cancelled.as_str(),
            gen_ai.tool.call.arguments = arguments,
        },
        "the future of the call was dropped before it completed"
    );
}

/// Joins what is hidden from the model: the detail of the error and its sources, outermost first.
fn causes(error: &ToolError) -> Option<String> {
    let mut causes = Vec::new();
    if !error.detail().is_empty() {
        causes.push(error.detail().to_owned());
    }
    for cause in sources(error) {
        let text = displayed(cause, OPERATOR_TEXT);
        // The message, or the cause before, may already contain this one.
        let before = causes.last().map_or(error.original_message(), |text| text);
        if !before.contains(&text) {
            causes.push(text);
        }
    }
    (!causes.is_empty()).then(|| causes.join(": "))
}

/// Emits an event for each broken rule and for each tool that a dialect omits.
pub(crate) fn rendered(rendered: &Rendered) {
    let log = || {
        for broken in rendered.broken_rules() {
            tracing::warn!(target: "tool_core", rule = broken.rule.id, "{}", line(&broken.message));
        }
        for refused in rendered.refused() {
            tracing::warn!(target: "tool_core", "{}", line(&refused.message));
        }
    };
    let _ = catch(log);
}

/// Emits an event for each setting of a request that the provider lacks.
pub(crate) fn requested(request: &ToolRequest) {
    rendered(request.tools());
    let log = || {
        for note in request.notes() {
            tracing::warn!(target: "tool_core", "{}", line(note));
        }
    };
    let _ = catch(log);
}
