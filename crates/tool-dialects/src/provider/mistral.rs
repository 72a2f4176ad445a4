//! Mistral's chat completions.

mod accepts;

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_core::content::Content;
use tool_core::dialect::write::{HttpApi, JsonWriter, RequestParts, RequestWriter};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::{ToolCall, ToolEntry, ToolResult};

use self::accepts::{AUDIO, DOCUMENTS, IMAGES};
use crate::provider::chat::stream::Chunks;
use crate::provider::chat::{self, ChatRequest, ModelMessages};
use crate::provider::entry::NameRules;
use crate::provider::history::{History, IdRules};
use crate::provider::hosted_tool;
use crate::provider::media::{self, Unwritable};
use crate::provider::response::{NoId, ResponseFormat};
use crate::provider::stream::reader;
use crate::provider::unanswered::Answered;
use tool_core::dialect::NamedDialect;

/// Mistral's chat completions (`/v1/chat/completions`).
///
/// The id of a call is repeated unchanged: the API requires nine letters or digits, which its own
/// ids are.
///
/// If hosted tools ran, a choice has several messages, with the calls of those tools and their
/// results (Mistral's guide, "Using Connectors in Chat Completions"). All of them are part of the
/// turn. Only calls without a result are returned.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Mistral;
///
/// let refused = json!({"object": "error", "message": "Invalid model", "code": "1500"});
/// let error = Mistral::default().read(&refused).unwrap_err();
/// assert!(error.to_string().ends_with("the provider answered with the error 1500: Invalid model"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Mistral {}

impl Mistral {
    pub(crate) const NAMED: &[NamedDialect] =
        &[NamedDialect::new("mistral", "Mistral", false, &Mistral {})];
}

/// Connectors and built-in tools (Mistral's Python SDK, `ChatCompletionRequest.tools`).
const HOSTED: [&str; 6] = [
    "code_interpreter",
    "connector",
    "document_library",
    "image_generation",
    "web_search",
    "web_search_premium",
];

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a chat completion of Mistral",
    // Optional in the SDK's `ToolCall`.
    no_id: NoId::Omit,
    ..chat::FORMAT
};

/// Ids as rule `mistral.tool_call_id` says.
const HISTORY: History = History {
    ids: Some(IdRules {
        min: 9,
        max: 9,
        more: Some(""),
    }),
    ..chat::HISTORY
};

pub(crate) const HTTP_API: HttpApi = HttpApi {
    // Unknown fields are rejected, and usage is always in the last chunk of a stream.
    key_variables: &["MISTRAL_API_KEY"],
    ..HttpApi::new("Mistral", "https://api.mistral.ai/v1")
};

/// Returns the messages of a choice in which hosted tools ran.
fn messages(choice: &Value) -> &Value {
    if choice["message"].is_object() {
        return &Value::Null;
    }
    &choice["messages"]
}

/// Returns the turn of a response without its calls.
fn outline(response: &Value) -> Turn {
    let mut turn = chat::outline(response);
    if let Value::Array(messages) = messages(&response["choices"][0]) {
        turn.messages.clone_from(messages);
        let asked = messages.iter().flat_map(chat::unanswered);
        let answered = Answered::by(messages, |message| message["tool_call_id"].as_str());
        turn.unanswered = asked
            .filter(|asked| !answered.has(asked.id.as_deref()))
            .collect();
    }
    turn
}

impl Dialect for Mistral {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, |tool, out| {
            chat::parameters(tool, out);
            if tool.strict() == Some(true) {
                out.word("strict").boolean(true);
            }
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        const FORM: ChatRequest = ChatRequest {
            required: Some("any"),
            has_allowed_tools: false,
            has_custom_tools: false,
            ..ChatRequest::OPENAI
        };
        chat::write_request(self, &FORM, parts, out);
        if let Some(format) = parts.answer() {
            chat::write_answer(&format.schema().to_json(), Some(true), out);
        }
    }

    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |name| HOSTED.contains(&name))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        NameRules::COMMON.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Mistral"
    }

    fn telemetry_name(&self) -> &'static str {
        "mistral_ai"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        if response["object"] == "error" {
            return Err(FORMAT.provider_error(response));
        }
        let choice = &response["choices"][0];
        let Value::Array(messages) = messages(choice) else {
            return chat::read(&FORMAT, response);
        };
        let is_answered = |call: &ToolCall| {
            let mut messages = messages.iter();
            messages.any(|message| message["tool_call_id"] == *call.id)
        };
        let mut turn = outline(response);
        for (at, message) in messages.iter().enumerate() {
            let is_last = at + 1 == messages.len();
            let stop = if is_last {
                &choice["finish_reason"]
            } else {
                &Value::Null
            };
            let calls = FORMAT.calls(stop, chat::items(&FORMAT, message)?)?;
            let calls = calls.into_iter();
            turn.calls.extend(calls.filter(|call| !is_answered(call)));
        }
        Ok(turn)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        reader(Chunks::new(&FORMAT).with_hosted_calls(), &FORMAT, outline)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut messages = chat::results(results, part);
        // The last message has the parts that no result can have.
        if let [.., result, parts] = &*messages
            && let Some(reply) = self.between(result, parts)
        {
            messages.insert(results.len(), reply);
        }
        messages
    }

    /// A message of the user must not follow one of a tool (rule `mistral.message_order`).
    fn between(&self, before: &Value, message: &Value) -> Option<Value> {
        let is_rejected = before["role"] == "tool" && message["role"] == "user";
        is_rejected.then(|| json!({ "role": "assistant", "content": "OK." }))
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        chat::write_message(message, part)
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        chat::read_message(message)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        const MESSAGES: ModelMessages<'_> = ModelMessages {
            history: &HISTORY,
            more_keys: None,
            needs_text: true,
            ..ModelMessages::OPENAI
        };
        MESSAGES.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, part))
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
        Content::Audio(audio) => {
            let media = audio.media();
            AUDIO.check(media)?;
            Ok(json!({ "type": "input_audio", "input_audio": media.base64() }))
        }
        // Only documents at a URL.
        Content::File(file) if file.as_url().is_some() => {
            DOCUMENTS.check(file.media())?;
            Ok(json!({
                "type": "document_url",
                "document_url": file.as_url(),
                "document_name": file.name(),
            }))
        }
        _ => Err(media::no_form("Mistral")),
    }
}
