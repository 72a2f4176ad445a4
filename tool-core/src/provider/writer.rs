//! [`JsonWriter`]: JSON text piece by piece, without a tree in between.

use serde_json::Value;

use crate::schema::cursor::before_special;

/// Writes JSON text. Commas come by themselves.
///
/// ```
/// use tool_core::dialect::JsonWriter;
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
    /// Whether something stands before the place that is written next. One flag does for every
    /// depth: what encloses a closed object or array has that before it.
    follows: bool,
}

impl JsonWriter {
    /// Nothing written yet.
    pub fn new() -> JsonWriter {
        JsonWriter::default()
    }

    pub(crate) fn with_capacity(bytes: usize) -> JsonWriter {
        JsonWriter {
            json: String::with_capacity(bytes),
            follows: false,
        }
    }

    /// An object, whose members `members` writes.
    pub fn object(&mut self, members: impl FnOnce(&mut JsonWriter)) -> &mut JsonWriter {
        self.enclose('{', members, '}')
    }

    /// An array, whose items `items` writes.
    pub fn array(&mut self, items: impl FnOnce(&mut JsonWriter)) -> &mut JsonWriter {
        self.enclose('[', items, ']')
    }

    /// The key of a member, whose value is to be written next.
    pub fn key(&mut self, key: &str) -> &mut JsonWriter {
        self.string(key);
        self.json.push(':');
        self.follows = false;
        self
    }

    /// The same for a key of ours, which is a word.
    #[inline]
    pub(crate) fn word(&mut self, key: &'static str) -> &mut JsonWriter {
        debug_assert!(!needs_escapes(key), "{key} is no word");
        self.quote(key);
        self.json.push(':');
        self.follows = false;
        self
    }

    /// A string.
    pub fn string(&mut self, text: &str) -> &mut JsonWriter {
        if needs_escapes(text) {
            self.separate();
            self.json.push_str(&Value::from(text).to_string());
        } else {
            self.quote(text);
        }
        self
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) -> &mut JsonWriter {
        self.raw(if value { "true" } else { "false" })
    }

    /// A value that is JSON text already. It is copied, not checked.
    pub fn raw(&mut self, json: &str) -> &mut JsonWriter {
        self.separate();
        self.json.push_str(json);
        self
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.json
    }

    fn enclose(
        &mut self,
        open: char,
        inside: impl FnOnce(&mut JsonWriter),
        close: char,
    ) -> &mut JsonWriter {
        self.separate();
        self.json.push(open);
        self.follows = false;
        inside(self);
        self.json.push(close);
        self.follows = true;
        self
    }

    /// A string that is the same in JSON.
    #[inline]
    fn quote(&mut self, text: &str) {
        self.separate();
        self.json.push('"');
        self.json.push_str(text);
        self.json.push('"');
    }

    /// A comma, unless nothing stands before it.
    fn separate(&mut self) {
        if self.follows {
            self.json.push(',');
        }
        self.follows = true;
    }
}

/// Whether a string stands in JSON otherwise than as it is.
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
