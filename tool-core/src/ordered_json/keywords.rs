//! The keywords of JSON Schema, by how two schemas that have them can be compared.

use super::Json;

/// Keywords that can be compared one by one.
const COMPARABLE: [&str; 28] = [
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

/// Keywords that restrict values and can only be compared as a whole.
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

/// Returns `true` if a keyword does not affect which values are valid. Unknown keywords do not.
pub(crate) fn is_annotation(key: &str) -> bool {
    !COMPARABLE.contains(&key) && !OPAQUE.contains(&key) && key != "allOf" && key != "$id"
}

/// Returns `true` if a schema can only be compared as a whole.
pub(crate) fn is_opaque(schema: &Json, is_nested: bool) -> bool {
    let Json::Object(members) = schema else {
        return true;
    };
    let has = |name| schema.get(name).is_some();
    members.iter().any(|(key, value)| {
        OPAQUE.contains(&&**key) || !has_known_form(key, value) || key == "$id" && is_nested
    }) || has("const") && has("enum")
}

/// Returns `true` if the keyword's value has the form that draft 6 and later define.
fn has_known_form(key: &str, value: &Json) -> bool {
    let are_strings = |value: &Json| matches!(value, Json::Array(items) if items.iter().all(|item| item.as_str().is_some()));
    match key {
        "type" => value.as_str().is_some() || are_strings(value),
        "required" => are_strings(value),
        "enum" | "prefixItems" | "anyOf" | "allOf" => matches!(value, Json::Array(_)),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
        | "maxProperties" => value.as_number().is_some(),
        "pattern" | "format" | "$ref" => value.as_str().is_some(),
        "uniqueItems" => matches!(value, Json::Boolean(_)),
        "properties" | "patternProperties" => matches!(value, Json::Object(_)),
        "items" | "additionalProperties" => matches!(value, Json::Object(_) | Json::Boolean(_)),
        _ => true,
    }
}

/// Returns a schema without its annotations and with sorted keys, for comparison.
pub(crate) fn without_annotations(schema: &Json) -> Json {
    let Json::Object(members) = schema else {
        return schema.clone();
    };
    let members = members.iter().filter(|(key, _)| !is_annotation(key));
    sorted(members.map(|(key, value)| {
        let value = match key.as_str() {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                let members = value.members().iter();
                sorted(members.map(|(key, schema)| (key.clone(), without_annotations(schema))))
            }
            "anyOf" | "allOf" | "oneOf" | "prefixItems" | "items" => match value {
                Json::Array(items) => Json::Array(items.iter().map(without_annotations).collect()),
                schema => without_annotations(schema),
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
            | "additionalItems" => without_annotations(value),
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
