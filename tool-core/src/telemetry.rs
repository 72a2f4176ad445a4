//! Telemetry: a `tracing` span around each call and an event when it ends.
//!
//! Names follow OpenTelemetry's semantic conventions for generative AI (open-telemetry/
//! semantic-conventions-genai, read on 2026-11-23; `model/gen-ai/spans.yaml`, `execute_tool`).
//!
//! - The span `execute_tool` has what is known about the call. A subscriber that prints events prints the
//!   fields of the span with them, so the event has what the span lacks: the duration (in seconds) and the
//!   lengths of the arguments and the result (in bytes). If no subscriber takes the span, the event has the names too.
//! - The event of a failed call has the name `exception` and the attributes of an exception
//!   (open-telemetry/semantic-conventions, `docs/exceptions/exceptions-logs.md`), which bridges to the logs
//!   of OpenTelemetry keep, and bridges to the events of spans too.
//! - `otel.name` and `otel.status_code` are for bridges to OpenTelemetry.
//! - Arguments and results are recorded only on request, without secrets; see [`secrets`].
//!
//! Without a subscriber, nothing is formatted and no clock is read.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;
#[cfg(feature = "tracing")]
mod secrets;

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::{Scope, Telemetry, noted, rendered, requested};
#[cfg(feature = "tracing")]
pub(crate) use enabled::{Scope, Telemetry, TraceParent, noted, rendered, requested};

/// The settings of a registry.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    /// The most bytes of arguments, and of a result, that the span records; `None` records neither.
    #[cfg(feature = "tracing")]
    pub(crate) content: Option<usize>,
    #[cfg(feature = "tracing")]
    pub(crate) trace_parent: Option<TraceParent>,
}
