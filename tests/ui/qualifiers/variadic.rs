//! Variadic functions, with and without a name. rustc would reject both.

use tool_core::{tool, tools};

/// Adds numbers.
#[tool]
fn sum(count: u8, _: ...) -> u8 {
    count
}

/// Adds numbers by name.
#[tool]
fn sum_named(count: u8, numbers: ...) -> u8 {
    count + numbers
}

/// Adds numbers for another language.
#[tool]
unsafe extern "C" fn sum_extern(count: u8, mut numbers: ...) -> u8 {
    count + unsafe { numbers.arg::<u8>() }
}

fn main() {
    let _ = tools![sum, sum_named, sum_extern];
}
// 5 errors
