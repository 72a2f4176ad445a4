//! Writes the portable schema of a dynamic tool in the subset of a provider.

use crate::ordered_json::Json;
use crate::provider::dialect::JsonWriter;
use crate::provider::subset::Subset;

/// Writes the schema. What the subset can't express goes into the descriptions.
pub(super) fn write(schema: &str, subset: &Subset, out: &mut JsonWriter) {
    match Json::parse(schema) {
        Ok(schema) => out.raw(&reduced(&schema, subset).to_string()),
        // A schema that a tool was built with is valid JSON.
        Err(_) => out.raw(schema),
    };
}

fn reduced(schema: &Json, subset: &Subset) -> Json {
    let mut out = Vec::new();
    let mut description = None;
    let mut sentences = Vec::new();
    let is_object = has_type(schema, "object");
    for (keyword, value) in schema.members() {
        let schemas = |members: &[(String, Json)]| {
            let members = members.iter();
            let members = members.map(|(key, schema)| (key.clone(), reduced(schema, subset)));
            Json::Object(members.collect())
        };
        let value = match (&**keyword, value) {
            ("description", value) => {
                description = value.as_str();
                continue;
            }
            ("$defs" | "$ref", _) if !subset.accepts("$ref") => {
                if keyword == "$ref" {
                    sentences.push("It has the form of a schema that contains it.".into());
                }
                continue;
            }
            ("properties" | "$defs", Json::Object(members)) => schemas(members),
            ("anyOf", Json::Array(items)) | ("prefixItems", Json::Array(items))
                if keyword == "anyOf" || subset.accepts(keyword) =>
            {
                // A union of one reference has become a union of one open schema.
                let items = items.iter().map(|item| reduced(item, subset)).collect();
                Json::Array(items)
            }
            ("items" | "additionalProperties", Json::Object(_)) => reduced(value, subset),
            ("enum", Json::Array(values))
                if !values.iter().all(|value| value.as_str().is_some()) =>
            {
                let values: Vec<_> = values.iter().map(Json::to_string).collect();
                sentences.push(format!("Must be {}.", values.join(" or ")));
                continue;
            }
            ("type" | "$ref" | "required" | "items" | "additionalProperties" | "enum", value) => {
                value.clone()
            }
            (_, value) if is_accepted(keyword, value, subset) => value.clone(),
            ("prefixItems", _) => continue,
            (keyword, value) => {
                sentences.push(sentence(keyword, value));
                continue;
            }
        };
        out.push((keyword.clone(), value));
    }
    // Some providers close objects by default.
    if is_object && schema.get("additionalProperties").is_none() {
        out.push(("additionalProperties".into(), Json::Boolean(true)));
    }
    let parts = description.into_iter().map(str::to_owned).chain(sentences);
    let text: Vec<_> = parts.collect();
    if !text.is_empty() {
        out.push(("description".into(), Json::String(text.join("\n"))));
    }
    Json::Object(out)
}

fn has_type(schema: &Json, name: &str) -> bool {
    schema.get_str("type") == Some(name)
}

fn is_accepted(keyword: &str, value: &Json, subset: &Subset) -> bool {
    match (keyword, value) {
        ("pattern", Json::String(pattern)) => subset.accepts_pattern(pattern),
        ("format", Json::String(format)) => subset.accepts_format(format),
        ("minItems", Json::Number(length)) => length
            .parse()
            .is_ok_and(|length| subset.accepts_length(keyword, length)),
        _ => subset.accepts(keyword),
    }
}

/// Returns what a keyword says.
fn sentence(keyword: &str, value: &Json) -> String {
    let value = match value {
        Json::String(text) if keyword != "default" => text.clone(),
        value => value.to_string(),
    };
    match keyword {
        "default" => format!("Default: {value}."),
        "pattern" => format!("Must match the pattern {value}."),
        "format" => format!("Must be in {value} format."),
        "minimum" => format!("Must be at least {value}."),
        "maximum" => format!("Must be at most {value}."),
        "exclusiveMinimum" => format!("Must be above {value}."),
        "exclusiveMaximum" => format!("Must be below {value}."),
        "multipleOf" => format!("Must be a multiple of {value}."),
        "minLength" => format!("At least {value} characters."),
        "maxLength" => format!("At most {value} characters."),
        "minItems" => format!("At least {value} items."),
        "maxItems" => format!("At most {value} items."),
        "minProperties" => format!("At least {value} members."),
        "maxProperties" => format!("At most {value} members."),
        "uniqueItems" => "No item may occur twice.".into(),
        _ => format!("{keyword}: {value}."),
    }
}
