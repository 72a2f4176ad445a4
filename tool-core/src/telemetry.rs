//! What an operator sees of a call: a span around it, and an event when it ended.
//!
//! Names follow OpenTelemetry's semantic conventions for generative AI: a span `execute_tool`
//! with `gen_ai.tool.name`, `gen_ai.tool.call.id` and `error.type`. The event has the same, with
//! how long the call took (in seconds) and how long its texts are (in bytes), so that a subscriber
//! can make metrics of it. `otel.name` and `otel.status_code` are what bridges to OpenTelemetry
//! read. Where nobody listens, nothing is put into words and no clock is read.

use std::future::Future;

#[cfg(feature = "tracing")]
use crate::call::error::{ToolError, ToolErrorKind};
#[cfg(feature = "tracing")]
use crate::call::panic_payload;
use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::Rendered;
#[cfg(feature = "tracing")]
use crate::schema::messages;
use crate::spec::ToolSpec;

/// Nothing, where nobody listens.
#[cfg(feature = "tracing")]
pub(crate) struct Telemetry(Option<Box<ActiveSpan>>);

#[cfg(feature = "tracing")]
struct ActiveSpan {
    span: tracing::Span,
    /// Where somebody wants to know how the call ends, and does not yet.
    awaited: Option<Awaited>,
    is_told: bool,
}

/// What the event at the end of a call tells of its beginning.
#[cfg(feature = "tracing")]
struct Awaited {
    begun: std::time::Instant,
    name: String,
    call_id: String,
    arguments_bytes: usize,
    /// For the event of a failed call, when somebody listens at debug level.
    arguments: Option<String>,
}

/// The span of a call, for another thread too.
#[cfg(feature = "tracing")]
#[derive(Clone)]
pub(crate) struct Scope(Option<tracing::Span>);

#[cfg(feature = "tracing")]
impl Scope {
    /// Runs a tool that blocks inside of the span.
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        let _inside = self.0.as_ref().map(tracing::Span::enter);
        run()
    }
}

#[cfg(feature = "tracing")]
impl Telemetry {
    #[inline]
    pub(crate) fn new(call: &ToolCall, tool: Option<&ToolSpec>) -> Telemetry {
        use tracing::level_filters::LevelFilter;
        // One look in the place of three, for a program without a subscriber.
        if LevelFilter::current() == LevelFilter::OFF {
            return Telemetry(None);
        }
        Telemetry(ActiveSpan::new(call, tool))
    }

    /// Runs a sync tool inside of the span.
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        let _inside = self.0.as_ref().map(|heard| heard.span.enter());
        run()
    }

    pub(crate) fn scope(&self) -> Scope {
        Scope(self.0.as_ref().map(|heard| heard.span.clone()))
    }

    /// Runs an async tool inside of the span.
    pub(crate) fn instrument<F: Future>(
        &self,
        running: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let span = self.0.as_ref().map(|heard| heard.span.clone());
        tracing::Instrument::instrument(running, span.unwrap_or_else(tracing::Span::none))
    }

    /// Tells how a call ended.
    #[inline]
    pub(crate) fn ended(self, result: &ToolResult) {
        if let Some(mut heard) = self.0 {
            heard.is_told = true;
            heard.tell(result);
        }
    }
}

#[cfg(feature = "tracing")]
impl ActiveSpan {
    fn new(call: &ToolCall, tool: Option<&ToolSpec>) -> Option<Box<ActiveSpan>> {
        use tracing::Level;
        use tracing::field::Empty;
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
        // A name that a model made up is none for a span: there is no end of them.
        if tool.is_some() && !span.is_disabled() {
            span.record("otel.name", ["execute_tool ", &call.name].concat());
        }
        let is_awaited = tracing::enabled!(target: "tool_core", Level::ERROR);
        let awaited = is_awaited.then(|| {
            let arguments = tracing::enabled!(target: "tool_core", Level::DEBUG);
            Awaited {
                begun: std::time::Instant::now(),
                name: messages::name(&call.name).into_owned(),
                call_id: call.id.clone(),
                arguments_bytes: call.arguments.bytes(),
                arguments: arguments.then(|| call.arguments.clone().into_text()),
            }
        });
        let is_heard = awaited.is_some() || !span.is_disabled();
        is_heard.then(|| {
            Box::new(ActiveSpan {
                span,
                awaited,
                is_told: false,
            })
        })
    }

    fn failed(&self, kind: ToolErrorKind) {
        self.span.record("error.type", kind.as_str());
        self.span.record("otel.status_code", "ERROR");
    }

    fn tell(&self, result: &ToolResult) {
        if let Some(error) = result.error() {
            self.failed(error.kind());
        }
        if let Some(awaited) = &self.awaited {
            self.span.in_scope(|| match result.error() {
                Some(error) => failed(awaited, result, error),
                None => succeeded(awaited, result),
            });
        }
    }
}

/// The future of a call was dropped: it has no result, and an event all the same.
#[cfg(feature = "tracing")]
impl Drop for ActiveSpan {
    fn drop(&mut self) {
        if self.is_told {
            return;
        }
        self.failed(ToolErrorKind::Cancelled);
        if let Some(awaited) = &self.awaited {
            self.span.in_scope(|| dropped(awaited));
        }
    }
}

/// An event at the end of a call. What all have in common is said here.
#[cfg(feature = "tracing")]
macro_rules! event {
    ($level:ident, $awaited:expr, { $($fields:tt)* }, $($words:tt)+) => {
        tracing::$level!(
            target: "tool_core",
            {
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = $awaited.name,
                gen_ai.tool.call.id = $awaited.call_id,
                gen_ai.execute_tool.duration = $awaited.begun.elapsed().as_secs_f64(),
                arguments.bytes = $awaited.arguments_bytes,
                $($fields)*
            },
            $($words)+
        )
    };
}

/// One event, at the level of information.
#[cfg(feature = "tracing")]
fn succeeded(awaited: &Awaited, result: &ToolResult) {
    event!(
        info,
        awaited,
        {
            result.bytes = result.content().len(),
            coercions = result.coercions().len(),
        },
        "done"
    );
}

/// One event: a tool that failed is the operator's business (an error), a call that was refused
/// the model's (a warning).
#[cfg(feature = "tracing")]
#[cold]
fn failed(awaited: &Awaited, result: &ToolResult, error: &ToolError) {
    use ToolErrorKind::{Failed, Panicked, TimedOut, Unavailable};

    macro_rules! failure {
        ($level:ident) => {
            event!(
                $level,
                awaited,
                {
                    "error.type" = error.kind().as_str(),
                    reference = error.id(),
                    retryable = error.is_retryable(),
                    result.bytes = result.content().len(),
                    coercions = result.coercions().len(),
                    causes = causes(error),
                    gen_ai.tool.call.arguments = awaited.arguments,
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

/// One event: nobody waited for the end.
#[cfg(feature = "tracing")]
#[cold]
fn dropped(awaited: &Awaited) {
    event!(
        warn,
        awaited,
        {
            "error.type" = ToolErrorKind::Cancelled.as_str(),
            gen_ai.tool.call.arguments = awaited.arguments,
        },
        "the future of the call was dropped before its end"
    );
}

/// What the model was not told: the payload of a panic, and the sources of an error from the
/// outside in.
#[cfg(feature = "tracing")]
fn causes(error: &ToolError) -> Option<String> {
    use std::error::Error;
    let mut causes = Vec::new();
    if !error.detail().is_empty() {
        causes.push(error.detail().to_owned());
    }
    let mut source = error.source();
    while let Some(cause) = source {
        let text = panic_payload::displayed(cause);
        // The outermost error is the message itself, or at the end of that of an earlier error.
        let before = causes.last().map_or(error.original_message(), |text| text);
        if !before.contains(&text) {
            causes.push(text);
        }
        source = cause.source();
    }
    (!causes.is_empty()).then(|| causes.join(": "))
}

/// One event for each rule that the tools of a request break, and for each that is left out.
#[cfg(feature = "tracing")]
pub(crate) fn rendered(rendered: &Rendered) {
    for broken in rendered.broken_rules() {
        tracing::warn!(target: "tool_core", rule = broken.rule.id, "{}", broken.message);
    }
    for refused in rendered.refused() {
        tracing::warn!(target: "tool_core", "{}", refused.message);
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn rendered(_: &Rendered) {}

#[cfg(not(feature = "tracing"))]
pub(crate) struct Telemetry(Scope);

#[cfg(not(feature = "tracing"))]
#[derive(Clone)]
pub(crate) struct Scope;

#[cfg(not(feature = "tracing"))]
#[allow(clippy::unused_self)] // The other one does something with it.
impl Scope {
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }
}

#[cfg(not(feature = "tracing"))]
#[allow(clippy::unused_self)]
impl Telemetry {
    pub(crate) fn new(_call: &ToolCall, _tool: Option<&ToolSpec>) -> Telemetry {
        Telemetry(Scope)
    }

    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }

    pub(crate) fn scope(&self) -> Scope {
        self.0.clone()
    }

    pub(crate) fn instrument<F: Future>(&self, running: F) -> F {
        running
    }

    pub(crate) fn ended(self, _result: &ToolResult) {}
}
