//! `#[param]` on the function instead of the parameter.

use tool_core::{tool, tools, toolset};

/// Weather of a city.
#[tool]
#[param(range = 1..=14)]
fn weather(days: u8) -> u8 {
    days
}

/// Rolls a die.
#[tool]
#[param(default)]
fn roll() -> u8 {
    4
}

struct Home;

#[toolset]
impl Home {
    /// Heats.
    #[param(range = 1..=30)]
    #[tool]
    fn heat(&self, degrees: u8) -> u8 {
        degrees
    }
}

fn main() {
    let _ = tools![weather, roll];
}
// 3 errors
