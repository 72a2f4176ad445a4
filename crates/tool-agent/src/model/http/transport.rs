//! Reads bodies, and describes failures of the connection.

use std::error::Error;
use std::pin::Pin;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use reqwest::header::CONTENT_TYPE;
use serde_json::{Map, Value};
use tool_core::dialect::write::ParseError;

use crate::model::{ModelError, ModelErrorKind};

pub(super) type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, ModelError>> + Send>>;

/// Returns the bytes of a body, up to a limit.
pub(super) fn body_bytes(response: reqwest::Response, limit: usize) -> Chunks {
    let init = Some((response, limit));
    let chunks = stream::unfold(init, move |state| async move {
        let (mut response, left) = state?;
        match response.chunk().await {
            Ok(None) => None,
            Ok(Some(chunk)) => match left.checked_sub(chunk.len()) {
                Some(left) => Some((Ok(chunk), Some((response, left)))),
                None => Some((Err(too_long(limit)), None)),
            },
            Err(error) => Some((Err(transport(error)), None)),
        }
    });
    Box::pin(chunks.fuse())
}

pub(super) fn too_long(limit: usize) -> ModelError {
    let problem = format!("the response is longer than {limit} bytes");
    ModelError::new(ModelErrorKind::Response, problem)
}

/// The form of a body.
pub(super) enum Form {
    /// Server-sent events.
    Events,
    Json,
    Other,
}

/// Reads a body until its form is clear. Also returns the bytes read.
pub(super) async fn start(bytes: &mut Chunks) -> Result<(Vec<u8>, Form), ModelError> {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    /// An event starts with a comment or a field.
    const FIELDS: [&[u8]; 5] = [b":", b"data:", b"event:", b"id:", b"retry:"];
    let (mut read, mut seen) = (Vec::new(), 0);
    loop {
        let is_mark_open = read.len() < MARK.len() && MARK.starts_with(&read);
        if seen == 0 && read.starts_with(MARK) {
            seen = MARK.len();
        }
        while read.get(seen).is_some_and(u8::is_ascii_whitespace) {
            seen += 1;
        }
        let rest = &read[seen..];
        let mut is_open = is_mark_open;
        match rest.first() {
            Some(b'{' | b'[') => return Ok((read, Form::Json)),
            Some(_) => {
                if FIELDS.iter().any(|field| rest.starts_with(field)) {
                    return Ok((read, Form::Events));
                }
                is_open |= FIELDS.iter().any(|field| field.starts_with(rest));
            }
            None => is_open = true,
        }
        if !is_open {
            return Ok((read, Form::Other));
        }
        match bytes.next().await {
            Some(chunk) => read.extend_from_slice(&chunk?),
            None => return Ok((read, Form::Other)),
        }
    }
}

/// Converts objects to server-sent events, for servers that stream them in another form: one on each line, or in a
/// list, which is `parsed`.
pub(super) fn as_events(body: &[u8], parsed: Option<&Value>) -> Option<Vec<u8>> {
    let mut events = Vec::new();
    let mut add = |event: &[u8]| events.extend_from_slice(&[b"data: ", event, b"\n\n"].concat());
    match parsed {
        Some(Value::Array(list)) => {
            for event in list {
                add(event.to_string().as_bytes());
            }
        }
        Some(_) => return None,
        None => {
            let lines = body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
            let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
            let is_object = |line| serde_json::from_slice::<Map<String, Value>>(line).is_ok();
            if lines.len() < 2 || !is_object(lines[0]) {
                return None;
            }
            lines.into_iter().for_each(add);
        }
    }
    Some(events)
}

/// Returns the media type of a body without parameters.
pub(super) fn media_type(response: &reqwest::Response) -> String {
    let header = response.headers().get(CONTENT_TYPE);
    let header = header.and_then(|value| value.to_str().ok());
    let name = header.unwrap_or_default().split(';').next();
    name.unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the error for invalid JSON. `problem` gets `true` if the JSON is cut off, and returns the message.
pub(super) fn unparsed(error: ParseError, problem: impl FnOnce(bool) -> String) -> ModelError {
    match error {
        ParseError::Json(error) if error.is_eof() => {
            ModelError::new(ModelErrorKind::Connection, problem(true))
        }
        ParseError::Json(_) => ModelError::new(ModelErrorKind::Response, problem(false)),
        error => ModelError::new(ModelErrorKind::Response, error.to_string()),
    }
}

/// Returns the error of a request that got no response.
pub(super) fn transport(error: reqwest::Error) -> ModelError {
    // The URL may contain a password.
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
