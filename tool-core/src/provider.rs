//! Providers: what a dialect consists of, and the rules of each provider.
//!
//! | module | subject |
//! |---|---|
//! | `rule`, `profile`, `subset`, `portable` | what a profile consists of; the rules that are always on |
//! | `profiles` | the rules of each provider: limits, media, accepted subset of JSON Schema |
//! | `target`, `rule_check`, `rules` | the list of profiles; checks of tools, mostly at compile time; the public table of rules |
//! | `writer`, `reshape`, `entry` | write JSON, schemas in a subset, and what the entries of tools have in common |
//! | `hosted_tool`, `answer`, `request`, `http_api` | the fields of a request, of which a dialect writes some |
//! | `value_limit`, `event`, `response`, `usage`, `unanswered`, `end`, `turn`, `server_sent`, `stream` | what is read in responses |
//! | `trained` | the trait `TrainedTool`, of tools on which a provider trained its models |
//! | `message`, `omitted`, `wire`, `named` | messages in no format; the parts of results that a provider is not sent; the trait `Dialect`; a dialect with its names |
//! | `rendered`, `tool_request` | the tools and the fields of a request, as a dialect wrote them |
//! | `dialect`, `write` | the public modules |
//!
//! A module imports only from those above it. No module knows a dialect: `tool-dialects` has them. To add the rules of a
//! provider, write its profile, declare it in `profiles`, add a line to `providers` and its feature to `Cargo.toml`. The
//! reference page `rules.md` and the tests have rows for it, too.

/// Calls a macro with the list of providers: the target with its documentation, the feature that enables
/// it, and the module of its profile.
macro_rules! providers {
    ($define:ident) => {
        $define! {
            /// The strict modes of OpenAI's chat completions and responses.
            OpenAiStrict = "openai-strict" in openai;
            /// The strict mode of Anthropic.
            AnthropicStrict = "anthropic-strict" in anthropic;
            /// Gemini.
            Gemini = "gemini" in gemini;
            /// Amazon Bedrock.
            Bedrock = "bedrock" in bedrock;
            /// xAI.
            XAi = "xai" in xai;
            /// Cohere, with `strict_tools` in the request.
            Cohere = "cohere" in cohere;
            /// Mistral.
            Mistral = "mistral" in mistral;
        }
    };
}

mod answer;
pub mod dialect;
mod end;
pub(crate) mod entry;
mod event;
pub(crate) mod hosted_tool;
mod http_api;
mod message;
mod named;
mod omitted;
pub(crate) mod portable;
mod profile;
mod profiles;
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
pub(crate) mod wire;
pub mod write;
pub(crate) mod writer;
