//! [`Message`] and [`Reply`]: what a client and a conversation send each other.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_agent::run::{Increment, RunOutcome};

/// A message of the user.
///
/// ```
/// use tool_restate::Message;
///
/// let message = Message::new("Pay invoice 17.").owner("user-7").key("form-4711");
/// # let _ = message;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[must_use]
pub struct Message {
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) meta: Value,
    #[serde(skip)]
    pub(crate) key: Option<String>,
}

impl Message {
    /// Creates a message with this text.
    pub fn new(text: impl Into<String>) -> Message {
        Message {
            text: text.into(),
            owner: None,
            meta: Value::Null,
            key: None,
        }
    }

    /// Sets the user who owns the conversation. The first message decides, and messages in the name of another user are
    /// refused. The ingress believes every sender, so only your own programs may send to it.
    pub fn owner(mut self, user: impl Into<String>) -> Self {
        self.owner = Some(user.into());
        self
    }

    /// Sets data of the application. It is saved by the first message of a conversation.
    pub fn meta(mut self, meta: impl Into<Value>) -> Self {
        self.meta = meta.into();
        self
    }

    /// Sets a key that identifies the message. If you send it again after a connection broke, Restate ignores the copy.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// The reply to a message; see [`Client::send`](crate::Client::send).
///
/// ```
/// use tool_agent::run::RunOutcome;
/// use tool_restate::Reply;
///
/// fn show(reply: &Reply) -> String {
///     let text = match &reply.outcome {
///         RunOutcome::Answered(text) => text.clone(),
///         other => format!("the conversation ended: {}", other.as_str()),
///     };
///     match reply.in_background {
///         0 => text,
///         count => format!("{text} ({count} calls go on)"),
///     }
/// }
/// # let _ = show;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// How the turn of the model ended.
    pub outcome: RunOutcome,
    /// The number of background calls without a result, including calls that wait for a decision. When the results
    /// come, the conversation continues by itself.
    pub in_background: usize,
}

/// The saved parts of a run, starting at one of them.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    /// The number of parts.
    pub(crate) parts: u64,
    pub(crate) increments: Vec<Increment>,
}
