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
) {
}

fn main() {}
// 8 errors
