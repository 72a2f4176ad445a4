//! Telemetry with the feature `tracing`.

use std::error::Error;
use std::time::Instant;

use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::{Instrument, Level, Span};

use crate::call::error::{ToolError, ToolErrorKind};
use crate::call::panic_payload;
use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::Rendered;
use crate::schema::messages;
use crate::spec::ToolSpec;

/// The telemetry of one call; empty if no subscriber is interested.
pub(crate) struct Telemetry(Option<Box<ActiveSpan>>);

/// The span of a call, for use on another thread.
#[derive(Clone)]
pub(crate) struct Scope(Option<Span>);

struct ActiveSpan {
    span: Span,
    /// The data of the event; `None` if no subscriber wants it.
    event: Option<EventData>,
    is_finished: bool,
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
    /// Runs a blocking tool inside the span.
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        let _entered = self.0.as_ref().map(Span::enter);
        run()
    }
}

impl Telemetry {
    #[inline]
    pub(crate) fn new(call: &ToolCall, tool: Option<&ToolSpec>) -> Telemetry {
        // One check instead of three, for a program without a subscriber.
        if LevelFilter::current() == LevelFilter::OFF {
            return Telemetry(None);
        }
        Telemetry(ActiveSpan::new(call, tool))
    }

    /// Runs a sync tool inside the span.
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        let _entered = self.0.as_ref().map(|active| active.span.enter());
        run()
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope(self.0.as_ref().map(|active| active.span.clone()))
    }

    /// Runs an async tool inside the span.
    pub(crate) fn instrument<F: Future>(
        &self,
        running: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let span = self.0.as_ref().map(|active| active.span.clone());
        Instrument::instrument(running, span.unwrap_or_else(Span::none))
    }

    /// Emits the event of the result.
    #[inline]
    pub(crate) fn finish(self, result: &ToolResult) {
        if let Some(mut active) = self.0 {
            active.is_finished = true;
            active.finish(result);
        }
    }
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
                is_finished: false,
            })
        })
    }

    fn record_error(&self, kind: ToolErrorKind) {
        self.span.record("error.type", kind.as_str());
        self.span.record("otel.status_code", "ERROR");
    }

    fn finish(&self, result: &ToolResult) {
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
        if self.is_finished {
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
    let mut source = error.source();
    while let Some(cause) = source {
        let text = panic_payload::displayed(cause);
        // The message, or the cause before, may already contain this one.
        let before = causes.last().map_or(error.original_message(), |text| text);
        if !before.contains(&text) {
            causes.push(text);
        }
        source = cause.source();
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
