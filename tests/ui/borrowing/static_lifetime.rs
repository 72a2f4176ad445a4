//! A reference that outlives the call.

use tool_core::{tool, tools};

/// Greets somebody.
#[tool]
fn greet(name: &'static str) -> String {
    name.to_string()
}

fn main() {
    let _ = tools![greet];
}
