//! `impl Trait` as the type of a parameter: alone, nested, and borrowed.

use tool_core::{tool, tools};

/// Greets somebody.
#[tool]
fn greet(name: impl Into<String>) -> String {
    name.into()
}

/// Greets everybody.
#[tool]
fn greet_all(names: Vec<impl Into<String>>) -> usize {
    names.len()
}

/// Greets somebody else.
#[tool]
fn greet_other(name: &impl ToString) -> String {
    name.to_string()
}

fn main() {
    let _ = tools![greet, greet_all, greet_other];
}
// 3 errors
