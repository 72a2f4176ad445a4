//! [`ProtocolError`]: an error of a tool that is one of the protocol.

use std::error::Error;
use std::fmt;

use serde_json::Value;

/// An error that a tool returns to end its call with an error of the protocol, in place of a result that the
/// model reads.
///
/// ```
/// use tool_core::tool;
/// use tool_mcp::server::ProtocolError;
///
/// /// Reads a file.
/// #[tool]
/// fn read_file(path: &str) -> Result<String, ProtocolError> {
///     Err(ProtocolError::new(-32002, format!("{path} does not exist")))
/// }
/// # let _ = read_file;
/// ```
#[derive(Clone, Debug)]
pub struct ProtocolError {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Value>,
}

impl ProtocolError {
    /// Creates an error with a code of JSON-RPC or MCP, such as -32602 for invalid parameters.
    pub fn new(code: i32, message: impl Into<String>) -> ProtocolError {
        ProtocolError {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Adds data.
    pub fn data(mut self, data: Value) -> ProtocolError {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ProtocolError {}
