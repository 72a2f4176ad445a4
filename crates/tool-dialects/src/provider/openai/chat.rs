//! OpenAI's Chat Completions API.

use std::borrow::Cow;

use serde_json::{Value, json};
use tool_core::content::Content;
use tool_core::dialect::write::{
    HttpApi, JsonWriter, RequestParts, RequestWriter, Streaming, Subset, write_freeform_head,
};
use tool_core::dialect::{
    AnswerWay, Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::{ToolEntry, ToolResult, ToolSpec};

use super::accepts::{CHAT_AUDIO, CHAT_FILES, IMAGES};
use super::{answer_schema, write_grammar};
use crate::provider::chat::stream::Chunks;
use crate::provider::chat::{self, ChatRequest, ModelMessages, WritePart};
use crate::provider::entry::{NameRules, strict_or_plain};
use crate::provider::history::{History, IdRules};
use crate::provider::hosted_tool;
use crate::provider::media::{self, Unwritable};
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

pub(crate) const HTTP_API: HttpApi = HttpApi {
    streaming: Streaming::Fields(r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
    key_variables: &["OPENAI_API_KEY"],
    // OpenAI's reasoning models reject `max_tokens`. Not every other server knows this key.
    max_tokens: &["max_completion_tokens"],
    imitated_max_tokens: Some(&["max_tokens"]),
    ..HttpApi::new("OpenAI", "https://api.openai.com/v1")
};

/// The requests that a server of chat completions accepts; see [`OpenAiChat::with`] and [`server`](crate::server).
///
/// Later versions may add fields: start with [`OPENAI`](ChatRules::OPENAI) or [`IMITATION`](ChatRules::IMITATION).
///
/// ```
/// use tool_dialects::{ChatRules, OpenAiChat};
///
/// let rules = ChatRules {
///     has_media: false,
///     rejected: &["reasoning_content"],
///     ..ChatRules::IMITATION
/// };
/// let dialect = OpenAiChat::with(rules);
/// # let _ = dialect;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ChatRules {
    /// How the model is made to answer in a form, in a request without tools.
    pub answer: AnswerWay,
    /// The same in a request with tools. Many servers take either tools or the schema of an answer, or call no tool while
    /// they follow that schema.
    pub answer_with_tools: AnswerWay,
    /// Set if tools and answers can be strict. The schema of the answer is then written in OpenAI's subset.
    pub has_strict: bool,
    /// Set if the server has calls of tools at all.
    pub has_tools: bool,
    /// Set if a request can require a call.
    pub has_required: bool,
    /// Set if a request can require a call of one tool.
    pub has_named_choice: bool,
    /// Set if a request can restrict the calls to some of its tools.
    pub has_allowed_tools: bool,
    /// Set if a request can allow and forbid several calls in a response.
    pub has_parallel: bool,
    /// Set if free-form tools are custom tools.
    pub has_custom_tools: bool,
    /// Set if a message of the user can have images, audio and files.
    pub has_media: bool,
    /// The keys of the model's messages that requests repeat besides the usual ones; see
    /// [`repeating`](OpenAiChat::repeating).
    pub repeated: &'static [&'static str],
    /// The keys of the model's messages that the server rejects.
    pub rejected: &'static [&'static str],
    /// Set if a message of the model without calls needs text.
    pub needs_text: bool,
    /// Set if a message of the model with calls needs a `reasoning_content`. A model of another server wrote none, and gets a
    /// text that says so.
    pub needs_reasoning: bool,
    /// The ids of calls that the server accepts, if not all are. Another one is replaced by nine letters and digits.
    pub ids: Option<IdRules>,
}

impl ChatRules {
    /// OpenAI's own API.
    pub const OPENAI: ChatRules = ChatRules {
        answer: AnswerWay::Schema,
        answer_with_tools: AnswerWay::Schema,
        has_strict: true,
        has_tools: true,
        has_required: true,
        has_named_choice: true,
        has_allowed_tools: true,
        has_parallel: true,
        has_custom_tools: true,
        has_media: true,
        repeated: &[],
        rejected: &[],
        needs_text: false,
        needs_reasoning: false,
        ids: None,
    };

    /// Most servers that imitate OpenAI's API: they have structured output in requests without tools, but no strict tools,
    /// no custom tools and no list of allowed ones.
    pub const IMITATION: ChatRules = ChatRules {
        answer_with_tools: AnswerWay::Call,
        has_strict: false,
        has_allowed_tools: false,
        has_custom_tools: false,
        ..ChatRules::OPENAI
    };
}

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
#[derive(Clone, Copy, Debug)]
pub struct OpenAiChat {
    is_strict: bool,
    rules: ChatRules,
}

impl Default for OpenAiChat {
    fn default() -> OpenAiChat {
        OpenAiChat::with(ChatRules::OPENAI)
    }
}

impl OpenAiChat {
    pub(crate) const NAMED: &[NamedDialect] = &[
        NamedDialect::new(
            "openai-chat",
            "OpenAI Chat",
            false,
            &OpenAiChat::with(ChatRules::OPENAI),
        ),
        NamedDialect::new(
            "openai-chat",
            "OpenAI Chat, strict",
            true,
            &OpenAiChat::strict(),
        ),
    ];

    /// Creates the dialect of a server with its own rules; see [`server`](crate::server).
    ///
    /// ```
    /// use tool_core::dialect::AnswerWay;
    /// use tool_dialects::{ChatRules, OpenAiChat};
    ///
    /// // A server that takes no schema of an answer.
    /// let dialect = OpenAiChat::with(ChatRules {
    ///     answer: AnswerWay::Json,
    ///     answer_with_tools: AnswerWay::Call,
    ///     ..ChatRules::IMITATION
    /// });
    /// # let _ = dialect;
    /// ```
    pub const fn with(rules: ChatRules) -> OpenAiChat {
        OpenAiChat {
            is_strict: false,
            rules,
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
    pub const fn strict() -> OpenAiChat {
        OpenAiChat {
            is_strict: true,
            rules: ChatRules::OPENAI,
        }
    }

    /// Writes [free-form](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#free-form-tools) tools as functions too, for servers and
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
        self.rules.has_custom_tools = false;
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
        self.rules.repeated = keys;
        self
    }

    /// Returns how parts other than text are written.
    fn part(&self) -> WritePart {
        if self.rules.has_media {
            chat_part
        } else {
            |_| Err(media::no_form("the server"))
        }
    }

    /// Writes the form of the answer. Returns the parts with a tool for it, if the model answers with a call.
    fn write_answer<'p, 'r>(
        &self,
        parts: &'p RequestParts<'r>,
        out: &mut RequestWriter,
    ) -> Cow<'p, RequestParts<'r>> {
        let Some(format) = parts.answer() else {
            return Cow::Borrowed(parts);
        };
        let way = if parts.is_empty() {
            self.rules.answer
        } else {
            self.rules.answer_with_tools
        };
        match way {
            AnswerWay::Call => {
                let reason = "does not take the schema of the answer with this request";
                return Cow::Owned(parts.with_answer_tool(reason, out));
            }
            AnswerWay::Json => {
                out.field(&["response_format"], |json| {
                    json.object(|json| {
                        json.word("type").string("json_object");
                    });
                });
                out.describe_answer(format, way);
            }
            AnswerWay::Prompt => out.describe_answer(format, way),
            _ if self.rules.has_strict => {
                if let Some((schema, is_strict)) = answer_schema(parts, out) {
                    chat::write_answer(&schema, Some(is_strict), out);
                }
            }
            _ => chat::write_answer(&format.schema().to_json(), None, out),
        }
        Cow::Borrowed(parts)
    }
}

impl Dialect for OpenAiChat {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        let schema = |tool: &ToolEntry, out: &mut JsonWriter| {
            if self.rules.has_strict && tool.strict().unwrap_or(self.is_strict) {
                let target = Target::OpenAiStrict;
                strict_or_plain(tool, target, &Subset::OPENAI_STRICT, "parameters", out);
            } else {
                chat::parameters(tool, out);
            }
        };
        out.array(|out| {
            for tool in tools {
                if tool.is_freeform() && self.rules.has_custom_tools {
                    write_custom_chat(tool, out);
                } else {
                    chat::write_tool(tool, out, schema);
                }
            }
            hosted_tool::write(hosted, out);
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let rules = &self.rules;
        let form = ChatRequest {
            required: rules.has_required.then_some("required"),
            has_named_choice: rules.has_named_choice,
            has_parallel: rules.has_parallel,
            has_allowed_tools: rules.has_allowed_tools,
            has_custom_tools: rules.has_custom_tools,
        };
        let without;
        let parts = if rules.has_tools || parts.is_empty() {
            parts
        } else {
            without = parts.unsupported_tools(out);
            &without
        };
        let parts = self.write_answer(parts, out);
        chat::write_request(self, &form, &parts, out);
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
        chat::results(results, self.part())
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        chat::write_message(message, self.part())
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        chat::read_message(message)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        let own;
        let history = match self.rules.ids {
            None => &chat::HISTORY,
            Some(ids) => {
                own = History {
                    ids: Some(ids),
                    ..chat::HISTORY
                };
                &own
            }
        };
        let messages = ModelMessages {
            history,
            more_keys: Some(self.rules.repeated),
            rejected: self.rules.rejected,
            needs_text: self.rules.needs_text,
            needs_reasoning: self.rules.needs_reasoning,
        };
        messages.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, self.part()))
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
