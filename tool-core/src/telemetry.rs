//! What an operator sees of a call: a span, and an event when it failed.
//!
//! Names follow OpenTelemetry's semantic conventions for generative AI: a span `execute_tool`
//! with `gen_ai.tool.name`, `gen_ai.tool.call.id` and `error.type`.

use std::future::Future;

use crate::call::{ToolCall, ToolResult};
use crate::dialect::Rendered;

#[cfg(feature = "tracing")]
pub(crate) struct Telemetry {
    span: tracing::Span,
    /// Kept for the event of a failed call, when somebody listens at debug level.
    arguments: Option<String>,
}

#[cfg(feature = "tracing")]
impl Telemetry {
    pub(crate) fn new(call: &ToolCall) -> Telemetry {
        use tracing::field::Empty;
        let span = tracing::info_span!(
            "execute_tool",
            "otel.name" = Empty,
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = call.name,
            "gen_ai.tool.call.id" = call.id,
            "error.type" = Empty,
        );
        if !span.is_disabled() {
            span.record(
                "otel.name",
                format_args!("execute_tool {}", call.name).to_string(),
            );
        }
        let arguments = tracing::enabled!(target: "tool_core", tracing::Level::DEBUG)
            .then(|| call.arguments.clone().into_text());
        Telemetry { span, arguments }
    }

    /// Runs a sync tool inside of the span.
    pub(crate) fn in_scope<T>(&self, run: impl FnOnce() -> T) -> T {
        self.span.in_scope(run)
    }

    /// Runs an async tool inside of the span.
    pub(crate) fn instrument<F: Future>(&self, running: F) -> impl Future<Output = F::Output> {
        tracing::Instrument::instrument(running, self.span.clone())
    }

    /// Tells how a call ended, if it failed.
    pub(crate) fn ended(&self, result: &ToolResult) {
        if let Some(error) = result.error() {
            self.span.record("error.type", error.kind().as_str());
            self.span
                .in_scope(|| report(result, error, self.arguments.as_deref()));
        }
    }
}

/// One event: a tool that failed is the operator's business (an error), a call that was refused
/// the model's (a warning).
#[cfg(feature = "tracing")]
#[cold]
fn report(result: &ToolResult, error: &crate::error::ToolError, arguments: Option<&str>) {
    use crate::error::ToolErrorKind::{Failed, Panicked};

    macro_rules! event {
        ($level:ident) => {
            tracing::$level!(
                target: "tool_core",
                {
                    reference = error.id(),
                    gen_ai.tool.name = result.name(),
                    gen_ai.tool.call.id = result.call_id(),
                    "error.type" = error.kind().as_str(),
                    causes = causes(error),
                    gen_ai.tool.call.arguments = arguments,
                },
                "{}",
                error.message()
            )
        };
    }

    match error.kind() {
        Failed | Panicked => event!(error),
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
        if !(causes.is_empty() && error.message().ends_with(&text)) {
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
pub(crate) struct Telemetry;

#[cfg(not(feature = "tracing"))]
#[allow(clippy::unused_self)] // The other one does something with it.
impl Telemetry {
    pub(crate) fn new(_call: &ToolCall) -> Telemetry {
        Telemetry
    }

    pub(crate) fn in_scope<T>(&self, run: impl FnOnce() -> T) -> T {
        run()
    }

    pub(crate) fn instrument<F: Future>(&self, running: F) -> F {
        running
    }

    pub(crate) fn ended(&self, _result: &ToolResult) {}
}
