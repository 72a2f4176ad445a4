//! Steps over JSON text that is assumed to be valid.
//!
//! `serde_json` decides what is valid JSON, before or after a [`Cursor`] passes, so a cursor only
//! finds boundaries and reports no errors. It preserves the spelling of numbers, which a generic
//! data model loses: `20.0` differs from `20`, and 30 digits differ from a float. On invalid JSON
//! its results are meaningless, but it neither panics nor loops forever.

use std::borrow::Cow;

use super::Property;

#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    #[inline]
    pub(crate) fn new(text: &'t str) -> Self {
        Cursor { text, at: 0 }
    }

    /// Returns the number of bytes before the cursor.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Moves forward by a number of bytes.
    #[inline]
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Returns the text after the cursor.
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the text between this cursor and a later one.
    pub(crate) fn text_to(&self, end: &Cursor<'t>) -> &'t str {
        self.text.get(self.at..end.at).unwrap_or_default()
    }

    /// Skips white space and returns the next byte, or 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        match self.byte() {
            byte @ b'!'.. => byte,
            _ => self.peek_after_space(),
        }
    }

    // Not inlined, so that the callers stay small.
    #[cold]
    #[inline(never)]
    fn peek_after_space(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        self.byte()
    }

    /// Returns `true` if only white space is left.
    #[inline]
    pub(crate) fn is_at_end(&mut self) -> bool {
        self.at >= self.text.len() || {
            self.peek_after_space();
            self.at >= self.text.len()
        }
    }

    /// Skips the next byte if it equals `byte`.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Skips a member's key and colon if the key is spelled exactly like `name`.
    #[allow(
        clippy::inline_always,
        reason = "a call would cost 1 % of JSON with spaces"
    )]
    #[inline(always)]
    pub(crate) fn eat_key(&mut self, name: &[u8]) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = name.len();
        let found = rest.len() > length + 2
            && rest[0] == b'"'
            && rest[length + 1] == b'"'
            && is_same(&rest[1..=length], name);
        if !found {
            return false;
        }
        // There is usually no white space.
        if rest[length + 2] == b':' {
            self.at += length + 3;
            return true;
        }
        self.eat_spaced_colon(length + 2)
    }

    /// Skips a number of bytes, white space and a colon, or nothing.
    #[cold]
    fn eat_spaced_colon(&mut self, bytes: usize) -> bool {
        let mut behind = *self;
        behind.at += bytes;
        let has_colon = behind.eat(b':');
        if has_colon {
            *self = behind;
        }
        has_colon
    }

    /// Skips a whole value and returns its text.
    pub(crate) fn value(&mut self) -> &'t str {
        self.peek();
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                0 => break,
                b'"' => {
                    self.skip_string();
                }
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => self.at += 1,
                _ => self.skip_scalar(),
            }
            if depth == 0 {
                break;
            }
        }
        &self.text[start..self.at]
    }

    /// Skips a value other than a string, an array or an object, and returns its text.
    pub(crate) fn scalar(&mut self) -> &'t str {
        let start = self.at;
        self.skip_scalar();
        &self.text[start..self.at]
    }

    /// Skips a string.
    pub(crate) fn string(&mut self) -> Quoted<'t> {
        let start = self.at;
        let escapes = self.skip_string();
        Quoted {
            json: &self.text[start..self.at],
            escapes,
        }
    }

    /// Skips a member's key and colon, and returns the key.
    pub(crate) fn key(&mut self) -> Quoted<'t> {
        self.peek();
        let key = self.string();
        self.eat(b':');
        key
    }

    /// Skips a word if it comes next, whatever follows it.
    #[inline]
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..);
        let found = rest.is_some_and(|rest| rest.starts_with(word.as_bytes()));
        self.at += if found { word.len() } else { 0 };
        found
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_string(&mut self) -> Escapes {
        self.at += 1;
        let bytes = self.text.as_bytes();
        let mut escapes = Escapes::None;
        loop {
            let rest = bytes.get(self.at..).unwrap_or_default();
            let plain = before_special(rest);
            self.at += plain;
            match rest.get(plain..).unwrap_or_default() {
                [b'"', ..] => {
                    self.at += 1;
                    return escapes;
                }
                [b'\\', b'u', ..] => {
                    escapes = Escapes::Unicode;
                    self.at += 2;
                }
                [b'\\', ..] => {
                    escapes = escapes.max(Escapes::Simple);
                    self.at += 2;
                }
                // A control character, which `serde_json` rejects.
                [_, ..] => {
                    escapes = escapes.max(Escapes::Simple);
                    self.at += 1;
                }
                [] => {
                    self.at = bytes.len();
                    return escapes.max(Escapes::Simple);
                }
            }
        }
    }

    fn skip_scalar(&mut self) {
        let bytes = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = bytes.iter().position(|&byte| is_end(byte));
        let length = length.unwrap_or(bytes.len());
        // Skips at least one character, so that a stray bracket cannot stop the cursor forever.
        self.at += match length {
            0 => self.rest().chars().next().map_or(1, char::len_utf8),
            length => length,
        };
    }
}

/// Compares two strings of equal length. Most keys are short, for which a call to `memcmp` costs more
/// than the comparison.
#[inline]
fn is_same(left: &[u8], right: &[u8]) -> bool {
    // The first and the last bytes, which may overlap.
    if let (Some(first), Some(last)) = (left.first_chunk::<8>(), left.last_chunk::<8>()) {
        return right.first_chunk() == Some(first)
            && right.last_chunk() == Some(last)
            && (left.len() <= 16 || left == right);
    }
    if let (Some(first), Some(last)) = (left.first_chunk::<4>(), left.last_chunk::<4>()) {
        return right.first_chunk() == Some(first) && right.last_chunk() == Some(last);
    }
    left.iter().eq(right)
}

/// Returns `true` if a byte ends a number or a word.
fn is_end(byte: u8) -> bool {
    matches!(
        byte,
        b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"' | b' ' | b'\n' | b'\r' | b'\t'
    )
}

/// Returns the number of bytes before the first that is special in a string: a quote, a backslash
/// or a control character. Looks at eight bytes at a time.
#[inline]
pub(crate) fn before_special(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // Sets the high bit of the first byte that is less than a limit or is not ASCII. May also set
    // the result of later bytes, because the subtraction borrows from them.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit));
    let mut passed = 0;
    let (chunks, _) = bytes.as_chunks();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        // Flipping this bit moves the quote to just after the control characters.
        let quote_or_control = below(word ^ (ONES * 2), b'"' - 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = (quote_or_control | backslash) & !word & (ONES << 7);
        if found != 0 {
            return passed + found.trailing_zeros() as usize / 8;
        }
        passed += 8;
    }
    let rest = bytes[passed..].iter();
    passed
        + rest
            .take_while(|byte| !matches!(byte, b'"' | b'\\' | ..0x20))
            .count()
}

/// The escapes that a string contains.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Escapes {
    None,
    /// Escapes of one character each, or invalid JSON.
    Simple,
    /// `\u` among them, so that the string may contain an unpaired surrogate.
    Unicode,
}

/// A string as spelled in JSON.
#[derive(Clone, Copy)]
pub(crate) struct Quoted<'t> {
    json: &'t str,
    escapes: Escapes,
}

impl<'t> Quoted<'t> {
    /// Returns the JSON text, with quotes and escapes.
    pub(crate) fn json(self) -> &'t str {
        self.json
    }

    /// Returns the characters, or `None` if an escape is invalid or an unpaired surrogate.
    pub(crate) fn text(self) -> Option<Cow<'t, str>> {
        if self.escapes == Escapes::None {
            let inner = self.json.strip_prefix('"')?.strip_suffix('"')?;
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str(self.json).ok().map(Cow::Owned)
    }

    /// Returns `true` if this is valid JSON without escapes. Other strings may be valid too.
    pub(crate) fn is_plain(self) -> bool {
        self.escapes == Escapes::None && self.json.starts_with('"')
    }

    /// Returns `true` if the characters are valid text, provided that this is valid JSON.
    pub(crate) fn is_text(self) -> bool {
        self.escapes < Escapes::Unicode || self.text().is_some()
    }
}

/// Returns the characters of a JSON string. Returns `None` if `json` is not a string, or if an
/// escape is invalid or an unpaired surrogate.
pub(crate) fn unquote(json: &str) -> Option<Cow<'_, str>> {
    if !json.starts_with('"') {
        return None;
    }
    Cursor::new(json).string().text()
}

/// Values in their plainest spelling, which is the usual one. Here the cursor is exact: these functions
/// skip only valid JSON, with the meaning that `serde_json` gives to it. They leave other spellings for
/// slower functions, without moving past anything but white space.
impl<'t> Cursor<'t> {
    /// Reads `true` or `false`.
    pub(crate) fn eat_bool(&mut self) -> Option<bool> {
        let next = self.peek();
        let word = if next == b't' { "true" } else { "false" };
        self.eat_word(word).then_some(next == b't')
    }

    /// Reads an integer of at most 18 digits without fraction or exponent, other than `-0`.
    pub(crate) fn eat_integer(&mut self) -> Option<i64> {
        let (is_negative, digits) = self.sign_and_digits()?;
        let (number, length) = parse_digits(digits, 0);
        if !(1..=18).contains(&length) || continues_number(digits.get(length)) {
            return None;
        }
        // JSON does not allow leading zeros.
        if digits[0] == b'0' && (length > 1 || is_negative) {
            return None;
        }
        self.at += usize::from(is_negative) + length;
        let number = number.cast_signed();
        Some(if is_negative { -number } else { number })
    }

    /// Reads a number of at most 15 digits with a fraction and without exponent.
    ///
    /// So many digits and the power of ten are exact as floats, so the one division rounds correctly.
    pub(crate) fn eat_decimal(&mut self) -> Option<f64> {
        const POWERS: [f64; 16] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
        ];
        let (is_negative, digits) = self.sign_and_digits()?;
        let (whole, before) = parse_digits(digits, 0);
        let [b'.', fraction @ ..] = digits.get(before..)? else {
            return None;
        };
        let (number, after) = parse_digits(fraction, whole);
        if before == 0 || after == 0 || before + after > 15 || continues_number(fraction.get(after))
        {
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

    /// Returns `true` if a minus comes next, and the bytes after it.
    #[inline]
    fn sign_and_digits(&mut self) -> Option<(bool, &'t [u8])> {
        let is_negative = self.peek() == b'-';
        let rest = self.text.as_bytes().get(self.at..)?;
        Some((is_negative, &rest[usize::from(is_negative)..]))
    }

    /// Reads a string without escapes. White space must have been skipped.
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

    /// Skips a string if it is spelled exactly like `plain`, which needs no escapes.
    #[inline]
    pub(crate) fn eat_string(&mut self, plain: &str) -> bool {
        let end = self.at + plain.len() + 2;
        let Some(string) = self.text.as_bytes().get(self.at..end) else {
            return false;
        };
        let found = string.first() == Some(&b'"')
            && string.last() == Some(&b'"')
            && is_same(&string[1..string.len() - 1], plain.as_bytes());
        if found {
            self.at = end;
        }
        found
    }

    /// Skips the byte `before`, a member's key and the colon, if the key is spelled exactly like `name`
    /// and there is no white space.
    #[inline]
    pub(crate) fn eat_member(&mut self, before: u8, name: &[u8]) -> bool {
        let end = self.at + name.len() + 4;
        let Some(member) = self.text.as_bytes().get(self.at..end) else {
            return false;
        };
        let found = member.first_chunk() == Some(&[before, b'"'])
            && member.last_chunk() == Some(b"\":")
            && is_same(&member[2..member.len() - 2], name);
        if found {
            self.at = end;
        }
        found
    }

    /// Skips the byte `before`, the key of a property and the colon, if the key is spelled exactly like its name.
    #[inline]
    pub(crate) fn eat_next(&mut self, before: u8, property: &Property) -> bool {
        let Some(name) = property.plain_key() else {
            return false;
        };
        self.eat_member(before, name) || self.eat_spaced(before, name)
    }

    /// Skips the same with white space in it. Not inlined, so that the loop over an object stays small.
    #[inline(never)]
    fn eat_spaced(&mut self, before: u8, name: &[u8]) -> bool {
        let mut next = *self;
        let found = next.eat(before) && next.peek() == b'"' && next.eat_key(name);
        if found {
            // A plain value has no white space before it.
            next.peek();
            *self = next;
        }
        found
    }

    /// Reads a member's key without escapes, with the colon after it and, unless the member is the
    /// first, the comma before it.
    pub(crate) fn eat_plain_key(&mut self, is_first: bool) -> Option<&'t str> {
        let mut next = *self;
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

    /// Reads a string whose escapes are of one character each.
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

/// Parses digits, continuing the number `first`. Returns the number and the count of digits. The
/// number is meaningless if it overflows.
#[inline]
fn parse_digits(bytes: &[u8], first: u64) -> (u64, usize) {
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

/// Returns `true` if `next` continues a number as a fraction or an exponent.
fn continues_number(next: Option<&u8>) -> bool {
    matches!(next, Some(b'.' | b'e' | b'E'))
}

/// Returns a text with each of its characters removed, replaced by an odd one, or preceded by one; each with the place.
#[cfg(test)]
pub(crate) fn damaged(text: &str, odd: &str) -> impl Iterator<Item = (usize, String)> {
    text.char_indices().flat_map(move |(at, old)| {
        let (before, from) = text.split_at(at);
        let behind = &from[old.len_utf8()..];
        let put = odd.chars().map(move |new| format!("{before}{new}{from}"));
        let swapped = odd.chars().map(move |new| format!("{before}{new}{behind}"));
        let cut = [before.to_owned(), format!("{before}{behind}")];
        put.chain(swapped).chain(cut).map(move |text| (at, text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_matches_only_if_every_byte_is_equal() {
        for length in 0..40 {
            let name: String = ('a'..='z').cycle().take(length).collect();
            for wrong in 0..=length {
                let mut key = name.clone().into_bytes();
                let is_right = wrong == length;
                if !is_right {
                    key[wrong] = b'_';
                }
                let text = format!("\"{}\" : 1", String::from_utf8(key).unwrap());
                let mut cursor = Cursor::new(&text);
                assert_eq!(cursor.eat_key(name.as_bytes()), is_right, "{text} {name}");
                assert_eq!(cursor.peek(), if is_right { b'1' } else { b'"' });
            }
        }
    }
}
