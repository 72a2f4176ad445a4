//! [`HttpModel`]: calls the providers' HTTP APIs.

#[cfg(feature = "bedrock")]
mod aws;
mod events;
mod failure;
mod fields;
mod request;
mod runtime;
mod secrets;
mod send;
mod transport;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "bedrock")]
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use futures_util::StreamExt;
use reqwest::Url;
use serde_json::Value;

#[cfg(feature = "tower")]
pub(super) use self::runtime::sleep;
use self::runtime::{InRuntime, handle};
use self::secrets::Secrets;
use super::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_core::dialect::Dialect;
use tool_core::dialect::write::HttpApi;
use tool_core::runtime::BoxFuture;

/// A provider's model, called over HTTP.
///
/// The dialect determines the URL, the headers and the fields of the body. The key comes from an environment variable:
///
/// | dialect | key | URL |
/// |---|---|---|
/// | `OpenAiChat`, `OpenAiResponses` | `OPENAI_API_KEY` | `https://api.openai.com/v1` |
/// | `Anthropic` | `ANTHROPIC_API_KEY` | `https://api.anthropic.com/v1` |
/// | `Gemini`, `GeminiInteractions` | `GEMINI_API_KEY` or `GOOGLE_API_KEY` | `https://generativelanguage.googleapis.com/v1beta` |
/// | `XAi` | `XAI_API_KEY` | `https://api.x.ai/v1` |
/// | `Mistral` | `MISTRAL_API_KEY` | `https://api.mistral.ai/v1` |
/// | `Cohere` | `COHERE_API_KEY` or `CO_API_KEY` | `https://api.cohere.com/v2` |
/// | `Bedrock` | `AWS_BEARER_TOKEN_BEDROCK` | `https://bedrock-runtime.REGION.amazonaws.com`, with `AWS_REGION` or `AWS_DEFAULT_REGION` |
///
/// ```no_run
/// use tool_core::Registry;
/// use tool_agent::Agent;
/// use tool_agent::model::HttpModel;
/// use tool_agent::dialects::Anthropic;
///
/// let dialect = Anthropic::default();
/// let model = HttpModel::new(&dialect, "claude-sonnet-4-5").system("Be brief.");
/// let agent = Agent::new(Registry::linked()?, dialect, model);
/// println!("{}", agent.ask_blocking("What is the weather in Lisbon?")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Many other servers have an API like OpenAI's, and each differs from it. [`server`](crate::dialects::server) has them by
/// name, such as Ollama, Groq and Azure:
///
/// ```no_run
/// use tool_core::Registry;
/// use tool_agent::Agent;
/// use tool_agent::model::HttpModel;
/// use tool_agent::dialects::server;
///
/// let model = HttpModel::new(&server::OLLAMA, "qwen3");
/// let agent = Agent::new(Registry::linked()?, server::OLLAMA, model);
/// println!("{}", agent.ask_blocking("What is the weather in Lisbon?")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// For a server that is not there, set its [URL](HttpModel::base_url), or write a
/// [row](crate::dialects::server#) for it.
///
/// # Responses
///
/// A response is streamed if the application reads [events](crate::Agent::events), and otherwise read as a whole. Use
/// [`streaming`](HttpModel::streaming) to override that. Responses of Amazon Bedrock are read as a whole without the
/// feature `bedrock`, because its streams don't consist of server-sent events.
///
/// Redirects are not followed, and the size and time of a response are limited. An error has a [kind](ModelErrorKind),
/// the provider's own words, and the time to wait before you repeat the request, if the provider gives one. Requests
/// are not repeated: add `Agent::retry` (feature `tower`).
///
/// # Secrets
///
/// The key is sent in a header, and only to the host of the URL. It is never part of an error, of `Debug` or of a log,
/// even if the server repeats it in its error message.
///
/// # Runtime
///
/// The first request of the process starts a thread with a tokio runtime for the connections. So a model works in every
/// async runtime, in several at once, and in none ([`ask_blocking`](crate::Agent::ask_blocking)). All models of the
/// process with the same [`connect_timeout`](HttpModel::connect_timeout) and [`idle_timeout`](HttpModel::idle_timeout)
/// share their connections, so you may create a model for each request.
#[doc(alias("ollama", "local model", "openai", "client"))]
#[derive(Clone)]
pub struct HttpModel {
    api: Option<HttpApi>,
    name: String,
    base_url: Option<String>,
    key: Key,
    system: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    max_tokens: Option<u32>,
    /// In the order in which they are added to a body.
    fields: Vec<(String, Value)>,
    headers: Vec<(String, HeaderValue)>,
    streaming: Option<bool>,
    connect_timeout: Duration,
    idle_timeout: Duration,
    timeout: Duration,
    max_bytes: Option<usize>,
}

/// Longer times overflow in the HTTP client.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Returns the key, or the value of a header, of one request.
type KeySource = Arc<dyn Fn() -> BoxFuture<Result<String, ModelError>> + Send + Sync>;

#[derive(Clone)]
enum HeaderValue {
    Text(String),
    Source(KeySource),
}

#[derive(Clone)]
enum Key {
    /// The provider's variables, used only with the provider's own URL.
    Default,
    Variable(String),
    Source(KeySource),
    #[cfg(feature = "bedrock")]
    Aws(SharedCredentialsProvider),
    None,
}

impl HttpModel {
    /// Creates a model with this name, such as `gpt-5.2`, of the dialect's provider. If the dialect has no HTTP API,
    /// like MCP's, requests fail.
    pub fn new(dialect: &(impl Dialect + ?Sized), name: impl Into<String>) -> HttpModel {
        HttpModel {
            api: dialect.http_api().copied(),
            name: name.into(),
            base_url: None,
            key: Key::Default,
            system: None,
            max_tokens: None,
            fields: Vec::new(),
            headers: Vec::new(),
            streaming: None,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(5 * 60),
            timeout: Duration::from_secs(20 * 60),
            max_bytes: None,
        }
    }

    /// Sets the base URL, such as `http://localhost:8000/v1`, to which the path of the API is appended. Its query is
    /// kept.
    ///
    /// The provider's key is then not taken from the environment, so that no other server gets it by accident. Set a
    /// key with one of the methods for keys.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Sets the key.
    pub fn key(self, key: impl Into<String>) -> Self {
        let key = key.into();
        self.key_with(move || std::future::ready(Ok(key.clone())))
    }

    /// Reads the key from this environment variable, for each request.
    pub fn key_from_env(mut self, variable: impl Into<String>) -> Self {
        self.key = Key::Variable(variable.into());
        self
    }

    /// Calls a function for the key of each request. Use it for tokens that expire.
    ///
    /// ```
    /// use tool_agent::model::{HttpModel, ModelError};
    /// use tool_agent::dialects::OpenAiResponses;
    ///
    /// async fn current_token() -> Result<String, ModelError> {
    ///     // Reads it from your key store.
    ///     # Ok(String::new())
    /// }
    ///
    /// let model = HttpModel::new(&OpenAiResponses::default(), "gpt-5.2").key_with(current_token);
    /// # let _ = model;
    /// ```
    pub fn key_with<F>(mut self, key: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<String, ModelError>> + Send + 'static,
    {
        self.key = Key::Source(Arc::new(move || Box::pin(key())));
        self
    }

    /// Signs each request with these credentials of AWS (Signature Version 4), for Amazon Bedrock. For the credentials of
    /// profiles, roles and containers, pass the provider that the crate `aws-config` finds:
    /// `aws_config::load_defaults(…).await.credentials_provider()`. The region is that of the URL, or else `AWS_REGION` or
    /// `AWS_DEFAULT_REGION`.
    ///
    /// ```
    /// use aws_credential_types::Credentials;
    /// use tool_agent::model::HttpModel;
    /// use tool_agent::dialects::server;
    ///
    /// let credentials = Credentials::new("AKIDEXAMPLE", "its secret", None, None, "my key store");
    /// let model = HttpModel::new(&server::BEDROCK, "amazon.nova-lite-v1:0").aws_credentials(credentials);
    /// # let _ = model;
    /// ```
    #[cfg(feature = "bedrock")]
    #[cfg_attr(docsrs, doc(cfg(feature = "bedrock")))]
    pub fn aws_credentials(mut self, credentials: impl ProvideCredentials + 'static) -> Self {
        self.key = Key::Aws(SharedCredentialsProvider::new(credentials));
        self
    }

    /// Sends no key.
    pub fn without_key(mut self) -> Self {
        self.key = Key::None;
        self
    }

    /// Sets the system prompt. An empty one is omitted.
    pub fn system(self, prompt: impl Into<String>) -> Self {
        let prompt = prompt.into();
        self.system_with(move || prompt.clone())
    }

    /// Calls a function for the system prompt of each request.
    pub fn system_with(mut self, prompt: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.system = Some(Arc::new(prompt));
        self
    }

    /// Limits the tokens of a response, in the field that the provider uses. Anthropic requires a limit, so it is 4096
    /// by default there.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Adds a field to the body of each request. If the body has the field already, an object is merged into it, `null`
    /// removes it, and any other value replaces it. A field that the last response
    /// [requires](tool_core::dialect::Turn::continuation) takes precedence.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_agent::model::HttpModel;
    /// use tool_agent::dialects::{Gemini, OpenAiChat};
    ///
    /// let model = HttpModel::new(&Gemini::default(), "gemini-2.5-flash")
    ///     .max_tokens(2000)
    ///     .field("generationConfig", json!({"temperature": 0}));
    /// # let _ = model;
    ///
    /// // A gateway that rejects `stream_options`.
    /// let model = HttpModel::new(&OpenAiChat::default(), "any")
    ///     .base_url("https://llm.example.com/v1")
    ///     .field("stream_options", Value::Null);
    /// # let _ = model;
    /// ```
    pub fn field(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.push((key.into(), value.into()));
        self
    }

    /// Adds a header to each request. It replaces a header of the same name. `Debug` does not show the values of
    /// headers.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers
            .push((name.into(), HeaderValue::Text(value.into())));
        self
    }

    /// Calls a function for the value of a header of each request. Use it for tokens that expire, in another header than
    /// the [key](HttpModel::key_with)'s or in another form.
    ///
    /// ```
    /// use tool_agent::model::{HttpModel, ModelError};
    /// use tool_agent::dialects::server;
    ///
    /// async fn current_token() -> Result<String, ModelError> {
    ///     // Reads it from Entra.
    ///     # Ok(String::new())
    /// }
    ///
    /// let model = HttpModel::new(&server::AZURE, "my-deployment")
    ///     .without_key()
    ///     .header_with("authorization", async || Ok(format!("Bearer {}", current_token().await?)));
    /// # let _ = model;
    /// ```
    pub fn header_with<F>(
        mut self,
        name: impl Into<String>,
        value: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<String, ModelError>> + Send + 'static,
    {
        let value = HeaderValue::Source(Arc::new(move || Box::pin(value())));
        self.headers.push((name.into(), value));
        self
    }

    /// Requests streamed responses always or never. By default, the responses of
    /// [`Agent::events`](crate::Agent::events) are streamed.
    pub fn streaming(mut self, is_streamed: bool) -> Self {
        self.streaming = Some(is_streamed);
        self
    }

    /// Limits the time to connect. 10 seconds by default.
    pub fn connect_timeout(mut self, time: Duration) -> Self {
        self.connect_timeout = time.min(LONGEST);
        self
    }

    /// Limits the time in which the server sends nothing. A response that is not streamed sends nothing until the model
    /// has finished. 5 minutes by default.
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time.min(LONGEST);
        self
    }

    /// Limits the time of a request and its whole response. 20 minutes by default.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time.min(LONGEST);
        self
    }

    /// Limits the bytes of a response. The default is 64 MiB, and 1 GiB for streams, whose events repeat data. A
    /// response or an event with more than a million JSON values is an error too, because values take many times more
    /// space in memory.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Checks the name of the model, the URL, the headers and the key in the environment, without sending a request. If
    /// your program takes them from flags, call this at the start to get the error early.
    ///
    /// ```
    /// use tool_agent::model::HttpModel;
    /// use tool_agent::dialects::OpenAiChat;
    ///
    /// let model = HttpModel::new(&OpenAiChat::default(), "qwen3").base_url("localhost:11434");
    /// let error = model.check().unwrap_err().to_string();
    /// assert!(error.contains("the base URL must start with http:// or https://"), "{error}");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if one of them is missing or invalid. The functions of [`key_with`](HttpModel::key_with) and
    /// [`header_with`](HttpModel::header_with) are not called.
    pub fn check(&self) -> Result<(), ModelError> {
        let checked = self.endpoint(false).and_then(|endpoint| {
            let key = self.known_key(&endpoint.api)?;
            let own = self.known_headers();
            #[cfg(feature = "bedrock")]
            if let Key::Aws(_) = self.key {
                aws::region(&endpoint.url, &endpoint.api)?;
            }
            endpoint.headers(key.as_deref(), &own, &mut Secrets::default())
        });
        let target = || self.target(self.endpoint(false).ok().as_ref());
        checked
            .map(drop)
            .map_err(|error| error.with_target(target()))
    }
}

impl Model for HttpModel {
    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let Some(handle) = handle() else {
            let problem = "can't start the thread of the HTTP client";
            let error = ModelError::new(ModelErrorKind::Other, problem);
            return Box::pin(std::future::ready(Err(error)));
        };
        let inner = Box::pin(async move {
            let endpoint = self.endpoint(self.streaming.unwrap_or(request.prefers_stream));
            let target = self.target(endpoint.as_ref().ok());
            let sent = match endpoint {
                Ok(endpoint) => self.ask_at(&endpoint, request).await,
                Err(error) => Err(error),
            };
            match sent {
                Ok(Response::Stream(events)) => Ok(Response::Stream(Box::pin(InRuntime {
                    handle,
                    inner: Box::pin(
                        events.map(move |event| event.map_err(|error| error.with_target(&*target))),
                    ),
                }))),
                Ok(whole) => Ok(whole),
                Err(error) => Err(error.with_target(target)),
            }
        });
        Box::pin(InRuntime { handle, inner })
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password or a token.
        let url = self
            .base_url
            .as_deref()
            .and_then(|url| Url::parse(url).ok());
        f.debug_struct("HttpModel")
            .field("provider", &self.api.as_ref().map(|api| api.provider))
            .field("name", &self.name)
            .field("host", &url.as_ref().and_then(Url::host_str))
            .finish_non_exhaustive()
    }
}
