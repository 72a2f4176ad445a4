//! Responses of Anthropic's Messages API.

use serde_json::{Value, json};

use crate::provider::response::{
    NoId, ResponseError, ResponseFormat, content_text, is_type, message_with, string,
};
use crate::provider::turn::Turn;
use crate::provider::usage::Counts;

pub(super) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a message of Anthropic",
    call: "a `tool_use` block in `content`",
    items: "/content",
    is_call: |block| is_type(block, "tool_use"),
    id: "id",
    no_id: NoId::Make,
    name: "name",
    arguments: "input",
    // Anthropic's guide "Stop reasons and fallback". Truncated arguments may be an empty object.
    truncated: &[
        "max_tokens",
        "model_context_window_exceeded",
        "refusal",
        "stop_sequence",
    ],
    custom: None,
    has_origin: true,
};

/// From Anthropic's API reference, as of 2026-11. Tokens from a cache are counted apart.
pub(super) const USAGE: Counts = Counts {
    input: &[
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ],
    cached_input: &["cache_read_input_tokens"],
    output: &["output_tokens"],
};

/// Returns the turn of a response without its calls. The API rejects an empty message.
pub(super) fn outline(response: &Value) -> Turn {
    let content = &response["content"];
    let message = || json!({ "role": "assistant", "content": content });
    let stop = &response["stop_reason"];
    // Without the container of a program, the API rejects the results of its calls.
    let container = response["container"]["id"].as_str();
    let field = container.map(|id| ("container".to_owned(), id.into()));
    Turn {
        text: content_text(content),
        usage: USAGE.read(&response["usage"]),
        stop: string(stop),
        // When server tools reach the time limit of a response (Anthropic's guide "Stop reasons and
        // fallback").
        is_paused: stop == "pause_turn",
        continuation: field.into_iter().collect(),
        ..Turn::new(message_with(content, message))
    }
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    let blocks = FORMAT.array(response, "content")?;
    FORMAT.turn(response, blocks, &response["stop_reason"], outline)
}
