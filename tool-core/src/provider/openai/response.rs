//! Responses of OpenAI's Responses API.

use serde_json::Value;

use crate::provider::response::{
    CustomCalls, NoId, ResponseError, ResponseFormat, content_text, is_type,
};
use crate::provider::turn::Turn;
use crate::provider::usage::Counts;

pub(super) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a response of OpenAI",
    call: "a call in `output`",
    items: "/output",
    is_call,
    id: "call_id",
    no_id: NoId::Make,
    name: "name",
    arguments: "arguments",
    truncated: &["incomplete"],
    custom: Some(&CUSTOM),
    has_origin: true,
};

const CUSTOM: CustomCalls = CustomCalls {
    kind: "custom_tool_call",
    name: "name",
    input: "input",
};

/// From OpenAI's API description, as of 2026-11.
pub(super) const USAGE: Counts = Counts {
    input: &["input_tokens"],
    cached_input: &["input_tokens_details.cached_tokens"],
    output: &["output_tokens"],
};

/// Returns `true` for an item that is a call of a function or of a custom tool.
pub(super) fn is_call(item: &Value) -> bool {
    is_type(item, "function_call") || is_type(item, CUSTOM.kind)
}

/// Returns the turn of a response without its calls. The text has a paragraph for each message.
pub(super) fn outline(response: &Value) -> Turn {
    let output = response["output"].as_array();
    let messages = output.into_iter().flatten();
    let messages = messages.filter(|item| is_type(item, "message"));
    let texts: Vec<_> = messages
        .map(|item| content_text(&item["content"]))
        .collect();
    Turn {
        text: texts.join("\n\n"),
        usage: USAGE.read(&response["usage"]),
        stop: stop(response).map(str::to_owned),
        ..Turn::new(output.cloned().unwrap_or_default())
    }
}

/// Returns why the model stopped.
pub(super) fn stop(response: &Value) -> Option<&str> {
    let reason = response["incomplete_details"]["reason"].as_str();
    reason.or_else(|| response["status"].as_str())
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    let items = FORMAT.array(response, "output")?;
    FORMAT.turn(response, items, &response["status"], outline)
}
