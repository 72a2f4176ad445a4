//! The Interactions API of Gemini.

mod response;
mod stream;

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_core::content::{Content, Media};
use tool_core::dialect::write::{
    Choice, HttpApi, JsonWriter, RequestParts, RequestWriter, Streaming, Subset, SystemPrompt,
    write_head,
};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::schema::Kind;
use tool_core::{ToolEntry, ToolResult};

use self::stream::InteractionStream;
use super::accepts::{IN_MESSAGES, IN_RESPONSES};
use super::{NAMES, filtered_for_functions, mode};
use crate::provider::history::{ArgumentsForm, History, call_object, user_blocks};
use crate::provider::hosted_tool;
use crate::provider::media::{self, Unwritable, Written, WrittenResult, wire_id, write_parts};
use crate::provider::message;
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

/// Gemini's Interactions API (`/v1beta/interactions`), which Google recommends for new code.
///
/// Writes schemas with the keywords that [`Gemini`](crate::Gemini) writes. Reads the steps of a response: text,
/// thoughts, calls, and the work of hosted tools. The turn consists of all steps, with their signatures.
///
/// The API stores each request and its response, unless the request has `"store": false`. A request with
/// `previous_interaction_id` continues a stored one. It contains the turn already and needs only the
/// [results](Dialect::results).
///
/// A response to a request with an `environment` names it: the [continuation](Turn::continuation) is that environment, so
/// that results go to the one in which the calls were made.
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::GeminiInteractions;
///
/// let dialect = GeminiInteractions::default();
/// let request = Registry::linked()?.request(&dialect).build()?;
/// let body = request.body(json!({"model": "…", "input": [dialect.user_message("Hello!")]}));
/// # let _ = body;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct GeminiInteractions {
    /// Set for requests to an agent.
    is_agent: bool,
}

impl GeminiInteractions {
    pub(crate) const NAMED: &[NamedDialect] = &[NamedDialect::new(
        "gemini-interactions",
        "Gemini Interactions",
        false,
        &GeminiInteractions { is_agent: false },
    )];

    /// Creates the dialect for requests to an agent of Google instead of a model. The name of the agent is under `agent`.
    ///
    /// Agents have no tool choice. Where one is set, [`ToolRequest::notes`](tool_core::dialect::ToolRequest::notes) says what
    /// is sent. An agent that works in the background needs more than one request, and an interaction that has not ended
    /// is an error.
    ///
    /// ```
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::GeminiInteractions;
    ///
    /// let dialect = GeminiInteractions::agent();
    /// assert_eq!(dialect.http_api().unwrap().model, "agent");
    /// ```
    pub fn agent() -> GeminiInteractions {
        GeminiInteractions { is_agent: true }
    }

    /// Writes `generation_config.tool_choice`.
    fn write_choice(parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let Some((mode, allowed)) = mode(parts, out) else {
            return;
        };
        let mode = mode.to_ascii_lowercase();
        out.field(&["generation_config", "tool_choice"], |json| {
            let Some(names) = allowed else {
                json.string(&mode);
                return;
            };
            json.object(|json| {
                json.word("allowed_tools").object(|json| {
                    json.word("mode").string(&mode);
                    json.word("tools").array(|json| {
                        for name in names {
                            json.string(name);
                        }
                    });
                });
            });
        });
    }

    /// Writes the form of the answer.
    fn write_answer(parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let Some(format) = parts.answer() else {
            return;
        };
        match format.reduced(Target::Gemini, &Subset::GEMINI) {
            Ok(schema) => out.field(&["response_format"], |json| {
                json.object(|json| {
                    json.word("type").string("text");
                    json.word("mime_type").string("application/json");
                    json.word("schema").raw(&schema);
                });
            }),
            Err(problem) => out.rejects_answer(format, &problem),
        }
    }
}

/// The types of tools other than functions (Google's Gen AI SDK 3.6, `interactions.ToolParam`).
const HOSTED: [&str; 9] = [
    "code_execution",
    "computer_use",
    "file_search",
    "google_maps",
    "google_search",
    "mcp_server",
    "retrieval",
    "tool_search",
    "url_context",
];

/// As in `generateContent`.
const HISTORY: History = History {
    call: &response::FORMAT,
    items: "",
    arguments: ArgumentsForm::Object,
    names: NAMES,
    ids: None,
    result_id: "call_id",
    result_name: Some("name"),
    text: None,
};

const MODELS: HttpApi = HttpApi {
    path: &["interactions"],
    // Before this revision, a response had `outputs` instead of steps.
    headers: &[("api-revision", "2026-05-20")],
    has_model: true,
    streaming: Streaming::Fields(r#"{"stream":true}"#),
    messages: "input",
    system: SystemPrompt::Text("system_instruction"),
    max_tokens: &["generation_config", "max_output_tokens"],
    ..super::HTTP_API
};

const AGENTS: HttpApi = HttpApi {
    model: "agent",
    ..MODELS
};

impl Dialect for GeminiInteractions {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    out.word("type").string("function");
                    write_head(tool, out);
                    if !matches!(tool.parameters().kind(), Kind::Object([])) {
                        out.word("parameters");
                        Subset::GEMINI.write_tool(tool, out);
                    }
                });
            }
            hosted_tool::write(hosted, out);
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let parts = match parts.choice() {
            Some(Choice::None) if self.is_agent => Cow::Owned(parts.without_tools(out)),
            _ if self.is_agent => Cow::Owned(parts.filtered(out)),
            _ => filtered_for_functions(parts, out),
        };
        let parts = &*parts;
        out.tools(&["tools"], parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        GeminiInteractions::write_answer(parts, out);
        out.ignores_parallel(parts);
        if parts.tools().is_empty() {
            return out.ignores_without_tools(parts);
        }
        match parts.choice() {
            Some(Choice::Required | Choice::Tool(_)) if self.is_agent => {
                out.lacks("tool choice for agents");
            }
            _ if self.is_agent => {}
            _ => GeminiInteractions::write_choice(parts, out),
        }
    }

    /// Each has a `type`. An action of `computer_use` is a call by the name of the action.
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |name| HOSTED.contains(&name))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        NAMES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "the Interactions API of Gemini"
    }

    fn telemetry_name(&self) -> &'static str {
        "gcp.gemini"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(if self.is_agent { &AGENTS } else { &MODELS })
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        response::read(response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        reader(
            InteractionStream::default(),
            &response::FORMAT,
            response::outline,
        )
    }

    fn user_message(&self, text: &str) -> Value {
        user_input(vec![self::text(text)])
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut after = Vec::new();
        let step = |result: &ToolResult| {
            let content = if result.parts().is_empty() {
                vec![text(result.content())]
            } else {
                let mut written = parts(result);
                if let Some((label, blocks)) = written.labelled_after(result) {
                    after.push(text(label));
                    after.extend(blocks);
                }
                written.into_blocks(text)
            };
            let mut step = json!({
                "type": "function_result",
                "call_id": wire_id(result),
                "name": result.wire_name(),
                "result": content,
            });
            if result.is_error() {
                step["is_error"] = true.into();
            }
            step
        };
        let mut steps: Vec<_> = results.iter().map(step).collect();
        if !after.is_empty() {
            steps.push(user_input(after));
        }
        steps
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        Some(match message {
            Message::User(said) => vec![user_input(user_blocks(said, parts, text))],
            Message::Model { text: said, calls } => {
                let said = (!said.is_empty() || calls.is_empty())
                    .then(|| json!({ "type": "model_output", "content": [text(said)] }));
                let calls = calls.iter().map(|call| {
                    json!({
                        "type": "function_call",
                        "id": call.id,
                        "name": call.name,
                        "arguments": call_object(call),
                    })
                });
                said.into_iter().chain(calls).collect()
            }
            _ => return None,
        })
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        message::read(message, read_part)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        HISTORY.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, parts)
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::Gemini, tools)
    }
}

fn user_input(content: Vec<Value>) -> Value {
    json!({ "type": "user_input", "content": content })
}

fn text(text: impl Into<String>) -> Value {
    media::chat_text(text)
}

/// Writes the parts of a result.
fn parts(result: &ToolResult) -> WrittenResult {
    write_parts(result, |content, _| {
        let Some(media) = content.media() else {
            return Err(media::no_form("Gemini"));
        };
        let Some(media_type) = media.media_type() else {
            return Err(Unwritable::new("the media type of its URL is unknown"));
        };
        // `DocumentContent` of the SDK lists no plain text.
        if media_type.starts_with("text/") {
            return Err(media::no_form("Gemini"));
        }
        if IN_RESPONSES.check(media).is_ok() {
            return Ok(Written::Inside(block(media, media_type)));
        }
        IN_MESSAGES.check(media)?;
        Ok(Written::After(block(media, media_type)))
    })
}

/// Returns the bytes or the URL of a part.
fn block(media: &Media, media_type: &str) -> Value {
    let kind = match media_type.split_once('/') {
        Some((kind @ ("image" | "audio" | "video"), _)) => kind,
        _ => "document",
    };
    match media.as_url() {
        Some(url) => json!({ "type": kind, "mime_type": media_type, "uri": url }),
        None => json!({ "type": kind, "mime_type": media_type, "data": media.base64() }),
    }
}

/// Reads a part other than text.
fn read_part(part: &Value) -> Option<Content> {
    let (data, uri) = (part["data"].as_str(), part["uri"].as_str());
    message::media(part["mime_type"].as_str()?, data, uri, None)
}
