//! Lark rules without a rule to start with.

#![allow(unused_variables)]

use tool_core::{tool, tools};

/// Runs.
#[tool(freeform, grammar = lark("starting: /a/"))]
fn run(sql: &str) {}

fn main() {
    let _ = tools![run];
}
