//! Responses of Amazon Bedrock's Converse.

use serde_json::Value;

use crate::provider::response::{
    NoId, ResponseError, ResponseFormat, content_text, message_with, string, with_role,
};
use crate::provider::turn::Turn;
use crate::provider::unanswered::{Answered, Unanswered, unknown_request};
use crate::provider::usage::Counts;

pub(super) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a response of Converse",
    call: "a `toolUse` block in `output.message.content`",
    items: "/output/message/content",
    is_call,
    id: "toolUse.toolUseId",
    no_id: NoId::Make,
    name: "toolUse.name",
    arguments: "toolUse.input",
    // The service's model, `StopReason`.
    truncated: &[
        "max_tokens",
        "model_context_window_exceeded",
        "malformed_tool_use",
        "malformed_model_output",
        "content_filtered",
        "guardrail_intervened",
        "stop_sequence",
    ],
    custom: None,
    has_origin: false,
};

/// From the service's model. Tokens from a cache are counted apart.
pub(super) const USAGE: Counts = Counts {
    input: &[
        "inputTokens",
        "cacheReadInputTokens",
        "cacheWriteInputTokens",
    ],
    cached_input: &["cacheReadInputTokens"],
    output: &["outputTokens"],
};

/// Returns `true` for a call, but not for one of the provider's own server tools.
pub(super) fn is_call(block: &Value) -> bool {
    let call = &block["toolUse"];
    call.is_object() && call["type"] != "server_tool_use"
}

/// Returns the blocks that expect an answer and are no calls (rule `bedrock.answers`).
fn unanswered(content: &[Value]) -> Vec<Unanswered> {
    let answer = |block| unknown_request(block, &[], &["Result"]);
    let answered = Answered::by(content, |block| answer(block)?.1["toolUseId"].as_str());
    let asked = content.iter().filter_map(|block| {
        let (kind, request) = unknown_request(block, &["toolUse"], &["Use", "Call", "Request"])?;
        let id = request["toolUseId"].as_str();
        let asked = || Unanswered::new(kind, id.map(str::to_owned), block.clone());
        (!answered.has(id)).then(asked)
    });
    asked.collect()
}

/// Returns the turn of a response without its calls. The API rejects an empty message.
pub(super) fn outline(response: &Value) -> Turn {
    let message = &response["output"]["message"];
    let content = &message["content"];
    let texts = content.as_array().into_iter().flatten().map(|block| {
        // Text with citations.
        let cited = content_text(&block["citationsContent"]["content"]);
        cited + block["text"].as_str().unwrap_or_default()
    });
    Turn {
        text: texts.collect(),
        unanswered: unanswered(content.as_array().map_or(&[], Vec::as_slice)),
        usage: USAGE.read(&response["usage"]),
        stop: string(&response["stopReason"]),
        ..Turn::new(message_with(content, || with_role(message, "assistant")))
    }
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    if response["output"].is_null() {
        FORMAT.check_error(response)?;
        return Err(if response["message"].is_string() {
            FORMAT.provider_error(response)
        } else {
            FORMAT.missing(response, "output")
        });
    }
    let message = &response["output"]["message"];
    if message.is_null() {
        return Err(FORMAT.missing(response, "output.message"));
    }
    let blocks = FORMAT.array(message, "content")?;
    FORMAT.turn(response, blocks, &response["stopReason"], outline)
}
