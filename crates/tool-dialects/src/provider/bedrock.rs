//! Amazon Bedrock's Converse.

mod accepts;
mod response;
mod stream;

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_core::content::{Content, Media};
use tool_core::dialect::write::{
    AnswerFormat, Choice, HttpApi, JsonWriter, NamedTool, RequestParts, RequestWriter, Streaming,
    Subset, SystemPrompt, write_head,
};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::{ToolEntry, ToolResult};

use self::accepts::{AUDIO, AUDIO_FORMATS, DOCUMENT_FORMATS, DOCUMENTS, IMAGE_FORMATS, IMAGES};
use self::stream::ConverseStream;
use crate::provider::entry::{NameRules, structured};
use crate::provider::history::{NO_TEXT, call_object, user_blocks};
use crate::provider::hosted_tool;
use crate::provider::media::{
    self, Accepts, Unwritable, Written, WrittenResult, wire_id, write_parts,
};
use crate::provider::message;
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

/// Amazon Bedrock's Converse (`/model/{id}/converse`).
///
/// The tools are the value of `toolConfig.tools`; a request without tools has no `toolConfig`. All
/// results go into one user message. Calls of the provider's own server tools are ignored.
///
/// ```
/// use serde_json::json;
/// use tool_dialects::Bedrock;
/// use tool_core::{Registry, tool, tools};
///
/// /// Lists the alarms.
/// #[tool]
/// fn list_alarms() -> Vec<u32> {
///     vec![7, 19]
/// }
///
/// let registry = Registry::builder().tools(tools![list_alarms]).build()?;
/// let request = json!({ "toolConfig": { "tools": registry.render(&Bedrock::default()) } });
/// assert_eq!(
///     request["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]["type"],
///     "object"
/// );
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Bedrock {}

impl Bedrock {
    pub(crate) const NAMED: &[NamedDialect] = &[NamedDialect::new(
        "bedrock",
        "Amazon Bedrock",
        false,
        &Bedrock {},
    )];
}

/// With API keys of Bedrock, or credentials of AWS.
pub(crate) const HTTP_API: HttpApi = HttpApi {
    path: &["model", "{model}", "converse"],
    streaming: Streaming::AwsFrames {
        path: &["model", "{model}", "converse-stream"],
    },
    key_variables: &["AWS_BEARER_TOKEN_BEDROCK"],
    has_model: false,
    system: SystemPrompt::Parts(&["system"]),
    max_tokens: &["inferenceConfig", "maxTokens"],
    ..HttpApi::new(
        "Amazon Bedrock",
        "https://bedrock-runtime.{AWS_REGION|AWS_DEFAULT_REGION}.amazonaws.com",
    )
};

impl Dialect for Bedrock {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| write_entries(tools, hosted, out));
    }

    /// There is no choice that forbids calls, no list of allowed tools and no setting for several calls
    /// (the service's model, `ToolConfiguration`). Not every model accepts a choice or caches tools.
    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        // Anthropic's subset (Amazon Bedrock's guide "Get validated JSON results from
        // models"). The schema is a string.
        let (parts, schema) = structured(
            parts,
            Target::AnthropicStrict,
            &Subset::ANTHROPIC_STRICT,
            out,
        );
        if let Some(schema) = schema {
            out.field(&["outputConfig", "textFormat"], |json| {
                json.object(|json| {
                    json.word("type").string("json_schema");
                    json.word("structure").object(|json| {
                        json.word("jsonSchema").object(|json| {
                            json.word("schema").string(&schema);
                            json.word("name").string(AnswerFormat::NAME);
                        });
                    });
                });
            });
        }
        let parts = match parts.choice() {
            Some(Choice::None) => parts.without_tools(out),
            _ => parts.filtered(out),
        };
        // Rule `bedrock.history_tools`.
        let parts = parts.with_history();
        let has_mark = |tool: &HostedTool| tool.json()["cachePoint"].is_object();
        let is_marked = parts.is_cached() && !parts.is_empty();
        let is_marked = is_marked && !parts.hosted().iter().any(has_mark);
        out.tools(&["toolConfig", "tools"], &parts, |json| {
            json.array(|json| {
                write_entries(parts.tools(), parts.hosted(), json);
                if is_marked {
                    json.raw(r#"{"cachePoint":{"type":"default"}}"#);
                }
            });
        });
        if parts.is_empty() {
            return out.ignores_without_tools(&parts);
        }
        let path = &["toolConfig", "toolChoice"];
        match parts.choice() {
            Some(Choice::Auto) => out.field(path, |json| {
                json.raw(r#"{"auto":{}}"#);
            }),
            Some(Choice::Required) => out.field(path, |json| {
                json.raw(r#"{"any":{}}"#);
            }),
            Some(Choice::Tool(NamedTool::Function(tool))) => out.field(path, |json| {
                json.object(|json| {
                    json.word("tool").object(|json| {
                        json.word("name").string(&tool.name);
                    });
                });
            }),
            Some(Choice::Tool(NamedTool::Hosted(tool))) => out.cannot_require(tool),
            Some(_) | None => {}
        }
        out.ignores_parallel(&parts);
    }

    /// Accepts `systemTool` and `cachePoint` (the union `Tool` of the service's model).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::has_keys(tool, |key| matches!(key, "systemTool" | "cachePoint"))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        NameRules::COMMON.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Amazon Bedrock"
    }

    fn telemetry_name(&self) -> &'static str {
        "aws.bedrock"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        response::read(response)
    }

    /// Each event is an object with one key, the type of the event (`:event-type` in the headers of the
    /// AWS event stream), as the SDKs of AWS return it.
    fn stream(&self) -> Box<dyn StreamReader> {
        reader(
            ConverseStream::default(),
            &response::FORMAT,
            response::outline,
        )
    }

    fn user_message(&self, text: &str) -> Value {
        json!({"role": "user", "content": [{"text": text}]})
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut after = Vec::new();
        let block = |result: &ToolResult| {
            let content = if result.parts().is_empty() {
                json!([{ "text": result.content() }])
            } else {
                let mut written = parts(result);
                if let Some((label, blocks)) = written.labelled_after(result) {
                    after.push(json!({ "text": label }));
                    after.extend(blocks);
                }
                Value::Array(written.into_blocks(|text| json!({ "text": text })))
            };
            let mut block = json!({
                "toolUseId": wire_id(result),
                "content": content,
            });
            // Not every model knows the key.
            if result.is_error() {
                block["status"] = "error".into();
            }
            json!({ "toolResult": block })
        };
        let mut blocks: Vec<_> = results.iter().map(block).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        blocks.append(&mut after);
        vec![json!({ "role": "user", "content": blocks })]
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        let (role, blocks) = match message {
            Message::User(said) => (
                "user",
                user_blocks(said, parts, |text| json!({ "text": text })),
            ),
            Message::Model { text, calls } => {
                let text = (!text.is_empty() || calls.is_empty()).then(|| json!({ "text": text }));
                let calls = calls.iter().map(|call| {
                    let input = call_object(call);
                    json!({ "toolUse": { "toolUseId": call.id, "name": call.name, "input": input } })
                });
                ("assistant", text.into_iter().chain(calls).collect())
            }
            _ => return None,
        };
        Some(vec![json!({ "role": role, "content": blocks })])
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        message::read(message, read_part)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        response::HISTORY.repeat(message)
    }

    /// Rule `bedrock.roles_alternate`.
    fn between(&self, before: &Value, message: &Value) -> Option<Value> {
        let other = match (before["role"].as_str()?, message["role"].as_str()?) {
            ("user", "user") => "assistant",
            ("assistant", "assistant") => "user",
            _ => return None,
        };
        Some(json!({ "role": other, "content": [{ "text": NO_TEXT }] }))
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, parts)
    }

    fn history_tools(&self, _: bool, messages: &[&Value]) -> Vec<String> {
        response::HISTORY.names(messages)
    }

    fn broken_rules(&self, tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<BrokenRule> {
        // Hosted tools count, too.
        if tools.is_empty() && !hosted.is_empty() {
            Vec::new()
        } else {
            broken(Target::Bedrock, tools)
        }
    }
}

/// Writes the tools without the array around them.
fn write_entries(tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
    for tool in tools {
        out.object(|out| {
            out.word("toolSpec").object(|out| {
                write_head(tool, out);
                // The subset is Anthropic's (Amazon Bedrock's guide "Get validated JSON results
                // from models").
                let target = Target::AnthropicStrict;
                let is_strict =
                    tool.strict() == Some(true) && target.check(&tool.parameters()).is_ok();
                out.word("inputSchema").object(|out| {
                    out.word("json");
                    if is_strict {
                        Subset::ANTHROPIC_STRICT.write(&tool.parameters(), out);
                    } else {
                        out.raw(tool.portable_json());
                    }
                });
                if is_strict {
                    out.word("strict").boolean(true);
                }
            });
        });
    }
    hosted_tool::write(hosted, out);
}

/// Writes the parts of a result. Audio can't be in one.
fn parts(result: &ToolResult) -> WrittenResult {
    write_parts(result, |content, at| match content {
        Content::Image(image) => {
            let media = image.media();
            let block = block(media, &IMAGES, &IMAGE_FORMATS)?;
            Ok(Written::Inside(json!({ "image": block })))
        }
        Content::Audio(audio) => {
            let media = audio.media();
            let block = block(media, &AUDIO, &AUDIO_FORMATS)?;
            Ok(Written::After(json!({ "audio": block })))
        }
        Content::File(file) => {
            let mut block = block(file.media(), &DOCUMENTS, &DOCUMENT_FORMATS)?;
            block["name"] = document_name(file.name(), result.call_id(), at).into();
            Ok(Written::Inside(json!({ "document": block })))
        }
        _ => Err(media::no_form("Amazon Bedrock")),
    })
}

/// Returns the format and the source of a block.
fn block(media: &Media, accepts: &Accepts, formats: &[&str]) -> Result<Value, Unwritable> {
    accepts.check(media)?;
    let format = accepts.position(media).map(|at| formats[at]);
    let Some(format) = format else {
        return Err(Unwritable::new("the media type of its URL is unknown"));
    };
    let source = match media.as_url() {
        Some(uri) => json!({ "s3Location": { "uri": uri } }),
        None => json!({ "bytes": media.base64() }),
    };
    Ok(json!({ "format": format, "source": source }))
}

/// Returns a name that the API accepts (the service's model, `DocumentBlock`), and that no other document
/// of a conversation has.
fn document_name(name: &str, call_id: &str, at: usize) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let name = format!("{stem} {call_id} {at}");
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-()[]".contains(letter);
    let words = name.split(|letter| !is_allowed(letter));
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join(" ");
    // The end makes it unique.
    let start = name.len().saturating_sub(DOCUMENT_NAME);
    name[start..].trim_start().to_owned()
}

/// The maximum length of a document's name (`DocumentBlockNameString`).
const DOCUMENT_NAME: usize = 200;

/// Reads a part other than text.
fn read_part(part: &Value) -> Option<Content> {
    let kinds: [(_, _, &[&str]); 3] = [
        ("image", &IMAGES, &IMAGE_FORMATS),
        ("audio", &AUDIO, &AUDIO_FORMATS),
        ("document", &DOCUMENTS, &DOCUMENT_FORMATS),
    ];
    kinds.into_iter().find_map(|(kind, accepts, formats)| {
        let block = &part[kind];
        let mut formats = formats.iter();
        let at = formats.position(|format| block["format"] == *format)?;
        let source = &block["source"];
        let (data, uri) = (&source["bytes"], &source["s3Location"]["uri"]);
        let name = block["name"].as_str();
        message::media(accepts.media_type(at), data.as_str(), uri.as_str(), name)
    })
}
