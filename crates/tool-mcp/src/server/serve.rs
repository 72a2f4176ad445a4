//! Serves clients over streams.

use std::fmt;
use std::sync::Arc;

use rmcp::ServerHandler;
use rmcp::service::{ServerInitializeError, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};
use tool_core::Registry;

use super::builder::Server;
use super::core::Core;
use super::handler::{Handler, NoHandler};
use super::lines::LineTransport;
use super::options::Options;
use super::task_settings::TaskPolicy;

impl Server {
    /// Creates a server of the tools of a registry.
    pub fn new(registry: Registry) -> Server {
        Server {
            registry,
            options: Options::default(),
            handler: NoHandler,
        }
    }
}

impl<H: ServerHandler> Server<H> {
    /// Serves one client over standard input and output, until it closes standard input. Nothing else may
    /// write to standard output: log to standard error.
    ///
    /// ```no_run
    /// use tool_core::Registry;
    ///
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// tool_mcp::Server::new(Registry::linked()?).name("notes", "1.0.0").stdio().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the client breaks the protocol before the first request.
    pub async fn stdio(self) -> Result<(), ServeError> {
        let (stdin, stdout) = rmcp::transport::stdio();
        self.serve_stream(stdin, stdout).await
    }

    /// Serves one client over a pair of streams, such as the two sides of a socket, until it closes its side. One
    /// message a line.
    ///
    /// # Errors
    ///
    /// Returns an error if the client breaks the protocol before the first request.
    pub async fn serve_stream(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let transport = LineTransport::new(input, output);
        // Boxed, because it is large: callers would hold it in their own futures.
        match Box::pin(serve_server(self.into_handler(), transport)).await {
            Ok(running) => match running.waiting().await {
                Ok(_) => Ok(()),
                Err(error) => Err(ServeError(error.to_string())),
            },
            // The client left before its first request.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(ServeError(error.to_string())),
        }
    }

    /// Returns a handler for the transports of `rmcp`. Clones share everything.
    pub fn into_handler(mut self) -> Handler<H> {
        let tools = self.registry.specs();
        if self.options.policies.is_none() && tools.iter().any(|tool| tool.is_background()) {
            self = self.tasks(|tool| {
                if tool.is_background() {
                    TaskPolicy::Optional
                } else {
                    TaskPolicy::Never
                }
            });
        }
        let info = self.options.info(
            self.handler.get_info(),
            self.registry.result_store().is_some(),
        );
        Handler::new(
            Core::new(self.registry, self.options),
            info,
            Arc::new(self.handler),
        )
    }
}

/// The error of a server that can't go on.
///
/// ```no_run
/// use tool_core::Registry;
///
/// # async fn serve() {
/// if let Err(error) = tool_mcp::Server::new(Registry::new()).stdio().await {
///     // Standard output belongs to the protocol.
///     eprintln!("the server ended: {error}");
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct ServeError(pub(crate) String);

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ServeError {}
