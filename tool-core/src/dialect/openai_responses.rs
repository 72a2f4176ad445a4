//! OpenAI's responses.

use serde_json::{Value, json};

use super::response::{Layout, ResponseError, is_type};
use super::{Dialect, JsonWriter, wire_id, write_head};
use crate::call::{ToolCall, ToolResult};
use crate::tool::ToolEntry;

/// OpenAI's responses (`/v1/responses`).
///
/// `strict` is always written: left out, the API makes schemas strict where it can, and optional
/// parameters required (OpenAI's API description, `FunctionToolParam`).
///
/// The turn is every item of the output, reasoning included. A request that names the
/// `previous_response_id` has the turn already and wants the results alone.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct OpenAiResponses {}

const LAYOUT: Layout = Layout {
    response: "a response of OpenAI",
    call: "a call in `output`",
    id: "call_id",
    id_is_optional: false,
    name: "name",
    arguments: "arguments",
};

impl Dialect for OpenAiResponses {
    fn write_tools(&self, tools: &[ToolEntry], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    out.word("type").string("function");
                    write_head(tool, out);
                    out.word("parameters").raw(tool.parameters_json());
                    out.word("strict").boolean(false);
                });
            }
        });
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let items = LAYOUT.array(response, "output")?.iter().enumerate();
        items
            .filter(|(_, item)| is_type(item, "function_call"))
            .map(|(place, item)| LAYOUT.call(place, item))
            .collect()
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        response["output"].as_array().cloned().unwrap_or_default()
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let item = |result: &ToolResult| {
            json!({
                "type": "function_call_output",
                "call_id": wire_id(result),
                "output": result.content(),
            })
        };
        results.iter().map(item).collect()
    }
}
