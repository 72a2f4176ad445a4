//! The format of chat completions, which several providers share.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult, WireId};
use crate::content::Content;
use crate::provider::dialect::{JsonWriter, wire_id, write_head};
use crate::provider::hosted_tool::{self, HostedTool};
use crate::provider::media::{Unwritable, Written, WrittenResult, chat_text, write_parts};
use crate::provider::response::{
    CustomCalls, ResponseError, ResponseFormat, content_text, is_type,
};
use crate::tool::ToolEntry;

/// The format of a response, for providers to adapt.
pub(crate) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a chat completion",
    call: "a call in `choices[0].message.tool_calls`",
    id: "id",
    id_is_optional: false,
    name: "function.name",
    arguments: "function.arguments",
    stop_reason: "finish_reason",
    // "error" is what OpenRouter and Mistral send for a response that failed on its way.
    truncated: &["length", "content_filter", "error"],
    custom: Some(&CustomCalls {
        kind: "custom",
        name: "custom.name",
        input: "custom.input",
    }),
    has_origin: false,
};

/// Writes functions, each with the keys that `schema` writes, then hosted tools.
pub(crate) fn write_tools(
    tools: &[ToolEntry],
    hosted: &[HostedTool],
    out: &mut JsonWriter,
    schema: impl Fn(&ToolEntry, &mut JsonWriter),
) {
    out.array(|out| {
        for tool in tools {
            write_function(tool, out, &schema);
        }
        hosted_tool::write(hosted, out);
    });
}

/// Writes one function.
pub(crate) fn write_function(
    tool: &ToolEntry,
    out: &mut JsonWriter,
    schema: impl Fn(&ToolEntry, &mut JsonWriter),
) {
    out.object(|out| {
        out.word("type").string("function");
        out.word("function").object(|out| {
            write_head(tool, out);
            schema(tool, out);
        });
    });
}

/// Writes the schema of the arguments unchanged.
pub(crate) fn parameters(tool: &ToolEntry, out: &mut JsonWriter) {
    out.word("parameters").raw(tool.portable_json());
}

/// Returns the calls of the first choice.
pub(crate) fn calls(
    format: &ResponseFormat,
    response: &Value,
) -> Result<Vec<ToolCall>, ResponseError> {
    let choice = format.first(response, "choices")?;
    // A chunk of a stream has `delta` instead. Its calls must not be ignored.
    if !choice["message"].is_object() {
        return Err(format.error("`choices[0].message` is missing"));
    }
    calls_of(format, choice)
}

/// Returns the calls of the message in `holder`.
pub(crate) fn calls_of(
    format: &ResponseFormat,
    holder: &Value,
) -> Result<Vec<ToolCall>, ResponseError> {
    let calls = format.optional_array(holder, "message.tool_calls")?;
    // Some servers omit the type.
    let is_call = |call: &Value| {
        is_type(call, "function") || call["type"].is_null() || format.is_custom(call)
    };
    format.calls(holder, calls, is_call)
}

/// Returns the message of the first choice.
pub(crate) fn turn(response: &Value) -> Vec<Value> {
    match &response["choices"][0]["message"] {
        Value::Null => Vec::new(),
        message => vec![message.clone()],
    }
}

/// Returns the text of the first choice.
pub(crate) fn text(response: &Value) -> String {
    let message = &response["choices"][0]["message"];
    let text = content_text(&message["content"]);
    // A refusal comes with empty content.
    match message["refusal"].as_str() {
        Some(refusal) if text.is_empty() => refusal.to_owned(),
        _ => text,
    }
}

/// Writes a part for the user's message after the results.
pub(crate) type WritePart = fn(&Content) -> Result<Value, Unwritable>;

/// Writes the parts of a result. Only text can be in it.
pub(crate) fn written(result: &ToolResult, part: WritePart) -> WrittenResult {
    write_parts(result, |content, _| part(content).map(Written::After))
}

/// Returns one message per result, then one of the user with the parts that are not text.
pub(crate) fn results(results: &[ToolResult], part: WritePart) -> Vec<Value> {
    let mut after = Vec::new();
    let message = |result: &ToolResult| {
        let mut written = written(result, part);
        let text = if result.parts().is_empty() {
            result.content().to_owned()
        } else {
            written.text()
        };
        if let Some((label, blocks)) = written.labelled_after(result) {
            after.push(chat_text(label));
            after.extend(blocks);
        }
        let mut message = json!({ "role": "tool", "content": text });
        if result.wire_id != WireId::Absent {
            message["tool_call_id"] = wire_id(result);
        }
        message
    };
    let mut messages: Vec<_> = results.iter().map(message).collect();
    if !after.is_empty() {
        messages.push(json!({ "role": "user", "content": after }));
    }
    messages
}
