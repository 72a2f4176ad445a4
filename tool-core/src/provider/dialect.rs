//! Writes tools and results, and reads calls, in the formats of providers.
//!
//! A [`Dialect`] writes the `tools` field of a request, [reads](Dialect::read) a response as a [`Turn`],
//! and writes the results of its calls for the next request. It only converts JSON: the application sends it, with the
//! HTTP client of its choice.
//!
//! ```
//! use serde_json::json;
//! use tool_core::dialect::Dialect;
//! use tool_dialects::OpenAiChat;
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

#[doc(inline)]
pub use crate::provider::write;

pub use crate::provider::answer::{AnswerError, AnswerWay, TypedAnswer};
pub use crate::provider::end::End;
pub use crate::provider::hosted_tool::{HostedTool, Rejected, RejectedTool};
pub use crate::provider::message::Message;
pub use crate::provider::named::NamedDialect;
pub use crate::provider::omitted::OmittedPart;
pub use crate::provider::rendered::Rendered;
pub use crate::provider::request::{RequestError, RequestOptions, ToolChoice};
pub use crate::provider::response::ResponseError;
pub use crate::provider::stream::{StreamEvent, StreamReader};
pub use crate::provider::tool_request::ToolRequest;
pub use crate::provider::turn::Turn;
pub use crate::provider::unanswered::Unanswered;
pub use crate::provider::usage::Usage;
pub use crate::provider::wire::Dialect;
