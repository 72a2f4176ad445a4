//! Models, which answer the requests of an agent.
//!
//! A [`Model`] sends requests to a provider's API. With the feature `http`, `HttpModel` does so for every provider. A
//! closure can wrap any other client. With the feature `tower`, layers repeat and limit requests.

#[cfg(all(feature = "http", not(target_family = "wasm")))]
mod http;
#[cfg(feature = "tower")]
mod service;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error_text::without_references;
use tool_core::ToolCall;
use tool_core::dialect::write::EventJson;
use tool_core::dialect::{End, Rendered, ToolRequest, Turn};

#[cfg(all(feature = "http", not(target_family = "wasm")))]
pub use self::http::HttpModel;
#[cfg(feature = "tower")]
pub use self::service::{ModelService, Retry, ServiceModel};

/// The future returned by [`Model::ask`].
///
/// ```
/// use tool_agent::model::{Model, ModelFuture, Request, Response};
///
/// /// Answers with the number of messages.
/// struct Counter;
///
/// impl Model for Counter {
///     fn ask(&self, request: Request) -> ModelFuture<'_> {
///         let text = request.messages.len().to_string();
///         Box::pin(async move { Ok(Response::Parts { text, calls: Vec::new() }) })
///     }
/// }
/// ```
pub type ModelFuture<'m> = Pin<Box<dyn Future<Output = Result<Response, ModelError>> + Send + 'm>>;

/// The events of a streamed [`Response`].
///
/// ```
/// use futures_util::{StreamExt, stream};
/// use serde_json::json;
/// use tool_agent::model::{Response, ResponseStream};
///
/// let chunk = json!({"choices": [{"delta": {"content": "Hi!"}, "finish_reason": "stop"}]});
/// let events: ResponseStream = stream::iter([Ok(chunk.into())]).boxed();
/// let response = Response::Stream(events);
/// # let _ = response;
/// ```
pub type ResponseStream = Pin<Box<dyn Stream<Item = Result<EventJson, ModelError>> + Send>>;

/// A model that answers requests: a provider's API (`HttpModel`, with the feature `http`), or a script
/// in a test ([`ScriptedModel`](crate::testing::ScriptedModel)).
///
/// A closure that returns a whole response is a model too:
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_agent::Agent;
/// use tool_agent::model::{ModelError, Request};
/// use tool_agent::dialects::Anthropic;
///
/// let model = async |request: Request| {
///     let _body = request.body(json!({"model": "…", "messages": request.messages}));
///     // Send it with your HTTP client.
///     Ok(json!({"role": "assistant", "content": [{"type": "text", "text": "Hello!"}]}))
/// };
/// let agent = Agent::new(Registry::new(), Anthropic::default(), move |request| model(request));
/// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
pub trait Model: Send + Sync {
    /// Sends a request. Returns the provider's response, whole or as a stream.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response. The agent does not retry by itself; use `Agent::retry` (feature
    /// `tower`).
    fn ask(&self, request: Request) -> ModelFuture<'_>;

    /// Returns the provider's name of the model, for spans and metrics, if it is always the same. `None` by default.
    fn name(&self) -> Option<&str> {
        None
    }
}

impl<F, A> Model for F
where
    F: Fn(Request) -> A + Send + Sync,
    A: Future<Output = Result<Value, ModelError>> + Send + 'static,
{
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let response = self(request);
        Box::pin(async move { response.await.map(Response::Whole) })
    }
}

/// A response of a model.
///
/// ```
/// use serde_json::json;
/// use tool_agent::model::Response;
///
/// let whole = json!({"choices": [{"message": {"role": "assistant", "content": "Hello!"}}]});
/// assert!(matches!(Response::from(whole), Response::Whole(_)));
/// ```
#[non_exhaustive]
pub enum Response {
    /// The provider's response to a request that is not streamed.
    Whole(Value),
    /// The events of a stream. Each is the JSON in the `data` of a server-sent event, for the reader returned by
    /// [`Dialect::stream`](tool_core::dialect::Dialect::stream). The end of the stream ends the response. An error
    /// fails the request.
    Stream(ResponseStream),
    /// A response in no provider's format, which the agent's dialect [writes](tool_core::dialect::Dialect::write_message).
    Parts {
        /// The text before the calls.
        text: String,
        /// The calls.
        calls: Vec<ToolCall>,
    },
}

impl Response {
    /// Creates a streamed response from events. They may be values, or [`EventJson`], which costs less.
    ///
    /// ```
    /// use futures_util::stream;
    /// use serde_json::json;
    /// use tool_agent::model::Response;
    ///
    /// let chunk = json!({"choices": [{"index": 0, "delta": {"content": "Hello!"},
    ///                                 "finish_reason": "stop"}]});
    /// let response = Response::stream(stream::iter([Ok(chunk)]));
    /// assert!(matches!(response, Response::Stream(_)));
    /// ```
    pub fn stream<E: Into<EventJson> + 'static>(
        events: impl Stream<Item = Result<E, ModelError>> + Send + 'static,
    ) -> Response {
        Response::Stream(Box::pin(events.map(|event| event.map(Into::into))))
    }
}

impl From<Value> for Response {
    fn from(response: Value) -> Response {
        Response::Whole(response)
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Response::Whole(_) => f.debug_tuple("Whole").finish_non_exhaustive(),
            Response::Stream(_) => f.debug_tuple("Stream").finish_non_exhaustive(),
            Response::Parts { .. } => f.debug_struct("Parts").finish_non_exhaustive(),
        }
    }
}

/// The agent's part of a request. A clone is cheap.
///
/// ```
/// use serde_json::{Value, json};
/// use tool_agent::model::Request;
///
/// /// Returns the body for your own HTTP client, which contains the agent's messages and settings and your fields.
/// fn body(request: &Request) -> String {
///     let messages: Vec<Value> = request.messages.iter().map(|message| (**message).clone()).collect();
///     request.body(json!({
///         "model": "…",
///         "stream": request.prefers_stream,
///         "messages": messages,
///     }))
/// }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Request {
    /// The conversation, in the provider's format.
    pub messages: Arc<Vec<Arc<Value>>>,
    /// `true` if the application reads the events of the run, so that a stream is useful. A model may answer with a
    /// whole response in any case.
    pub prefers_stream: bool,
    tools: Arc<ToolRequest>,
    /// Fields that the last response requires in this request.
    continuation: Map<String, Value>,
    /// What the system prompt must say, if that is more than the tools need.
    instructions: Option<String>,
    /// Shared by clones that are sent again.
    retries: Arc<AtomicU32>,
}

/// Leaves out the messages, because arguments of calls may be secret.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("messages", &self.messages.len())
            .field("tools", self.tools())
            .field("prefers_stream", &self.prefers_stream)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// Creates a request.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::model::Request;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::Anthropic;
    ///
    /// let tools = Registry::new().request(&Anthropic::default()).build()?;
    /// let request = Request::new([json!({"role": "user", "content": "Hello?"})], tools);
    /// assert_eq!(request.tools().as_str(), "[]");
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    pub fn new(messages: impl IntoIterator<Item = Value>, tools: ToolRequest) -> Request {
        let messages = messages.into_iter().map(Arc::new).collect();
        Request::of(Arc::new(messages), Arc::new(tools))
    }

    pub(crate) fn of(messages: Arc<Vec<Arc<Value>>>, tools: Arc<ToolRequest>) -> Request {
        Request {
            messages,
            prefers_stream: false,
            tools,
            continuation: Map::new(),
            instructions: None,
            retries: Arc::default(),
        }
    }

    /// Sets the fields that the last response requires.
    pub(crate) fn continued(mut self, continuation: Map<String, Value>) -> Request {
        self.continuation = continuation;
        self
    }

    /// Puts a prompt before what the tools make the system prompt say.
    pub(crate) fn system(mut self, prompt: Option<String>) -> Request {
        self.instructions = prompt.filter(|prompt| !prompt.is_empty()).map(|prompt| {
            match self.tools.instructions() {
                Some(more) => format!("{prompt}\n\n{more}"),
                None => prompt,
            }
        });
        self
    }

    /// Counts a repetition of the request, for the span and the [observers](tool_core::hooks::Observer). `Retry` does
    /// that for you. Call it if your model repeats requests itself.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_agent::model::{ModelError, Request};
    ///
    /// async fn send(_: &Request) -> Result<Value, ModelError> {
    ///     // Sends it with your HTTP client.
    ///     Ok(json!({}))
    /// }
    ///
    /// /// Asks a second time if the connection breaks.
    /// async fn ask(request: Request) -> Result<Value, ModelError> {
    ///     match send(&request).await {
    ///         Err(error) if error.is_retryable() => {
    ///             request.count_retry();
    ///             send(&request).await
    ///         }
    ///         answered => answered,
    ///     }
    /// }
    /// # let _ = ask;
    /// ```
    pub fn count_retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how often the request or a clone was repeated.
    pub fn retries(&self) -> u32 {
        self.retries.load(Ordering::Relaxed)
    }

    pub(crate) fn retry_counter(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.retries)
    }

    /// Returns the value of the request's `tools` field.
    pub fn tools(&self) -> &Rendered {
        self.tools.tools()
    }

    /// Returns the top-level fields that belong to the tools, such as `tools` and `tool_choice`; see
    /// [`ToolRequest::fields`].
    pub fn fields(&self) -> BTreeMap<String, Box<RawValue>> {
        let mut fields = self.tools.fields();
        for (key, value) in &self.continuation {
            if let Ok(value) = RawValue::from_string(value.to_string()) {
                fields.entry(key.clone()).or_insert(value);
            }
        }
        fields
    }

    /// Returns what the system prompt must say besides: the agent's [prompt](crate::Agent::system_with), and what the
    /// tools need; see [`ToolRequest::instructions`].
    pub fn instructions(&self) -> Option<&str> {
        let own = self.instructions.as_deref();
        own.or_else(|| self.tools.instructions())
    }

    /// Returns what the provider lacks, and what changed tools cost, in words for the developer; see
    /// [`ToolRequest::notes`]. They are logged, too.
    pub fn notes(&self) -> &[String] {
        self.tools.notes()
    }

    /// Returns the headers that the tools need; see
    /// [`ToolRequest::headers`].
    pub fn headers(&self) -> impl ExactSizeIterator<Item = (&'static str, &str)> {
        self.tools.headers()
    }

    /// Returns a digest of the messages, the tools and the other [fields](Request::fields), without the model's own
    /// settings. It is the same in every process, and for streamed and whole responses. References of errors, such as
    /// `[ref 7K3QZ9]`, are ignored.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::model::Request;
    /// use tool_core::Registry;
    /// use tool_agent::dialects::Anthropic;
    ///
    /// let request = |text: &str| {
    ///     let tools = Registry::new().request(&Anthropic::default()).build()?;
    ///     Ok::<_, tool_core::dialect::RequestError>(Request::new([json!({"role": "user", "content": text})], tools))
    /// };
    /// assert_eq!(request("Hello?")?.digest(), request("Hello?")?.digest());
    /// assert_ne!(request("Hello?")?.digest(), request("Bye?")?.digest());
    /// # Ok::<(), tool_core::dialect::RequestError>(())
    /// ```
    pub fn digest(&self) -> String {
        self.digest_of(str::to_owned)
    }

    /// Returns the digest of the request after a change of its texts.
    pub(crate) fn digest_of(&self, changed: impl Fn(&str) -> String) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            let text = changed(text);
            let text = without_references(&text);
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(&*text);
        };
        for message in &*self.messages {
            add(&message.to_string());
        }
        for (key, value) in self.fields() {
            add(&key);
            add(value.get());
        }
        if let Some(instructions) = self.instructions() {
            add(instructions);
        }
        let bytes = hash.finalize();
        bytes[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Returns the parts of which the [digest](Request::digest) is made, with their names.
    pub(crate) fn parts(&self) -> Vec<(String, String)> {
        let messages = self.messages.iter().enumerate();
        let messages =
            messages.map(|(at, message)| (format!("messages[{at}]"), message.to_string()));
        let fields = self.fields().into_iter();
        let fields = fields.map(|(key, value)| (key, value.get().to_owned()));
        let instructions = self.instructions();
        let instructions = instructions.map(|text| ("instructions".to_owned(), text.to_owned()));
        let parts = messages.chain(fields).chain(instructions);
        let parts = parts.map(|(name, text)| (name, without_references(&text).into_owned()));
        parts.collect()
    }

    /// Returns the JSON text of a request body: your own fields, merged with the fields for the tools; see
    /// [`ToolRequest::body`].
    pub fn body(&self, own: impl Into<Value>) -> String {
        let mut own = match own.into() {
            Value::Object(own) => own,
            _ => Map::new(),
        };
        for (key, value) in &self.continuation {
            own.entry(key).or_insert_with(|| value.clone());
        }
        self.tools.body(own)
    }
}

/// The error of a request to a model.
///
/// If your model uses its own HTTP client, this error tells `Agent::retry` whether and when to repeat the request:
///
/// ```
/// use std::time::Duration;
/// use tool_agent::model::{ModelError, ModelErrorKind};
///
/// fn failed(status: u16, retry_after: Option<u64>, body: &str) -> ModelError {
///     let kind = match status {
///         401 | 403 => ModelErrorKind::Unauthorized,
///         429 => ModelErrorKind::RateLimited,
///         500.. => ModelErrorKind::Overloaded,
///         _ => ModelErrorKind::Rejected,
///     };
///     let error = ModelError::new(kind, format!("{status}: {body}"));
///     match retry_after {
///         Some(seconds) => error.retry_after(Duration::from_secs(seconds)),
///         None => error,
///     }
/// }
///
/// let error = failed(429, Some(20), "slow down");
/// assert!(error.is_retryable());
/// assert_eq!(error.wait_before_retry(), Some(Duration::from_secs(20)));
/// ```
pub struct ModelError {
    kind: ModelErrorKind,
    /// The model and its URL.
    target: Option<Box<str>>,
    message: String,
    retry_after: Option<Duration>,
    /// The model's output, if the provider can't read it.
    generated: Option<Box<str>>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kinds of failed requests to a model.
///
/// ```
/// use tool_agent::model::{ModelError, ModelErrorKind};
///
/// let error = ModelError::new(ModelErrorKind::Overloaded, "the server answered with 529");
/// assert!(error.is_retryable());
/// assert_eq!(error.kind().as_str(), "overloaded");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// Too many requests or tokens in a period of time.
    RateLimited,
    /// The provider is overloaded or failed.
    Overloaded,
    /// The key is missing, wrong or lacks a permission.
    Unauthorized,
    /// The provider rejected the request. The message contains the provider's words.
    Rejected,
    /// The conversation does not fit in the context of the model. [`Agent::compact`](crate::Agent::compact) shortens it.
    TooLong,
    /// There was no response in time.
    TimedOut,
    /// There was no connection, or it broke.
    Connection,
    /// The response is not in the provider's format, for instance a proxy's error page.
    Response,
    /// The model wrote a call that the provider could not read. An agent treats it like a
    /// [malformed](tool_core::dialect::End::Malformed) response.
    Malformed,
    /// Another error.
    Other,
}

impl ModelErrorKind {
    /// Returns the name of the kind, for logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelErrorKind::RateLimited => "rate_limited",
            ModelErrorKind::Overloaded => "overloaded",
            ModelErrorKind::Unauthorized => "unauthorized",
            ModelErrorKind::Rejected => "rejected",
            ModelErrorKind::TooLong => "too_long",
            ModelErrorKind::TimedOut => "timed_out",
            ModelErrorKind::Connection => "connection",
            ModelErrorKind::Response => "invalid_response",
            ModelErrorKind::Malformed => "malformed_call",
            ModelErrorKind::Other => "_OTHER",
        }
    }
}

impl ModelError {
    /// Creates an error.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
        ModelError {
            kind,
            target: None,
            message: message.into(),
            retry_after: None,
            generated: None,
            source: None,
        }
    }

    /// Wraps the error of an HTTP client, as [`ModelErrorKind::Other`].
    pub fn other(error: impl Into<Box<dyn Error + Send + Sync>>) -> ModelError {
        let source = error.into();
        ModelError::new(ModelErrorKind::Other, source.to_string()).with_source(source)
    }

    /// Sets how long the provider wants you to wait before you repeat the request.
    pub fn retry_after(mut self, time: Duration) -> Self {
        self.retry_after = Some(time);
        self
    }

    /// Sets the target of the request, such as the name of the model and its URL. The message then names it, and says
    /// whether to repeat the request.
    ///
    /// ```
    /// use tool_agent::model::{ModelError, ModelErrorKind};
    ///
    /// let error = ModelError::new(ModelErrorKind::Overloaded, "503 Service Unavailable")
    ///     .with_target("qwen3 at http://localhost:8000/v1");
    /// assert_eq!(
    ///     error.to_string(),
    ///     "the request to qwen3 at http://localhost:8000/v1 failed: 503 Service Unavailable; repeat it later"
    /// );
    /// ```
    pub fn with_target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into().into());
        self
    }

    /// Sets the source.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Sets the model's output. The message does not show it.
    #[cfg(feature = "http")]
    pub(crate) fn with_generated(mut self, text: Option<&str>) -> Self {
        self.generated = text.map(Into::into);
        self
    }

    /// Converts a model's unreadable call to the turn of a response.
    pub(crate) fn into_malformed(self) -> Result<Turn, ModelError> {
        if self.kind != ModelErrorKind::Malformed {
            return Err(self);
        }
        let mut turn = Turn::new(Vec::new()).with_end(End::Malformed);
        turn.explanation = Some(match &self.generated {
            Some(generated) => format!("{}; it wrote {generated}", self.message),
            None => self.message,
        });
        Ok(turn)
    }

    /// Says what to do about a conversation that is too long.
    pub(crate) fn with_advice(mut self, is_compacted: bool) -> Self {
        self.message.push_str(if is_compacted {
            "; the last parts of the conversation are too long alone: keep fewer of them (`Compaction::keep`), or limit the \
             size of results"
        } else {
            "; let the agent summarise old messages with `Agent::compact`, or use a model with a larger context"
        });
        self
    }

    /// Returns `true` if the message names the target.
    pub(crate) fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Returns how long the provider wants you to wait before you repeat the request, if it says so.
    pub fn wait_before_retry(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns `true` if the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.kind,
            ModelErrorKind::RateLimited
                | ModelErrorKind::Overloaded
                | ModelErrorKind::TimedOut
                | ModelErrorKind::Connection
                | ModelErrorKind::Malformed
        )
    }
}

/// Shows the message and its sources, because `main` may return the error.
impl fmt::Debug for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::error_text::write(self, f)
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(target) = &self.target else {
            return f.write_str(&self.message);
        };
        write!(f, "the request to {target} failed: {}", self.message)?;
        match self.retry_after {
            Some(time) if self.is_retryable() => write!(f, "; repeat it after {time:?}"),
            None if self.is_retryable() => f.write_str("; repeat it later"),
            _ => Ok(()),
        }
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
