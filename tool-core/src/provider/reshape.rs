//! Writes a schema in the subset of JSON Schema that a provider accepts.
//!
//! What the subset can't express goes into the description, as a sentence. What it can't hold at
//! all must be excluded before, by [`check`](crate::provider::rule_check).

#[cfg(feature = "dynamic")]
mod json;
mod notes;

use std::borrow::Cow;

use crate::provider::reshape::notes::Notes;
use crate::provider::subset::Subset;
use crate::provider::writer::JsonWriter;
use crate::schema::property::Members;
use crate::schema::references::{Names, find};
use crate::schema::{
    ArrayRule, Direction, IntegerRange, Kind, Lengths, MapRule, NumberRange, Property, Schema,
    StringRule, Strings, Text,
};
use crate::spec::ToolSpec;

impl Subset {
    /// Writes a schema with its definitions.
    pub fn write(&self, schema: &Schema, out: &mut JsonWriter) {
        write(schema, self, out);
    }

    /// Writes the schema of the arguments of a tool. The subset must accept every schema that most tools have, so that
    /// those need no rewriting.
    pub fn write_tool(&self, tool: &ToolSpec, out: &mut JsonWriter) {
        // The schema of a tool that came at run time is text only, and one that is portable as written stays as it is.
        #[cfg(feature = "dynamic")]
        if tool.dynamic_parts().is_some_and(|parts| parts.is_reduced) {
            return json::write(tool.portable_json(), self, out);
        }
        if tool.is_dynamic() || is_common(&tool.parameters()) {
            out.raw(tool.parameters_json());
        } else {
            write(&tool.parameters(), self, out);
        }
    }
}

/// Returns what the schema of a string says, as text. A dialect sends the pattern by other means if
/// `has_pattern` is set.
pub(crate) fn text_notes(property: &Property, has_pattern: bool) -> String {
    let mut schema = *property.schema;
    if let (Kind::String(rule), true) = (&mut schema.kind, has_pattern) {
        rule.pattern = Text::EMPTY;
    }
    Notes::as_member(property, &schema, &Subset::BASE).text()
}

pub(crate) fn write(schema: &Schema, subset: &Subset, out: &mut JsonWriter) {
    let names = if subset.has_recursion {
        Names::of(schema, Direction::Arguments)
    } else {
        Names::NONE
    };
    let writer = Reshaper {
        subset,
        names: &names,
    };
    out.object(|out| {
        writer.keywords(schema, out);
        Notes::of(schema, subset).write(out);
        if names.count > 0 {
            out.word("$defs").object(|out| {
                let definition = |name| {
                    find(schema, name, Direction::Arguments).expect("every name was resolved")
                };
                for (name, definition) in names.iter().map(|name| (name, definition(name))) {
                    out.key(name).object(|out| {
                        writer.keywords(definition, out);
                        Notes::of(definition, subset).write(out);
                    });
                }
            });
        }
    });
}

#[derive(Clone, Copy)]
struct Reshaper<'s> {
    subset: &'s Subset,
    names: &'s Names,
}

impl Reshaper<'_> {
    /// Writes a schema inside of another, with its own description.
    fn schema(self, schema: &Schema, out: &mut JsonWriter) {
        self.node(schema, Notes::of(schema, self.subset), false, out);
    }

    /// Writes a schema with these notes. `or_null` adds `null` to its values.
    fn node(self, schema: &Schema, notes: Notes, or_null: bool, out: &mut JsonWriter) {
        if let Kind::Nullable(inner) = schema.kind {
            return self.node(inner, notes, true, out);
        }
        let name = self.reference(schema);
        let accepts_all = name.is_none() && matches!(schema.kind, Kind::Reference(_));
        let or_null = or_null && !schema.accepts_null() && !accepts_all;
        // The definition has them already.
        let is_repeated = name.is_some() && notes.is_only(schema.description());
        let notes = if is_repeated { Notes::default() } else { notes };
        out.object(|out| {
            match name {
                // A reference must stand alone, so that with other keywords it becomes a union of one.
                Some(name) if !or_null && notes.is_empty() => write_reference(name, out),
                Some(_) => self.union(schema, name, or_null, out),
                None if or_null && self.subset.is_open_api => {
                    self.keywords(schema, out);
                    out.word("nullable").boolean(true);
                }
                None if or_null && self.subset.has_type_lists && is_scalar(schema) => {
                    self.scalar(schema, true, out);
                }
                None if or_null => self.union(schema, None, true, out),
                None => self.keywords(schema, out),
            }
            notes.write(out);
        });
    }

    /// Returns the name of the definition that a schema is replaced by.
    fn reference(self, schema: &Schema) -> Option<&'static str> {
        match schema.kind {
            _ if !self.subset.has_recursion => None,
            Kind::Reference(reference) => Some(reference.name),
            _ if !schema.name.is_empty() && self.names.contains(schema.name) => Some(schema.name),
            _ => None,
        }
    }

    /// Writes a union of a schema (or of the members of a union) and perhaps `null`.
    fn union(self, schema: &Schema, name: Option<&str>, or_null: bool, out: &mut JsonWriter) {
        out.word("anyOf").array(|out| {
            match (name, schema.kind) {
                (Some(name), _) => {
                    out.object(|out| write_reference(name, out));
                }
                (None, Kind::AnyOf(schemas)) => self.variants(schemas, out),
                (None, _) => {
                    out.object(|out| self.keywords(schema, out));
                }
            }
            if or_null {
                out.object(|out| self.write_type("null", false, out));
            }
        });
    }

    /// Writes the keywords of a schema without its description.
    fn keywords(self, schema: &Schema, out: &mut JsonWriter) {
        match schema.kind {
            Kind::Any => {}
            Kind::Reference(_) if !self.subset.has_recursion => {}
            Kind::Enum(strings) => self.strings(strings, out),
            Kind::Array(rule) => self.array(&rule, out),
            Kind::Tuple(schemas) => self.tuple(schemas, out),
            Kind::Map(rule) => self.map(&rule, out),
            Kind::Object(properties) => self.object(properties, None, out),
            Kind::AnyOf(_) => self.union(schema, None, false, out),
            Kind::Nullable(inner) => self.union(inner, None, !inner.accepts_null(), out),
            Kind::Reference(reference) => write_reference(reference.name, out),
            _ => self.scalar(schema, false, out),
        }
    }

    fn scalar(self, schema: &Schema, or_null: bool, out: &mut JsonWriter) {
        match schema.kind {
            Kind::Boolean => self.write_type("boolean", or_null, out),
            Kind::Integer(range) => self.integer(range, or_null, out),
            Kind::Number(range) => self.number(&range, or_null, out),
            Kind::String(rule) => self.string(&rule, or_null, out),
            _ => self.write_type("null", false, out),
        }
    }

    fn write_type(self, name: &str, or_null: bool, out: &mut JsonWriter) {
        let name = if self.subset.is_open_api {
            Cow::Owned(name.to_ascii_uppercase())
        } else {
            Cow::Borrowed(name)
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
        self.write_type("integer", or_null, out);
        for (keyword, limit) in range.limits().into_iter().flatten() {
            self.keyword(keyword.name, &limit.to_string(), out);
        }
    }

    fn number(self, range: &NumberRange, or_null: bool, out: &mut JsonWriter) {
        self.write_type("number", or_null, out);
        for (keyword, limit) in range.limits().into_iter().flatten() {
            self.keyword(keyword.name, limit.json, out);
        }
    }

    fn string(self, rule: &StringRule, or_null: bool, out: &mut JsonWriter) {
        self.write_type("string", or_null, out);
        self.lengths(rule.lengths, "minLength", "maxLength", out);
        if self.subset.accepts_pattern(rule.pattern.as_str()) {
            out.word("pattern").string(rule.pattern.as_str());
        }
        if self.subset.accepts_format(rule.format) {
            out.word("format").string(rule.format);
        }
    }

    fn strings(self, strings: Strings, out: &mut JsonWriter) {
        self.write_type("string", false, out);
        if strings.is_tag && self.subset.accepts("const") {
            out.word("const").string(strings.values[0].as_str());
            return;
        }
        if self.subset.is_open_api {
            out.word("format").string("enum");
        }
        out.word("enum").array(|out| {
            for value in strings.values {
                out.string(value.as_str());
            }
        });
    }

    fn array(self, rule: &ArrayRule, out: &mut JsonWriter) {
        self.write_type("array", false, out);
        out.word("items");
        self.schema(rule.items, out);
        self.lengths(rule.lengths, "minItems", "maxItems", out);
        if rule.is_unique {
            self.keyword("uniqueItems", "true", out);
        }
    }

    /// Writes an array of known length. Without `prefixItems`, every item may have any of the types.
    fn tuple(self, schemas: &[&'static Schema], out: &mut JsonWriter) {
        self.write_type("array", false, out);
        if self.subset.accepts("prefixItems") && !schemas.is_empty() {
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
        let mut distinct: Vec<String> = Vec::new();
        for schema in schemas {
            let mut item = JsonWriter::new();
            self.schema(schema, &mut item);
            let item = item.into_string();
            if !distinct.contains(&item) {
                distinct.push(item);
            }
        }
        match &distinct[..] {
            // An empty tuple: `items` is required anyway.
            [] => {
                out.object(|out| self.write_type("string", false, out));
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

    /// Writes an object with its keys in the order of the source, after the one at `first`.
    fn object(self, properties: &'static [Property], first: Option<usize>, out: &mut JsonWriter) {
        let Members { known, others } = Members::of(properties);
        let mut known = known.into_owned();
        if let Some(first) = first {
            known[..=first].rotate_right(1);
        }
        self.write_type("object", false, out);
        let is_required = |property: &&Property| property.is_required() || self.subset.requires_all;
        out.word("properties").object(|out| {
            for property in &known {
                let notes = Notes::member(property, self.subset);
                let or_null = self.subset.requires_all && !property.is_required();
                out.key(property.name());
                self.node(property.schema, notes, or_null, out);
            }
        });
        if self.subset.is_open_api {
            out.word("propertyOrdering").array(|out| {
                for property in &known {
                    out.string(property.name());
                }
            });
        }
        if self.subset.requires_all || known.iter().any(Property::is_required) {
            out.word("required").array(|out| {
                for property in known.iter().filter(is_required) {
                    out.string(property.name());
                }
            });
        }
        self.additional_properties(others, out);
    }

    /// Writes which other keys an object may have. An open one says so: some providers close
    /// objects by default.
    fn additional_properties(self, others: Option<&'static Schema>, out: &mut JsonWriter) {
        if self.subset.is_open_api {
            return;
        }
        out.word("additionalProperties");
        match others {
            None => {
                out.boolean(false);
            }
            Some(values) if matches!(values.kind, Kind::Any) => {
                out.boolean(true);
            }
            Some(values) => self.schema(values, out),
        }
    }

    fn variants(self, schemas: &[&'static Schema], out: &mut JsonWriter) {
        for (at, schema) in schemas.iter().enumerate() {
            match schema.kind {
                Kind::Object(properties) if self.reference(schema).is_none() => {
                    out.object(|out| {
                        let first = self
                            .subset
                            .requires_all
                            .then(|| identifying_key(schemas, at));
                        self.object(properties, first.flatten(), out);
                        Notes::of(schema, self.subset).write(out);
                    });
                }
                _ => self.schema(schema, out),
            }
        }
    }

    fn map(self, rule: &MapRule, out: &mut JsonWriter) {
        self.write_type("object", false, out);
        match rule.keys.kind {
            Kind::Enum(keys) if self.subset.accepts_keys(keys) => {
                out.word("properties").object(|out| {
                    for key in keys.values {
                        out.key(key.as_str());
                        self.schema(rule.values, out);
                    }
                });
                self.additional_properties(None, out);
            }
            _ => self.additional_properties(Some(rule.values), out),
        }
        self.lengths(rule.lengths, "minProperties", "maxProperties", out);
    }

    fn lengths(self, lengths: Lengths, minimum: &str, maximum: &str, out: &mut JsonWriter) {
        if lengths.minimum > 0 && self.subset.accepts_length(minimum, lengths.minimum) {
            out.key(minimum).raw(&lengths.minimum.to_string());
        }
        if lengths.maximum < usize::MAX && self.subset.accepts_length(maximum, lengths.maximum) {
            out.key(maximum).raw(&lengths.maximum.to_string());
        }
    }

    fn keyword(self, keyword: &str, json: &str, out: &mut JsonWriter) {
        if self.subset.accepts(keyword) {
            out.key(keyword).raw(json);
        }
    }
}

/// Returns `true` if a schema has one type and nothing below it.
fn is_scalar(schema: &Schema) -> bool {
    matches!(
        schema.kind,
        Kind::Boolean | Kind::Integer(_) | Kind::Number(_) | Kind::String(_)
    )
}

fn write_reference(name: &str, out: &mut JsonWriter) {
    out.word("$ref").string(&format!("#/$defs/{name}"));
}

/// Returns the position of the key that identifies a member of a union: its tag, or a key that no
/// other member has. A model chooses the member with the first key that it writes.
fn identifying_key(schemas: &[&'static Schema], at: usize) -> Option<usize> {
    let members = |schema: &Schema| Members::of(schema.properties()).known.into_owned();
    let own = members(schemas[at]);
    let is_tag =
        |property: &Property| matches!(property.schema.kind, Kind::Enum(strings) if strings.is_tag);
    if let Some(tag) = own.iter().position(is_tag) {
        return Some(tag);
    }
    let others: Vec<Property> = schemas
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != at)
        .flat_map(|(_, schema)| members(schema))
        .collect();
    own.iter()
        .position(|property| others.iter().all(|other| other.name() != property.name()))
}

/// Returns `true` if every provider accepts the schema as it is, strict modes aside. Most schemas
/// are like that, and their text exists already.
pub(super) fn is_common(schema: &Schema) -> bool {
    match &schema.kind {
        Kind::Boolean => true,
        Kind::Integer(range) => matches!(range.limits(), [.., None]),
        Kind::Number(range) => range.is_any(),
        Kind::String(rule) => rule.is_any(),
        Kind::Enum(strings) => !strings.is_tag,
        Kind::Array(rule) => rule.lengths.is_any() && !rule.is_unique && is_common(rule.items),
        Kind::Object(properties) => properties.iter().all(|property| {
            let is_plain = property.default_json().is_none() && property.example_json().is_none();
            is_plain && !property.is_flat() && is_common(property.schema)
        }),
        _ => false,
    }
}
