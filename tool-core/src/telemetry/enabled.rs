//! Telemetry with the feature `tracing`.
//!
//! A subscriber is the application's code. If it panics, the call goes on, without its log.

use std::cell::Cell;
use std::time::Instant;

use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Span};

use crate::call::boundary::{Guarded, OPERATOR_TEXT, catch, displayed, sources};
use crate::call::error::{ToolError, ToolErrorKind};
use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::Rendered;
use crate::schema::messages;
use crate::spec::ToolSpec;

/// The telemetry of one call; empty if no subscriber is interested.
pub(crate) struct Telemetry(Option<Guarded<Box<ActiveSpan>>>);

/// The span of a call, for use elsewhere.
pub(crate) struct Scope(Option<Guarded<Span>>);

struct ActiveSpan {
    span: Span,
    /// The data of the event; `None` if no subscriber wants it.
    event: Option<EventData>,
    is_finished: Cell<bool>,
}

/// The data of the event that is known when the call starts.
struct EventData {
    start: Instant,
    name: String,
    call_id: String,
    arguments_bytes: usize,
    /// For the event of a failed call, at debug level.
    arguments: Option<String>,
}

impl Scope {
    /// Runs a part of the call inside the span.
    #[inline]
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        match &self.0 {
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
            return Telemetry(None);
        }
        let active = catch(|| ActiveSpan::new(call, tool)).ok().flatten();
        Telemetry(active.map(Guarded::new))
    }

    /// Runs a sync tool inside the span.
    #[inline]
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(active) => in_span(&active.span, run),
            None => run(),
        }
    }

    pub(crate) fn scope(&self) -> Scope {
        let span = self.0.as_ref().map(|active| catch(|| active.span.clone()));
        Scope(span.and_then(Result::ok).map(Guarded::new))
    }

    /// Emits the event of the result.
    #[inline]
    pub(crate) fn finish(self, result: &ToolResult) {
        if let Some(active) = self.0 {
            finish(active, result);
        }
    }
}

#[cold]
fn finish(active: Guarded<Box<ActiveSpan>>, result: &ToolResult) {
    let _ = catch(|| active.finish(result));
}

impl ActiveSpan {
    fn new(call: &ToolCall, tool: Option<&ToolSpec>) -> Option<Box<ActiveSpan>> {
        let span = tracing::info_span!(
            target: "tool_core",
            "execute_tool",
            "otel.name" = Empty,
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = &*messages::name(&call.name),
            "gen_ai.tool.call.id" = call.id,
            "gen_ai.tool.type" = "function",
            "gen_ai.tool.description" = tool.map(|tool| &*tool.description),
            "error.type" = Empty,
        );
        // Not for names that a model made up: span names must have a low cardinality.
        if tool.is_some() && !span.is_disabled() {
            span.record("otel.name", ["execute_tool ", &call.name].concat());
        }
        let event = tracing::enabled!(target: "tool_core", Level::ERROR).then(|| {
            let has_arguments = tracing::enabled!(target: "tool_core", Level::DEBUG);
            EventData {
                start: Instant::now(),
                name: messages::name(&call.name).into_owned(),
                call_id: call.id.clone(),
                arguments_bytes: call.arguments.bytes(),
                arguments: has_arguments.then(|| call.arguments.clone().into_text()),
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
            self.span.in_scope(|| match result.error() {
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
            self.span.in_scope(|| dropped(data));
        }
    }
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
                gen_ai.execute_tool.duration = $data.start.elapsed().as_secs_f64(),
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
    use ToolErrorKind::{Failed, Panicked, TimedOut, Unavailable};

    macro_rules! failure {
        ($level:ident) => {
            event!(
                $level,
                data,
                {
                    "error.type" = error.kind().as_str(),
                    reference = error.id(),
                    retryable = error.is_retryable(),
                    result.bytes = result.content().len(),
                    coercions = result.coercions().len(),
                    causes = causes(error),
                    gen_ai.tool.call.arguments = data.arguments,
                },
                "{}",
                error.original_message()
            )
        };
    }

    match error.kind() {
        Failed | Panicked | TimedOut | Unavailable => failure!(error),
        _ => failure!(warn),
    }
}

#[cold]
fn dropped(data: &EventData) {
    event!(
        warn,
        data,
        {
            "error.type" = ToolErrorKind::Cancelled.as_str(),
            gen_ai.tool.call.arguments = data.arguments,
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
    for broken in rendered.broken_rules() {
        tracing::warn!(target: "tool_core", rule = broken.rule.id, "{}", broken.message);
    }
    for refused in rendered.refused() {
        tracing::warn!(target: "tool_core", "{}", refused.message);
    }
}
