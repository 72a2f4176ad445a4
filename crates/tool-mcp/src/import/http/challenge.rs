//! What a server answers to a token, and where tokens may go.

#[cfg(feature = "oauth")]
use reqwest::Url;
#[cfg(feature = "oauth")]
use rmcp::transport::auth::WWWAuthenticateParams;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::net::IpAddr;

use super::error::Error;

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
                lacks_scope(header).then(|| Challenge::Scope(header.clone()))
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

/// Returns `true` if a `WWW-Authenticate` header says that the token lacks scopes.
#[cfg(feature = "oauth")]
fn lacks_scope(header: &str) -> bool {
    // For relative addresses, which are not used here.
    let base = Url::parse("https://localhost");
    base.is_ok_and(|base| WWWAuthenticateParams::parse(header, &base).is_insufficient_scope())
}

/// Returns `true` if nobody can read the requests to a URL on the way, because they are encrypted or stay
/// on this machine.
pub(in crate::import) fn is_confidential(url: &reqwest::Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}

/// Returns `true` for `localhost` and the addresses of this machine alone.
pub(in crate::import) fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
