#![doc = include_str!("../README.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "client", feature = "server"))]
mod apps;
#[cfg(any(feature = "client", feature = "server"))]
mod change;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
mod gateway;
#[cfg(any(doc, doctest))]
pub mod guide;
#[cfg(feature = "client")]
mod import;
#[cfg(any(feature = "client", feature = "server"))]
mod lines;
#[cfg(feature = "server")]
mod protocol_error;
#[cfg(feature = "server")]
pub mod server;
#[cfg(any(feature = "client", feature = "server"))]
mod sorted_json;
#[cfg(feature = "submodel")]
pub mod submodel;

#[cfg(any(feature = "client", feature = "server"))]
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "oauth")]
pub use import::oauth;
#[cfg(feature = "client")]
pub use import::{
    Backoff, Elicitation, HeldTool, Import, ImportBuilder, ImportError, ImportErrorKind, LogLevel,
    LogMessage, Protocol, RejectedTool, Report, Sample, Status, TakenTool,
};
#[cfg(feature = "server")]
pub use server::builder::Server;

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
