//! A server at a URL.

mod authority;
pub(super) mod challenge;
pub(super) mod error;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;
use tokio::sync::watch;
use tokio::time::timeout;

use self::authority::Authority;
use self::challenge::{Attempts, Challenge, MAX_ATTEMPTS, is_confidential};
use self::error::Error;
use super::secrets::Secrets;
use super::transport::InFlight;
use crate::lines::Outline;
use crate::lock;

pub(super) use self::authority::{TokenSource, Tokens};

/// The longest time that calls wait for the stream on which the server may ask.
const LISTENING: Duration = Duration::from_secs(1);

/// The address of a server, and the headers of each request.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) tokens: Tokens,
    pub(super) headers: Vec<(String, String)>,
}

impl Endpoint {
    /// Returns the host, as the name of the server.
    pub(super) fn host(&self) -> Option<String> {
        let url = reqwest::Url::parse(&self.url).ok()?;
        url.host_str().map(str::to_owned)
    }

    /// Returns the URL without its user, its password and its query.
    pub(super) fn shown(&self) -> Option<String> {
        let url = reqwest::Url::parse(&self.url).ok()?;
        url.host_str()?;
        Some(format!(
            "{}{}",
            url.origin().ascii_serialization(),
            url.path()
        ))
    }

    pub(super) fn add_secrets(&self, secrets: &mut Secrets) {
        let fixed = match &self.tokens {
            Tokens::Fixed(token) => Some(token),
            _ => None,
        };
        let headers = self.headers.iter().map(|(_, value)| value);
        for secret in fixed.into_iter().chain(headers) {
            secrets.add(secret);
            // A scheme such as `Basic` is no secret.
            if let Some((_, credentials)) = secret.split_once(' ') {
                secrets.add(credentials);
            }
        }
        if let Ok(url) = reqwest::Url::parse(&self.url) {
            secrets.add(url.password().unwrap_or_default());
            for (_, value) in url.query_pairs() {
                secrets.add(&value);
            }
            secrets.add(url.query().unwrap_or_default());
        }
    }

    /// Creates a transport. The error contains no secret.
    pub(super) fn transport(
        &self,
        max_message: usize,
        connect_timeout: Duration,
        secrets: &Secrets,
        in_flight: &Arc<InFlight>,
    ) -> Result<StreamableHttpClientTransport<Client>, String> {
        let url = reqwest::Url::parse(&self.url).map_err(|problem| {
            format!("the URL is invalid: {problem}; it starts with https:// or http://")
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err("the URL must start with https:// or http://".into());
        }
        if !matches!(self.tokens, Tokens::None) && !is_confidential(&url) {
            return Err(
                "everybody on the way could read the token: the URL must start with https://, unless the server is on \
                 this machine"
                    .into(),
            );
        }
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            let header = name.parse::<HeaderName>().ok();
            let (Some(header), Ok(mut value)) = (header, HeaderValue::from_str(value)) else {
                return Err(format!("the header {name:?} is invalid"));
            };
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        let client = reqwest::Client::builder()
            .connect_timeout(connect_timeout)
            .redirect(same_origin())
            .build()
            .map_err(|error| error.without_url().to_string())?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
            .custom_headers(headers)
            .max_sse_event_size(max_message)
            .max_json_response_size(max_message);
        if let Tokens::Fixed(token) = &self.tokens {
            config.auth_header = Some(token.clone());
        }
        let mut retries = ExponentialBackoff::default();
        retries.max_delay = Some(Duration::from_secs(30));
        config.retry_config = Arc::new(retries);
        let client = Client {
            inner: client,
            listens: Arc::default(),
            secrets: secrets.clone(),
            in_flight: in_flight.clone(),
            authority: Authority::new(&self.tokens, self.host(), secrets),
        };
        Ok(StreamableHttpClientTransport::with_client(client, config))
    }
}

/// Follows redirects to the same origin only, because headers such as `X-Api-Key` are sent along.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let is_same = match attempt.previous().first() {
            Some(first) => first.origin() == attempt.url().origin(),
            None => false,
        };
        if is_same && attempt.previous().len() <= 5 {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

/// A client whose errors contain neither URLs, which may have secrets in them, nor other secrets. `rmcp`
/// logs them.
#[derive(Clone)]
pub(super) struct Client {
    inner: reqwest::Client,
    /// The session for whose stream the server has answered the request. `rmcp` renews one that has expired.
    listens: Arc<watch::Sender<Option<Arc<str>>>>,
    secrets: Secrets,
    in_flight: Arc<InFlight>,
    /// `None` if the token is always the same.
    authority: Option<Arc<Authority>>,
}

/// Returns `true` if a message answers this request, and `None` if it answers none.
fn is_answer(message: &ServerJsonRpcMessage, id: &RequestId) -> Option<bool> {
    match message {
        JsonRpcMessage::Response(response) => Some(response.id == *id),
        JsonRpcMessage::Error(error) => Some(error.id.as_ref() == Some(id)),
        _ => None,
    }
}

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl Client {
    /// Repairs the messages of a stream, and ends the calls whose messages can't be read. `request` is the
    /// request that the stream responds to.
    fn checked(&self, events: Events, request: Option<RequestId>) -> Events {
        let in_flight = self.in_flight.clone();
        let (client, of) = (self.clone(), request.clone());
        // Whether the request has an answer, as far as the stream has any.
        let answered = Arc::new(Mutex::new(None));
        let last = answered.clone();
        let checked = events.map(move |event| {
            let mut event = event?;
            // Events without data start a stream, and `rmcp` reads no other kinds.
            let is_message = event.event.as_deref().is_none_or(|kind| kind == "message");
            let Some(data) = event
                .data
                .as_ref()
                .filter(|data| is_message && !data.is_empty())
            else {
                return Ok(event);
            };
            match in_flight.read(data.as_bytes()) {
                Ok(received) => {
                    let is_answer = request
                        .as_ref()
                        .and_then(|id| is_answer(&received.message, id));
                    if let Some(is_answer) = is_answer {
                        let mut answered = lock(&answered);
                        *answered = Some(is_answer || *answered == Some(true));
                    }
                    if received.repaired.is_some() {
                        event.data = received.repaired;
                    }
                }
                Err(problem) => {
                    let outline = Outline::of(data.as_bytes());
                    let id = outline.response_id().or(request.as_ref());
                    if let Some(request) = id.and_then(|id| in_flight.get(id)) {
                        request.fail(&problem);
                    }
                }
            }
            Ok(event)
        });
        let end = stream::poll_fn(move |_| {
            if let Some(id) = of.as_ref().filter(|_| *lock(&last) == Some(false)) {
                client.fail(id);
            }
            Poll::Ready(None)
        });
        checked.chain(end).boxed()
    }

    /// Ends a request whose response is complete without an answer to it.
    fn fail(&self, id: &RequestId) {
        if let Some(request) = self.in_flight.get(id) {
            request.fail("answers another request, or none");
        }
    }

    /// Waits until the stream of a session is open, or the server has none. `rmcp` opens it beside the first requests, and a
    /// question that a call leads to before that would be lost. Waits once in a session: there are servers that answer nothing
    /// until the first event.
    async fn listen(&self, session: Arc<str>) {
        let mut listens = self.listens.subscribe();
        let is_open = |open: &Option<Arc<str>>| open.as_ref() == Some(&session);
        let _ = timeout(LISTENING, listens.wait_for(is_open)).await;
        self.listens.send_replace(Some(session));
    }

    /// Sends a request, and again if the server rejects its token and there is another one. With `waits`, it may wait
    /// until a user has signed in.
    async fn authorized<T, S>(
        &self,
        waits: bool,
        fixed: Option<String>,
        request: impl Fn(Option<String>) -> S + Send + Sync,
    ) -> Result<T, Error>
    where
        S: Future<Output = Result<T, Error>> + Send,
        T: Send,
    {
        let Some(authority) = &self.authority else {
            let sent = request(fixed).await;
            return sent.map_err(|error| self.without_secrets(error));
        };
        let stopped = self.in_flight.sign_in();
        let mut token = authority.token().await?;
        drop(stopped);
        let mut attempts = Attempts::default();
        loop {
            let error = match request(token.clone()).await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let Some(challenge) = Challenge::of(&error) else {
                return Err(self.without_secrets(error));
            };
            attempts.all += 1;
            if attempts.all > MAX_ATTEMPTS {
                return Err(self.without_secrets(error));
            }
            let _stopped = self.in_flight.sign_in();
            let sent = token.as_deref();
            let other = if waits {
                authority.answer(&challenge, sent, &mut attempts).await?
            } else {
                let answer = authority.answer_silently(&challenge, sent, &mut attempts);
                answer.await?
            };
            match other {
                Some(other) => token = Some(other),
                None if waits => return Err(self.without_secrets(error)),
                // A user may have to sign in, whatever the status was.
                None => {
                    let required = AuthRequiredError::new(String::new());
                    return Err(StreamableHttpError::AuthRequired(required));
                }
            }
        }
    }

    fn without_secrets(&self, error: Error) -> Error {
        match error {
            StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
            StreamableHttpError::UnexpectedServerResponse(text) => {
                StreamableHttpError::UnexpectedServerResponse(Cow::Owned(self.secrets.redact(text)))
            }
            StreamableHttpError::UnexpectedContentType(text) => {
                let text = text.map(|text| self.secrets.redact(text));
                StreamableHttpError::UnexpectedContentType(text)
            }
            error => error,
        }
    }
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Error> {
        self.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            StreamableHttpResponseLimits::default(),
        )
        .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let request = match &message {
            ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        // A handshake has no time for a user: `Opener` signs in, and starts again.
        let waits = matches!(
            &message,
            ClientJsonRpcMessage::Request(request)
                if !matches!(
                    request.request,
                    ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_)
                )
        );
        let may_ask = matches!(
            &message,
            ClientJsonRpcMessage::Request(request)
                if matches!(
                    request.request,
                    ClientRequest::CallToolRequest(_)
                        | ClientRequest::GetPromptRequest(_)
                        | ClientRequest::ReadResourceRequest(_)
                )
        );
        if let Some(session) = session_id.clone().filter(|_| may_ask) {
            self.listen(session).await;
        }
        let sent = self.authorized(waits, auth_header, |token| {
            self.inner.post_message_with_response_limits(
                uri.clone(),
                message.clone(),
                session_id.clone(),
                token,
                custom_headers.clone(),
                limits,
            )
        });
        match sent.await? {
            StreamableHttpPostResponse::Sse(events, session) => {
                let events = self.checked(events, request);
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            StreamableHttpPostResponse::Json(answer, session) => {
                if let Some(id) = request
                    && is_answer(&answer, &id) != Some(true)
                {
                    self.fail(&id);
                }
                Ok(StreamableHttpPostResponse::Json(answer, session))
            }
            response => Ok(response),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Error> {
        let sent = self.authorized(false, auth_header, |token| {
            let (uri, session_id) = (uri.clone(), session_id.clone());
            self.inner
                .delete_session(uri, session_id, token, custom_headers.clone())
        });
        sent.await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Error> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            StreamableHttpResponseLimits::default().max_sse_event_size,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        max_sse_event_size: usize,
    ) -> Result<Events, Error> {
        let sent = self.authorized(false, auth_header, |token| {
            self.inner.get_stream_with_max_sse_event_size(
                uri.clone(),
                session_id.clone(),
                last_event_id.clone(),
                token,
                custom_headers.clone(),
                max_sse_event_size,
            )
        });
        let answered = sent.await;
        self.listens.send_replace(session_id);
        Ok(self.checked(answered?, None))
    }
}
