//! Reads arguments that are spelled plainly in one pass.

use serde_json::{Map, Number, Value};

use crate::schema::cursor::Cursor;

/// The deepest nesting to read here.
const DEPTH: usize = 64;

/// Arguments as a value.
pub(super) struct Plain {
    pub(super) value: Value,
    /// `true` if a number has a fraction.
    pub(super) has_fractions: bool,
}

/// Reads JSON in which nothing needs a closer look. Returns `None` if something does: it is not JSON, has a key
/// twice, is nested deeply, or has a number or an escape that is not spelled plainly.
pub(super) fn read(text: &str) -> Option<Plain> {
    let mut reader = Reader {
        cursor: Cursor::new(text),
        has_fractions: false,
    };
    let value = reader.value(DEPTH)?;
    reader.cursor.is_at_end().then_some(Plain {
        value,
        has_fractions: reader.has_fractions,
    })
}

struct Reader<'t> {
    cursor: Cursor<'t>,
    has_fractions: bool,
}

impl Reader<'_> {
    /// Reads a value that nests at most `depth` levels.
    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.cursor.peek() {
            b'"' => match self.cursor.eat_plain_string() {
                Some(text) => Some(Value::String(text.to_owned())),
                None => self.cursor.eat_escaped_string().map(Value::String),
            },
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b't' | b'f' => self.cursor.eat_bool().map(Value::Bool),
            b'n' => self.cursor.eat_word("null").then_some(Value::Null),
            _ => self.number().map(Value::Number),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Map::new();
        self.cursor.skip(1);
        while self.cursor.peek() != b'}' {
            let key = self.cursor.eat_plain_key(members.is_empty())?;
            let value = self.value(depth)?;
            if members.insert(key.to_owned(), value).is_some() {
                return None;
            }
        }
        self.cursor.skip(1);
        Some(Value::Object(members))
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.cursor.skip(1);
        while self.cursor.peek() != b']' {
            if !items.is_empty() && !self.cursor.eat(b',') {
                return None;
            }
            items.push(self.value(depth)?);
        }
        self.cursor.skip(1);
        Some(Value::Array(items))
    }

    fn number(&mut self) -> Option<Number> {
        let start = self.cursor;
        if let Some(number) = self.cursor.eat_integer() {
            return Some(number.into());
        }
        self.cursor.eat_decimal()?;
        self.has_fractions = true;
        // With its feature `arbitrary_precision`, `serde_json` keeps the spelling.
        start.text_to(&self.cursor).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use crate::schema::cursor::damaged;
    use crate::schema::validate::{Options, normalise};

    /// Returns `true` if a text was read. Panics if the value differs from the one that `serde_json` reads.
    fn is_read(text: &str) -> bool {
        let Some(plain) = read(text) else {
            return false;
        };
        let value: Value = serde_json::from_str(text).expect(text);
        assert_eq!(plain.value, value, "{text:?}");
        assert_eq!(plain.value.to_string(), value.to_string(), "{text:?}");
        assert!(
            normalise(&Schema::ANY, text, Options::default()).is_ok(),
            "{text:?}"
        );
        true
    }

    #[test]
    fn plain_arguments_are_read() {
        for text in [
            r#"{"city":"Lis bon","days":30,"tags":["a","b\n"],"pair":[-1.5,true],"open":{"a":[{"b":null}]}}"#,
            " { \"a\" : 0 ,\n\"b\":{ } , \"größe\" : [ ], \"c\": [ 1 , 2 ] } ",
            "{}",
            "[-7.25]",
            "-999999999999999999",
        ] {
            assert!(is_read(text), "{text}");
        }
    }

    #[test]
    fn what_needs_a_closer_look_is_left() {
        let deep = format!("{}{}", "[".repeat(DEPTH + 1), "]".repeat(DEPTH + 1));
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":{"b":1,"c":2,"b":3}}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"\u0061":1}"#,
            r#"{"a":1e400}"#,
            r#"{"a":18446744073709551616}"#,
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#"{,"a":1}"#,
            "[1,]",
            "[,1]",
            "[1 2]",
            "{} {}",
            "-0",
            "",
            &deep,
        ] {
            assert!(!is_read(text), "{text}");
        }
    }

    #[test]
    fn what_is_read_is_what_other_readers_read() {
        let texts = [
            r#"{"city":"Lis bon","days":30,"tags":["a","b"],"pair":[-1.5,true],"open":{"a":[{"b":null}]}}"#,
            " { \"a\" : {} , \"b\":1e1,\"a\\n\":[ ],\"d\":[10.25 ,false],\"e\":null }\n",
            r#"[{"a":"b"},"c",0.5,true,-0.0,00,1.,.5]"#,
            r#""größe\"\u00e9\/""#,
        ];
        let odd = "{}[]\",:0-.e1tn \\\0\u{7}\u{a0}\u{feff}éab";
        let mut read = 0;
        for text in texts {
            read += damaged(text, odd).filter(|(_, text)| is_read(text)).count();
        }
        assert!(read > 500, "{read}");
    }
}
