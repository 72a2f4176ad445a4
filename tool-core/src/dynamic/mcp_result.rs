//! [`AnyOutput::from_mcp`]: from the result of another server to the output of a tool.

use std::mem;

use serde_json::Value;

use crate::content::{Audio, Content, File, Image, ResourceLink};
use crate::output::AnyOutput;
use crate::schema::messages::shorten;

impl AnyOutput {
    /// Converts a `tools/call` result of the Model Context Protocol, for the closure of a tool from
    /// [`DynamicTool::from_mcp`](crate::dynamic::DynamicTool::from_mcp).
    ///
    /// Text, structured content and media get the form of a result of this program's tools. A string that
    /// repeats the structured content is dropped. An unreadable part is replaced by a note.
    ///
    /// `has_output_schema` says that the server lists the tool with an output schema: a string with a JSON
    /// object then is the structured content, as servers of older versions send it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dynamic::DynamicTool;
    /// use tool_core::{AnyOutput, Registry, ToolCall};
    ///
    /// let listed = json!({"name": "get-sum", "inputSchema": {"type": "object"}});
    /// let tool = DynamicTool::from_mcp(&listed).build(async |_arguments, _call| {
    ///     // The client of your choice sends the arguments to the server.
    ///     let result = json!({"content": [{"type": "text", "text": "5"}], "structuredContent": 5});
    ///     AnyOutput::from_mcp(result, false)
    /// })?;
    /// let registry = Registry::builder().tool(tool).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "get-sum", "{}"));
    /// assert_eq!(result.structured(), Some(json!(5)));
    /// assert!(result.parts().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the text of a result that is marked as an error, and an error if it is not a result.
    pub fn from_mcp(
        result: impl Into<Value>,
        has_output_schema: bool,
    ) -> Result<AnyOutput, String> {
        let mut result = result.into();
        let content = match result.get_mut("content").map(Value::take) {
            Some(Value::Array(blocks)) => blocks,
            None | Some(Value::Null) if result.is_object() => Vec::new(),
            _ => return Err("the server answered with something that is not a result".into()),
        };
        let mut structured = result.get_mut("structuredContent").map(Value::take);
        let mut parts: Vec<_> = content.into_iter().map(part).collect();
        if result["isError"] == true {
            return Err(error_text(&parts, structured.as_ref()));
        }
        if let (None, true, [Content::Text(text)]) = (&structured, has_output_schema, &*parts) {
            structured = serde_json::from_str(text).ok().filter(Value::is_object);
        }
        Ok(match structured {
            Some(value) => {
                parts.retain(|part| part.as_text().is_none_or(|text| !repeats(text, &value)));
                AnyOutput::new((value, parts))
            }
            None => match &mut *parts {
                [] => AnyOutput::new(()),
                [Content::Text(text)] => AnyOutput::new(mem::take(text)),
                _ => AnyOutput::new(parts),
            },
        })
    }
}

fn error_text(parts: &[Content], structured: Option<&Value>) -> String {
    let texts: Vec<_> = parts.iter().filter_map(Content::as_text).collect();
    match (structured, texts.join("\n")) {
        (Some(value), text) if text.trim().is_empty() => value.to_string(),
        (None, text) if text.trim().is_empty() => "the server gave no reason".into(),
        (_, text) => text,
    }
}

/// Returns `true` if a string is the structured value again, as the specification recommends for older
/// clients. Some servers wrap a plain value in an object with one key, such as `result` or `content`.
fn repeats(text: &str, value: &Value) -> bool {
    let is_value = |value: &Value| match value {
        Value::String(string) => string == text,
        value => serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *value),
    };
    let wrapped = value.as_object().filter(|object| object.len() == 1);
    is_value(value) || wrapped.is_some_and(|object| object.values().all(is_value))
}

/// Converts a block of the content.
fn part(mut block: Value) -> Content {
    let kind = text(&mut block, "type").unwrap_or_default();
    let converted = match &*kind {
        "text" => text(&mut block, "text").map(Content::Text),
        "image" => media(&block, "data", |media_type, data| {
            let image = Image::url(data);
            image.bytes()?;
            Some(image.with_media_type(media_type).into())
        }),
        "audio" => media(&block, "data", |media_type, data| {
            let audio = Audio::url(data);
            audio.bytes()?;
            Some(audio.with_media_type(media_type).into())
        }),
        "resource_link" => link(&mut block),
        "resource" => embedded(&mut block["resource"]),
        _ => None,
    };
    let unreadable = || Content::text(format!("[{} left out: it can't be read]", shorten(&kind)));
    converted.unwrap_or_else(unreadable)
}

/// Removes a string from an object.
fn text(object: &mut Value, key: &str) -> Option<String> {
    match object.get_mut(key)?.take() {
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Converts media with a `mimeType`, and base64 under the key.
fn media(
    block: &Value,
    key: &str,
    convert: impl FnOnce(String, String) -> Option<Content>,
) -> Option<Content> {
    let media_type = block["mimeType"].as_str()?;
    // `Image::url` and its likes decode base64.
    let mut url = String::from("data:application/octet-stream;base64,");
    url.extend(block[key].as_str()?.split_ascii_whitespace());
    let undecodable = || {
        let media_type = shorten(media_type);
        let note = format!("[media of type {media_type} left out: it is not valid base64]");
        Content::text(note)
    };
    Some(convert(media_type.into(), url).unwrap_or_else(undecodable))
}

fn link(block: &mut Value) -> Option<Content> {
    let mut link = ResourceLink::new(text(block, "uri")?, text(block, "name")?);
    if let Some(title) = text(block, "title") {
        link = link.title(title);
    }
    if let Some(description) = text(block, "description") {
        link = link.description(description);
    }
    if let Some(media_type) = text(block, "mimeType") {
        link = link.media_type(media_type);
    }
    if let Some(size) = block["size"].as_u64() {
        link = link.size(size);
    }
    Some(link.into())
}

fn embedded(resource: &mut Value) -> Option<Content> {
    let name = file_name(resource["uri"].as_str()?);
    if let Some(text) = text(resource, "text") {
        let media_type = resource["mimeType"].as_str().unwrap_or("text/plain");
        let file = File::text(name, text).with_media_type(media_type.to_owned());
        return Some(file.into());
    }
    if !resource["mimeType"].is_string() {
        resource["mimeType"] = "application/octet-stream".into();
    }
    media(resource, "blob", |media_type, data| {
        let file = File::url(name, data);
        file.bytes()?;
        Some(file.with_media_type(media_type).into())
    })
}

/// Returns the last part of a URI's path.
fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    match path.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => uri.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::call::{ToolCall, ToolResult};

    fn converted(result: Value, has_schema: bool) -> ToolResult {
        let call = ToolCall::new("call_1", "tool", "");
        match AnyOutput::from_mcp(result, has_schema) {
            Ok(output) => ToolResult::new(&call, output),
            Err(text) => ToolResult::failed(&call, text),
        }
    }

    #[test]
    fn a_text_stays_a_text() {
        let result = converted(json!({"content": [{"type": "text", "text": "5"}]}), false);
        assert_eq!(result.content(), "5");
        assert!(result.parts().is_empty());
        assert!(result.structured().is_none());
    }

    #[test]
    fn parts_keep_their_order_and_bytes() {
        let result = converted(
            json!({"content": [
                {"type": "image", "data": "Zm9v", "mimeType": "image/png"},
                {"type": "text", "text": "caption"},
                {"type": "audio", "data": "Zm9v", "mimeType": "audio/wav"},
                {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt", "size": 3},
                {"type": "resource", "resource": {
                    "uri": "demo://x/notes.md", "mimeType": "text/markdown", "text": "# Hi",
                }},
                {"type": "resource", "resource": {"uri": "demo://blob", "blob": "Zm9v"}},
                {"type": "image", "data": "%%%", "mimeType": "image/png"},
                {"type": "image", "data": "Zm9v"},
                {"type": "hologram"},
                7,
            ]}),
            false,
        );
        let link = ResourceLink::new("file:///a.txt", "a.txt").size(3);
        assert_eq!(
            result.parts(),
            [
                Image::png(b"foo").into(),
                Content::text("caption"),
                Audio::wav(b"foo").into(),
                link.into(),
                File::text("notes.md", "# Hi")
                    .with_media_type("text/markdown")
                    .into(),
                File::new("blob", "application/octet-stream", b"foo").into(),
                Content::text("[media of type image/png left out: it is not valid base64]"),
                Content::text("[image left out: it can't be read]"),
                Content::text("[hologram left out: it can't be read]"),
                Content::text("[ left out: it can't be read]"),
            ]
        );
    }

    #[test]
    fn a_text_that_repeats_the_value_is_dropped() {
        let both = |text: &str, value: Value| {
            let content = json!([{"type": "text", "text": text}]);
            converted(
                json!({"content": content, "structuredContent": value}),
                true,
            )
        };
        let result = both("{\"b\": 2, \"a\": 1}", json!({"a": 1, "b": 2}));
        assert_eq!(result.structured(), Some(json!({"a": 1, "b": 2})));
        assert!(result.parts().is_empty());
        assert!(both("5", json!({"result": 5})).parts().is_empty());
        assert!(both("five", json!({"content": "five"})).parts().is_empty());
        assert_eq!(both("5", json!({"a": 5, "b": 5})).parts().len(), 2);
        let result = both("It is 5.", json!({"result": 5}));
        assert_eq!(result.parts().len(), 2);
    }

    #[test]
    fn a_value_in_a_text_counts_only_with_a_schema() {
        let content = json!({"content": [{"type": "text", "text": "{\"a\":1}"}]});
        assert_eq!(
            converted(content.clone(), true).structured(),
            Some(json!({"a": 1}))
        );
        assert_eq!(converted(content, false).structured(), None);
    }

    #[test]
    fn a_failure_is_an_error() {
        let content = json!([{"type": "text", "text": "no such city"}]);
        let result = converted(json!({"content": content, "isError": true}), false);
        assert!(result.is_error() && result.content().ends_with("no such city"));
        let result = converted(json!({"isError": true}), false);
        assert!(result.content().ends_with("the server gave no reason"));
        for wrong in [json!(7), json!([]), json!({"content": "text"})] {
            let result = converted(wrong, false);
            assert!(result.content().ends_with("that is not a result"));
        }
    }
}
