//! OpenAI's Chat Completions API.

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_core::content::Content;
use tool_core::dialect::write::{
    HttpApi, JsonWriter, RequestParts, RequestWriter, Streaming, Subset, write_freeform_head,
};
use tool_core::dialect::{Dialect, HostedTool, OmittedPart, ResponseError, StreamReader, Turn};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::{ToolEntry, ToolResult, ToolSpec};

use super::accepts::{CHAT_AUDIO, CHAT_FILES, IMAGES};
use super::{answer_schema, write_grammar};
use crate::provider::chat::stream::Chunks;
use crate::provider::chat::{self, ChatRequest, ModelMessages};
use crate::provider::entry::{NameRules, strict_or_plain};
use crate::provider::hosted_tool;
use crate::provider::media::{self, Unwritable};
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

const HTTP_API: HttpApi = HttpApi {
    streaming: Streaming::Fields(r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
    key_variables: &["OPENAI_API_KEY"],
    // OpenAI's reasoning models reject `max_tokens`. Not every other server knows this key.
    max_tokens: &["max_completion_tokens"],
    imitated_max_tokens: Some(&["max_tokens"]),
    ..HttpApi::new("OpenAI", "https://api.openai.com/v1")
};

/// OpenAI's Chat Completions API (`/v1/chat/completions`).
///
/// Reads the calls of the first choice. Omits `strict` unless the dialect is
/// [strict](OpenAiChat::strict), which means `false` here (OpenAI's API description,
/// `FunctionObject`).
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::OpenAiChat;
///
/// let dialect = OpenAiChat::default();
/// let request = Registry::linked()?.request(&dialect).build()?;
/// let body = request.body(json!({"model": "…", "messages": [dialect.user_message("Hello!")]}));
/// # let _ = body;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiChat {
    is_strict: bool,
    has_functions_only: bool,
    /// The keys of the model's messages that requests repeat besides the usual ones.
    repeated: &'static [&'static str],
}

impl OpenAiChat {
    pub(crate) const NAMED: &[NamedDialect] = &[
        NamedDialect::new("openai-chat", "OpenAI Chat", false, &OpenAiChat::new(false)),
        NamedDialect::new(
            "openai-chat",
            "OpenAI Chat, strict",
            true,
            &OpenAiChat::new(true),
        ),
    ];

    pub(super) const fn new(is_strict: bool) -> OpenAiChat {
        OpenAiChat {
            is_strict,
            has_functions_only: false,
            repeated: &[],
        }
    }

    /// Creates the dialect with strict tools: the provider makes every call follow the schema.
    ///
    /// Every key is required, and `null` means an absent value. Constraints that the strict subset of
    /// JSON Schema lacks go into the description. A tool that strict mode rejects is sent unchanged
    /// and not as strict; with the feature `openai-strict` it is a compile error.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6, default = 1)] dice: u8, name: Option<String>) -> u8 {
    ///     # let _ = name;
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let tools = json!(registry.render(&OpenAiChat::strict()));
    /// assert_eq!(tools[0]["function"]["strict"], true);
    /// assert_eq!(
    ///     tools[0]["function"]["parameters"],
    ///     json!({
    ///         "type": "object",
    ///         "properties": {
    ///             "dice": {"type": ["integer", "null"], "minimum": 1, "maximum": 6,
    ///                      "description": "null means the default, 1."},
    ///             "name": {"type": ["string", "null"]},
    ///         },
    ///         "required": ["dice", "name"],
    ///         "additionalProperties": false,
    ///     })
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn strict() -> OpenAiChat {
        OpenAiChat::new(true)
    }

    /// Writes [free-form](macro@tool_core::tool#free-form-tools) tools as functions too, for servers and
    /// models without custom tools. OpenAI's models have them since GPT-5.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Runs a query.
    /// #[tool(freeform)]
    /// fn run_sql(sql: &str) -> usize {
    ///     sql.len()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![run_sql]).build()?;
    /// let tools = json!(registry.render(&OpenAiChat::default()));
    /// assert_eq!(tools[0]["type"], "custom");
    /// let tools = json!(registry.render(&OpenAiChat::default().functions_only()));
    /// assert_eq!(tools[0]["type"], "function");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn functions_only(mut self) -> OpenAiChat {
        self.has_functions_only = true;
        self
    }

    /// Repeats these keys of the model's messages in later requests. By default, these are the keys of
    /// OpenAI's API and the keys in which servers keep data that they need again, such as
    /// `reasoning_content` and `reasoning_details`.
    ///
    /// `reasoning` is not among them, because Groq rejects it. vLLM takes it, so that a model continues its
    /// reasoning after a call.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::OpenAiChat;
    ///
    /// let message = json!({"role": "assistant", "content": "Hello!", "reasoning": "A greeting."});
    /// let dialect = OpenAiChat::default();
    /// assert_eq!(*dialect.repeat(&message), json!({"role": "assistant", "content": "Hello!"}));
    /// assert_eq!(*dialect.repeating(&["reasoning"]).repeat(&message), message);
    /// ```
    pub fn repeating(mut self, keys: &'static [&'static str]) -> OpenAiChat {
        self.repeated = keys;
        self
    }
}

impl Dialect for OpenAiChat {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        let schema = |tool: &ToolEntry, out: &mut JsonWriter| {
            if tool.strict().unwrap_or(self.is_strict) {
                let target = Target::OpenAiStrict;
                strict_or_plain(tool, target, &Subset::OPENAI_STRICT, "parameters", out);
            } else {
                chat::parameters(tool, out);
            }
        };
        out.array(|out| {
            for tool in tools {
                if tool.is_freeform() && !self.has_functions_only {
                    write_custom_chat(tool, out);
                } else {
                    chat::write_tool(tool, out, schema);
                }
            }
            hosted_tool::write(hosted, out);
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let form = ChatRequest {
            required: "required",
            has_allowed_tools: true,
            has_custom_tools: !self.has_functions_only,
        };
        chat::write_request(self, &form, parts, out);
        if let Some((schema, is_strict)) = answer_schema(parts, out) {
            chat::write_answer(&schema, is_strict, out);
        }
    }

    /// OpenAI documents none. Servers that imitate it may have some: use
    /// [`HostedTool::unchecked`].
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |_| false)
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        NameRules::COMMON.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "chat completions"
    }

    fn telemetry_name(&self) -> &'static str {
        "openai"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        chat::read(&chat::FORMAT, response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        reader(Chunks::new(&chat::FORMAT), &chat::FORMAT, chat::outline)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results, chat_part)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        let messages = ModelMessages {
            history: &chat::HISTORY,
            more_keys: Some(self.repeated),
            needs_text: false,
        };
        messages.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, chat_part))
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::OpenAiStrict, tools)
    }
}

/// Writes a custom tool of Chat Completions (`ChatCompletionCustomToolParam` of OpenAI's Python SDK).
#[cold]
fn write_custom_chat(tool: &ToolSpec, out: &mut JsonWriter) {
    out.object(|out| {
        out.word("type").string("custom");
        out.word("custom").object(|out| {
            write_freeform_head(tool, out);
            if let Some(grammar) = tool.grammar() {
                out.word("format").object(|out| {
                    out.word("type").string("grammar");
                    out.word("grammar")
                        .object(|out| write_grammar(grammar, out));
                });
            }
        });
    });
}

/// Writes a part for the user's message after the results. Tool messages contain text alone
/// (`ChatCompletionToolMessageParam` of OpenAI's Python SDK).
fn chat_part(content: &Content) -> Result<Value, Unwritable> {
    match content {
        Content::Image(image) => {
            let media = image.media();
            IMAGES.check(media)?;
            Ok(media::chat_image(media))
        }
        Content::Audio(audio) => {
            let media = audio.media();
            CHAT_AUDIO.check(media)?;
            let format = match media.media_type() {
                Some("audio/wav") => "wav",
                _ => "mp3",
            };
            let audio = json!({ "data": media.base64(), "format": format });
            Ok(json!({ "type": "input_audio", "input_audio": audio }))
        }
        Content::File(file) => {
            CHAT_FILES.check(file.media())?;
            let file = json!({ "filename": file.name(), "file_data": file.to_data_url() });
            Ok(json!({ "type": "file", "file": file }))
        }
        _ => Err(media::no_form("the API")),
    }
}
