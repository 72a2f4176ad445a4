//! Reads tokens of the text, and rewrites them.
//!
//! The cursor accepts anything, and `serde_json` decides what is JSON. It need not be asked if every
//! token was in its plainest spelling, which the validator tracks.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{Path, Validator};
use crate::schema::Property;
use crate::schema::cursor::Quoted;

impl<'t> Validator<'t> {
    /// Returns `true` if the text is JSON. Asks `serde_json` once, if the tokens don't tell.
    pub(super) fn is_json(&mut self) -> bool {
        if self.is_plain_json || self.output.is_none() {
            return true;
        }
        let text = self.text;
        let check = || serde_json::from_str::<IgnoredAny>(text);
        self.json_check.get_or_insert_with(check).is_ok()
    }

    /// Returns `true` if the text is JSON and the cursor should be at its end.
    pub(super) fn is_json_to_end(&mut self) -> bool {
        self.cursor.peek();
        self.is_plain_json &= self.cursor.rest().is_empty();
        self.is_json()
    }

    /// Skips a whole value and returns its text.
    pub(super) fn skip_value(&mut self) -> &'t str {
        match self.cursor.peek() {
            b'"' => self.string_token().json(),
            b'{' | b'[' | 0 => {
                // The tokens inside are not checked.
                self.is_plain_json = false;
                self.cursor.value()
            }
            _ => self.scalar(),
        }
    }

    /// Skips a value other than a string, an array or an object, and returns its text. There must be
    /// such a value.
    pub(super) fn scalar(&mut self) -> &'t str {
        let first = self.cursor.peek();
        let start = self.cursor;
        let is_plain = match first {
            b't' => self.cursor.eat_word("true"),
            b'f' => self.cursor.eat_word("false"),
            b'n' => self.cursor.eat_word("null"),
            _ => self.cursor.eat_integer().is_some() || self.cursor.eat_decimal().is_some(),
        };
        if is_plain {
            return start.text_to(&self.cursor);
        }
        self.is_plain_json = false;
        self.cursor.scalar()
    }

    /// Skips a string.
    pub(super) fn string_token(&mut self) -> Quoted<'t> {
        let quoted = self.cursor.string();
        self.is_plain_json &= quoted.is_plain();
        quoted
    }

    /// Skips the opening bracket of an array or an object.
    pub(super) fn open(&mut self, bracket: u8) {
        self.is_plain_json &= self.cursor.eat(bracket);
    }

    /// Returns `true` if an array or an object has another item. Skips the comma before it, or the
    /// closing bracket.
    #[inline]
    pub(super) fn has_next(&mut self, end: u8, is_first: bool) -> bool {
        let mut next = self.cursor.peek();
        if next == end {
            self.cursor.skip(1);
            return false;
        }
        if next == b',' && !is_first {
            self.cursor.skip(1);
            next = self.cursor.peek();
        } else {
            self.is_plain_json &= is_first;
        }
        self.is_plain_json &= next != 0;
        next != 0
    }

    /// Skips a key of the object at `path` and its colon. Reports a key that is not valid text, and
    /// skips its value.
    pub(super) fn key(&mut self, path: &Path<'_>) -> Option<Cow<'t, str>> {
        self.cursor.peek();
        let key = self.string_token();
        self.is_plain_json &= self.cursor.eat(b':');
        let text = key.text();
        if text.is_none() {
            self.skip_value();
            self.report_surrogate(&path.key(key.json()));
        }
        text
    }

    /// Replaces what was skipped since `start`.
    pub(super) fn rewrite_since(&mut self, start: usize, text: &str) {
        if let Some(output) = &mut self.output {
            output.replace(start..self.cursor.position(), text);
        }
    }

    /// Removes the member that was skipped since `start`, with the comma after or before it.
    pub(super) fn remove_since(&mut self, start: usize) {
        let is_last = self.cursor.peek() != b',';
        let end = self.cursor.position();
        if let Some(output) = &mut self.output {
            output.replace(start..end + usize::from(!is_last), "");
            if is_last {
                let before = output.text.trim_end();
                let before = before.strip_suffix(',').unwrap_or(before);
                output.text.truncate(before.len());
            }
        }
    }

    /// Adds a `null` member to the object that was just skipped. serde lets an `Option` be absent,
    /// but not a newtype of one, nor one with `#[serde(with)]`.
    pub(super) fn insert_null(&mut self, property: &Property) {
        if let Some(output) = &mut self.output {
            output.copy_to(self.cursor.position().saturating_sub(1));
            push_null(&mut output.text, property);
        }
    }
}

/// Adds a `null` member to an object without its last brace.
pub(crate) fn push_null(output: &mut String, property: &Property) {
    let is_first = output.trim_end().ends_with('{');
    output.push_str(if is_first { "\"" } else { ",\"" });
    output.push_str(property.name_json());
    output.push_str("\":null");
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use crate::schema::cursor::damaged;
    use crate::schema::validate::{Options, ValidateError, normalise};
    use crate::schema::{Property, Schema, Text};

    const STRINGS: Schema = Schema::array(&Schema::STRING);
    const PAIR: Schema = Schema::tuple(&[&Schema::NUMBER, &Schema::BOOLEAN]);
    const EITHER: Schema = Schema::any_of(&[&PAIR, &OPEN, &Schema::STRING]);
    const OPEN: Schema = Schema::map(&Schema::ANY);

    const fn property(name: &'static str, schema: &'static Schema) -> Property {
        Property::new(Text::new(name), schema)
    }

    const SCHEMA: Schema = Schema::object(&[
        property("city", &Schema::STRING).optional(),
        property("days", &Schema::INTEGER),
        property("tags", &STRINGS),
        property("pair", &PAIR),
        property("either", &EITHER),
        property("open", &OPEN),
    ]);

    #[test]
    fn invalid_json_is_always_distinguished_from_violations() {
        let texts = [
            r#"{"city":"Lis bon","days":30,"tags":["a","b"],"pair":[-1.5,true],"either":[0,false],"open":{"a":[{"b":null}]}}"#,
            r#" { "open" : {} , "days":1e1,"either":{"x":"y"},"tags":[ ],"pair":[10.25 ,false],"city":null }
"#,
            r#"{"city":7,"days":"7","dayz":[1,{"a":2}],"pair":[0,true,null],"either":"\n","tags":{"a":"b"},"open":[]}"#,
            r#"[{"a":"b"},"c",0.5,true]"#,
            r#""größe""#,
            "-0.0",
        ];
        let odd = "{}[]\",:0-.e1tn \\\0\u{7}\u{a0}\u{feff}é";
        for text in texts {
            for (at, text) in damaged(text, odd) {
                let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
                let options = Options {
                    is_lenient: at % 2 == 0,
                    is_rounded: at % 3 == 0,
                };
                for schema in [&SCHEMA, &OPEN, &EITHER] {
                    let result = normalise(schema, &text, options);
                    let is_not_json = matches!(result, Err(ValidateError::NotJson(_)));
                    assert_eq!(is_not_json, !is_json, "{text:?}");
                }
            }
        }
    }
}
