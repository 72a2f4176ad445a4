//! What providers want: how they write tools, calls and results.
//!
//! A [`Dialect`] writes the `tools` field of a request, reads the calls out of the response and
//! writes their results for the next request. It only shapes JSON: sending it is up to the
//! application and the HTTP client of its choice.
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
//! // What the provider answers:
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
//! Where a provider takes a part of JSON Schema alone, its dialect writes that part and says the
//! rest in the description, in words: "Must be an integer from 1 to 14." The registry holds every
//! call to the whole schema all the same. It also takes what such modes send back: `null` for what
//! is left out, and the values of enums in another case. What can't be said otherwise stands at
//! [`rules`](crate::rules), with the features that make it a compile error.

use serde_json::{Number, Value};

use crate::call::{ToolCall, ToolResult, WireId};
use crate::provider::check;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::reshape;
use crate::provider::reshape::Style;
use crate::provider::rules::{BrokenRule, Target};
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

pub use crate::provider::anthropic::dialect::Anthropic;
pub use crate::provider::bedrock::Bedrock;
pub use crate::provider::cohere::Cohere;
pub use crate::provider::gemini::dialect::Gemini;
pub use crate::provider::hosted::RefusedTool;
pub use crate::provider::mcp::dialect::Mcp;
pub use crate::provider::mistral::Mistral;
pub use crate::provider::openai::chat::OpenAiChat;
pub use crate::provider::openai::responses::OpenAiResponses;
pub use crate::provider::rendered::Rendered;
pub use crate::provider::response::ResponseError;
pub use crate::provider::writer::JsonWriter;
pub use crate::provider::xai::XAi;

/// How a provider writes tools, calls and results.
///
/// Implement it for a provider that is not here:
///
/// ```
/// use serde_json::{Value, json};
/// use tool_core::dialect::{Dialect, JsonWriter, ResponseError};
/// use tool_core::{HostedTool, ToolCall, ToolEntry, ToolResult};
///
/// struct House;
///
/// impl Dialect for House {
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
///             return Err(ResponseError::new("not an answer of the house: `call` is missing"));
///         };
///         Ok(vec![ToolCall::new("only", name, response["with"].clone())])
///     }
///
///     fn turn(&self, response: &Value) -> Vec<Value> {
///         vec![response.clone()]
///     }
///
///     fn results(&self, results: &[ToolResult]) -> Vec<Value> {
///         results.iter().map(|result| json!({ "gave": result.content() })).collect()
///     }
/// }
///
/// assert_eq!(House.calls(&json!({"call": "add"})).unwrap()[0].name, "add");
/// ```
pub trait Dialect {
    /// Writes the value of the request's `tools` field as JSON text. The hosted ones are those that
    /// this dialect [knows](Dialect::hosts).
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter);

    /// Whether a hosted tool is one of this provider; no, unless a dialect says otherwise. One that
    /// is [unchecked](HostedTool::unchecked) should be taken when its shape is right.
    fn hosts(&self, _tool: &HostedTool) -> bool {
        false
    }

    /// The provider, as its refusals name it.
    fn provider(&self) -> &'static str {
        "this provider"
    }

    /// The calls in a whole response (not a piece of a stream), in order; none is not an error.
    ///
    /// Where a response was cut short in the middle of its last call, by its limit of tokens or by a
    /// filter, what came of the arguments may look whole, and as if there were none. The tool is not
    /// run on it: the call gets a result that says so, and
    /// [`parse_error`](crate::ToolCall::parse_error) says so as well.
    ///
    /// # Errors
    ///
    /// When the JSON is not a response of this provider, is one of its error messages, or holds a
    /// call that has no name or no id to answer to.
    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError>;

    /// The part of a response that the next request must repeat, word for word: the model's turn
    /// with its reasoning and its signatures.
    fn turn(&self, response: &Value) -> Vec<Value>;

    /// What the model says in words, beside its calls and without its reasoning; empty when it says
    /// nothing. Words with which it refuses to answer are among them.
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

    /// Whether the provider paused in the middle of its turn, with tools that it runs itself: it
    /// goes on when the next request repeats the turn. No, unless a dialect says otherwise.
    fn is_paused(&self, _response: &Value) -> bool {
        false
    }

    /// The results as messages or items of the next request.
    fn results(&self, results: &[ToolResult]) -> Vec<Value>;

    /// Everything that the next request adds to the conversation: the turn, then the results.
    fn follow_up(&self, response: &Value, results: &[ToolResult]) -> Vec<Value> {
        let mut messages = self.turn(response);
        messages.extend(self.results(results));
        messages
    }

    /// What the provider refuses of these tools together: too many, or too much in all of them.
    fn broken_rules(&self, _tools: &[ToolEntry], _hosted: &[HostedTool]) -> Vec<BrokenRule> {
        Vec::new()
    }
}

/// A dialect that is chosen while the program runs.
impl<D: Dialect + ?Sized> Dialect for Box<D> {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        (**self).write_tools(tools, hosted, out);
    }

    fn hosts(&self, tool: &HostedTool) -> bool {
        (**self).hosts(tool)
    }

    fn provider(&self) -> &'static str {
        (**self).provider()
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        (**self).calls(response)
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

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        (**self).results(results)
    }

    fn follow_up(&self, response: &Value, results: &[ToolResult]) -> Vec<Value> {
        (**self).follow_up(response, results)
    }

    fn broken_rules(&self, tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<BrokenRule> {
        (**self).broken_rules(tools, hosted)
    }
}

/// `name` and `description`, which all providers call so.
pub(crate) fn write_head(tool: &ToolSpec, out: &mut JsonWriter) {
    out.word("name").string(&tool.name);
    out.word("description").string(&tool.prompt());
}

/// The schema under `key` and whether it is strict: reshaped if the target can take it, else as it
/// is, since one tool must not cost a request all the others.
pub(crate) fn strict_or_plain(
    tool: &ToolSpec,
    target: Target,
    style: &Style,
    key: &str,
    out: &mut JsonWriter,
) {
    let is_strict = check::check(&tool.parameters(), target).is_ok();
    out.key(key);
    if is_strict {
        reshape::write(&tool.parameters(), style, out);
    } else {
        out.raw(tool.parameters_json());
    }
    out.word("strict").boolean(is_strict);
}

/// The id that a result answers to, of the type that it came in.
pub(crate) fn wire_id(result: &ToolResult) -> Value {
    let number = match result.wire_id {
        WireId::Number => serde_json::from_str::<Number>(result.call_id()).ok(),
        WireId::Text | WireId::Absent => None,
    };
    number.map_or_else(|| result.call_id().into(), Value::Number)
}
