//! Providers: the wire format of each one.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod cohere;
pub(crate) mod gemini;
pub(crate) mod mcp;
pub(crate) mod mistral;
pub(crate) mod openai;
pub(crate) mod xai;

mod changes;
pub(crate) mod chat;
mod entry;
mod forms;
pub(crate) mod history;
mod hosted_tool;
mod latest;
mod media;
mod message;
mod response;
pub(crate) mod stream;
mod unanswered;
mod usage;
