//! Google's Gemini: `generateContent`, and the Interactions API.

mod accepts;
mod interactions;
mod response;
mod stream;

use std::borrow::Cow;

use serde_json::{Value, json};

pub use self::interactions::GeminiInteractions;
use tool_core::content::{Content, Media};
use tool_core::dialect::write::{
    Choice, HttpApi, JsonWriter, NamedTool, RequestParts, RequestWriter, Streaming, Subset,
    SystemPrompt, WireId, is_spelling, write_head,
};
use tool_core::dialect::{
    Dialect, HostedTool, Message, OmittedPart, ResponseError, StreamReader, Turn,
};
use tool_core::rules::{BrokenRule, Target, broken};
use tool_core::schema::Kind;
use tool_core::{ToolEntry, ToolResult};

use self::accepts::{IN_MESSAGES, IN_RESPONSES};
use self::stream::Chunks;
use crate::provider::entry::NameRules;
use crate::provider::history::{ArgumentsForm, History, TextPart, call_object, user_blocks};
use crate::provider::hosted_tool;
use crate::provider::media::{self, Unwritable, Written, WrittenResult, wire_id, write_parts};
use crate::provider::message;
use crate::provider::stream::reader;
use tool_core::dialect::NamedDialect;

/// Gemini's `generateContent`, of the Gemini API and of Vertex AI.
///
/// Google recommends [`GeminiInteractions`] for new code. `generateContent` has the Batch API and explicit caching, which the
/// other lacks.
///
/// Writes schemas under `parametersJsonSchema`, with the keywords that Gemini reads there. Other
/// constraints go into the description. [`Gemini::open_api`] writes the older form. A tool without
/// parameters has neither (Google's Gen AI SDK, `FunctionDeclaration`).
///
/// Reads the calls of the first candidate. A call may have no id. Its result then has none either,
/// and is matched by its order.
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Gemini;
///
/// let dialect = Gemini::default();
/// let request = Registry::linked()?.request(&dialect).build()?;
/// let body = request.body(json!({"contents": [dialect.user_message("Hello!")]}));
/// # let _ = body;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Gemini {
    is_open_api: bool,
    /// Set when results contain only text.
    is_text_only: bool,
}

impl Gemini {
    pub(crate) const NAMED: &[NamedDialect] = &[NamedDialect::new(
        "gemini",
        "Gemini",
        false,
        &Gemini {
            is_open_api: false,
            is_text_only: false,
        },
    )];

    /// Creates the dialect with schemas under `parameters`, in a subset of OpenAPI.
    ///
    /// A tool with a schema that is not possible there (arbitrary keys, untyped values, recursive
    /// types, objects without properties) is sent with `parametersJsonSchema`.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::Gemini;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6)] dice: u8) -> u8 {
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let tools = json!(registry.render(&Gemini::open_api()));
    /// assert_eq!(
    ///     tools[0]["functionDeclarations"][0]["parameters"],
    ///     json!({
    ///         "type": "OBJECT",
    ///         "properties": {"dice": {"type": "INTEGER", "minimum": 1, "maximum": 6}},
    ///         "propertyOrdering": ["dice"],
    ///         "required": ["dice"],
    ///     })
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn open_api() -> Gemini {
        Gemini {
            is_open_api: true,
            is_text_only: false,
        }
    }

    /// Writes images and documents for models before Gemini 3, which reject them in a result: after the
    /// results, in the same message.
    ///
    /// ```
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Gemini;
    /// use tool_core::content::Image;
    /// use tool_core::{ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "take_picture", "");
    /// let results = [ToolResult::new(&call, Image::png(b"\x89PNG"))];
    /// let message = &Gemini::default().results(&results)[0];
    /// let response = &message["parts"][0]["functionResponse"];
    /// assert_eq!(response["parts"][0]["inlineData"]["mimeType"], "image/png");
    /// let message = &Gemini::default().media_after_results().results(&results)[0];
    /// assert_eq!(message["parts"][2]["inlineData"]["mimeType"], "image/png");
    /// ```
    pub fn media_after_results(mut self) -> Gemini {
        self.is_text_only = true;
        self
    }

    /// Writes the parts of a result.
    fn parts(self, result: &ToolResult) -> WrittenResult {
        write_parts(result, |content, _| {
            let Some(media) = content.media() else {
                return Err(media::no_form("Gemini"));
            };
            if media.media_type().is_none() {
                return Err(Unwritable::new("the media type of its URL is unknown"));
            }
            if !self.is_text_only && IN_RESPONSES.check(media).is_ok() {
                return Ok(Written::Inside(data(media)));
            }
            IN_MESSAGES.check(media)?;
            Ok(Written::After(data(media)))
        })
    }

    /// Writes the form of the answer. Models before Gemini 3 reject it in a request with functions
    /// (googleapis/js-genai#727).
    fn write_answer(self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let Some(format) = parts.answer() else {
            return;
        };
        let is_open_api = self.is_open_api && Subset::GEMINI_OPEN_API.fits(format.schema());
        let subset = if is_open_api {
            &Subset::GEMINI_OPEN_API
        } else {
            &Subset::GEMINI
        };
        let path: &[&str] = if is_open_api {
            &["generationConfig", "responseSchema"]
        } else {
            &["generationConfig", "responseJsonSchema"]
        };
        match format.reduced(Target::Gemini, subset) {
            Ok(schema) => {
                out.field(&["generationConfig", "responseMimeType"], |json| {
                    json.string("application/json");
                });
                out.field(path, |json| {
                    json.raw(&schema);
                });
            }
            Err(problem) => out.rejects_answer(format, &problem),
        }
    }

    #[inline] // in the loop over all tools
    fn write_tool(self, tool: &ToolEntry, out: &mut JsonWriter) {
        write_head(tool, out);
        let schema = &tool.parameters();
        if matches!(schema.kind(), Kind::Object([])) {
            return;
        }
        if self.is_open_api && Subset::GEMINI_OPEN_API.fits(schema) {
            out.word("parameters");
            Subset::GEMINI_OPEN_API.write(schema, out);
        } else {
            out.word("parametersJsonSchema");
            Subset::GEMINI.write_tool(tool, out);
        }
    }
}

/// The keys of an entry of `tools` other than functions (Google's Gen AI SDK and Vertex AI's API
/// description, `Tool`).
const HOSTED: [&str; 11] = [
    "codeExecution",
    "computerUse",
    "enterpriseWebSearch",
    "exaAiSearch",
    "fileSearch",
    "googleMaps",
    "googleSearch",
    "googleSearchRetrieval",
    "parallelAiSearch",
    "retrieval",
    "urlContext",
];

/// The names that both APIs accept.
const NAMES: NameRules = NameRules {
    max_len: 128,
    starts_with_letter: true,
    more: ".:",
    keys: Some(""),
};

/// Rule `gemini.name_regex`. The ids are Gemini's.
const HISTORY: History = History {
    call: &response::FORMAT,
    items: "parts",
    arguments: ArgumentsForm::Optional,
    names: NAMES,
    ids: None,
    result_id: "functionResponse.id",
    result_name: Some("functionResponse.name"),
    text: Some(TextPart {
        // A signature may come with an empty text.
        is_blank: |part| part["text"] == "" && part["thoughtSignature"].is_null(),
        of: |text| json!({ "text": text }),
    }),
};

/// Stands for the signature of the first call of a turn that another model wrote: Gemini 3 rejects a call without one (Google's
/// guide "Thought signatures", 2026).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Returns the parts with the allowed tools alone, if a list of names can't restrict the calls: it is one of functions.
fn filtered_for_functions<'p>(
    parts: &'p RequestParts<'p>,
    out: &mut RequestWriter,
) -> Cow<'p, RequestParts<'p>> {
    let is_hosted = |tool: &NamedTool<'_>| matches!(tool, NamedTool::Hosted(_));
    let needs_filter = parts
        .only()
        .is_some_and(|only| only.iter().any(is_hosted) || !parts.hosted().is_empty());
    if needs_filter {
        Cow::Owned(parts.filtered(out))
    } else {
        Cow::Borrowed(parts)
    }
}

/// Returns the mode of calls, in the words of `generateContent`, and the names of the allowed functions, if they are
/// restricted.
fn mode<'p>(
    parts: &'p RequestParts<'_>,
    out: &mut RequestWriter,
) -> Option<(&'static str, Option<Vec<&'p str>>)> {
    let name = |tool: &NamedTool<'p>| match *tool {
        NamedTool::Function(tool) => Some(&*tool.name),
        _ => None,
    };
    let only = parts.only();
    let only = only.map(|only| only.iter().filter_map(name).collect());
    Some(match (parts.choice(), only) {
        (Some(Choice::None), _) => ("NONE", None),
        (Some(Choice::Tool(NamedTool::Function(tool))), _) => ("ANY", Some(vec![&*tool.name])),
        (Some(Choice::Tool(NamedTool::Hosted(tool))), _) => {
            out.cannot_require(tool);
            return None;
        }
        (Some(Choice::Required), only) => ("ANY", only),
        // `AUTO` has no list of allowed names.
        (_, Some(only)) => ("VALIDATED", Some(only)),
        // With structured output, the default is another mode.
        (Some(Choice::Auto), None) if parts.answer().is_none() => ("AUTO", None),
        (_, None) => return None,
    })
}

pub(crate) const HTTP_API: HttpApi = HttpApi {
    path: &["models", "{model}:generateContent"],
    streaming: Streaming::Path {
        path: &["models", "{model}:streamGenerateContent"],
        query: &[("alt", "sse")],
        fields: "{}",
    },
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    // The key may also be in the URL, from where it gets into logs.
    key_header: "x-goog-api-key",
    has_model: false,
    messages: "contents",
    system: SystemPrompt::Parts(&["systemInstruction", "parts"]),
    max_tokens: &["generationConfig", "maxOutputTokens"],
    ..HttpApi::new("Gemini", "https://generativelanguage.googleapis.com/v1beta")
};

impl Dialect for Gemini {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            if !tools.is_empty() {
                out.object(|out| {
                    out.word("functionDeclarations").array(|out| {
                        for tool in tools {
                            out.object(|out| self.write_tool(tool, out));
                        }
                    });
                });
            }
            hosted_tool::write(hosted, out);
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let parts = &*filtered_for_functions(parts, out);
        out.tools(&["tools"], parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        self.write_answer(parts, out);
        out.ignores_parallel(parts);
        if parts.tools().is_empty() {
            return out.ignores_without_tools(parts);
        }
        let Some((mode, allowed)) = mode(parts, out) else {
            return;
        };
        out.field(&["toolConfig", "functionCallingConfig"], |json| {
            json.object(|json| {
                json.word("mode").string(mode);
                if let Some(names) = allowed {
                    json.word("allowedFunctionNames").array(|json| {
                        for name in names {
                            json.string(name);
                        }
                    });
                }
            });
        });
    }

    /// Each is a separate entry, identified by its key: `googleSearch` or `google_search`. Not every
    /// model accepts them together with functions (Google's guide, "Combine built-in tools and
    /// function calling").
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::has_keys(tool, |key| {
            HOSTED.iter().any(|known| is_spelling(key, known))
        })
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        NAMES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Gemini"
    }

    fn telemetry_name(&self) -> &'static str {
        "gcp.gemini"
    }

    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&HTTP_API)
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        response::read(response)
    }

    /// Each event is a chunk of `streamGenerateContent`.
    fn stream(&self) -> Box<dyn StreamReader> {
        reader(Chunks::default(), &response::FORMAT, response::outline)
    }

    fn user_message(&self, text: &str) -> Value {
        json!({"role": "user", "parts": [{"text": text}]})
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut after = Vec::new();
        let part = |result: &ToolResult| {
            if result.parts().is_empty() {
                return part(result, Vec::new(), Vec::new());
            }
            let mut written = self.parts(result);
            if let Some((label, blocks)) = written.labelled_after(result) {
                after.push(json!({ "text": label }));
                after.extend(blocks);
            }
            let (texts, blocks) = written.into_texts_and_blocks();
            part(result, texts, blocks)
        };
        let mut parts: Vec<_> = results.iter().map(part).collect();
        if parts.is_empty() {
            return Vec::new();
        }
        parts.append(&mut after);
        vec![json!({ "role": "user", "parts": parts })]
    }

    fn write_message(&self, message: &Message) -> Option<Vec<Value>> {
        let (role, parts) = match message {
            Message::User(said) => {
                let text = |text| json!({ "text": text });
                ("user", user_blocks(said, |result| self.parts(result), text))
            }
            Message::Model { text, calls } => {
                let text = (!text.is_empty() || calls.is_empty()).then(|| json!({ "text": text }));
                let calls = calls.iter().enumerate().map(|(index, call)| {
                    let args = call_object(call);
                    let call = json!({ "id": call.id, "name": call.name, "args": args });
                    match index {
                        0 => json!({ "functionCall": call, "thoughtSignature": NO_SIGNATURE }),
                        _ => json!({ "functionCall": call }),
                    }
                });
                ("model", text.into_iter().chain(calls).collect())
            }
            _ => return None,
        };
        Some(vec![json!({ "role": role, "parts": parts })])
    }

    fn read_message(&self, message: &Value) -> (Option<Message>, Vec<String>) {
        message::read(message, read_part)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        HISTORY.repeat(message)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| self.parts(result))
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::Gemini, tools)
    }
}

/// Returns the part for a result. The keys `output` and `error` are the SDK's
/// (`FunctionResponse.response`).
///
/// `texts` are the text parts of a result. A value is not repeated under `content`.
fn part(result: &ToolResult, mut texts: Vec<String>, blocks: Vec<Value>) -> Value {
    let mut response = if result.is_error() {
        json!({ "error": result.content() })
    } else if let Some(output) = result.structured() {
        json!({ "output": output })
    } else if texts.is_empty() {
        json!({ "output": result.content() })
    } else {
        json!({ "output": std::mem::take(&mut texts).join("\n") })
    };
    // The first is the value's.
    if texts.len() > 1 {
        response["content"] = texts[1..].join("\n").into();
    }
    let mut part = json!({ "name": result.wire_name(), "response": response });
    if !blocks.is_empty() {
        part["parts"] = blocks.into();
    }
    if result.wire_id() != WireId::Absent {
        part["id"] = wire_id(result);
    }
    json!({ "functionResponse": part })
}

/// Returns the bytes or the URL of a part.
fn data(media: &Media) -> Value {
    match media.as_url() {
        Some(url) => json!({ "fileData": { "mimeType": media.media_type(), "fileUri": url } }),
        None => json!({
            "inlineData": { "mimeType": media.media_type(), "data": media.base64() },
        }),
    }
}

/// Reads a part other than text.
fn read_part(part: &Value) -> Option<Content> {
    let (inline, file) = (&part["inlineData"], &part["fileData"]);
    let media_type = inline["mimeType"]
        .as_str()
        .or_else(|| file["mimeType"].as_str());
    let (data, uri) = (inline["data"].as_str(), file["fileUri"].as_str());
    message::media(media_type?, data, uri, None)
}
