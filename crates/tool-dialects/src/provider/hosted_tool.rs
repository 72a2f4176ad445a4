//! Hosted tools in a request.

use serde_json::Value;
use tool_core::dialect::HostedTool;
use tool_core::dialect::write::JsonWriter;

/// Returns `true` for a tool that is identified by its `type`, and is known or unchecked.
pub(crate) fn is_of_type(tool: &HostedTool, is_known: impl Fn(&str) -> bool) -> bool {
    match &tool.json()["type"] {
        // A function belongs to the registry.
        Value::String(name) => name != "function" && (tool.is_unchecked() || is_known(name)),
        _ => false,
    }
}

/// Returns `true` for a tool that is identified by its keys, and is known or unchecked.
pub(crate) fn has_keys(tool: &HostedTool, is_known: impl Fn(&str) -> bool) -> bool {
    let Value::Object(members) = tool.json() else {
        return false;
    };
    let is_accepted = |key: &str| key != "type" && (tool.is_unchecked() || is_known(key));
    !members.is_empty() && members.keys().all(|key| is_accepted(key))
}

/// Writes an object that identifies a hosted tool in a list of allowed tools (OpenAI's Python SDK,
/// `ToolChoiceAllowedParam`).
pub(crate) fn write_reference(tool: &HostedTool, out: &mut JsonWriter) {
    let json = tool.json();
    out.object(|out| {
        for key in ["type", "server_label", "name"] {
            if let Some(value) = json[key].as_str() {
                out.word(key).string(value);
            }
        }
    });
}

/// Writes a hosted tool with another member, unless it has that already.
pub(crate) fn write_with(tool: &HostedTool, key: &'static str, json: &str, out: &mut JsonWriter) {
    match tool.json() {
        Value::Object(members) if !members.contains_key(key) => {
            out.object(|out| {
                for (key, value) in members {
                    out.key(key).raw(&value.to_string());
                }
                out.word(key).raw(json);
            });
        }
        json => {
            out.raw(&json.to_string());
        }
    }
}

pub(crate) fn write(hosted: &[HostedTool], out: &mut JsonWriter) {
    for tool in hosted {
        out.raw(&tool.to_string());
    }
}
