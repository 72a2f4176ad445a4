//! Constraints that do not fit a type that the macro does not know, and values that do not fit the constraints.

#![allow(unused_variables)]

use tool_core::{ToolType, tool};

type Small = u8;
type Word = String;
type Share = f64;

/// Waits.
#[tool]
fn wait(
    #[param(range = 1..=300)] days: Small,
    #[param(range = -1..)] hours: Small,
    #[param(range = 1..=3)] name: Word,
    #[param(range = 1..=3)] share: Share,
    #[param(length = 1..)] count: Option<Small>,
    #[param(unique)] flag: Word,
    #[param(range = 1..=5, default = 6)] small: Small,
    #[param(length = ..=2, example = "abc")] short: &str,
    #[param(multiple_of = 2)] word: Word,
    #[param(multiple_of = 0.5)] rooms: Small,
    #[param(range = 1.0..=3.0)] floors: Small,
    #[param(range = ..=1e39)] huge: f32,
    #[param(format = "email")] age: Small,
) {
}

#[derive(ToolType)]
struct Days(#[param(range = 1..=1000)] Small);

fn main() {}
// 14 errors
