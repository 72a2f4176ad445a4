//! Mistral's chat completions.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::provider::chat;
use crate::provider::dialect::{Dialect, JsonWriter, NameRules};
use crate::provider::hosted_tool::{self, HostedTool};
use crate::provider::profile::Profile;
use crate::provider::response::{ResponseError, ResponseFormat};
use crate::provider::stream::{self, StreamReader};
use crate::tool::ToolEntry;

pub(crate) const PROFILE: Profile = Profile {
    name: "Mistral",
    title: "Mistral",
    ..Profile::EMPTY
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[("Mistral", &Mistral {})];

/// Mistral's chat completions (`/v1/chat/completions`).
///
/// The id of a call is repeated unchanged: the API requires nine letters or digits, which its own
/// ids are.
///
/// If hosted tools ran, a choice has several messages, with the calls of those tools and their
/// results (Mistral's guide, "Using Connectors in Chat Completions"). All of them are part of the
/// turn. Only calls without a result are returned.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Dialect, Mistral};
///
/// let refused = json!({"object": "error", "message": "Invalid model", "code": "1500"});
/// let error = Mistral::default().calls(&refused).unwrap_err();
/// assert!(error.to_string().ends_with("the provider answered with the error 1500: Invalid model"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Mistral {}

/// Connectors and built-in tools (Mistral's Python SDK, `ChatCompletionRequest.tools`).
const HOSTED: [&str; 6] = [
    "code_interpreter",
    "connector",
    "document_library",
    "image_generation",
    "web_search",
    "web_search_premium",
];

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a chat completion of Mistral",
    // Optional in the SDK's `ToolCall`.
    id_is_optional: true,
    truncated: &["length", "model_length", "error"],
    ..chat::FORMAT
};

impl Dialect for Mistral {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, chat::parameters);
    }

    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |name| HOSTED.contains(&name))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules::COMMON;
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Mistral"
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        if response["object"] == "error" {
            return Err(FORMAT.provider_error(response));
        }
        let choice = &response["choices"][0];
        if choice["message"].is_object() {
            return chat::calls(&FORMAT, response);
        }
        let Value::Array(messages) = &choice["messages"] else {
            return chat::calls(&FORMAT, response);
        };
        let answered = |call: &ToolCall| {
            let mut messages = messages.iter();
            messages.any(|message| message["tool_call_id"] == *call.id)
        };
        let mut pending = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let mut holder = json!({ "message": message });
            if at + 1 == messages.len() {
                holder["finish_reason"] = choice["finish_reason"].clone();
            }
            let calls = chat::calls_of(&FORMAT, &holder)?.into_iter();
            pending.extend(calls.filter(|call| !answered(call)));
        }
        Ok(pending)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        let calls = |response: &Value| Mistral {}.calls(response);
        let chunks = stream::chat::Chunks::new(&FORMAT, calls);
        stream::reader(chunks.with_hosted_calls())
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        match &response["choices"][0]["messages"] {
            Value::Array(messages) => messages.clone(),
            _ => chat::turn(response),
        }
    }

    fn text(&self, response: &Value) -> String {
        chat::text(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results)
    }
}
