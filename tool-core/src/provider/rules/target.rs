//! [`Target`]: a provider and a mode that all tools of a build are to fit.

/// A provider whose rules can be turned on for every tool of a build, each by a feature of this
/// crate.
///
/// ```
/// use tool_core::rules::Target;
///
/// assert_eq!(Target::OpenAiStrict.feature(), "openai-strict");
/// assert_eq!(Target::OpenAiStrict.is_on(), cfg!(feature = "openai-strict"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// [`OpenAiChat::strict`](crate::dialect::OpenAiChat::strict) and
    /// [`OpenAiResponses::strict`](crate::dialect::OpenAiResponses::strict).
    OpenAiStrict,
    /// [`Anthropic::strict`](crate::dialect::Anthropic::strict).
    AnthropicStrict,
    /// [`Gemini`](crate::dialect::Gemini).
    Gemini,
    /// [`Bedrock`](crate::dialect::Bedrock).
    Bedrock,
    /// [`XAi`](crate::dialect::XAi).
    XAi,
    /// [`Cohere`](crate::dialect::Cohere), with `strict_tools` in the request.
    Cohere,
    /// [`Mistral`](crate::dialect::Mistral).
    Mistral,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 7] = [
        Target::OpenAiStrict,
        Target::AnthropicStrict,
        Target::Gemini,
        Target::Bedrock,
        Target::XAi,
        Target::Cohere,
        Target::Mistral,
    ];

    /// The feature that turns it on.
    pub const fn feature(self) -> &'static str {
        match self {
            Target::OpenAiStrict => "openai-strict",
            Target::AnthropicStrict => "anthropic-strict",
            Target::Gemini => "gemini",
            Target::Bedrock => "bedrock",
            Target::XAi => "xai",
            Target::Cohere => "cohere",
            Target::Mistral => "mistral",
        }
    }

    /// Whether its feature is on in this build.
    pub const fn is_on(self) -> bool {
        match self {
            Target::OpenAiStrict => cfg!(feature = "openai-strict"),
            Target::AnthropicStrict => cfg!(feature = "anthropic-strict"),
            Target::Gemini => cfg!(feature = "gemini"),
            Target::Bedrock => cfg!(feature = "bedrock"),
            Target::XAi => cfg!(feature = "xai"),
            Target::Cohere => cfg!(feature = "cohere"),
            Target::Mistral => cfg!(feature = "mistral"),
        }
    }

    /// The first words of the ids of its rules.
    #[cfg(test)]
    pub(crate) fn providers(self) -> &'static [&'static str] {
        match self {
            Target::OpenAiStrict => &["openai", "openai.chat", "openai.responses", "openai.strict"],
            Target::AnthropicStrict => &["anthropic", "anthropic.strict"],
            Target::Gemini => &["gemini", "gemini.parameters", "gemini.parametersJsonSchema"],
            Target::Bedrock => &["bedrock", "bedrock.nova"],
            Target::XAi => &["xai"],
            Target::Cohere => &["cohere", "cohere.strict"],
            Target::Mistral => &["mistral"],
        }
    }
}

/// A set of targets.
#[derive(Clone, Copy)]
pub(crate) struct Targets(u8);

impl Targets {
    /// Those whose features are on.
    pub(crate) const ON: Targets = {
        let mut bits = 0;
        let mut at = 0;
        while at < Target::ALL.len() {
            if Target::ALL[at].is_on() {
                bits |= Targets::only(Target::ALL[at]).0;
            }
            at += 1;
        }
        Targets(bits)
    };

    pub(crate) const fn only(target: Target) -> Targets {
        Targets(1 << target as u8)
    }

    pub(crate) const fn has(self, target: Target) -> bool {
        self.0 & Targets::only(target).0 != 0
    }
}
