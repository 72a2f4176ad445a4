//! Telemetry with the feature `tracing`.
//!
//! A subscriber is the application's code. If it panics, the call goes on, without its log.

use std::borrow::Cow;
use std::cell::Cell;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

use serde::de::IgnoredAny;

use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Span};

use super::Settings;
use super::secrets;

use crate::call::boundary::{Guarded, catch, displayed, sources};
use crate::call::error::{ToolError, ToolErrorKind};
use crate::call::truncate::truncate;
use crate::call::{Secrets, ToolCall, ToolResult, TraceContext};
use crate::provider::dialect::{Rendered, ToolRequest};
use crate::runtime::HAS_CLOCK;
use crate::schema::messages;
use crate::spec::ToolSpec;
use crate::visible;

/// Makes the trace of the caller the parent of a span.
pub(crate) type TraceParent = Arc<dyn Fn(&Span, &TraceContext) + Send + Sync>;

/// The log of one call; empty if no subscriber is interested.
pub(crate) struct Telemetry(Guarded<Box<ActiveSpan>>);

/// The span of a call, for use elsewhere.
pub(crate) struct Scope(Guarded<Span>);

struct ActiveSpan {
    span: Guarded<Span>,
    /// The data of the event; `None` if no subscriber wants it.
    event: Option<EventData>,
    /// The most bytes of the result that the span records.
    content: Option<usize>,
    tool: Option<ToolSpec>,
    secrets: Secrets,
    is_finished: Cell<bool>,
}

/// The data of the event that is known when the call starts.
struct EventData {
    /// `None` without a clock.
    start: Option<Instant>,
    /// The names of the call, if the span does not have them.
    names: Option<Names>,
    arguments_bytes: usize,
}

struct Names {
    tool: String,
    call_id: String,
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
    pub(crate) fn new(call: &ToolCall, tool: Option<&ToolSpec>, settings: &Settings) -> Telemetry {
        // One check instead of three, for a program without a subscriber.
        if LevelFilter::current() == LevelFilter::OFF {
            return Telemetry(None.into());
        }
        let active = catch(|| ActiveSpan::new(call, tool, settings));
        Telemetry(active.ok().flatten().into())
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
            // Saves each call the check for values to drop.
            mem::forget(self);
        }
    }
}

#[cold]
fn finish(log: Telemetry, result: &ToolResult) {
    if let Some(active) = log.0.get() {
        let _ = catch(|| active.finish(result));
    }
}

impl ActiveSpan {
    fn new(
        call: &ToolCall,
        tool: Option<&ToolSpec>,
        settings: &Settings,
    ) -> Option<Box<ActiveSpan>> {
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
            "gen_ai.tool.call.arguments" = Empty,
            "gen_ai.tool.call.result" = Empty,
            "error.type" = Empty,
        ));
        let content = settings.content.filter(|_| !span.is_disabled());
        if !span.is_disabled() {
            // Before anything else touches the span: its parent can't change later.
            if let (Some(set_parent), Some(trace)) = (&settings.trace_parent, call.remote_trace()) {
                let _ = catch(|| set_parent(&span, trace));
            }
            // Not for names that a model made up: span names must have a low cardinality.
            if tool.is_some() {
                span.record("otel.name", ["execute_tool ", &name(call)].concat());
            }
        }
        if let Some(cap) = content
            && let Some(arguments) = secrets::arguments(call, tool)
        {
            span.record("gen_ai.tool.call.arguments", one_line(arguments, cap));
        }
        let event = has_event.then(|| EventData {
            start: HAS_CLOCK.then(Instant::now),
            names: span.is_disabled().then(|| Names {
                tool: name(call).into_owned(),
                call_id: line(&call.id).into_owned(),
            }),
            arguments_bytes: call.arguments.bytes(),
        });
        let is_active = event.is_some() || !span.is_disabled();
        is_active.then(|| {
            Box::new(ActiveSpan {
                span,
                event,
                content,
                tool: content.and(tool).cloned(),
                secrets: secrets::of_call(call, tool),
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
        match (result.error(), self.content) {
            (Some(error), _) => self.record_error(error.kind()),
            // The conventions record the result of a successful call only.
            (None, Some(cap)) => {
                let shown = match result.structured_json() {
                    Some(json) => secrets::result(json, self.tool.as_ref()),
                    None => result.content().to_owned(),
                };
                let shown = one_line(self.secrets.hide(&shown), cap);
                self.span.record("gen_ai.tool.call.result", shown);
            }
            (None, None) => {}
        }
        if let Some(data) = &self.event {
            in_span(&self.span, || match result.error() {
                Some(error) => failed(data, &self.secrets, result, error),
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

/// Returns a string for the log, on one line.
///
/// Every text that is logged passes through here, because a model can write part of it. Hidden characters are escaped as in
/// JSON, so JSON text stays valid. A string that is on one line already is not changed.
fn line(text: &str) -> Cow<'_, str> {
    // Most names are plain ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.into();
    }
    match visible::escape_json(text) {
        text if text.contains(['\n', '\t']) => {
            text.replace('\n', "\\n").replace('\t', "\\t").into()
        }
        text => text,
    }
}

fn name(call: &ToolCall) -> Cow<'_, str> {
    match messages::name(&call.name) {
        Cow::Borrowed(name) => line(name),
        Cow::Owned(name) => line(&name).into_owned().into(),
    }
}

/// Returns a string of a call for its span, on one line and truncated. JSON that is not truncated stays valid.
fn one_line(mut text: String, cap: usize) -> String {
    // In valid JSON these are between the tokens only.
    let breaks = ['\n', '\r', '\t'];
    if text.contains(breaks) && serde_json::from_str::<IgnoredAny>(&text).is_ok() {
        text = text.replace(breaks, " ");
    }
    truncate(&mut text, cap);
    line(&text).into_owned()
}

/// Returns a number in the only type of integers that OpenTelemetry has. Its layer for `tracing` exports others as text.
fn integer(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Emits an event with the fields common to all, at the end of a call.
macro_rules! event {
    ($name:literal, $level:ident, $data:expr, { $($fields:tt)* } $(, $($message:tt)+)?) => {
        tracing::event!(
            name: $name,
            target: "tool_core",
            Level::$level,
            {
                gen_ai.tool.name = $data.names.as_ref().map(|names| &*names.tool),
                gen_ai.tool.call.id = $data.names.as_ref().map(|names| &*names.call_id),
                gen_ai.execute_tool.duration = $data.start.map(|start| start.elapsed().as_secs_f64()),
                arguments.bytes = integer($data.arguments_bytes),
                $($fields)*
            }
            $(, $($message)+)?
        )
    };
}

/// Returns the `error.type` for the event, if the span does not have it.
fn error_type(data: &EventData, kind: ToolErrorKind) -> Option<&'static str> {
    data.names.as_ref().map(|_| kind.as_str())
}

fn succeeded(data: &EventData, result: &ToolResult) {
    event!(
        "success",
        INFO,
        data,
        {
            result.bytes = integer(result.content().len()),
            coercions = integer(result.coercions().len()),
        },
        "{} succeeded",
        line(result.name())
    );
}

/// Emits an error if the operator has to act, a warning if the model has to.
#[cold]
fn failed(data: &EventData, secrets: &Secrets, result: &ToolResult, error: &ToolError) {
    use ToolErrorKind::{Failed, InvalidResult, Panicked, TimedOut, Unavailable};

    let shown = |text: &str| line(&secrets.hide(text)).into_owned();
    macro_rules! failure {
        ($level:ident) => {
            event!(
                "exception",
                $level,
                data,
                {
                    exception.message = shown(error.original_message()),
                    exception.type = exception_type(error),
                    "error.type" = error_type(data, error.kind()),
                    reference = error.id(),
                    retryable = error.is_retryable(),
                    result.bytes = integer(result.content().len()),
                    coercions = integer(result.coercions().len()),
                    causes = causes(error).map(|text| shown(&text)),
                }
            )
        };
    }

    match error.kind() {
        Failed | InvalidResult | Panicked | TimedOut | Unavailable => failure!(ERROR),
        _ => failure!(WARN),
    }
}

#[cold]
fn dropped(data: &EventData) {
    event!(
        "exception",
        WARN,
        data,
        {
            exception.message = "the future of the call was dropped before it completed",
            "error.type" = error_type(data, ToolErrorKind::Cancelled),
        }
    );
}

/// Returns the type of the error that the tool returned, or `panic`; `None` if the registry made the error.
fn exception_type(error: &ToolError) -> Option<&'static str> {
    match error.kind() {
        ToolErrorKind::Panicked => Some("panic"),
        _ => error.source_type(),
    }
}

/// Joins what is hidden from the model: the detail of the error and its sources, outermost first.
fn causes(error: &ToolError) -> Option<String> {
    let mut causes = Vec::new();
    if !error.detail().is_empty() {
        causes.push(error.detail().to_owned());
    }
    for cause in sources(error) {
        let text = displayed(cause);
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
        for rejected in rendered.rejected() {
            tracing::warn!(target: "tool_core", "{}", line(&rejected.message));
        }
    };
    let _ = catch(log);
}

/// Emits an event for each setting of a request that the provider lacks.
pub(crate) fn requested(request: &ToolRequest) {
    rendered(request.tools());
    request.notes().iter().for_each(|note| noted(note));
}

/// Emits an event for a note to the operator.
pub(crate) fn noted(note: &str) {
    let _ = catch(|| tracing::warn!(target: "tool_core", "{}", line(note)));
}
