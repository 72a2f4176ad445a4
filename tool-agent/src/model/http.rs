//! [`HttpModel`]: asks the HTTP APIs of providers.

mod events;
mod failure;

use std::env;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Handle};

use self::events::events;
use self::failure::{Secrets, of_status, reported, start_of, transport};
use super::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_core::dialect::{Dialect, HttpApi, ParseError, Streaming, SystemPrompt, ValueLimit};
use tool_core::runtime::BoxFuture;

/// A provider's model, asked over HTTP.
///
/// The dialect determines the URL, the headers and the fields of the body. The key comes from the
/// environment:
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
/// use tool_core::dialect::Anthropic;
///
/// let dialect = Anthropic::default();
/// let model = HttpModel::new(&dialect, "claude-sonnet-4-5").system("Be brief.");
/// let agent = Agent::new(Registry::linked()?, dialect, model);
/// println!("{}", agent.ask_blocking("What is the weather in Lisbon?")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Other servers speak the API of OpenAI, such as Ollama:
///
/// ```
/// use tool_agent::model::HttpModel;
/// use tool_core::dialect::OpenAiChat;
///
/// let model = HttpModel::new(&OpenAiChat::default(), "qwen3")
///     .base_url("http://localhost:11434/v1");
/// # let _ = model;
/// ```
///
/// # Responses
///
/// A response is streamed if the application reads [events](crate::Agent::events), and otherwise read
/// whole; [`streaming`](HttpModel::streaming) overrides that. Amazon Bedrock's are always read whole,
/// because its streams are not made of server-sent events.
///
/// Redirects are not followed, and the size and time of a response are limited. Errors have a
/// [kind](ModelErrorKind), the provider's own words and the time after which to repeat the request, if
/// the provider says it. Requests are not repeated: add `Agent::retry` (feature `tower`).
///
/// # Secrets
///
/// The key is sent in a header, to the host of the URL alone. It is never part of an error, of `Debug`
/// or of a log, even if the server repeats it in its error message.
///
/// # Runtime
///
/// The first request of the process starts a thread with a tokio runtime for the connections. A model
/// therefore works in every async runtime, in several, and in none
/// ([`ask_blocking`](crate::Agent::ask_blocking)). All models of the process with the same
/// [`connect_timeout`](HttpModel::connect_timeout) and [`idle_timeout`](HttpModel::idle_timeout) share their
/// connections, so that a model may be created for each request.
#[derive(Clone)]
pub struct HttpModel {
    api: Option<&'static HttpApi>,
    name: String,
    base_url: Option<String>,
    key: Key,
    system: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    max_tokens: Option<u32>,
    fields: Map<String, Value>,
    headers: Vec<(String, String)>,
    streaming: Option<bool>,
    connect_timeout: Duration,
    idle_timeout: Duration,
    timeout: Duration,
    max_bytes: usize,
}

/// The most clients, one for each pair of timeouts, that keep connections for the next request.
const MOST_CLIENTS: usize = 16;

/// Longer times overflow in the HTTP client.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Returns the key of one request.
type KeySource = Arc<dyn Fn() -> BoxFuture<Result<String, ModelError>> + Send + Sync>;

#[derive(Clone)]
enum Key {
    /// The variables of the provider, for its own URL alone.
    Default,
    Variable(String),
    Source(KeySource),
    None,
}

impl HttpModel {
    /// Creates a model with this name, such as `gpt-5.2`, at the provider of the dialect. Requests of a
    /// dialect without an HTTP API fail, such as MCP's.
    pub fn new(dialect: &(impl Dialect + ?Sized), name: impl Into<String>) -> HttpModel {
        HttpModel {
            api: dialect.http_api(),
            name: name.into(),
            base_url: None,
            key: Key::Default,
            system: None,
            max_tokens: None,
            fields: Map::new(),
            headers: Vec::new(),
            streaming: None,
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(5 * 60),
            timeout: Duration::from_secs(20 * 60),
            max_bytes: 64 << 20,
        }
    }

    /// Sets the URL that the path of the API is appended to, such as `http://localhost:8000/v1`. Its
    /// query is kept.
    ///
    /// The provider's key is then not taken from the environment, so that it is not sent to another
    /// server by accident. Set it with one of the methods for keys.
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

    /// Calls a function for the key of each request, such as for tokens that expire.
    ///
    /// ```
    /// use tool_agent::model::{HttpModel, ModelError};
    /// use tool_core::dialect::OpenAiResponses;
    ///
    /// async fn current_token() -> Result<String, ModelError> {
    ///     // From the key store of your choice.
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

    /// Limits the tokens of a response, under the key of the provider. Anthropic requires a limit; it is
    /// 4096 by default.
    pub fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Adds a field to the body of each request. It is merged into an object that is there already,
    /// and replaces any other value. A field that the last response [demands](tool_core::dialect::Turn::continuation)
    /// replaces it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::model::HttpModel;
    /// use tool_core::dialect::Gemini;
    ///
    /// let model = HttpModel::new(&Gemini::default(), "gemini-2.5-flash")
    ///     .max_tokens(2000)
    ///     .field("generationConfig", json!({"temperature": 0}));
    /// # let _ = model;
    /// ```
    pub fn field(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        merge(&mut self.fields, key.into(), value.into());
        self
    }

    /// Adds a header to each request. It replaces a header of the same name. The values of headers are
    /// not in the `Debug` output.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
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

    /// Limits the time without a byte from the server. A response that is not streamed has no bytes until
    /// the model has finished. 5 minutes by default.
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = time.min(LONGEST);
        self
    }

    /// Limits the time of a request until the end of its response. 20 minutes by default.
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time.min(LONGEST);
        self
    }

    /// Limits the bytes of a response. 64 MiB by default. A response of more than a million JSON values is an error,
    /// too: in memory they are many times larger.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Checks the settings without a request, which would fail with the same error: the name of the model, the URL, the
    /// headers, and whether the environment has the key. A program that takes them from flags calls this when it starts.
    ///
    /// ```
    /// use tool_agent::model::HttpModel;
    /// use tool_core::dialect::OpenAiChat;
    ///
    /// let model = HttpModel::new(&OpenAiChat::default(), "qwen3").base_url("localhost:11434");
    /// let error = model.check().unwrap_err().to_string();
    /// assert!(error.contains("the base URL must start with http:// or https://"), "{error}");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if one of them is missing or not valid. The key of [`key_with`](HttpModel::key_with) is not
    /// asked for.
    pub fn check(&self) -> Result<(), ModelError> {
        let checked = self.endpoint(false).and_then(|endpoint| {
            let key = self.known_key(endpoint.api)?;
            self.headers(endpoint.api, false, key.as_deref(), &mut Secrets::default())
        });
        let target = || self.target(self.endpoint(false).ok().as_ref());
        checked
            .map(drop)
            .map_err(|error| error.with_target(target()))
    }

    /// Returns what is asked, for errors.
    fn target(&self, endpoint: Option<&Endpoint>) -> String {
        match (self.name.trim(), endpoint) {
            ("", Some(endpoint)) => endpoint.shown(),
            ("", None) => "the model".into(),
            (name, Some(endpoint)) => format!("{name} at {}", endpoint.shown()),
            (name, None) => name.into(),
        }
    }

    async fn send(&self, endpoint: &Endpoint, request: Request) -> Result<Response, ModelError> {
        let (api, is_streamed) = (endpoint.api, endpoint.is_streamed);
        let mut secrets = Secrets::default();
        if let Some(password) = endpoint.url.password() {
            secrets.add(password);
        }
        let key = match &self.key {
            Key::Source(key) => Some(key().await?),
            _ => self.known_key(api)?,
        };
        // Some servers take no key, and a variable may be empty.
        let key = key.filter(|key| !key.trim().is_empty());
        let mut headers = self.headers(api, is_streamed, key.as_deref(), &mut secrets)?;
        add_headers(&mut headers, &request);
        let own = self
            .headers
            .iter()
            .any(|(name, _)| failure::is_secret(name));
        let has_key = key.is_some() || own || endpoint.url.query().is_some();
        let body = self.body(api, &request, is_streamed);
        let sending = self
            .client()?
            .post(endpoint.url.clone())
            .timeout(self.timeout)
            .headers(headers)
            .body(body);
        let response = sending.send().await.map_err(transport)?;
        if !response.status().is_success() {
            return Err(of_status(response, endpoint, has_key, &secrets).await);
        }
        let media_type = media_type(&response);
        // Some servers do not stream, whatever the request says.
        let is_json = media_type.ends_with("json");
        if is_streamed && !is_json && media_type != "text/html" {
            let bytes = body_bytes(response, self.max_bytes);
            return events(bytes, secrets).await.map(Response::Stream);
        }
        let mut bytes = body_bytes(response, self.max_bytes);
        let mut body = Vec::new();
        while let Some(chunk) = bytes.next().await {
            body.extend_from_slice(&chunk?);
        }
        let value = ValueLimit::default().parse(&body).map_err(|error| {
            unparsed(error, |cut_off| match &*media_type {
                "text/html" => "the response has the content type \"text/html\": it is a page, perhaps of a proxy; check \
                the base URL"
                .into(),
            _ if cut_off => "the response ended early".into(),
                _ => format!(
                    "the response, of the content type {media_type:?}, is not JSON; it starts with {}; check the base URL",
                    start_of(&body, &secrets)
                ),
            })
        })?;
        match reported(&value, &secrets) {
            Some(error) => Err(error),
            None => Ok(Response::Whole(value)),
        }
    }

    /// Returns the client of the process for these timeouts, which has the connections.
    fn client(&self) -> Result<Client, ModelError> {
        static CLIENTS: Mutex<Vec<(Duration, Duration, Client)>> = Mutex::new(Vec::new());
        let (connect, idle) = (self.connect_timeout, self.idle_timeout);
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = clients
            .iter()
            .position(|client| (client.0, client.1) == (connect, idle));
        if let Some(index) = found {
            // The last one is the latest.
            let client = clients.remove(index);
            clients.push(client.clone());
            return Ok(client.2);
        }
        let client = Client::builder()
            .user_agent(concat!("tool-core/", env!("CARGO_PKG_VERSION")))
            // The key is for this host alone.
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(self.connect_timeout)
            .read_timeout(self.idle_timeout)
            .build()
            .map_err(transport)?;
        if clients.len() == MOST_CLIENTS {
            clients.remove(0);
        }
        clients.push((connect, idle, client.clone()));
        Ok(client)
    }

    /// Returns where a request is sent.
    fn endpoint(&self, is_streamed: bool) -> Result<Endpoint, ModelError> {
        let invalid = |problem: &str| ModelError::new(ModelErrorKind::Other, problem);
        let Some(api) = self.api else {
            let problem = "the dialect has no HTTP API; implement `Dialect::http_api` or `Model`";
            return Err(invalid(problem));
        };
        if self.name.trim().is_empty() {
            return Err(invalid(
                "the name of the model is empty; pass it to `HttpModel::new`",
            ));
        }
        let is_streamed = is_streamed && !matches!(api.streaming, Streaming::Unsupported);
        let base = match &self.base_url {
            Some(url) => url.clone(),
            None if api.base_url.contains("{region}") => {
                let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
                let region = region.ok_or_else(|| {
                    invalid("no region: set AWS_REGION, or call `HttpModel::base_url`")
                })?;
                if !region
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-')
                {
                    return Err(invalid(
                        "the region in the environment is not a region of AWS",
                    ));
                }
                api.base_url.replace("{region}", &region)
            }
            None => api.base_url.to_owned(),
        };
        let not_http = || {
            invalid(
                "the base URL must start with http:// or https://, as http://localhost:8000/v1 does",
            )
        };
        let scheme = base
            .trim_start()
            .split_once("://")
            .map_or("", |(scheme, _)| scheme);
        if !["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
        {
            return Err(not_http());
        }
        // The text of the URL may have a password.
        let mut url = Url::parse(&base)
            .map_err(|error| invalid(&format!("the base URL is not valid: {error}")))?;
        let path = match api.streaming {
            Streaming::Path(path, (key, value)) if is_streamed => {
                url.query_pairs_mut().append_pair(key, value);
                path
            }
            _ => api.path,
        };
        let path: Vec<_> = path
            .iter()
            .map(|part| part.replace("{model}", &self.name))
            .collect();
        let path_text = format!("/{}", path.join("/"));
        let is_doubled = url.path().trim_end_matches('/').ends_with(&path_text);
        let mut segments = url.path_segments_mut().map_err(|()| not_http())?;
        segments.pop_if_empty();
        segments.extend(path);
        drop(segments);
        Ok(Endpoint {
            api,
            is_streamed,
            url,
            path: path_text,
            is_doubled,
        })
    }

    fn headers(
        &self,
        api: &HttpApi,
        is_streamed: bool,
        key: Option<&str>,
        secrets: &mut Secrets,
    ) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        let accepted = if is_streamed {
            "text/event-stream"
        } else {
            "application/json"
        };
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for &(name, value) in api.headers {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if let Some(key) = key {
            let key = key.trim();
            secrets.add(key);
            let value = match api.key_header {
                "authorization" => format!("Bearer {key}"),
                _ => key.to_owned(),
            };
            let Ok(mut value) = HeaderValue::try_from(value) else {
                return Err(ModelError::new(
                    ModelErrorKind::Unauthorized,
                    "the key has characters that a header can't have, such as a line break in it; check where it comes from",
                ));
            };
            value.set_sensitive(true);
            headers.insert(api.key_header, value);
        }
        for (name, value) in &self.headers {
            if failure::is_secret(name) {
                secrets.add(value);
            }
            let header = HeaderName::try_from(name).ok();
            let (Some(header), Ok(mut value)) = (header, HeaderValue::try_from(value)) else {
                return Err(ModelError::new(
                    ModelErrorKind::Other,
                    format!(
                        "the header {name:?} is not valid: names are of letters, digits and `-`, and values have no line break"
                    ),
                ));
            };
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        Ok(headers)
    }

    /// Returns the key, unless a function returns it.
    fn known_key(&self, api: &HttpApi) -> Result<Option<String>, ModelError> {
        let missing = |names: &str| {
            let problem = format!("no key: set {names}, or call `HttpModel::key`");
            ModelError::new(ModelErrorKind::Unauthorized, problem)
        };
        match &self.key {
            Key::Default if self.base_url.is_some() => Ok(None),
            Key::None | Key::Source(_) => Ok(None),
            Key::Variable(name) => variable(name).ok_or_else(|| missing(name)).map(Some),
            Key::Default => {
                let names = api.key_variables;
                let mut keys = names.iter().filter_map(|name| variable(name));
                let key = keys.next();
                key.ok_or_else(|| missing(&names.join(" or "))).map(Some)
            }
        }
    }

    /// Writes the body. The tools are the text that the dialect wrote, with its order of keys.
    fn body(&self, api: &HttpApi, request: &Request, is_streamed: bool) -> String {
        let mut fields = Map::new();
        if api.has_model {
            fields.insert(api.model.into(), self.name.clone().into());
        }
        let limit = self.max_tokens.or(api.required_max_tokens);
        if let Some(tokens) = limit {
            let path = match &self.base_url {
                Some(_) => api.imitated_max_tokens.unwrap_or(api.max_tokens),
                None => api.max_tokens,
            };
            set(&mut fields, path, tokens.into());
        }
        if let (Streaming::Fields(json), true) = (&api.streaming, is_streamed) {
            let streaming: Map<String, Value> = serde_json::from_str(json).unwrap_or_default();
            fields.extend(streaming);
        }
        let prompt = self.system.as_ref().map(|system| system());
        let mut first = None;
        if let Some(prompt) = prompt.filter(|prompt| !prompt.is_empty()) {
            match api.system {
                SystemPrompt::Message => {
                    first = Some(json!({"role": "system", "content": prompt}));
                }
                SystemPrompt::Text(key) => set(&mut fields, &[key], prompt.into()),
                SystemPrompt::Parts(path) => set(&mut fields, path, json!([{ "text": prompt }])),
            }
        }
        for (key, value) in &self.fields {
            merge(&mut fields, key.clone(), value.clone());
        }
        // Last: without them, the provider rejects the request.
        fields.extend(request.continuation.clone());
        if !fields.contains_key(api.messages) {
            let messages = request.messages.iter().map(|message| Value::clone(message));
            let messages = first.into_iter().chain(messages).collect();
            fields.insert(api.messages.into(), messages);
        }
        request.body(fields)
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
                Ok(endpoint) => self.send(&endpoint, request).await,
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
        // A URL may have a password or a token.
        let url = self
            .base_url
            .as_deref()
            .and_then(|url| Url::parse(url).ok());
        f.debug_struct("HttpModel")
            .field("provider", &self.api.map(|api| api.provider))
            .field("name", &self.name)
            .field("host", &url.as_ref().and_then(Url::host_str))
            .finish_non_exhaustive()
    }
}

/// Where a request is sent.
struct Endpoint {
    api: &'static HttpApi,
    is_streamed: bool,
    url: Url,
    /// The path that was appended to the base URL.
    path: String,
    /// Set if the base URL had it already.
    is_doubled: bool,
}

impl Endpoint {
    /// Returns the URL without its user, its password and its query.
    fn shown(&self) -> String {
        let url = &self.url;
        format!("{}{}", url.origin().ascii_serialization(), url.path())
    }
}

/// Adds the headers that the tools need to the values that the application has set.
fn add_headers(headers: &mut HeaderMap, request: &Request) {
    for (name, needed) in request.headers() {
        let own = headers.get(name).and_then(|value| value.to_str().ok());
        let mut values: Vec<_> = own.unwrap_or_default().split(',').map(str::trim).collect();
        values.retain(|value| !value.is_empty());
        for value in needed.split(',') {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if let Ok(value) = HeaderValue::try_from(values.join(",")) {
            headers.insert(name, value);
        }
    }
}

/// Returns an environment variable that is not empty.
fn variable(name: &str) -> Option<String> {
    // `env::var` panics if the name can't be one.
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let value = is_name.then(|| env::var(name).ok()).flatten();
    value.filter(|value| !value.trim().is_empty())
}

/// Merges an object into another one, and replaces other values.
fn merge(target: &mut Map<String, Value>, key: String, value: Value) {
    match (target.get_mut(&key), value) {
        (Some(Value::Object(inner)), Value::Object(value)) => {
            for (key, value) in value {
                merge(inner, key, value);
            }
        }
        (_, value) => {
            target.insert(key, value);
        }
    }
}

/// Sets a value at a path, with the objects on the way.
fn set(target: &mut Map<String, Value>, path: &[&str], value: Value) {
    let (last, outer) = path.split_last().unwrap_or((&"", &[]));
    let inner = Map::from_iter([((*last).to_owned(), value)]);
    let wrapped = outer.iter().rev().fold(inner, |inner, key| {
        Map::from_iter([((*key).to_owned(), Value::Object(inner))])
    });
    for (key, value) in wrapped {
        merge(target, key, value);
    }
}

/// Returns the media type of a body, without its parameters.
fn media_type(response: &reqwest::Response) -> String {
    let header = response.headers().get(CONTENT_TYPE);
    let header = header.and_then(|value| value.to_str().ok());
    let name = header.unwrap_or_default().split(';').next();
    name.unwrap_or_default().trim().to_ascii_lowercase()
}

type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ModelError>> + Send>>;

/// Returns the bytes of a body, up to a limit.
fn body_bytes(response: reqwest::Response, limit: usize) -> Chunks {
    let init = Some((response, limit));
    Box::pin(stream::unfold(init, move |state| async move {
        let (mut response, left) = state?;
        match response.chunk().await {
            Ok(None) => None,
            Ok(Some(chunk)) => match left.checked_sub(chunk.len()) {
                Some(left) => Some((Ok(chunk), Some((response, left)))),
                None => {
                    let problem = format!("the response is longer than {limit} bytes");
                    let error = ModelError::new(ModelErrorKind::Response, problem);
                    Some((Err(error), None))
                }
            },
            Err(error) => Some((Err(transport(error)), None)),
        }
    }))
}

/// Returns the error of JSON that can't be parsed. `problem` words it, with `true` if the JSON is cut off.
fn unparsed(error: ParseError, problem: impl FnOnce(bool) -> String) -> ModelError {
    match error {
        ParseError::Json(error) if error.is_eof() => {
            ModelError::new(ModelErrorKind::Connection, problem(true))
        }
        ParseError::Json(_) => ModelError::new(ModelErrorKind::Response, problem(false)),
        error => ModelError::new(ModelErrorKind::Response, error.to_string()),
    }
}

/// Polls a future or a stream inside the runtime of the process.
struct InRuntime<T> {
    handle: &'static Handle,
    inner: Pin<Box<T>>,
}

impl<T: Future> Future for InRuntime<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        let _guard = self.handle.enter();
        self.inner.as_mut().poll(context)
    }
}

impl<T: Stream> Stream for InRuntime<T> {
    type Item = T::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T::Item>> {
        let _guard = self.handle.enter();
        self.inner.as_mut().poll_next(context)
    }
}

/// Returns a future that completes after this time, in any thread.
#[cfg(feature = "tower")]
pub(super) fn sleep(time: Duration) -> Option<BoxFuture<()>> {
    let _guard = handle()?.enter();
    Some(Box::pin(tokio::time::sleep(time)))
}

/// Returns the runtime of the process. A connection belongs to the runtime that opened it, and fails
/// or panics once that has ended. This one never ends.
fn handle() -> Option<&'static Handle> {
    static RUNTIME: OnceLock<Option<Handle>> = OnceLock::new();
    let handle = RUNTIME.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        let run = move || runtime.block_on(std::future::pending::<()>());
        let thread = thread::Builder::new().name("tool-core-http".into());
        thread.spawn(run).ok().map(|_| handle)
    });
    handle.as_ref()
}
