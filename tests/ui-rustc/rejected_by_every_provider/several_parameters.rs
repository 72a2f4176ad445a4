//! One build shows an error at the type of every rejected parameter.

use tool_core::{tool, tools};

/// Sends a reading.
#[tool]
fn send(
    power: f64,
    #[param(schema = r#"{"type": "string", "enum": ["mW", "MW"]}"#)]
    unit: String,
    note: &str,
    #[param(schema = r#"{"type": "array", "items": {"type": "string", "enum": ["à", "À", "a", "A"]}}"#)]
    marks: Vec<String>,
) -> usize {
    let _ = (power, unit);
    note.len() + marks.len()
}

fn main() {
    let _ = tools![send];
}
// 2 errors
