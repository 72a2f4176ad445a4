//! Builds requests to a provider: URL, headers and body.

use std::env;

use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

use super::fields::{merge, set};
use super::secrets::{Secrets, is_secret};
use super::{HttpModel, Key};
use crate::model::{ModelError, ModelErrorKind, Request};
use tool_core::dialect::write::{HttpApi, Streaming, SystemPrompt};

/// The URL of a request.
pub(super) struct Endpoint {
    pub(super) api: &'static HttpApi,
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
}

impl HttpModel {
    /// Names the model and the URL, for errors.
    pub(super) fn target(&self, endpoint: Option<&Endpoint>) -> String {
        match (self.name.trim(), endpoint) {
            ("", Some(endpoint)) => endpoint.shown(),
            ("", None) => "the model".into(),
            (name, Some(endpoint)) => format!("{name} at {}", endpoint.shown()),
            (name, None) => name.into(),
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
        // The text of the URL may contain a password.
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

    pub(super) fn headers(
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
            if is_secret(name) {
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

    /// Returns the key, unless it comes from a function.
    pub(super) fn known_key(&self, api: &HttpApi) -> Result<Option<String>, ModelError> {
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
fn variable(name: &str) -> Option<String> {
    // `env::var` panics if the name is not a valid one.
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    let value = is_name.then(|| env::var(name).ok()).flatten();
    value.filter(|value| !value.trim().is_empty())
}
