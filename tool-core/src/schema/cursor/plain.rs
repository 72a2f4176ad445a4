//! Values that are spelled in the plainest way, which is the usual one. Here a cursor is exact: what
//! it takes is JSON, and means what `serde_json` reads.

use super::{Cursor, before_special, is_same};

impl<'t> Cursor<'t> {
    /// Steps over white space and a truth value, or over white space alone.
    pub(crate) fn eat_bool(&mut self) -> Option<bool> {
        let next = self.peek();
        let word = if next == b't' { "true" } else { "false" };
        self.eat_word(word).then_some(next == b't')
    }

    /// Steps over an integer of at most 18 digits that is spelled with nothing but these and a
    /// sign, and that is no negative zero. Any other value is left for a closer look.
    pub(crate) fn eat_integer(&mut self) -> Option<i64> {
        let (is_negative, digits) = self.unsigned()?;
        let (number, length) = number(digits, 0);
        if !(1..=18).contains(&length) || goes_on(digits.get(length)) {
            return None;
        }
        // A zero in front is no JSON.
        if digits[0] == b'0' && (length > 1 || is_negative) {
            return None;
        }
        self.at += usize::from(is_negative) + length;
        let number = number.cast_signed();
        Some(if is_negative { -number } else { number })
    }

    /// Steps over a number of at most 15 digits with a point among them and no exponent. Any other
    /// value is left for a closer look.
    ///
    /// So many digits are a float without rounding, and so is the power of ten: the one division
    /// rounds as it should.
    pub(crate) fn eat_decimal(&mut self) -> Option<f64> {
        const POWERS: [f64; 16] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        ];
        let (is_negative, digits) = self.unsigned()?;
        let (whole, before) = number(digits, 0);
        let [b'.', fraction @ ..] = digits.get(before..)? else {
            return None;
        };
        let (number, after) = number(fraction, whole);
        if before == 0 || after == 0 || before + after > 15 || goes_on(fraction.get(after)) {
            return None;
        }
        if digits[0] == b'0' && before > 1 {
            return None;
        }
        self.at += usize::from(is_negative) + before + 1 + after;
        #[allow(clippy::cast_precision_loss, reason = "of 15 digits nothing is lost")]
        let number = number.cast_signed() as f64 / POWERS[after];
        Some(if is_negative { -number } else { number })
    }

    /// Whether a minus comes next, and what comes behind it.
    #[inline]
    fn unsigned(&mut self) -> Option<(bool, &'t [u8])> {
        let is_negative = self.peek() == b'-';
        let rest = self.text.as_bytes().get(self.at..)?;
        Some((is_negative, &rest[usize::from(is_negative)..]))
    }

    /// Steps over a string that stands in JSON as it is, and gives what is between its quotes. Any
    /// other value, and white space, is left for a closer look.
    #[inline]
    pub(crate) fn eat_plain_string(&mut self) -> Option<&'t str> {
        if self.byte() != b'"' {
            return None;
        }
        let rest = self.text.get(self.at + 1..)?;
        let length = before_special(rest.as_bytes());
        if rest.as_bytes().get(length) != Some(&b'"') {
            return None;
        }
        self.at += length + 2;
        rest.get(..length)
    }

    /// Steps over this byte, a member's key and its colon, if the key is just this one, as it stands
    /// in JSON, and no white space stands anywhere.
    #[inline]
    pub(crate) fn eat_member(&mut self, before: u8, name: &str) -> bool {
        let end = self.at + name.len() + 4;
        let Some(member) = self.text.as_bytes().get(self.at..end) else {
            return false;
        };
        let found = member.first_chunk() == Some(&[before, b'"'])
            && member.last_chunk() == Some(b"\":")
            && is_same(&member[2..member.len() - 2], name.as_bytes());
        if found {
            self.at = end;
        }
        found
    }

    /// Steps over a member's key and its colon, and before them over a comma unless the member is
    /// the first. Any key but a plain one is left for a closer look.
    pub(crate) fn eat_plain_key(&mut self, is_first: bool) -> Option<&'t str> {
        let mut next = self.clone();
        if !is_first && !next.eat(b',') {
            return None;
        }
        next.peek();
        let key = next.eat_plain_string()?;
        if !next.eat(b':') {
            return None;
        }
        *self = next;
        Some(key)
    }

    /// Steps over a string whose escapes are of one character each, and gives its characters. Any
    /// other string is left for a closer look.
    pub(crate) fn eat_escaped_string(&mut self) -> Option<String> {
        let mut text = String::new();
        let mut at = self.at + 1;
        loop {
            let plain = self.text.get(at..)?;
            let plain = &plain[..before_special(plain.as_bytes())];
            at += plain.len();
            let escaped = match self.text.as_bytes().get(at..)? {
                [b'"', ..] => {
                    self.at = at + 1;
                    text.push_str(plain);
                    return Some(text);
                }
                [b'\\', escaped, ..] => escaped,
                _ => return None,
            };
            let character = match escaped {
                b'"' => '"',
                b'\\' => '\\',
                b'/' => '/',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                _ => return None,
            };
            text.push_str(plain);
            text.push(character);
            at += 2;
        }
    }
}

/// The number whose first digits are these, and whose others come first in `bytes`; and how many
/// they are. It means nothing where they are more than a `u64` holds.
#[inline]
fn number(bytes: &[u8], first: u64) -> (u64, usize) {
    let mut number = first;
    let mut length = 0;
    while let Some(digit) = bytes.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit <= 9
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        length += 1;
    }
    (number, length)
}

/// Whether a number goes on with this byte, although it is no digit.
fn goes_on(next: Option<&u8>) -> bool {
    matches!(next, Some(b'.' | b'e' | b'E'))
}
