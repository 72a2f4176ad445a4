//! Responses of Amazon Bedrock's Converse.

use serde_json::{Value, json};
use tool_core::dialect::write::Reason;
use tool_core::dialect::{ResponseError, Turn, Unanswered};

use crate::provider::entry::NameRules;
use crate::provider::history::{ArgumentsForm, History, IdRules, TextPart, is_blank};
use crate::provider::response::{
    NoId, Reasons, ResponseFormat, content_text, message_with, string, with_role,
};
use crate::provider::unanswered::{Answered, unknown_request};
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
    reasons: REASONS,
    custom: None,
    has_origin: false,
};

/// The service's model, `StopReason` (rule `bedrock.ends`).
const REASONS: Reasons = &[
    ("end_turn", Reason::MaySilent),
    ("tool_use", Reason::Calls),
    ("max_tokens", Reason::Length),
    ("stop_sequence", Reason::Sequence),
    ("guardrail_intervened", Reason::Filtered),
    ("content_filtered", Reason::Filtered),
    ("malformed_model_output", Reason::Malformed),
    ("malformed_tool_use", Reason::Malformed),
    ("model_context_window_exceeded", Reason::Length),
];

/// Rules `bedrock.name_regex` and `bedrock.tool_use_id_regex`.
pub(super) const HISTORY: History = History {
    call: &FORMAT,
    items: "content",
    arguments: ArgumentsForm::Object,
    names: NameRules::COMMON,
    ids: Some(IdRules {
        min: 1,
        max: 64,
        more: Some("_.:-"),
    }),
    result_id: "toolResult.toolUseId",
    result_name: None,
    text: Some(TextPart {
        is_blank: |block| is_blank(&block["text"]),
        of: |text| json!({ "text": text }),
    }),
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
    let text: String = texts.collect();
    let mut turn = Turn::new(message_with(content, || with_role(message, "assistant")));
    turn.has_output = text.is_empty() && has_output(content);
    turn.text = text;
    turn.unanswered = unanswered(content.as_array().map_or(&[], Vec::as_slice));
    turn.usage = USAGE.read(&response["usage"]);
    turn.stop = string(&response["stopReason"]);
    turn
}

/// Returns `true` if a message has an image or something newer.
fn has_output(content: &Value) -> bool {
    const WITHOUT_OUTPUT: [&str; 5] = [
        "text",
        "reasoningContent",
        "citationsContent",
        "toolUse",
        "cachePoint",
    ];
    let blocks = content.as_array().into_iter().flatten();
    let mut keys = blocks
        .filter_map(Value::as_object)
        .flat_map(|block| block.keys());
    keys.any(|key| !WITHOUT_OUTPUT.contains(&&**key))
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    if response["output"].is_null() {
        FORMAT.check_error(response)?;
        return Err(FORMAT.missing(response, "output"));
    }
    let message = &response["output"]["message"];
    if message.is_null() {
        return Err(FORMAT.missing(response, "output.message"));
    }
    let blocks = FORMAT.array(message, "content")?;
    FORMAT.turn(response, blocks, &response["stopReason"], outline)
}
