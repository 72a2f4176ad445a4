//! Constraints that do not fit a plain type, and values that do not fit the constraints.

#![allow(unused_variables)]

use tool_core::{ToolType, tool};

/// Waits.
#[tool]
fn wait(
    #[param(range = 1..=300)] days: u8,
    #[param(range = -1..)] hours: u8,
    #[param(range = 1..=3)] name: String,
    #[param(range = 1..=3)] on: bool,
    #[param(range = 1..=3)] share: f64,
    #[param(length = 1..)] count: Option<u8>,
    #[param(pattern = "a")] list: Vec<String>,
    #[param(unique)] flag: bool,
    #[param(range = 1..=5, default = 6)] small: u8,
    #[param(example = "abc")] number: Option<f64>,
    #[param(multiple_of = 2)] word: String,
    #[param(multiple_of = 2)] weight: f64,
    #[param(multiple_of = 0.5)] rooms: u8,
    #[param(range = 1.0..=3.0)] floors: u8,
    #[param(format = "email")] age: u8,
) {
}

#[derive(ToolType)]
struct Trip {
    #[param(range = ..=70_000)]
    kilometres: u16,
}

#[derive(ToolType)]
struct Days(#[param(range = 1..=1000)] u8);

fn main() {}
// 17 errors
