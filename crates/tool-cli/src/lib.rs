//! A command line for the tools of a program, so that people can try them before a model does.
//!
//! ```no_run
//! use tool_core::tool;
//!
//! /// Rolls dice.
//! #[tool]
//! fn roll(#[param(range = 1..=20)] dice: u8) -> Vec<u8> {
//!     (0..dice).map(|die| die % 6 + 1).collect()
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     tool_cli::Cli::linked().run()
//! }
//! ```
//!
//! ```text
//! $ app list
//! roll  Rolls dice.
//! $ app call roll --dice 3
//! [1,2,3]
//! $ app call roll --dice 300
//! error: the call of roll has invalid arguments
//!   --dice: must be at most 20, got 300
//! ```
//!
//! | command | what it does |
//! |---|---|
//! | `list`, `show NAME` | shows the tools, and all that is known about one |
//! | `call NAME --flag …` | calls a tool; its parameters are flags |
//! | `call --jsonl` | makes the calls that come as lines of JSON on standard input |
//! | `render PROVIDER` | writes what a provider is sent, and what it rejects |
//! | `docs` | writes the catalogue, as Markdown or HTML |
//! | `check` | checks examples, lock files, catalogues and budgets, for CI |
//! | `eval` | asks models what users say, and compares their calls with the expected ones (feature `eval`) |
//! | `completions SHELL` | writes a script that completes names and flags |
//! | `skill` | writes a page that tells a coding agent how to use this program |
//! | `mcp`, `install CLIENT` | serves the tools to MCP clients, and writes their entry (feature `mcp`) |
//! | `web` | serves a page on which you call the tools (feature `web`) |
//!
//! Only `call`, `mcp`, `web` and an `eval` that runs tools build the [context values](Cli::context) of the tools, so the others
//! run where there is no database.
//!
//! # Output
//!
//! At a terminal, `list`, `show` and `call` write for people: in colour (unless `NO_COLOR` is set), wrapped at words, and
//! without characters that control a terminal. In a pipe or a file they write JSON alone. Files and pictures of results are saved
//! to the folder of `--out`. While a call runs, what a hook holds and what a tool asks ([`elicit`](tool_core::call::elicit)) are
//! questions to the person at the terminal.
//!
//! The exit code is 0 if all is well, 1 if the tool or a check failed, 2 if the command line, the arguments or a file of cases
//! are wrong, and 130 if Ctrl-C cancelled the call.
//!
//! # The page
//!
//! `web` writes the address of a page to standard error. It is the [catalogue](tool_core::docs) with a form for each tool: what is wrong
//! with the arguments stands at its field while you type, and calls show their progress, their pictures and what a hook asks. A question
//! of a tool ([`elicit`](tool_core::call::elicit)) is a form, too. Calls pass the registry like a model's.
//!
//! The page runs tools, so it is for you alone: the server listens at a loopback address, the address of the page has a random
//! token, and requests for other hosts and from other sites are refused. Keep the address to yourself while the program runs.

mod answers;
mod call;
mod check;
mod cli;
#[cfg(feature = "eval")]
mod eval;
mod example;
mod flags;
mod input;
#[cfg(feature = "mcp")]
mod install;
mod listing;
mod output;
mod progress;
mod providers;
mod questions;
#[cfg(feature = "mcp")]
mod serve;
mod skill;
pub mod terminal;
#[cfg(feature = "web")]
mod web;

pub use clap;
pub use cli::Cli;
