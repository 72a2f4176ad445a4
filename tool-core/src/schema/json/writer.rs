//! The writer itself: constant functions over slices.

use super::names::{Names, find};
use crate::schema::{ArrayRule, Kind, Lengths, MapRule, Schema, Text};

/// What the compiler interprets costs by the call, some microseconds each whatever it does, so the
/// functions that run for every piece of text avoid calls rather than steps.
pub(super) struct ConstJsonWriter<'a> {
    pub(super) out: &'a mut [u8],
    room: usize,
    pub(super) at: usize,
    pub(super) is_result: bool,
    names: &'a Names,
    /// Whether a reference was written, so that `names` must hold what it refers to.
    pub(super) has_references: bool,
}

impl<'a> ConstJsonWriter<'a> {
    /// A writer that begins at `at`.
    pub(super) const fn new(
        out: &'a mut [u8],
        at: usize,
        is_result: bool,
        names: &'a Names,
    ) -> ConstJsonWriter<'a> {
        ConstJsonWriter {
            room: out.len(),
            out,
            at,
            is_result,
            names,
            has_references: false,
        }
    }
}

impl ConstJsonWriter<'_> {
    /// Copies a text, if there is room for it.
    ///
    /// A loop over bytes trips rustc's `long_running_const_eval` at a few hundred KB, and safe
    /// slicing costs the compiler five times as much, which doubled the time of checking a tool.
    #[allow(unsafe_code, clippy::ptr_as_ptr)]
    pub(super) const fn put(&mut self, text: &str) {
        // As `text.len()`, which is three calls.
        let length = size_of_val(text);
        let end = self.at + length;
        if length > 0 && end <= self.room {
            // SAFETY: `at..end` lies inside `out`, as was just checked. `out` is borrowed mutably,
            // so `text` is no part of it.
            unsafe {
                let place = (&raw mut *self.out as *mut u8).wrapping_add(self.at);
                core::ptr::copy_nonoverlapping(&raw const *text as *const u8, place, length);
            }
        }
        self.at = end;
    }

    /// The same for punctuation and keywords, which are ASCII. That their length is known saves
    /// most of the calls.
    #[allow(unsafe_code, clippy::ptr_as_ptr)]
    pub(super) const fn ascii<const LENGTH: usize>(&mut self, text: &'static [u8; LENGTH]) {
        let end = self.at + LENGTH;
        if end <= self.room {
            // SAFETY: `at..end` lies inside `out`, as was just checked, and bytes need no alignment.
            unsafe {
                let place = (&raw mut *self.out as *mut u8).wrapping_add(self.at);
                *(place as *mut [u8; LENGTH]) = *text;
            }
        }
        self.at = end;
    }

    /// A whole document: the schema, and the definitions that it refers to.
    pub(super) const fn root(&mut self, schema: &Schema) {
        self.ascii(b"{");
        let start = self.at;
        self.body(schema);
        self.describe(schema.description, schema.notes, start);
        if self.names.count > 0 {
            self.separate(start);
            self.ascii(b"\"$defs\":{");
            let mut at = 0;
            while at < self.names.count {
                let name = self.names.names[at];
                if at > 0 {
                    self.ascii(b",\"");
                } else {
                    self.ascii(b"\"");
                }
                self.put(name);
                self.ascii(b"\":{");
                let start = self.at;
                let Some(definition) = find(schema, name) else {
                    panic!("`resolve` has found every name")
                };
                self.body(definition);
                self.describe(definition.description, definition.notes, start);
                self.ascii(b"}");
                at += 1;
            }
            self.ascii(b"}");
        }
        self.ascii(b"}");
    }

    /// A schema inside of another.
    pub(super) const fn schema(&mut self, schema: &Schema, description: Text) {
        self.ascii(b"{");
        let start = self.at;
        self.content(schema, description, start);
        self.ascii(b"}");
    }

    pub(super) const fn content(&mut self, schema: &Schema, description: Text, start: usize) {
        if self.names.count > 0 && self.names.hold(schema.name) {
            self.reference(schema.name);
        } else {
            self.body(schema);
        }
        self.describe(description, schema.notes, start);
    }

    const fn body(&mut self, schema: &Schema) {
        match schema.kind {
            Kind::Any => {}
            Kind::Null => self.ascii(b"\"type\":\"null\""),
            Kind::Boolean => self.ascii(b"\"type\":\"boolean\""),
            Kind::Integer(range) => self.integer(range),
            Kind::Number(range) => self.numbers(range),
            Kind::String(rule) => self.string(rule),
            Kind::Enum(strings) => self.strings(strings),
            Kind::Array(rule) => self.array(rule),
            Kind::Tuple(items) => self.tuple(items),
            Kind::Map(rule) => self.map(rule),
            Kind::Object(properties) => self.object(properties),
            Kind::AnyOf(schemas) => {
                self.ascii(b"\"anyOf\":");
                self.list(schemas);
            }
            Kind::Nullable(inner) => self.nullable(inner),
            Kind::Reference(reference) => self.reference(reference.name),
        }
    }

    const fn reference(&mut self, name: &str) {
        self.has_references = true;
        self.ascii(b"\"$ref\":\"#/$defs/");
        self.put(name);
        self.ascii(b"\"");
    }

    pub(super) const fn describe(&mut self, description: Text, notes: Text, start: usize) {
        let is_described = size_of_val(description.json()) > 0;
        let is_noted = size_of_val(notes.json()) > 0;
        if !is_described && !is_noted {
            return;
        }
        if self.at > start {
            self.ascii(b",\"description\":\"");
        } else {
            self.ascii(b"\"description\":\"");
        }
        self.put(description.json());
        if is_noted {
            if is_described {
                self.ascii(b"\\n");
            }
            self.put(notes.json());
        }
        self.ascii(b"\"");
    }

    /// A comma, unless nothing stands before it.
    pub(super) const fn separate(&mut self, start: usize) {
        if self.at > start {
            self.ascii(b",");
        }
    }

    const fn array(&mut self, rule: ArrayRule) {
        self.ascii(b"\"type\":\"array\",\"items\":");
        self.schema(rule.items, rule.items.description);
        self.lengths(rule.lengths, ",\"minItems\":", ",\"maxItems\":");
        if rule.is_unique {
            self.ascii(b",\"uniqueItems\":true");
        }
    }

    const fn tuple(&mut self, items: &[&'static Schema]) {
        if items.is_empty() {
            // JSON Schema wants at least one item in `prefixItems`.
            self.ascii(b"\"type\":\"array\",\"items\":{}");
        } else {
            self.ascii(b"\"type\":\"array\",\"prefixItems\":");
            self.list(items);
            self.ascii(b",\"items\":false");
        }
        self.lengths(
            Lengths::exactly(items.len()),
            ",\"minItems\":",
            ",\"maxItems\":",
        );
    }

    const fn list(&mut self, schemas: &[&'static Schema]) {
        self.ascii(b"[");
        let mut at = 0;
        while at < schemas.len() {
            if at > 0 {
                self.ascii(b",");
            }
            self.schema(schemas[at], schemas[at].description);
            at += 1;
        }
        self.ascii(b"]");
    }

    pub(super) const fn nullable(&mut self, inner: &Schema) {
        self.ascii(b"\"anyOf\":[");
        self.schema(inner, Text::EMPTY);
        self.ascii(b",{\"type\":\"null\"}]");
    }

    const fn map(&mut self, rule: MapRule) {
        self.ascii(b"\"type\":\"object\"");
        match rule.keys.kind {
            // Some keys and no other: the members of an object, none of them required.
            Kind::Enum(keys) => {
                self.ascii(b",\"properties\":{");
                let mut at = 0;
                while at < keys.values.len() {
                    if at > 0 {
                        self.ascii(b",\"");
                    } else {
                        self.ascii(b"\"");
                    }
                    self.put(keys.values[at].json());
                    self.ascii(b"\":");
                    self.schema(rule.values, rule.values.description);
                    at += 1;
                }
                self.ascii(b"},\"additionalProperties\":false");
            }
            Kind::Integer(range) => {
                if range.minimum < 0 {
                    self.ascii(b",\"patternProperties\":{\"^(0|-?[1-9][0-9]*)$\":");
                } else {
                    self.ascii(b",\"patternProperties\":{\"^(0|[1-9][0-9]*)$\":");
                }
                self.schema(rule.values, rule.values.description);
                self.ascii(b"},\"additionalProperties\":false");
            }
            Kind::String(keys) if !keys.lengths.is_any() => {
                // One character.
                self.ascii(b",\"patternProperties\":{\"^[\\\\s\\\\S]$\":");
                self.schema(rule.values, rule.values.description);
                self.ascii(b"},\"additionalProperties\":false");
            }
            _ => {
                if !matches!(rule.values.kind, Kind::Any) || !rule.values.description.is_empty() {
                    self.ascii(b",\"additionalProperties\":");
                    self.schema(rule.values, rule.values.description);
                }
            }
        }
        self.lengths(rule.lengths, ",\"minProperties\":", ",\"maxProperties\":");
    }

    pub(super) const fn lengths(&mut self, lengths: Lengths, minimum: &str, maximum: &str) {
        if lengths.minimum > 0 {
            self.put(minimum);
            self.whole(lengths.minimum as i128);
        }
        if lengths.maximum < usize::MAX {
            self.put(maximum);
            self.whole(lengths.maximum as i128);
        }
    }

    pub(super) const fn whole(&mut self, number: i128) {
        if number < 0 {
            self.ascii(b"-");
        }
        let number = number.unsigned_abs();
        let (mut digits, mut rest) = (1, number / 10);
        while rest > 0 {
            digits += 1;
            rest /= 10;
        }
        let mut rest = number;
        let mut place = self.at + digits;
        self.at = place;
        while digits > 0 {
            digits -= 1;
            place -= 1;
            if place < self.room {
                self.out[place] = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
        }
    }
}
