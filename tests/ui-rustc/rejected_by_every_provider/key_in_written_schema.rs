//! An invalid key in a schema written as JSON.

use tool_core::{tool, tools};

/// Sends a request.
#[tool]
fn send(
    #[param(schema = r#"{
        "type": "object",
        "properties": { "x-trace": { "type": "string" } },
        "required": ["x-trace"],
        "additionalProperties": false
    }"#)]
    headers: serde_json::Value,
) -> String {
    headers.to_string()
}

fn main() {
    let _ = tools![send];
}
