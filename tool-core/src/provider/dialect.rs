//! Writes tools and results, and reads calls, in the formats of providers.
//!
//! A [`Dialect`] writes the `tools` field of a request, [reads](Dialect::read) a response as a [`Turn`],
//! and writes the results of its calls for the next request. It only converts JSON: the application sends it, with the
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
//! let turn = dialect.read(&response)?;
//! let results = turn.calls.iter().map(|call| registry.call_blocking(call.clone()));
//! let results: Vec<_> = results.collect();
//! messages.extend(dialect.follow_up(&turn, &results));
//! assert_eq!(messages[2], json!({"role": "tool", "tool_call_id": "call_1", "content": "5"}));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Strict modes and subsets
//!
//! A provider that accepts a subset of JSON Schema is sent that subset. Its dialect puts the rest into the
//! description: "Must be an integer from 1 to 14." The registry validates every call against the whole
//! schema. It also accepts the values that strict modes send: `null` for an absent value, and enum values
//! in another case. A few things can't be expressed at all; they are listed at [`rules`](crate::rules),
//! with the features that make it a compile error.

pub use crate::provider::answer::{AnswerError, AnswerFormat, TypedAnswer};
pub use crate::provider::anthropic::trained as anthropic;
pub use crate::provider::end::End;
pub use crate::provider::event::EventJson;
pub use crate::provider::hosted_tool::{HostedTool, Rejected, RejectedTool};
pub use crate::provider::http_api::{HttpApi, Streaming, SystemPrompt};
pub use crate::provider::mcp::Mcp;
pub use crate::provider::media::OmittedPart;
pub use crate::provider::named::NamedDialect;
pub use crate::provider::openai::trained as openai;
pub use crate::provider::rendered::Rendered;
pub use crate::provider::repair::repair_json;
pub use crate::provider::request::{
    Choice, NamedTool, RequestError, RequestOptions, RequestParts, RequestWriter, ToolChoice,
};
pub use crate::provider::response::ResponseError;
pub use crate::provider::server_sent::{ServerSentError, ServerSentEvents};
pub use crate::provider::stream::{StreamEvent, StreamReader};
pub use crate::provider::tool_request::ToolRequest;
pub use crate::provider::trained::TrainedTool;
pub use crate::provider::turn::Turn;
pub use crate::provider::unanswered::Unanswered;
pub use crate::provider::usage::Usage;
pub use crate::provider::value_limit::{ParseError, ValueLimit};
pub use crate::provider::wire::{Deferral, Dialect};
pub use crate::provider::writer::JsonWriter;

/// Exports the dialects of every provider.
macro_rules! dialects {
    ($($(#[$doc:meta])* $target:ident = $feature:literal in $module:ident: $($dialect:ident),*;)*) => {
        $(pub use crate::provider::$module::{$($dialect),*};)*

        /// The dialects by their types, so that one without names does not compile.
        const NAMED: &[&[NamedDialect]] = &[$($($dialect::NAMED,)*)* Mcp::NAMED];
    };
}

providers!(dialects);

/// Returns every dialect, for lists to choose from: by provider, those without strict mode first.
///
/// ```
/// use tool_core::{Registry, dialect, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// for known in dialect::all() {
///     let sent = registry.render(known.dialect);
///     println!("{}: {} bytes", known.title, sent.as_str().len());
/// }
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub fn all() -> impl Iterator<Item = &'static NamedDialect> {
    NAMED.iter().copied().flatten()
}

/// Returns the dialect with this [name](NamedDialect::name), such as one that a user has typed. Returns `None` if there is
/// none, or if it is to be strict and has no such mode.
///
/// ```
/// use tool_core::dialect;
///
/// assert_eq!(dialect::find("gemini-interactions", false).unwrap().title, "Gemini Interactions");
/// assert!(dialect::find("openai-chat", true).unwrap().is_strict);
/// assert!(dialect::find("openai", false).is_none());
/// ```
pub fn find(name: &str, is_strict: bool) -> Option<&'static NamedDialect> {
    all().find(|known| known.name == name && known.is_strict == is_strict)
}
