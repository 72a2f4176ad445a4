//! [`Message`]: a message of a conversation in no provider's format.

use crate::call::ToolCall;
use crate::content::Content;

/// A message of a conversation in no provider's format. [`Dialect::write_message`](crate::dialect::Dialect::write_message)
/// writes it.
///
/// ```
/// use tool_core::content::{Content, Image};
/// use tool_core::dialect::{Dialect, Message};
/// use tool_dialects::Anthropic;
///
/// // A question with a picture.
/// let question = Message::User(vec![Content::text("What is it?"), Image::png(b"\x89PNG").into()]);
/// let messages = Anthropic::default().write_message(&question).unwrap();
/// assert_eq!(messages[0]["content"][1]["source"]["media_type"], "image/png");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// A system prompt.
    System(String),
    /// A message of the user.
    User(Vec<Content>),
    /// A turn of the model. [`Dialect::results`](crate::dialect::Dialect::results) writes the results of its calls.
    Model {
        /// The text before the calls.
        text: String,
        /// The calls, which are written as calls of functions.
        calls: Vec<ToolCall>,
    },
}
