//! [`CallPosition`]: which call of a conversation this is.

use std::fmt;

/// The position of a call in a conversation: its round, its place among the calls of that round, and for a
/// nested call its place among the calls of its parent. All count from 0.
///
/// The model chooses ids, so it may repeat or omit them. A position identifies a call, and its result has
/// the same position. A `Run` of the crate `tool-agent` sets it. `Display` writes the numbers with slashes
/// between them.
///
/// ```
/// use tool_core::call::CallPosition;
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let registry = Registry::builder().tools(tools![roll_die]).build()?;
/// let position = CallPosition::new(0, 1);
/// let call = ToolCall::new("call_1", "roll_die", "").at(position.clone());
/// let result = registry.call_blocking(call);
/// assert_eq!(result.position(), Some(&position));
/// assert_eq!(position.to_string(), "0/1");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CallPosition {
    round: u32,
    index: u32,
    /// The places of the nested calls that lead to this one.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    nested: Vec<u32>,
}

impl CallPosition {
    /// Creates the position of a call that the model made.
    pub fn new(round: u32, index: u32) -> CallPosition {
        CallPosition {
            round,
            index,
            nested: Vec::new(),
        }
    }

    /// Returns the number of responses in the conversation before the one with the call.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// Returns the number of calls before this one, or before its outermost parent, in the same response.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns `true` if a tool made the call.
    pub fn is_nested(&self) -> bool {
        !self.nested.is_empty()
    }

    /// Returns the position of a call that this call makes.
    pub(crate) fn of_nested(&self, index: u32) -> CallPosition {
        let mut nested = self.clone();
        nested.nested.push(index);
        nested
    }
}

impl fmt::Display for CallPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.round, self.index)?;
        self.nested
            .iter()
            .try_for_each(|index| write!(f, "/{index}"))
    }
}
