//! A request, as an application sees it.

use std::fmt;
use std::sync::Arc;

use rmcp::model::ProtocolVersion;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;
use tool_core::ToolCall;
use tool_core::registry::ResultScope;

use crate::apps::is_supported;

/// A request of a client, as [`Server::identity`](crate::Server::identity) sees it.
///
/// ```
/// use tool_mcp::server::Request;
///
/// /// A line for the log.
/// fn describe(request: &Request<'_>) -> String {
///     let (name, version) = request.client().unwrap_or_default();
///     let way = if request.is_http() { "HTTP" } else { "a stream" };
///     format!("{name} {version} over {way}")
/// }
/// ```
pub struct Request<'r> {
    source: Source<'r>,
}

/// Where a request is known from.
enum Source<'r> {
    Context(&'r RequestContext<RoleServer>),
    /// The head of an HTTP request whose message is not read yet.
    #[cfg(feature = "server-http")]
    Http(&'r ::http::request::Parts),
}

impl<'r> Request<'r> {
    pub(super) fn new(context: &'r RequestContext<RoleServer>) -> Request<'r> {
        let source = Source::Context(context);
        Request { source }
    }

    #[cfg(feature = "server-http")]
    pub(super) fn of_http(parts: &'r ::http::request::Parts) -> Request<'r> {
        let source = Source::Http(parts);
        Request { source }
    }

    fn context(&self) -> Option<&'r RequestContext<RoleServer>> {
        match self.source {
            Source::Context(context) => Some(context),
            #[cfg(feature = "server-http")]
            Source::Http(_) => None,
        }
    }

    /// Returns the name and version that the client claims. `None` while the server looks for the user of a
    /// session.
    pub fn client(&self) -> Option<(String, String)> {
        let client = self.context()?.client_info()?;
        Some((client.name, client.version))
    }

    /// Returns the protocol version, such as `2026-07-28`. `None` while the server looks for the user of a
    /// session.
    pub fn protocol_version(&self) -> Option<String> {
        let version = self.context()?.protocol_version()?;
        Some(version.as_str().to_owned())
    }

    /// Returns an HTTP header. `None` over other transports, and if it is not text.
    #[cfg(feature = "server-http")]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.http()?.headers.get(name)?.to_str().ok()
    }

    /// Returns the token of the `Authorization` header, if that has the scheme `Bearer`.
    #[cfg(feature = "server-http")]
    pub fn bearer(&self) -> Option<&str> {
        bearer(&self.http()?.headers)
    }

    /// Returns a value that a layer of the HTTP server attached to the request.
    #[cfg(feature = "server-http")]
    pub fn extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.http()?.extensions.get()
    }

    #[cfg(feature = "server-http")]
    fn http(&self) -> Option<&::http::request::Parts> {
        match self.source {
            Source::Context(context) => context.extensions.get(),
            Source::Http(parts) => Some(parts),
        }
    }

    /// Returns `true` if the request came over HTTP.
    pub fn is_http(&self) -> bool {
        #[cfg(feature = "server-http")]
        return self.http().is_some();
        #[cfg(not(feature = "server-http"))]
        false
    }
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No headers, which have secrets.
        f.debug_struct("Request")
            .field("client", &self.client())
            .field("protocol_version", &self.protocol_version())
            .field("is_http", &self.is_http())
            .finish()
    }
}

/// Returns the token of the `Authorization` header, if that has the scheme `Bearer`.
#[cfg(feature = "server-http")]
pub(super) fn bearer(headers: &::http::HeaderMap) -> Option<&str> {
    let header = headers.get(::http::header::AUTHORIZATION)?;
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// Returns `true` for a client of version 2026-07-28 of the protocol or of a later one.
pub(super) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Returns `true` if requests can be made to the client: it is on the other end of a stream, or has a session.
pub(super) fn has_connection(context: &RequestContext<RoleServer>) -> bool {
    #[cfg(feature = "server-http")]
    if let Some(http) = context.extensions.get::<::http::request::Parts>() {
        return http.headers.contains_key("mcp-session-id");
    }
    let _ = context;
    true
}

/// The connection of a client, or its session over HTTP. Other connections have another.
#[derive(Clone)]
pub(super) struct Connection(pub(super) Arc<str>);

/// Returns whose the results of a call are: those of a session and its user. Without a session, they are the user's. The
/// application may have attached another scope.
pub(super) fn result_scope(
    call: &ToolCall,
    context: &RequestContext<RoleServer>,
) -> Option<ResultScope> {
    if let Some(scope) = call.get::<ResultScope>() {
        return Some(scope.clone());
    }
    let user = named(call).map(UserId::as_str);
    let scope = if has_connection(context) {
        let Connection(id) = context.extensions.get()?;
        json!(["mcp session", id, user])
    } else {
        json!(["mcp user", user?])
    };
    Some(ResultScope::new(scope.to_string()))
}

/// Returns `true` if a client supports apps, because such a client hides tools for apps from models.
pub(super) fn has_apps(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    capabilities.is_some_and(|capabilities| is_supported(capabilities.extensions.as_ref()))
}

/// The user that a call is made for. [`Server::identity`](crate::Server::identity) attaches it to calls.
///
/// A task or a question of one user is unknown to another.
///
/// ```
/// use tool_core::ToolCall;
/// use tool_mcp::server::UserId;
///
/// // In a test of a tool, in place of the server.
/// let call = ToolCall::new("call_1", "list_notes", "{}").with(UserId::new("ada"));
/// assert_eq!(call.get::<UserId>().unwrap().as_str(), "ada");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserId(String);

impl UserId {
    /// Creates the id of a user. It must be the same in all requests of the user.
    pub fn new(id: impl Into<String>) -> UserId {
        UserId(id.into())
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of the user on the other end of a stream, where the application does not name one.
pub(super) const LOCAL: &str = "local";

/// Returns the user of a call. An empty name is none.
pub(super) fn named(call: &ToolCall) -> Option<&UserId> {
    let user = call.get::<UserId>();
    user.filter(|user| !user.as_str().trim().is_empty())
}

/// The user and the rights of a token. It does not contain the token.
///
/// A closure of [`Auth::bearer`](super::http::Auth::bearer) returns it, and a [`UserId`] converts into one without scopes.
/// [`Server::identity`](crate::Server::identity) may attach one to a call instead.
///
/// ```
/// use tool_mcp::server::{Token, UserId};
///
/// let token = Token::new(UserId::new("ada")).scopes(["notes:read"]);
/// assert!(token.has("notes:read") && !token.has("notes:write"));
/// assert_eq!(token.user().as_str(), "ada");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    user: UserId,
    scopes: Arc<[String]>,
}

impl Token {
    /// Creates what is known of a token of a user, without scopes.
    pub fn new(user: UserId) -> Token {
        let scopes = Arc::default();
        Token { user, scopes }
    }

    /// Sets the scopes of the token.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Token {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the user of the token.
    pub fn user(&self) -> &UserId {
        &self.user
    }

    /// Returns `true` if the token has this scope.
    pub fn has(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }
}

impl From<UserId> for Token {
    fn from(user: UserId) -> Token {
        Token::new(user)
    }
}

/// The reason to refuse a call. The client sees it.
///
/// Any error converts into it, and any text.
///
/// ```
/// use tool_core::{Registry, ToolCall};
/// use tool_mcp::Server;
/// use tool_mcp::server::{Refusal, Request, UserId};
///
/// fn identify(request: &Request<'_>, call: ToolCall) -> Result<ToolCall, Refusal> {
///     let user = request.header("x-user").ok_or("the header x-user is missing")?;
///     Ok(call.with(UserId::new(user)))
/// }
///
/// let server = Server::new(Registry::new()).identity(identify);
/// # let _ = server;
/// ```
#[derive(Debug)]
pub struct Refusal(pub(super) String);

impl<E: fmt::Display> From<E> for Refusal {
    fn from(reason: E) -> Refusal {
        Refusal(reason.to_string())
    }
}
