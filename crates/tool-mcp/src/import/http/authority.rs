//! The tokens of requests: their source, and the steps after a server rejects one.

use std::error::Error as StdError;
use std::sync::Arc;

use tokio::sync::Mutex;
use tool_core::runtime::BoxFuture;

use super::challenge::{Attempts, Challenge};
use super::error::NoToken;
#[cfg(feature = "oauth")]
use crate::import::oauth::session::Session;
use crate::import::secrets::Secrets;

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
