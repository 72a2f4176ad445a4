//! Providers: the wire format of each one (its dialect) and its rules.
//!
//! | module | subject |
//! |---|---|
//! | `rule`, `profile`, `subset`, `media`, `portable` | what a profile consists of; the rules that are always on |
//! | `<provider>::profile` | the rules of a provider: limits, media, accepted subset of JSON Schema |
//! | `target`, `check`, `rules` | the list of profiles; checks of tools, mostly at compile time; the public table of rules |
//! | `writer`, `reshape`, `entry` | write JSON, schemas in a subset, and what the entries of tools have in common |
//! | `hosted_tool`, `answer`, `request`, `http_api` | the fields of a request, of which a dialect writes some |
//! | `forms` | tells the responses of providers apart by their keys, for errors |
//! | `value_limit`, `event`, `response`, `usage`, `unanswered`, `turn`, `server_sent`, `stream` | what responses have in common, and what is read in them |
//! | `history` | how a request repeats the calls and results of earlier messages |
//! | `trained` | the trait `TrainedTool`, of tools on which a provider trained its models |
//! | `wire`, `named` | the trait `Dialect`; a dialect with its names |
//! | `chat` | the format of chat completions, which several providers share |
//! | `<provider>` | its dialects; in its folder, the reader of its streams |
//! | `rendered`, `tool_request` | the tools and the fields of a request, as a dialect wrote them |
//! | `dialect` | the public module |
//!
//! A module imports only from those above it, and what is shared knows no provider. To add a provider,
//! write its module and folder, declare it here, add a line to `providers` and its feature to
//! `Cargo.toml`. The reference page `rules.md` and the tests have rows for it, too.

/// Calls a macro with the list of providers: the target with its documentation, the feature that enables
/// it, the module and its dialects.
macro_rules! providers {
    ($define:ident) => {
        $define! {
            /// [`OpenAiChat::strict`](crate::dialect::OpenAiChat::strict) and
            /// [`OpenAiResponses::strict`](crate::dialect::OpenAiResponses::strict).
            OpenAiStrict = "openai-strict" in openai: OpenAiChat, OpenAiResponses;
            /// [`Anthropic::strict`](crate::dialect::Anthropic::strict).
            AnthropicStrict = "anthropic-strict" in anthropic: Anthropic;
            /// [`Gemini`](crate::dialect::Gemini) and
            /// [`GeminiInteractions`](crate::dialect::GeminiInteractions).
            Gemini = "gemini" in gemini: Gemini, GeminiInteractions;
            /// [`Bedrock`](crate::dialect::Bedrock).
            Bedrock = "bedrock" in bedrock: Bedrock;
            /// [`XAi`](crate::dialect::XAi).
            XAi = "xai" in xai: XAi;
            /// [`Cohere`](crate::dialect::Cohere), with `strict_tools` in the request.
            Cohere = "cohere" in cohere: Cohere;
            /// [`Mistral`](crate::dialect::Mistral).
            Mistral = "mistral" in mistral: Mistral;
        }
    };
}

pub(crate) mod anthropic;
mod bedrock;
mod cohere;
mod gemini;
mod mcp;
mod mistral;
pub(crate) mod openai;
mod xai;

mod answer;
mod chat;
pub mod dialect;
mod end;
pub(crate) mod entry;
mod event;
mod forms;
pub(crate) mod history;
pub(crate) mod hosted_tool;
mod http_api;
mod media;
mod named;
pub(crate) mod portable;
mod profile;
mod rendered;
mod repair;
pub(crate) mod request;
mod reshape;
mod response;
mod rule;
pub(crate) mod rule_check;
pub mod rules;
mod server_sent;
mod stream;
mod subset;
mod target;
#[cfg(test)]
mod tests;
mod tool_request;
pub(crate) mod trained;
mod turn;
mod unanswered;
mod usage;
mod value_limit;
mod wire;
mod writer;
