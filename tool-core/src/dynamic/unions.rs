//! Which member of a union a value is meant to be, as [`crate::schema::validate`] finds it in a
//! tree.

use serde_json::{Map, Value};

use super::words::target;
use crate::schema::messages::{did_you_mean, nearest, one_of, shorten, text};

/// How many references are followed.
const DEPTH: usize = 16;

/// What is plain of a value that is no member of a union.
pub(super) enum Meant {
    /// It is meant to be the member at this place.
    Member(usize),
    /// Its tag is missing, or none of those that there are.
    Tag { key: String, problem: String },
}

pub(super) fn meant(schemas: &[Value], root: &Value, value: &Value) -> Option<Meant> {
    let schemas: Vec<_> = schemas
        .iter()
        .map(|schema| resolved(schema, root))
        .collect();
    let only = |leads: fn(&Value, &Value) -> bool| {
        let mut leading = (0..schemas.len()).filter(|&at| leads(schemas[at], value));
        (leading.next(), leading.next())
    };
    let found = match only(leads) {
        (None, _) => {
            if let Some((key, values)) = tags(&schemas).filter(|_| value.is_object()) {
                let problem = match &value[&key] {
                    Value::Null if value.get(&key).is_none() => {
                        format!("missing; expected {values}")
                    }
                    got => {
                        let shown = got.to_string();
                        let shown = shorten(&shown);
                        let mut words = format!("expected {values}, got {shown}");
                        if let Some(text) = got.as_str() {
                            let tags = schemas.iter().filter_map(|schema| tag_value(schema));
                            did_you_mean(&mut words, text, tags);
                        }
                        words
                    }
                };
                return Some(Meant::Tag { key, problem });
            }
            only(is_kind)
        }
        found => found,
    };
    match found {
        (Some(at), None) if !is_far(schemas[at], value) => Some(Meant::Member(at)),
        _ => None,
    }
}

/// What references come to.
fn resolved<'s>(mut schema: &'s Value, root: &'s Value) -> &'s Value {
    for _ in 0..DEPTH {
        match target(schema, root) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Whether a value may be what a schema describes, from what shows at its surface: its kind, its
/// tag, and one of the members that it must have.
fn leads(schema: &Value, value: &Value) -> bool {
    let (Some(members), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    else {
        return is_kind(schema, value);
    };
    let mut tags = tags_of(properties).peekable();
    let is_tagged = tags.peek().is_some();
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    is_kind(schema, value)
        && tags.all(|(key, tag)| members.get(key).is_some_and(|value| is_tag(value, tag)))
        && (is_tagged || properties.is_empty() || required.any(|key| members.contains_key(key)))
}

/// Whether a value is of a type that a schema describes.
fn is_kind(schema: &Value, value: &Value) -> bool {
    let is_type = |name: &str| match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(_) => matches!(name, "integer" | "number"),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    };
    match &schema["type"] {
        Value::String(name) => is_type(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is_type),
        _ => {
            let listed = listed(schema);
            let is_same =
                |other: &Value| std::mem::discriminant(other) == std::mem::discriminant(value);
            listed.is_none_or(|listed| listed.iter().any(is_same))
        }
    }
}

/// The values that a schema lists.
fn listed(schema: &Value) -> Option<&[Value]> {
    let one = schema.get("const").map(std::slice::from_ref);
    one.or(schema["enum"].as_array().map(Vec::as_slice))
}

/// Whether a text is none of the strings of an enum, and none of them mistyped. It may be the name
/// of a variant that is an object.
fn is_far(schema: &Value, value: &Value) -> bool {
    match (listed(schema), value) {
        (Some(listed), Value::String(text)) => {
            nearest(text, listed.iter().filter_map(Value::as_str)).is_none()
        }
        _ => false,
    }
}

/// The members that tell variants apart, each with its value.
fn tags_of(properties: &Map<String, Value>) -> impl Iterator<Item = (&String, &str)> {
    properties
        .iter()
        .filter_map(|(key, schema)| Some((key, schema.get("const")?.as_str()?)))
}

fn is_tag(value: &Value, tag: &str) -> bool {
    let text = value.as_str();
    text.is_some_and(|text| text.to_lowercase() == tag.to_lowercase())
}

/// What the tag of an object must be.
fn tag_value(schema: &Value) -> Option<&str> {
    let (_, value) = tags_of(schema["properties"].as_object()?).next()?;
    Some(value)
}

/// The tag that all of these objects have, and its values in words.
fn tags(schemas: &[&Value]) -> Option<(String, String)> {
    let mut values = Vec::new();
    let mut name = None;
    for schema in schemas {
        let (key, value) = tags_of(schema["properties"].as_object()?).next()?;
        if name.is_some_and(|name| name != key) {
            return None;
        }
        name = Some(key);
        values.push(Value::from(value).to_string());
    }
    let values = text(|words| one_of(words, values.iter(), None));
    Some((name?.clone(), values))
}
