//! Keys without their values.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool(title, name = , crate)]
fn weather(#[param(rename)] days: u8, #[param(default = )] hours: u8) -> u8 {
    days + hours
}

fn main() {
    let _ = tools![weather];
}
// 5 errors
