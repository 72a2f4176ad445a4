//! Renders a schema tree as JSON text, at compile time as well as at run time.

use super::property::key_property;
use super::references::{Names, find};
use super::{
    ArrayRule, Direction, IntegerRange, Kind, Lengths, MapRule, NumberRange, Property, Schema,
    StringRule, Strings, Text,
};

/// Writes both schemas, as far as they fit into `out`. Returns where each ends.
pub(crate) const fn write_both(
    parameters: &'static [Property],
    output: Option<&'static Schema>,
    out: &mut [u8],
) -> (usize, usize) {
    let middle = write(&Schema::object(parameters), Direction::Arguments, 0, out);
    match output {
        Some(output) => (middle, write(output, Direction::Result, middle, out)),
        None => (middle, middle),
    }
}

/// Renders a schema of arguments at run time.
pub(super) fn to_string(schema: &Schema) -> String {
    let mut bytes = vec![0; write(schema, Direction::Arguments, 0, &mut [])];
    write(schema, Direction::Arguments, 0, &mut bytes);
    String::from_utf8(bytes).expect("a schema is written from whole strings")
}

/// Writes a schema from `start` on, as far as it fits into `out`. Returns where it ends.
const fn write(schema: &Schema, direction: Direction, start: usize, out: &mut [u8]) -> usize {
    let names;
    let mut writer = ConstJsonWriter::new(out, start, direction, &Names::NONE);
    writer.root(schema);
    if writer.has_references {
        // Only recursive schemas, which are few, pay for collecting the names.
        names = Names::of(schema, direction);
        writer = ConstJsonWriter::new(writer.out, start, direction, &names);
        writer.root(schema);
    }
    writer.at
}

/// Writes JSON into a slice.
///
/// In constant code each call costs the compiler some microseconds, whatever it does. The functions
/// that run for every piece of text therefore avoid calls rather than steps.
struct ConstJsonWriter<'a> {
    out: &'a mut [u8],
    capacity: usize,
    at: usize,
    direction: Direction,
    names: &'a Names,
    /// Set when a reference was written, so that `names` must contain its name.
    has_references: bool,
}

impl<'a> ConstJsonWriter<'a> {
    const fn new(
        out: &'a mut [u8],
        at: usize,
        direction: Direction,
        names: &'a Names,
    ) -> ConstJsonWriter<'a> {
        ConstJsonWriter {
            capacity: out.len(),
            out,
            at,
            direction,
            names,
            has_references: false,
        }
    }

    /// Copies a string, if it fits.
    ///
    /// A loop over bytes trips rustc's `long_running_const_eval` at a few hundred KB, and safe
    /// slicing costs the compiler five times as much, which doubled the time of checking a tool.
    #[allow(unsafe_code, clippy::ptr_as_ptr)]
    const fn put(&mut self, text: &str) {
        // `text.len()` would be three calls.
        let length = size_of_val(text);
        let end = self.at + length;
        if length > 0 && end <= self.capacity {
            // SAFETY: `at..end` lies inside `out`, as was just checked. `out` is borrowed mutably,
            // so `text` does not overlap it.
            unsafe {
                let place = (&raw mut *self.out as *mut u8).wrapping_add(self.at);
                core::ptr::copy_nonoverlapping(&raw const *text as *const u8, place, length);
            }
        }
        self.at = end;
    }

    /// Copies punctuation or a keyword, if it fits. The constant length saves most of the calls.
    #[allow(unsafe_code, clippy::ptr_as_ptr)]
    const fn ascii<const LENGTH: usize>(&mut self, text: &'static [u8; LENGTH]) {
        let end = self.at + LENGTH;
        if end <= self.capacity {
            // SAFETY: `at..end` lies inside `out`, as was just checked, and bytes need no alignment.
            unsafe {
                let place = (&raw mut *self.out as *mut u8).wrapping_add(self.at);
                *(place as *mut [u8; LENGTH]) = *text;
            }
        }
        self.at = end;
    }

    /// Writes a whole document: the schema and the definitions that it refers to.
    const fn root(&mut self, schema: &Schema) {
        self.ascii(b"{");
        let start = self.at;
        let form = schema.form(self.direction);
        self.body(form);
        self.describe(schema.description, form.notes, start);
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
                let Some(definition) = find(schema, name, self.direction) else {
                    panic!("`resolve` found every name")
                };
                let form = definition.form(self.direction);
                self.body(form);
                self.describe(definition.description, form.notes, start);
                self.ascii(b"}");
                at += 1;
            }
            self.ascii(b"}");
        }
        self.ascii(b"}");
    }

    /// Writes a nested schema.
    const fn schema(&mut self, schema: &Schema, description: Text) {
        self.ascii(b"{");
        let start = self.at;
        self.content(schema, description, start);
        self.ascii(b"}");
    }

    const fn content(&mut self, schema: &Schema, description: Text, start: usize) {
        let form = schema.form(self.direction);
        if self.names.count > 0 && self.names.contains(schema.name) {
            self.reference(schema.name);
        } else {
            self.body(form);
        }
        self.describe(description, form.notes, start);
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

    const fn describe(&mut self, description: Text, notes: Text, start: usize) {
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

    /// Writes a comma if something was written since `start`.
    const fn separate(&mut self, start: usize) {
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
            // JSON Schema requires at least one item in `prefixItems`.
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

    const fn nullable(&mut self, inner: &Schema) {
        self.ascii(b"\"anyOf\":[");
        self.schema(inner, Text::EMPTY);
        self.ascii(b",{\"type\":\"null\"}]");
    }

    const fn map(&mut self, rule: MapRule) {
        self.ascii(b"\"type\":\"object\"");
        match rule.keys.form(self.direction).kind {
            // A fixed set of keys: optional properties.
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
                // A single character.
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
            if place < self.capacity {
                self.out[place] = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
        }
    }

    const fn integer(&mut self, range: IntegerRange) {
        self.ascii(b"\"type\":\"integer\"");
        if range.shows_minimum {
            self.ascii(b",\"minimum\":");
            self.whole(range.minimum);
        }
        if range.shows_maximum {
            self.ascii(b",\"maximum\":");
            self.whole(range.maximum);
        }
        if range.multiple_of != 0 {
            self.ascii(b",\"multipleOf\":");
            self.whole(range.multiple_of);
        }
    }

    const fn numbers(&mut self, range: NumberRange) {
        self.ascii(b"\"type\":\"number\"");
        if let Some(bound) = range.minimum {
            if bound.is_exclusive {
                self.ascii(b",\"exclusiveMinimum\":");
            } else {
                self.ascii(b",\"minimum\":");
            }
            self.put(bound.json);
        }
        if let Some(bound) = range.maximum {
            if bound.is_exclusive {
                self.ascii(b",\"exclusiveMaximum\":");
            } else {
                self.ascii(b",\"maximum\":");
            }
            self.put(bound.json);
        }
        if let Some(step) = range.multiple_of {
            self.ascii(b",\"multipleOf\":");
            self.put(step.json);
        }
    }

    const fn string(&mut self, rule: StringRule) {
        self.ascii(b"\"type\":\"string\"");
        self.lengths(rule.lengths, ",\"minLength\":", ",\"maxLength\":");
        if size_of_val(rule.pattern.json()) > 0 {
            self.ascii(b",\"pattern\":\"");
            self.put(rule.pattern.json());
            self.ascii(b"\"");
        }
        if size_of_val(rule.format) > 0 {
            self.ascii(b",\"format\":\"");
            self.put(rule.format);
            self.ascii(b"\"");
        }
    }

    const fn strings(&mut self, strings: Strings) {
        if strings.is_tag {
            self.ascii(b"\"type\":\"string\",\"const\":\"");
            self.put(strings.values[0].json());
            self.ascii(b"\"");
            return;
        }
        self.ascii(b"\"type\":\"string\",\"enum\":[");
        let mut at = 0;
        while at < strings.values.len() {
            if at > 0 {
                self.ascii(b",\"");
            } else {
                self.ascii(b"\"");
            }
            self.put(strings.values[at].json());
            self.ascii(b"\"");
            at += 1;
        }
        self.ascii(b"]");
    }

    const fn object(&mut self, properties: &'static [Property]) {
        self.ascii(b"\"type\":\"object\",\"properties\":{");
        let start = self.at;
        let others = self.properties(properties, start);
        self.ascii(b"}");
        if self.required(properties, false) {
            self.ascii(b"\"]");
        }
        match others {
            Some(values) => {
                self.ascii(b",\"additionalProperties\":");
                self.schema(values, values.description);
            }
            None => self.ascii(b",\"additionalProperties\":false"),
        }
    }

    /// Writes the properties. Returns the schema of all others, if those are allowed.
    const fn properties(
        &mut self,
        properties: &'static [Property],
        start: usize,
    ) -> Option<&'static Schema> {
        let mut others = None;
        let mut at = 0;
        while at < properties.len() {
            let property = &properties[at];
            match property.schema.form(self.direction).kind {
                Kind::Object(inner) if property.is_flat() => {
                    if let Some(values) = self.properties(inner, start) {
                        others = Some(values);
                    }
                }
                Kind::Map(rule) if property.is_flat() => {
                    match rule.keys.form(self.direction).kind {
                        Kind::Enum(keys) => {
                            let mut key = 0;
                            while key < keys.values.len() {
                                self.property(&key_property(&rule, keys.values[key]), start);
                                key += 1;
                            }
                        }
                        _ => others = Some(rule.values),
                    }
                }
                // The definition of a union.
                _ if property.is_flat() => {}
                _ => self.property(property, start),
            }
            at += 1;
        }
        others
    }

    /// Writes a property of an object whose properties begin at `first`.
    const fn property(&mut self, property: &Property, first: usize) {
        if self.at > first {
            self.ascii(b",\"");
        } else {
            self.ascii(b"\"");
        }
        self.put(property.name_json());
        self.ascii(b"\":{");
        let start = self.at;
        let text = property.text();
        let is_result = matches!(self.direction, Direction::Result);
        let is_null = matches!(property.schema.kind, Kind::Null);
        if property.is_nullable() && is_result && property.result.is_none() && !is_null {
            // It has the notes.
            self.nullable(property.schema);
            self.describe(text, Text::EMPTY, start);
        } else {
            self.content(property.value(self.direction), text, start);
        }
        if let Some(default) = property.default_json()
            && !is_result
        {
            self.separate(start);
            self.ascii(b"\"default\":");
            self.put(default);
        }
        if let Some(example) = property.example_json() {
            self.separate(start);
            self.ascii(b"\"examples\":[");
            self.put(example);
            self.ascii(b"]");
        }
        self.ascii(b"}");
    }

    /// Writes the list of required properties up to its last quote. Returns `true` if it has begun.
    const fn required(&mut self, properties: &'static [Property], mut has_any: bool) -> bool {
        let is_result = matches!(self.direction, Direction::Result);
        let mut at = 0;
        while at < properties.len() {
            let property = &properties[at];
            match property.schema.form(self.direction).kind {
                Kind::Object(inner) if property.is_flat() => {
                    has_any = self.required(inner, has_any);
                }
                _ if property.is_required() && !(property.is_skipped_in_results() && is_result) => {
                    if has_any {
                        self.ascii(b"\",\"");
                    } else {
                        self.ascii(b",\"required\":[\"");
                    }
                    self.put(property.name_json());
                    has_any = true;
                }
                _ => {}
            }
            at += 1;
        }
        has_any
    }
}
