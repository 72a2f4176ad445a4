//! [`Shelf`]: the tokens of one import in a store.

use std::sync::Arc;

use async_trait::async_trait;
use oauth2::TokenResponse;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};

use super::store::{OAuthError, TokenStore};
use crate::import::secrets::Secrets;

/// The entry of a store for a key.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct Entry {
    #[serde(default)]
    pub(super) credentials: Option<StoredCredentials>,
    /// The client that this program registered.
    #[serde(default)]
    pub(super) registered: Option<Registered>,
}

#[derive(Clone, Deserialize, Serialize)]
pub(super) struct Registered {
    pub(super) issuer: String,
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) redirect: String,
}

/// The place of one import in a store.
#[derive(Clone)]
pub(super) struct Shelf {
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) key: String,
    pub(super) secrets: Secrets,
    /// Locked while tokens are refreshed, also when the call that needs them has ended.
    pub(super) refreshing: Arc<tokio::sync::Mutex<()>>,
}

impl Shelf {
    pub(super) async fn load(&self) -> Result<Entry, OAuthError> {
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

    pub(super) async fn change(
        &self,
        change: impl FnOnce(&mut Entry) + Send,
    ) -> Result<(), OAuthError> {
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
