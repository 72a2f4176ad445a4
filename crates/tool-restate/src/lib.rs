#![doc = include_str!("../README.md")]

// Modules, from the bottom up.
//
// definition    Restate services with names chosen by the application
// serving       serves services, and ends in order
// cancel        a step that ends when its invocation is cancelled
// once          a call that runs at most once
// version       versions of tools
// tools         `ToolService`: tools for agents in other processes
// stream        serves the text of models while they write it
// error         errors of a client
// message       messages and replies between clients and conversations
// lists         the heads of conversations, by SQL
// events        events of a conversation, and its state between them
// conversation  drives a run on Restate
// agents        `Agents`: an agent's conversations
// client        `Client`: sends messages and decisions
// follow        updates for a client while the model writes
// guide         only documentation

mod agents;
mod cancel;
mod client;
mod conversation;
mod definition;
mod error;
mod events;
mod follow;
#[cfg(any(doc, doctest))]
pub mod guide;
mod lists;
mod message;
mod once;
mod serving;
mod stream;
mod tools;
mod version;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use agents::Agents;
pub use client::Client;
pub use error::ClientError;
pub use events::Decide;
pub use follow::{Update, Updates};
pub use message::{Message, Reply};
pub use tools::ToolService;

/// Locks a mutex. Each change of its contents is one assignment, so a panic elsewhere leaves them valid.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
