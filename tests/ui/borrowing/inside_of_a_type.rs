//! A reference inside a type.

use tool_core::{tool, tools};

/// Joins words.
#[tool]
fn join(words: Vec<&str>, pairs: &[&str], more: (u8, &str)) -> usize {
    words.len() + pairs.len() + more.1.len()
}

fn main() {
    let _ = tools![join];
}
// 3 errors
