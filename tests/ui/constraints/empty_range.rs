//! Ranges without values.

#![allow(unused_variables)]

use tool_core::tool;

/// Waits.
#[tool]
fn wait(
    #[param(range = 14..=1)] days: u8,
    #[param(range = 5..5)] hours: u8,
    #[param(range = 1.0..1.0)] share: f64,
    #[param(length = 3..=2)] name: String,
) {
}

fn main() {}
// 4 errors
