//! Providers: the wire format of each one (its dialect) and its rules.
//!
//! | where | what |
//! |---|---|
//! | [`dialect`] | the trait, and everything that dialects share |
//! | [`rules`] | the table of rules that providers set for tools |
//! | [`check`] | the rules, checked while compiling |
//! | a module per provider | its dialect and its rules |

mod anthropic;
mod bedrock;
mod chat;
pub(crate) mod check;
mod cohere;
pub mod dialect;
mod gemini;
mod hosted;
pub(crate) mod hosted_tool;
mod mcp;
mod mistral;
mod openai;
mod rendered;
mod reshape;
mod response;
pub mod rules;
mod writer;
mod xai;
