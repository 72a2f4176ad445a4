//! Telemetry: a `tracing` span around each call and an event when it ends.
//!
//! Names follow OpenTelemetry's semantic conventions for generative AI: a span `execute_tool` with
//! `gen_ai.tool.name`, `gen_ai.tool.call.id` and `error.type`. The event repeats these and adds the
//! duration of the call (in seconds) and the lengths of its texts (in bytes), so that a subscriber
//! can derive metrics. `otel.name` and `otel.status_code` are for bridges to OpenTelemetry. Without
//! a subscriber, nothing is formatted and no clock is read.

#[cfg(not(feature = "tracing"))]
mod disabled;
#[cfg(feature = "tracing")]
mod enabled;

#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::{Scope, Telemetry, rendered, requested};
#[cfg(feature = "tracing")]
pub(crate) use enabled::{Scope, Telemetry, rendered, requested};
