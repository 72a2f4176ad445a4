//! What an operator sees of a call: a span, and an event when it failed.
//!
//! Names follow OpenTelemetry's semantic conventions for generative AI: a span `execute_tool`
//! with `gen_ai.tool.name`, `gen_ai.tool.call.id` and `error.type`.

use std::future::Future;

use crate::call::{ToolCall, ToolResult};

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
            span.record("otel.name", format_args!("execute_tool {}", call.name).to_string());
        }
        let arguments = tracing::enabled!(target: "tool_core", tracing::Level::DEBUG)
            .then(|| call.arguments.clone().into_text());
        Telemetry { span, arguments }
    }

    pub(crate) async fn observe(self, running: impl Future<Output = ToolResult>) -> ToolResult {
        use tracing::Instrument;
        let result = running.instrument(self.span.clone()).await;
        if let Some(error) = result.error() {
            self.span.record("error.type", error.kind().as_str());
            self.span.in_scope(|| report(&result, error, self.arguments.as_deref()));
        }
        result
    }
}

/// One event: a tool that failed is the operator's business (an error), a call that was refused
/// the model's (a warning).
#[cfg(feature = "tracing")]
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
                    causes = %Causes(error),
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

/// The detail and the chain of sources of an error, from the outside in.
#[cfg(feature = "tracing")]
struct Causes<'a>(&'a crate::error::ToolError);

#[cfg(feature = "tracing")]
impl std::fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::error::Error;
        f.write_str(self.0.detail())?;
        let mut cause = self.0.source();
        let mut separator = if self.0.detail().is_empty() { "" } else { ": " };
        while let Some(error) = cause {
            write!(f, "{separator}{error}")?;
            separator = ": ";
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(not(feature = "tracing"))]
pub(crate) struct Telemetry;

#[cfg(not(feature = "tracing"))]
impl Telemetry {
    pub(crate) fn new(_call: &ToolCall) -> Telemetry {
        Telemetry
    }

    pub(crate) async fn observe(self, running: impl Future<Output = ToolResult>) -> ToolResult {
        running.await
    }
}
