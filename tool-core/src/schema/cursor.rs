//! Steps over JSON text that is known to be well formed.
//!
//! `serde_json` judges what is JSON, before or after a [`Cursor`] passes, so a cursor finds
//! boundaries and reports nothing. It keeps the spelling of numbers, which a generic data model loses: `20.0`
//! and 30 digits are told from `20` and a float. On text that is not JSON it gives nonsense, but
//! neither panics nor hangs.

use std::borrow::Cow;

#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Cursor { text, at: 0 }
    }

    /// How many bytes the cursor has passed.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The text between this place and a later one.
    pub(crate) fn text_to(&self, end: &Cursor<'t>) -> &'t str {
        self.text.get(self.at..end.at).unwrap_or_default()
    }

    /// The next byte that is not white space, or 0 at the end.
    pub(crate) fn peek(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        self.byte()
    }

    /// Steps over the next byte if it is this one.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    /// Steps over one whole value and gives its text.
    pub(crate) fn value(&mut self) -> &'t str {
        self.peek();
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                0 => break,
                b'"' => self.skip_string(),
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

    /// Steps over a member's key and its colon, and gives the key as it stands, quotes included.
    pub(crate) fn key(&mut self) -> &'t str {
        self.peek();
        let start = self.at;
        self.skip_string();
        let key = &self.text[start..self.at];
        self.eat(b':');
        key
    }

    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_string(&mut self) {
        self.at += 1;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at = bytes.len();
    }

    fn skip_scalar(&mut self) {
        let rest = &self.text[self.at..];
        let length = rest
            .find([',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\r', '\t'])
            .unwrap_or(rest.len());
        // At least one character, so that a stray bracket can't stop the cursor for good.
        let first = rest.chars().next().map_or(1, char::len_utf8);
        self.at += length.max(first);
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
