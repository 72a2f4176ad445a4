//! Whether a text is JSON, told at a glance where it is spelled in the plainest way.
//!
//! Each function gives what stands behind what it takes, or nothing if that is no JSON, or holds
//! an escape or an exponent.

use crate::schema::cursor::before_special;

/// Whether a text is plain, and so JSON. `serde_json` judges any other.
pub(super) fn is_plain(text: &str) -> bool {
    /// Deeper than the arguments of most calls. The stack bears it.
    const DEPTH: usize = 32;
    matches!(value(text.as_bytes(), DEPTH).map(space), Some([]))
}

fn value(text: &[u8], depth: usize) -> Option<&[u8]> {
    match space(text) {
        [b'"', rest @ ..] => string(rest),
        [b'{', rest @ ..] => members(rest, depth.checked_sub(1)?),
        [b'[', rest @ ..] => items(rest, depth.checked_sub(1)?),
        [b't', b'r', b'u', b'e', rest @ ..]
        | [b'f', b'a', b'l', b's', b'e', rest @ ..]
        | [b'n', b'u', b'l', b'l', rest @ ..] => Some(rest),
        rest => number(rest),
    }
}

fn members(mut text: &[u8], depth: usize) -> Option<&[u8]> {
    if let [b'}', rest @ ..] = space(text) {
        return Some(rest);
    }
    loop {
        let [b'"', rest @ ..] = space(text) else {
            return None;
        };
        let [b':', rest @ ..] = space(string(rest)?) else {
            return None;
        };
        match space(value(rest, depth)?) {
            [b',', rest @ ..] => text = rest,
            [b'}', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

fn items(mut text: &[u8], depth: usize) -> Option<&[u8]> {
    if let [b']', rest @ ..] = space(text) {
        return Some(rest);
    }
    loop {
        match space(value(text, depth)?) {
            [b',', rest @ ..] => text = rest,
            [b']', rest @ ..] => return Some(rest),
            _ => return None,
        }
    }
}

/// A string whose first quote was taken.
fn string(text: &[u8]) -> Option<&[u8]> {
    match &text[before_special(text)..] {
        [b'"', rest @ ..] => Some(rest),
        _ => None,
    }
}

fn number(text: &[u8]) -> Option<&[u8]> {
    let rest = match text.strip_prefix(b"-").unwrap_or(text) {
        [b'0', rest @ ..] => rest,
        [b'1'..=b'9', rest @ ..] => digits(rest),
        _ => return None,
    };
    match rest {
        [b'.', b'0'..=b'9', rest @ ..] => Some(digits(rest)),
        _ => Some(rest),
    }
}

fn digits(mut text: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', rest @ ..] = text {
        text = rest;
    }
    text
}

fn space(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = text {
        text = rest;
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_is_plain_is_json_whatever_is_changed_in_it() {
        let texts = [
            r#" {"a" : [1, -20,0] , "b":{"c":"d e"},"f":[]}"#,
            "[true,false,null,{},[[-1.5,0.25]],\"\"]\n",
            "12.0",
            "\"größe\"",
        ];
        let odd = "{}[]\",:0-.e1tn \\\0\u{7}\u{a0}\u{feff}é";
        for text in texts {
            assert!(is_plain(text), "{text}");
            for (at, old) in text.char_indices() {
                let (before, from) = text.split_at(at);
                let behind = &from[old.len_utf8()..];
                let put = odd.chars().map(|new| format!("{before}{new}{from}"));
                let swapped = odd.chars().map(|new| format!("{before}{new}{behind}"));
                let cut = [before.to_owned(), format!("{before}{behind}")];
                for text in put.chain(swapped).chain(cut) {
                    let is_json = serde_json::from_str::<Value>(&text).is_ok();
                    assert!(is_json || !is_plain(&text), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn a_deep_text_is_left_to_others() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(is_plain(&nested(32)));
        assert!(!is_plain(&nested(33)));
        assert!(!is_plain(&"{\"a\":".repeat(1_000_000)));
    }
}
