//! The parameter has another type than the tool of the provider.

#![allow(unused_variables)]

use tool_dialects::anthropic::{Bash20250124, MemoryCommand};
use tool_core::tool;

/// Runs.
#[tool(provides = Bash20250124)]
fn bash(command: MemoryCommand) {}

fn main() {}
