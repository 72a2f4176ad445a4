//! Responses of Anthropic's Messages API.

use serde_json::{Value, json};
use tool_core::dialect::write::Reason;
use tool_core::dialect::{ResponseError, Turn, Unanswered};

use crate::provider::entry::NameRules;
use crate::provider::history::{ArgumentsForm, History, IdRules, TextPart, is_blank};
use crate::provider::response::{
    NoId, Reasons, ResponseFormat, content_text, is_type, message_with, string,
};
use crate::provider::unanswered::Answered;
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
    reasons: REASONS,
    custom: None,
    has_origin: true,
};

/// The SDK's `BetaStopReason` and Anthropic's guide "Stop reasons and fallback" (rule `anthropic.ends`). Truncated
/// arguments may be an empty object.
const REASONS: Reasons = &[
    ("end_turn", Reason::MaySilent),
    ("tool_use", Reason::Calls),
    ("max_tokens", Reason::Length),
    ("stop_sequence", Reason::Sequence),
    ("pause_turn", Reason::Paused),
    ("compaction", Reason::Paused),
    ("refusal", Reason::Refused),
    ("model_context_window_exceeded", Reason::Length),
];

/// Rules `anthropic.name_regex` and `anthropic.tool_use_id`.
pub(super) const HISTORY: History = History {
    call: &FORMAT,
    items: "content",
    arguments: ArgumentsForm::Object,
    names: NameRules::COMMON,
    ids: Some(IdRules {
        min: 1,
        max: usize::MAX,
        more: Some("_-"),
    }),
    result_id: "tool_use_id",
    result_name: None,
    text: Some(TextPart {
        is_blank: |block| is_type(block, "text") && is_blank(&block["text"]),
        of: |text| json!({ "type": "text", "text": text }),
    }),
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

/// Blocks with an id that expect no answer (`BetaContentBlock` of Anthropic's Python SDK 2.12).
const SERVER_CALLS: [&str; 2] = ["mcp_tool_use", "server_tool_use"];

/// Returns the blocks that expect an answer and are no calls (rule `anthropic.answers`).
fn unanswered(content: &[Value]) -> Vec<Unanswered> {
    let answered = Answered::by(content, |block| block["tool_use_id"].as_str());
    let asked = content.iter().filter_map(|block| {
        let kind = block["type"].as_str().unwrap_or_default();
        let id = block["id"].as_str()?;
        let is_asked = !(FORMAT.is_call)(block)
            && !SERVER_CALLS.contains(&kind)
            && block["tool_use_id"].is_null();
        (is_asked && !answered.has(Some(id))).then(|| Unanswered::of(block, Some(id)))
    });
    asked.collect()
}

/// Returns the turn of a response without its calls. The API rejects an empty message.
pub(super) fn outline(response: &Value) -> Turn {
    let content = &response["content"];
    let message = || json!({ "role": "assistant", "content": content });
    let stop = &response["stop_reason"];
    // Without the container of a program, the API rejects the results of its calls.
    let container = response["container"]["id"].as_str();
    let field = container.map(|id| ("container".to_owned(), id.into()));
    // When server tools reach the limit of a response, or after a summary for which the request asked
    // (Anthropic's guides "Stop reasons and fallback" and "Compaction"). The server goes on with the open
    // parts.
    let is_paused = stop == "pause_turn" || stop == "compaction";
    let blocks = content.as_array().filter(|_| !is_paused);
    let text = content_text(content);
    let mut turn = Turn::new(message_with(content, message));
    turn.has_output = text.is_empty() && has_output(content);
    turn.text = text;
    turn.explanation = string(&response["stop_details"]["explanation"]);
    turn.usage = USAGE.read(&response["usage"]);
    turn.stop = string(stop);
    turn.is_paused = is_paused;
    turn.unanswered = unanswered(blocks.map_or(&[], Vec::as_slice));
    turn.continuation = field.into_iter().collect();
    turn
}

/// Returns `true` if a response has a file, or the result of a server tool.
fn has_output(content: &Value) -> bool {
    let mut blocks = content.as_array().into_iter().flatten();
    let mut kinds = blocks.by_ref().filter_map(|block| block["type"].as_str());
    kinds.any(|kind| kind == "container_upload" || kind.ends_with("_result"))
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    let blocks = FORMAT.array(response, "content")?;
    FORMAT.turn(response, blocks, &response["stop_reason"], outline)
}
