//! Values that differ by case alone, in a schema that is written by hand.

use tool_core::{tool, tools};

/// Paints.
#[tool]
fn paint(#[param(schema = r#"{"type":"string","enum":["red","Red"]}"#)] colour: String) -> usize {
    colour.len()
}

fn main() {
    let _ = tools![paint];
}
