//! Responses of OpenAI's Responses API.

use serde_json::Value;

use super::trained::PROVIDER;
use super::trained_calls;
use crate::provider::response::{
    CustomCalls, NoId, ResponseError, ResponseFormat, content_text, is_type,
};
use crate::provider::turn::Turn;
use crate::provider::unanswered::{Answered, Offered, Unanswered};
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

/// Items that expect no answer, besides outputs (`ResponseOutputItem` and `BetaResponseOutputItem` of OpenAI's Python SDK
/// 3.54). What a program or another agent waits for are calls of their own.
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

/// Returns the items that expect an answer and are no calls (rule `openai.responses.answers`), and those of them that a tool
/// can answer.
fn unanswered(output: &[Value], is_truncated: bool) -> (Vec<Unanswered>, Vec<Offered>) {
    let (mut unanswered, mut offered) = (Vec::new(), Vec::new());
    let answered = Answered::by(output, |item| {
        let kind = item["type"].as_str()?;
        match kind {
            // The output of the local shell has the id of its call under `id`.
            _ if kind.ends_with("_output") => item["call_id"].as_str().or(item["id"].as_str()),
            "mcp_approval_response" => item["approval_request_id"].as_str(),
            _ => None,
        }
    });
    for (at, item) in output.iter().enumerate() {
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
        if !is_asked || is_call(item) || answered.has(id) {
            continue;
        }
        if let Some((kind, mut call)) = trained_calls::call(item) {
            call.is_truncated |= is_truncated && at + 1 == output.len();
            offered.push(Offered {
                asked: unanswered.len(),
                tool: (PROVIDER, kind),
                call,
            });
        }
        unanswered.push(Unanswered::of(item, id));
    }
    (unanswered, offered)
}

/// Returns the turn of a response without its calls. The text has a paragraph for each message.
pub(super) fn outline(response: &Value) -> Turn {
    let output = response["output"].as_array();
    let messages = output.into_iter().flatten();
    let messages = messages.filter(|item| is_type(item, "message"));
    let texts: Vec<_> = messages
        .map(|item| content_text(&item["content"]))
        .collect();
    let (unanswered, offered) = unanswered(
        output.map_or(&[], Vec::as_slice),
        FORMAT.is_truncated(&response["status"]),
    );
    Turn {
        text: texts.join("\n\n"),
        usage: USAGE.read(&response["usage"]),
        stop: stop(response).map(str::to_owned),
        unanswered,
        offered,
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
