//! Finds the authorization server of a server, and checks its addresses.

use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata};
use tokio::time::timeout;
use tracing::instrument::WithSubscriber;

use super::shelf::Shelf;
use crate::import::error::chain;
use crate::import::http::challenge::{is_confidential, is_loopback};

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

/// Finds the authorization server of a server. `header` is what the server says of it, and `expected` the only issuer that the
/// application allows.
pub(super) async fn discover(
    server: &Url,
    header: Option<&str>,
    shelf: Shelf,
    expected: Option<&str>,
) -> Result<Known, String> {
    let mut manager = AuthorizationManager::new(server.as_str())
        .await
        .map_err(|error| describe(&error))?;
    manager.set_credential_store(shelf);
    let header = header.filter(|header| !header.is_empty());
    let resolving = silent(manager.resolve_metadata_from_challenge(header));
    let found = timeout(DISCOVERY, resolving).await;
    let found = found
        .map_err(|_| format!("its authorization server was not found within {DISCOVERY:?}"))?
        .map_err(|error| describe(&error))?;
    if !found.source.is_discovered() {
        let text = "it does not say where its authorization server is; if it takes a token that you have, use \
                    `ImportBuilder::bearer`";
        return Err(text.into());
    }
    check(&found.metadata, server)?;
    let issuer = found.metadata.issuer.as_deref().unwrap_or_default();
    if let Some(expected) = expected
        && expected.trim_end_matches('/') != issuer.trim_end_matches('/')
    {
        return Err(format!(
            "it names the authorization server {issuer}, and `OAuth::issuer` allows {expected} alone"
        ));
    }
    manager.set_metadata(found.metadata.clone());
    Ok(Known {
        manager,
        metadata: found.metadata,
    })
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

/// Runs a step of `rmcp`, which logs codes and vendors' tokens at the level `DEBUG`, without a log.
pub(super) async fn silent<T>(step: impl Future<Output = T>) -> T {
    step.with_subscriber(tracing::Dispatch::none()).await
}

/// Words an error of `rmcp`, with its sources.
pub(super) fn describe(error: &AuthError) -> String {
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
        error => chain(error),
    }
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
