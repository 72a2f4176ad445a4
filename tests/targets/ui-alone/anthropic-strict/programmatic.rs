//! A tool that programs of the model call.

use tool_core::{tool, tools};

/// Lists orders.
#[tool(read_only, programmatic)]
fn list_orders(customer: u32) -> Vec<u32> {
    vec![customer]
}

fn main() {
    let _ = tools![list_orders];
}
