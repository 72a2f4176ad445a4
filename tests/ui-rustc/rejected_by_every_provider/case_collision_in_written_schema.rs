//! Enum values that differ only in case, in a schema written as JSON.

use tool_core::{tool, tools};

/// Paints.
#[tool]
fn paint(#[param(schema = r#"{"type":"string","enum":["red","Red"]}"#)] colour: String) -> usize {
    colour.len()
}

fn main() {
    let _ = tools![paint];
}
