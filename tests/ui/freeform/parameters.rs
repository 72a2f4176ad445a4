//! Free-form tools without a text, with more than a text, and with a text that may be absent.

#![allow(unused_variables)]

use tool_core::{CallContext, tool};

/// Runs.
#[tool(freeform)]
fn nothing(call: &CallContext) {}

/// Runs.
#[tool(freeform)]
fn two(sql: &str, limit: u8) {}

/// Runs.
#[tool(freeform)]
fn borrowed_option(sql: Option<&str>) {}

/// Runs.
#[tool(freeform)]
fn with_a_default(#[param(default = "a")] sql: String) {}

fn main() {}
// 4 errors
