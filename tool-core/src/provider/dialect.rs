//! Writes tools and results, and reads calls, in the formats of providers.
//!
//! A [`Dialect`] writes the `tools` field of a request, reads the calls in the response, and writes
//! their results for the next request. It only converts JSON: the application sends it, with the
//! HTTP client of its choice.
//!
//! ```
//! use serde_json::json;
//! use tool_core::dialect::{Dialect, OpenAiChat};
//! use tool_core::{Registry, tool, tools};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let registry = Registry::builder().tools(tools![add]).build()?;
//! let dialect = OpenAiChat::default();
//! let mut messages = vec![json!({"role": "user", "content": "What is 2 + 3?"})];
//! let request = json!({"model": "…", "messages": messages, "tools": registry.render(&dialect)});
//! assert_eq!(request["tools"][0]["function"]["name"], "add");
//!
//! // The provider responds:
//! let response = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
//!     {"id": "call_1", "type": "function",
//!      "function": {"name": "add", "arguments": "{\"a\":2,\"b\":3}"}},
//! ]}}]});
//! let calls = dialect.calls(&response)?.into_iter();
//! let results: Vec<_> = calls.map(|call| registry.call_blocking(call)).collect();
//! messages.extend(dialect.follow_up(&response, &results));
//! assert_eq!(messages[2], json!({"role": "tool", "tool_call_id": "call_1", "content": "5"}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Strict modes and subsets
//!
//! A provider that accepts a subset of JSON Schema is sent that subset. Its dialect puts what the
//! subset can't express into the description: "Must be an integer from 1 to 14." The registry
//! validates every call against the whole schema. It also accepts what strict modes send: `null`
//! for an absent value, and enum values in another case. What a dialect can't express in any way
//! is listed at [`rules`](crate::rules), with the features that make it a compile error.

use serde_json::{Map, Number, Value, json};

use crate::call::{ToolCall, ToolResult, WireId};
use crate::provider::check;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::reshape;
use crate::provider::rules::{BrokenRule, Target};
use crate::provider::stream::{self, Unsupported};
use crate::provider::subset::Subset;
use crate::provider::usage;
use crate::spec::{Grammar, Programmatic, ToolSpec};
use crate::tool::ToolEntry;

pub use crate::provider::answer::{AnswerError, AnswerFormat, TypedAnswer};
pub use crate::provider::dialects::*;
pub use crate::provider::hosted_tool::{Refused, RefusedTool};
#[cfg(feature = "http")]
pub use crate::provider::http_api::HttpApi;
pub use crate::provider::media::OmittedPart;
pub use crate::provider::rendered::Rendered;
pub use crate::provider::request::{
    Choice, NamedTool, RequestError, RequestOptions, RequestParts, RequestWriter, ToolChoice,
    ToolRequest,
};
pub use crate::provider::response::ResponseError;
pub use crate::provider::stream::{StreamEvent, StreamReader};
pub use crate::provider::usage::Usage;
pub use crate::provider::writer::JsonWriter;

/// The format in which a provider expects tools and results, and sends calls.
///
/// Implement it for a provider that is not here:
///
/// ```
/// use serde_json::{Value, json};
/// use tool_core::dialect::{Dialect, JsonWriter, ResponseError};
/// use tool_core::{HostedTool, ToolCall, ToolEntry, ToolResult};
///
/// struct Custom;
///
/// impl Dialect for Custom {
///     fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
///         out.object(|out| {
///             for tool in tools {
///                 out.key(&tool.name).raw(tool.parameters_json());
///             }
///         });
///     }
///
///     fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
///         let Some(name) = response["call"].as_str() else {
///             return Err(ResponseError::new("not a custom response: `call` is missing"));
///         };
///         Ok(vec![ToolCall::new("only", name, response["with"].clone())])
///     }
///
///     fn turn(&self, response: &Value) -> Vec<Value> {
///         vec![response.clone()]
///     }
///
///     fn results(&self, results: &[ToolResult]) -> Vec<Value> {
///         results.iter().map(|result| json!({ "returned": result.content() })).collect()
///     }
/// }
///
/// assert_eq!(Custom.calls(&json!({"call": "add"})).unwrap()[0].name, "add");
/// ```
pub trait Dialect: Send + Sync {
    /// Writes the value of the request's `tools` field. `hosted` contains the hosted tools that this
    /// dialect [supports](Dialect::hosts).
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter);

    /// Writes the fields of a request that belong to its tools: the tools themselves, which of them the
    /// model may call, and so on. [`Registry::request`](crate::Registry::request) calls it.
    ///
    /// What the provider lacks is replaced by something else or left out, and
    /// [noted](RequestWriter::note). By default, a request has the tools alone, under `tools`: all
    /// of them, the [allowed](RequestParts::filtered) ones, or none. Other settings are noted.
    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let parts = match parts.choice() {
            Some(Choice::None) => parts.without_tools(out),
            _ => parts.filtered(out),
        };
        out.tools(&["tools"], &parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        out.ignores(&parts);
    }

    /// Returns `true` if the provider has this hosted tool. By default it has none. For an
    /// [unchecked](HostedTool::unchecked) tool, only the shape should matter.
    fn hosts(&self, _tool: &HostedTool) -> bool {
        false
    }

    /// Returns why the provider rejects a `DynamicTool`, which is then left out. Only its name and
    /// its keys can be a reason: dialects rewrite schemas. By default, every tool is accepted.
    fn problem(&self, _tool: &ToolEntry) -> Option<String> {
        None
    }

    /// Returns how the provider is sent [deferred](crate::RegistryBuilder::defer) tools. By default, two tools
    /// stand in for them.
    fn deferral(&self) -> Deferral {
        Deferral::Emulated
    }

    /// Returns the name of the provider in messages.
    fn provider(&self) -> &'static str {
        "this provider"
    }

    /// Returns the provider's HTTP API, for [`HttpModel`](crate::agent::HttpModel). By default there is
    /// none. The dialect of a server that imitates a provider returns that of the provider.
    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        None
    }

    /// Returns the calls in a whole response, in order. [`stream`](Dialect::stream) reads events of a
    /// stream. There may be none.
    ///
    /// A response may be truncated in the middle of its last call, by a token limit or a filter. The
    /// arguments may look complete then, or absent. The tool is not run: the call gets a result that
    /// says so, as does [`parse_error`](crate::ToolCall::parse_error).
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON is not a response of this provider, is one of its error
    /// messages, contains a call without a name or id, or has no answer because the provider blocked
    /// the prompt or could not read a call.
    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError>;

    /// Returns a reader for one streamed response, which emits text and calls as they arrive and
    /// returns the whole response at the end. By default, a dialect has none: the reader returns an
    /// error.
    ///
    /// The reader takes the JSON of each event. Splitting the body of an HTTP response into server-sent
    /// events is the task of a library, such as `eventsource-stream`.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, OpenAiChat, StreamEvent};
    ///
    /// let dialect = OpenAiChat::default();
    /// let mut reader = dialect.stream();
    /// let chunk = |delta, stop| {
    ///     json!({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
    /// };
    /// let events = reader.event(&chunk(json!({"role": "assistant", "content": "Hel"}), None))?;
    /// assert_eq!(events, [StreamEvent::Text("Hel".into())]);
    /// reader.event(&chunk(json!({"content": "lo"}), None))?;
    /// reader.event(&chunk(json!({}), Some("stop")))?;
    /// let response = reader.finish()?;
    /// assert_eq!(dialect.text(&response), "Hello");
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    fn stream(&self) -> Box<dyn StreamReader> {
        stream::reader(Unsupported)
    }

    /// Returns the part of a response that the next request must repeat unchanged: the model's turn,
    /// with its reasoning and signatures.
    fn turn(&self, response: &Value) -> Vec<Value>;

    /// Returns the text that the model wrote, without calls and reasoning. The text of a refusal is
    /// included.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Anthropic, Dialect};
    ///
    /// let response = json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]});
    /// assert_eq!(Anthropic::default().text(&response), "Done.");
    /// ```
    fn text(&self, _response: &Value) -> String {
        String::new()
    }

    /// Returns `true` if the provider paused in the middle of its turn to run hosted tools. It
    /// continues when the next request repeats the turn.
    fn is_paused(&self, _response: &Value) -> bool {
        false
    }

    /// Returns fields that the next request needs besides its messages, until the model has answered: the
    /// container in which a program waits for the results of its calls. By default there are none.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Anthropic, Dialect};
    ///
    /// let response = json!({"role": "assistant", "content": [], "container": {"id": "container_1"}});
    /// let fields = Anthropic::default().continuation(&response);
    /// assert_eq!(json!(fields), json!({"container": "container_1"}));
    /// ```
    fn continuation(&self, _response: &Value) -> Map<String, Value> {
        Map::new()
    }

    /// Returns how many tokens a response used, if it says so.
    fn usage(&self, response: &Value) -> Option<Usage> {
        Usage::find(response)
    }

    /// Returns why the model stopped, in the provider's words.
    fn stop_reason(&self, response: &Value) -> Option<String> {
        usage::stop_reason(response)
    }

    /// Returns the results as messages or items of the next request.
    ///
    /// [Parts](ToolResult::parts) of results are written in the provider's form. Where a provider accepts
    /// only text in a result, a message of the user follows all results, with the parts behind labels that
    /// name their calls. There, the parts have the authority of the user: do not return a picture or a
    /// document from an untrusted source to a model that can do harm.
    ///
    /// A part that the provider has no form for, or is known to reject, is replaced by a note in the result;
    /// see [`omitted`](Dialect::omitted). A text file is sent as text then, as is a link.
    fn results(&self, results: &[ToolResult]) -> Vec<Value>;

    /// Returns the parts that [`results`](Dialect::results) replaces by notes: the provider has no form for
    /// them, or a [rule](crate::rules) about their type or size. The application may convert them or choose
    /// another model.
    ///
    /// ```
    /// use tool_core::dialect::{Anthropic, Dialect};
    /// use tool_core::{Audio, ToolCall, ToolResult};
    ///
    /// let call = ToolCall::new("call_1", "read_aloud", "");
    /// let results = [ToolResult::new(&call, Audio::mp3([0; 96]))];
    /// let dialect = Anthropic::default();
    /// let note = "[audio/mpeg audio, 96 bytes, omitted: Anthropic has no form for it]";
    /// assert_eq!(dialect.omitted(&results)[0].note, note);
    /// let messages = dialect.results(&results);
    /// assert_eq!(messages[0]["content"][0]["content"][0]["text"], note);
    /// ```
    fn omitted(&self, _results: &[ToolResult]) -> Vec<OmittedPart> {
        Vec::new()
    }

    /// Returns a message of the user with this text.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, Gemini};
    ///
    /// let message = Gemini::default().user_message("Hello!");
    /// assert_eq!(message, json!({"role": "user", "parts": [{"text": "Hello!"}]}));
    /// ```
    fn user_message(&self, text: &str) -> Value {
        json!({"role": "user", "content": text})
    }

    /// Returns everything that the next request adds to the conversation: the turn, then the results.
    fn follow_up(&self, response: &Value, results: &[ToolResult]) -> Vec<Value> {
        let mut messages = self.turn(response);
        messages.extend(self.results(results));
        messages
    }

    /// Returns the provider's rules that these tools break together, such as a limit on their number.
    fn broken_rules(&self, _tools: &[ToolEntry], _hosted: &[HostedTool]) -> Vec<BrokenRule> {
        Vec::new()
    }
}

/// How a provider is sent [deferred](crate::RegistryBuilder::defer) tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deferral {
    /// The dialect is given the two tools `search_tools` and `call_tool` in place of the deferred ones.
    Emulated,
    /// The dialect is given all tools. It marks those that are [deferred](ToolEntry::is_deferred), and adds
    /// the provider's search.
    Native,
    /// The dialect is given all tools, and sends them alike.
    Ignored,
}

/// Forwards to a dialect that is chosen at run time.
impl<D: Dialect + ?Sized> Dialect for Box<D> {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        (**self).write_tools(tools, hosted, out);
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        (**self).write_request(parts, out);
    }

    fn hosts(&self, tool: &HostedTool) -> bool {
        (**self).hosts(tool)
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        (**self).problem(tool)
    }

    fn deferral(&self) -> Deferral {
        (**self).deferral()
    }

    fn provider(&self) -> &'static str {
        (**self).provider()
    }

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        (**self).http_api()
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        (**self).calls(response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        (**self).stream()
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        (**self).turn(response)
    }

    fn text(&self, response: &Value) -> String {
        (**self).text(response)
    }

    fn is_paused(&self, response: &Value) -> bool {
        (**self).is_paused(response)
    }

    fn continuation(&self, response: &Value) -> Map<String, Value> {
        (**self).continuation(response)
    }

    fn usage(&self, response: &Value) -> Option<Usage> {
        (**self).usage(response)
    }

    fn stop_reason(&self, response: &Value) -> Option<String> {
        (**self).stop_reason(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        (**self).results(results)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        (**self).omitted(results)
    }

    fn user_message(&self, text: &str) -> Value {
        (**self).user_message(text)
    }

    fn follow_up(&self, response: &Value, results: &[ToolResult]) -> Vec<Value> {
        (**self).follow_up(response, results)
    }

    fn broken_rules(&self, tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<BrokenRule> {
        (**self).broken_rules(tools, hosted)
    }
}

/// Writes `name` and `description`, which have these keys with every provider.
///
/// The description has the grammar that no keyword of JSON Schema expresses.
pub(crate) fn write_head(tool: &ToolSpec, out: &mut JsonWriter) {
    out.word("name").string(&tool.name);
    let prompt = tool.prompt_with_grammar();
    // Bedrock rejects an empty description, and no provider requires one.
    if !(tool.is_dynamic() && prompt.trim().is_empty()) {
        out.word("description").string(&prompt);
    }
}

/// Writes `name` and `description` of a tool whose arguments are text. The description has what the
/// schema of the parameter says.
pub(crate) fn write_freeform_head(tool: &ToolSpec, out: &mut JsonWriter) {
    let mut prompt = tool.prompt();
    if let [property] = tool.properties() {
        let has_pattern = matches!(tool.grammar(), Some(Grammar::Regex(_)));
        let notes = reshape::text_notes(property, has_pattern);
        if !notes.is_empty() {
            let prompt = prompt.to_mut();
            prompt.push_str("\n\n");
            prompt.push_str(&notes);
        }
    }
    out.word("name").string(&tool.name);
    if !prompt.trim().is_empty() {
        out.word("description").string(&prompt);
    }
}

/// Writes who may call a tool: programs, which the provider names `program`, and perhaps the model.
#[cold]
pub(crate) fn write_callers(tool: &ToolSpec, program: &str, out: &mut JsonWriter) {
    let Some(programmatic) = tool.programmatic() else {
        return;
    };
    out.word("allowed_callers").array(|out| {
        if programmatic == Programmatic::Also {
            out.string("direct");
        }
        out.string(program);
    });
}

/// The names that a provider accepts.
pub(crate) struct NameRules {
    /// The longest name of a tool.
    pub(crate) max_len: usize,
    /// Set if a name must start with a letter or `_`.
    pub(crate) starts_with_letter: bool,
    /// The characters of a tool's name other than ASCII letters, digits, `_` and `-`.
    pub(crate) more: &'static str,
    /// The keys of objects: `None` for any, or the characters other than ASCII letters, digits and
    /// `_`.
    pub(crate) keys: Option<&'static str>,
}

impl NameRules {
    /// `^[a-zA-Z0-9_-]{1,64}$`, and any key.
    pub(crate) const COMMON: NameRules = NameRules {
        max_len: 64,
        starts_with_letter: false,
        more: "",
        keys: None,
    };

    /// Returns what a provider rejects in a tool.
    pub(crate) fn problem(&self, tool: &ToolSpec) -> Option<String> {
        let name = &*tool.name;
        if !self.accepts(name, self.max_len, "-", self.more) {
            let start = if self.starts_with_letter {
                " that starts with a letter or `_`"
            } else {
                ""
            };
            let more: String = self
                .more
                .chars()
                .map(|more| format!(", `{more}`"))
                .collect();
            let length = self.max_len;
            return Some(format!(
                "its name must be 1 to {length} ASCII letters, digits, `_`, `-`{more}{start}"
            ));
        }
        let more = self.keys?;
        let keys = &tool.dynamic_parts()?.unusual_keys;
        let key = keys.iter().find(|key| !self.accepts(key, 64, "", more))?;
        Some(format!("it has the key {}", Value::from(&**key)))
    }

    fn accepts(&self, name: &str, max_len: usize, hyphen: &str, more: &str) -> bool {
        let is_accepted = |character: char| {
            character.is_ascii_alphanumeric()
                || character == '_'
                || hyphen.contains(character)
                || more.contains(character)
        };
        let is_start = |character: char| character.is_ascii_alphabetic() || character == '_';
        (1..=max_len).contains(&name.len())
            && name.chars().all(is_accepted)
            && (!self.starts_with_letter || name.starts_with(is_start))
    }
}

/// Writes the schema under `key`, and `strict`. A schema that the target rejects is written unreduced
/// and not as strict: one tool must not make the whole request fail.
pub(crate) fn strict_or_plain(
    tool: &ToolSpec,
    target: Target,
    subset: &Subset,
    key: &str,
    out: &mut JsonWriter,
) {
    let is_strict = check::check(&tool.parameters(), target).is_ok();
    out.key(key);
    if is_strict {
        reshape::write(&tool.parameters(), subset, out);
    } else {
        out.raw(tool.portable_json());
    }
    out.word("strict").boolean(is_strict);
}

/// Returns the id of the call, with the JSON type that it was sent with.
pub(crate) fn wire_id(result: &ToolResult) -> Value {
    let number = match result.wire_id {
        WireId::Number => serde_json::from_str::<Number>(result.call_id()).ok(),
        WireId::Text | WireId::Custom | WireId::Absent => None,
    };
    number.map_or_else(|| result.call_id().into(), Value::Number)
}
