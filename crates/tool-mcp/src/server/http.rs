//! Streamable HTTP.
//!
//! | file | what it holds |
//! |---|---|
//! | `auth` | bearer tokens and the metadata of a resource server |
//! | `guard` | what each request passes before the service answers it |
//! | `service` | answers requests by `rmcp`, except calls that it need not read |
//! | `message`, `body` | which calls these are; the body of a request, and its text |
//! | `ruling` | calls that are refused with a status |
//! | `sessions` | the owners of sessions and their number |
//! | `streams` | streams in sessions, which clients resume |
//! | `listener` | connections: their number, time-outs and end |

mod auth;
pub(super) mod body;
mod guard;
mod listener;
mod message;
pub(super) mod ruling;
mod service;
pub(super) mod sessions;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, Uri};
use axum::routing::any;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::runtime::RuntimeFlavor;
use tool_core::Registry;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use self::guard::Guard;
use self::message::{PROTOCOL_VERSION, SESSION_ID};
use self::service::Service;
use self::sessions::Sessions;
use super::builder::Server;
use super::handler::Handler;
use super::serve::ServeError;

pub use self::auth::{Auth, AuthError};

/// The settings of an HTTP server. The defaults are for clients on the same machine.
///
/// If others reach your server, name its `hosts`, set an [`Auth`], and put a proxy before it for TLS.
///
/// Each setting has a method of its name. A new version may have more, so that code outside of this crate can't write
/// `HttpConfig { …, ..Default::default() }` (E0639).
///
/// ```no_run
/// use std::time::Duration;
/// use tokio::net::TcpListener;
/// use tool_core::Registry;
/// use tool_mcp::server::http::HttpConfig;
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let config = HttpConfig::default()
///     .hosts(["tools.example.com"])
///     .sessions(false)
///     .body_timeout(Duration::from_secs(5));
/// let listener = TcpListener::bind("127.0.0.1:8000").await?;
/// tool_mcp::Server::new(Registry::new()).serve(listener, config).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpConfig {
    /// The path of the server. The default is `/mcp`.
    pub path: String,
    /// The accepted values of the `Host` header, with or without a port. The default is the names of this
    /// machine for itself, which keeps pages of other sites out (DNS rebinding). An empty list accepts all.
    pub hosts: Vec<String>,
    /// The accepted values of the `Origin` header, which browsers send, such as `https://app.example.com`, or
    /// `http://localhost:*` for any port. The default is none. Requests without the header are accepted. Pages of
    /// these origins may call the server and read its responses (CORS).
    pub origins: Vec<String>,
    /// `true` if clients before protocol version 2026-07-28 get sessions. This is the default, because
    /// without a session the user can't be asked.
    pub sessions: bool,
    /// The maximum number of sessions. Further clients get 503. The default is 2,000, which take about 150
    /// MB.
    pub max_sessions: usize,
    /// The maximum number of sessions of a user with a [`UserId`](super::UserId). Further clients of the
    /// user get 429. The default is 200.
    pub max_sessions_per_user: usize,
    /// How long a session is kept without a message in either direction. The default is 5 minutes. A call
    /// that takes longer without a report of progress ends with its session.
    pub session_idle: Duration,
    /// The maximum size of a body in bytes. The default is 4 MiB. A longer body is rejected with 413.
    pub max_body_bytes: usize,
    /// How long a body may take. The default is 30 seconds. A slower one is rejected with 408.
    pub body_timeout: Duration,
    /// The most connections. Further clients get 503. The default is 2,048.
    pub max_connections: usize,
    /// How long the head of a request may take, and how long a connection is kept without a request. The
    /// default is 30 seconds.
    pub head_timeout: Duration,
    /// How long a client may read nothing while the server has something to send. The default is 30 seconds.
    pub write_timeout: Duration,
    /// How long calls may continue after the signal to shut down. The default is 10 seconds.
    pub shutdown_timeout: Duration,
    /// Checks bearer tokens. The default is not to.
    pub auth: Option<Auth>,
}

impl Default for HttpConfig {
    fn default() -> HttpConfig {
        HttpConfig {
            path: "/mcp".into(),
            hosts: ["localhost", "127.0.0.1", "::1"].map(Into::into).to_vec(),
            origins: Vec::new(),
            sessions: true,
            max_sessions: 2000,
            max_sessions_per_user: 200,
            session_idle: Duration::from_secs(300),
            max_body_bytes: 4 << 20,
            body_timeout: Duration::from_secs(30),
            max_connections: 2048,
            head_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(10),
            auth: None,
        }
    }
}

macro_rules! settings {
    ($($name:ident: $type:ty,)*) => {$(
        #[doc = concat!("Sets the field `", stringify!($name), "`.")]
        pub fn $name(mut self, $name: $type) -> HttpConfig {
            self.$name = $name;
            self
        }
    )*};
}

/// Settings.
impl HttpConfig {
    /// Sets the field `path`.
    pub fn path(mut self, path: impl Into<String>) -> HttpConfig {
        self.path = path.into();
        self
    }

    /// Sets the field `hosts`.
    pub fn hosts(mut self, hosts: impl IntoIterator<Item: Into<String>>) -> HttpConfig {
        self.hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the field `origins`.
    pub fn origins(mut self, origins: impl IntoIterator<Item: Into<String>>) -> HttpConfig {
        self.origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the field `auth`.
    pub fn auth(mut self, auth: Auth) -> HttpConfig {
        self.auth = Some(auth);
        self
    }

    settings! {
        sessions: bool,
        max_sessions: usize,
        max_sessions_per_user: usize,
        session_idle: Duration,
        max_body_bytes: usize,
        body_timeout: Duration,
        max_connections: usize,
        head_timeout: Duration,
        write_timeout: Duration,
        shutdown_timeout: Duration,
    }
}

impl<H: ServerHandler> Server<H> {
    /// Returns a router for an `axum` server of your own.
    ///
    /// It checks hosts, origins, tokens, owners of sessions, the bytes and the time of bodies and the
    /// number of sessions. It doesn't manage connections, so you set `TCP_NODELAY`, limit their number and
    /// the time of heads and writes, and end them. `max_connections`, `head_timeout`, `write_timeout` and
    /// `shutdown_timeout` have no effect.
    ///
    /// # Panics
    ///
    /// Panics if the path does not start with `/`.
    pub fn router(self, config: HttpConfig) -> Router {
        router(
            self.into_handler(),
            config,
            StreamableHttpServerConfig::default(),
        )
    }

    /// Serves clients over HTTP/1.1, until the future is dropped.
    ///
    /// ```no_run
    /// use tokio::net::TcpListener;
    /// use tool_core::Registry;
    /// use tool_mcp::server::http::HttpConfig;
    ///
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = TcpListener::bind("127.0.0.1:8000").await?;
    /// let server = tool_mcp::Server::new(Registry::linked()?);
    /// server.serve(listener, HttpConfig::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the listener fails.
    ///
    /// # Panics
    ///
    /// Panics if the path does not start with `/`.
    pub async fn serve(self, listener: TcpListener, config: HttpConfig) -> Result<(), ServeError> {
        self.serve_until(listener, config, std::future::pending())
            .await
    }

    /// Serves clients over HTTP/1.1, until a signal. Then streams of notifications and idle connections end at
    /// once, and calls may continue for `shutdown_timeout`.
    ///
    /// ```no_run
    /// use tool_core::Registry;
    /// use tool_mcp::server::http::HttpConfig;
    ///
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
    /// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    /// let shutdown = async { drop(stopped.await) };
    /// let server = tool_mcp::Server::new(Registry::linked()?);
    /// server.serve_until(listener, HttpConfig::default(), shutdown).await?;
    /// # drop(stop);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the listener fails.
    ///
    /// # Panics
    ///
    /// Panics if the path does not start with `/`.
    pub async fn serve_until(
        self,
        listener: TcpListener,
        config: HttpConfig,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        listener
            .local_addr()
            .map_err(|error| ServeError(error.to_string()))?;
        let handler = self.into_handler();
        let core = handler.core.clone();
        warn_of_blocking(&core.registry);
        let settings = StreamableHttpServerConfig::default();
        // Ends the sessions, also if the future is dropped.
        let _sessions = settings.cancellation_token.clone().drop_guard();
        let router = router(handler, config.clone(), settings);
        let mut connections =
            listener::accept(listener, &router, &config, &core.closing, shutdown).await;
        core.closing.send_replace(true);
        let ended = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(config.shutdown_timeout, ended)
            .await
            .is_err()
        {
            tracing::warn!(
                connections = connections.len(),
                "calls took too long to end"
            );
        }
        connections.shutdown().await;
        Ok(())
    }
}

/// Logs a warning if one sync tool would keep all clients waiting.
fn warn_of_blocking(registry: &Registry) {
    let runtime = tokio::runtime::Handle::current();
    if runtime.runtime_flavor() != RuntimeFlavor::CurrentThread {
        return;
    }
    if let Some(tool) = registry.specs().iter().find(|tool| tool.keeps_thread()) {
        tracing::warn!(
            tool = &*tool.spec().name,
            "a call of a sync tool keeps all clients waiting: use a runtime with several threads, or mark the tool \
             `blocking`"
        );
    }
}

fn router<H: ServerHandler>(
    handler: Handler<H>,
    config: HttpConfig,
    settings: StreamableHttpServerConfig,
) -> Router {
    let origins: Vec<_> = config.origins.into_iter().map(with_port).collect();
    let browsers = (!origins.is_empty()).then(|| cors(origins.clone()));
    let settings = settings
        .with_allowed_hosts(config.hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_legacy_session_mode(config.sessions)
        // The body is limited before.
        .with_max_request_body_bytes(usize::MAX)
        // The sessions send it.
        .with_sse_retry(None)
        // The guard does it.
        .with_sse_keep_alive(None)
        .with_json_response(true);
    keep_freed_memory();
    let sessions = Sessions::new(
        config.max_sessions,
        config.max_sessions_per_user,
        config.session_idle,
    );
    let made = handler.clone();
    let rmcp = StreamableHttpService::new(move || Ok(made.clone()), Arc::new(sessions), settings);
    let service = Service {
        handler,
        rmcp,
        max_body_bytes: config.max_body_bytes,
        body_timeout: config.body_timeout,
    };
    let guard = Arc::new(Guard {
        service,
        auth: config.auth.clone(),
        sessions: config.sessions,
    });
    let route = any(move |request: Request| {
        let guard = guard.clone();
        async move { guard.handle(request).await }
    });
    let router = Router::new().route(&config.path, route);
    let router = match config.auth {
        Some(auth) => auth.add_metadata(router),
        None => router,
    };
    match browsers {
        // Outside of the checks: a browser asks without a token.
        Some(layer) => router.layer(layer),
        None => router,
    }
}

/// Lets glibc keep 2 MiB of freed memory, in place of 256 KiB, which a list of 200 tools exceeds: it would
/// return the memory of each response to the kernel and get it back for the next one, a quarter of the cost
/// of a list. glibc keeps twice the size of the largest separately mapped allocation that was freed. This
/// one is never touched.
fn keep_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 20)));
}

/// Tells browsers which pages may call the server, and which response headers they may read.
fn cors(origins: Vec<String>) -> CorsLayer {
    let is_allowed = move |origin: &HeaderValue, _: &Parts| is_allowed(&origins, origin);
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(is_allowed))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // Headers of the protocol start with `Mcp-`, and tools add some.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([SESSION_ID, PROTOCOL_VERSION, WWW_AUTHENTICATE, RETRY_AFTER])
        .max_age(Duration::from_secs(600))
}

/// Returns `true` for an origin of a list, whose entries have ports.
fn is_allowed(origins: &[String], origin: &HeaderValue) -> bool {
    let Ok(origin) = origin.to_str() else {
        return false;
    };
    let origin = with_port(origin.to_owned());
    origins
        .iter()
        .any(|allowed| match allowed.strip_suffix('*') {
            Some(start) => {
                let (head, port) = origin.split_at(origin.rfind(':').map_or(0, |colon| colon + 1));
                head.eq_ignore_ascii_case(start) && port.bytes().all(|byte| byte.is_ascii_digit())
            }
            None => origin.eq_ignore_ascii_case(allowed),
        })
}

/// Adds the port that an origin implies. `rmcp` takes an origin without a port for one of any port.
fn with_port(origin: String) -> String {
    if origin.ends_with(":*") {
        return origin;
    }
    let uri = origin.parse::<Uri>().unwrap_or_default();
    let port = match (uri.scheme_str(), uri.port()) {
        (Some("http"), None) => ":80",
        (Some("https"), None) => ":443",
        _ => return origin,
    };
    let end = origin.trim_end_matches('/').len();
    format!("{}{port}", &origin[..end])
}
