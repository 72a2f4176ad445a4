//! A section that describes a parameter without a list.

use tool_core::{tool, tools};

/// Weather of a city.
///
/// # Arguments
/// city: Where.
#[tool]
fn weather(city: &str) -> usize {
    city.len()
}

fn main() {
    let _ = tools![weather];
}
