//! The keywords of JSON Schema: which can be taken apart, which only tell.

use super::Json;

/// Those that can be looked at one by one.
const PLAIN: [&str; 28] = [
    "$ref",
    "$defs",
    "definitions",
    "$schema",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "minProperties",
    "maxProperties",
    "anyOf",
];

/// Those that change what is accepted and can't be taken apart.
const OPAQUE: [&str; 20] = [
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "contains",
    "minContains",
    "maxContains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "additionalItems",
    "nullable",
    "$dynamicRef",
    "$recursiveRef",
    "extends",
    "disallow",
];

/// Whether a keyword is only told of a value: whatever no validator knows is.
pub(crate) fn is_word(key: &str) -> bool {
    !PLAIN.contains(&key) && !OPAQUE.contains(&key) && key != "allOf" && key != "$id"
}

/// Whether a schema can only be compared as a whole.
pub(crate) fn is_opaque(schema: &Json, is_nested: bool) -> bool {
    let Json::Object(members) = schema else {
        return true;
    };
    let has = |name| schema.get(name).is_some();
    members.iter().any(|(key, value)| {
        OPAQUE.contains(&&**key) || !has_known_form(key, value) || key == "$id" && is_nested
    }) || has("const") && has("enum")
}

/// Whether the value of a keyword is of the kind that it has since draft 6.
fn has_known_form(key: &str, value: &Json) -> bool {
    let are_texts = |value: &Json| matches!(value, Json::Array(items) if items.iter().all(|item| item.text().is_some()));
    match key {
        "type" => value.text().is_some() || are_texts(value),
        "required" => are_texts(value),
        "enum" | "prefixItems" | "anyOf" | "allOf" => matches!(value, Json::Array(_)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
        | "maxProperties" => value.number().is_some(),
        "pattern" | "format" | "$ref" => value.text().is_some(),
        "uniqueItems" => matches!(value, Json::Boolean(_)),
        "properties" | "patternProperties" => matches!(value, Json::Object(_)),
        "items" | "additionalProperties" => matches!(value, Json::Object(_) | Json::Boolean(_)),
        _ => true,
    }
}

/// A schema without what is only told of values, its keys in order.
pub(crate) fn without_words(schema: &Json) -> Json {
    let Json::Object(members) = schema else {
        return schema.clone();
    };
    let members = members.iter().filter(|(key, _)| !is_word(key));
    sorted(members.map(|(key, value)| {
        let value = match key.as_str() {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                let members = value.members().iter();
                sorted(members.map(|(key, schema)| (key.clone(), without_words(schema))))
            }
            "anyOf" | "allOf" | "oneOf" | "prefixItems" | "items" => match value {
                Json::Array(items) => Json::Array(items.iter().map(without_words).collect()),
                schema => without_words(schema),
            },
            "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "additionalItems" => without_words(value),
            _ => value.clone(),
        };
        (key.clone(), value)
    }))
}

fn sorted(members: impl Iterator<Item = (String, Json)>) -> Json {
    let mut members: Vec<_> = members.collect();
    members.sort_by(|(left, _), (right, _)| left.cmp(right));
    Json::Object(members)
}
