//! No doc comment, an empty one, and one with sections only.

use tool_core::{tool, tools};

#[tool]
fn silent(city: &str) -> usize {
    city.len()
}

///
#[tool]
fn blank() {}

/// # Errors
/// Never.
#[tool]
fn only_headings() {}

// No description in sight.
#[tool(title = "A title")]
fn only_a_title() {}

fn main() {
    let _ = tools![silent, blank, only_headings, only_a_title];
}
// 4 errors
