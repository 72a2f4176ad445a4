//! Values that are spelled in the plainest way, which is the usual one. Here a cursor is exact: what
//! it takes is JSON, and means what `serde_json` reads.

use super::{Cursor, before_special};

impl<'t> Cursor<'t> {
    /// Steps over an integer of at most 18 digits that is spelled with nothing but these and a
    /// sign, and that is no negative zero. Any other value is left for a closer look.
    pub(crate) fn eat_integer(&mut self) -> Option<i64> {
        let (is_negative, digits) = self.unsigned();
        let (number, length) = number(digits, 0);
        let next = digits.get(length).copied().unwrap_or(b' ');
        // A zero in front is no JSON.
        let is_plain = length == 1 && !is_negative || length > 0 && digits[0] != b'0';
        if length > 18 || !is_plain || goes_on(next) {
            return None;
        }
        self.at += length + usize::from(is_negative);
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
        let (is_negative, digits) = self.unsigned();
        let (whole, before) = number(digits, 0);
        let [b'.', behind @ ..] = digits.get(before..)? else {
            return None;
        };
        let (number, after) = number(behind, whole);
        let next = behind.get(after).copied().unwrap_or(b' ');
        let is_plain = before == 1 || before > 1 && digits[0] != b'0';
        if !is_plain || after == 0 || before + after > 15 || goes_on(next) {
            return None;
        }
        self.at += before + 1 + after + usize::from(is_negative);
        #[allow(clippy::cast_precision_loss, reason = "of 15 digits nothing is lost")]
        let number = number as f64 / POWERS[after];
        Some(if is_negative { -number } else { number })
    }

    /// Whether a minus comes next, and what comes behind it.
    fn unsigned(&self) -> (bool, &'t [u8]) {
        match self.text.as_bytes().get(self.at..).unwrap_or_default() {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        }
    }

    /// Steps over a string that stands in JSON as it is, and gives what is between its quotes. The
    /// cursor must be before a quote.
    #[inline]
    pub(crate) fn eat_plain_string(&mut self) -> Option<&'t str> {
        let start = self.at + 1;
        let end = start + before_special(self.text.as_bytes().get(start..)?);
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(start..end)
    }

    /// Steps over a member's key and its colon, and before them over a comma unless the member is
    /// the first. Any key but a plain one is left for a closer look.
    pub(crate) fn eat_plain_key(&mut self, is_first: bool) -> Option<&'t str> {
        let mut next = self.clone();
        if !is_first && !next.eat(b',') || next.peek() != b'"' {
            return None;
        }
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

/// Whether a number goes on with this byte although it is no digit.
fn goes_on(byte: u8) -> bool {
    matches!(byte, b'.' | b'e' | b'E')
}
