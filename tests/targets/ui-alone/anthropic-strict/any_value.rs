//! A value of which the schema says nothing.

use tool_core::{tool, tools};

/// Stores a value.
#[tool]
fn store(name: &str, value: Vec<serde_json::Value>) -> String {
    format!("{name}: {value:?}")
}

fn main() {
    let _ = tools![store];
}
