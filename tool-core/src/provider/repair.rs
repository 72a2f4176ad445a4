//! [`repair_json`]: what servers write in place of JSON.

use std::borrow::Cow;

/// Replaces what is no character by U+FFFD: bytes that are not UTF-8, and escapes of half a character. Removes a byte order
/// mark. Returns `None` if there is nothing of this kind.
///
/// [`ValueLimit::parse`](crate::dialect::write::ValueLimit::parse) and the readers of streams do this themselves.
///
/// ```
/// use tool_core::dialect::write::repair_json;
///
/// assert_eq!(repair_json(br#"{"text":"\ud83d"}"#).unwrap(), r#"{"text":"\ufffd"}"#);
/// assert_eq!(repair_json(b"{}"), None);
/// ```
pub fn repair_json(json: &[u8]) -> Option<String> {
    repaired(json, false, None, |_| false)
}

/// Some servers start a body with it.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Repairs an event. With `numbers`, `NaN` and `Infinity` are `null`, as in JavaScript. `before` is the half of a
/// character at the end of a string in the event before. `keeps` gets such a half of this event, and returns `true` to
/// leave it out.
pub(crate) fn repaired(
    json: &[u8],
    numbers: bool,
    before: Option<u16>,
    mut keeps: impl FnMut(u16) -> bool,
) -> Option<String> {
    let text = String::from_utf8_lossy(json);
    let mut is_changed = matches!(text, Cow::Owned(_));
    let mut rest = &*text;
    if json.starts_with(BYTE_ORDER_MARK) {
        (rest, is_changed) = (&rest[BYTE_ORDER_MARK.len()..], true);
    }
    let mut repaired = String::with_capacity(rest.len());
    let (mut in_string, mut start) = (false, 0);
    while let Some(at) = rest.find(['"', '\\', 'N', 'I']) {
        repaired.push_str(&rest[..at]);
        let is_first = repaired.len() == start;
        rest = &rest[at..];
        let word = ["NaN", "Infinity"].into_iter();
        let mut word = word.filter(|word| numbers && !in_string && rest.starts_with(word));
        let taken = if let Some(word) = word.next() {
            is_changed = true;
            repaired.truncate(repaired.trim_end_matches('-').len());
            repaired.push_str("null");
            word.len()
        } else if in_string && rest.starts_with('\\') {
            match (unit(rest), rest.get(6..).and_then(unit)) {
                (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => {
                    repaired.push_str(&rest[..12]);
                    12
                }
                (Some(half @ 0xD800..=0xDFFF), _) => {
                    is_changed = true;
                    match before {
                        Some(before) if is_first && half >= 0xDC00 => {
                            repaired.push_str(&format!("\\u{before:04x}\\u{half:04x}"));
                        }
                        _ if half < 0xDC00 && rest[6..].starts_with('"') && keeps(half) => {}
                        _ => repaired.push_str("\\ufffd"),
                    }
                    6
                }
                _ => {
                    // The escape and the character after it.
                    let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                    repaired.push_str(&rest[..length]);
                    length
                }
            }
        } else {
            in_string ^= rest.starts_with('"');
            repaired.push_str(&rest[..1]);
            start = repaired.len();
            1
        };
        rest = &rest[taken..];
    }
    repaired.push_str(rest);
    is_changed.then_some(repaired)
}

/// Returns the code unit of an escape such as `\ud83d`, which a text starts with.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{repair_json, repaired};

    #[test]
    fn what_is_no_json_is_replaced_and_nothing_else() {
        let cases: [(&[u8], Option<&str>); 15] = [
            (br#""\ud83d\ude00 \\ud800 \n\u00e9 NaN Infinity""#, None),
            (br#""\ud83d""#, Some(r#""\ufffd""#)),
            (br#""\ude00\ud83d""#, Some(r#""\ufffd\ufffd""#)),
            (br#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (br#""\\\ud83dx""#, Some(r#""\\\ufffdx""#)),
            (br#""\ud83d\"""#, Some(r#""\ufffd\"""#)),
            (br#"{"":"\ude00"}"#, Some(r#"{"":"\ufffd"}"#)),
            (b"\"\xE4\"", Some("\"\u{fffd}\"")),
            ("\u{feff}[1]".as_bytes(), Some("[1]")),
            (b"\"\xEF\xBB\xBF\"", None),
            (
                br#"{"NaN":[NaN,-NaN,Infinity,-Infinity,-1]}"#,
                Some(r#"{"NaN":[null,null,null,null,-1]}"#),
            ),
            (br#"["\"",NaN]"#, Some(r#"["\"",null]"#)),
            (br#""\ud8"#, None),
            (b"\"\\", None),
            (b"Nothing", None),
        ];
        for (json, expected) in cases {
            let repaired = repaired(json, true, None, |_| false);
            let shown = String::from_utf8_lossy(json);
            assert_eq!(repaired.as_deref(), expected, "{shown}");
            if let Some(repaired) = repaired {
                serde_json::from_str::<Value>(&repaired).unwrap();
            }
        }
        assert_eq!(repair_json(b"[NaN]"), None);
    }
}
