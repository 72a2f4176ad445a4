//! Providers: the wire format of each one (its dialect) and its rules.
//!
//! | module | subject |
//! |---|---|
//! | one per provider | its profile (rules, limits, accepted subset of JSON Schema) and its dialects |
//! | [`profile`] | what a profile consists of |
//! | [`portable`] | the rules that are always on |
//! | [`dialect`] | the trait `Dialect`; with `answer`, `chat`, `hosted_tool`, `media`, `rendered`, `request`, `response`, `stream` and `writer`, which dialects share |
//! | `http_api` | the URL, headers and request fields of each provider (feature `http`) |
//! | [`reshape`] | writes a schema in a provider's subset of JSON Schema |
//! | [`check`] | checks tools against the rules, mostly at compile time |
//! | [`rules`] | the public table of rules, and the checks of a whole request |
//!
//! To add a provider, write its module and list it here (three times), and add its feature to
//! `Cargo.toml`. The reference page `rules.md` and the tests have a row for it, too.

pub(crate) mod answer;
mod anthropic;
mod bedrock;
mod chat;
pub(crate) mod check;
mod cohere;
pub mod dialect;
mod gemini;
pub(crate) mod hosted_tool;
#[cfg(feature = "http")]
pub(crate) mod http_api;
mod mcp;
mod media;
mod mistral;
mod openai;
pub(crate) mod portable;
mod profile;
mod rendered;
pub(crate) mod request;
mod reshape;
mod response;
pub mod rules;
mod stream;
mod subset;
mod usage;
mod writer;
mod xai;

use crate::provider::profile::Profile;

/// The types that `tool_core::dialect` exports.
pub(crate) mod dialects {
    pub use super::anthropic::Anthropic;
    pub use super::bedrock::Bedrock;
    pub use super::cohere::Cohere;
    pub use super::gemini::Gemini;
    pub use super::mcp::Mcp;
    pub use super::mistral::Mistral;
    pub use super::openai::{OpenAiChat, OpenAiResponses};
    pub use super::xai::XAi;
}

/// Defines [`Target`] and the lists over all providers.
macro_rules! providers {
    ($($(#[$doc:meta])* $target:ident = $feature:literal in $module:ident;)*) => {
        /// A provider whose rules every tool of a build can be checked against. A feature of this
        /// crate enables each one.
        ///
        /// ```
        /// use tool_core::rules::Target;
        ///
        /// assert_eq!(Target::OpenAiStrict.feature(), "openai-strict");
        /// assert_eq!(Target::OpenAiStrict.is_enabled(), cfg!(feature = "openai-strict"));
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Target {
            $($(#[$doc])* $target,)*
        }

        impl Target {
            /// Every target.
            pub const ALL: [Target; [$($feature),*].len()] = [$(Target::$target),*];

            /// Returns the name of the feature that enables the target.
            pub const fn feature(self) -> &'static str {
                match self {
                    $(Target::$target => $feature,)*
                }
            }

            /// Returns `true` if the target's feature is enabled in this build.
            pub const fn is_enabled(self) -> bool {
                match self {
                    $(Target::$target => cfg!(feature = $feature),)*
                }
            }

            /// Returns the profile of the provider.
            pub(crate) const fn profile(self) -> &'static Profile {
                match self {
                    $(Target::$target => &$module::PROFILE,)*
                }
            }
        }

        /// The dialects of every provider, each with its name.
        #[cfg(feature = "docs")]
        pub(crate) const DIALECTS: &[&[(&str, &dyn dialect::Dialect)]] =
            &[$($module::DIALECTS,)* mcp::DIALECTS];
    };
}

providers! {
    /// [`OpenAiChat::strict`](crate::dialect::OpenAiChat::strict) and
    /// [`OpenAiResponses::strict`](crate::dialect::OpenAiResponses::strict).
    OpenAiStrict = "openai-strict" in openai;
    /// [`Anthropic::strict`](crate::dialect::Anthropic::strict).
    AnthropicStrict = "anthropic-strict" in anthropic;
    /// [`Gemini`](crate::dialect::Gemini).
    Gemini = "gemini" in gemini;
    /// [`Bedrock`](crate::dialect::Bedrock).
    Bedrock = "bedrock" in bedrock;
    /// [`XAi`](crate::dialect::XAi).
    XAi = "xai" in xai;
    /// [`Cohere`](crate::dialect::Cohere), with `strict_tools` in the request.
    Cohere = "cohere" in cohere;
    /// [`Mistral`](crate::dialect::Mistral).
    Mistral = "mistral" in mistral;
}

/// A set of targets.
#[derive(Clone, Copy)]
pub(crate) struct Targets(u32);

impl Targets {
    pub(crate) const NONE: Targets = Targets(0);

    /// The targets whose features are enabled.
    pub(crate) const ENABLED: Targets = {
        let mut bits = 0;
        let mut at = 0;
        while at < Target::ALL.len() {
            if Target::ALL[at].is_enabled() {
                bits |= Targets::only(Target::ALL[at]).0;
            }
            at += 1;
        }
        Targets(bits)
    };

    pub(crate) const fn only(target: Target) -> Targets {
        Targets(1 << target as u32)
    }

    pub(crate) const fn has(self, target: Target) -> bool {
        self.0 & (1 << target as u32) != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
