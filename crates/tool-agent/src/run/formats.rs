//! Reads messages in the format of any provider: what an application pushed, and what only a provider understands.

use serde_json::Value;

use super::effect::is_of_user;
use super::messages::contains;
use tool_core::content::{Audio, Content, File, Image};
use tool_core::dialect::Message;

/// The keys of a message or an item that say nothing besides its text, its calls and their results.
const CARRIED: [&str; 21] = [
    "arguments",
    "args",
    "call_id",
    "caller",
    "content",
    "custom",
    "function",
    "functionCall",
    "id",
    "index",
    "input",
    "name",
    "parts",
    "refusal",
    "role",
    "status",
    "text",
    "tool_calls",
    "toolUse",
    "type",
    "title",
];

/// The types of items with text and with calls.
const TYPES: [&str; 11] = [
    "custom",
    "custom_tool_call",
    "function",
    "function_call",
    "input_text",
    "message",
    "model_output",
    "output_text",
    "refusal",
    "text",
    "tool_use",
];

/// Adds the names of the parts of a response that are neither text nor one of these calls or its result.
pub(super) fn private_parts(message: &Value, calls: &[&str], found: &mut Vec<String>) {
    let Value::Object(members) = message else {
        return;
    };
    let is_of_call = calls.iter().any(|id| contains(message, id));
    // Messages of the user in a response have the results.
    if is_of_user(message) || is_of_call && message["role"] == "tool" {
        return;
    }
    match message["type"].as_str() {
        Some(kind) if !TYPES.contains(&kind) => {
            if !is_of_call {
                found.push(kind.to_owned());
            }
            return;
        }
        None if message["role"] == "tool" => return found.push("tool".into()),
        _ => {}
    }
    for (key, value) in members {
        match (key.as_str(), value) {
            ("content" | "parts" | "tool_calls", Value::Array(items)) => {
                for item in items {
                    private_parts(item, calls, found);
                }
            }
            (key, value) if is_empty(value) || CARRIED.contains(&key) => {}
            (key, _) => found.push(key.to_owned()),
        }
    }
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

/// Reads a message of the application. Also returns the names of the parts that are left out.
pub(super) fn read(message: &Value) -> (Option<Message>, Vec<String>) {
    let role = match message["type"].as_str() {
        Some("user_input") => "user",
        Some("model_output") => "assistant",
        _ => message["role"].as_str().unwrap_or_default(),
    };
    if !["system", "developer", "user", "assistant", "model"].contains(&role) {
        let name = message["type"].as_str().unwrap_or(role);
        return (None, vec![name.to_owned()]);
    }
    let content = match &message["content"] {
        Value::Null => &message["parts"],
        content => content,
    };
    let blocks = match content {
        Value::Array(blocks) => blocks,
        content => std::slice::from_ref(content),
    };
    let (mut parts, mut left_out) = (Vec::new(), Vec::new());
    for block in blocks.iter().filter(|block| !block.is_null()) {
        match part(block) {
            Some(part) => parts.push(part),
            None => left_out.push(name(block).to_owned()),
        }
    }
    let members = message.as_object().into_iter().flatten();
    let others = members.filter(|(key, value)| {
        let is_read = key.as_str() != "tool_calls" && CARRIED.contains(&key.as_str());
        !is_read && !is_empty(value)
    });
    left_out.extend(others.map(|(key, _)| key.clone()));
    let text = || {
        let texts = parts.iter().filter_map(Content::as_text);
        texts.collect::<Vec<_>>().join("\n")
    };
    let message = match role {
        "user" => Message::User(parts),
        "assistant" | "model" => Message::Model {
            text: text(),
            calls: Vec::new(),
        },
        _ => Message::System(text()),
    };
    (Some(message), left_out)
}

/// Returns the word of the provider for a part.
fn name(part: &Value) -> &str {
    let first = || part.as_object()?.keys().next().map(String::as_str);
    part["type"].as_str().or_else(first).unwrap_or("part")
}

/// Reads a part of a message.
fn part(part: &Value) -> Option<Content> {
    if let Some(text) = part.as_str() {
        return Some(Content::text(text));
    }
    let kind = part["type"].as_str().unwrap_or_default();
    if let (Some(text), "" | "text" | "input_text" | "output_text") = (part["text"].as_str(), kind)
    {
        // Not a thought of Gemini.
        return (part["thought"] != true).then(|| Content::text(text));
    }
    let name = ["title", "filename", "document_name", "name"].iter();
    let name = name.map(|key| &part[*key]).find_map(Value::as_str);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let url = match kind {
        "image_url" | "input_image" => {
            let url = &part["image_url"];
            return Some(Image::url(url.as_str().or_else(|| url["url"].as_str())?).into());
        }
        "input_audio" => {
            let audio = &part["input_audio"];
            let data = audio.as_str().or_else(|| audio["data"].as_str())?;
            // Mistral's have no format, and WAV starts with `RIFF`.
            let is_wav = audio["format"] == "wav" || data.starts_with("UklGR");
            let media_type = if is_wav { "audio/wav" } else { "audio/mpeg" };
            return Some(Audio::url(data_url(media_type, data)).into());
        }
        "file" => {
            let file = &part["file"];
            let name = file["filename"].as_str().unwrap_or("file");
            return Some(File::url(name, file["file_data"].as_str()?).into());
        }
        "input_file" => text(&part["file_data"]).or_else(|| text(&part["file_url"])),
        "document_url" => text(&part["document_url"]),
        _ => None,
    };
    if let Some(url) = url {
        return Some(File::url(name.unwrap_or("file"), url).into());
    }
    // Anthropic's, those of the Interactions API, Gemini's and Bedrock's.
    let source = &part["source"];
    match source["type"].as_str() {
        Some("text") => {
            let text = source["data"].as_str()?;
            return Some(File::text(name.unwrap_or("file"), text).into());
        }
        Some("url") => return media(kind, None, source["url"].as_str()?, name),
        Some("base64") => {
            let media_type = source["media_type"].as_str()?;
            let url = data_url(media_type, source["data"].as_str()?);
            return media(kind, Some(media_type), &url, name);
        }
        _ => {}
    }
    let of_gemini = [
        (part, "mime_type", "data", "uri"),
        (&part["inlineData"], "mimeType", "data", "-"),
        (&part["fileData"], "mimeType", "-", "fileUri"),
    ];
    for (media_part, media_type, data, uri) in of_gemini {
        let Some(media_type) = media_part[media_type].as_str() else {
            continue;
        };
        let data = media_part[data].as_str();
        let url = data.map(|data| data_url(media_type, data));
        let url = url.or_else(|| text(&media_part[uri]))?;
        return media("", Some(media_type), &url, name);
    }
    ["image", "audio", "document"].iter().find_map(|kind| {
        let block = &part[*kind];
        let format = block["format"].as_str()?;
        let media_type = media_type_of(kind, format);
        let source = &block["source"];
        let bytes = source["bytes"].as_str();
        let url = bytes.map(|bytes| data_url(&media_type, bytes));
        let url = url.or_else(|| text(&source["s3Location"]["uri"]))?;
        media(kind, Some(&media_type), &url, block["name"].as_str())
    })
}

fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

/// Returns the media type of a format of Bedrock.
fn media_type_of(kind: &str, format: &str) -> String {
    let of_document = match format {
        "pdf" => "application/pdf",
        "csv" => "text/csv",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "html" => "text/html",
        "txt" => "text/plain",
        "md" => "text/markdown",
        "mp3" => "audio/mpeg",
        format => return format!("{kind}/{format}"),
    };
    of_document.to_owned()
}

/// Returns a part by its kind and its media type. There is none for a video.
fn media(kind: &str, media_type: Option<&str>, url: &str, name: Option<&str>) -> Option<Content> {
    let kind = match media_type.and_then(|media_type| media_type.split_once('/')) {
        Some((kind @ ("image" | "audio" | "video"), _)) => kind,
        _ => kind,
    };
    let with_type = |has_type: Option<&str>| media_type.filter(|_| has_type.is_none());
    Some(match kind {
        "image" => {
            let image = Image::url(url);
            match with_type(image.media_type()) {
                Some(media_type) => image.with_media_type(media_type.to_owned()).into(),
                None => image.into(),
            }
        }
        "audio" => {
            let audio = Audio::url(url);
            match with_type(audio.media_type()) {
                Some(media_type) => audio.with_media_type(media_type.to_owned()).into(),
                None => audio.into(),
            }
        }
        "video" => return None,
        _ => {
            let file = File::url(name.unwrap_or("file"), url);
            match with_type(file.media_type()) {
                Some(media_type) => file.with_media_type(media_type.to_owned()).into(),
                None => file.into(),
            }
        }
    })
}
