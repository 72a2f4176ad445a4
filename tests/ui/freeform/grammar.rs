//! Invalid grammars.

#![allow(unused_variables)]

use tool_core::tool;

/// Runs.
#[tool(grammar = regex("a"))]
fn not_freeform(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = "a")]
fn no_syntax(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = peg("a"))]
fn unknown_syntax(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = regex())]
fn empty(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = regex("("))]
fn open(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = regex("(?=a)b"))]
fn ahead(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = regex("a+?b"))]
fn lazy(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = regex("a\n"))]
fn two_lines(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = regex(PATTERN))]
fn constant(sql: &str) {}

/// Runs.
#[tool(freeform, grammar = regex("a"))]
fn twice(#[param(pattern = "b")] sql: &str) {}

/// Runs.
#[tool(freeform = false, programmatic = often)]
fn how_often(sql: &str) {}

fn main() {}
// 11 errors
