//! Rules over a schema tree that are judged while compiling.
//!
//! The macro emits one constant for each parameter, with the span of its type, so that a broken
//! rule underlines that type.

use super::{Kind, Schema};

/// Stops the build unless `json`, the text of a literal, is a value that `schema` describes.
///
/// # Panics
///
/// With `message`, when it is not.
pub const fn default_fits(schema: &Schema, json: &str, message: &str) {
    if !literal_fits(schema, json) {
        panic!("{}", message);
    }
}

const fn literal_fits(schema: &Schema, json: &str) -> bool {
    let bytes = json.as_bytes();
    match (&schema.kind, bytes[0]) {
        (Kind::Any, _)
        | (Kind::Boolean, b't' | b'f')
        | (Kind::Number, b'-' | b'0'..=b'9')
        | (Kind::Nullable(_), b'n') => true,
        (Kind::Nullable(inner), _) => literal_fits(inner, json),
        (Kind::Integer(range), b'-' | b'0'..=b'9') => match whole(bytes) {
            Some(number) => range.minimum <= number && number <= range.maximum,
            None => false,
        },
        (Kind::String(lengths), b'"') => lengths.admits(characters(bytes)),
        (Kind::Enum(values), b'"') => {
            let mut at = 0;
            while at < values.len() {
                if quotes(bytes, values[at].json.as_bytes()) {
                    return true;
                }
                at += 1;
            }
            false
        }
        _ => false,
    }
}

/// The number that these characters spell, if they are all digits.
const fn whole(bytes: &[u8]) -> Option<i128> {
    let negative = bytes[0] == b'-';
    let mut at = negative as usize;
    let mut number: i128 = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() || number > i128::MAX / 10 - 1 {
            return None;
        }
        number = number * 10 + (bytes[at] - b'0') as i128;
        at += 1;
    }
    Some(if negative { -number } else { number })
}

/// How many characters stand between the quotes of a JSON string.
const fn characters(quoted: &[u8]) -> usize {
    let mut at = 1;
    let mut count = 0;
    while at < quoted.len() - 1 {
        let is_start = quoted[at] & 0b1100_0000 != 0b1000_0000;
        count += is_start as usize;
        at += match (quoted[at], quoted[at + 1]) {
            (b'\\', b'u') => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    count
}

/// Whether `quoted` is `inner` between quotes.
const fn quotes(quoted: &[u8], inner: &[u8]) -> bool {
    if quoted.len() != inner.len() + 2 {
        return false;
    }
    let mut at = 0;
    while at < inner.len() {
        if quoted[at + 1] != inner[at] {
            return false;
        }
        at += 1;
    }
    true
}
