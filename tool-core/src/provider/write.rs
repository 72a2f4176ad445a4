//! Write your own dialect: what an implementation of [`Dialect`](crate::dialect::Dialect) needs.
//!
//! Most programs need none of it: they use a dialect of the crate `tool-dialects`, or implement [`Dialect`](crate::dialect::Dialect) for
//! a type that holds one and change the method in which a server differs.
//!
//! For a provider with a format of its own, three methods are enough: one writes the tools, one reads a response, one writes
//! results.
//!
//! ```
//! use serde_json::{Value, json};
//! use tool_core::dialect::write::{JsonWriter, write_head};
//! use tool_core::dialect::{Dialect, End, HostedTool, ResponseError, Turn};
//! use tool_core::{Registry, ToolCall, ToolEntry, ToolResult, tool, tools};
//!
//! struct Custom;
//!
//! impl Dialect for Custom {
//!     fn write_tools(&self, tools: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
//!         out.array(|out| {
//!             for tool in tools {
//!                 out.object(|out| {
//!                     write_head(tool, out);
//!                     out.word("input").raw(tool.portable_json());
//!                 });
//!             }
//!         });
//!     }
//!
//!     fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
//!         let Some(parts) = response["parts"].as_array() else {
//!             return Err(ResponseError::new("not a custom response: `parts` is missing"));
//!         };
//!         let mut turn = Turn::new(vec![response.clone()]);
//!         for part in parts {
//!             match part["call"].as_str() {
//!                 Some(name) => {
//!                     let id = part["id"].as_str().unwrap_or_default();
//!                     turn.calls.push(ToolCall::new(id, name, part["input"].clone()));
//!                 }
//!                 None => turn.text.push_str(part["text"].as_str().unwrap_or_default()),
//!             }
//!         }
//!         Ok(turn.with_end(End::Answered))
//!     }
//!
//!     fn results(&self, results: &[ToolResult]) -> Vec<Value> {
//!         let result = |result: &ToolResult| json!({"id": result.call_id(), "output": result.content()});
//!         results.iter().map(result).collect()
//!     }
//! }
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let registry = Registry::builder().tools(tools![add]).build()?;
//! let turn = Custom.read(&json!({"parts": [{"call": "add", "id": "1", "input": {"a": 2, "b": 3}}]}))?;
//! let results = turn.calls.iter().map(|call| registry.call_blocking(call.clone()));
//! let results: Vec<_> = results.collect();
//! assert_eq!(Custom.results(&results), [json!({"id": "1", "output": "5"})]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | for | there is |
//! |---|---|
//! | tools | [`JsonWriter`], [`write_head`], [`write_freeform_head`], [`Subset`], [`write_entry`] |
//! | the fields of a request | [`RequestParts`], [`RequestWriter`], [`Choice`], [`AnswerFormat`], [`HttpApi`] |
//! | responses | [`Reason`], [`WireId`], [`Offered`], [`repair_json`], [`ValueLimit`] |
//! | streams | [`EventJson`], [`Event`], [`EventReader`], [`Json`], [`ServerSentEvents`] |
//! | messages for people | [`shorten`], [`name`] |
//! | tools on which a provider trained its models | [`TrainedTool`], [`Trained`], [`Setting`] |

pub use crate::call::head::WireId;
pub use crate::provider::answer::AnswerFormat;
pub use crate::provider::end::Reason;
pub use crate::provider::entry::{write_freeform_head, write_head};
pub use crate::provider::event::{DONE, Event, EventJson, EventReader, Json};
pub use crate::provider::hosted_tool::is_spelling;
pub use crate::provider::http_api::{HttpApi, Streaming, SystemPrompt};
pub use crate::provider::portable::with_suffix;
pub use crate::provider::repair::repair_json;
pub use crate::provider::request::{Choice, NamedTool, RequestParts, RequestWriter};
pub use crate::provider::server_sent::{ServerSentError, ServerSentEvents};
pub use crate::provider::subset::Subset;
pub use crate::provider::trained::{TrainedTool, write_entry};
pub use crate::provider::unanswered::Offered;
pub use crate::provider::value_limit::{ParseError, ValueLimit};
pub use crate::provider::wire::{Deferral, ToolChange};
pub use crate::provider::writer::JsonWriter;
pub use crate::schema::messages::{bare_name, name, shorten};
pub use crate::spec::{Setting, Trained};
