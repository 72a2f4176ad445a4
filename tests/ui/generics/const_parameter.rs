//! A const parameter.

use tool_core::{tool, tools};

/// Adds numbers.
#[tool]
fn sum<const N: usize>(numbers: [i64; N]) -> i64 {
    numbers.iter().sum()
}

fn main() {
    let _ = tools![sum];
}
