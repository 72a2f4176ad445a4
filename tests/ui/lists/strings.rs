//! Names of tools as strings, and what is no list.

use tool_core::{tool, tools};

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = tools!["add"];
    let _ = tools![add, "subtract", "divide"];
    let _ = tools![add add];
}
// 4 errors
