//! [`Session`]: the tokens of one import. The protocol is that of `rmcp`; this decides when to use it, and checks
//! what `rmcp` leaves to its caller.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use oauth2::{ClientSecret, TokenResponse};
use reqwest::Url;
use rmcp::transport::auth::enterprise::{
    EmaAuthorizationServer, EmaClientAuthentication, EmaExchangeRequest,
};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationRequest,
    AuthorizationSession, ClientCredentialsConfig, CredentialRefreshGuard, CredentialStore,
    JwtSigningAlgorithm, OAuthClientConfig, OAuthTokenResponse, StoredCredentials,
    WWWAuthenticateParams, default_oauth_http_client,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::instrument::WithSubscriber;

use super::redirect::{Callback, Listener, Refused};
use super::{Enterprise, Grant, JwtAlgorithm, OAuth, OAuthError, TokenStore};
use crate::import::http::{Attempts, Challenge, NoToken, is_confidential, is_loopback};
use crate::import::secrets::Secrets;
use crate::{hex, lock};

/// The longest time to find the authorization server. A server may name many.
const DISCOVERY: Duration = Duration::from_secs(60);

/// A token is renewed so many seconds before it expires, or at half of its time.
const EARLY: u64 = 30;

/// More scopes, or longer ones, are not asked for.
const MAX_SCOPES: usize = 100;
const MAX_SCOPE: usize = 256;

/// The tokens of one import, and what leads to them.
pub(in crate::import) struct Session {
    oauth: OAuth,
    /// The server, without user, query and fragment, which may be secrets. An error if the URL is none.
    server: Result<Url, String>,
    /// The host, for errors.
    host: String,
    secrets: Secrets,
    shelf: Shelf,
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

/// An authorization server, with a client.
struct Known {
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
}

impl Known {
    fn issuer(&self) -> &str {
        self.metadata.issuer.as_deref().unwrap_or_default()
    }
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

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// What a store has for a key.
#[derive(Default, Deserialize, Serialize)]
struct Entry {
    #[serde(default)]
    credentials: Option<StoredCredentials>,
    /// The client that this program registered.
    #[serde(default)]
    registered: Option<Registered>,
}

#[derive(Clone, Deserialize, Serialize)]
struct Registered {
    issuer: String,
    id: String,
    secret: Option<String>,
    redirect: String,
}

/// The place of one import in a store.
#[derive(Clone)]
struct Shelf {
    store: Arc<dyn TokenStore>,
    key: String,
    secrets: Secrets,
    /// Locked while tokens are refreshed, also when the call that needs them has ended.
    refreshing: Arc<tokio::sync::Mutex<()>>,
}

impl Shelf {
    async fn load(&self) -> Result<Entry, OAuthError> {
        let Some(value) = self.store.load(&self.key).await? else {
            return Ok(Entry::default());
        };
        let entry = serde_json::from_str(&value).unwrap_or_else(|_| {
            tracing::warn!(
                key = self.key,
                "stored tokens can't be read, and are not used"
            );
            Entry::default()
        });
        self.add_secrets(&entry);
        Ok(entry)
    }

    async fn change(&self, change: impl FnOnce(&mut Entry) + Send) -> Result<(), OAuthError> {
        let mut entry = self.load().await?;
        change(&mut entry);
        self.add_secrets(&entry);
        let value = serde_json::to_string(&entry)?;
        self.store.save(&self.key, value).await
    }

    fn add_secrets(&self, entry: &Entry) {
        let registered = entry.registered.as_ref();
        if let Some(secret) = registered.and_then(|client| client.secret.as_ref()) {
            self.secrets.add_token(secret);
        }
        let response = entry.credentials.as_ref();
        if let Some(response) = response.and_then(|stored| stored.token_response.as_ref()) {
            self.secrets.add_token(response.access_token().secret());
            if let Some(token) = response.refresh_token() {
                self.secrets.add_token(token.secret());
            }
        }
    }
}

/// `rmcp` saves tokens here by itself.
#[async_trait]
impl CredentialStore for Shelf {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let entry = Shelf::load(self).await;
        entry.map(|entry| entry.credentials).map_err(store_error)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let saved = self.change(|entry| entry.credentials = Some(credentials));
        saved.await.map_err(store_error)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        let cleared = self.change(|entry| entry.credentials = None);
        cleared.await.map_err(store_error)
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let guard = self.refreshing.clone().lock_owned().await;
        Ok(Some(CredentialRefreshGuard::new(guard)))
    }
}

fn store_error(error: OAuthError) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

/// Runs a step of `rmcp`, which logs codes and vendors' tokens at the level `DEBUG`, without a log.
async fn silent<T>(step: impl Future<Output = T>) -> T {
    step.with_subscriber(tracing::Dispatch::none()).await
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

    /// Returns `true` if a `WWW-Authenticate` header says that the token lacks scopes.
    pub(in crate::import) fn lacks_scope(header: &str) -> bool {
        // For relative addresses, which are not used here.
        let base = Url::parse("https://localhost");
        base.is_ok_and(|base| WWWAuthenticateParams::parse(header, &base).is_insufficient_scope())
    }

    fn server(&self) -> Result<&Url, NoToken> {
        self.server.as_ref().map_err(|problem| self.failed(problem))
    }

    fn error(&self, what: &str, why: impl AsRef<str>) -> NoToken {
        let text = format!("{what} ({}): {}", self.host, why.as_ref());
        NoToken::new(&self.secrets, text)
    }

    fn failed(&self, why: impl AsRef<str>) -> NoToken {
        self.error("can't sign in to the server", why)
    }

    /// Returns the token of the next request. `None` if there is none: the server says what it wants.
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

    /// Finds the authorization server.
    async fn discover(&self, header: Option<&str>) -> Result<Known, NoToken> {
        let server = self.server()?;
        let failed = |error: AuthError| self.failed(describe(&error));
        let mut manager = AuthorizationManager::new(server.as_str())
            .await
            .map_err(failed)?;
        manager.set_credential_store(self.shelf.clone());
        let header = header.filter(|header| !header.is_empty());
        let resolving = silent(manager.resolve_metadata_from_challenge(header));
        let found = timeout(DISCOVERY, resolving).await;
        let found = found
            .map_err(|_| {
                self.failed(format!(
                    "its authorization server was not found within {DISCOVERY:?}"
                ))
            })?
            .map_err(failed)?;
        if !found.source.is_discovered() {
            let text = "it does not say where its authorization server is; if it takes a token that you have, use \
                        `ImportBuilder::bearer`";
            return Err(self.failed(text));
        }
        check(&found.metadata, server).map_err(|problem| self.failed(problem))?;
        let issuer = found.metadata.issuer.as_deref().unwrap_or_default();
        if let Some(expected) = &self.oauth.issuer
            && expected.trim_end_matches('/') != issuer.trim_end_matches('/')
        {
            let text = format!(
                "it names the authorization server {issuer}, and `OAuth::issuer` allows {expected} alone"
            );
            return Err(self.failed(text));
        }
        manager.set_metadata(found.metadata.clone());
        Ok(Known {
            manager,
            metadata: found.metadata,
        })
    }

    /// Gets another token than the one that was sent, at most once for a request.
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

    /// Gets a token for the refresh token. `None` if there is none that is accepted.
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
            let mut known = self.discover(None).await?;
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

    /// Gets a token from the start, for these scopes or those that the server names.
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
        let mut known = self.discover(Some(header)).await?;
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
            Grant::Enterprise(provider) => self.ask_provider(&mut known, provider, wanted).await?,
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

    /// Lets a user sign in.
    async fn ask_user(&self, known: Known, scopes: Vec<String>) -> Result<Known, NoToken> {
        let entry = self.shelf.load().await;
        let entry = entry.map_err(|error| self.failed(error.to_string()))?;
        let issuer = known.issuer().to_owned();
        let registered = entry.registered.filter(|client| client.issuer == issuer);
        let (listener, redirect) = match &self.oauth.grant {
            Grant::Loopback { port, .. } => {
                // The port that the authorization server knows.
                let before = registered.as_ref().and_then(|client| {
                    Url::parse(&client.redirect).ok().and_then(|url| url.port())
                });
                let listener = match (port, before) {
                    (None, Some(before)) => match Listener::bind(Some(before)).await {
                        Ok(listener) => Ok(listener),
                        Err(_) => Listener::bind(None).await,
                    },
                    (port, _) => Listener::bind(*port).await,
                };
                let listener = listener.map_err(|error| {
                    self.failed(format!("the port for the browser can't be opened: {error}"))
                })?;
                let url = listener.url.clone();
                (Some(listener), url)
            }
            Grant::Redirect { url, .. } => (None, url.clone()),
            _ => return Ok(known),
        };
        let registered = registered.filter(|client| client.redirect == redirect);
        let mut request = AuthorizationRequest::new(&redirect)
            .with_initial_scope_selection()
            .with_scopes(scopes)
            .with_client_name(&self.oauth.client_name);
        let reads_metadata = self.oauth.client_metadata.is_some()
            && known
                .metadata
                .additional_fields
                .get("client_id_metadata_document_supported")
                == Some(&true.into());
        let mut registers = false;
        if let Some(id) = &self.oauth.client_id {
            request = request.with_preregistered_client(id);
            if let Some(secret) = &self.oauth.client_secret {
                request = request.with_client_secret(secret);
            }
        } else if let Some(url) = self
            .oauth
            .client_metadata
            .as_ref()
            .filter(|_| reads_metadata)
        {
            request = request.with_client_metadata_url(url);
        } else if let Some(client) = &registered {
            request = request.with_preregistered_client(&client.id);
            if let Some(secret) = &client.secret {
                request = request.with_client_secret(secret);
            }
        } else {
            registers = true;
        }
        let Known {
            mut manager,
            metadata,
        } = known;
        if redirect.starts_with("https://") {
            // Also for `register_client`.
            let client = OAuthClientConfig::new("", &redirect).with_application_type("web");
            let configured = manager.configure_client(client);
            configured.map_err(|error| self.failed(describe(&error)))?;
        }
        let mut new = None;
        if registers {
            if metadata.registration_endpoint.is_none() {
                let text = format!(
                    "its authorization server {issuer} does not register programs; register yours there, and set \
                     `OAuth::client_id`"
                );
                return Err(self.failed(text));
            }
            let scopes: Vec<_> = request.scopes.iter().map(String::as_str).collect();
            let registering =
                silent(manager.register_client(&self.oauth.client_name, &redirect, &scopes));
            let client = registering
                .await
                .map_err(|error| self.failed(describe(&error)))?;
            if let Some(secret) = &client.client_secret {
                self.secrets.add_token(secret);
                request = request.with_client_secret(secret);
            }
            request = request.with_preregistered_client(&client.client_id);
            new = Some(Registered {
                issuer: issuer.clone(),
                id: client.client_id,
                secret: client.client_secret,
                redirect: redirect.clone(),
            });
        }
        let started = silent(AuthorizationSession::new(manager, request)).await;
        let session = started.map_err(|(_, error)| self.failed(describe(&error)))?;
        let done = self.complete(&session, listener, &redirect).await;
        // One that does not work may be forgotten there: the next attempt registers the program again.
        let kept = if done.is_ok() {
            new.or(registered)
        } else {
            None
        };
        let saved = self.shelf.change(|entry| entry.registered = kept).await;
        done?;
        saved.map_err(|error| self.failed(error.to_string()))?;
        Ok(Known {
            manager: session.auth_manager,
            metadata,
        })
    }

    /// Hands the URL to the application, waits for the redirect, and redeems its code.
    async fn complete(
        &self,
        session: &AuthorizationSession,
        listener: Option<Listener>,
        redirect: &str,
    ) -> Result<(), NoToken> {
        let url = session.auth_url.clone();
        let state = Url::parse(&url).ok().and_then(|url| {
            let mut pairs = url.query_pairs();
            pairs
                .find(|(key, _)| key == "state")
                .map(|(_, value)| value.into_owned())
        });
        let state = state.ok_or_else(|| self.failed("its URL has no `state`"))?;
        let signing_in = async {
            match (&self.oauth.grant, listener) {
                (Grant::Loopback { open, .. }, Some(listener)) => {
                    let opening = open(url);
                    let mut opening = std::pin::pin!(opening);
                    let mut waiting = std::pin::pin!(listener.wait(&state));
                    // The closure may wait for something else, such as a window that is closed.
                    let opened = tokio::select! {
                        opened = &mut opening => opened,
                        answer = &mut waiting => return answer,
                    };
                    opened.map_err(|error| format!("the URL can't be opened: {error}"))?;
                    waiting.await
                }
                (Grant::Redirect { ask, .. }, _) => {
                    let answer = ask(url).await;
                    let answer = answer
                        .map_err(|error| format!("the browser did not come back: {error}"))?;
                    read_answer(&answer, redirect, &state)
                }
                _ => Err("there is no way to ask a user".into()),
            }
        };
        let limit = self.oauth.sign_in_timeout;
        let answer = timeout(limit, signing_in).await;
        let answer = answer.map_err(|_| {
            self.failed(format!(
                "nobody signed in within {limit:?}; try again, or set `OAuth::sign_in_timeout`"
            ))
        })?;
        let callback = answer.map_err(|error| self.failed(error))?;
        let exchanging = session.auth_manager.exchange_code_for_token_with_issuer(
            &callback.code,
            &callback.state,
            callback.issuer.as_deref(),
        );
        let exchanged = silent(exchanging).await;
        exchanged.map_err(|error| self.failed(describe(&error)))?;
        Ok(())
    }

    /// Signs in as the program itself.
    async fn ask_as_client(&self, mut known: Known, scopes: Vec<String>) -> Result<Known, NoToken> {
        let failed = |error: AuthError| self.failed(describe(&error));
        let mut config = self.client_credentials(scopes, self.server()?.to_string());
        known
            .manager
            .validate_client_credentials_metadata(&config)
            .map_err(failed)?;
        let configured = known.manager.configure_client_credentials(&config);
        configured.map_err(failed)?;
        // As the protected resource metadata has it, which `rmcp` tells in this URL alone.
        let url = silent(known.manager.get_authorization_url(&[])).await;
        if let Some(url) = url.ok().and_then(|url| Url::parse(&url).ok())
            && let Some((_, found)) = url.query_pairs().find(|(key, _)| key == "resource")
        {
            match &mut config {
                ClientCredentialsConfig::ClientSecret { resource, .. }
                | ClientCredentialsConfig::PrivateKeyJwt { resource, .. } => {
                    *resource = Some(found.into_owned());
                }
                _ => {}
            }
        }
        // The future of `rmcp` 3.11 can't move between threads.
        let runtime = Handle::current();
        let exchanging = tokio::task::spawn_blocking(move || {
            let exchanging = known.manager.exchange_client_credentials(&config);
            let exchanged = runtime.block_on(silent(exchanging));
            exchanged.map(|_| known)
        });
        let exchanged = exchanging
            .await
            .map_err(|error| self.failed(error.to_string()))?;
        exchanged.map_err(failed)
    }

    fn client_credentials(&self, scopes: Vec<String>, resource: String) -> ClientCredentialsConfig {
        let client_id = self.oauth.client_id.clone().unwrap_or_default();
        let resource = Some(resource);
        match &self.oauth.grant {
            Grant::PrivateKey { pem, algorithm } => ClientCredentialsConfig::PrivateKeyJwt {
                client_id,
                signing_key: pem.clone(),
                signing_algorithm: match algorithm {
                    JwtAlgorithm::Rs256 => JwtSigningAlgorithm::RS256,
                    JwtAlgorithm::Rs384 => JwtSigningAlgorithm::RS384,
                    JwtAlgorithm::Rs512 => JwtSigningAlgorithm::RS512,
                    JwtAlgorithm::Es256 => JwtSigningAlgorithm::ES256,
                    JwtAlgorithm::Es384 => JwtSigningAlgorithm::ES384,
                },
                token_endpoint_audience: None,
                scopes,
                resource,
            },
            _ => ClientCredentialsConfig::ClientSecret {
                client_id,
                client_secret: self.oauth.client_secret.clone().unwrap_or_default(),
                scopes,
                resource,
            },
        }
    }

    /// Signs in by the identity provider of a company.
    async fn ask_provider(
        &self,
        known: &mut Known,
        provider: &Enterprise,
        scopes: Vec<String>,
    ) -> Result<(), NoToken> {
        let Some(client_id) = &self.oauth.client_id else {
            return Err(self.failed(
                "set `OAuth::client_id` to the id of this program at the authorization server",
            ));
        };
        let id_token = (provider.id_token)().await;
        let id_token =
            id_token.map_err(|error| self.failed(format!("there is no ID token: {error}")))?;
        self.secrets.add_token(&id_token);
        let basic = |server: EmaAuthorizationServer, secret: Option<&String>| match secret {
            Some(secret) => server.with_client_authentication(
                EmaClientAuthentication::ClientSecretBasic(ClientSecret::new(secret.clone())),
            ),
            None => server,
        };
        let idp = EmaAuthorizationServer::new(
            &provider.issuer,
            &provider.token_endpoint,
            &provider.client_id,
        );
        let idp = basic(idp, provider.client_secret.as_ref());
        let target =
            EmaAuthorizationServer::new(known.issuer(), &known.metadata.token_endpoint, client_id);
        let methods = known
            .metadata
            .additional_fields
            .get("token_endpoint_auth_methods_supported");
        let supports = |method: &str| {
            methods
                .and_then(|methods| methods.as_array())
                .is_none_or(|methods| methods.iter().any(|other| other == method))
        };
        let target = match &self.oauth.client_secret {
            Some(secret) if !supports("client_secret_basic") && supports("client_secret_post") => {
                target.with_client_authentication(EmaClientAuthentication::ClientSecretPost(
                    ClientSecret::new(secret.clone()),
                ))
            }
            secret => basic(target, secret.as_ref()),
        };
        let http = default_oauth_http_client().map_err(|error| self.failed(describe(&error)))?;
        let resource = self.server()?.to_string();
        let exchange = EmaExchangeRequest::new_with_id_token(idp, target, &resource, &id_token)
            .with_scopes(scopes)
            .exchange(&http, &http);
        let token = silent(exchange).await;
        let token = token.map_err(|error| self.failed(error.to_string()))?;
        let response: OAuthTokenResponse = serde_json::from_value(json!({
            "access_token": token.access_token.secret(),
            "token_type": "bearer",
            "expires_in": token.expires_in.map(|time| time.as_secs()),
        }))
        .map_err(|_| self.failed("the token can't be read"))?;
        let credentials = StoredCredentials::new(
            client_id.clone(),
            Some(response),
            token.scopes.into_iter().collect(),
            Some(now()),
        );
        let credentials = credentials.with_issuer(known.metadata.issuer.clone());
        let saved = self
            .shelf
            .change(|entry| entry.credentials = Some(credentials));
        saved.await.map_err(|error| self.failed(error.to_string()))
    }
}

/// Reads the URL to which a browser came back.
fn read_answer(answer: &str, redirect: &str, state: &str) -> Result<Callback, String> {
    let place = |url: &Url| (url.origin(), url.path().to_owned());
    let url = Url::parse(answer.trim()).ok();
    let url = url.filter(|url| Url::parse(redirect).is_ok_and(|to| place(&to) == place(url)));
    let url = url.ok_or_else(|| {
        format!(
            "the closure of `OAuth::redirect` returned another URL than {redirect} with its query"
        )
    })?;
    Callback::read(&url, state).map_err(|refused| match refused {
        Refused::Foreign(why) => format!("the redirect is not accepted: {why}"),
        Refused::Denied(error) => denied(&error),
    })
}

/// Words what an authorization server answered in place of a code.
pub(super) fn denied(error: &str) -> String {
    format!("the authorization server or the user refused: {error}")
}

/// Splits a list of scopes, `None` if it is too long.
fn scopes(list: &str) -> Option<BTreeSet<String>> {
    let scopes: BTreeSet<_> = list.split_whitespace().map(str::to_owned).collect();
    let fits = scopes.len() <= MAX_SCOPES && scopes.iter().all(|scope| scope.len() <= MAX_SCOPE);
    fits.then_some(scopes)
}

/// Checks the addresses of an authorization server. A browser opens one of them.
fn check(metadata: &AuthorizationMetadata, server: &Url) -> Result<(), String> {
    let addresses = [
        ("issuer", metadata.issuer.as_ref()),
        (
            "authorization endpoint",
            Some(&metadata.authorization_endpoint),
        ),
        ("token endpoint", Some(&metadata.token_endpoint)),
        (
            "registration endpoint",
            metadata.registration_endpoint.as_ref(),
        ),
    ];
    for (name, address) in addresses {
        let Some(address) = address else { continue };
        let url = Url::parse(address).map_err(|error| {
            format!("the {name} of its authorization server is no URL: {error}")
        })?;
        let is_plain = !url.username().is_empty() || url.password().is_some();
        if !is_confidential(&url) || is_plain || (is_loopback(&url) && !is_loopback(server)) {
            return Err(format!(
                "the {name} of its authorization server is {address}: it must start with https:// and not be on this \
                 machine, or all must be on this machine"
            ));
        }
    }
    Ok(())
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

/// Words an error of `rmcp`, with its sources.
fn describe(error: &AuthError) -> String {
    match error {
        AuthError::AuthorizationServerMismatch {
            expected_issuer,
            received_issuer,
        } => format!(
            "the answer is from the issuer {received_issuer}, not from {expected_issuer}: it may be an attack; try \
             again, and tell the operator of the server if it stays"
        ),
        AuthError::AuthorizationServerMissingIssuer { expected_issuer } => {
            format!("the answer does not say that it is from the issuer {expected_issuer}")
        }
        error => crate::import::connection::chain(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(token_endpoint: &str) -> AuthorizationMetadata {
        serde_json::from_value(json!({
            "issuer": "https://auth.example.com",
            "authorization_endpoint": "https://auth.example.com/authorize",
            "token_endpoint": token_endpoint,
        }))
        .unwrap()
    }

    #[test]
    fn addresses_of_an_authorization_server_are_encrypted_and_elsewhere() {
        let public = Url::parse("https://mcp.example.com/mcp").unwrap();
        let local = Url::parse("http://127.0.0.1:1/mcp").unwrap();
        for (address, from_public, from_local) in [
            ("https://auth.example.com/token", true, true),
            ("http://auth.example.com/token", false, false),
            ("https://user:pass@auth.example.com/token", false, false),
            ("http://localhost:1/token", false, true),
            ("https://127.0.0.1/token", false, true),
            ("http://[::1]:1/token", false, true),
            ("http://169.254.169.254/token", false, false),
            ("javascript:alert(1)", false, false),
            ("file:///etc/passwd", false, false),
            ("token", false, false),
        ] {
            let metadata = metadata(address);
            assert_eq!(check(&metadata, &public).is_ok(), from_public, "{address}");
            assert_eq!(check(&metadata, &local).is_ok(), from_local, "{address}");
        }
        let mut other = metadata("https://auth.example.com/token");
        other.authorization_endpoint = "file:///bin/sh".into();
        assert!(check(&other, &public).is_err());
        let mut other = metadata("https://auth.example.com/token");
        other.registration_endpoint = Some("http://auth.example.com/register".into());
        assert!(check(&other, &public).is_err());
        let mut other = metadata("https://auth.example.com/token");
        other.issuer = Some("http://auth.example.com".into());
        assert!(check(&other, &public).is_err());
    }

    #[test]
    fn a_list_of_scopes_is_bounded() {
        assert_eq!(scopes(" a  b a ").unwrap().len(), 2);
        assert!(scopes(&"s".repeat(MAX_SCOPE)).is_some());
        assert!(scopes(&"s".repeat(MAX_SCOPE + 1)).is_none());
        let many = |count: usize| (0..count).map(|n| format!("s{n} ")).collect::<String>();
        assert!(scopes(&many(MAX_SCOPES)).is_some());
        assert!(scopes(&many(MAX_SCOPES + 1)).is_none());
    }

    #[test]
    fn a_redirect_belongs_to_one_sign_in() {
        let redirect = "https://notes.example.com/signed-in";
        let read = |answer: &str| read_answer(answer, redirect, "s1").map(|callback| callback.code);
        assert_eq!(
            read("https://notes.example.com/signed-in?code=c&state=s1").unwrap(),
            "c"
        );
        for (answer, why) in [
            ("https://notes.example.com/signed-in?code=c", "no `state`"),
            (
                "https://notes.example.com/signed-in?code=c&state=s2",
                "another sign-in",
            ),
            (
                "https://notes.example.com/signed-in?code=c&state=s1&state=s2",
                "twice",
            ),
            (
                "https://notes.example.com/signed-in?code=c&code=d&state=s1",
                "twice",
            ),
            ("https://notes.example.com/signed-in?state=s1", "no `code`"),
            (
                "https://notes.example.com/signed-in?error=access_denied&state=s1",
                "access_denied",
            ),
            (
                "https://notes.example.com/other?code=c&state=s1",
                "another URL",
            ),
            (
                "https://evil.example.com/signed-in?code=c&state=s1",
                "another URL",
            ),
            ("c", "another URL"),
        ] {
            let error = read(answer).unwrap_err();
            assert!(error.contains(why), "{answer}: {error}");
        }
    }
}
