//! [`ClientError`]: a request of a client that failed.

use std::error::Error;
use std::fmt;

use restate_sdk::ingress;

/// The error of a [`Client`](crate::Client).
pub enum ClientError {
    /// An address is missing or malformed.
    Address(String),
    /// The conversation refused the request or failed, with this status and reason.
    Refused(u16, String),
    /// The ingress can't be reached, or its answer can't be read.
    Failed(Box<dyn Error + Send + Sync>),
}

impl From<ingress::ClientError> for ClientError {
    fn from(error: ingress::ClientError) -> ClientError {
        // A request that was refused before it became an invocation has no id, and the SDK reports only that.
        let refused = error.response().filter(|it| !it.status().is_success());
        let Some(refused) = refused else {
            return ClientError::Failed(error.into());
        };
        let body = String::from_utf8_lossy(refused.body());
        let message = serde_json::from_str::<serde_json::Value>(&body).ok();
        let message = message.and_then(|body| body["message"].as_str().map(str::to_owned));
        ClientError::Refused(
            refused.status().as_u16(),
            message.unwrap_or_else(|| body.into_owned()),
        )
    }
}

impl ClientError {
    /// Returns `true` if the same request may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            ClientError::Address(_) => false,
            ClientError::Refused(status, _) => matches!(status, 408 | 429 | 500..),
            ClientError::Failed(_) => true,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Address(problem) => {
                write!(f, "an address is missing or malformed: {problem}")
            }
            ClientError::Refused(status, reason) => {
                write!(f, "the conversation answered {status}: {reason}")
            }
            ClientError::Failed(error) => write!(f, "the conversation can't be reached: {error}"),
        }
    }
}

impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ClientError::Failed(error) => error.source(),
            ClientError::Address(_) | ClientError::Refused(..) => None,
        }
    }
}
