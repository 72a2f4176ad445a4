//! xAI's chat completions.

mod accepts;

use std::borrow::Cow;

use serde_json::Value;
use tool_core::content::Content;
use tool_core::dialect::write::{HttpApi, JsonWriter, RequestParts, RequestWriter, Subset};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::{ToolEntry, ToolResult};

use self::accepts::IMAGES;
use crate::provider::chat::stream::Chunks;
use crate::provider::chat::{self, ChatRequest, ModelMessages};
use crate::provider::entry::NameRules;
use crate::provider::hosted_tool;
use crate::provider::media::{self, Unwritable};
use crate::provider::response::ResponseFormat;
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

/// xAI's chat completions (`/v1/chat/completions`).
///
/// Every tool is strict, in any case. Constraints that xAI does not enforce go into the description.
/// An object with arbitrary keys says so, as objects are closed by default.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use serde_json::json;
/// use tool_dialects::XAi;
/// use tool_core::{Registry, tool, tools};
///
/// /// Counts labels.
/// #[tool]
/// fn count(labels: BTreeMap<String, serde_json::Value>) -> usize {
///     labels.len()
/// }
///
/// let registry = Registry::builder().tools(tools![count]).build()?;
/// let tools = json!(registry.render(&XAi::default()));
/// assert_eq!(
///     tools[0]["function"]["parameters"]["properties"]["labels"],
///     json!({"type": "object", "additionalProperties": true})
/// );
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct XAi {}

impl XAi {
    pub(crate) const NAMED: &[NamedDialect] = &[NamedDialect::new("xai", "xAI", false, &XAi {})];
}

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a chat completion of xAI",
    ..chat::FORMAT
};

pub(crate) const HTTP_API: HttpApi = HttpApi {
    // Usage is always in the last chunk of a stream.
    key_variables: &["XAI_API_KEY"],
    max_tokens: &["max_completion_tokens"],
    imitated_max_tokens: Some(&["max_tokens"]),
    ..HttpApi::new("xAI", "https://api.x.ai/v1")
};

impl Dialect for XAi {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, |tool, out| {
            out.word("parameters");
            Subset::XAI.write_tool(tool, out);
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        const FORM: ChatRequest = ChatRequest {
            has_allowed_tools: false,
            has_custom_tools: false,
            ..ChatRequest::OPENAI
        };
        chat::write_request(self, &FORM, parts, out);
        let Some(format) = parts.answer() else {
            return;
        };
        match format.reduced(Target::XAi, &Subset::XAI) {
            Ok(schema) => chat::write_answer(&schema, Some(true), out),
            Err(problem) => out.rejects_answer(format, &problem),
        }
    }

    /// xAI has none here. Its tools are for its Responses API, which
    /// [`OpenAiResponses`](crate::OpenAiResponses) supports, and live search was removed (xAI's
    /// guide to its tools; vercel/ai#15718).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |_| false)
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        NameRules::COMMON.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "chat completions of xAI"
    }

    fn telemetry_name(&self) -> &'static str {
        "x_ai"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        chat::read(&FORMAT, response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        reader(Chunks::new(&FORMAT), &FORMAT, chat::outline)
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
            more_keys: Some(&[]),
            needs_text: true,
            ..ModelMessages::OPENAI
        };
        MESSAGES.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, part))
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::XAi, tools)
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
        _ => Err(media::no_form("xAI")),
    }
}
