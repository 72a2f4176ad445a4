//! The Model Context Protocol, seen from a server.

mod response;
mod stream;

use serde_json::{Value, json};
use tool_core::content::{Content, File, Media, ResourceLink};
use tool_core::dialect::write::{Deferral, JsonWriter, write_head};
use tool_core::dialect::{Dialect, HostedTool, OmittedPart, ResponseError, StreamReader, Turn};
use tool_core::spec::{Annotations, OutputValues};
use tool_core::{ToolEntry, ToolErrorKind, ToolResult};

use self::stream::Messages;
use crate::provider::media::{self, Unwritable, Written, WrittenResult, wire_id, write_parts};
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

/// The Model Context Protocol, for a server: writes the tools of a `tools/list` result, reads
/// `tools/call` requests, and writes JSON-RPC responses.
///
/// A tool with [tags](tool_core::ToolSpec::tags) has them in its metadata:
/// `"_meta":{"tool-core/tags":["admin"]}`. Only this dialect writes [`meta`](tool_core::ToolSpec::meta_json) and
/// [`icons`](tool_core::ToolSpec::icons_json), and tools that are [for apps](tool_core::ToolSpec::is_for_models) alone.
///
/// The default protocol version is 2026-07-28. In 2025-11-25, only objects are structured results.
///
/// The server must respond to a message for which [`read`](Dialect::read) returns an error: to a
/// `tools/call` without a name, with the error -32602 and its id. A message without an id is a
/// notification, which needs no response.
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Mcp;
///
/// let dialect = Mcp::default();
/// let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
///     "params": {"name": "get_time", "arguments": {}}});
/// let turn = dialect.read(&request)?;
/// let result = Registry::new().call_blocking(turn.calls[0].clone());
/// let response = &dialect.results(&[result])[0];
/// assert_eq!((&response["id"], &response["error"]["code"]), (&json!(1), &json!(-32602)));
/// # Ok::<(), tool_core::dialect::ResponseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Mcp {
    version: Version,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Version {
    V2025_11_25,
    #[default]
    V2026_07_28,
}

impl Mcp {
    pub(crate) const NAMED: &[NamedDialect] = &[NamedDialect::new(
        "mcp",
        "MCP",
        false,
        &Mcp {
            version: Version::V2026_07_28,
        },
    )];

    /// Creates the dialect for protocol version 2025-11-25.
    pub fn v2025_11_25() -> Mcp {
        Mcp {
            version: Version::V2025_11_25,
        }
    }

    /// Creates the dialect for protocol version 2026-07-28.
    pub fn v2026_07_28() -> Mcp {
        Mcp {
            version: Version::V2026_07_28,
        }
    }

    /// Returns the output schema if every result of the tool follows it, as the specification
    /// demands (`server/tools`, "Output Schema").
    fn output_schema(self, tool: &ToolEntry) -> Option<&str> {
        // Every result is validated.
        let fits = match tool.output_values() {
            OutputValues::Objects => true,
            OutputValues::Structured => self.version == Version::V2026_07_28,
            _ => false,
        };
        tool.output_json().filter(|_| fits)
    }
}

/// JSON-RPC's "invalid params", which MCP requires for an unknown tool (`server/tools`, "Error
/// Handling").
const INVALID_PARAMS: i32 = -32602;

impl Dialect for Mcp {
    fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    // A tool of another server is described as there.
                    if let Some(source) = tool.source() {
                        out.word("name").string(&tool.name);
                        if !source.description.is_empty() {
                            out.word("description").string(&source.description);
                        }
                    } else {
                        write_head(tool, out);
                    }
                    if let Some(title) = tool.title() {
                        out.word("title").string(title);
                    }
                    let schema = match tool.source() {
                        Some(source) => &*source.parameters,
                        None => tool.parameters_json(),
                    };
                    out.word("inputSchema").raw(schema);
                    if let Some(schema) = self.output_schema(tool) {
                        out.word("outputSchema").raw(schema);
                    }
                    write_annotations(tool.annotations, out);
                    if let Some(icons) = tool.icons_json() {
                        out.word("icons").raw(icons);
                    }
                    write_meta(tool, out);
                });
            }
        });
    }

    /// The client decides which tools a model sees.
    fn deferral(&self) -> Deferral {
        Deferral::Ignored
    }

    fn provider(&self) -> &'static str {
        "the Model Context Protocol"
    }

    /// Reads the call of a request, or the calls of an array of messages. Requests of other methods are
    /// [unanswered](Turn::unanswered). Nothing is repeated: requests are independent.
    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        let mut turn = response::outline(response);
        turn.calls = response::calls(response)?;
        Ok(turn)
    }

    /// Each event is a message of the client. The response is an array of all messages, and its end is
    /// not marked.
    fn stream(&self) -> Box<dyn StreamReader> {
        reader(Messages::default(), &response::FORMAT, response::outline)
    }

    /// Returns one JSON-RPC response per result. Failures and invalid arguments are results that the
    /// model reads; an unknown tool is a protocol error.
    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let response = |result: &ToolResult| {
            let (key, value) = match result.error() {
                Some(error) if error.kind() == ToolErrorKind::UnknownTool => {
                    let message = error.message();
                    (
                        "error",
                        json!({ "code": INVALID_PARAMS, "message": message }),
                    )
                }
                _ => ("result", self.result(result)),
            };
            json!({ "jsonrpc": "2.0", "id": wire_id(result), key: value })
        };
        results.iter().map(response).collect()
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, parts)
    }
}

impl Mcp {
    /// Returns the `result` of a response. Structured content is repeated as text, for clients that
    /// only support text.
    fn result(self, result: &ToolResult) -> Value {
        let content = if result.parts().is_empty() {
            vec![media::chat_text(result.content())]
        } else {
            parts(result).into_blocks(media::chat_text)
        };
        let mut value = json!({
            "content": content,
            "isError": result.is_error(),
        });
        let newer = self.version == Version::V2026_07_28;
        if let Some(structured) = result.structured().filter(|json| newer || json.is_object()) {
            value["structuredContent"] = structured;
        }
        if newer {
            value["resultType"] = "complete".into();
        }
        value
    }
}

/// Writes the parts of a result. A part at a URL becomes a link.
fn parts(result: &ToolResult) -> WrittenResult {
    write_parts(result, |content, _| {
        Ok(Written::Inside(match content {
            Content::Link(link) => {
                media::check_uri(link.uri())?;
                link.to_json()
            }
            Content::Image(image) => encoded("image", image.media())?,
            Content::Audio(audio) => encoded("audio", audio.media())?,
            Content::File(file) => match file.as_url() {
                Some(url) => link_to(url, file.name(), file.media())?,
                None => embedded(file),
            },
            Content::Text(text) => media::chat_text(&**text),
            _ => return Err(media::no_form("MCP")),
        }))
    })
}

fn encoded(kind: &str, media: &Media) -> Result<Value, Unwritable> {
    match media.as_url() {
        Some(url) => link_to(url, kind, media),
        None if media.size() == 0 => Err(Unwritable::new("it is empty")),
        None => Ok(json!({
            "type": kind,
            "data": media.base64(),
            "mimeType": media.media_type().unwrap_or("application/octet-stream"),
        })),
    }
}

fn link_to(url: &str, name: &str, media: &Media) -> Result<Value, Unwritable> {
    media::check_uri(url)?;
    let mut link = ResourceLink::new(url, name);
    if let Some(media_type) = media.media_type() {
        link = link.media_type(media_type);
    }
    Ok(link.to_json())
}

/// Returns a file as a resource, which has a URI made of its name.
fn embedded(file: &File) -> Value {
    let mut uri = String::from("file:///");
    for byte in file.name().bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    let mut resource = json!({ "uri": uri });
    if let Some(media_type) = file.media_type() {
        resource["mimeType"] = media_type.into();
    }
    match file.media().as_text() {
        Some(text) => resource["text"] = text.into(),
        None => resource["blob"] = file.media().base64().into(),
    }
    json!({ "type": "resource", "resource": resource })
}

/// Writes the hints that were given. MCP has defaults for the others.
fn write_annotations(annotations: Annotations, out: &mut JsonWriter) {
    let hints = [
        ("readOnlyHint", annotations.read_only),
        ("destructiveHint", annotations.destructive),
        ("idempotentHint", annotations.idempotent),
        ("openWorldHint", annotations.open_world),
    ];
    if hints.iter().all(|(_, hint)| hint.is_none()) {
        return;
    }
    out.word("annotations").object(|out| {
        for (name, hint) in hints {
            if let Some(hint) = hint {
                out.key(name).boolean(hint);
            }
        }
    });
}

/// Writes the metadata of a tool, and its tags under a key with a prefix (specification, "General fields",
/// `_meta`).
fn write_meta(tool: &ToolEntry, out: &mut JsonWriter) {
    let meta = tool.meta_json();
    if tool.tags().len() == 0 {
        if let Some(meta) = meta {
            out.word("_meta").raw(meta);
        }
        return;
    }
    out.word("_meta").object(|out| {
        out.word("tool-core/tags").array(|out| {
            for tag in tool.tags() {
                out.string(tag);
            }
        });
        // The members of an object that is not empty.
        if let Some(meta) = meta {
            out.raw(&meta[1..meta.len() - 1]);
        }
    });
}
