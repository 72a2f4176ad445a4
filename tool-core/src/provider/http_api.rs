//! [`HttpApi`]: where a provider's API is, and the parts of a request other than messages and tools.
//!
//! From the reference documentation of each provider, as of 2026-11.

/// A provider's HTTP API, for `HttpModel` of the crate `tool-agent`; see
/// [`Dialect::http_api`](crate::dialect::Dialect::http_api).
///
/// Start with [`new`](HttpApi::new), whose defaults fit most providers, and replace the fields that differ.
/// Later versions may add fields.
///
/// ```
/// use tool_core::dialect::write::{HttpApi, SystemPrompt};
///
/// static API: HttpApi = HttpApi {
///     key_variables: &["EXAMPLE_API_KEY"],
///     path: &["v2", "chat"],
///     system: SystemPrompt::Text("instructions"),
///     ..HttpApi::new("Example", "https://api.example.com")
/// };
/// assert_eq!(API.key_header, "authorization");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HttpApi {
    /// The name of the provider.
    pub provider: &'static str,
    /// The name of the server in lists, such as `groq`. Empty for the API of a dialect.
    pub name: &'static str,
    /// The URL that the path is appended to. `{NAME}` is replaced by the environment variable of that name, which is a URL
    /// if it stands at the start, and otherwise letters, digits, `.`, `_` and `-`. `{A|B}` is the first one that is set.
    pub base_url: &'static str,
    /// The segments of the path: `["chat", "completions"]` by default. `{model}` is replaced by the name
    /// of the model.
    pub path: &'static [&'static str],
    /// The parameters of the query. None by default.
    pub query: &'static [(&'static str, &'static str)],
    /// How a streamed response is requested: by `"stream": true` by default.
    pub streaming: Streaming,
    /// The environment variables of the key; the first one that is set counts. None by default, for a server that needs
    /// no key.
    pub key_variables: &'static [&'static str],
    /// The header of the key: `authorization` by default, which sends it as a bearer token.
    pub key_header: &'static str,
    /// The names and values of further headers. None by default.
    pub headers: &'static [(&'static str, &'static str)],
    /// Further fields of the body, a JSON object. None by default.
    pub fields: &'static str,
    /// Set if the body contains the name of the model. The default.
    pub has_model: bool,
    /// The key of the name of the model in the body: `model` by default.
    pub model: &'static str,
    /// The key of the messages in the body: `messages` by default.
    pub messages: &'static str,
    /// Where the system prompt stands: in a message by default.
    pub system: SystemPrompt,
    /// The path of the maximum number of tokens of a response in the body: `["max_tokens"]` by default.
    pub max_tokens: &'static [&'static str],
    /// The same for servers that imitate the API, if it differs.
    pub imitated_max_tokens: Option<&'static [&'static str]>,
    /// The maximum number of tokens that is sent if none is set, for an API that requires one.
    pub required_max_tokens: Option<u32>,
}

impl HttpApi {
    /// Creates an API with the default of every other field.
    pub const fn new(provider: &'static str, base_url: &'static str) -> HttpApi {
        HttpApi {
            provider,
            name: "",
            base_url,
            path: &["chat", "completions"],
            query: &[],
            streaming: Streaming::Fields(r#"{"stream":true}"#),
            key_variables: &[],
            key_header: "authorization",
            headers: &[],
            fields: "{}",
            has_model: true,
            model: "model",
            messages: "messages",
            system: SystemPrompt::Message,
            max_tokens: &["max_tokens"],
            imitated_max_tokens: None,
            required_max_tokens: None,
        }
    }
}

/// How a streamed response is requested; see [`HttpApi::streaming`].
///
/// ```
/// use tool_core::dialect::write::{HttpApi, Streaming};
///
/// // A server that wants its usage in the stream, too.
/// static API: HttpApi = HttpApi {
///     streaming: Streaming::Fields(r#"{"stream":true,"stream_options":{"include_usage":true}}"#),
///     ..HttpApi::new("Example", "https://api.example.com")
/// };
/// assert!(matches!(API.streaming, Streaming::Fields(fields) if fields.contains("include_usage")));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Streaming {
    /// By these fields of the body: a JSON object.
    Fields(&'static str),
    /// By another path.
    Path {
        /// The segments of the path, in place of [`HttpApi::path`].
        path: &'static [&'static str],
        /// Further parameters of the query.
        query: &'static [(&'static str, &'static str)],
        /// Further fields of the body: a JSON object.
        fields: &'static str,
    },
    /// By another path. The response consists of frames of AWS (`application/vnd.amazon.eventstream`).
    AwsFrames {
        /// The segments of the path, in place of [`HttpApi::path`].
        path: &'static [&'static str],
    },
    /// Not at all: the provider's streams have another form.
    Unsupported,
}

/// Where a request has the system prompt; see [`HttpApi::system`].
///
/// ```
/// use tool_core::dialect::write::SystemPrompt;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Anthropic;
///
/// // Where Anthropic's API has the system prompt.
/// let dialect = Anthropic::default();
/// let api = dialect.http_api().unwrap();
/// assert!(matches!(api.system, SystemPrompt::Text("system")));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum SystemPrompt {
    /// In a first message with the role `system`.
    Message,
    /// Under this key, as a string.
    Text(&'static str),
    /// At this path, as an array of parts, each with a `text`.
    Parts(&'static [&'static str]),
}
