//! Constraints that do not fit the type, and values that do not fit the constraints.

#![allow(unused_variables)]

use tool_core::tool;

/// Waits.
#[tool]
fn wait(
    #[param(range = 1..=300)] days: u8,
    #[param(range = 1..=3)] name: String,
    #[param(range = 1..=3)] share: f64,
    #[param(length = 1..)] count: Option<u8>,
    #[param(pattern = "a")] list: Vec<String>,
    #[param(unique)] flag: bool,
    #[param(range = 1..=5, default = 6)] small: u8,
    #[param(length = ..=2, example = "abc")] short: &str,
    #[param(multiple_of = 2)] word: String,
    #[param(multiple_of = 2)] weight: f64,
    #[param(multiple_of = 0.5)] rooms: u8,
    #[param(range = 1.0..=3.0)] floors: u8,
    #[param(format = "email")] age: u8,
) {
}

fn main() {}
// 13 errors
