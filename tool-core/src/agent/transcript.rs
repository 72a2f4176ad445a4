//! What was said and done.

use serde_json::Value;

use crate::call::{ToolCall, ToolResult};

/// A conversation: the messages that a model is sent, and what each round came to.
///
/// ```
/// use serde_json::json;
/// use tool_core::agent::Transcript;
///
/// let mut transcript = Transcript::new();
/// transcript.push(json!({"role": "user", "content": "What time is it?"}));
/// assert_eq!(transcript.messages().len(), 1);
/// assert!(transcript.rounds().is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Transcript {
    messages: Vec<Value>,
    rounds: Vec<Round>,
}

/// One request and what came of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Round {
    /// The calls of the response; none in the last round of a run that ended with an answer, and in
    /// one in which the provider paused.
    pub calls: Vec<ToolCall>,
    /// Their results, in the same order.
    pub results: Vec<ToolResult>,
    /// What the model said beside its calls.
    pub text: String,
}

impl Transcript {
    /// A conversation that has yet to begin.
    pub fn new() -> Transcript {
        Transcript::default()
    }

    /// Adds a message or an item in the provider's own form, such as the user's next question.
    pub fn push(&mut self, message: Value) {
        self.messages.push(message);
    }

    /// What the next request sends, in the provider's own form.
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// Every round so far, in order, over all runs.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    pub(super) fn add(&mut self, round: Round, follow_up: Vec<Value>) {
        self.messages.extend(follow_up);
        self.rounds.push(round);
    }
}

impl FromIterator<Value> for Transcript {
    fn from_iter<I: IntoIterator<Item = Value>>(messages: I) -> Self {
        Transcript {
            messages: messages.into_iter().collect(),
            rounds: Vec::new(),
        }
    }
}
