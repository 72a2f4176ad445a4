//! A mutable reference.

use tool_core::{tool, tools};

/// Sorts numbers.
#[tool]
fn sort(numbers: &mut [i64], name: Option<&mut str>) -> usize {
    let _ = name;
    numbers.len()
}

fn main() {
    let _ = tools![sort];
}
// 2 errors
