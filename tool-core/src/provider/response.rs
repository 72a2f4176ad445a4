//! [`ResponseError`]: a response that can't be read.

use std::error::Error;
use std::fmt;

/// The JSON is not the expected response, so that no calls can be read.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Anthropic;
///
/// let response = json!({"type": "error", "error": {"message": "Overloaded"}});
/// let error = Anthropic::default().read(&response).unwrap_err();
/// assert!(error.to_string().contains("Overloaded"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ResponseError {
    message: String,
    is_incomplete: bool,
}

impl ResponseError {
    /// Creates an error, for your own [`Dialect`](crate::dialect::Dialect).
    pub fn new(message: impl Into<String>) -> ResponseError {
        ResponseError {
            message: message.into(),
            is_incomplete: false,
        }
    }

    /// Creates the error of a stream that ended before the response did, for your own
    /// [`StreamReader`](crate::dialect::StreamReader).
    pub fn incomplete(message: impl Into<String>) -> ResponseError {
        ResponseError {
            is_incomplete: true,
            ..ResponseError::new(message)
        }
    }

    /// Returns `true` if the stream ended before the response did, so that the same request may succeed.
    ///
    /// ```
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Anthropic;
    ///
    /// let error = Anthropic::default().stream().finish().unwrap_err();
    /// assert!(error.is_incomplete());
    /// ```
    pub fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }
}

/// The message, because `main` may return the error.
impl fmt::Debug for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ResponseError {}
