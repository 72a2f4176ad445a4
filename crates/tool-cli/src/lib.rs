//! A command line for the tools of a program, so that people can try them before a model does.
//!
//! ```no_run
//! use tool_core::tool;
//!
//! /// The weather of the next days.
//! #[tool(read_only)]
//! fn get_forecast(city: &str, #[param(range = 1..=14)] days: u8) -> String {
//!     format!("{city}: {days} sunny days")
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     tool_cli::Cli::linked().run()
//! }
//! ```
//!
//! ```text
//! $ app list
//! get_forecast  The weather of the next days. [read-only]
//! $ app call get-forecast --city Lisbon --days 3
//! Lisbon: 3 sunny days
//! $ app call get-forecast --days 300
//! error: the arguments of get_forecast are wrong
//!   --days: 300 is above the maximum 14
//!   --city: missing; expected a string
//! ```
//!
//! | command | purpose |
//! |---|---|
//! | `list`, `show NAME` | lists the tools, or shows everything about one |
//! | `call NAME --flag …` | calls a tool, with a flag for each parameter |
//! | `call --jsonl` | makes calls read from standard input, one JSON object a line |
//! | `render PROVIDER` | writes the tools as sent to a provider, and the parts that it rejects |
//! | `docs` | writes the catalogue, as Markdown or HTML |
//! | `check` | checks examples, lock files, catalogues and budgets, for CI |
//! | `eval` | sends the words of users to models, and compares their calls with the expected ones (feature `eval`) |
//! | `completions SHELL` | writes a script that completes names and flags in your shell |
//! | `skill` | writes a page that tells a coding agent how to use this program |
//! | `import --pin FILE` | writes the tools of an MCP server to a file, of which `tool_mcp::client!` makes functions (feature `import`) |
//! | `mcp`, `install CLIENT` | serves the tools to MCP clients, and adds this program to a client's configuration (feature `mcp`) |
//! | `web` | serves a page on which you can call the tools (feature `web`) |
//!
//! Only `call`, `mcp`, `web` and an `eval` that runs tools create the [context values](Cli::context) of the tools. So
//! you can run the other commands where there is no database.
//!
//! # Output
//!
//! At a terminal, `list`, `show` and `call` write for people: in colour (unless `NO_COLOR` is set), wrapped at words,
//! and without characters that control a terminal. In a pipe or a file they write only JSON. Files and pictures in
//! results are saved to the folder given by `--out`. If a hook holds the call or a tool asks something
//! ([`elicit`](tool_core::call::elicit)), you answer at the terminal.
//!
//! The exit code is 0 on success. It is 1 if the tool or a check failed, such as `import --check` of a server that has changed, 2 if the command line, the arguments or a file
//! of cases are wrong, and 130 if Ctrl-C cancelled the call.
//!
//! # The page
//!
//! `web` writes the address of a page to standard error; open it in your browser, or let `--open` do it. The page is the
//! [catalogue](tool_docs::Docs) with a form for each tool. It marks invalid arguments while you type, shows the
//! progress and the pictures of calls, and asks you to decide if a hook holds one. Questions of tools
//! ([`elicit`](tool_core::call::elicit)) are forms, too. Calls go through the registry like a model's.
//!
//! The page runs tools, so only you may reach it: the server listens on a loopback address, the page's address contains
//! a random token, and the server refuses requests for other hosts and from other sites. Keep the address to yourself
//! while the program runs. `--open` starts the browser with an address that works once, because other users of the machine
//! can see how a program was started.

mod answers;
mod call;
mod check;
mod cli;
mod commands;
mod completions;
#[cfg(feature = "eval")]
mod eval;
mod example;
mod failure;
mod flags;
#[cfg(feature = "import")]
mod import;
mod input;
#[cfg(feature = "mcp")]
mod install;
mod listing;
mod output;
mod progress;
mod providers;
mod questions;
mod registry;
#[cfg(feature = "mcp")]
mod serve;
mod skill;
pub mod terminal;
#[cfg(feature = "web")]
mod web;

pub use clap;
pub use cli::Cli;
