//! Sends requests and reads responses.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt, stream};
use reqwest::Client;
use reqwest::redirect::Policy;

#[cfg(feature = "bedrock")]
use super::aws;
#[cfg(feature = "bedrock")]
use super::events::events;
use super::events::server_sent;
use super::failure::{of_status, reported};
use super::request::{Endpoint, add_headers};
use super::secrets::{Secrets, is_secret, start_of};
use super::transport::{
    Form, as_events, body_bytes, media_type, start, too_long, transport, unparsed,
};
use super::{HttpModel, Key};
use crate::model::{ModelError, ModelErrorKind, Request, Response};
use tool_core::dialect::write::ValueLimit;

/// Default maximum size of a response in bytes.
const MAX_BYTES: usize = 64 << 20;
/// Default maximum size of a stream in bytes. It is larger because events repeat data.
const MAX_BYTES_OF_STREAM: usize = 1 << 30;

/// Maximum number of clients that keep connections. There is one for each pair of timeouts.
const MOST_CLIENTS: usize = 16;

impl HttpModel {
    /// Sends a request. If the stream contains no event, sends it again without a stream. A server sends such a stream
    /// if it fails after the status, or can't stream calls (llama-cpp-python 0.3.36).
    pub(super) async fn ask_at(
        &self,
        endpoint: &Endpoint,
        request: Request,
    ) -> Result<Response, ModelError> {
        if let Some(response) = self.send(endpoint, &request).await? {
            return Ok(response);
        }
        let endpoint = self.endpoint(false)?;
        let empty = || {
            let problem = "the stream ended before the first event";
            ModelError::new(ModelErrorKind::Connection, problem)
        };
        // The server may close a kept connection at any time.
        for _ in 0..2 {
            request.count_retry();
            match self.send(&endpoint, &request).await {
                Ok(response) => return response.ok_or_else(empty),
                Err(error) if error.kind() == ModelErrorKind::Connection => {}
                // This error adds nothing to the empty stream.
                Err(error) if error.kind() == ModelErrorKind::Response => break,
                Err(error) => return Err(error),
            }
        }
        Err(empty())
    }

    /// Sends a request. Returns `None` for a stream without events.
    async fn send(
        &self,
        endpoint: &Endpoint,
        request: &Request,
    ) -> Result<Option<Response>, ModelError> {
        let (api, is_streamed) = (&endpoint.api, endpoint.is_streamed);
        let mut secrets = Secrets::default();
        if let Some(password) = endpoint.url.password() {
            secrets.add(password);
        }
        let key = match &self.key {
            Key::Source(key) => Some(key().await?),
            _ => self.known_key(api)?,
        };
        // Some servers need no key, so the variable may be empty.
        let key = key.filter(|key| !key.trim().is_empty());
        let own = self.own_headers().await?;
        let mut headers = endpoint.headers(key.as_deref(), &own, &mut secrets)?;
        add_headers(&mut headers, request);
        let has_secret = own.iter().any(|(name, _)| is_secret(name));
        let body = self.body(api, request, is_streamed);
        let url = match &self.key {
            #[cfg(feature = "bedrock")]
            Key::Aws(credentials) => {
                aws::sign_request(credentials, endpoint, &mut headers, &body, &mut secrets).await?
            }
            _ => endpoint.url.clone(),
        };
        let has_key =
            has_secret || headers.contains_key(api.key_header) || endpoint.url.query().is_some();
        let sending = self
            .client()?
            .post(url)
            .timeout(self.timeout)
            .headers(headers)
            .body(body);
        let response = sending.send().await.map_err(transport)?;
        if !response.status().is_success() {
            let no_key = (!has_key).then(|| self.without_a_key(api));
            return Err(of_status(response, endpoint, no_key, &secrets).await);
        }
        let media_type = media_type(&response);
        let is_page = media_type == "text/html";
        let (limit, limit_of_stream) = match self.max_bytes {
            Some(limit) => (limit, limit),
            None => (MAX_BYTES, MAX_BYTES_OF_STREAM),
        };
        let mut bytes = body_bytes(response, limit_of_stream);
        #[cfg(feature = "bedrock")]
        if media_type == super::request::AWS_FRAMES {
            let events = events(bytes, aws::Frames::default(), secrets).await?;
            return Ok(events.map(Response::Stream));
        }
        let (mut body, form) = start(&mut bytes).await?;
        // Some servers never stream, or send streams with the wrong type.
        let has_events = match form {
            Form::Events => true,
            Form::Json => false,
            Form::Other => is_streamed && !is_page && !media_type.ends_with("json"),
        };
        if has_events {
            let bytes = stream::iter([Ok(body.into())]).chain(bytes);
            let events = server_sent(Box::pin(bytes), secrets).await?;
            return Ok(events.map(Response::Stream));
        }
        while body.len() <= limit
            && let Some(chunk) = bytes.next().await
        {
            body.extend_from_slice(&chunk?);
        }
        if body.len() > limit {
            return Err(too_long(limit));
        }
        let parsed = ValueLimit::default().parse(&body);
        if let Some(lines) = as_events(&body, parsed.as_ref().ok().filter(|_| is_streamed)) {
            let bytes = stream::iter([Ok(lines.into())]);
            let events = server_sent(Box::pin(bytes), secrets).await?;
            return Ok(events.map(Response::Stream));
        }
        let value = parsed.map_err(|error| {
            unparsed(error, |cut_off| match cut_off {
                _ if is_page => "the response has the content type \"text/html\": it is a page, perhaps of a proxy; check \
                the base URL"
                    .into(),
                true if body.trim_ascii().is_empty() => {
                    "the body of the response is empty; check the base URL, and the log of the server".into()
                }
                true => "the response ended early".into(),
                false => format!(
                    "the response, of the content type {media_type:?}, is not JSON; it starts with {}; check the base URL",
                    start_of(&body, &secrets)
                ),
            })
        })?;
        match reported(&value, &secrets) {
            Some(error) => Err(error),
            None => Ok(Some(Response::Whole(value))),
        }
    }

    /// Returns the process's client for these timeouts, which keeps the connections.
    fn client(&self) -> Result<Client, ModelError> {
        static CLIENTS: Mutex<Vec<(Duration, Duration, Client)>> = Mutex::new(Vec::new());
        let (connect, idle) = (self.connect_timeout, self.idle_timeout);
        let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let found = clients
            .iter()
            .position(|client| (client.0, client.1) == (connect, idle));
        if let Some(index) = found {
            // Ordered from the oldest to the latest use.
            let client = clients.remove(index);
            clients.push(client.clone());
            return Ok(client.2);
        }
        let client = Client::builder()
            .user_agent(concat!("tool-core/", env!("CARGO_PKG_VERSION")))
            // A redirect could send the key to another host.
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
}
