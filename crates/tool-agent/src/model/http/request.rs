//! Builds requests to a provider: URL, headers and body.

use std::env;

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::fields::{add, set};
use super::secrets::{Secrets, is_secret};
use super::{HeaderValue as OwnHeader, HttpModel, Key};
use crate::model::{ModelError, ModelErrorKind, Request};
use tool_core::dialect::write::{HttpApi, Streaming, SystemPrompt};
use tool_dialects::server;

/// The media type of a stream of AWS's frames.
pub(super) const AWS_FRAMES: &str = "application/vnd.amazon.eventstream";

/// The URL of a request.
pub(super) struct Endpoint {
    pub(super) api: HttpApi,
    pub(super) is_streamed: bool,
    pub(super) url: Url,
    /// The path that was appended to the base URL.
    pub(super) path: String,
    /// Set if the base URL ended with the path already.
    pub(super) is_doubled: bool,
}

impl Endpoint {
    /// Returns the URL without user, password and query.
    pub(super) fn shown(&self) -> String {
        let url = &self.url;
        format!("{}{}", url.origin().ascii_serialization(), url.path())
    }

    pub(super) fn headers(
        &self,
        key: Option<&str>,
        own: &[(&str, String)],
        secrets: &mut Secrets,
    ) -> Result<HeaderMap, ModelError> {
        let (api, is_streamed) = (&self.api, self.is_streamed);
        let mut headers = HeaderMap::new();
        let accepted = match api.streaming {
            _ if !is_streamed => "application/json",
            Streaming::AwsFrames { .. } => AWS_FRAMES,
            _ => "text/event-stream",
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
        for (name, value) in own {
            if is_secret(name) {
                secrets.add(value);
            }
            let header = HeaderName::try_from(*name).ok();
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
}

impl HttpModel {
    /// Names the model and the URL, for errors.
    pub(super) fn target(&self, endpoint: Option<&Endpoint>) -> String {
        let server = self.api.as_ref().filter(|api| !api.name.is_empty());
        let place = match (server, endpoint) {
            (Some(server), Some(endpoint)) => {
                format!("{} ({})", server.provider, endpoint.shown())
            }
            (Some(server), None) => server.provider.into(),
            (None, Some(endpoint)) => endpoint.shown(),
            (None, None) => String::new(),
        };
        match (self.name.trim(), &*place) {
            ("", "") => "the model".into(),
            ("", place) => place.into(),
            (name, "") => name.into(),
            (name, place) => format!("{name} at {place}"),
        }
    }

    /// Returns the URL of a request.
    pub(super) fn endpoint(&self, is_streamed: bool) -> Result<Endpoint, ModelError> {
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
        let is_readable = match api.streaming {
            Streaming::Fields(_) | Streaming::Path { .. } => true,
            Streaming::AwsFrames { .. } => cfg!(feature = "bedrock"),
            Streaming::Unsupported => false,
        };
        let is_streamed = is_streamed && is_readable;
        let base = match &self.base_url {
            Some(url) => url.clone(),
            None => filled(api.base_url).map_err(|problem| invalid(&problem))?,
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
        // The text of the URL may contain a password.
        let mut url = Url::parse(&base)
            .map_err(|error| invalid(&format!("the base URL is not valid: {error}")))?;
        let (path, query) = match api.streaming {
            Streaming::Path { path, query, .. } if is_streamed => (path, query),
            Streaming::AwsFrames { path } if is_streamed => (path, &[][..]),
            _ => (api.path, &[][..]),
        };
        for (key, value) in api.query.iter().chain(query) {
            url.query_pairs_mut().append_pair(key, value);
        }
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

    /// Returns the headers of the application, without those of functions.
    pub(super) fn known_headers(&self) -> Vec<(&str, String)> {
        let known = self.headers.iter().filter_map(|(name, value)| match value {
            OwnHeader::Text(text) => Some((&**name, text.clone())),
            OwnHeader::Source(_) => None,
        });
        known.collect()
    }

    /// Returns the headers of the application, and calls its functions.
    pub(super) async fn own_headers(&self) -> Result<Vec<(&str, String)>, ModelError> {
        let mut own = Vec::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let value = match value {
                OwnHeader::Text(text) => text.clone(),
                OwnHeader::Source(source) => source().await?,
            };
            own.push((&**name, value));
        }
        Ok(own)
    }

    /// Returns the key, unless it comes from a function.
    pub(super) fn known_key(&self, api: &HttpApi) -> Result<Option<String>, ModelError> {
        let missing = |whose: &str, names: &str| {
            let by_aws = match api.streaming {
                Streaming::AwsFrames { .. } => {
                    " or `HttpModel::aws_credentials` (feature `bedrock`)"
                }
                _ => "",
            };
            let problem = format!(
                "no key{whose}: set {names}, or call `HttpModel::key`{by_aws}{}",
                see(api)
            );
            ModelError::new(ModelErrorKind::Unauthorized, problem)
        };
        match &self.key {
            Key::Default if self.base_url.is_some() || api.key_variables.is_empty() => Ok(None),
            Key::None | Key::Source(_) => Ok(None),
            #[cfg(feature = "bedrock")]
            Key::Aws(_) => Ok(None),
            Key::Variable(name) => variable(name).ok_or_else(|| missing("", name)).map(Some),
            Key::Default => {
                let names = api.key_variables;
                let mut keys = names.iter().filter_map(|name| variable(name));
                let key = keys.next();
                let whose = format!(" for {}", api.provider);
                key.ok_or_else(|| missing(&whose, &names.join(" or ")))
                    .map(Some)
            }
        }
    }

    /// Explains why a request has no key.
    pub(super) fn without_a_key(&self, api: &HttpApi) -> String {
        let why = match (&self.key, api.key_variables.first()) {
            (Key::Default, Some(name)) if self.base_url.is_some() => {
                let url = Url::parse(api.base_url).ok();
                let host = url.as_ref().and_then(Url::host_str);
                // A part of some hosts is filled in, such as the region.
                let host = host.filter(|_| !api.base_url.contains('{'));
                let host = host.unwrap_or("the provider's own URL");
                format!(", because {name} goes to {host} only")
            }
            _ => String::new(),
        };
        format!(
            "; no key was sent{why}: set one with `HttpModel::key` or `HttpModel::key_from_env`"
        )
    }

    /// Writes the body. The tools are inserted as the dialect wrote them, with their order of keys.
    pub(super) fn body(&self, api: &HttpApi, request: &Request, is_streamed: bool) -> String {
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
        let streaming = match api.streaming {
            Streaming::Fields(fields) | Streaming::Path { fields, .. } if is_streamed => fields,
            _ => "{}",
        };
        for json in [streaming, api.fields] {
            let more: Map<String, Value> = serde_json::from_str(json).unwrap_or_default();
            for (key, value) in more {
                add(&mut fields, key, value);
            }
        }
        let mut prompt = self.system.as_ref().map(|system| system());
        if let Some(instructions) = request.instructions() {
            let own = prompt.take().filter(|own| !own.is_empty());
            prompt = Some(match own {
                Some(own) => format!("{own}\n\n{instructions}"),
                None => instructions.to_owned(),
            });
        }
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
            add(&mut fields, key.clone(), value.clone());
        }
        // Added last, because the provider rejects the request without these fields.
        fields.extend(request.continuation.clone());
        if !fields.contains_key(api.messages) {
            let messages = request.messages.iter().map(|message| Value::clone(message));
            let messages = first.into_iter().chain(messages).collect();
            fields.insert(api.messages.into(), messages);
        }
        request.body(fields)
    }
}

/// Adds the headers for the tools to the headers that the application has set.
pub(super) fn add_headers(headers: &mut HeaderMap, request: &Request) {
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

/// Returns an environment variable, unless it is empty.
pub(super) fn variable(name: &str) -> Option<String> {
    // `env::var` panics if the name is not a valid one.
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let value = is_name.then(|| env::var(name).ok()).flatten();
    value.filter(|value| !value.trim().is_empty())
}

/// Names the constant of a server, for errors. A row of the application is none of them.
pub(super) fn see(api: &HttpApi) -> String {
    match server::find(api.name) {
        Ok(known) => {
            let constant = known.name().to_uppercase().replace('-', "_");
            format!("; see `server::{constant}`")
        }
        Err(_) => String::new(),
    }
}

/// Fills the environment variables into a base URL.
fn filled(base: &str) -> Result<String, String> {
    let mut url = String::new();
    let mut rest = base;
    while let Some((before, (names, after))) = rest
        .split_once('{')
        .and_then(|(before, inside)| Some((before, inside.split_once('}')?)))
    {
        url.push_str(before);
        let found = names.split('|').find_map(variable);
        let value = found.ok_or_else(|| {
            let names = names.replace('|', " or ");
            format!("the URL is incomplete: set {names}, or call `HttpModel::base_url`")
        })?;
        let value = value.trim();
        if url.is_empty() {
            url.push_str(value.trim_end_matches('/'));
        } else if value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        {
            url.push_str(value);
        } else {
            // It could change the host.
            return Err(format!(
                "the value of {names} in the environment has characters other than letters, digits, `-`, `.` and `_`"
            ));
        }
        rest = after;
    }
    url.push_str(rest);
    Ok(url)
}
