//! Cohere's chat.

mod accepts;
mod response;
mod stream;

use std::borrow::Cow;

use serde_json::Value;
use tool_core::content::Content;
use tool_core::dialect::write::{Choice, HttpApi, JsonWriter, RequestParts, RequestWriter};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::{ToolEntry, ToolResult};

use self::accepts::IMAGES;
use self::stream::Chat;
use crate::provider::chat::{self, ModelMessages};
use crate::provider::entry::NameRules;
use crate::provider::media::{self, Unwritable};
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

/// Cohere's chat (`/v2/chat`).
///
/// Strictness is a property of the request (`strict_tools`), not of its tools. With the feature
/// `cohere`, a tool that a strict request rejects is a compile error.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Cohere;
///
/// let response = json!({"id": "c14c", "finish_reason": "TOOL_CALL", "message": {
///     "role": "assistant",
///     "tool_plan": "I will look.",
///     "tool_calls": [{"id": "list_alarms_x7", "type": "function",
///                     "function": {"name": "list_alarms", "arguments": "{}"}}],
/// }});
/// let turn = Cohere::default().read(&response)?;
/// assert_eq!(turn.calls[0].name, "list_alarms");
/// assert_eq!(turn.messages, [response["message"].clone()]);
/// # Ok::<(), tool_core::dialect::ResponseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Cohere {}

impl Cohere {
    pub(crate) const NAMED: &[NamedDialect] =
        &[NamedDialect::new("cohere", "Cohere", false, &Cohere {})];
}

pub(crate) const HTTP_API: HttpApi = HttpApi {
    path: &["chat"],
    key_variables: &["COHERE_API_KEY", "CO_API_KEY"],
    ..HttpApi::new("Cohere", "https://api.cohere.com/v2")
};

impl Dialect for Cohere {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, chat::parameters);
    }

    /// A choice is `REQUIRED` or `NONE`, and structured output can't be combined with tools (Cohere's
    /// Python SDK, `V2ChatRequestToolChoice` and `JsonObjectResponseFormatV2`).
    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let with_answer;
        let parts = match parts.answer() {
            Some(_) if !parts.is_empty() => {
                let reason = "can't combine structured output with tools";
                with_answer = parts.with_answer_tool(reason, out);
                &with_answer
            }
            Some(format) => {
                out.field(&["response_format"], |json| {
                    json.object(|json| {
                        json.word("type").string("json_object");
                        json.word("json_schema").raw(&format.schema().to_json());
                    });
                });
                parts
            }
            None => parts,
        };
        let parts = match parts.choice() {
            Some(Choice::Tool(tool)) => parts.with_only(tool, out),
            _ => parts.filtered(out),
        };
        out.tools(&["tools"], &parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        if parts.is_empty() {
            return out.ignores_without_tools(&parts);
        }
        let choice = match parts.choice() {
            Some(Choice::Required) => Some("REQUIRED"),
            Some(Choice::None) => Some("NONE"),
            _ => None,
        };
        if let Some(choice) = choice {
            out.field(&["tool_choice"], |json| {
                json.string(choice);
            });
        }
        out.ignores_parallel(&parts);
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        NameRules::COMMON.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Cohere"
    }

    fn telemetry_name(&self) -> &'static str {
        "cohere"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        response::read(response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        reader(Chat::default(), &response::FORMAT, response::outline)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results, part)
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        chat::write_message(message, part)
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        chat::read_message(message)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        const MESSAGES: ModelMessages<'_> = ModelMessages {
            history: &chat::HISTORY,
            more_keys: None,
            needs_text: true,
            ..ModelMessages::OPENAI
        };
        MESSAGES.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, part))
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::Cohere, tools)
    }
}

/// Writes a part for the user's message after the results.
fn part(content: &Content) -> Result<Value, Unwritable> {
    match content {
        Content::Image(image) => {
            let media = image.media();
            IMAGES.check(media)?;
            Ok(media::chat_image(media))
        }
        _ => Err(media::no_form("Cohere")),
    }
}
