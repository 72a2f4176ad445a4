//! Example programs. Run one with `cargo run --example NAME`; `README.md` describes each.
//!
//! | program | shows |
//! |---|---|
//! | `quickstart` | the way from functions to a request, and from a response to the next messages |
//! | `voice_home` | eleven tools of a voice assistant, and a score for a model's calls |
//! | `dice` | a small schema for a nested list, and a notation that is checked |
//! | `desk_agent` | the loop around a model, with files, tools that it writes in Python, and helpers |
//! | `desk_service` | a service for several users, with roles, an inbox, streams and MCP, which survives a restart |
//! | `toolkit_docs` | a toolkit with a database, and its catalogue |
//! | `thermostat` | a failing sensor, with the types of another client crate |
//!
//! This library holds what the programs share: reading input, safe output, a scripted provider,
//! and running a program in a test.

pub mod folder;
pub mod input;
pub mod program;
pub mod provider;
pub mod terminal;
