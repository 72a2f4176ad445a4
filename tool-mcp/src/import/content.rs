//! From the result of another server to the output of a tool.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;
use tool_core::{AnyOutput, Audio, Content, File, Image, ResourceLink};

/// Converts a result. `Err` is the text of a call that failed.
///
/// `has_schema` is `true` if the tool has an output schema.
pub(super) fn output(result: CallToolResult, has_schema: bool) -> Result<AnyOutput, String> {
    if result.is_error == Some(true) {
        return Err(error_text(&result));
    }
    let mut parts: Vec<_> = result.content.into_iter().map(part).collect();
    let mut structured = result.structured_content;
    // A server of an older version writes the value as text only.
    if let (None, true, [Content::Text(text)]) = (&structured, has_schema, &*parts) {
        structured = serde_json::from_str(text).ok().filter(Value::is_object);
    }
    Ok(match structured {
        Some(value) => {
            parts.retain(|part| part.as_text().is_none_or(|text| !repeats(text, &value)));
            AnyOutput::new((value, parts))
        }
        None => match &mut *parts {
            [] => AnyOutput::new(()),
            [Content::Text(text)] => AnyOutput::new(std::mem::take(text)),
            _ => AnyOutput::new(parts),
        },
    })
}

fn error_text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let texts: Vec<_> = texts.map(|text| &*text.text).collect();
    match (&result.structured_content, texts.join("\n")) {
        (Some(value), text) if text.trim().is_empty() => value.to_string(),
        (None, text) if text.trim().is_empty() => "the server gave no reason".into(),
        (_, text) => text,
    }
}

/// Returns `true` if a text is the structured value again, as the specification recommends for older
/// clients. Some servers wrap a plain value in an object with one key, such as `result` or `content`.
fn repeats(text: &str, value: &Value) -> bool {
    let is_value = |value: &Value| match value {
        Value::String(string) => string == text,
        value => serde_json::from_str::<Value>(text).is_ok_and(|parsed| parsed == *value),
    };
    let wrapped = value.as_object().filter(|object| object.len() == 1);
    is_value(value) || wrapped.is_some_and(|object| object.values().all(is_value))
}

fn part(block: ContentBlock) -> Content {
    match block {
        ContentBlock::Text(text) => Content::Text(text.text),
        ContentBlock::Image(image) => {
            let media = Image::url(data_url(&image.data));
            match media.bytes() {
                Some(_) => media.with_media_type(image.mime_type).into(),
                None => undecodable("image", &image.mime_type),
            }
        }
        ContentBlock::Audio(audio) => {
            let media = Audio::url(data_url(&audio.data));
            match media.bytes() {
                Some(_) => media.with_media_type(audio.mime_type).into(),
                None => undecodable("audio", &audio.mime_type),
            }
        }
        ContentBlock::ResourceLink(resource) => {
            let mut link = ResourceLink::new(resource.uri, resource.name);
            if let Some(title) = resource.title {
                link = link.title(title);
            }
            if let Some(description) = resource.description {
                link = link.description(description);
            }
            if let Some(media_type) = resource.mime_type {
                link = link.media_type(media_type);
            }
            if let Some(size) = resource.size {
                link = link.size(size);
            }
            link.into()
        }
        ContentBlock::Resource(resource) => embedded(resource.resource),
        _ => Content::text("[a part of a kind that is not supported was left out]"),
    }
}

fn embedded(resource: ResourceContents) -> Content {
    match resource {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => {
            let media_type = mime_type.unwrap_or_else(|| "text/plain".into());
            File::text(file_name(&uri), text)
                .with_media_type(media_type)
                .into()
        }
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => {
            let media_type = mime_type.unwrap_or_else(|| "application/octet-stream".into());
            let file = File::url(file_name(&uri), data_url(&blob));
            match file.bytes() {
                Some(_) => file.with_media_type(media_type).into(),
                None => undecodable("file", &media_type),
            }
        }
        _ => Content::text("[a resource of a kind that is not supported was left out]"),
    }
}

/// Returns the last part of a URI's path.
fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or(uri);
    match path.trim_end_matches('/').rsplit('/').next() {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => uri.to_owned(),
    }
}

/// `Image::url` and its likes decode base64.
fn data_url(base64: &str) -> String {
    let mut url = String::from("data:application/octet-stream;base64,");
    url.extend(base64.split_ascii_whitespace());
    url
}

fn undecodable(kind: &str, media_type: &str) -> Content {
    let media_type = super::secrets::shorten(media_type, 100);
    Content::text(format!(
        "[{kind} of type {media_type} left out: it is not valid base64]"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool_core::{ToolCall, ToolResult};

    use super::*;

    fn converted(result: Value, has_schema: bool) -> ToolResult {
        let call = ToolCall::new("call_1", "tool", "");
        let result = serde_json::from_value(result).unwrap();
        match output(result, has_schema) {
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
                Content::text("[image of type image/png left out: it is not valid base64]"),
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
    }
}
