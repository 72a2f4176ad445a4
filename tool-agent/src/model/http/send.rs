//! Sends a request, and reads the response.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::Client;
use reqwest::redirect::Policy;

use super::events::events;
use super::failure::{of_status, reported};
use super::request::{Endpoint, add_headers};
use super::secrets::{Secrets, is_secret, start_of};
use super::transport::{body_bytes, media_type, transport, unparsed};
use super::{HttpModel, Key};
use crate::model::{ModelError, Request, Response};
use tool_core::dialect::ValueLimit;

/// The most clients, one for each pair of timeouts, that keep connections for the next request.
const MOST_CLIENTS: usize = 16;

impl HttpModel {
    pub(super) async fn send(
        &self,
        endpoint: &Endpoint,
        request: Request,
    ) -> Result<Response, ModelError> {
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
        let own = self.headers.iter().any(|(name, _)| is_secret(name));
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
}
