//! A JSON Schema in words for a model, as [`crate::schema::messages`] has them for a tree.

use serde_json::Value;

use crate::schema::messages::{integer, number_between, one_of, pattern, sized, text};
use crate::schema::{IntegerRange, Lengths};

/// How many references are followed.
const DEPTH: usize = 16;

/// What a schema expects, to stand after "expected". References are looked up from the root.
pub(super) fn expected(schema: &Value, root: &Value) -> String {
    words(schema, root, DEPTH)
}

fn words(schema: &Value, root: &Value, depth: usize) -> String {
    const ANY: &str = "any JSON value";
    let Some(depth) = depth.checked_sub(1) else {
        return ANY.into();
    };
    let each = |schemas: &[Value]| {
        let mut words: Vec<_> = schemas
            .iter()
            .map(|schema| words(schema, root, depth))
            .collect();
        words.dedup();
        text(|text| one_of(text, words.iter(), None))
    };
    if schema["$ref"].is_string() {
        return match target(schema, root) {
            Some(target) => words(target, root, depth),
            None => ANY.into(),
        };
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return text(|text| one_of(text, values.iter().map(Value::to_string), None));
    }
    match &schema["type"] {
        Value::String(name) => typed(name, schema),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            let words: Vec<_> = names.map(|name| typed(name, schema)).collect();
            text(|text| one_of(text, words.iter(), None))
        }
        _ => {
            for keyword in ["anyOf", "oneOf"] {
                if let Some(schemas) = schema[keyword].as_array() {
                    return each(schemas);
                }
            }
            if let Some([first, ..]) = schema["allOf"].as_array().map(Vec::as_slice) {
                return words(first, root, depth);
            }
            let implied = [
                ("properties", "object"),
                ("required", "object"),
                ("items", "array"),
                ("minItems", "array"),
                ("maxItems", "array"),
                ("format", "string"),
                ("pattern", "string"),
                ("minLength", "string"),
                ("maxLength", "string"),
            ];
            let found = implied.iter().find(|(key, _)| schema.get(key).is_some());
            found.map_or(ANY.into(), |(_, name)| typed(name, schema))
        }
    }
}

/// What a schema that is a reference refers to, if that is a place in the same schema.
pub(super) fn target<'s>(schema: &Value, root: &'s Value) -> Option<&'s Value> {
    let pointer = schema["$ref"].as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// The words of one type, with the limits that a schema has for it.
pub(super) fn typed(name: &str, schema: &Value) -> String {
    match name {
        "null" => "null".into(),
        "boolean" => "true or false".into(),
        "integer" => whole(schema),
        "number" => number(schema),
        "string" => string(schema),
        "array" => {
            let lengths = lengths(schema, "minItems", "maxItems");
            text(|words| sized(words, "an array", lengths, "item"))
        }
        "object" => object(schema),
        _ => "any JSON value".into(),
    }
}

/// An object by what tells it from others: its tag, or the one member that it must have.
fn object(schema: &Value) -> String {
    let properties = schema["properties"].as_object();
    let mut tags = properties.into_iter().flatten();
    if let Some((key, value)) = tags.find_map(|(key, schema)| Some((key, schema.get("const")?))) {
        return format!("an object with \"{key}\": {value}");
    }
    if let (Some([Value::String(only)]), Some(1)) = (
        schema["required"].as_array().map(Vec::as_slice),
        properties.map(serde_json::Map::len),
    ) {
        return format!("an object with \"{only}\"");
    }
    let lengths = lengths(schema, "minProperties", "maxProperties");
    text(|words| sized(words, "an object", lengths, "member"))
}

fn string(schema: &Value) -> String {
    let what = match schema["format"].as_str() {
        Some(format) => format!("a string in {format} format"),
        None => "a string".into(),
    };
    let lengths = lengths(schema, "minLength", "maxLength");
    text(|words| {
        sized(words, &what, lengths, "character");
        pattern(words, schema["pattern"].as_str().unwrap_or_default());
    })
}

fn whole(schema: &Value) -> String {
    let limit = |keyword: &str| {
        let limit = schema[keyword].as_number()?;
        let whole = limit.as_f64().filter(|limit| limit.fract() == 0.0);
        #[allow(clippy::cast_possible_truncation)] // it is whole, and no limit is greater
        let whole = whole.map(|limit| limit as i128);
        limit.as_i128().or(whole)
    };
    let minimum = limit("minimum").or(limit("exclusiveMinimum").map(|limit| limit + 1));
    let maximum = limit("maximum").or(limit("exclusiveMaximum").map(|limit| limit - 1));
    let range = IntegerRange {
        shows_minimum: minimum.is_some(),
        shows_maximum: maximum.is_some(),
        multiple_of: limit("multipleOf").unwrap_or(0),
        ..IntegerRange::between(minimum.unwrap_or(i128::MIN), maximum.unwrap_or(i128::MAX))
    };
    text(|words| integer(words, &range))
}

fn number(schema: &Value) -> String {
    let limit = |keyword: &str| schema[keyword].as_number().map(ToString::to_string);
    let end = |inclusive: &str, exclusive: &str| {
        let end = limit(inclusive).map(|limit| (limit, false));
        end.or(limit(exclusive).map(|limit| (limit, true)))
    };
    let minimum = end("minimum", "exclusiveMinimum");
    let maximum = end("maximum", "exclusiveMaximum");
    let step = limit("multipleOf");
    let minimum = minimum.as_ref().map(|(limit, out)| (&**limit, *out));
    let maximum = maximum.as_ref().map(|(limit, out)| (&**limit, *out));
    text(|words| number_between(words, minimum, maximum, step.as_deref()))
}

fn lengths(schema: &Value, minimum: &str, maximum: &str) -> Lengths {
    let limit = |keyword: &str| {
        let limit = schema[keyword].as_u64()?;
        usize::try_from(limit).ok()
    };
    Lengths {
        minimum: limit(minimum).unwrap_or(0),
        maximum: limit(maximum).unwrap_or(usize::MAX),
    }
}
