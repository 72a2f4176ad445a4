#![doc = include_str!("../README.md")]

// Modules, from the bottom up.
//
// definition    a service of Restate with a name of the application
// once          a call that runs at most once
// tools         `ToolService`: tools for agents in other processes
// conversation  a run that is driven by Restate
// agents        `Agents`: an agent's conversations
// client        `Client`: what the application sends

mod agents;
mod client;
mod conversation;
mod definition;
mod once;
mod tools;

pub use agents::Agents;
pub use client::{Client, ClientError};
pub use conversation::{Decide, Message};
pub use tools::ToolService;
