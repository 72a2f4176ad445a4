//! The profile of each provider.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod cohere;
pub(crate) mod gemini;
pub(crate) mod mistral;
pub(crate) mod openai;
pub(crate) mod xai;
