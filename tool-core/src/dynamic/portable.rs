//! What a schema that is one may still not hold: what some provider refuses, and what can't be
//! resolved.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::check::{is_known, is_pattern};
use crate::provider::portable::is_param_name;

/// Who reads a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// Models, through their providers.
    Model,
    /// Nobody but us, and a client of the Model Context Protocol.
    Client,
}

/// Reports everything, with its place as a JSON pointer.
pub(super) fn check(schema: &Value, reader: Reader, report: &mut dyn FnMut(&str, &str)) {
    if schema["type"] != "object" {
        report("", "it describes no object; say `\"type\": \"object\"`");
    }
    if reader == Reader::Model {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if schema.get(keyword).is_some() {
                let place = format!("/{keyword}");
                report(
                    &place,
                    "stands at the root, and some providers refuse the whole request; \
                     move it into a property",
                );
            }
        }
    }
    let mut walk = Walk {
        root: schema,
        reader,
        report,
    };
    walk.schema(schema, "");
}

struct Walk<'s, 'r> {
    root: &'s Value,
    reader: Reader,
    report: &'r mut dyn FnMut(&str, &str),
}

impl Walk<'_, '_> {
    /// A schema, and those in it. What is data, such as a default, is passed over.
    fn schema(&mut self, schema: &Value, place: &str) {
        let Value::Object(members) = schema else {
            return;
        };
        if self.reader == Reader::Model {
            self.refused(members, place);
        }
        for (keyword, value) in members {
            let place = below(place, keyword);
            match (&**keyword, value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                    self.reference(reference, &place);
                }
                ("pattern", Value::String(pattern)) => self.pattern(pattern, &place),
                ("patternProperties", Value::Object(schemas)) => {
                    for (pattern, schema) in schemas {
                        let place = below(&place, pattern);
                        self.pattern(pattern, &place);
                        self.schema(schema, &place);
                    }
                }
                (
                    "properties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies",
                    Value::Object(schemas),
                ) => {
                    for (key, schema) in schemas {
                        self.schema(schema, &below(&place, key));
                    }
                }
                ("items" | "prefixItems" | "allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    for (at, schema) in schemas.iter().enumerate() {
                        self.schema(schema, &below(&place, &at.to_string()));
                    }
                }
                (
                    "items"
                    | "additionalItems"
                    | "additionalProperties"
                    | "contains"
                    | "propertyNames"
                    | "not"
                    | "if"
                    | "then"
                    | "else"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
                    | "contentSchema",
                    schema,
                ) => self.schema(schema, &place),
                _ => {}
            }
        }
    }

    /// What some provider refuses of one schema.
    fn refused(&mut self, schema: &Map<String, Value>, place: &str) {
        let keys = schema.get("properties").and_then(Value::as_object);
        for key in keys.into_iter().flatten().map(|(key, _)| key) {
            if !is_param_name(key) {
                (self.report)(
                    &below(&below(place, "properties"), key),
                    "the key is none that every provider takes; start it with an ASCII letter or \
                     `_`, and go on with at most 63 ASCII letters, digits or `_`",
                );
            }
        }
        let is_array = match schema.get("type") {
            Some(Value::String(name)) => name == "array",
            Some(Value::Array(names)) => names.iter().any(|name| name == "array"),
            _ => false,
        };
        if is_array && !schema.contains_key("items") && !schema.contains_key("prefixItems") {
            (self.report)(
                place,
                "an array without `items`, which some providers refuse; say what they are",
            );
        }
        if schema.contains_key("oneOf") {
            (self.report)(
                &below(place, "oneOf"),
                "some providers refuse it; write `anyOf`, and let its members exclude each other",
            );
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.values(values, &below(place, "enum"));
        }
    }

    fn values(&mut self, values: &[Value], place: &str) {
        if values.is_empty() {
            (self.report)(place, "has no values; give it one");
        }
        let mut seen = BTreeMap::new();
        for value in values.iter().filter_map(Value::as_str) {
            if let Some(twin) = seen.insert(value.to_lowercase(), value)
                && twin != value
            {
                let problem = format!(
                    "`{twin}` and `{value}` differ by case alone, and some providers mix them up; \
                     rename one"
                );
                (self.report)(place, &problem);
            }
        }
    }

    fn pattern(&mut self, pattern: &str, place: &str) {
        if !is_pattern(pattern) {
            let problem = format!("`{pattern}` is no regular expression");
            (self.report)(place, &problem);
        }
    }

    fn reference(&mut self, reference: &str, place: &str) {
        let is_found = match reference.strip_prefix('#') {
            Some("") => true,
            // Escapes of a URI are for the validator to read.
            Some(fragment) if fragment.contains('%') => true,
            Some(pointer) if pointer.starts_with('/') => self.root.pointer(pointer).is_some(),
            Some(anchor) => has_name(self.root, anchor),
            None => has_id(self.root) || is_known(reference),
        };
        if !is_found {
            let problem = format!(
                "refers to `{reference}`, which is not in the schema, and nothing is fetched; \
                 put it under `$defs`"
            );
            (self.report)(place, &problem);
        }
    }
}

/// Whether something in a schema has this anchor.
fn has_name(schema: &Value, anchor: &str) -> bool {
    let is_name = |members: &Map<String, Value>| {
        ["$anchor", "$dynamicAnchor"].iter().any(|key| {
            let name = members.get(*key).and_then(Value::as_str);
            name == Some(anchor)
        }) || members
            .get("$id")
            .and_then(Value::as_str)
            .and_then(|id| id.strip_prefix('#'))
            == Some(anchor)
    };
    any(schema, &is_name)
}

/// Whether something in a schema has an address that others may refer to.
fn has_id(schema: &Value) -> bool {
    any(schema, &|members| members.contains_key("$id"))
}

fn any(value: &Value, is_it: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => {
            is_it(members) || members.values().any(|member| any(member, is_it))
        }
        Value::Array(items) => items.iter().any(|item| any(item, is_it)),
        _ => false,
    }
}

/// A JSON pointer one step further.
fn below(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}
