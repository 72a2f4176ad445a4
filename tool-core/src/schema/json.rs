//! Writes a schema tree as JSON text, in constants as well as at run time.
//!
//! One function serves both passes of the compile-time rendering: it measures when it is given
//! too little room and writes when it is given enough, so the two can't drift apart.

use super::{IntegerRange, Kind, Lengths, Property, Schema, Text};

/// Which way the values of a schema go. It matters for what may be left out: a call should leave
/// it out, while serde writes a result's `None` as `null`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a model to a tool.
    Arguments,
    /// From a tool to a model.
    Result,
}

/// The JSON text of a schema, rendered while compiling.
///
/// Only [`JsonText::of`] makes one, so its bytes are text: see [`JsonText::as_str`].
pub struct JsonText<const LENGTH: usize>([u8; LENGTH]);

impl<const LENGTH: usize> JsonText<LENGTH> {
    /// Renders `schema`, whose JSON text is `LENGTH` bytes long; no schema has no text.
    ///
    /// # Panics
    ///
    /// When `LENGTH` is not what [`json_length`] says.
    pub const fn of(schema: Option<&Schema>, direction: Direction) -> Self {
        let mut bytes = [0; LENGTH];
        let length = write(schema, direction, &mut bytes);
        assert!(
            length == LENGTH,
            "the length of a schema's text was miscounted"
        );
        JsonText(bytes)
    }

    /// The text.
    #[allow(unsafe_code)]
    pub const fn as_str(&self) -> &str {
        // Validating again costs 1.6 s of compile time for 400 tools.
        // SAFETY: `of` is the only constructor. It fills the bytes through `Sink::put` alone,
        // which copies whole `&str`s (or ASCII digits) one behind the other from the first byte
        // on, and it asserts that they end at the last. A row of whole UTF-8 texts is UTF-8.
        unsafe { core::str::from_utf8_unchecked(&self.0) }
    }
}

/// How many bytes the JSON text of a schema takes; 0 for none.
pub const fn json_length(schema: Option<&Schema>, direction: Direction) -> usize {
    write(schema, direction, &mut [])
}

/// The JSON text of a schema of arguments, rendered at run time.
pub(super) fn to_string(schema: &Schema) -> String {
    let mut bytes = vec![0; json_length(Some(schema), Direction::Arguments)];
    write(Some(schema), Direction::Arguments, &mut bytes);
    String::from_utf8(bytes).expect("a schema is written from whole strings")
}

/// Writes as much as there is room for and says how much room is needed.
const fn write(schema: Option<&Schema>, direction: Direction, out: &mut [u8]) -> usize {
    let mut sink = Sink {
        out,
        at: 0,
        direction,
    };
    if let Some(schema) = schema {
        sink.schema(schema, schema.description, "");
    }
    sink.at
}

struct Sink<'a> {
    out: &'a mut [u8],
    at: usize,
    direction: Direction,
}

impl Sink<'_> {
    const fn put(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    /// Copies whole characters. A slice copy, because a loop over bytes trips rustc's
    /// `long_running_const_eval` at a few hundred KB.
    const fn put_bytes(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if end <= self.out.len() {
            let (_, tail) = self.out.split_at_mut(self.at);
            let (place, _) = tail.split_at_mut(bytes.len());
            place.copy_from_slice(bytes);
        }
        self.at = end;
    }

    const fn schema(&mut self, schema: &Schema, description: Text, default: &str) {
        self.put("{");
        let start = self.at;
        match schema.kind {
            Kind::Any => {}
            Kind::Boolean => self.put("\"type\":\"boolean\""),
            Kind::Integer(range) => self.integer(range),
            Kind::Number => self.put("\"type\":\"number\""),
            Kind::String(lengths) => {
                self.put("\"type\":\"string\"");
                self.lengths(lengths, ",\"minLength\":", ",\"maxLength\":");
            }
            Kind::Enum(values) => self.strings(values),
            Kind::Array(items, lengths) => {
                self.put("\"type\":\"array\",\"items\":");
                self.schema(items, items.description, "");
                self.lengths(lengths, ",\"minItems\":", ",\"maxItems\":");
            }
            Kind::Map(values) => self.map(values),
            Kind::Object(properties) => self.object(properties),
            Kind::Nullable(inner) => self.nullable(inner),
        }
        if !description.is_empty() {
            self.separate(start);
            self.put("\"description\":\"");
            self.put(description.json);
            self.put("\"");
        }
        if !default.is_empty() {
            self.separate(start);
            self.put("\"default\":");
            self.put(default);
        }
        self.put("}");
    }

    /// A comma, unless nothing stands before it.
    const fn separate(&mut self, start: usize) {
        if self.at > start {
            self.put(",");
        }
    }

    const fn integer(&mut self, range: IntegerRange) {
        self.put("\"type\":\"integer\"");
        if range.shows_minimum {
            self.put(",\"minimum\":");
            self.number(range.minimum);
        }
        if range.shows_maximum {
            self.put(",\"maximum\":");
            self.number(range.maximum);
        }
    }

    const fn lengths(&mut self, lengths: Lengths, minimum: &str, maximum: &str) {
        if lengths.minimum > 0 {
            self.put(minimum);
            self.number(lengths.minimum as i128);
        }
        if lengths.maximum < usize::MAX {
            self.put(maximum);
            self.number(lengths.maximum as i128);
        }
    }

    const fn strings(&mut self, values: &[Text]) {
        self.put("\"type\":\"string\",\"enum\":[");
        let mut at = 0;
        while at < values.len() {
            if at > 0 {
                self.put(",");
            }
            self.put("\"");
            self.put(values[at].json);
            self.put("\"");
            at += 1;
        }
        self.put("]");
    }

    const fn nullable(&mut self, inner: &Schema) {
        self.put("\"anyOf\":[");
        self.schema(inner, Text::EMPTY, "");
        self.put(",{\"type\":\"null\"}]");
    }

    const fn map(&mut self, values: &Schema) {
        self.put("\"type\":\"object\"");
        if !matches!(values.kind, Kind::Any) || !values.description.is_empty() {
            self.put(",\"additionalProperties\":");
            self.schema(values, values.description, "");
        }
    }

    const fn object(&mut self, properties: &[Property]) {
        self.put("\"type\":\"object\",\"properties\":{");
        let mut at = 0;
        while at < properties.len() {
            let property = &properties[at];
            if at > 0 {
                self.put(",");
            }
            self.put("\"");
            self.put(property.name.json);
            self.put("\":");
            if property.nullable && matches!(self.direction, Direction::Result) {
                self.schema(
                    &Schema::of(Kind::Nullable(property.schema)),
                    property.text(),
                    "",
                );
            } else {
                self.schema(property.schema, property.text(), property.default);
            }
            at += 1;
        }
        self.put("}");
        let mut some = false;
        let mut at = 0;
        while at < properties.len() {
            let skipped = properties[at].skipped && matches!(self.direction, Direction::Result);
            if properties[at].required && !skipped {
                self.put(if some { ",\"" } else { ",\"required\":[\"" });
                self.put(properties[at].name.json);
                self.put("\"");
                some = true;
            }
            at += 1;
        }
        self.put(if some {
            "],\"additionalProperties\":false"
        } else {
            ",\"additionalProperties\":false"
        });
    }

    const fn number(&mut self, number: i128) {
        // 39 digits hold any i128.
        let mut digits = [0; 39];
        let mut at = digits.len();
        let mut rest = number.unsigned_abs();
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if number < 0 {
            self.put("-");
        }
        let (_, digits) = digits.split_at(at);
        self.put_bytes(digits);
    }
}
