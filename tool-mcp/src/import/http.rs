//! A server at a URL.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;

use super::secrets::Secrets;
use super::transport::InFlight;
use crate::lines::Outline;

/// The address of a server and what goes with each request.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) bearer: Option<String>,
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
        for secret in self
            .bearer
            .iter()
            .chain(self.headers.iter().map(|(_, value)| value))
        {
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
        config.auth_header.clone_from(&self.bearer);
        let mut retries = ExponentialBackoff::default();
        retries.max_delay = Some(Duration::from_secs(30));
        config.retry_config = Arc::new(retries);
        let client = Client {
            inner: client,
            secrets: secrets.clone(),
            in_flight: in_flight.clone(),
        };
        Ok(StreamableHttpClientTransport::with_client(client, config))
    }
}

/// Returns `true` if a request did not reach the server, because there was no connection.
pub(super) fn is_unsent(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(
        error.downcast_ref::<Error>(),
        Some(StreamableHttpError::Client(error)) if error.is_connect()
    )
}

/// Returns the error of the HTTP client, which the error of `rmcp` does not have as its source.
pub(super) fn of_client<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> Option<&'e reqwest::Error> {
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Client(error)) => Some(error),
        _ => None,
    }
}

/// Returns what to do about the error of a handshake over HTTP.
pub(super) fn advice(error: &(dyn std::error::Error + 'static)) -> &'static str {
    let status = |code: &str| match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::UnexpectedServerResponse(text)) => text.contains(code),
        _ => false,
    };
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Client(_)) => "; check the URL, and that the server runs",
        Some(_) if status("HTTP 401") || status("HTTP 403") => {
            "; set the token with `ImportBuilder::bearer`, or check it"
        }
        Some(_) => "; check that this is the URL of an MCP server",
        None => "",
    }
}

/// Follows redirects to the same origin only: headers such as `X-Api-Key` are sent along.
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
    secrets: Secrets,
    in_flight: Arc<InFlight>,
}

type Error = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl Client {
    /// Repairs the messages of a stream, and ends the calls of those that can't be read. `request` is the one that
    /// the stream is the response to.
    fn checked(&self, events: Events, request: Option<RequestId>) -> Events {
        let in_flight = self.in_flight.clone();
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
        checked.boxed()
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
        let sent = self.inner.post_message_with_response_limits(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            limits,
        );
        match sent.await {
            Ok(StreamableHttpPostResponse::Sse(events, session)) => {
                let events = self.checked(events, request);
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            Ok(response) => Ok(response),
            Err(error) => Err(self.without_secrets(error)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Error> {
        let sent = self
            .inner
            .delete_session(uri, session_id, auth_header, custom_headers);
        sent.await.map_err(|error| self.without_secrets(error))
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Error> {
        let sent =
            self.inner
                .get_stream(uri, session_id, last_event_id, auth_header, custom_headers);
        match sent.await {
            Ok(events) => Ok(self.checked(events, None)),
            Err(error) => Err(self.without_secrets(error)),
        }
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
        let sent = self.inner.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            max_sse_event_size,
        );
        match sent.await {
            Ok(events) => Ok(self.checked(events, None)),
            Err(error) => Err(self.without_secrets(error)),
        }
    }
}
