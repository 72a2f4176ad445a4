//! Finds the authorization server of a server, and checks its addresses.

use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata};
use tokio::time::timeout;

use super::session::{Session, describe, silent};
use crate::import::http::{NoToken, is_confidential, is_loopback};

/// The longest time to find the authorization server. A server may name many.
const DISCOVERY: Duration = Duration::from_secs(60);

/// An authorization server, with a client.
pub(super) struct Known {
    pub(super) manager: AuthorizationManager,
    pub(super) metadata: AuthorizationMetadata,
}

impl Known {
    pub(super) fn issuer(&self) -> &str {
        self.metadata.issuer.as_deref().unwrap_or_default()
    }
}

impl Session {
    /// Finds the authorization server.
    pub(super) async fn discover(&self, header: Option<&str>) -> Result<Known, NoToken> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

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
}
