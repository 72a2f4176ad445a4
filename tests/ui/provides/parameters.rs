//! Tools of a provider whose parameter is not the whole input.

#![allow(unused_imports, unused_variables)]

use tool_dialects::anthropic::{Bash20250124, BashCommand};
use tool_core::tool;

/// Runs.
#[tool(provides = Bash20250124)]
fn two(input: BashCommand, folder: String) {}

/// Runs.
#[tool(provides = Bash20250124)]
fn none() {}

/// Runs.
#[tool(provides = Bash20250124, name = "bash")]
fn with_a_default(#[param(default)] input: BashCommand) {}

/// Runs.
#[tool(provides = Bash20250124, name = "bash", freeform)]
fn text(input: String) {}

/// Runs.
#[tool(provides)]
fn nothing(input: BashCommand) {}

/// Runs.
#[tool(provides = "bash_20250124")]
fn in_quotes(input: BashCommand) {}

fn main() {}
// 6 errors
