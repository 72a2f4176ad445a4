//! A default that is not a literal.

use tool_core::{tool, tools};

const DAYS: u8 = 3;

/// Weather of a city.
#[tool]
fn weather(#[param(default = DAYS)] days: u8, #[param(default = 1 + 1)] hours: u8) -> u8 {
    days + hours
}

fn main() {
    let _ = tools![weather];
}
// 2 errors
