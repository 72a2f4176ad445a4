//! What both sides know: the tool of a helper, its questions and answers.

use serde::{Deserialize, Serialize};
use tool_core::ToolType;

/// The variable with the number of levels of helpers that a helper may have below it.
pub(super) const VARIABLE: &str = "TOOL_MCP_SUBMODEL";

/// The tool of a helper.
pub(super) const ASK: &str = "ask";

/// A question to a helper model.
#[derive(Debug, ToolType)]
pub(super) struct Question {
    /// The question, with everything that is needed to answer it: helpers see nothing else.
    pub(super) question: String,
    /// The name of a helper that remembers its earlier questions. Any new name starts one. Without a name, a
    /// helper without memory answers.
    #[param(length = 1..=64)]
    pub(super) helper: Option<String>,
}

/// The answer to a question, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToolType)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// The answer of the helper.
    Answer(String),
    /// Why there is no answer.
    Error(String),
}

/// A helper that keeps its conversation.
#[derive(Debug, Serialize, ToolType)]
pub(super) struct Listed {
    /// Its name.
    pub(super) helper: String,
    /// How many questions it has answered.
    pub(super) answered: u32,
    pub(super) state: State,
}

/// The state of a helper.
#[derive(Debug, Serialize, ToolType)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It waits for a question.
    Ready,
    /// It answers a question, or has one waiting.
    Answering,
    /// Its process has ended. The next question starts a new one, without memory.
    Ended,
}

/// The helpers that were closed.
#[derive(Debug, Default, Serialize, ToolType)]
pub(super) struct Closed {
    /// The helpers that have ended.
    pub(super) closed: Vec<String>,
    /// The names that no helper has.
    pub(super) unknown: Vec<String>,
}

/// Truncates a string to about `max` bytes, with a note.
pub(super) fn truncated(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let end = (0..=max).rev().find(|&at| text.is_char_boundary(at));
    let kept = &text[..end.unwrap_or_default()];
    let omitted = text.len() - kept.len();
    format!(
        "{kept}\n[truncated: {omitted} of {} bytes omitted]",
        text.len()
    )
}

/// More than the note of [`truncated`].
pub(super) const NOTE: usize = 100;

/// Returns how many levels of helpers this process may have. `None` if it is not a helper.
pub(super) fn inherited_levels() -> Option<u32> {
    let value = std::env::var_os(VARIABLE)?;
    let levels = value.to_str().and_then(|value| value.parse().ok());
    Some(levels.unwrap_or_default())
}
