//! The type is not a tool of a provider.

#![allow(unused_variables)]

use tool_dialects::anthropic::BashCommand;
use tool_core::tool;

/// Runs.
#[tool(provides = BashCommand)]
fn bash(input: BashCommand) {}

fn main() {}
