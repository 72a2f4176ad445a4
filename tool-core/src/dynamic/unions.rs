//! Finds the variant of a union that an invalid value was meant to be, like
//! [`crate::schema::validate`] for a typed schema.

use serde_json::Value;

use crate::ordered_json::Json;
use crate::ordered_json::expected::{either, shown, target};
use crate::schema::messages::{did_you_mean, nearest};

/// The maximum number of references to follow.
const MAX_REFERENCES: usize = 16;

/// The likely intent of a value that matches no variant.
pub(super) struct Intent {
    /// The variants that may be meant.
    pub(super) variants: Vec<usize>,
    /// `true` if the value resembles each of them.
    pub(super) are_likely: bool,
    /// The key of the tag that is missing or invalid, and its problem.
    pub(super) tag: Option<(String, String)>,
}

pub(super) fn intent(schemas: &[Json], root: &Json, value: &Value) -> Intent {
    let schemas: Vec<_> = schemas
        .iter()
        .map(|schema| resolved(schema, root))
        .collect();
    let candidates = |test: fn(&Json, &Value) -> bool| -> Vec<usize> {
        let all = 0..schemas.len();
        all.filter(|&at| test(schemas[at], value)).collect()
    };
    let likely = candidates(resembles);
    let are_likely = !likely.is_empty();
    let mut variants = if are_likely {
        likely
    } else {
        candidates(has_type)
    };
    if let [only] = variants[..]
        && is_unrelated(schemas[only], value)
    {
        variants.clear();
    }
    let tag = common_tag(&schemas).filter(|_| !are_likely && value.is_object());
    Intent {
        variants,
        are_likely,
        tag: tag.map(|(key, values)| {
            let problem = match value.get(&key) {
                None => format!("missing; expected {values}"),
                Some(tag) => {
                    let mut problem = format!("expected {values}, got {}", shown(tag));
                    if let Some(text) = tag.as_str() {
                        let tags = schemas.iter().filter_map(|schema| tag_value(schema));
                        did_you_mean(&mut problem, text, tags);
                    }
                    problem
                }
            };
            (key, problem)
        }),
    }
}

/// Follows references.
fn resolved<'s>(mut schema: &'s Json, root: &'s Json) -> &'s Json {
    for _ in 0..MAX_REFERENCES {
        match target(schema, root) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

/// Returns `true` if a value has a schema's type, its tags, and for an object without tags one of
/// the required properties.
fn resembles(schema: &Json, value: &Value) -> bool {
    let (Some(members), Some(Json::Object(properties))) =
        (value.as_object(), schema.get("properties"))
    else {
        return has_type(schema, value);
    };
    let mut tags = tags_of(properties).peekable();
    let is_tagged = tags.peek().is_some();
    let mut required = schema.get_items("required").iter().filter_map(Json::as_str);
    has_type(schema, value)
        && tags.all(|(key, tag)| members.get(key).is_some_and(|value| is_tag(value, tag)))
        && (is_tagged || properties.is_empty() || required.any(|key| members.contains_key(key)))
}

/// Returns `true` if a value has a type that a schema accepts.
fn has_type(schema: &Json, value: &Value) -> bool {
    let is_type = |name: &str| match value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        Value::Number(_) => matches!(name, "integer" | "number"),
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    };
    match schema.get("type") {
        Some(Json::String(name)) => is_type(name),
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).any(is_type),
        _ => {
            let mut listed = listed(schema).into_iter().flatten().peekable();
            listed.peek().is_none() || listed.any(|other| is_type(other.type_name()))
        }
    }
}

/// The values of `const` or `enum`.
fn listed(schema: &Json) -> Option<&[Json]> {
    let one = schema.get("const").map(std::slice::from_ref);
    one.or(schema.get("enum").map(Json::items))
}

/// Returns `true` if a string resembles none of an enum's values. It may be the name of a variant
/// that is an object.
fn is_unrelated(schema: &Json, value: &Value) -> bool {
    match (listed(schema), value) {
        (Some(listed), Value::String(text)) => {
            nearest(text, listed.iter().filter_map(Json::as_str)).is_none()
        }
        _ => false,
    }
}

/// The tags of a variant, each with its value.
fn tags_of(properties: &[(String, Json)]) -> impl Iterator<Item = (&str, &str)> {
    properties
        .iter()
        .filter_map(|(key, schema)| Some((&**key, schema.get("const")?.as_str()?)))
}

fn is_tag(value: &Value, tag: &str) -> bool {
    let text = value.as_str();
    text.is_some_and(|text| text.to_lowercase() == tag.to_lowercase())
}

/// The value of a variant's first tag.
fn tag_value(schema: &Json) -> Option<&str> {
    let (_, value) = tags_of(schema.get_members("properties")).next()?;
    Some(value)
}

/// The tag that all variants have, and a list of its values.
fn common_tag(schemas: &[&Json]) -> Option<(String, String)> {
    let mut values = Vec::new();
    let mut name = None;
    for schema in schemas {
        let (key, value) = tags_of(schema.get_members("properties")).next()?;
        if name.is_some_and(|name| name != key) {
            return None;
        }
        name = Some(key);
        values.push(Value::from(value).to_string());
    }
    Some((name?.to_owned(), either(values.iter())))
}
