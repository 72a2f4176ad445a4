//! JSON strings.

use std::fmt::Write;

/// Returns `true` if a text is the same in a JSON string.
pub(crate) fn is_same(text: &str) -> bool {
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    !text.bytes().any(is_escaped)
}

/// Escapes a text for a JSON string. The quotes are not included.
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
                write!(json, "\\u{:04x}", u32::from(control))
                    .expect("writing to a String succeeds");
            }
            other => json.push(other),
        }
    }
    json
}
