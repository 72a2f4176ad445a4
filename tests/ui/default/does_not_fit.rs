//! Defaults that a plain type rejects.

#![allow(unused_variables)]

use tool_core::{tool, tools};

/// Weather of a city.
#[tool]
fn weather(
    #[param(default = 300)] days: u8,
    #[param(default = "three")] hours: u8,
    #[param(default = 3)] city: &str,
    #[param(default = -1)] limit: usize,
    #[param(default = "yes")] now: bool,
    #[param(default = "a")] words: Vec<String>,
    #[param(default = "a")] at: i64,
) -> usize {
    city.len() + usize::from(days) + usize::from(hours)
}

fn main() {
    let _ = tools![weather];
}
// 7 errors
