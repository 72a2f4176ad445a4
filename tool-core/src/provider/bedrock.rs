//! Amazon Bedrock's Converse.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::content::{Audio, Content, Image, Media};
use crate::provider::answer;
use crate::provider::anthropic;
use crate::provider::check;
use crate::provider::dialect::{
    Choice, Dialect, JsonWriter, NameRules, NamedTool, RequestParts, RequestWriter, wire_id,
    write_head,
};
use crate::provider::hosted_tool::{self, HostedTool};
#[cfg(feature = "http")]
use crate::provider::http_api::{self, HttpApi};
use crate::provider::media::{
    self, Accepts, OmittedPart, Unwritable, Written, WrittenResult, write_parts,
};
use crate::provider::profile::{Count, Profile};
use crate::provider::reshape;
use crate::provider::response::{ResponseError, ResponseFormat, content_text};
use crate::provider::rules::{BrokenRule, Rule, Source, Target, broken};
use crate::provider::stream::{self, StreamReader};
use crate::tool::ToolEntry;

const TOOLS_MIN: Rule = Rule::limit(
    "bedrock.tools_min",
    1,
    Source::new(
        "botocore 1.43, data/bedrock-runtime/2023-09-30/service-2.json",
        "2026-11",
    ),
);

const MODEL: Source = Source::new(
    "botocore 1.44.5, data/bedrock-runtime/2023-09-30/service-2.json",
    "2026-11",
);
const IMAGE_TYPES: Rule = Rule::list(
    "bedrock.image_types",
    &["image/png", "image/jpeg", "image/gif", "image/webp"],
    MODEL,
);
const IMAGE_BYTES: Rule = Rule::limit("bedrock.image_max_bytes", 3_932_160, MODEL);
const DOCUMENT_TYPES: Rule = Rule::list(
    "bedrock.document_types",
    &[
        "application/pdf",
        "text/csv",
        "application/msword",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.ms-excel",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "text/html",
        "text/plain",
        "text/markdown",
    ],
    MODEL,
);
const DOCUMENT_BYTES: Rule = Rule::limit("bedrock.document_max_bytes", 4_718_592, MODEL);
const AUDIO_TYPES: Rule = Rule::list(
    "bedrock.audio_types",
    &[
        "audio/mpeg",
        "audio/wav",
        "audio/aac",
        "audio/flac",
        "audio/mp4",
        "audio/ogg",
        "audio/opus",
        "audio/webm",
    ],
    MODEL,
);

/// The formats of the media types in these rules, in the same order.
const IMAGE_FORMATS: [&str; 4] = ["png", "jpeg", "gif", "webp"];
const DOCUMENT_FORMATS: [&str; 9] = [
    "pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md",
];
const AUDIO_FORMATS: [&str; 8] = ["mp3", "wav", "aac", "flac", "mp4", "ogg", "opus", "webm"];

const S3: &[&str] = &["s3"];
const IMAGES: Accepts = Accepts {
    size: Some(&IMAGE_BYTES),
    schemes: S3,
    ..Accepts::types(&IMAGE_TYPES)
};
const DOCUMENTS: Accepts = Accepts {
    size: Some(&DOCUMENT_BYTES),
    schemes: S3,
    ..Accepts::types(&DOCUMENT_TYPES)
};
const AUDIO: Accepts = Accepts {
    schemes: S3,
    ..Accepts::types(&AUDIO_TYPES)
};

pub(crate) const PROFILE: Profile = Profile {
    name: "Amazon Bedrock",
    title: "Amazon Bedrock",
    rules: &[
        &TOOLS_MIN,
        &IMAGE_TYPES,
        &IMAGE_BYTES,
        &DOCUMENT_TYPES,
        &DOCUMENT_BYTES,
        &AUDIO_TYPES,
    ],
    request_limits: &[(Count::MinTools, &TOOLS_MIN)],
    ..Profile::EMPTY
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[("Amazon Bedrock", &Bedrock {})];

/// Amazon Bedrock's Converse (`/model/{id}/converse`).
///
/// The tools are the value of `toolConfig.tools`; a request without tools has no `toolConfig`. All
/// results go into one user message. Calls of the provider's own server tools are ignored.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Bedrock;
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

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a response of Converse",
    call: "a `toolUse` block in `output.message.content`",
    id: "toolUse.toolUseId",
    id_is_optional: false,
    name: "toolUse.name",
    arguments: "toolUse.input",
    // The service's model, `StopReason`.
    stop_reason: "stopReason",
    truncated: &[
        "max_tokens",
        "model_context_window_exceeded",
        "malformed_tool_use",
        "malformed_model_output",
        "content_filtered",
        "guardrail_intervened",
        "stop_sequence",
    ],
    custom: None,
    has_origin: false,
};

impl Dialect for Bedrock {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| write_entries(tools, hosted, out));
    }

    /// There is no choice that forbids calls, no list of allowed tools and no setting for several calls
    /// (the service's model, `ToolConfiguration`). Not every model accepts a choice or caches tools.
    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        // The same subset as that of Anthropic (Amazon Bedrock's guide "Get validated JSON results from
        // models"). The schema is a text.
        let (parts, schema) = parts.structured(Target::AnthropicStrict, &anthropic::STRICT, out);
        if let Some(schema) = schema {
            out.field(&["outputConfig", "textFormat"], |json| {
                json.object(|json| {
                    json.word("type").string("json_schema");
                    json.word("structure").object(|json| {
                        json.word("jsonSchema").object(|json| {
                            json.word("schema").string(&schema);
                            json.word("name").string(answer::NAME);
                        });
                    });
                });
            });
        }
        let parts = match parts.choice() {
            Some(Choice::None) => parts.without_tools(out),
            _ => parts.filtered(out),
        };
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
            Some(Choice::None) | None => {}
        }
        out.ignores_parallel(&parts);
    }

    /// Accepts `systemTool` and `cachePoint` (the union `Tool` of the service's model).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::has_keys(tool, |key| matches!(key, "systemTool" | "cachePoint"))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules::COMMON;
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Amazon Bedrock"
    }

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&http_api::BEDROCK)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        if response["output"].is_null() {
            FORMAT.check_error(response)?;
            return Err(if response["message"].is_string() {
                FORMAT.provider_error(response)
            } else {
                FORMAT.error("`output` is missing")
            });
        }
        let message = &response["output"]["message"];
        let blocks = FORMAT.array(message, "content")?;
        FORMAT.calls(response, blocks, |block| {
            let call = &block["toolUse"];
            call.is_object() && call["type"] != "server_tool_use"
        })
    }

    /// Each event is an object with one key, the type of the event (`:event-type` in the headers of the
    /// AWS event stream), as the SDKs of AWS return it.
    fn stream(&self) -> Box<dyn StreamReader> {
        stream::reader(stream::bedrock::ConverseStream::new(&FORMAT))
    }

    /// Returns the assistant's message. The API rejects an empty one, so that it is omitted.
    fn turn(&self, response: &Value) -> Vec<Value> {
        let message = &response["output"]["message"];
        match &message["content"] {
            Value::Array(blocks) if !blocks.is_empty() => vec![message.clone()],
            _ => Vec::new(),
        }
    }

    fn text(&self, response: &Value) -> String {
        let blocks = response["output"]["message"]["content"].as_array();
        let texts = blocks.into_iter().flatten().map(|block| {
            // Text with citations.
            let cited = content_text(&block["citationsContent"]["content"]);
            cited + block["text"].as_str().unwrap_or_default()
        });
        texts.collect()
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

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, parts)
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
                // The subset is that of Anthropic (Amazon Bedrock's guide "Get validated JSON results
                // from models").
                let target = Target::AnthropicStrict;
                let is_strict =
                    tool.strict() == Some(true) && check::check(&tool.parameters(), target).is_ok();
                out.word("inputSchema").object(|out| {
                    out.word("json");
                    if is_strict {
                        reshape::write(&tool.parameters(), &anthropic::STRICT, out);
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
        Content::Image(Image(media)) => {
            let block = block(media, &IMAGES, &IMAGE_FORMATS)?;
            Ok(Written::Inside(json!({ "image": block })))
        }
        Content::Audio(Audio(media)) => {
            let block = block(media, &AUDIO, &AUDIO_FORMATS)?;
            Ok(Written::After(json!({ "audio": block })))
        }
        Content::File(file) => {
            let mut block = block(&file.media, &DOCUMENTS, &DOCUMENT_FORMATS)?;
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
