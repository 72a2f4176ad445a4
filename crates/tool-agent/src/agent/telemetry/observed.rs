//! [`Observed`]: the agent that spans and records describe.

use tool_core::Registry;

#[cfg(feature = "tracing")]
use super::links::TraceLinks;

/// The parts of an agent that spans and records show or need.
#[derive(Clone, Copy)]
pub(crate) struct Observed<'a> {
    /// Has the observers, and knows the secrets of calls.
    pub(crate) registry: &'a Registry,
    /// The provider's name in OpenTelemetry.
    pub(crate) provider: &'a str,
    pub(crate) model: Option<&'a str>,
    #[cfg(feature = "tracing")]
    pub(crate) links: Option<&'a TraceLinks>,
    /// Maximum number of bytes of messages in a span.
    #[cfg(feature = "tracing")]
    pub(crate) content: Option<usize>,
}
