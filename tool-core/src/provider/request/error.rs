//! [`RequestError`]: settings that contradict each other or the tools.

use std::error::Error;
use std::fmt;

/// The settings of a request contradict each other or the tools.
///
/// ```
/// use tool_core::dialect::ToolChoice;
/// use tool_dialects::Anthropic;
/// use tool_core::{Registry, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let dialect = Anthropic::default();
/// let request = registry.request(&dialect).choice(ToolChoice::tool("ad"));
/// let error = request.build().unwrap_err();
/// assert_eq!(error.to_string(), "the request has no tool ad; did you mean add?");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RequestError {
    message: String,
}

impl RequestError {
    pub(in crate::provider) fn new(message: impl Into<String>) -> RequestError {
        RequestError {
            message: message.into(),
        }
    }
}

/// The message, because `main` may return the error.
impl fmt::Debug for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for RequestError {}
