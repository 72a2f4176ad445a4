//! Responses of Gemini's Interactions API (`Interaction` and `Step` of Google's Gen AI SDK 3.6, 2026-11).

use serde_json::Value;
use tool_core::dialect::write::Reason;
use tool_core::dialect::{ResponseError, Turn, Unanswered};

use crate::provider::forms;
use crate::provider::response::{NoId, Reasons, ResponseFormat, content_text, is_type, string};
use crate::provider::unanswered::Answered;
use crate::provider::usage::Counts;

pub(super) const FORMAT: ResponseFormat = ResponseFormat {
    response: "an interaction of Gemini",
    call: "a call in `steps`",
    items: "/steps",
    is_call: |step| is_type(step, "function_call"),
    id: "id",
    no_id: NoId::Make,
    name: "name",
    arguments: "arguments",
    reasons: REASONS,
    custom: None,
    has_origin: false,
};

/// The SDK's `Interaction.status` (rule `gemini.interactions.ends`). Other statuses are errors.
const REASONS: Reasons = &[
    ("completed", Reason::MaySilent),
    ("requires_action", Reason::Calls),
    ("incomplete", Reason::Length),
    ("budget_exceeded", Reason::Length),
    ("requires_continuation", Reason::Length),
];

/// Thoughts are counted apart.
pub(super) const USAGE: Counts = Counts {
    input: &["total_input_tokens", "total_tool_use_tokens"],
    cached_input: &["total_cached_tokens"],
    output: &["total_output_tokens", "total_thought_tokens"],
};

/// Calls of tools that Google runs.
const SERVER_CALLS: [&str; 8] = [
    "code_execution_call",
    "file_search_call",
    "google_maps_call",
    "google_search_call",
    "mcp_server_tool_call",
    "processing_call",
    "retrieval_call",
    "url_context_call",
];

/// Returns the ids of the calls that have a result in the response.
fn answered(steps: &[Value]) -> Answered<'_> {
    Answered::by(steps, |step| {
        let kind = step["type"].as_str()?;
        let is_answer = kind.ends_with("_result") || kind.ends_with("_response");
        step["call_id"].as_str().filter(|_| is_answer)
    })
}

/// Returns the steps that expect an answer and are no calls (rule `gemini.interactions.answers`).
fn unanswered(steps: &[Value], status: &Value) -> Vec<Unanswered> {
    let answered = answered(steps);
    let id = |step: &Value| string(&step["id"]);
    let asked = steps.iter().filter_map(|step| {
        let kind = step["type"].as_str().unwrap_or_default();
        let is_asked = (kind.ends_with("_call") || kind.ends_with("_request"))
            && !SERVER_CALLS.contains(&kind)
            && !(FORMAT.is_call)(step);
        let id = id(step);
        (is_asked && !answered.has(id.as_deref())).then(|| Unanswered::of(step, id.as_deref()))
    });
    let mut asked: Vec<_> = asked.collect();
    // The API waits for something that is in no known step.
    if status == "requires_action"
        && asked.is_empty()
        && !steps.iter().any(FORMAT.is_call)
        && let Some(last) = steps.last()
    {
        asked.push(Unanswered::of(last, id(last).as_deref()));
    }
    asked
}

/// Returns the text of the model. It continues after a thought, and has a paragraph after any other step.
fn text(steps: &[Value]) -> String {
    let mut text = String::new();
    let mut is_interrupted = false;
    for step in steps {
        match step["type"].as_str() {
            Some("thought") => {}
            Some("model_output") => {
                let piece = content_text(&step["content"]);
                if piece.is_empty() {
                    continue;
                }
                if std::mem::take(&mut is_interrupted) && !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(&piece);
            }
            _ => is_interrupted = true,
        }
    }
    text
}

/// Returns the turn of a response without its calls.
pub(super) fn outline(response: &Value) -> Turn {
    let steps = response["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let status = &response["status"];
    // Without it, the next request gets another environment.
    let environment = response["environment_id"]
        .as_str()
        .filter(|id| !id.is_empty());
    let field = environment.map(|id| ("environment".to_owned(), id.into()));
    let text = text(steps);
    let outputs = steps.iter().filter(|step| is_type(step, "model_output"));
    let mut errors = outputs.map(|step| &step["error"]);
    let error = errors.find(|error| error.is_object());
    let mut turn = Turn::new(steps.to_vec());
    turn.reason = error.map(|_| Reason::Failed);
    turn.explanation = error.and_then(|error| string(&error["message"]));
    turn.has_output = text.is_empty() && has_output(steps);
    turn.text = text;
    turn.unanswered = unanswered(steps, status);
    turn.usage = USAGE.read(&response["usage"]);
    turn.stop = string(status);
    turn.continuation = field.into_iter().collect();
    turn
}

/// Returns `true` if the model put out other content than text.
fn has_output(steps: &[Value]) -> bool {
    let outputs = steps.iter().filter(|step| is_type(step, "model_output"));
    let mut contents = outputs.flat_map(|step| step["content"].as_array().into_iter().flatten());
    contents.any(|content| content["type"].as_str().is_some_and(|kind| kind != "text"))
}

/// Returns an error for an interaction that has failed, or has not ended.
pub(super) fn check_status(response: &Value) -> Result<(), ResponseError> {
    match response["status"].as_str() {
        Some(status @ ("failed" | "cancelled")) => {
            let errors = response["errors"].as_array().into_iter().flatten();
            let steps = response["steps"].as_array().into_iter().flatten();
            let reported = errors.chain(steps.map(|step| &step["error"]));
            let what = if status == "failed" {
                "failed"
            } else {
                "was cancelled"
            };
            Err(stopped(what, reported))
        }
        Some(status @ ("in_progress" | "queued")) => Err(FORMAT.not_ended(status)),
        _ => Ok(()),
    }
}

/// Returns an error for steps without calls and text, of which one reports an error.
pub(super) fn check_answer(steps: &[Value]) -> Result<(), ResponseError> {
    let reported = || steps.iter().map(|step| &step["error"]);
    if reported().all(|error| !error.is_object())
        || steps.iter().any(FORMAT.is_call)
        || !text(steps).is_empty()
    {
        return Ok(());
    }
    Err(stopped("stopped without an answer", reported()))
}

/// Returns the error for a response without an answer.
fn stopped<'e>(what: &str, errors: impl Iterator<Item = &'e Value>) -> ResponseError {
    let mut message = format!("Gemini's interaction {what}");
    for error in errors.filter(|error| error.is_object()) {
        for part in [&error["code"], &error["message"]] {
            match part {
                Value::String(part) if !part.is_empty() => {
                    message.push_str(": ");
                    message.push_str(part);
                }
                Value::Number(code) => {
                    message.push_str(": ");
                    message.push_str(&code.to_string());
                }
                _ => {}
            }
        }
    }
    ResponseError::new(message)
}

/// Reads a whole response. One that a limit cut off may have no steps.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    FORMAT.check_error(response)?;
    check_status(response)?;
    let is_empty = response["steps"].is_null()
        && response["status"].is_string()
        && forms::other(FORMAT.response, response).is_none();
    let steps = if is_empty {
        &[]
    } else {
        FORMAT.array(response, "steps")?
    };
    let mut turn = FORMAT.turn(response, steps, &response["status"], outline)?;
    // An agent's own calls.
    let answered = answered(steps);
    turn.calls.retain(|call| !answered.has(Some(&call.id)));
    check_answer(steps)?;
    Ok(turn)
}
