//! Bearer tokens, as an OAuth resource server checks them.

use std::fmt;
use std::sync::Arc;

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{Router, get};
use serde_json::json;
use tool_core::runtime::BoxFuture;

use crate::server::request::{Token, bearer};

/// The path of the metadata (RFC 9728, section 3).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

type Check = dyn Fn(String) -> BoxFuture<Result<Token, AuthError>> + Send + Sync;

/// Checks the bearer token of each HTTP request. A request without a valid one gets 401.
///
/// The user of the token is the user of the calls: a [`UserId`](crate::server::UserId) is attached to them, and
/// [`Request::extension`](crate::server::Request::extension) returns it. So is a [`Token`], which has the scopes.
///
/// ```
/// use tool_mcp::server::UserId;
/// use tool_mcp::server::http::{Auth, AuthError, HttpConfig};
///
/// let auth = Auth::bearer(|token| async move {
///     // Verify the signature, the expiry and the audience, or ask the authorization server.
///     if token == "secret" { Ok(UserId::new("ada")) } else { Err(AuthError::InvalidToken) }
/// });
/// let auth = auth.resource("https://tools.example.com/mcp", ["https://login.example.com"]);
/// let config = HttpConfig::default().auth(auth);
/// # let _ = config;
/// ```
#[derive(Clone)]
pub struct Auth {
    check: Arc<Check>,
    resource: Option<Arc<Resource>>,
    scopes: Vec<String>,
}

/// The content of the metadata.
struct Resource {
    url: String,
    path: String,
    metadata_url: String,
    servers: Vec<String>,
}

/// The reason to reject a token.
///
/// ```
/// use tool_mcp::server::http::{Auth, AuthError};
/// use tool_mcp::server::{Token, UserId};
///
/// /// Verifies a token, and reads its claims.
/// async fn check(token: String) -> Result<Token, AuthError> {
///     match &*token {
///         "secret of ada" => Ok(Token::new(UserId::new("ada")).scopes(["notes:read"])),
///         "of another server" => Err(AuthError::InvalidToken),
///         "without scopes" => Err(AuthError::InsufficientScope("notes:read".into())),
///         _ => Err(AuthError::Unavailable),
///     }
/// }
///
/// let auth = Auth::bearer(check);
/// # let _ = auth;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthError {
    /// The token is unknown, expired, or for another server. The response is 401.
    InvalidToken,
    /// The token lacks these scopes, separated by spaces. The response is 403.
    InsufficientScope(String),
    /// The token can't be checked at the moment. The response is 503.
    Unavailable,
}

impl Auth {
    /// Calls this closure with the token of each request. It must check that the token is for this server,
    /// because a token for another server is invalid (MCP 2025-11-25, "Token Audience Binding and
    /// Validation").
    ///
    /// The closure returns the [`UserId`](crate::server::UserId) of the token, or a [`Token`] that has the scopes, which
    /// [`Server::scopes`](crate::Server::scopes) needs.
    pub fn bearer<F, T>(check: impl Fn(String) -> F + Send + Sync + 'static) -> Auth
    where
        F: Future<Output = Result<T, AuthError>> + Send + 'static,
        T: Into<Token>,
    {
        Auth {
            check: Arc::new(move |token| {
                let checking = check(token);
                Box::pin(async { checking.await.map(Into::into) })
            }),
            resource: None,
            scopes: Vec::new(),
        }
    }

    /// Serves the metadata of an OAuth resource server, by which clients find the authorization servers
    /// (RFC 9728). The URL is the server's, as clients know it.
    ///
    /// # Panics
    ///
    /// Panics if the URL is not absolute.
    pub fn resource(
        mut self,
        url: impl Into<String>,
        authorization_servers: impl IntoIterator<Item = impl Into<String>>,
    ) -> Auth {
        let url = url.into();
        let parts = url.parse::<Uri>().unwrap_or_default().into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            panic!("the URL {url:?} of a resource is not absolute");
        };
        let path = parts.path_and_query.as_ref();
        let path = path.map_or("", |path| path.path().trim_end_matches('/'));
        self.resource = Some(Arc::new(Resource {
            metadata_url: format!("{scheme}://{authority}{WELL_KNOWN}{path}"),
            path: path.to_owned(),
            url,
            servers: authorization_servers.into_iter().map(Into::into).collect(),
        }));
        self
    }

    /// Names the scopes that clients should ask for.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Auth {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the token of a request, or the response that rejects it.
    pub(super) async fn check(&self, headers: &HeaderMap) -> Result<Token, Response> {
        let Some(token) = bearer(headers) else {
            // No error code for a request without a token (RFC 6750, section 3.1).
            return Err(challenge(
                Some(self),
                StatusCode::UNAUTHORIZED,
                None,
                &self.scopes.join(" "),
            ));
        };
        match (self.check)(token.to_owned()).await {
            Ok(token) => Ok(token),
            Err(AuthError::InvalidToken) => Err(challenge(
                Some(self),
                StatusCode::UNAUTHORIZED,
                Some("invalid_token"),
                &self.scopes.join(" "),
            )),
            Err(AuthError::InsufficientScope(scopes)) => Err(lacks_scopes(Some(self), &scopes)),
            Err(AuthError::Unavailable) => {
                let retry = [(RETRY_AFTER, "5")];
                Err((StatusCode::SERVICE_UNAVAILABLE, retry).into_response())
            }
        }
    }

    /// Adds the metadata to a router.
    pub(super) fn add_metadata(&self, router: Router) -> Router {
        let Some(resource) = &self.resource else {
            return router;
        };
        let mut metadata = json!({
            "resource": resource.url,
            "authorization_servers": resource.servers,
            "bearer_methods_supported": ["header"],
        });
        if !self.scopes.is_empty() {
            metadata["scopes_supported"] = json!(self.scopes);
        }
        let text = metadata.to_string();
        let route = get(move || async move {
            let headers = [
                (CONTENT_TYPE, "application/json"),
                (CACHE_CONTROL, "max-age=3600"),
            ];
            (headers, text)
        });
        let router = router.route(WELL_KNOWN, route.clone());
        if resource.path.is_empty() {
            return router;
        }
        router.route(&format!("{WELL_KNOWN}{}", resource.path), route)
    }
}

/// Returns the response to a token that lacks some of these scopes, which are all that the request needs
/// (RFC 6750, section 3.1, and MCP 2026-07-28, "Runtime Insufficient Scope Errors"): clients add them to
/// the scopes that they have.
pub(super) fn lacks_scopes(auth: Option<&Auth>, scopes: &str) -> Response {
    challenge(
        auth,
        StatusCode::FORBIDDEN,
        Some("insufficient_scope"),
        scopes,
    )
}

fn challenge(
    auth: Option<&Auth>,
    status: StatusCode,
    error: Option<&str>,
    scopes: &str,
) -> Response {
    let resource = auth.and_then(|auth| auth.resource.as_ref());
    let metadata = resource.map(|resource| &*resource.metadata_url);
    let scopes = (!scopes.is_empty()).then_some(scopes);
    let mut text = "Bearer".to_owned();
    let parameters = [
        ("error", error),
        ("scope", scopes),
        ("resource_metadata", metadata),
    ];
    let mut separator = ' ';
    for (name, value) in parameters {
        let Some(value) = value else { continue };
        text.push(separator);
        text.push_str(&format!("{name}=\"{}\"", value.replace(['"', '\\'], "")));
        separator = ',';
    }
    let mut response = status.into_response();
    let value = HeaderValue::from_str(&text);
    let value = value.unwrap_or_else(|_| HeaderValue::from_static("Bearer"));
    response.headers_mut().insert(WWW_AUTHENTICATE, value);
    response
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field(
                "resource",
                &self.resource.as_ref().map(|resource| &resource.url),
            )
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
