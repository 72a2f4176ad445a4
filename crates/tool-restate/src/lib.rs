#![doc = include_str!("../README.md")]

// Modules, from the bottom up.
//
// definition    a service of Restate with a name of the application
// serving       the listener of services, and how it ends
// cancel        a step that ends when its invocation is cancelled
// once          a call that runs at most once
// version       which version of a tool an agent has
// tools         `ToolService`: tools for agents in other processes
// stream        the text that models write in this process
// events        what a conversation is told, and what it keeps
// conversation  a run that is driven by Restate
// agents        `Agents`: an agent's conversations
// follow        what a client shows while the model writes
// client        `Client`: what the application sends
// guide         documentation alone

mod agents;
mod cancel;
mod client;
mod conversation;
mod definition;
mod events;
mod follow;
#[cfg(any(doc, doctest))]
pub mod guide;
mod once;
mod serving;
mod stream;
mod tools;
mod version;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use agents::Agents;
pub use client::{Client, ClientError};
pub use conversation::{Message, Reply};
pub use events::Decide;
pub use follow::{Update, Updates};
pub use tools::ToolService;

/// Locks a mutex. Each change of its contents is one assignment, so a panic elsewhere leaves them valid.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
