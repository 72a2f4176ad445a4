//! A schema tree as the subset of JSON Schema that a provider takes.
//!
//! What the subset can't say is said in words, in the description. What it can't hold at all is
//! for the caller to find before: see [`schema::target`](crate::provider::check).

mod common;
mod members;
mod notes;
mod style;

use std::borrow::Cow;

use crate::provider::dialect::JsonWriter;
use crate::provider::reshape::notes::Notes;
pub(crate) use crate::provider::reshape::style::Style;
use crate::schema::references::{Names, find};
use crate::schema::{
    ArrayRule, IntegerRange, Kind, Lengths, MapRule, NumberRange, Schema, StringRule, Strings,
};
use crate::spec::ToolSpec;

/// Writes the schema of a tool's arguments in a subset that holds all that is common: mostly its own
/// text will do, and there may be nothing else.
pub(crate) fn write_tool(tool: &ToolSpec, style: &Style, out: &mut JsonWriter) {
    if tool.is_dynamic() || common::is_common(&tool.parameters()) {
        out.raw(tool.parameters_json());
    } else {
        write(&tool.parameters(), style, out);
    }
}

/// Writes a whole schema with its definitions.
pub(crate) fn write(schema: &Schema, style: &Style, out: &mut JsonWriter) {
    let names = Names::of(schema);
    let writer = Reshaper {
        style,
        names: &names,
    };
    out.object(|out| {
        writer.body(schema, out);
        Notes::of(schema, style).write(out);
        if names.count > 0 {
            out.word("$defs").object(|out| {
                let definition = |name| find(schema, name).expect("every name was resolved");
                for (name, definition) in names.iter().map(|name| (name, definition(name))) {
                    out.key(name).object(|out| {
                        writer.body(definition, out);
                        Notes::of(definition, style).write(out);
                    });
                }
            });
        }
    });
}

#[derive(Clone, Copy)]
struct Reshaper<'s> {
    style: &'s Style,
    names: &'s Names,
}

impl Reshaper<'_> {
    /// A schema inside of another, told of by its own description.
    fn schema(self, schema: &Schema, out: &mut JsonWriter) {
        self.node(schema, Notes::of(schema, self.style), false, out);
    }

    /// A schema that may be `null` besides, told of by these notes.
    fn node(self, schema: &Schema, notes: Notes, or_null: bool, out: &mut JsonWriter) {
        if let Kind::Nullable(inner) = schema.kind {
            return self.node(inner, notes, true, out);
        }
        let or_null = or_null && !schema.accepts_null();
        let name = self.reference(schema);
        // The definition says the same.
        let is_told = name.is_some() && notes.say(schema.description());
        let notes = if is_told { Notes::default() } else { notes };
        out.object(|out| {
            match name {
                // Nothing may stand beside a reference, so that it goes into a union of one.
                Some(name) if !or_null && notes.is_empty() => refer(name, out),
                Some(_) => self.union(schema, name, or_null, out),
                None if or_null && self.style.is_open_api => {
                    self.body(schema, out);
                    out.word("nullable").boolean(true);
                }
                None if or_null && self.style.has_lists_of_types && is_scalar(schema) => {
                    self.scalar(schema, true, out);
                }
                None if or_null => self.union(schema, None, true, out),
                None => self.body(schema, out),
            }
            notes.write(out);
        });
    }

    /// The name of the definition that stands in the place of a schema.
    fn reference(self, schema: &Schema) -> Option<&'static str> {
        match schema.kind {
            Kind::Reference(reference) => Some(reference.name),
            _ if !schema.name.is_empty() && self.names.contains(schema.name) => Some(schema.name),
            _ => None,
        }
    }

    /// A union of a schema, or of the members of one, and perhaps of `null`.
    fn union(self, schema: &Schema, name: Option<&str>, or_null: bool, out: &mut JsonWriter) {
        out.word("anyOf").array(|out| {
            match (name, schema.kind) {
                (Some(name), _) => {
                    out.object(|out| refer(name, out));
                }
                (None, Kind::AnyOf(schemas)) => self.variants(schemas, out),
                (None, _) => {
                    out.object(|out| self.body(schema, out));
                }
            }
            if or_null {
                out.object(|out| self.typed("null", false, out));
            }
        });
    }

    /// The keywords of a schema but for its description.
    fn body(self, schema: &Schema, out: &mut JsonWriter) {
        match schema.kind {
            Kind::Any => {}
            Kind::Enum(strings) => self.strings(strings, out),
            Kind::Array(rule) => self.array(&rule, out),
            Kind::Tuple(schemas) => self.tuple(schemas, out),
            Kind::Map(rule) => self.map(&rule, out),
            Kind::Object(properties) => self.object(properties, None, out),
            Kind::AnyOf(_) => self.union(schema, None, false, out),
            Kind::Nullable(inner) => self.union(inner, None, !inner.accepts_null(), out),
            Kind::Reference(reference) => refer(reference.name, out),
            _ => self.scalar(schema, false, out),
        }
    }

    fn scalar(self, schema: &Schema, or_null: bool, out: &mut JsonWriter) {
        match schema.kind {
            Kind::Boolean => self.typed("boolean", or_null, out),
            Kind::Integer(range) => self.integer(range, or_null, out),
            Kind::Number(range) => self.number(&range, or_null, out),
            Kind::String(rule) => self.string(&rule, or_null, out),
            _ => self.typed("null", false, out),
        }
    }

    fn typed(self, name: &str, or_null: bool, out: &mut JsonWriter) {
        let name = match self.style.is_open_api {
            true => Cow::Owned(name.to_ascii_uppercase()),
            false => Cow::Borrowed(name),
        };
        out.word("type");
        if or_null {
            out.array(|out| {
                out.string(&name).string("null");
            });
        } else {
            out.string(&name);
        }
    }

    fn integer(self, range: IntegerRange, or_null: bool, out: &mut JsonWriter) {
        self.typed("integer", or_null, out);
        let limits = [
            ("minimum", range.shows_minimum, range.minimum),
            ("maximum", range.shows_maximum, range.maximum),
            ("multipleOf", range.multiple_of != 0, range.multiple_of),
        ];
        for (keyword, _, limit) in limits.iter().filter(|(_, is_there, _)| *is_there) {
            self.keyword(keyword, &limit.to_string(), out);
        }
    }

    fn number(self, range: &NumberRange, or_null: bool, out: &mut JsonWriter) {
        self.typed("number", or_null, out);
        let bounds = [
            (range.minimum, "minimum", "exclusiveMinimum"),
            (range.maximum, "maximum", "exclusiveMaximum"),
            (range.multiple_of, "multipleOf", "multipleOf"),
        ];
        for (bound, inclusive, exclusive) in bounds {
            if let Some(bound) = bound {
                let keyword = if bound.is_exclusive {
                    exclusive
                } else {
                    inclusive
                };
                self.keyword(keyword, bound.json, out);
            }
        }
    }

    fn string(self, rule: &StringRule, or_null: bool, out: &mut JsonWriter) {
        self.typed("string", or_null, out);
        self.lengths(rule.lengths, "minLength", "maxLength", out);
        if self.style.takes_pattern(rule.pattern.as_str()) {
            out.word("pattern").string(rule.pattern.as_str());
        }
        if self.style.takes_format(rule.format) {
            out.word("format").string(rule.format);
        }
    }

    fn strings(self, strings: Strings, out: &mut JsonWriter) {
        self.typed("string", false, out);
        if strings.is_tag && self.style.takes("const") {
            out.word("const").string(strings.values[0].as_str());
            return;
        }
        if self.style.is_open_api {
            out.word("format").string("enum");
        }
        out.word("enum").array(|out| {
            for value in strings.values {
                out.string(value.as_str());
            }
        });
    }

    fn array(self, rule: &ArrayRule, out: &mut JsonWriter) {
        self.typed("array", false, out);
        out.word("items");
        self.schema(rule.items, out);
        self.lengths(rule.lengths, "minItems", "maxItems", out);
        if rule.is_unique {
            self.keyword("uniqueItems", "true", out);
        }
    }

    /// An array of known length. Where there is no `prefixItems`, each item may be any of them.
    fn tuple(self, schemas: &[&'static Schema], out: &mut JsonWriter) {
        self.typed("array", false, out);
        if self.style.takes("prefixItems") && !schemas.is_empty() {
            out.word("prefixItems").array(|out| {
                for schema in schemas {
                    self.schema(schema, out);
                }
            });
        } else {
            out.word("items");
            self.items(schemas, out);
        }
        self.lengths(Lengths::exactly(schemas.len()), "minItems", "maxItems", out);
    }

    fn items(self, schemas: &[&'static Schema], out: &mut JsonWriter) {
        let mut unlike: Vec<String> = Vec::new();
        for schema in schemas {
            let mut item = JsonWriter::new();
            self.schema(schema, &mut item);
            let item = item.into_string();
            if !unlike.contains(&item) {
                unlike.push(item);
            }
        }
        match &unlike[..] {
            // There are none, but there must be a schema.
            [] => {
                out.object(|out| self.typed("string", false, out));
            }
            [only] => {
                out.raw(only);
            }
            several => {
                out.object(|out| {
                    out.word("anyOf").array(|out| {
                        for item in several {
                            out.raw(item);
                        }
                    });
                });
            }
        }
    }

    fn map(self, rule: &MapRule, out: &mut JsonWriter) {
        self.typed("object", false, out);
        match rule.keys.kind {
            Kind::Enum(keys) if self.style.takes_keys(keys) => {
                out.word("properties").object(|out| {
                    for key in keys.values {
                        out.key(key.as_str());
                        self.schema(rule.values, out);
                    }
                });
                self.close(None, out);
            }
            _ => self.close(Some(rule.values), out),
        }
        self.lengths(rule.lengths, "minProperties", "maxProperties", out);
    }

    fn lengths(self, lengths: Lengths, minimum: &str, maximum: &str, out: &mut JsonWriter) {
        if lengths.minimum > 0 && self.style.takes_length(minimum, lengths.minimum) {
            out.key(minimum).raw(&lengths.minimum.to_string());
        }
        if lengths.maximum < usize::MAX && self.style.takes_length(maximum, lengths.maximum) {
            out.key(maximum).raw(&lengths.maximum.to_string());
        }
    }

    fn keyword(self, keyword: &str, json: &str, out: &mut JsonWriter) {
        if self.style.takes(keyword) {
            out.key(keyword).raw(json);
        }
    }
}

/// Whether a schema has one type and nothing below it.
fn is_scalar(schema: &Schema) -> bool {
    matches!(
        schema.kind,
        Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::String(_)
    )
}

fn refer(name: &str, out: &mut JsonWriter) {
    out.word("$ref").string(&format!("#/$defs/{name}"));
}
