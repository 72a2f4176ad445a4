//! Responses of Cohere's chat.

use serde_json::Value;
use tool_core::dialect::write::Reason;
use tool_core::dialect::{ResponseError, Turn};

use crate::provider::chat;
use crate::provider::response::{Reasons, ResponseFormat, content_text, string, with_role};
use crate::provider::usage::Counts;

pub(super) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a response of Cohere",
    call: "a call in `message.tool_calls`",
    items: "/message/tool_calls",
    reasons: REASONS,
    ..chat::FORMAT
};

/// The SDK's `ChatFinishReason` (rule `cohere.ends`).
const REASONS: Reasons = &[
    ("COMPLETE", Reason::Answered),
    ("STOP_SEQUENCE", Reason::Sequence),
    ("TOOL_CALL", Reason::Calls),
    ("MAX_TOKENS", Reason::Length),
    ("ERROR", Reason::Failed),
    ("TIMEOUT", Reason::Failed),
];

/// From Cohere's API reference, as of 2026-11.
pub(super) const USAGE: Counts = Counts {
    input: &["tokens.input_tokens"],
    cached_input: &["cached_tokens"],
    output: &["tokens.output_tokens"],
};

/// Returns the turn of a response without its calls.
pub(super) fn outline(response: &Value) -> Turn {
    let message = &response["message"];
    let mut turn = Turn::new(vec![with_role(message, "assistant")]);
    turn.text = content_text(&message["content"]);
    turn.usage = USAGE.read(&response["usage"]);
    turn.stop = string(&response["finish_reason"]);
    turn.unanswered = chat::unanswered(message);
    turn
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    let message = &response["message"];
    match message {
        Value::Object(_) => {
            let calls = chat::items(&FORMAT, message)?;
            FORMAT.turn(response, calls, &response["finish_reason"], outline)
        }
        _ => {
            FORMAT.check_error(response)?;
            Err(FORMAT.missing(response, "message"))
        }
    }
}
