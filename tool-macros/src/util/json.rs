//! Rust text as JSON.

use std::fmt::Write;

/// What stands between the quotes of the JSON string that says `text`.
pub(crate) fn escape(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            control if u32::from(control) < 0x20 => {
                write!(json, "\\u{:04x}", u32::from(control)).expect("a String takes any text");
            }
            other => json.push(other),
        }
    }
    json
}
