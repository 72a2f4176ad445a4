//! The tokens of requests: their source, and the steps after a server rejects one.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use rmcp::transport::streamable_http_client::StreamableHttpError;
use tokio::sync::Mutex;
use tool_core::runtime::BoxFuture;

use super::Error;
#[cfg(feature = "oauth")]
use crate::import::oauth::session::Session;
use crate::import::secrets::{Secrets, shorten};

/// The authorization of requests to a server.
#[derive(Clone, Default)]
pub(in crate::import) enum Tokens {
    #[default]
    None,
    Fixed(String),
    Source(TokenSource),
    #[cfg(feature = "oauth")]
    OAuth(Arc<Session>),
}

/// A closure that returns a token.
#[derive(Clone)]
pub(in crate::import) struct TokenSource(Arc<Get>);

type Get = dyn Fn() -> BoxFuture<Result<String, TokenError>> + Send + Sync;

/// The error of a closure of the application.
pub(in crate::import) type TokenError = Box<dyn StdError + Send + Sync>;

impl TokenSource {
    pub(in crate::import) fn new<F, R>(get: F) -> TokenSource
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, TokenError>> + Send + 'static,
    {
        TokenSource(Arc::new(move || Box::pin(get())))
    }

    async fn get(&self, host: &str, secrets: &Secrets) -> Result<String, NoToken> {
        let token = (self.0)().await.map_err(|error| {
            let text = format!("the closure of `bearer_with` has no token for {host}: {error}");
            NoToken::new(secrets, text)
        })?;
        secrets.add_token(&token);
        Ok(token)
    }
}

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

/// Why a server rejected a request, with its `WWW-Authenticate` header.
#[derive(Clone, Debug)]
pub(in crate::import) enum Challenge {
    /// The token is missing, or not valid any more. The header may be empty.
    Token(#[cfg_attr(not(feature = "oauth"), allow(dead_code))] String),
    /// The token lacks scopes.
    #[cfg(feature = "oauth")]
    Scope(String),
}

impl Challenge {
    /// Returns the challenge in an error.
    pub(super) fn of(error: &Error) -> Option<Challenge> {
        match error {
            StreamableHttpError::AuthRequired(error) => {
                Some(Challenge::Token(error.www_authenticate_header.clone()))
            }
            #[cfg(feature = "oauth")]
            StreamableHttpError::InsufficientScope(error) => {
                let header = &error.www_authenticate_header;
                Session::lacks_scope(header).then(|| Challenge::Scope(header.clone()))
            }
            // Without a header.
            StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => {
                Some(Challenge::Token(String::new()))
            }
            StreamableHttpError::Client(error)
                if error.status() == Some(reqwest::StatusCode::UNAUTHORIZED) =>
            {
                Some(Challenge::Token(String::new()))
            }
            _ => None,
        }
    }
}

/// The attempts for a request.
#[derive(Default)]
pub(in crate::import) struct Attempts {
    pub(in crate::import) refreshed: bool,
    #[cfg(feature = "oauth")]
    pub(in crate::import) signed_in: bool,
    #[cfg(feature = "oauth")]
    pub(in crate::import) step_ups: u32,
    pub(in crate::import) all: u32,
}

/// A request that is rejected more often than this is not sent again.
pub(in crate::import) const MAX_ATTEMPTS: u32 = 8;

/// Has the tokens of one connection.
pub(super) enum Authority {
    Source {
        source: TokenSource,
        current: Mutex<Option<String>>,
        host: String,
        secrets: Secrets,
    },
    #[cfg(feature = "oauth")]
    OAuth(Arc<Session>),
}

impl Authority {
    /// Returns the authority of a connection, if its tokens are not fixed.
    pub(super) fn new(
        tokens: &Tokens,
        host: Option<String>,
        secrets: &Secrets,
    ) -> Option<Arc<Authority>> {
        let authority = match tokens {
            Tokens::None | Tokens::Fixed(_) => return None,
            Tokens::Source(source) => Authority::Source {
                source: source.clone(),
                current: Mutex::default(),
                host: host.unwrap_or_default(),
                secrets: secrets.clone(),
            },
            #[cfg(feature = "oauth")]
            Tokens::OAuth(session) => Authority::OAuth(session.clone()),
        };
        Some(Arc::new(authority))
    }

    /// Returns the token of the next request. `None` if there is none yet.
    pub(super) async fn token(&self) -> Result<Option<String>, NoToken> {
        match self {
            Authority::Source {
                source,
                current,
                host,
                secrets,
            } => {
                let mut current = current.lock().await;
                if current.is_none() {
                    *current = Some(source.get(host, secrets).await?);
                }
                Ok(current.clone())
            }
            #[cfg(feature = "oauth")]
            Authority::OAuth(session) => session.token().await,
        }
    }

    /// Returns another token for a request that was rejected. `None` if there is no other one.
    pub(super) async fn answer(
        &self,
        challenge: &Challenge,
        sent: Option<&str>,
        attempts: &mut Attempts,
    ) -> Result<Option<String>, NoToken> {
        match self {
            Authority::Source {
                source,
                current,
                host,
                secrets,
            } => {
                #[cfg(feature = "oauth")]
                if matches!(challenge, Challenge::Scope(_)) {
                    return Ok(None);
                }
                #[cfg(not(feature = "oauth"))]
                let Challenge::Token(_) = challenge;
                let mut current = current.lock().await;
                // Another request has a new one.
                if current.as_deref() == sent {
                    if std::mem::replace(&mut attempts.refreshed, true) {
                        return Ok(None);
                    }
                    *current = Some(source.get(host, secrets).await?);
                }
                Ok(current.clone().filter(|token| Some(token.as_str()) != sent))
            }
            #[cfg(feature = "oauth")]
            Authority::OAuth(session) => session.answer(challenge, sent, attempts).await.map(Some),
        }
    }

    /// Returns another token for a request that was rejected, without a user.
    pub(super) async fn answer_silently(
        &self,
        challenge: &Challenge,
        sent: Option<&str>,
        attempts: &mut Attempts,
    ) -> Result<Option<String>, NoToken> {
        match self {
            Authority::Source { .. } => self.answer(challenge, sent, attempts).await,
            #[cfg(feature = "oauth")]
            Authority::OAuth(session) => session.answer_silently(challenge, sent, attempts).await,
        }
    }
}
