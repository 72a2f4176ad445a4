//! Responses of OpenAI's Responses API.

use std::collections::HashMap;

use serde_json::{Value, json};
use tool_core::ToolCall;
use tool_core::dialect::write::{Offered, Reason, shorten};
use tool_core::dialect::{ResponseError, Turn, Unanswered};
use tool_core::hooks::ApprovalRequest;

use super::trained::PROVIDER;
use super::trained_calls;
use crate::provider::entry::NameRules;
use crate::provider::history::{ArgumentsForm, History, IdRules};
use crate::provider::response::{
    CustomCalls, NoId, Reasons, ResponseFormat, content_text, has_refusal, is_type, mark_truncated,
};
use crate::provider::unanswered::Answered;
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
    reasons: REASONS,
    custom: Some(&CUSTOM),
    has_origin: true,
};

const CUSTOM: CustomCalls = CustomCalls {
    kind: "custom_tool_call",
    name: "name",
    input: "input",
};

/// The SDK's `ResponseStatus` and `IncompleteDetails.reason` (rule `openai.responses.ends`). Other statuses are errors.
const REASONS: Reasons = &[
    ("completed", Reason::Answered),
    ("incomplete", Reason::Length),
    ("max_output_tokens", Reason::Length),
    ("max_messages", Reason::Length),
    ("content_filter", Reason::Filtered),
    // The server goes on by itself, over a WebSocket.
    ("steered", Reason::Paused),
];

/// The names that the API accepts.
pub(super) const NAMES: NameRules = NameRules {
    max_len: 128,
    ..NameRules::COMMON
};

/// Rules `openai.responses.name_regex` and `openai.call_id_max`.
pub(super) const HISTORY: History = History {
    call: &FORMAT,
    items: "",
    arguments: ArgumentsForm::Text,
    names: NAMES,
    ids: Some(IdRules {
        min: 1,
        max: 64,
        more: None,
    }),
    result_id: "call_id",
    result_name: None,
    text: None,
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

/// Items that expect no answer, besides outputs (`ResponseOutputItem` and `BetaResponseOutputItem` of
/// OpenAI's Python SDK 3.54). A program or another agent waits for calls, which are separate items.
const WITHOUT_ANSWER: [&str; 14] = [
    "additional_tools",
    "agent_message",
    "code_interpreter_call",
    "compaction",
    "file_search_call",
    "image_generation_call",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "message",
    "multi_agent_call",
    "program",
    "reasoning",
    "web_search_call",
];

/// Returns the items that expect an answer and are no calls (rule `openai.responses.answers`).
fn unanswered(output: &[Value]) -> Vec<Unanswered> {
    let answered = Answered::by(output, |item| {
        let kind = item["type"].as_str()?;
        match kind {
            // The output of the local shell has the id of its call under `id`.
            _ if kind.ends_with("_output") => item["call_id"].as_str().or(item["id"].as_str()),
            "mcp_approval_response" => item["approval_request_id"].as_str(),
            _ => None,
        }
    });
    let asked = output.iter().filter_map(|item| {
        let kind = item["type"].as_str().unwrap_or_default();
        let call_id = item["call_id"].as_str();
        let id = call_id.or(item["id"].as_str());
        let is_asked = match kind {
            "tool_search_call" => item["execution"] != "server",
            // A container is OpenAI's.
            "shell_call" => item["environment"]["type"] != "container_reference",
            "apply_patch_call" | "computer_call" | "local_shell_call" | "mcp_approval_request" => {
                true
            }
            _ if WITHOUT_ANSWER.contains(&kind) || kind.ends_with("_output") => false,
            // An unknown type.
            _ => call_id.is_some() || kind.ends_with("_request"),
        };
        (is_asked && !is_call(item) && !answered.has(id)).then(|| Unanswered::of(item, id))
    });
    asked.collect()
}

/// Returns the call of a tool on an MCP server, which OpenAI makes once it is approved (rule
/// `openai.responses.approvals`).
fn approval(asked: &Unanswered) -> Option<ToolCall> {
    if asked.kind != "mcp_approval_request" {
        return None;
    }
    let string = |key: &str| asked.item[key].as_str();
    let named = |key| string(key).filter(|name| !name.is_empty());
    let (id, server, name) = (named("id")?, named("server_label")?, named("name")?);
    let reason = format!(
        "the provider asks before it calls {:?} of the MCP server {:?}",
        shorten(name),
        shorten(server)
    );
    let request = ApprovalRequest::new(reason).with_item(json!({ "id": id }));
    let call = ToolCall::new(id, name, string("arguments")?).hosted_by(server);
    Some(call.with_approval(request))
}

/// Takes the calls that OpenAI makes once they are approved out of the unanswered items. Requests with the
/// same id stay: an answer to one would be an answer to the others.
fn take_approvals(unanswered: &mut Vec<Unanswered>) -> Vec<ToolCall> {
    let mut ids = HashMap::<_, usize>::new();
    for asked in &*unanswered {
        *ids.entry(asked.id.clone()).or_default() += 1;
    }
    let mut approvals = Vec::new();
    unanswered.retain(|asked| match approval(asked) {
        Some(call) if ids[&asked.id] == 1 => {
            approvals.push(call);
            false
        }
        _ => true,
    });
    approvals
}

/// Returns the calls of a response that OpenAI makes once they are approved, and the other items that
/// expect an answer and are no calls.
pub(super) fn asked(response: &Value, items: &[Value]) -> (Vec<ToolCall>, Vec<Unanswered>) {
    let mut unanswered = unanswered(items);
    let mut approvals = take_approvals(&mut unanswered);
    if FORMAT.is_truncated(&response["status"])
        && let (Some(item), Some(call)) = (items.last(), approvals.last_mut())
        && item["id"] == call.id
    {
        mark_truncated(call);
    }
    (approvals, unanswered)
}

/// Returns what of the unanswered items can be a call, if a tool provides it.
fn offered(unanswered: &[Unanswered], incomplete: Option<&Value>) -> Vec<Offered> {
    let offered = unanswered.iter().enumerate().filter_map(|(asked, of)| {
        let (kind, mut call) = trained_calls::call(&of.item)?;
        if incomplete == Some(&of.item) {
            call = call.truncated();
        }
        Some(Offered {
            asked,
            tool: (PROVIDER, kind),
            call,
        })
    });
    offered.collect()
}

/// Returns the turn of a response without the calls of functions and custom tools. The text has a paragraph for each
/// message.
pub(super) fn outline(response: &Value) -> Turn {
    let output = response["output"].as_array();
    let items = output.map_or(&[][..], Vec::as_slice);
    let (approvals, unanswered) = asked(response, items);
    let is_truncated = FORMAT.is_truncated(&response["status"]);
    let incomplete = items.last().filter(|_| is_truncated);
    let messages = items.iter();
    let messages = messages.filter(|item| is_type(item, "message"));
    let texts: Vec<_> = messages
        .map(|item| content_text(&item["content"]))
        .collect();
    let text = texts.join("\n\n");
    let is_refused = items.iter().any(|item| has_refusal(&item["content"]));
    let is_image = |item: &Value| is_type(item, "image_generation_call");
    let mut repeated = items.to_vec();
    // Rule `openai.responses.reasoning`.
    while repeated
        .last()
        .is_some_and(|item| is_type(item, "reasoning"))
    {
        repeated.pop();
    }
    let mut turn = Turn::new(repeated);
    turn.has_output = text.is_empty() && items.iter().any(is_image);
    turn.text = text;
    turn.reason = is_refused.then_some(Reason::Refused);
    turn.usage = USAGE.read(&response["usage"]);
    turn.stop = stop(response).map(str::to_owned);
    turn.calls = approvals;
    turn.offered = offered(&unanswered, incomplete);
    turn.unanswered = unanswered;
    turn
}

/// Returns why the model stopped.
pub(super) fn stop(response: &Value) -> Option<&str> {
    let reason = response["incomplete_details"]["reason"].as_str();
    reason.or_else(|| response["status"].as_str())
}

/// Returns an error for a response that has failed, or has not ended.
fn check_status(response: &Value) -> Result<(), ResponseError> {
    match response["status"].as_str() {
        Some("failed") => Err(FORMAT.provider_error(&response["error"])),
        Some("cancelled") => Err(FORMAT.error("it was cancelled")),
        Some(status @ ("in_progress" | "queued")) => Err(FORMAT.not_ended(status)),
        _ => Ok(()),
    }
}

/// Reads a whole response.
pub(super) fn read(response: &Value) -> Result<Turn, ResponseError> {
    check_status(response)?;
    let items = FORMAT.array(response, "output")?;
    FORMAT.turn(response, items, &response["status"], outline)
}
