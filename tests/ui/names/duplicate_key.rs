//! Two parameters with the same key.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool]
fn weather(city: &str, #[param(rename = "city")] town: &str) -> usize {
    city.len() + town.len()
}

fn main() {
    let _ = tools![weather];
}
