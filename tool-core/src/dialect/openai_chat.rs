//! OpenAI's chat completions, which many other providers and local servers speak too.

use serde_json::{Value, json};

use super::response::{Layout, ResponseError, is_type};
use super::{Dialect, JsonWriter, wire_id, write_head};
use crate::call::{ToolCall, ToolResult};
use crate::tool::ToolEntry;

/// OpenAI's chat completions (`/v1/chat/completions`).
///
/// Calls are read from the first choice. `strict` is left out, which means `false` here
/// (OpenAI's API description, `FunctionObject`).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct OpenAiChat {}

const LAYOUT: Layout = Layout {
    response: "a chat completion",
    call: "a call in `choices[0].message.tool_calls`",
    id: "id",
    id_is_optional: false,
    name: "function.name",
    arguments: "function.arguments",
};

impl Dialect for OpenAiChat {
    fn write_tools(&self, tools: &[ToolEntry], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    out.word("type").string("function");
                    out.word("function").object(|out| {
                        write_head(tool, out);
                        out.word("parameters").raw(tool.parameters_json());
                    });
                });
            }
        });
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let Some(choice) = LAYOUT.array(response, "choices")?.first() else {
            return Ok(Vec::new());
        };
        // A piece of a stream has `delta` instead, and its calls must not go unseen.
        if !choice["message"].is_object() {
            return Err(LAYOUT.refuse("`choices[0].message` is missing"));
        }
        let calls = LAYOUT.optional_array(choice, "message.tool_calls")?;
        let calls = calls.iter().enumerate();
        calls
            // Some servers leave the type out.
            .filter(|(_, call)| is_type(call, "function") || call["type"].is_null())
            .map(|(place, call)| LAYOUT.call(place, call))
            .collect()
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        match &response["choices"][0]["message"] {
            Value::Null => Vec::new(),
            message => vec![message.clone()],
        }
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let message = |result: &ToolResult| {
            json!({
                "role": "tool",
                "tool_call_id": wire_id(result),
                "content": result.content(),
            })
        };
        results.iter().map(message).collect()
    }
}
