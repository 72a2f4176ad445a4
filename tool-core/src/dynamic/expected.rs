//! Describes what a JSON Schema expects, in the words that [`crate::schema::messages`] uses for a typed
//! schema.

use serde_json::Value;

use crate::schema::messages::{self, number_between, one_of, pattern, sized, text};
use crate::schema::{IntegerRange, Lengths};

/// The maximum depth, references included.
const MAX_DEPTH: usize = 16;

/// Describes what a schema expects, for use after "expected". References start at the root.
pub(super) fn expected(schema: &Value, root: &Value) -> String {
    describe(schema, root, MAX_DEPTH)
}

fn describe(schema: &Value, root: &Value, depth: usize) -> String {
    const ANY: &str = "any JSON value";
    let Some(depth) = depth.checked_sub(1) else {
        return ANY.into();
    };
    if schema["$ref"].is_string() {
        return match target(schema, root) {
            Some(target) => describe(target, root, depth),
            None => ANY.into(),
        };
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        return either(values.iter().map(Value::to_string));
    }
    match &schema["type"] {
        Value::String(name) => typed(name, schema),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str);
            let types: Vec<_> = names.map(|name| typed(name, schema)).collect();
            either(types.iter())
        }
        _ => {
            for keyword in ["anyOf", "oneOf"] {
                if let Some(schemas) = schema[keyword].as_array() {
                    let each = schemas.iter().map(|schema| describe(schema, root, depth));
                    let mut each: Vec<_> = each.collect();
                    each.dedup();
                    return either(each.iter());
                }
            }
            if let Some([first, ..]) = schema["allOf"].as_array().map(Vec::as_slice) {
                return describe(first, root, depth);
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

/// Lists alternatives.
pub(super) fn either<T: AsRef<str>>(alternatives: impl ExactSizeIterator<Item = T>) -> String {
    text(|out| one_of(out, alternatives, None))
}

/// Resolves the reference of a schema, if it leads to a place in the same document.
pub(super) fn target<'s>(schema: &Value, root: &'s Value) -> Option<&'s Value> {
    let pointer = schema["$ref"].as_str()?.strip_prefix('#')?;
    root.pointer(pointer)
}

/// Describes one type with the schema's constraints for it.
pub(super) fn typed(name: &str, schema: &Value) -> String {
    match name {
        "null" => "null".into(),
        "boolean" => "true or false".into(),
        "integer" => integer(schema),
        "number" => number(schema),
        "string" => string(schema),
        "array" => {
            let lengths = lengths(schema, "minItems", "maxItems");
            text(|out| sized(out, "an array", lengths, "item"))
        }
        "object" => object(schema),
        _ => "any JSON value".into(),
    }
}

/// Describes an object by its tag, its only required property, or its number of properties.
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
    text(|out| sized(out, "an object", lengths, "member"))
}

fn string(schema: &Value) -> String {
    let what = match schema["format"].as_str() {
        Some(format) => format!("a string in {format} format"),
        None => "a string".into(),
    };
    let lengths = lengths(schema, "minLength", "maxLength");
    text(|out| {
        sized(out, &what, lengths, "character");
        pattern(out, schema["pattern"].as_str().unwrap_or_default());
    })
}

fn integer(schema: &Value) -> String {
    let limit = |keyword: &str| {
        let limit = schema[keyword].as_number()?;
        let whole = limit.as_f64().filter(|limit| limit.fract() == 0.0);
        #[allow(clippy::cast_possible_truncation)] // whole, and no limit is greater
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
    text(|out| messages::integer(out, &range))
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
    let minimum = minimum
        .as_ref()
        .map(|(limit, is_exclusive)| (&**limit, *is_exclusive));
    let maximum = maximum
        .as_ref()
        .map(|(limit, is_exclusive)| (&**limit, *is_exclusive));
    text(|out| number_between(out, minimum, maximum, step.as_deref()))
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
