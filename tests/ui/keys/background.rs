//! Tools whose result is needed at once, called in the background.

use tool_dialects::anthropic;
use tool_core::{tool, tools};

/// Submits the report.
#[tool(ends_run, background)]
fn submit(report: &str) -> usize {
    report.len()
}

/// Lists the orders of a month.
#[tool(programmatic = only, background)]
fn list_orders(month: u8) -> u8 {
    month
}

/// Runs a command.
#[tool(name = "bash", provides = anthropic::Bash20250124, background)]
fn run(input: anthropic::BashCommand) -> usize {
    std::mem::size_of_val(&input)
}

fn main() {
    let _ = tools![submit, list_orders, run];
}

// 3 errors
