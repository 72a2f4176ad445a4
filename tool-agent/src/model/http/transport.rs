//! Reads bodies, and names what breaks on the way.

use std::error::Error;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, stream};
use reqwest::header::CONTENT_TYPE;
use tool_core::dialect::ParseError;

use crate::model::{ModelError, ModelErrorKind};

pub(super) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ModelError>> + Send>>;

/// Returns the bytes of a body, up to a limit.
pub(super) fn body_bytes(response: reqwest::Response, limit: usize) -> Chunks {
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

/// Returns the media type of a body, without its parameters.
pub(super) fn media_type(response: &reqwest::Response) -> String {
    let header = response.headers().get(CONTENT_TYPE);
    let header = header.and_then(|value| value.to_str().ok());
    let name = header.unwrap_or_default().split(';').next();
    name.unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the error of JSON that can't be parsed. `problem` words it, with `true` if the JSON is cut off.
pub(super) fn unparsed(error: ParseError, problem: impl FnOnce(bool) -> String) -> ModelError {
    match error {
        ParseError::Json(error) if error.is_eof() => {
            ModelError::new(ModelErrorKind::Connection, problem(true))
        }
        ParseError::Json(_) => ModelError::new(ModelErrorKind::Response, problem(false)),
        error => ModelError::new(ModelErrorKind::Response, error.to_string()),
    }
}

/// Returns the error of a request without a response.
pub(super) fn transport(error: reqwest::Error) -> ModelError {
    // A URL may have a password.
    let error = error.without_url();
    let (kind, problem) = if error.is_connect() && error.is_timeout() {
        let problem = "no connection in time; see `HttpModel::connect_timeout`";
        return ModelError::new(ModelErrorKind::TimedOut, problem).with_source(error);
    } else if error.is_timeout() {
        let problem = "no response in time; see `HttpModel::idle_timeout` and `HttpModel::timeout`";
        return ModelError::new(ModelErrorKind::TimedOut, problem).with_source(error);
    } else if error.is_connect() {
        (ModelErrorKind::Connection, "can't connect")
    } else if error.is_builder() {
        (ModelErrorKind::Other, "the request can't be built")
    } else {
        (ModelErrorKind::Connection, "the connection broke")
    };
    let mut cause: &dyn Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let cause = cause.to_string();
    let advice = if !error.is_connect() {
        ""
    } else if cause.contains("InvalidContentType") || cause.contains("tls handshake") {
        "; the server does not speak TLS there: start the URL with http://"
    } else {
        "; check the URL, and that the server runs"
    };
    ModelError::new(kind, format!("{problem}: {cause}{advice}")).with_source(error)
}
