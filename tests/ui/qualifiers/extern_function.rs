//! An `extern` function.

use tool_core::{tool, tools};

/// Adds two numbers.
#[tool]
pub extern "C" fn add(a: i32, b: i32) -> i32 {
    a + b
}

fn main() {
    let _ = tools![add];
}
