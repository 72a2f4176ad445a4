//! [`Unanswered`]: what a response asks the application for, other than by calls.

use std::fmt;

use serde_json::Value;

use crate::call::ToolCall;
use crate::schema::messages::shorten;

/// A part of a response that expects an answer of the application and is no call: a command for the application's shell, a
/// request to approve the call of a hosted tool, or something that is newer than this version.
///
/// [`Registry::claim`](crate::Registry::claim) makes a call of it, if a tool of the registry
/// [provides](macro@crate::tool#trained-tools) what it asks for. Otherwise the
/// next request is invalid without the answer, whose form only the provider's documentation has. What is read as such
/// is among the [rules](crate::rules), as `openai.responses.answers`, and so is what happens with parts that are newer.
/// `Debug` does not show the item, whose arguments may be secret.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::OpenAiResponses;
///
/// let call = json!({"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed",
///     "action": {"commands": ["uptime"]}});
/// let turn = OpenAiResponses::default().read(&json!({"output": [call]}))?;
/// assert!(turn.calls.is_empty());
/// let asked = &turn.unanswered[0];
/// assert_eq!((&*asked.kind, asked.id.as_deref()), ("shell_call", Some("call_1")));
/// assert_eq!(asked.item["action"]["commands"][0], "uptime");
/// # Ok::<(), tool_core::dialect::ResponseError>(())
/// ```
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Unanswered {
    /// The provider's word for what it asks, such as `mcp_approval_request`.
    pub kind: String,
    /// The id that the answer repeats, if there is one.
    pub id: Option<String>,
    /// The part of the response as it came.
    pub item: Value,
}

impl Unanswered {
    /// Creates one, for your own [`Dialect`](crate::dialect::Dialect).
    pub fn new(kind: impl Into<String>, id: Option<String>, item: Value) -> Unanswered {
        Unanswered {
            kind: kind.into(),
            id,
            item,
        }
    }

    /// Creates one for an item that has its kind under `type`.
    pub fn of(item: &Value, id: Option<&str>) -> Unanswered {
        let kind = item["type"].as_str().unwrap_or("an item without a type");
        Unanswered::new(kind, id.map(str::to_owned), item.clone())
    }
}

impl fmt::Debug for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unanswered")
            .field("kind", &self.kind)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Writes the kind, and the id in brackets.
impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", shorten(&self.kind))?;
        match &self.id {
            Some(id) => write!(f, " ({:?})", shorten(id)),
            None => Ok(()),
        }
    }
}

/// An unanswered item that can be a call, if a tool of the registry provides the provider's tool.
///
/// ```
/// use tool_core::ToolCall;
/// use tool_core::dialect::Turn;
/// use tool_core::dialect::write::Offered;
///
/// let mut turn = Turn::new(Vec::new());
/// let call = ToolCall::new("1", "", r#"{"command":"ls"}"#);
/// turn.offered.push(Offered { asked: 0, tool: ("custom", "shell_1"), call });
/// ```
#[derive(Clone, PartialEq)]
pub struct Offered {
    /// The position in [`Turn::unanswered`](crate::dialect::Turn::unanswered).
    pub asked: usize,
    /// The provider and the type of its tool, as in [`Trained`](crate::spec::Trained).
    pub tool: (&'static str, &'static str),
    /// The call, without a name.
    pub call: ToolCall,
}
