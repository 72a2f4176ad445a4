//! The steps of a walker over the text. They note whether all that they pass is JSON.
//!
//! The cursor passes over anything, and `serde_json` judges what is JSON. But where the walk saw
//! nothing that is not in its plainest spelling, there is no more to judge.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::{Path, Walker};
use crate::schema::cursor::Quoted;

impl<'t> Walker<'t> {
    /// Whether the text is JSON. `serde_json` is asked once, where the walk can't tell.
    pub(super) fn is_json(&mut self) -> bool {
        if self.is_plain || self.output.is_none() {
            return true;
        }
        let text = self.text;
        let judge = || serde_json::from_str::<IgnoredAny>(text);
        self.verdict.get_or_insert_with(judge).is_ok()
    }

    /// The same once all of it should have been passed.
    pub(super) fn is_json_to_the_end(&mut self) -> bool {
        self.cursor.peek();
        self.is_plain &= self.cursor.rest().is_empty();
        self.is_json()
    }

    /// Steps over one whole value and gives its text.
    pub(super) fn pass(&mut self) -> &'t str {
        match self.cursor.peek() {
            b'"' => self.quoted().json(),
            b'{' | b'[' | 0 => {
                // What it holds is not looked at.
                self.is_plain = false;
                self.cursor.value()
            }
            _ => self.scalar(),
        }
    }

    /// Steps over a value that is no string, array or object, and gives its text. One must come.
    pub(super) fn scalar(&mut self) -> &'t str {
        let first = self.cursor.peek();
        let start = self.cursor.clone();
        let is_plain = match first {
            b't' => self.cursor.eat_word("true"),
            b'f' => self.cursor.eat_word("false"),
            b'n' => self.cursor.eat_word("null"),
            _ => self.cursor.eat_integer().is_some() || self.cursor.eat_decimal().is_some(),
        };
        if is_plain {
            return start.text_to(&self.cursor);
        }
        self.is_plain = false;
        self.cursor.scalar()
    }

    /// Steps over a string.
    pub(super) fn quoted(&mut self) -> Quoted<'t> {
        let quoted = self.cursor.string();
        self.is_plain &= quoted.is_plain();
        quoted
    }

    /// Steps into an array or an object.
    pub(super) fn open(&mut self, bracket: u8) {
        self.is_plain &= self.cursor.eat(bracket);
    }

    /// Whether an array or an object goes on. Steps over the comma before what comes next, or over
    /// the end.
    #[inline]
    pub(super) fn goes_on(&mut self, end: u8, is_first: bool) -> bool {
        let mut next = self.cursor.peek();
        if next == end {
            self.cursor.skip(1);
            return false;
        }
        if next == b',' && !is_first {
            self.cursor.skip(1);
            next = self.cursor.peek();
        } else {
            self.is_plain &= is_first;
        }
        self.is_plain &= next != 0;
        next != 0
    }

    /// Steps over the next key and its colon. What is no text is reported, and its value passed.
    pub(super) fn key(&mut self) -> Option<Cow<'t, str>> {
        self.cursor.peek();
        let key = self.quoted();
        self.is_plain &= self.cursor.eat(b':');
        let text = key.text();
        if text.is_none() {
            self.pass();
            self.no_text(&Path::ROOT.key(key.json()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use crate::schema::validate::{ValidateError, normalise};
    use crate::schema::{Property, Schema, Text};

    const STRINGS: Schema = Schema::array(&Schema::STRING);
    const PAIR: Schema = Schema::tuple(&[&Schema::NUMBER, &Schema::BOOLEAN]);
    const EITHER: Schema = Schema::any_of(&[&PAIR, &OPEN, &Schema::STRING]);
    const OPEN: Schema = Schema::map(&Schema::ANY);

    const fn property(name: &'static str, schema: &'static Schema) -> Property {
        Property::new(Text::new(name), Text::EMPTY, schema)
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
    fn what_is_no_json_is_told_from_mistakes_whatever_stands_there() {
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
            for (at, old) in text.char_indices() {
                let (before, from) = text.split_at(at);
                let behind = &from[old.len_utf8()..];
                let put = odd.chars().map(|new| format!("{before}{new}{from}"));
                let swapped = odd.chars().map(|new| format!("{before}{new}{behind}"));
                let cut = [before.to_owned(), format!("{before}{behind}")];
                for text in put.chain(swapped).chain(cut) {
                    let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
                    for schema in [&SCHEMA, &OPEN, &EITHER] {
                        let verdict = normalise(schema, &text, at % 2 == 0);
                        let is_refused = matches!(verdict, Err(ValidateError::NoJson(_)));
                        assert_eq!(is_refused, !is_json, "{text:?}");
                    }
                }
            }
        }
    }
}
