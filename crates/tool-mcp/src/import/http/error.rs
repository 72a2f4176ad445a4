//! The errors of requests, as `rmcp` passes them on.

use std::error::Error as StdError;
use std::fmt;

use rmcp::transport::streamable_http_client::StreamableHttpError;

use crate::import::secrets::{Secrets, shorten};

/// An error of the transport.
pub(super) type Error = StreamableHttpError<reqwest::Error>;

/// Why there is no token. The text contains no secrets.
#[derive(Clone, Debug)]
pub(in crate::import) struct NoToken(String);

/// The longest text of an authorization server in an error.
const MAX_TEXT: usize = 500;

impl NoToken {
    pub(in crate::import) fn new(secrets: &Secrets, text: impl AsRef<str>) -> NoToken {
        let text = secrets.redact(text.as_ref());
        NoToken(shorten(&text, MAX_TEXT).into_owned())
    }
}

impl fmt::Display for NoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for NoToken {}

impl From<NoToken> for Error {
    fn from(error: NoToken) -> Error {
        StreamableHttpError::Io(std::io::Error::other(error))
    }
}

/// Returns `true` if a request did not reach the server, because there was no connection.
pub(in crate::import) fn is_unsent(error: &(dyn StdError + 'static)) -> bool {
    matches!(
        error.downcast_ref::<Error>(),
        Some(StreamableHttpError::Client(error)) if error.is_connect()
    )
}

/// Returns the error of the HTTP client, which the error of `rmcp` does not have as its source.
pub(in crate::import) fn of_client<'e>(
    error: &'e (dyn StdError + 'static),
) -> Option<&'e (dyn StdError + 'static)> {
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Client(error)) => Some(error),
        _ => no_token(error).map(|error| error as _),
    }
}

/// Returns why a request had no token, if that is the error.
pub(in crate::import) fn no_token<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e NoToken> {
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Io(error)) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// Returns what to do about the error of a handshake over HTTP.
pub(in crate::import) fn advice(error: &(dyn StdError + 'static)) -> &'static str {
    let status = |code: &str| match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::UnexpectedServerResponse(text)) => text.contains(code),
        _ => false,
    };
    match error.downcast_ref::<Error>() {
        Some(StreamableHttpError::Client(_)) => "; check the URL, and that the server runs",
        Some(StreamableHttpError::Io(_)) => "",
        Some(_) if status("HTTP 401") || status("HTTP 403") => {
            "; set the token with `ImportBuilder::bearer`, or check it"
        }
        Some(_) => "; check that this is the URL of an MCP server",
        None => "",
    }
}
