//! The Model Context Protocol for [`tool_core`], both ways.
//!
//! - [`Server`] serves the tools of a registry over standard input and output and over streamable HTTP, to
//!   clients of protocol version 2026-07-28 (stateless) and of the versions before it (`initialize`).
//! - [`Import`] adds the tools of another server to a registry.
//! - [`submodel`] gives a model tools that ask helper models, which are child processes.
//!
//! # Layers
//!
//! | module | what it holds |
//! |---|---|
//! | `server` | [`Server`]: lists, calls, progress, cancellation, questions to the user, tasks |
//! | `server::http` | streamable HTTP: the listener, its limits, the router |
//! | `import` | [`Import`]: connections to other servers, their tools, restarts |
//! | `submodel` | [`Submodels`](submodel::Submodels): helper models, over both of the above |
//!
//! Messages, sessions and transports come from [`rmcp`]. Its types appear only where an application
//! joins a handler of its own ([`Server::with_handler`]).
//!
//! # `serde_json/preserve_order`
//!
//! This crate turns on the feature `preserve_order` of `serde_json`, because `rmcp` holds schemas as
//! `serde_json::Map`, which would otherwise sort the parameters of a tool. The feature applies to the whole
//! build: every `serde_json::Map` and `Value` of the application then keeps the order of its keys.
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod import;
#[cfg(any(feature = "client", feature = "server"))]
mod lines;
#[cfg(feature = "server")]
pub mod server;
#[cfg(any(feature = "client", feature = "server"))]
mod sorted_json;
#[cfg(feature = "submodel")]
pub mod submodel;

#[cfg(any(feature = "client", feature = "server"))]
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "client")]
pub use import::{
    Backoff, Elicitation, HeldTool, Import, ImportBuilder, ImportError, ImportErrorKind, Protocol,
    RejectedTool, Report, Status, TakenTool,
};
#[cfg(feature = "server")]
pub use server::Server;

/// Locks a mutex, even if a thread panicked while it held the lock.
#[cfg(any(feature = "client", feature = "server"))]
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes bytes in hexadecimal.
#[cfg(any(feature = "client", feature = "server"))]
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
