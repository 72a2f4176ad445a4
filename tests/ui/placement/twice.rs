//! `#[tool]` twice on one function.

use tool_core::{tool, tools};

/// Counts.
#[tool]
#[tool(read_only)]
fn count(city: &str) -> usize {
    city.len()
}

fn main() {
    let _ = tools![count];
}
