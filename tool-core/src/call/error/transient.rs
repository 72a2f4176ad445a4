//! [`Transient`]: a temporary error.

use std::error::Error;
use std::fmt;

/// A temporary error: retrying the same call may succeed.
///
/// A tool returns it to tell the model and the application, through
/// [`ToolError::is_retryable`](crate::ToolError::is_retryable). It displays as the error it wraps.
///
/// ```
/// use tool_core::call::Transient;
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// The temperature, in degrees Celsius.
/// #[tool]
/// fn get_temperature() -> Result<f64, Transient> {
///     Err(Transient::new("the sensor is busy"))
/// }
///
/// let registry = Registry::builder().tools(tools![get_temperature]).build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "get_temperature", ""));
/// assert!(result.error().unwrap().is_retryable());
/// assert!(result.content().ends_with("the sensor is busy; retrying the same call may succeed"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Debug)]
pub struct Transient(Box<dyn Error + Send + Sync>);

impl Transient {
    /// Marks an error as temporary.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Transient {
        Transient(error.into())
    }
}

impl fmt::Display for Transient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Transient {
    /// Returns the source of the wrapped error, because the wrapped error is displayed already.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
