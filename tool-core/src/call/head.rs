//! [`CallHead`]: identifies a call in its result.

/// A call without its arguments.
#[derive(Clone, Default)]
pub(crate) struct CallHead {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) wire_id: WireId,
    /// Set if the model called `call_tool` with the name of the tool.
    pub(crate) is_wrapped: bool,
}

/// The tool that calls another one, in place of deferred tools.
pub(crate) const CALL_TOOL: &str = "call_tool";

/// The form of a call, and of its id, in the provider's message. The result has the same form.
///
/// ```
/// use tool_core::ToolCall;
/// use tool_core::dialect::write::WireId;
///
/// let call = ToolCall::new("7", "roll_die", "{}").with_wire_id(WireId::Number);
/// assert_eq!(call.wire_id(), WireId::Number);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WireId {
    /// A string.
    #[default]
    Text,
    /// A string, of a call whose arguments are free-form text.
    Custom,
    /// A JSON number, as JSON-RPC allows.
    Number,
    /// Missing, as in Gemini's calls. The id of the call is made up.
    Absent,
}
