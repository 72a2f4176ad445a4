//! Google's Gemini.

use serde_json::{Value, json};

use super::response::{Layout, ResponseError};
use super::{Dialect, JsonWriter, wire_id, write_head};
use crate::call::{ToolCall, ToolResult, WireId};
use crate::schema::Kind;
use crate::tool::ToolEntry;

/// Gemini's `generateContent`, of the Gemini API and of Vertex AI.
///
/// Schemas go under `parametersJsonSchema`: under `parameters` the API takes a subset of OpenAPI,
/// and has refused `additionalProperties` there. A tool without parameters has neither (Google's
/// Gen AI SDK, `FunctionDeclaration`).
///
/// Calls are read from the first candidate. They may have no id; their results then have none
/// either and are told apart by their order.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Gemini {}

const LAYOUT: Layout = Layout {
    response: "a response of Gemini",
    call: "a call in `candidates[0].content.parts`",
    id: "functionCall.id",
    id_is_optional: true,
    name: "functionCall.name",
    arguments: "functionCall.args",
};

impl Dialect for Gemini {
    fn write_tools(&self, tools: &[ToolEntry], out: &mut JsonWriter) {
        out.array(|out| {
            if tools.is_empty() {
                return;
            }
            out.object(|out| {
                out.word("functionDeclarations").array(|out| {
                    for tool in tools {
                        out.object(|out| write_tool(tool, out));
                    }
                });
            });
        });
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        // A blocked prompt has feedback and no candidates.
        if response["candidates"].is_null() && response["promptFeedback"].is_object() {
            return Ok(Vec::new());
        }
        let Some(candidate) = LAYOUT.array(response, "candidates")?.first() else {
            return Ok(Vec::new());
        };
        let parts = LAYOUT.optional_array(candidate, "content.parts")?;
        let parts = parts.iter().enumerate();
        parts
            .filter(|(_, part)| part["functionCall"].is_object())
            .map(|(place, part)| LAYOUT.call(place, part))
            .collect()
    }

    /// The model's content with its thought signatures; nothing when it has no parts, which the
    /// API would not take back.
    fn turn(&self, response: &Value) -> Vec<Value> {
        let content = &response["candidates"][0]["content"];
        match &content["parts"] {
            Value::Array(parts) if !parts.is_empty() => vec![content.clone()],
            _ => Vec::new(),
        }
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let parts: Vec<_> = results.iter().map(part).collect();
        if parts.is_empty() {
            return Vec::new();
        }
        vec![json!({ "role": "user", "parts": parts })]
    }
}

fn write_tool(tool: &ToolEntry, out: &mut JsonWriter) {
    write_head(tool, out);
    if !matches!(tool.parameters().kind(), Kind::Object([])) {
        out.word("parametersJsonSchema").raw(tool.parameters_json());
    }
}

/// One result. The keys `output` and `error` are the SDK's (`FunctionResponse.response`).
fn part(result: &ToolResult) -> Value {
    let response = if result.is_error() {
        json!({ "error": result.content() })
    } else {
        let output = result.structured();
        json!({ "output": output.unwrap_or_else(|| result.content().into()) })
    };
    let mut answer = json!({ "name": result.name(), "response": response });
    if result.wire_id != WireId::Absent {
        answer["id"] = wire_id(result);
    }
    json!({ "functionResponse": answer })
}
