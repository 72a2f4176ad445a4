//! Anthropic's messages.

use serde_json::{Value, json};

use super::response::{Layout, ResponseError, is_type};
use super::{Dialect, JsonWriter, wire_id, write_head};
use crate::call::{ToolCall, ToolResult};
use crate::tool::ToolEntry;

/// Anthropic's messages (`/v1/messages`).
///
/// All results go into one user message, before any text of the user (Anthropic's guide to tool
/// use). Calls of the provider's own server tools are not for us and are passed over.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Anthropic {}

const LAYOUT: Layout = Layout {
    response: "a message of Anthropic",
    call: "a `tool_use` block in `content`",
    id: "id",
    id_is_optional: false,
    name: "name",
    arguments: "input",
};

impl Dialect for Anthropic {
    fn write_tools(&self, tools: &[ToolEntry], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    write_head(tool, out);
                    out.word("input_schema").raw(tool.parameters_json());
                });
            }
        });
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let blocks = LAYOUT.array(response, "content")?.iter().enumerate();
        blocks
            .filter(|(_, block)| is_type(block, "tool_use"))
            .map(|(place, block)| LAYOUT.call(place, block))
            .collect()
    }

    /// The assistant's message; nothing when it is empty, which the API would not take back.
    fn turn(&self, response: &Value) -> Vec<Value> {
        match &response["content"] {
            Value::Array(blocks) if !blocks.is_empty() => {
                vec![json!({ "role": "assistant", "content": blocks })]
            }
            _ => Vec::new(),
        }
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let block = |result: &ToolResult| {
            let mut block = json!({
                "type": "tool_result",
                "tool_use_id": wire_id(result),
                "content": result.content(),
            });
            if result.is_error() {
                block["is_error"] = true.into();
            }
            block
        };
        let blocks: Vec<_> = results.iter().map(block).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        vec![json!({ "role": "user", "content": blocks })]
    }
}
