//! [`HttpApi`]: where a provider's API is, and the parts of a request other than messages and tools.
//!
//! From the reference documentation of each provider, as of 2026-11.

use std::fmt;

/// A provider's HTTP API; see [`Dialect::http_api`](crate::dialect::Dialect::http_api).
pub struct HttpApi {
    pub(crate) provider: &'static str,
    /// `{region}` is that of AWS.
    pub(crate) base_url: &'static str,
    /// The segments of the path. `{model}` is the name of the model.
    pub(crate) path: &'static [&'static str],
    pub(crate) streaming: Streaming,
    /// The environment variables of the key; the first one that is set counts.
    pub(crate) key_variables: &'static [&'static str],
    /// The header of the key; `authorization` has it as a bearer token.
    pub(crate) key_header: &'static str,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// Set if the body has the name of the model.
    pub(crate) has_model: bool,
    pub(crate) messages: &'static str,
    /// The path of the tools in the body.
    pub(crate) tools: &'static [&'static str],
    pub(crate) system: SystemPrompt,
    /// The path of the maximum number of tokens of a response in the body.
    pub(crate) max_tokens: &'static [&'static str],
    /// The same for servers that imitate the API, if it differs.
    pub(crate) imitated_max_tokens: &'static [&'static str],
    /// The maximum number of tokens where the API requires one.
    pub(crate) required_max_tokens: Option<u32>,
}

/// How a streamed response is requested.
pub(crate) enum Streaming {
    /// By fields of the body, as JSON text.
    Fields(&'static str),
    /// By another path, and a parameter of the query.
    Path(&'static [&'static str], (&'static str, &'static str)),
    /// The stream is not made of server-sent events.
    Unsupported,
}

/// Where a request has the system prompt.
pub(crate) enum SystemPrompt {
    /// In a first message of the role `system`.
    Message,
    /// Text under this key.
    Text(&'static str),
    /// An array of parts, each with a `text`, at this path.
    Parts(&'static [&'static str]),
}

impl fmt::Debug for HttpApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpApi")
            .field("provider", &self.provider)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

pub(crate) const OPENAI_CHAT: HttpApi = HttpApi {
    provider: "OpenAI",
    base_url: "https://api.openai.com/v1",
    path: &["chat", "completions"],
    streaming: Streaming::Fields(r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
    key_variables: &["OPENAI_API_KEY"],
    key_header: "authorization",
    headers: &[],
    has_model: true,
    messages: "messages",
    tools: &["tools"],
    system: SystemPrompt::Message,
    // OpenAI's reasoning models reject `max_tokens`. Not every other server knows this key.
    max_tokens: &["max_completion_tokens"],
    imitated_max_tokens: &["max_tokens"],
    required_max_tokens: None,
};

pub(crate) const OPENAI_RESPONSES: HttpApi = HttpApi {
    path: &["responses"],
    streaming: Streaming::Fields(r#"{"stream":true}"#),
    messages: "input",
    system: SystemPrompt::Text("instructions"),
    max_tokens: &["max_output_tokens"],
    imitated_max_tokens: &["max_output_tokens"],
    ..OPENAI_CHAT
};

pub(crate) const ANTHROPIC: HttpApi = HttpApi {
    provider: "Anthropic",
    base_url: "https://api.anthropic.com/v1",
    path: &["messages"],
    streaming: Streaming::Fields(r#"{"stream":true}"#),
    key_variables: &["ANTHROPIC_API_KEY"],
    key_header: "x-api-key",
    headers: &[("anthropic-version", "2023-06-01")],
    system: SystemPrompt::Text("system"),
    max_tokens: &["max_tokens"],
    imitated_max_tokens: &["max_tokens"],
    // The largest that all models accept.
    required_max_tokens: Some(4096),
    ..OPENAI_CHAT
};

pub(crate) const GEMINI: HttpApi = HttpApi {
    provider: "Gemini",
    base_url: "https://generativelanguage.googleapis.com/v1beta",
    path: &["models", "{model}:generateContent"],
    streaming: Streaming::Path(&["models", "{model}:streamGenerateContent"], ("alt", "sse")),
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    // The key may also be in the URL, from where it gets into logs.
    key_header: "x-goog-api-key",
    has_model: false,
    messages: "contents",
    system: SystemPrompt::Parts(&["systemInstruction", "parts"]),
    max_tokens: &["generationConfig", "maxOutputTokens"],
    imitated_max_tokens: &["generationConfig", "maxOutputTokens"],
    ..OPENAI_CHAT
};

/// With API keys of Bedrock. Its streams are binary (`application/vnd.amazon.eventstream`).
pub(crate) const BEDROCK: HttpApi = HttpApi {
    provider: "Amazon Bedrock",
    base_url: "https://bedrock-runtime.{region}.amazonaws.com",
    path: &["model", "{model}", "converse"],
    streaming: Streaming::Unsupported,
    key_variables: &["AWS_BEARER_TOKEN_BEDROCK"],
    has_model: false,
    tools: &["toolConfig", "tools"],
    system: SystemPrompt::Parts(&["system"]),
    max_tokens: &["inferenceConfig", "maxTokens"],
    imitated_max_tokens: &["inferenceConfig", "maxTokens"],
    ..OPENAI_CHAT
};

pub(crate) const XAI: HttpApi = HttpApi {
    provider: "xAI",
    base_url: "https://api.x.ai/v1",
    // Usage is always in the last chunk.
    streaming: Streaming::Fields(r#"{"stream":true}"#),
    key_variables: &["XAI_API_KEY"],
    ..OPENAI_CHAT
};

pub(crate) const MISTRAL: HttpApi = HttpApi {
    provider: "Mistral",
    base_url: "https://api.mistral.ai/v1",
    // Unknown fields are rejected, and usage is always in the last chunk.
    streaming: Streaming::Fields(r#"{"stream":true}"#),
    key_variables: &["MISTRAL_API_KEY"],
    max_tokens: &["max_tokens"],
    ..OPENAI_CHAT
};

pub(crate) const COHERE: HttpApi = HttpApi {
    provider: "Cohere",
    base_url: "https://api.cohere.com/v2",
    path: &["chat"],
    streaming: Streaming::Fields(r#"{"stream":true}"#),
    key_variables: &["COHERE_API_KEY", "CO_API_KEY"],
    max_tokens: &["max_tokens"],
    ..OPENAI_CHAT
};
