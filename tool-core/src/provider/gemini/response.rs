//! Responses of Gemini.

use serde_json::Value;

use crate::provider::response::{
    NoId, ResponseError, ResponseFormat, message_with, string, with_role,
};
use crate::provider::turn::Turn;
use crate::provider::unanswered::{Answered, Unanswered, unknown_request};
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
    truncated: &[
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
    ],
    custom: None,
    has_origin: false,
};

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
    Turn {
        text: text(all),
        unanswered: unanswered(all),
        usage: USAGE.read(&response["usageMetadata"]),
        stop: string(&candidate["finishReason"]),
        ..Turn::new(message_with(parts, || with_role(content, "model")))
    }
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

/// Returns an error for the response to a blocked prompt, which has feedback and no candidates.
pub(super) fn check_prompt(response: &Value) -> Result<(), ResponseError> {
    let feedback = &response["promptFeedback"];
    if !response["candidates"][0].is_null() || !feedback.is_object() {
        return Ok(());
    }
    let message = &feedback["blockReasonMessage"];
    Err(stopped(
        "blocked the prompt",
        &feedback["blockReason"],
        message,
    ))
}

/// Returns an error for a candidate without calls that is not an answer: the model wrote a call that
/// Gemini could not read or that the request did not allow, or a filter left nothing (Gemini API,
/// `Candidate.FinishReason`, 2025-11).
pub(super) fn check_answer(candidate: &Value, parts: &[Value]) -> Result<(), ResponseError> {
    let reason = &candidate["finishReason"];
    let is_failed = match reason.as_str() {
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS") => true,
        None | Some("STOP" | "MAX_TOKENS" | "FINISH_REASON_UNSPECIFIED") => false,
        Some(_) => text(parts).is_empty(),
    };
    if !is_failed {
        return Ok(());
    }
    let message = &candidate["finishMessage"];
    Err(stopped("stopped without an answer", reason, message))
}

/// Returns the error for a response without an answer.
fn stopped(what: &str, reason: &Value, message: &Value) -> ResponseError {
    let mut text = format!("Gemini {what}");
    for part in [reason, message].into_iter().filter_map(Value::as_str) {
        text.push_str(": ");
        text.push_str(part);
    }
    ResponseError::new(text)
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    check_prompt(response)?;
    let candidate = FORMAT.first(response, "candidates")?;
    let parts = &candidate["content"]["parts"];
    let parts = FORMAT.optional_array(parts, "content.parts")?;
    let turn = FORMAT.turn(response, parts, &candidate["finishReason"], outline)?;
    if turn.calls.is_empty() {
        check_answer(candidate, parts)?;
    }
    Ok(turn)
}
