//! Guides: one page a subject, each with a program that runs.
//!
//! # In the order to learn
//!
//! | guide | after it you can |
//! |---|---|
//! | [`tutorial`] | write a tool, test it, let a model call it, approve calls and serve it, in ten minutes |
//! | [`types`] | choose the type that tells a model what a parameter may be |
//! | [`results`] | return what a model, a client and your program need |
//! | [`errors`] | read what a model reads when a call fails, and find the call in your log |
//! | [`testing`] | notice each change of what models read |
//! | [`context`] | pass users, databases and time limits to tools, which no model can choose |
//! | [`hooks`] | allow, change, deny or hold calls by a rule for all tools |
//! | [`registries`] | choose tools by user, take those of others, and let a model search in many |
//! | [`providers`] | write requests and read responses of each provider |
//! | [`streaming`] | show a response and start its calls while the model writes |
//! | [`telemetry`] | see in traces and metrics what tools do |
//! | [`traps`] | avoid what surprises people |
//! | [`wasm`] | run tools in a browser or at the edge |
//! | [`editor`] | see in your editor what a model sees |
//! | [`map`] | find the crate, the type and the guide for a question |
//!
//! # With the other crates
//!
//! | guide | after it you can |
//! |---|---|
//! | [servers](https://docs.rs/tool-agent/latest/tool_agent/guide/servers/) | ask a model on your machine, at a gateway or in a cloud |
//! | [approvals](https://docs.rs/tool-agent/latest/tool_agent/guide/approvals/) | let the right person decide about a call, with many users |
//! | [journals](https://docs.rs/tool-agent/latest/tool_agent/guide/journals/) | save conversations, so that a crash repeats nothing |
//! | [chat](https://docs.rs/tool-agent/latest/tool_agent/guide/chat/) | build a service in which several users talk with a model |
//! | [deploying](https://docs.rs/tool-agent/latest/tool_agent/guide/deploying/) | start a new version of it, and know what happens to calls that wait or run |
//! | [background](https://docs.rs/tool-agent/latest/tool_agent/guide/background/) | let a model go on while a call takes minutes |
//! | [moving](https://docs.rs/tool-agent/latest/tool_agent/guide/moving/) | go on at another provider, by hand or when a model is down |
//! | [telemetry of agents](https://docs.rs/tool-agent/latest/tool_agent/guide/telemetry/) | see what models and runs do, and what they cost |
//! | [evaluations](https://docs.rs/tool-eval/latest/tool_eval/guide/) | measure whether models call your tools right |
//! | [serving](https://docs.rs/tool-mcp/latest/tool_mcp/guide/serving/) | serve tools to clients of the Model Context Protocol |
//! | [deployment](https://docs.rs/tool-mcp/latest/tool_mcp/guide/deployment/) | run a server where others reach it |
//! | [importing](https://docs.rs/tool-mcp/latest/tool_mcp/guide/importing/) | use the tools of other servers safely |
//! | [helper models](https://docs.rs/tool-mcp/latest/tool_mcp/guide/helper_models/) | let a model ask other models |
//! | [conformance and speed](https://docs.rs/tool-mcp/latest/tool_mcp/guide/measured/) | know how the protocol was tried, and what a request costs |
//! | [confinement](https://docs.rs/tool-files/latest/tool_files/guide/confinement/) | give a model files, and know which it can't reach |
//! | [sandbox](https://docs.rs/tool-python/latest/tool_python/guide/sandbox/) | run Python of a model, and know what holds it |
//! | [code mode](https://docs.rs/tool-python/latest/tool_python/guide/code_mode/) | let a model call your tools from Python |
//! | [workshop](https://docs.rs/tool-python/latest/tool_python/guide/workshop/) | let a model write tools that a person approves |

// Its code is that of a package in `examples/tutorial`, which has more dependencies and tests of its own.
#[cfg(not(doctest))]
#[doc = include_str!("guide/tutorial.md")]
pub mod tutorial {}

#[doc = include_str!("guide/types.md")]
pub mod types {}

#[doc = include_str!("guide/results.md")]
pub mod results {}

#[doc = include_str!("guide/errors.md")]
pub mod errors {}

#[doc = include_str!("guide/testing.md")]
pub mod testing {}

#[doc = include_str!("guide/context.md")]
pub mod context {}

#[doc = include_str!("guide/hooks.md")]
pub mod hooks {}

#[doc = include_str!("guide/registries.md")]
pub mod registries {}

#[doc = include_str!("guide/providers.md")]
pub mod providers {}

#[doc = include_str!("guide/streaming.md")]
pub mod streaming {}

#[doc = include_str!("guide/telemetry.md")]
pub mod telemetry {}

#[doc = include_str!("guide/traps.md")]
pub mod traps {}

#[doc = include_str!("guide/wasm.md")]
pub mod wasm {}

#[doc = include_str!("guide/editor.md")]
#[doc = include_str!("guide/editor.svg")]
pub mod editor {}

#[doc = include_str!("guide/map.md")]
pub mod map {}
