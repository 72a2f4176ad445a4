//! Defaults that the schema rejects.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool]
fn weather(
    #[param(default = 300)] days: u8,
    #[param(default = "three")] hours: u8,
    #[param(default = 3)] city: &str,
) -> usize {
    city.len() + usize::from(days) + usize::from(hours)
}

fn main() {
    let _ = tools![weather];
}
// 3 errors
