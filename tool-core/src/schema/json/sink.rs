//! The writer itself: constant functions over slices.

use super::names::{Names, check, find};
use crate::schema::{
    ArrayRule, IntegerRange, Kind, Lengths, MapRule, NumberRange, Schema, StringRule, Strings, Text,
};

pub(super) struct Sink<'a> {
    pub(super) out: &'a mut [u8],
    pub(super) at: usize,
    pub(super) is_result: bool,
    pub(super) names: Names,
}

impl Sink<'_> {
    pub(super) const fn put(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    /// Copies whole characters, if there is room for them.
    ///
    /// A loop over bytes trips rustc's `long_running_const_eval` at a few hundred KB, and safe
    /// slicing costs the compiler six times as much, which doubled the time of checking a tool.
    #[allow(unsafe_code)]
    const fn put_bytes(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if end <= self.out.len() {
            // SAFETY: `at..end` lies inside `out`, as was just checked. `out` is borrowed mutably,
            // so `bytes` is no part of it.
            unsafe {
                let place = self.out.as_mut_ptr().add(self.at);
                core::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
            }
        }
        self.at = end;
    }

    /// A whole document: the schema, and the definitions that it refers to.
    pub(super) const fn root(&mut self, schema: &Schema) {
        self.put("{");
        let start = self.at;
        self.body(schema);
        self.describe(schema.description, schema.notes, start);
        if self.names.count > 0 {
            self.separate(start);
            self.put("\"$defs\":{");
            let mut at = 0;
            while at < self.names.count {
                let name = self.names.names[at];
                self.put(if at > 0 { ",\"" } else { "\"" });
                self.put(name);
                self.put("\":{");
                let start = self.at;
                let Some(definition) = find(schema, name) else {
                    panic!(
                        "a recursive type is only referred to in this schema; mark the field that \
                         leads back to it, `#[param(recursive)]`, in the type that the tool takes"
                    )
                };
                check(schema, name, definition);
                self.body(definition);
                self.describe(definition.description, definition.notes, start);
                self.put("}");
                at += 1;
            }
            self.put("}");
        }
        self.put("}");
    }

    /// A schema inside of another.
    pub(super) const fn schema(&mut self, schema: &Schema, description: Text) {
        self.put("{");
        let start = self.at;
        self.content(schema, description, start);
        self.put("}");
    }

    pub(super) const fn content(&mut self, schema: &Schema, description: Text, start: usize) {
        if schema.name.is_empty() || !self.names.hold(schema.name) {
            self.body(schema);
        } else {
            self.reference(schema.name);
        }
        self.describe(description, schema.notes, start);
    }

    const fn body(&mut self, schema: &Schema) {
        match schema.kind {
            Kind::Any => {}
            Kind::Null => self.put("\"type\":\"null\""),
            Kind::Boolean => self.put("\"type\":\"boolean\""),
            Kind::Integer(range) => self.integer(range),
            Kind::Number(range) => self.numbers(range),
            Kind::String(rule) => self.string(rule),
            Kind::Enum(strings) => self.strings(strings),
            Kind::Array(rule) => self.array(rule),
            Kind::Tuple(items) => self.tuple(items),
            Kind::Map(rule) => self.map(rule),
            Kind::Object(properties) => self.object(properties),
            Kind::AnyOf(schemas) => {
                self.put("\"anyOf\":");
                self.list(schemas);
            }
            Kind::Nullable(inner) => self.nullable(inner),
            Kind::Reference(reference) => self.reference(reference.name),
        }
    }

    const fn reference(&mut self, name: &str) {
        self.put("\"$ref\":\"#/$defs/");
        self.put(name);
        self.put("\"");
    }

    pub(super) const fn describe(&mut self, description: Text, notes: Text, start: usize) {
        if description.is_empty() && notes.is_empty() {
            return;
        }
        self.separate(start);
        self.put("\"description\":\"");
        self.put(description.json);
        if !notes.is_empty() {
            if !description.is_empty() {
                self.put("\\n");
            }
            self.put(notes.json);
        }
        self.put("\"");
    }

    /// A comma, unless nothing stands before it.
    pub(super) const fn separate(&mut self, start: usize) {
        if self.at > start {
            self.put(",");
        }
    }

    const fn integer(&mut self, range: IntegerRange) {
        self.put("\"type\":\"integer\"");
        if range.shows_minimum {
            self.put(",\"minimum\":");
            self.whole(range.minimum);
        }
        if range.shows_maximum {
            self.put(",\"maximum\":");
            self.whole(range.maximum);
        }
        if range.multiple_of != 0 {
            self.put(",\"multipleOf\":");
            self.whole(range.multiple_of);
        }
    }

    const fn numbers(&mut self, range: NumberRange) {
        self.put("\"type\":\"number\"");
        if let Some(bound) = range.minimum {
            self.put(if bound.is_exclusive {
                ",\"exclusiveMinimum\":"
            } else {
                ",\"minimum\":"
            });
            self.put(bound.json);
        }
        if let Some(bound) = range.maximum {
            self.put(if bound.is_exclusive {
                ",\"exclusiveMaximum\":"
            } else {
                ",\"maximum\":"
            });
            self.put(bound.json);
        }
        if let Some(step) = range.multiple_of {
            self.put(",\"multipleOf\":");
            self.put(step.json);
        }
    }

    const fn string(&mut self, rule: StringRule) {
        self.put("\"type\":\"string\"");
        self.lengths(rule.lengths, ",\"minLength\":", ",\"maxLength\":");
        if !rule.pattern.is_empty() {
            self.put(",\"pattern\":\"");
            self.put(rule.pattern.json);
            self.put("\"");
        }
        if !rule.format.is_empty() {
            self.put(",\"format\":\"");
            self.put(rule.format);
            self.put("\"");
        }
    }

    const fn strings(&mut self, strings: Strings) {
        if strings.is_tag {
            self.put("\"type\":\"string\",\"const\":\"");
            self.put(strings.values[0].json);
            self.put("\"");
            return;
        }
        self.put("\"type\":\"string\",\"enum\":[");
        let mut at = 0;
        while at < strings.values.len() {
            self.put(if at > 0 { ",\"" } else { "\"" });
            self.put(strings.values[at].json);
            self.put("\"");
            at += 1;
        }
        self.put("]");
    }

    const fn array(&mut self, rule: ArrayRule) {
        self.put("\"type\":\"array\",\"items\":");
        self.schema(rule.items, rule.items.description);
        self.lengths(rule.lengths, ",\"minItems\":", ",\"maxItems\":");
        if rule.is_unique {
            self.put(",\"uniqueItems\":true");
        }
    }

    const fn tuple(&mut self, items: &[&'static Schema]) {
        if items.is_empty() {
            // JSON Schema wants at least one item in `prefixItems`.
            self.put("\"type\":\"array\",\"items\":{}");
        } else {
            self.put("\"type\":\"array\",\"prefixItems\":");
            self.list(items);
            self.put(",\"items\":false");
        }
        self.lengths(
            Lengths::exactly(items.len()),
            ",\"minItems\":",
            ",\"maxItems\":",
        );
    }

    const fn list(&mut self, schemas: &[&'static Schema]) {
        self.put("[");
        let mut at = 0;
        while at < schemas.len() {
            if at > 0 {
                self.put(",");
            }
            self.schema(schemas[at], schemas[at].description);
            at += 1;
        }
        self.put("]");
    }

    pub(super) const fn nullable(&mut self, inner: &Schema) {
        self.put("\"anyOf\":[");
        self.schema(inner, Text::EMPTY);
        self.put(",{\"type\":\"null\"}]");
    }

    const fn map(&mut self, rule: MapRule) {
        self.put("\"type\":\"object\"");
        match rule.keys.kind {
            // Some keys and no other: the members of an object, none of them required.
            Kind::Enum(keys) => {
                self.put(",\"properties\":{");
                let mut at = 0;
                while at < keys.values.len() {
                    self.put(if at > 0 { ",\"" } else { "\"" });
                    self.put(keys.values[at].json);
                    self.put("\":");
                    self.schema(rule.values, rule.values.description);
                    at += 1;
                }
                self.put("},\"additionalProperties\":false");
            }
            Kind::Integer(range) => {
                self.put(if range.minimum < 0 {
                    ",\"patternProperties\":{\"^(0|-?[1-9][0-9]*)$\":"
                } else {
                    ",\"patternProperties\":{\"^(0|[1-9][0-9]*)$\":"
                });
                self.schema(rule.values, rule.values.description);
                self.put("},\"additionalProperties\":false");
            }
            Kind::String(keys) if !keys.lengths.is_any() => {
                // One character.
                self.put(",\"patternProperties\":{\"^[\\\\s\\\\S]$\":");
                self.schema(rule.values, rule.values.description);
                self.put("},\"additionalProperties\":false");
            }
            _ => {
                if !matches!(rule.values.kind, Kind::Any) || !rule.values.description.is_empty() {
                    self.put(",\"additionalProperties\":");
                    self.schema(rule.values, rule.values.description);
                }
            }
        }
        self.lengths(rule.lengths, ",\"minProperties\":", ",\"maxProperties\":");
    }

    const fn lengths(&mut self, lengths: Lengths, minimum: &str, maximum: &str) {
        if lengths.minimum > 0 {
            self.put(minimum);
            self.whole(lengths.minimum as i128);
        }
        if lengths.maximum < usize::MAX {
            self.put(maximum);
            self.whole(lengths.maximum as i128);
        }
    }

    const fn whole(&mut self, number: i128) {
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
