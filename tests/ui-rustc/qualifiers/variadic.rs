//! Any number of arguments, with a name and without one. rustc refuses both too.

use tool_core::{tool, tools};

/// Adds numbers.
#[tool]
fn sum(count: u8, ...) -> u8 {
    count
}

/// Adds numbers by name.
#[tool]
fn sum_named(count: u8, numbers: ...) -> u8 {
    count
}

fn main() {
    let _ = tools![sum, sum_named];
}
