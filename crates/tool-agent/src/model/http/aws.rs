//! Amazon Bedrock: signs requests with credentials of AWS, and reads the frames of its streams.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_eventstream::frame::read_message_from;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tool_core::dialect::write::HttpApi;

use super::events::Framing;
use super::request::{Endpoint, see, variable};
use super::secrets::Secrets;
use crate::model::{ModelError, ModelErrorKind};

/// The longest frame in bytes, as for other events.
const LONGEST: usize = 64 << 20;

/// Returns the region of a URL: the part of the host after the service, or else the region in the environment.
pub(super) fn region(url: &Url, api: &HttpApi) -> Result<String, ModelError> {
    let mut parts = url.host_str().unwrap_or_default().split('.');
    let in_host = parts
        .any(|part| part.starts_with("bedrock"))
        .then(|| parts.next())
        .flatten();
    let in_environment = || {
        ["AWS_REGION", "AWS_DEFAULT_REGION"]
            .iter()
            .find_map(|name| variable(name))
    };
    in_host
        .map(str::to_owned)
        .or_else(in_environment)
        .ok_or_else(|| {
            let problem = format!(
                "the URL does not tell the region of AWS: set AWS_REGION{}",
                see(api)
            );
            ModelError::new(ModelErrorKind::Other, problem)
        })
}

/// Signs a request by AWS's Signature Version 4. Returns the URL to which it must be sent.
pub(super) async fn sign_request(
    provider: &SharedCredentialsProvider,
    endpoint: &Endpoint,
    headers: &mut HeaderMap,
    body: &str,
    secrets: &mut Secrets,
) -> Result<Url, ModelError> {
    let unauthorized = |problem: String| ModelError::new(ModelErrorKind::Unauthorized, problem);
    let credentials = provider.provide_credentials().await.map_err(|error| {
        unauthorized(format!("no credentials of AWS: {error}")).with_source(error)
    })?;
    secrets.add(credentials.secret_access_key());
    if let Some(token) = credentials.session_token() {
        secrets.add(token);
    }
    // AWS signs this character of a model's name in its encoded form.
    let mut url = endpoint.url.clone();
    url.set_path(&url.path().replace(':', "%3A"));
    let region = region(&url, &endpoint.api)?;
    let added = signature(credentials, &region, &url, headers, body).map_err(unauthorized)?;
    for (name, value) in added {
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(name), HeaderValue::try_from(value))
        else {
            return Err(unauthorized(
                "the credentials of AWS have characters that a header can't have".into(),
            ));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(url)
}

/// Returns the headers with the signature of a request.
fn signature(
    credentials: Credentials,
    region: &str,
    url: &Url,
    headers: &HeaderMap,
    body: &str,
) -> Result<Vec<(String, String)>, String> {
    let failed = |error: &dyn std::error::Error| format!("the request can't be signed: {error}");
    let identity = credentials.into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name("bedrock")
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| failed(&error))?
        .into();
    // Proxies may change other headers.
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let signed = content_type.map(|value| (CONTENT_TYPE.as_str(), value));
    let body = SignableBody::Bytes(body.as_bytes());
    let request = SignableRequest::new("POST", url.as_str(), signed.into_iter(), body)
        .map_err(|error| failed(&error))?;
    let signed = sign(request, &parameters).map_err(|error| failed(&error))?;
    let (instructions, _) = signed.into_parts();
    let added = instructions.headers();
    Ok(added
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}

/// Reads frames from pieces of any size.
#[derive(Default)]
pub(super) struct Frames {
    read: Vec<u8>,
}

impl Framing for Frames {
    /// An event is an object with its name as the only key, as the dialect reads it.
    fn push(
        &mut self,
        chunk: &[u8],
        read: &mut dyn FnMut(&str) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let broken = |problem: &str| {
            ModelError::new(
                ModelErrorKind::Response,
                format!("a frame of the stream {problem}"),
            )
        };
        self.read.extend_from_slice(chunk);
        let mut start = 0;
        while let Some((length, _)) = self.read[start..].split_first_chunk() {
            let length = u32::from_be_bytes(*length) as usize;
            if !(1..=LONGEST).contains(&length) {
                return Err(broken(&format!(
                    "has {length} bytes instead of 1 to {LONGEST}"
                )));
            }
            let Some(frame) = self.read.get(start..start + length) else {
                break;
            };
            let frame = read_message_from(frame)
                .map_err(|error| broken(&format!("can't be read: {error}")).with_source(error))?;
            start += length;
            let header = |name: &str| {
                let found = frame
                    .headers()
                    .iter()
                    .find(|header| header.name().as_str() == name);
                let value = found.and_then(|header| header.value().as_string().ok());
                value.map_or("", |value| value.as_str())
            };
            let body = std::str::from_utf8(frame.payload()).map_err(|_| broken("is not UTF-8"))?;
            match header(":message-type") {
                "event" => {
                    let name = Value::from(header(":event-type"));
                    read(&format!(
                        "{{{name}:{}}}",
                        if body.is_empty() { "{}" } else { body }
                    ))?;
                }
                "exception" => {
                    let body: Value = serde_json::from_str(body).unwrap_or_default();
                    let (code, message) = (header(":exception-type"), &body["message"]);
                    read(&json!({"error": {"code": code, "message": message}}).to_string())?;
                }
                "error" => {
                    let (code, message) = (header(":error-code"), header(":error-message"));
                    read(&json!({"error": {"code": code, "message": message}}).to_string())?;
                }
                // A later version may have more.
                _ => {}
            }
        }
        self.read.drain(..start);
        Ok(())
    }
}
