//! Free-form tools whose parameter is not a string.

#![allow(unused_variables)]

use tool_core::tool;

/// Runs.
#[tool(freeform)]
fn number(limit: u8) {}

/// Runs.
#[tool(freeform)]
fn option(sql: Option<String>) {}

/// Runs.
#[tool(freeform)]
fn list(sql: &[String]) {}

fn main() {}
// 3 errors
