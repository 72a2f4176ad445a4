//! What an operator sees of a call: a span around it, and an event when it ended.
//!
//! Names follow OpenTelemetry's semantic conventions for generative AI: a span `execute_tool`
//! with `gen_ai.tool.name`, `gen_ai.tool.call.id` and `error.type`. The event has the same, with
//! how long the call took and how long its text is, so that a subscriber can make metrics of it.
//! Where nobody listens, nothing is put into words and no clock is read.

use std::future::Future;

use crate::call::{ToolCall, ToolResult};
use crate::dialect::Rendered;
use crate::spec::ToolSpec;

#[cfg(feature = "tracing")]
pub(crate) struct Telemetry {
    scope: Scope,
    /// When the call began, where somebody wants to know.
    begun: Option<std::time::Instant>,
    /// Kept for the event of a failed call, when somebody listens at debug level.
    arguments: Option<String>,
    is_told: bool,
}

/// The span of a call, for another thread too.
#[cfg(feature = "tracing")]
#[derive(Clone)]
pub(crate) struct Scope(tracing::Span);

#[cfg(feature = "tracing")]
impl Scope {
    /// Runs a sync tool inside of the span.
    pub(crate) fn run<T>(&self, run: impl FnOnce() -> T) -> T {
        self.0.in_scope(run)
    }
}

#[cfg(feature = "tracing")]
impl Telemetry {
    pub(crate) fn new(call: &ToolCall, tool: Option<&ToolSpec>) -> Telemetry {
        use tracing::Level;
        use tracing::field::Empty;
        let span = tracing::info_span!(
            "execute_tool",
            "otel.name" = Empty,
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = call.name,
            "gen_ai.tool.call.id" = call.id,
            "gen_ai.tool.type" = "function",
            "gen_ai.tool.description" = tool.map(|tool| &*tool.description),
            "error.type" = Empty,
        );
        if !span.is_disabled() {
            span.record("otel.name", ["execute_tool ", &call.name].concat());
        }
        let begun = tracing::enabled!(target: "tool_core", Level::ERROR);
        let arguments = tracing::enabled!(target: "tool_core", Level::DEBUG);
        Telemetry {
            scope: Scope(span),
            begun: begun.then(std::time::Instant::now),
            arguments: arguments.then(|| call.arguments.clone().into_text()),
            is_told: false,
        }
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Runs an async tool inside of the span.
    pub(crate) fn instrument<F: Future>(
        &self,
        running: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        tracing::Instrument::instrument(running, self.scope.0.clone())
    }

    /// Tells how a call ended.
    pub(crate) fn ended(mut self, result: &ToolResult) {
        self.is_told = true;
        let Telemetry {
            scope,
            begun,
            arguments,
            ..
        } = &self;
        if let Some(error) = result.error() {
            scope.0.record("error.type", error.kind().as_str());
        }
        let Some(begun) = begun else { return };
        let duration = begun.elapsed().as_secs_f64();
        scope.run(|| match result.error() {
            Some(error) => failed(result, error, duration, arguments.as_deref()),
            None => succeeded(result, duration),
        });
    }
}

/// The future of a call was dropped: it has no result, and an event all the same.
#[cfg(feature = "tracing")]
impl Drop for Telemetry {
    fn drop(&mut self) {
        if self.is_told {
            return;
        }
        self.scope.0.record("error.type", "cancelled");
        let duration = self.begun.map(|begun| begun.elapsed().as_secs_f64());
        self.scope.run(|| {
            tracing::warn!(
                target: "tool_core",
                { "error.type" = "cancelled", duration },
                "the future of a call was dropped before its end"
            );
        });
    }
}

/// One event, at the level of information.
#[cfg(feature = "tracing")]
fn succeeded(result: &ToolResult, duration: f64) {
    tracing::info!(
        target: "tool_core",
        {
            gen_ai.tool.name = result.name(),
            gen_ai.tool.call.id = result.call_id(),
            duration,
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
fn failed(
    result: &ToolResult,
    error: &crate::error::ToolError,
    duration: f64,
    arguments: Option<&str>,
) {
    use crate::error::ToolErrorKind::{Failed, Panicked, TimedOut, Unavailable};

    macro_rules! event {
        ($level:ident) => {
            tracing::$level!(
                target: "tool_core",
                {
                    reference = error.id(),
                    gen_ai.tool.name = result.name(),
                    gen_ai.tool.call.id = result.call_id(),
                    "error.type" = error.kind().as_str(),
                    retryable = error.is_retryable(),
                    duration,
                    result.bytes = result.content().len(),
                    causes = causes(error),
                    gen_ai.tool.call.arguments = arguments,
                },
                "{}",
                error.message()
            )
        };
    }

    match error.kind() {
        Failed | Panicked | TimedOut | Unavailable => event!(error),
        _ => event!(warn),
    }
}

/// What the model was not told: the payload of a panic, and the sources of an error from the
/// outside in.
#[cfg(feature = "tracing")]
fn causes(error: &crate::error::ToolError) -> Option<String> {
    use std::error::Error;
    let mut causes = Vec::new();
    if !error.detail().is_empty() {
        causes.push(error.detail().to_owned());
    }
    let mut source = error.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        // The outermost error is the message itself.
        if !(causes.is_empty() && error.message().contains(&text)) {
            causes.push(text);
        }
        source = cause.source();
    }
    (!causes.is_empty()).then(|| causes.join(": "))
}

/// One event for each rule that the tools of a request break.
#[cfg(feature = "tracing")]
pub(crate) fn rendered(rendered: &Rendered) {
    for broken in rendered.broken_rules() {
        tracing::warn!(target: "tool_core", rule = broken.rule.id, "{}", broken.message);
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

    pub(crate) fn scope(&self) -> &Scope {
        &self.0
    }

    pub(crate) fn instrument<F: Future>(&self, running: F) -> F {
        running
    }

    pub(crate) fn ended(self, _result: &ToolResult) {}
}
