#![doc = include_str!("../README.md")]
// Items show their feature on docs.rs.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Modules, from the bottom up. A module imports only from those above it.
//
// error_text, guarded    text of errors; runs application code that may panic
// run       a conversation as a value, its increments, and journals to save them
// results   stores of long results
// model     models: `HttpModel` (`http`), services and retries (`tower`)
// agent     drives a run by a model, with events
// transcript  a run in the form for a person
// conversations  runs in tasks, and their followers (`conversations`)
// ui        conversations in the protocols of front ends (`conversations`)
// testing   models for tests
// guide     only documentation

#[cfg(all(feature = "http", target_family = "wasm"))]
compile_error!(
    "the feature `http` of tool-agent needs threads and sockets, which WebAssembly lacks; \
     implement `model::Model` with the requests of the host"
);

#[cfg(all(feature = "sqlite", target_family = "wasm"))]
compile_error!(
    "the feature `sqlite` of tool-agent needs a file system, which WebAssembly lacks; \
     implement `run::Journal` with the storage of the host"
);

mod agent;
#[cfg(feature = "conversations")]
pub mod conversations;
mod error_text;
mod guarded;
#[cfg(any(doc, doctest))]
pub mod guide;
pub mod model;
pub mod results;
pub mod run;
pub mod testing;
pub mod transcript;
#[cfg(feature = "conversations")]
pub mod ui;

pub use tool_dialects as dialects;

pub use agent::{
    Agent, AgentError, BackgroundCalls, Compaction, Event, Events, Fallback, OpenCalls,
    PartialArguments, PreparedCall, Prices, Steps, Typed, Unfinished, UnfinishedReason,
};
