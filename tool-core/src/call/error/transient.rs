//! [`Transient`]: an error that may pass.

use std::error::Error;
use std::fmt;

/// What a model is told when the same call may do better another time.
pub(crate) const AGAIN: &str = "; the same call may do better when it is made again";

/// An error that may pass: the same call may do better another time.
///
/// A tool that returns it says so to the model, and to the application by
/// [`ToolError::is_retryable`](crate::ToolError::is_retryable). It displays as the error that it holds.
///
/// ```
/// use tool_core::{Registry, ToolCall, Transient, tool, tools};
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
/// assert!(result.content().contains("the sensor is busy; the same call may do better"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Debug)]
pub struct Transient(Box<dyn Error + Send + Sync>);

impl Transient {
    /// An error that may pass.
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
    /// Not the error that it displays as, but what is behind it.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
