//! [`JsonWriter`]: writes JSON text without building a tree.

use serde_json::Value;

use crate::schema::cursor::before_special;

/// Writes JSON text, with commas where they are needed.
///
/// ```
/// use tool_core::dialect::write::JsonWriter;
///
/// let mut out = JsonWriter::new();
/// out.object(|out| {
///     out.key("name").string("say \"hi\"");
///     out.key("schema").raw(r#"{"type":"object"}"#);
/// });
/// assert_eq!(out.into_string(), r#"{"name":"say \"hi\"","schema":{"type":"object"}}"#);
/// ```
#[derive(Clone, Debug, Default)]
pub struct JsonWriter {
    json: String,
    /// `true` if the next value or key needs a comma. One flag is enough for every depth: after a
    /// closed object or array the answer is always yes.
    needs_comma: bool,
}

impl JsonWriter {
    /// Creates an empty writer.
    #[inline]
    pub fn new() -> JsonWriter {
        JsonWriter::default()
    }

    pub(crate) fn with_capacity(bytes: usize) -> JsonWriter {
        JsonWriter {
            json: String::with_capacity(bytes),
            needs_comma: false,
        }
    }

    /// Writes an object, with the members that `members` writes.
    #[inline]
    pub fn object(&mut self, members: impl FnOnce(&mut JsonWriter)) -> &mut JsonWriter {
        self.enclose('{', members, '}')
    }

    /// Writes an array, with the items that `items` writes.
    #[inline]
    pub fn array(&mut self, items: impl FnOnce(&mut JsonWriter)) -> &mut JsonWriter {
        self.enclose('[', items, ']')
    }

    /// Writes the key of a member. Write its value next.
    #[inline]
    pub fn key(&mut self, key: &str) -> &mut JsonWriter {
        self.string(key);
        self.json.push(':');
        self.needs_comma = false;
        self
    }

    /// Writes a key that needs no escapes.
    #[inline]
    pub fn word(&mut self, key: &'static str) -> &mut JsonWriter {
        debug_assert!(!needs_escapes(key), "{key} needs escapes");
        self.quote(key);
        self.json.push(':');
        self.needs_comma = false;
        self
    }

    /// Writes a key that is JSON text already, with its colon: what every tool of a list has.
    #[inline]
    pub fn quoted(&mut self, key: &'static str) -> &mut JsonWriter {
        debug_assert!(
            key.starts_with('"') && key.ends_with("\":"),
            "{key} is no key with a colon"
        );
        self.separate();
        self.json.push_str(key);
        self.needs_comma = false;
        self
    }

    /// Writes a string.
    #[inline]
    pub fn string(&mut self, text: &str) -> &mut JsonWriter {
        if needs_escapes(text) {
            self.separate();
            self.json.push_str(&Value::from(text).to_string());
        } else {
            self.quote(text);
        }
        self
    }

    /// Writes `true` or `false`.
    #[inline]
    pub fn boolean(&mut self, value: bool) -> &mut JsonWriter {
        self.raw(if value { "true" } else { "false" })
    }

    /// Writes a value that is JSON text already, unchecked.
    #[inline]
    pub fn raw(&mut self, json: &str) -> &mut JsonWriter {
        self.separate();
        self.json.push_str(json);
        self
    }

    /// Returns the text.
    #[inline]
    pub fn into_string(self) -> String {
        self.json
    }

    #[inline]
    fn enclose(
        &mut self,
        open: char,
        inside: impl FnOnce(&mut JsonWriter),
        close: char,
    ) -> &mut JsonWriter {
        self.separate();
        self.json.push(open);
        self.needs_comma = false;
        inside(self);
        self.json.push(close);
        self.needs_comma = true;
        self
    }

    /// Writes a string that needs no escapes.
    #[inline]
    fn quote(&mut self, text: &str) {
        self.separate();
        self.json.push('"');
        self.json.push_str(text);
        self.json.push('"');
    }

    /// Writes a comma if one is needed.
    #[inline]
    fn separate(&mut self) {
        if self.needs_comma {
            self.json.push(',');
        }
        self.needs_comma = true;
    }
}

/// Returns `true` if JSON text of the string differs from it.
#[inline]
fn needs_escapes(text: &str) -> bool {
    before_special(text.as_bytes()) < text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_escaped_as_serde_json_does() {
        for character in (0..=0x300).filter_map(char::from_u32) {
            for length in 0..10 {
                for place in 0..=length {
                    let text = format!("{:é<place$}{character}{:~>1$}", "", length - place);
                    let mut out = JsonWriter::new();
                    out.string(&text);
                    assert_eq!(out.into_string(), serde_json::to_string(&text).unwrap());
                }
            }
        }
    }
}
