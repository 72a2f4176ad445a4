//! Responses of Gemini.

use serde_json::Value;
use tool_core::dialect::write::Reason;
use tool_core::dialect::{ResponseError, Turn, Unanswered};

use crate::provider::response::{NoId, Reasons, ResponseFormat, message_with, string, with_role};
use crate::provider::unanswered::{Answered, unknown_request};
use crate::provider::usage::Counts;

pub(super) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a response of Gemini",
    call: "a call in `candidates[0].content.parts`",
    items: "/candidates/0/content/parts",
    is_call: |part| part["functionCall"].is_object(),
    id: "functionCall.id",
    no_id: NoId::Omit,
    name: "functionCall.name",
    arguments: "functionCall.args",
    reasons: REASONS,
    custom: None,
    has_origin: false,
};

/// The SDK's `FinishReason` (rule `gemini.ends`).
const REASONS: Reasons = &[
    ("STOP", Reason::MaySilent),
    ("MAX_TOKENS", Reason::Length),
    ("FINISH_REASON_UNSPECIFIED", Reason::MaySilent),
    ("MALFORMED_FUNCTION_CALL", Reason::Misread),
    ("MALFORMED_RESPONSE", Reason::Misread),
    ("UNEXPECTED_TOOL_CALL", Reason::Misread),
    ("SAFETY", Reason::Filtered),
    ("RECITATION", Reason::Filtered),
    ("LANGUAGE", Reason::Filtered),
    ("BLOCKLIST", Reason::Filtered),
    ("PROHIBITED_CONTENT", Reason::Filtered),
    ("SPII", Reason::Filtered),
    ("ESCALATION", Reason::Filtered),
    ("MODEL_ARMOR", Reason::Filtered),
    ("IMAGE_SAFETY", Reason::Filtered),
    ("IMAGE_PROHIBITED_CONTENT", Reason::Filtered),
    ("IMAGE_RECITATION", Reason::Filtered),
    // A limit of one request. Going on needs the candidate's `continuationToken`.
    ("CONTINUATION", Reason::Length),
    ("OTHER", Reason::Failed),
    ("IMAGE_OTHER", Reason::Failed),
    ("NO_IMAGE", Reason::Failed),
    ("TOO_MANY_TOOL_CALLS", Reason::Failed),
    ("MISSING_THOUGHT_SIGNATURE", Reason::Failed),
    ("PUP_LIMITED_DISABLED", Reason::Failed),
];

/// From the reference of the Gemini API, as of 2026-11.
pub(super) const USAGE: Counts = Counts {
    input: &["promptTokenCount", "toolUsePromptTokenCount"],
    cached_input: &["cachedContentTokenCount"],
    output: &["candidatesTokenCount", "thoughtsTokenCount"],
};

/// Returns the turn of a response without its calls. The API rejects a message without parts.
pub(super) fn outline(response: &Value) -> Turn {
    let candidate = &response["candidates"][0];
    let content = &candidate["content"];
    let parts = &content["parts"];
    let all = parts.as_array().map_or(&[][..], Vec::as_slice);
    let text = text(all);
    let feedback = &response["promptFeedback"];
    let (reason, stop, explanation) = if is_blocked(response) {
        let stop = &feedback["blockReason"];
        (
            Some(Reason::Filtered),
            stop,
            &feedback["blockReasonMessage"],
        )
    } else {
        (
            None,
            &candidate["finishReason"],
            &candidate["finishMessage"],
        )
    };
    let mut turn = Turn::new(message_with(parts, || with_role(content, "model")));
    turn.has_output = text.is_empty() && has_output(all);
    turn.text = text;
    turn.unanswered = unanswered(all);
    turn.usage = USAGE.read(&response["usageMetadata"]);
    turn.stop = string(stop);
    turn.explanation = string(explanation);
    turn.reason = reason;
    turn
}

/// Returns the parts that expect an answer and are no calls (rule `gemini.answers`). A `toolCall` is the server's (`ToolCall`
/// of Google's Gen AI SDK 3.4).
fn unanswered(parts: &[Value]) -> Vec<Unanswered> {
    let answer = |part| unknown_request(part, &["functionResponse"], &["Response", "Result"]);
    let answered = Answered::by(parts, |part| answer(part)?.1["id"].as_str());
    let asked = parts.iter().filter_map(|part| {
        let known = ["functionCall", "toolCall"];
        let (kind, request) = unknown_request(part, &known, &["Call", "Request"])?;
        let id = request["id"].as_str();
        let asked = || Unanswered::new(kind, id.map(str::to_owned), part.clone());
        (!answered.has(id)).then(asked)
    });
    asked.collect()
}

/// Returns the text of parts. Reasoning is text, too.
fn text(parts: &[Value]) -> String {
    let answer = parts.iter().filter(|part| part["thought"] != true);
    answer.filter_map(|part| part["text"].as_str()).collect()
}

/// Returns `true` for the response to a blocked prompt, which has feedback and no candidates.
pub(super) fn is_blocked(response: &Value) -> bool {
    response["candidates"][0].is_null() && response["promptFeedback"].is_object()
}

/// Returns `true` if the model put out an image, or ran code.
fn has_output(parts: &[Value]) -> bool {
    const OUTPUT: [&str; 4] = [
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
    ];
    let mut answer = parts.iter().filter(|part| part["thought"] != true);
    answer.any(|part| OUTPUT.iter().any(|key| part[key].is_object()))
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    if is_blocked(response) {
        return Ok(outline(response));
    }
    let candidate = FORMAT.first(response, "candidates")?;
    let parts = &candidate["content"]["parts"];
    let parts = FORMAT.optional_array(parts, "content.parts")?;
    FORMAT.turn(response, parts, &candidate["finishReason"], outline)
}
