//! There is no such type.

#![allow(unused_variables)]

use tool_dialects::anthropic;
use tool_core::tool;

/// Runs.
#[tool(provides = anthropic::Bash20260124)]
fn bash(input: anthropic::BashCommand) {}

fn main() {}
