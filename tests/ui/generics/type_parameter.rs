//! A type parameter.

use tool_core::{tool, tools};

/// Sorts numbers.
#[tool]
fn sort<T: Ord>(numbers: Vec<T>) -> usize {
    numbers.len()
}

fn main() {
    let _ = tools![sort];
}
