//! The shape of chat completions, which several providers share.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult, WireId};
use crate::provider::dialect::{JsonWriter, wire_id, write_head};
use crate::provider::hosted;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::response::{Layout, ResponseError, is_type, words};
use crate::tool::ToolEntry;

/// Where the parts of a call stand.
pub(crate) const LAYOUT: Layout = Layout {
    response: "a chat completion",
    call: "a call in `choices[0].message.tool_calls`",
    id: "id",
    id_is_optional: false,
    name: "function.name",
    arguments: "function.arguments",
    stop: "finish_reason",
    cut_short: &["length", "content_filter"],
};

/// Functions, each with the keys that `schema` writes, then hosted tools.
pub(crate) fn write_tools(
    tools: &[ToolEntry],
    hosted: &[HostedTool],
    out: &mut JsonWriter,
    schema: impl Fn(&ToolEntry, &mut JsonWriter),
) {
    out.array(|out| {
        for tool in tools {
            out.object(|out| {
                out.word("type").string("function");
                out.word("function").object(|out| {
                    write_head(tool, out);
                    schema(tool, out);
                });
            });
        }
        hosted::write(hosted, out);
    });
}

/// The schema of the arguments as it is.
pub(crate) fn parameters(tool: &ToolEntry, out: &mut JsonWriter) {
    out.word("parameters").raw(tool.parameters_json());
}

/// The calls of the first choice.
pub(crate) fn calls(layout: &Layout, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
    let choice = layout.first(response, "choices")?;
    // A piece of a stream has `delta` instead, and its calls must not go unseen.
    if !choice["message"].is_object() {
        return Err(layout.refuse("`choices[0].message` is missing"));
    }
    calls_of(layout, choice)
}

/// The calls of something that has a message.
pub(crate) fn calls_of(layout: &Layout, holder: &Value) -> Result<Vec<ToolCall>, ResponseError> {
    let calls = layout.optional_array(holder, "message.tool_calls")?;
    // Some servers leave the type out.
    let is_call = |call: &Value| is_type(call, "function") || call["type"].is_null();
    layout.calls(holder, calls, is_call)
}

/// The message of the first choice.
pub(crate) fn turn(response: &Value) -> Vec<Value> {
    match &response["choices"][0]["message"] {
        Value::Null => Vec::new(),
        message => vec![message.clone()],
    }
}

/// What the message of the first choice says.
pub(crate) fn text(response: &Value) -> String {
    let message = &response["choices"][0]["message"];
    let said = words(&message["content"]);
    // It stands beside the content, which is empty then.
    match message["refusal"].as_str() {
        Some(refusal) if said.is_empty() => refusal.to_owned(),
        _ => said,
    }
}

/// One message a result.
pub(crate) fn results(results: &[ToolResult]) -> Vec<Value> {
    let message = |result: &ToolResult| {
        let mut message = json!({ "role": "tool", "content": result.content() });
        if result.wire_id != WireId::Absent {
            message["tool_call_id"] = wire_id(result);
        }
        message
    };
    results.iter().map(message).collect()
}
