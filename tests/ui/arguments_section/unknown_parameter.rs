//! Descriptions of unknown parameters: mistyped, unrelated, and of a function without parameters.

use tool_core::{tool, tools};

/// Weather of a city.
///
/// # Arguments
/// * `ctiy` - Where.
/// * `temperature` - How warm.
#[tool]
fn weather(city: &str, days: u8) -> usize {
    city.len() + usize::from(days)
}

/// Rolls a die.
///
/// # Arguments
/// * `sides` - How many sides.
#[tool]
fn roll() -> u8 {
    4
}

fn main() {
    let _ = tools![weather, roll];
}
// 3 errors
