//! Invalid values of constraint keys.

#![allow(unused_variables)]

use tool_core::tool;

/// Waits.
#[tool]
fn wait(
    #[param(range = 14)] days: u8,
    #[param(range = ..)] hours: u8,
    #[param(range = 1..=2.5)] share: f64,
    #[param(length = -1..)] name: String,
    #[param(length = 1.0..)] other: String,
    #[param(multiple_of = 0)] step: u8,
    #[param(example)] shown: u8,
    #[param(range = ..=340282366920938463463374607431768211455)] wide: u128,
) {
}

fn main() {}
// 8 errors
