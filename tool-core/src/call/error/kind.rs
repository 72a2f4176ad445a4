//! [`ToolErrorKind`]: the kinds of failures of a call.

use std::fmt;

/// The kinds of failures of a call.
///
/// ```
/// use tool_core::{Registry, ToolCall, ToolErrorKind};
///
/// let result = Registry::new().call_blocking(ToolCall::new("call_1", "get_time", ""));
/// let kind = result.error().unwrap().kind();
/// assert_eq!(kind, ToolErrorKind::UnknownTool);
/// assert_eq!(kind.as_str(), "unknown_tool");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The registry has no tool with this name.
    UnknownTool,
    /// The arguments are not JSON.
    MalformedJson,
    /// The arguments do not match the tool's schema.
    InvalidArguments,
    /// The tool returned an error.
    Failed,
    /// The tool ran, but its result does not match its output schema or can't be written as JSON.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// The average of the numbers.
    /// #[tool]
    /// fn average(numbers: Vec<f64>) -> f64 {
    ///     numbers.iter().sum::<f64>() / numbers.len() as f64
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![average]).build()?;
    /// let call = ToolCall::new("call_1", "average", r#"{"numbers":[]}"#);
    /// let result = registry.call_blocking(call);
    /// let error = result.error().unwrap();
    /// assert_eq!(error.kind(), ToolErrorKind::InvalidResult);
    /// // For the log. JSON has no NaN.
    /// assert_eq!(error.detail(), "expected a number, got null");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    InvalidResult,
    /// The tool or a hook panicked.
    Panicked,
    /// The tool did not finish within its timeout.
    TimedOut,
    /// The application cancelled the call.
    Cancelled,
    /// A hook, or the person who decided on a held call, denied the call.
    Denied,
    /// A hook holds the call until somebody decides on it.
    Held,
    /// The program stopped while the tool ran. It may have had an effect.
    Interrupted,
    /// A context value or the async runtime is missing.
    Unavailable,
}

impl ToolErrorKind {
    /// Returns a stable name for logs and metrics, such as `invalid_arguments`: OpenTelemetry's
    /// `error.type`.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolErrorKind::UnknownTool => "unknown_tool",
            ToolErrorKind::MalformedJson => "malformed_json",
            ToolErrorKind::InvalidArguments => "invalid_arguments",
            ToolErrorKind::Failed => "failed",
            ToolErrorKind::InvalidResult => "invalid_result",
            ToolErrorKind::Panicked => "panicked",
            ToolErrorKind::TimedOut => "timed_out",
            ToolErrorKind::Cancelled => "cancelled",
            ToolErrorKind::Denied => "denied",
            ToolErrorKind::Held => "held",
            ToolErrorKind::Interrupted => "interrupted",
            ToolErrorKind::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for ToolErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
