//! Signs in: as a user, as the program itself, or by the identity provider of a platform or a company.

use std::time::Duration;

use oauth2::{ClientSecret, TokenResponse};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rmcp::transport::auth::enterprise::{
    EmaAuthorizationServer, EmaClientAuthentication, EmaExchangeRequest,
};
use rmcp::transport::auth::{
    AuthError, AuthorizationRequest, AuthorizationSession, ClientCredentialsConfig,
    JwtSigningAlgorithm, OAuthClientConfig, OAuthTokenResponse, StoredCredentials,
    default_oauth_http_client,
};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::time::timeout;

use super::discovery::{Known, describe, silent};
use super::redirect::{Callback, Listener, Refused, denied};
use super::session::{Session, now};
use super::shelf::Registered;
use super::{Enterprise, Get, Grant, JwtAlgorithm};
use crate::import::error::chain;
use crate::import::http::error::NoToken;

/// The longest time to exchange a JWT.
const EXCHANGE: Duration = Duration::from_secs(30);

/// The longest answer, in bytes, as `rmcp` has it.
const MAX_RESPONSE: usize = 1 << 20;

impl Session {
    /// Lets a user sign in.
    pub(super) async fn ask_user(
        &self,
        known: Known,
        scopes: Vec<String>,
    ) -> Result<Known, NoToken> {
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
    pub(super) async fn ask_as_client(
        &self,
        mut known: Known,
        scopes: Vec<String>,
    ) -> Result<Known, NoToken> {
        let failed = |error: AuthError| self.failed(describe(&error));
        let mut config = self.client_credentials(scopes, self.server()?.to_string());
        known
            .manager
            .validate_client_credentials_metadata(&config)
            .map_err(failed)?;
        let configured = known.manager.configure_client_credentials(&config);
        configured.map_err(failed)?;
        // The value from the protected resource metadata, which `rmcp` exposes in this URL alone.
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

    /// Signs in with the JWT of a platform, once.
    pub(super) async fn ask_as_workload(
        &self,
        known: &Known,
        jwt: &Get,
        scopes: Vec<String>,
    ) -> Result<(), NoToken> {
        let jwt = jwt().await;
        let jwt = jwt.map_err(|error| self.failed(format!("there is no JWT: {error}")))?;
        let jwt = jwt.trim();
        self.secrets.add_token(jwt);
        let mut form = vec![
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", jwt),
            ("resource", self.server()?.as_str()),
        ];
        let client_id = self.oauth.client_id.as_deref().unwrap_or_default();
        let scope = scopes.join(" ");
        let optional = [("client_id", client_id), ("scope", &scope)];
        form.extend(optional.into_iter().filter(|(_, value)| !value.is_empty()));
        let mut encoded = self.server()?.clone();
        encoded.query_pairs_mut().clear().extend_pairs(form);
        let http = Client::builder().redirect(Policy::none()).timeout(EXCHANGE);
        let http = http.build().map_err(|error| self.failed(chain(&error)))?;
        let sent = http
            .post(&known.metadata.token_endpoint)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(ACCEPT, "application/json")
            .body(encoded.query().unwrap_or_default().to_owned());
        let response = silent(sent.send()).await;
        let mut response = response.map_err(|error| self.failed(chain(&error.without_url())))?;
        let mut body = Vec::new();
        while let Some(part) = silent(response.chunk())
            .await
            .map_err(|error| self.failed(chain(&error.without_url())))?
        {
            body.extend_from_slice(&part);
            if body.len() > MAX_RESPONSE {
                return Err(self.failed("the answer of its authorization server is too long"));
            }
        }
        if !response.status().is_success() {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let error = body["error"].as_str().filter(|error| error.len() < 100);
            return Err(self.failed(format!(
                "its authorization server does not accept the JWT of this program: {} (status {})",
                error.unwrap_or("it does not say why"),
                response.status().as_u16()
            )));
        }
        let mut token: OAuthTokenResponse =
            serde_json::from_slice(&body).map_err(|_| self.failed("the token can't be read"))?;
        // The platform decides how long the workload has its identity.
        token.set_refresh_token(None);
        let granted = token.scopes().map_or(scopes, |granted| {
            granted.iter().map(|scope| scope.to_string()).collect()
        });
        self.keep(known, client_id, token, granted).await
    }

    /// Signs in by the identity provider of a company.
    pub(super) async fn ask_provider(
        &self,
        known: &Known,
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
        let scopes = token.scopes.into_iter().collect();
        self.keep(known, client_id, response, scopes).await
    }

    /// Saves a token.
    async fn keep(
        &self,
        known: &Known,
        client_id: &str,
        response: OAuthTokenResponse,
        scopes: Vec<String>,
    ) -> Result<(), NoToken> {
        let client_id = client_id.to_owned();
        let credentials = StoredCredentials::new(client_id, Some(response), scopes, Some(now()));
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

#[cfg(test)]
mod tests {
    use super::*;

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
