//! Steps over JSON text that is known to be well formed.
//!
//! `serde_json` judges what is JSON, before or after a [`Cursor`] passes, so a cursor finds
//! boundaries and reports nothing. It keeps the spelling of numbers, which a generic data model loses: `20.0`
//! and 30 digits are told from `20` and a float. On text that is not JSON it gives nonsense, but
//! neither panics nor hangs.

mod plain;

use std::borrow::Cow;

#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    #[inline]
    pub(crate) fn new(text: &'t str) -> Self {
        Cursor { text, at: 0 }
    }

    /// How many bytes the cursor has passed.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Steps over so many bytes.
    #[inline]
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// What is still to come.
    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The text between this place and a later one.
    pub(crate) fn text_to(&self, end: &Cursor<'t>) -> &'t str {
        self.text.get(self.at..end.at).unwrap_or_default()
    }

    /// The next byte that is not white space, or 0 at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> u8 {
        match self.byte() {
            byte @ b'!'.. => byte,
            _ => self.peek_behind_space(),
        }
    }

    // Apart, so that the callers stay small.
    #[cold]
    #[inline(never)]
    fn peek_behind_space(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        self.byte()
    }

    /// Steps over the next byte if it is this one.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Steps over a member's key and its colon if the key is just this one, as it stands in JSON.
    #[inline]
    pub(crate) fn eat_key(&mut self, name: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = name.len();
        let found = rest.len() > length + 2
            && rest[0] == b'"'
            && rest[length + 1] == b'"'
            && is_same(&rest[1..=length], name.as_bytes());
        if !found {
            return false;
        }
        // Most often there is no white space.
        if rest[length + 2] == b':' {
            self.at += length + 3;
            return true;
        }
        self.eat_distant_colon(length + 2)
    }

    /// Steps over so many bytes, white space and a colon, or over nothing.
    #[cold]
    fn eat_distant_colon(&mut self, bytes: usize) -> bool {
        let mut behind = self.clone();
        behind.at += bytes;
        let has_colon = behind.eat(b':');
        if has_colon {
            *self = behind;
        }
        has_colon
    }

    /// Steps over one whole value and gives its text.
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

    /// Steps over a value that is no string, array or object, and gives its text.
    pub(crate) fn scalar(&mut self) -> &'t str {
        let start = self.at;
        self.skip_scalar();
        &self.text[start..self.at]
    }

    /// Steps over a string.
    pub(crate) fn string(&mut self) -> Quoted<'t> {
        let start = self.at;
        let escapes = self.skip_string();
        Quoted {
            json: &self.text[start..self.at],
            escapes,
        }
    }

    /// Steps over a member's key and its colon, and gives the key.
    pub(crate) fn key(&mut self) -> Quoted<'t> {
        self.peek();
        let key = self.string();
        self.eat(b':');
        key
    }

    /// Steps over a word if it comes next. What follows the word is not looked at.
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
                // A control character, which `serde_json` refuses.
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
        // At least one character, so that a stray bracket can't stop the cursor for good.
        self.at += match length {
            0 => self.rest().chars().next().map_or(1, char::len_utf8),
            length => length,
        };
    }
}

/// Whether two texts of one length are the same. Most keys are short, and calling out to compare
/// them costs more than comparing.
#[inline]
fn is_same(left: &[u8], right: &[u8]) -> bool {
    // The first bytes and the last, which may overlap.
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

/// Whether a byte ends a number or a word.
fn is_end(byte: u8) -> bool {
    matches!(
        byte,
        b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"' | b' ' | b'\n' | b'\r' | b'\t'
    )
}

/// How many bytes come before the first that is special in a string: a quote, a backslash or a
/// control character. Eight bytes are looked at together.
#[inline]
pub(crate) fn before_special(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // Sets the high bit of the first byte that is less than a limit or is not ASCII, and perhaps of
    // some behind it: what a subtraction borrows, it borrows from there.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit));
    let mut passed = 0;
    let (chunks, _) = bytes.as_chunks();
    for chunk in chunks {
        let word = u64::from_le_bytes(*chunk);
        // With this bit flipped a quote comes behind the control characters, and all others beyond.
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

/// Which escapes a string holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Escapes {
    None,
    /// Of one character each, or what is no string in JSON.
    Simple,
    /// `\u` among them, so that it might be half of a surrogate pair.
    Unicode,
}

/// A string as it stands in JSON.
#[derive(Clone, Copy)]
pub(crate) struct Quoted<'t> {
    json: &'t str,
    escapes: Escapes,
}

impl<'t> Quoted<'t> {
    /// With its quotes and its escapes.
    pub(crate) fn json(self) -> &'t str {
        self.json
    }

    /// Its characters. `None` when its escapes make no text: half of a surrogate pair.
    pub(crate) fn text(self) -> Option<Cow<'t, str>> {
        if self.escapes == Escapes::None {
            let inner = self.json.strip_prefix('"')?.strip_suffix('"')?;
            return Some(Cow::Borrowed(inner));
        }
        serde_json::from_str(self.json).ok().map(Cow::Owned)
    }

    /// Whether it is JSON without an escape. Any other string may be JSON.
    pub(crate) fn is_plain(self) -> bool {
        self.escapes == Escapes::None && self.json.starts_with('"')
    }

    /// Whether it is text, provided that it is JSON.
    pub(crate) fn is_text(self) -> bool {
        self.escapes < Escapes::Unicode || self.text().is_some()
    }
}

/// The characters of a string that stands in `quoted`, its quotes included.
///
/// `None` when its escapes make no text: half of a surrogate pair.
pub(crate) fn unquote(quoted: &str) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_if_every_byte_of_it_is_right() {
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
                assert_eq!(cursor.eat_key(&name), is_right, "{text} {name}");
                assert_eq!(cursor.peek(), if is_right { b'1' } else { b'"' });
            }
        }
    }
}
