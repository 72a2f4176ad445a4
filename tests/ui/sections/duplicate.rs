//! A duplicate section.

use tool_core::{tool, tools};

/// Weather of a city.
///
/// # Returns
/// The number of letters.
///
/// # When to use
/// On rainy days.
///
/// # Returns
/// Nothing else.
#[tool]
fn weather(city: &str) -> usize {
    city.len()
}

fn main() {
    let _ = tools![weather];
}
