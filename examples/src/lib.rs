//! One program for each idea, run with `cargo run --example NAME`; `README.md` tells of each.
//!
//! | program | idea |
//! |---|---|
//! | `quickstart` | from functions to a request, and from a provider's response to the next messages |
//! | `voice_home` | eleven tools of a voice assistant, and a score for what a model made of them |
//! | `dice` | a small schema for a nested list, and a grammar that holds |
//! | `desk_agent` | the loop around a model, with files, a system prompt and proposals for tools |
//! | `toolkit_docs` | a toolkit with a database, and its catalogue |
//! | `thermostat` | a sensor that fails, in the types of another client crate |
//!
//! What the programs share is here: how they read their input, a provider on
//! this machine, and how their tests run them.

pub mod folder;
pub mod input;
pub mod program;
pub mod provider;
