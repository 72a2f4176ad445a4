//! Reads messages of a conversation that goes on at another provider.

use serde_json::Value;
use tool_core::content::{Audio, Content, File, Image};
use tool_core::dialect::Message;

/// The types of calls, and the keys of calls without a type.
const CALLS: [&str; 7] = [
    "custom",
    "custom_tool_call",
    "function",
    "function_call",
    "functionCall",
    "tool_use",
    "toolUse",
];

/// Reads a part other than text.
pub(crate) type ReadPart = fn(&Value) -> Option<Content>;

/// Reads a message, for [`Dialect::read_message`](tool_core::dialect::Dialect::read_message).
pub(crate) fn read(message: &Value, part: ReadPart) -> (Option<Message>, Vec<String>) {
    let kind = message["type"].as_str();
    let role = match kind {
        _ if is_call(message) => "assistant",
        Some("user_input") => "user",
        Some("model_output") => "assistant",
        None | Some("message") => message["role"].as_str().unwrap_or_default(),
        Some(_) => "",
    };
    let (is_user, is_model) = (role == "user", ["assistant", "model"].contains(&role));
    if !is_user && !is_model && !["system", "developer"].contains(&role) {
        let name = kind.or_else(|| message["role"].as_str());
        return (None, vec![name.unwrap_or("message").to_owned()]);
    }
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    if is_call(message) {
        left_out.push("call".to_owned());
    }
    for (key, value) in message.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("content" | "parts" | "tool_calls", Value::Array(blocks)) => {
                for block in blocks {
                    if is_call(block) {
                        left_out.push("call".to_owned());
                    } else if let Some(text) = text(block) {
                        parts.push(Content::text(text));
                    } else {
                        match part(block).filter(|_| is_user) {
                            Some(part) => parts.push(part),
                            None => left_out.push(name(block).to_owned()),
                        }
                        continue;
                    }
                    private_keys(block, &mut left_out);
                }
            }
            ("content" | "parts", Value::String(text)) => parts.push(Content::text(text)),
            _ => {}
        }
    }
    private_keys(message, &mut left_out);
    if parts.is_empty() {
        return (None, left_out);
    }
    if is_user {
        return (Some(Message::User(parts)), left_out);
    }
    let texts: Vec<_> = parts.iter().filter_map(Content::as_text).collect();
    let text = texts.join("\n");
    let message = if is_model {
        let calls = Vec::new();
        Message::Model { text, calls }
    } else {
        Message::System(text)
    };
    (Some(message), left_out)
}

fn is_call(block: &Value) -> bool {
    let kind = block["type"].as_str();
    let is_call = |name: &str| kind == Some(name) || kind.is_none() && !block[name].is_null();
    CALLS.into_iter().any(is_call)
}

/// Returns the text of a part, which is no thought.
fn text(block: &Value) -> Option<&str> {
    match block["type"].as_str() {
        None | Some("text" | "input_text" | "output_text") if block["thought"] != true => {
            block.as_str().or_else(|| block["text"].as_str())
        }
        Some("refusal") => block["refusal"].as_str(),
        _ => None,
    }
}

/// Returns the provider's word for a part.
fn name(block: &Value) -> &str {
    if block["thought"] == true {
        return "thought";
    }
    let first = || block.as_object()?.keys().next().map(String::as_str);
    block["type"].as_str().or_else(first).unwrap_or("part")
}

/// Adds the keys that only the provider understands.
fn private_keys(block: &Value, found: &mut Vec<String>) {
    let is_read = |key: &str, value: &Value| match key {
        // These say nothing besides texts, calls and their results.
        "arguments" | "args" | "call_id" | "caller" | "id" | "index" | "input" | "name"
        | "refusal" | "role" | "status" | "text" | "title" | "type" => true,
        "content" | "parts" | "tool_calls" => value.is_array() || value.is_string(),
        key => CALLS.contains(&key),
    };
    let members = block.as_object().into_iter().flatten();
    let private = members.filter(|(key, value)| !is_empty(value) && !is_read(key, value));
    found.extend(private.map(|(key, _)| key.clone()));
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Returns the part with these data or this URL. There is none for a video.
pub(crate) fn media(
    media_type: &str,
    data: Option<&str>,
    url: Option<&str>,
    name: Option<&str>,
) -> Option<Content> {
    let url = match data {
        Some(data) => format!("data:{media_type};base64,{data}"),
        None => url?.to_owned(),
    };
    let given = media_type.to_owned();
    Some(match media_type.split('/').next() {
        Some("image") => Image::url(url).with_media_type(given).into(),
        Some("audio") => Audio::url(url).with_media_type(given).into(),
        Some("video") => return None,
        _ => file(name, &url).with_media_type(given).into(),
    })
}

/// Returns the file at a URL.
pub(crate) fn file(name: Option<&str>, url: &str) -> File {
    File::url(name.unwrap_or("file"), url)
}
