//! [`Server`]: the tools of a registry, for clients of the Model Context Protocol.

#[cfg(feature = "server-http")]
pub mod http;

/// Serves the tools of a registry.
#[derive(Debug)]
pub struct Server(());
