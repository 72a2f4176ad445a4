//! A schema by hand that says nothing.

use tool_core::{tool, tools};

/// Stores a value.
#[tool]
fn store(#[param(schema = r#"{"type":"object","properties":{"body":{}},"required":["body"],"additionalProperties":false}"#)] value: serde_json::Value) -> String {
    value.to_string()
}

fn main() {
    let _ = tools![store];
}
