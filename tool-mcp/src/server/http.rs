//! Streamable HTTP.

use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::{ServeError, Server};

/// The settings of an HTTP server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpConfig {
    /// The path of the server. The default is `/mcp`.
    pub path: String,
    /// The accepted values of the `Host` header, with or without a port. The default is the names of this
    /// machine for itself, which keeps pages of other sites out (DNS rebinding).
    pub hosts: Vec<String>,
    /// The accepted values of the `Origin` header, which browsers send. The default is none.
    pub origins: Vec<String>,
    /// `true` if clients before protocol version 2026-07-28 get sessions, without which the user can't be
    /// asked. This is the default.
    pub sessions: bool,
}

impl Default for HttpConfig {
    fn default() -> HttpConfig {
        HttpConfig {
            path: "/mcp".into(),
            hosts: ["localhost", "127.0.0.1", "::1"].map(Into::into).to_vec(),
            origins: Vec::new(),
            sessions: true,
        }
    }
}

impl<H: ServerHandler> Server<H> {
    /// Returns a router for an `axum` server of your own. Set `TCP_NODELAY` on its connections.
    pub fn router(self, config: HttpConfig) -> Router {
        let handler = self.into_handler();
        let settings = StreamableHttpServerConfig::default()
            .with_allowed_hosts(config.hosts)
            .with_allowed_origins(config.origins)
            .enforce_origin_validation()
            .with_legacy_session_mode(config.sessions)
            .with_json_response(true);
        let sessions = Arc::new(LocalSessionManager::default());
        let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, settings);
        Router::new().route_service(&config.path, service)
    }

    /// Serves clients over HTTP.
    ///
    /// # Errors
    ///
    /// Returns an error if the listener fails.
    pub async fn serve(self, listener: TcpListener, config: HttpConfig) -> Result<(), ServeError> {
        // Without it, each message of a session waits for the acknowledgement of the one before.
        let listener = listener.tap_io(|stream| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "can't set TCP_NODELAY");
            }
        });
        axum::serve(listener, self.router(config))
            .await
            .map_err(|error| ServeError(error.to_string()))
    }
}
