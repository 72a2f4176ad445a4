//! [`Session`]: the tokens of one import. The protocol is that of `rmcp`; this decides when to use it, and checks
//! what `rmcp` leaves to its caller.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use oauth2::TokenResponse;
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, OAuthClientConfig, StoredCredentials, WWWAuthenticateParams,
};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::discovery::{Known, describe, discover, silent};
use super::shelf::Shelf;
use super::{Grant, OAuth};
use crate::import::http::challenge::{Attempts, Challenge};
use crate::import::http::error::NoToken;
use crate::import::secrets::Secrets;
use crate::{hex, lock};

/// A token is renewed so many seconds before it expires, or at half of its time.
const EARLY: u64 = 30;

/// More scopes, or longer ones, are not asked for.
const MAX_SCOPES: usize = 100;
const MAX_SCOPE: usize = 256;

/// The tokens of one import, and the state for getting them.
pub(in crate::import) struct Session {
    pub(super) oauth: OAuth,
    /// The server, without user, query and fragment, which may be secrets. An error if the URL is none.
    server: Result<Url, String>,
    /// The host, for errors.
    host: String,
    pub(super) secrets: Secrets,
    pub(super) shelf: Shelf,
    state: tokio::sync::Mutex<State>,
    /// How many times [`Session::answer`] has ended.
    ended: AtomicU64,
    deferred: Mutex<Option<Deferred>>,
}

/// A challenge that is answered later.
struct Deferred {
    challenge: Challenge,
    sent: Option<String>,
    /// Set if a refresh did not help.
    refreshed: bool,
}

#[derive(Default)]
struct State {
    /// Knows the authorization server and the client, after the first use.
    known: Option<Arc<Known>>,
    current: Option<Current>,
    /// The scopes that were asked for, and the issuer that was asked.
    asked: (String, BTreeSet<String>),
    /// Why the last attempt failed.
    failure: Option<NoToken>,
}

/// The token of the next request.
struct Current {
    token: String,
    /// In seconds since 1970.
    renew_at: Option<u64>,
}

impl Current {
    fn of(credentials: &StoredCredentials) -> Option<Current> {
        let response = credentials.token_response.as_ref()?;
        let lifetime = response.expires_in().map(|time| time.as_secs());
        let renew_at = lifetime
            .zip(credentials.token_received_at)
            .map(|(lifetime, received)| {
                let time = lifetime.saturating_sub(EARLY.min(lifetime / 2));
                received.saturating_add(time)
            });
        Some(Current {
            token: response.access_token().secret().clone(),
            renew_at,
        })
    }

    fn is_fresh(&self) -> bool {
        self.renew_at.is_none_or(|time| now() < time)
    }
}

pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

impl Session {
    pub(in crate::import) fn new(oauth: OAuth, url: &str, secrets: Secrets) -> Session {
        let mut query = None;
        let server = Url::parse(url).map_err(|error| format!("the URL is invalid: {error}"));
        let server = server.map(|mut url| {
            query = url.query().map(|query| hex(&Sha256::digest(query)));
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.set_query(None);
            url.set_fragment(None);
            url
        });
        let host = server
            .as_ref()
            .ok()
            .and_then(|url| url.host_str())
            .unwrap_or_default()
            .to_owned();
        let client = oauth.client_id.as_ref().or(oauth.client_metadata.as_ref());
        let parts = [
            server.as_ref().ok().map(Url::as_str),
            query.as_deref(),
            client.map(String::as_str),
        ];
        let key: Vec<_> = parts.into_iter().flatten().collect();
        let shelf = Shelf {
            store: oauth.store.clone(),
            key: key.join(" "),
            secrets: secrets.clone(),
            refreshing: Arc::default(),
        };
        Session {
            oauth,
            server,
            host,
            secrets,
            shelf,
            state: tokio::sync::Mutex::default(),
            ended: AtomicU64::new(0),
            deferred: Mutex::default(),
        }
    }

    pub(super) fn server(&self) -> Result<&Url, NoToken> {
        self.server.as_ref().map_err(|problem| self.failed(problem))
    }

    /// Finds the authorization server.
    async fn discovered(&self, header: Option<&str>) -> Result<Known, NoToken> {
        let issuer = self.oauth.issuer.as_deref();
        let found = discover(self.server()?, header, self.shelf.clone(), issuer);
        found.await.map_err(|problem| self.failed(problem))
    }

    fn error(&self, what: &str, why: impl AsRef<str>) -> NoToken {
        let text = format!("{what} ({}): {}", self.host, why.as_ref());
        NoToken::new(&self.secrets, text)
    }

    pub(super) fn failed(&self, why: impl AsRef<str>) -> NoToken {
        self.error("can't sign in to the server", why)
    }

    /// Returns the token of the next request. `None` if there is none: the request goes without, and the server says which
    /// token it wants.
    pub(in crate::import) async fn token(&self) -> Result<Option<String>, NoToken> {
        let mut state = self.state.lock().await;
        if let Some(current) = state.current.as_ref().filter(|current| current.is_fresh()) {
            return Ok(Some(current.token.clone()));
        }
        let credentials = self.credentials().await?;
        state.current = credentials.as_ref().and_then(Current::of);
        match &state.current {
            None => Ok(None),
            Some(current) if current.is_fresh() => Ok(Some(current.token.clone())),
            Some(_) => self.refresh(&mut state).await,
        }
    }

    async fn credentials(&self) -> Result<Option<StoredCredentials>, NoToken> {
        let entry = self.shelf.load().await;
        let entry = entry.map_err(|error| {
            self.error("can't read the tokens of the server", error.to_string())
        })?;
        Ok(entry.credentials)
    }

    /// Returns another token for a request that was rejected, without a user. `None` if there is none: then the challenge
    /// is kept for [`sign_in`](Session::sign_in).
    pub(in crate::import) async fn answer_silently(
        &self,
        challenge: &Challenge,
        sent: Option<&str>,
        attempts: &mut Attempts,
    ) -> Result<Option<String>, NoToken> {
        let mut state = self.state.lock().await;
        if let Some(current) = &state.current
            && Some(current.token.as_str()) != sent
        {
            return Ok(Some(current.token.clone()));
        }
        if matches!(challenge, Challenge::Token(_))
            && let Some(token) = self.refresh_once(&mut state, sent, attempts).await?
        {
            return Ok(Some(token));
        }
        *lock(&self.deferred) = Some(Deferred {
            challenge: challenge.clone(),
            sent: sent.map(str::to_owned),
            refreshed: attempts.refreshed,
        });
        Ok(None)
    }

    /// Answers the challenge of a handshake. Returns `false` if there was none.
    pub(in crate::import) async fn sign_in(
        &self,
        attempts: &mut Attempts,
    ) -> Result<bool, NoToken> {
        let Some(deferred) = lock(&self.deferred).take() else {
            return Ok(false);
        };
        attempts.refreshed |= deferred.refreshed;
        let sent = deferred.sent.as_deref();
        self.answer(&deferred.challenge, sent, attempts).await?;
        Ok(true)
    }

    /// Returns another token for a request that was rejected.
    pub(in crate::import) async fn answer(
        &self,
        challenge: &Challenge,
        sent: Option<&str>,
        attempts: &mut Attempts,
    ) -> Result<String, NoToken> {
        let ended = self.ended.load(Ordering::SeqCst);
        let mut state = self.state.lock().await;
        // Another request was answered while this one waited.
        if let Some(current) = &state.current
            && Some(current.token.as_str()) != sent
        {
            return Ok(current.token.clone());
        }
        if ended != self.ended.load(Ordering::SeqCst)
            && let Some(failure) = &state.failure
        {
            return Err(failure.clone());
        }
        let answered = match challenge {
            Challenge::Token(header) => self.renew(&mut state, header, sent, attempts).await,
            Challenge::Scope(header) => self.step_up(&mut state, header, attempts).await,
        };
        state.failure = answered.as_ref().err().cloned();
        self.ended.fetch_add(1, Ordering::SeqCst);
        answered
    }

    /// Answers status 401.
    async fn renew(
        &self,
        state: &mut State,
        header: &str,
        sent: Option<&str>,
        attempts: &mut Attempts,
    ) -> Result<String, NoToken> {
        if let Some(token) = self.refresh_once(state, sent, attempts).await? {
            return Ok(token);
        }
        if std::mem::replace(&mut attempts.signed_in, true) {
            let text = "it rejects the token that its authorization server has just issued; the two may not agree \
                        about the URL of the server";
            return Err(self.failed(text));
        }
        // Boxed, because it is large.
        Box::pin(self.obtain(state, header, BTreeSet::new())).await
    }

    /// Answers status 403 of a token that lacks scopes.
    async fn step_up(
        &self,
        state: &mut State,
        header: &str,
        attempts: &mut Attempts,
    ) -> Result<String, NoToken> {
        let params = WWWAuthenticateParams::parse(header, self.server()?);
        let wanted = scopes(params.scope.as_deref().unwrap_or_default())
            .ok_or_else(|| self.failed("it wants more scopes than are asked for"))?;
        let shown = wanted.iter().cloned().collect::<Vec<_>>().join(" ");
        if wanted.is_empty() {
            return Err(self.failed(
                "its token lacks a scope, and it does not say which; name it with `OAuth::scopes`",
            ));
        }
        let credentials = self.credentials().await?;
        let mut had: BTreeSet<_> = credentials
            .into_iter()
            .flat_map(|stored| stored.granted_scopes)
            .collect();
        had.extend(state.asked.1.iter().cloned());
        if wanted.is_subset(&had) {
            let text = format!(
                "it wants the scope {shown}, which was asked for before; the user may not have it"
            );
            return Err(self.failed(text));
        }
        if attempts.step_ups >= self.oauth.max_step_ups {
            let text = format!(
                "it wants the scope {shown}; that is more than `OAuth::max_step_ups` allows for one request ({})",
                self.oauth.max_step_ups
            );
            return Err(self.failed(text));
        }
        attempts.step_ups += 1;
        had.extend(wanted);
        Box::pin(self.obtain(state, header, had)).await
    }

    /// Gets a token other than the sent one, at most once for a request.
    async fn refresh_once(
        &self,
        state: &mut State,
        sent: Option<&str>,
        attempts: &mut Attempts,
    ) -> Result<Option<String>, NoToken> {
        if sent.is_none() || std::mem::replace(&mut attempts.refreshed, true) {
            return Ok(None);
        }
        let token = self.refresh(state).await?;
        Ok(token.filter(|token| Some(token.as_str()) != sent))
    }

    /// Gets a token for the refresh token. `None` if there is none, or if it is not accepted.
    async fn refresh(&self, state: &mut State) -> Result<Option<String>, NoToken> {
        let entry = self.shelf.load().await;
        let entry = entry.map_err(|error| self.failed(error.to_string()))?;
        let Some(credentials) = entry.credentials else {
            state.current = None;
            return Ok(None);
        };
        let response = credentials.token_response.as_ref();
        if response.and_then(TokenResponse::refresh_token).is_none() {
            state.current = None;
            return Ok(None);
        }
        if state.known.is_none() {
            let mut known = self.discovered(None).await?;
            // Tokens of another issuer are none of its.
            if credentials.issuer.as_deref() != Some(known.issuer()) {
                state.current = None;
                return Ok(None);
            }
            let registered = entry
                .registered
                .filter(|client| client.id == credentials.client_id);
            let secret = registered.and_then(|client| client.secret);
            let mut client = OAuthClientConfig::new(&credentials.client_id, known.issuer());
            if let Some(secret) = secret.or_else(|| self.oauth.client_secret.clone()) {
                client = client.with_client_secret(secret);
            }
            let configured = known.manager.configure_client(client);
            configured.map_err(|error| self.failed(describe(&error)))?;
            state.known = Some(Arc::new(known));
        }
        let Some(known) = state.known.clone() else {
            return Ok(None);
        };
        // In a task, because a call that is cancelled meanwhile would lose the new refresh token, which may be the only one.
        let refreshing =
            tokio::spawn(async move { silent(known.manager.refresh_token()).await.map(drop) });
        let refreshed = refreshing
            .await
            .map_err(|error| self.failed(error.to_string()))?;
        state.current = match refreshed {
            Ok(()) => self.credentials().await?.as_ref().and_then(Current::of),
            Err(AuthError::AuthorizationRequired) => None,
            Err(error) if is_rejected(&error) => {
                // Another program may have used the refresh token, and saved what it got.
                let newer = self.credentials().await?.as_ref().and_then(Current::of);
                let old = Current::of(&credentials).map(|old| old.token);
                let newer = newer.filter(|newer| Some(&newer.token) != old.as_ref());
                if newer.is_none() {
                    let cleared = self.shelf.change(|entry| entry.credentials = None);
                    cleared
                        .await
                        .map_err(|error| self.failed(error.to_string()))?;
                }
                newer
            }
            Err(error) => {
                return Err(self.error("can't renew the token of the server", describe(&error)));
            }
        };
        Ok(state.current.as_ref().map(|current| current.token.clone()))
    }

    /// Gets a token from the start, for these scopes or for the scopes that the server names.
    async fn obtain(
        &self,
        state: &mut State,
        header: &str,
        scopes: BTreeSet<String>,
    ) -> Result<String, NoToken> {
        state.current = None;
        state.known = None;
        if matches!(self.oauth.grant, Grant::Stored) {
            let text =
                "there is no token that it accepts; sign in with a program that has `OAuth::open`";
            return Err(self.failed(text));
        }
        let mut known = self.discovered(Some(header)).await?;
        if state.asked.0 != known.issuer() {
            state.asked = (known.issuer().to_owned(), BTreeSet::new());
        }
        let mut wanted = scopes;
        if wanted.is_empty() {
            wanted.extend(self.oauth.scopes.iter().cloned());
        }
        if wanted.is_empty() {
            wanted.extend(known.manager.select_initial_scopes(&[]).await);
        }
        wanted.extend(state.asked.1.iter().cloned());
        if wanted.len() > MAX_SCOPES || wanted.iter().any(|scope| scope.len() > MAX_SCOPE) {
            return Err(self.failed("it wants more scopes than are asked for"));
        }
        state.asked.1.extend(wanted.iter().cloned());
        let wanted: Vec<_> = wanted.into_iter().collect();
        match &self.oauth.grant {
            Grant::Stored => {}
            Grant::Loopback { .. } | Grant::Redirect { .. } => {
                known = Box::pin(self.ask_user(known, wanted)).await?;
            }
            Grant::ClientCredentials | Grant::PrivateKey { .. } => {
                known = self.ask_as_client(known, wanted).await?;
            }
            Grant::Workload(jwt) => self.ask_as_workload(&known, jwt, wanted).await?,
            Grant::Enterprise(provider) => self.ask_provider(&known, provider, wanted).await?,
        }
        state.known = Some(Arc::new(known));
        let credentials = self.credentials().await?;
        let response = credentials
            .as_ref()
            .and_then(|stored| stored.token_response.as_ref());
        let kind = response.map(|response| json!(response.token_type()));
        if let Some(kind) = kind
            && !kind
                .as_str()
                .is_some_and(|kind| kind.eq_ignore_ascii_case("bearer"))
        {
            let cleared = self.shelf.change(|entry| entry.credentials = None).await;
            cleared.map_err(|error| self.failed(error.to_string()))?;
            return Err(self.failed(format!(
                "its token is of the type {kind}, and only bearer tokens are supported"
            )));
        }
        state.current = credentials.as_ref().and_then(Current::of);
        let current = state.current.as_ref();
        current
            .map(|current| current.token.clone())
            .ok_or_else(|| self.failed("the store of the tokens has lost what was saved"))
    }
}

/// Splits a list of scopes, `None` if it is too long.
fn scopes(list: &str) -> Option<BTreeSet<String>> {
    let scopes: BTreeSet<_> = list.split_whitespace().map(str::to_owned).collect();
    let fits = scopes.len() <= MAX_SCOPES && scopes.iter().all(|scope| scope.len() <= MAX_SCOPE);
    fits.then_some(scopes)
}

/// Returns `true` if an authorization server will not accept a refresh token any more. Other errors pass.
fn is_rejected(error: &AuthError) -> bool {
    match error {
        AuthError::TokenRefreshRejected(_) => true,
        // An answer with an error, such as `invalid_client`, in the words of `oauth2`.
        AuthError::TokenRefreshFailed(text) => text.starts_with("Server returned error response"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_scopes_is_bounded() {
        assert_eq!(scopes(" a  b a ").unwrap().len(), 2);
        assert!(scopes(&"s".repeat(MAX_SCOPE)).is_some());
        assert!(scopes(&"s".repeat(MAX_SCOPE + 1)).is_none());
        let many = |count: usize| (0..count).map(|n| format!("s{n} ")).collect::<String>();
        assert!(scopes(&many(MAX_SCOPES)).is_some());
        assert!(scopes(&many(MAX_SCOPES + 1)).is_none());
    }
}
