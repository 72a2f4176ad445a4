//! Writes the portable schema of a dynamic tool in the subset of a provider.

use crate::ordered_json::Json;
use crate::provider::dialect::JsonWriter;
use crate::provider::subset::Subset;

/// The maximum number of references to inline.
const MAX_INLINED: usize = 500;

/// Writes the schema. What the subset can't express goes into the descriptions.
pub(super) fn write(schema: &str, subset: &Subset, out: &mut JsonWriter) {
    match Json::parse(schema) {
        Ok(schema) => {
            let mut reducer = Reducer {
                root: &schema,
                subset,
                open: Vec::new(),
                left: MAX_INLINED,
            };
            out.raw(&reducer.schema(&schema).to_string())
        }
        // A schema that a tool was built with is valid JSON.
        Err(_) => out.raw(schema),
    };
}

struct Reducer<'s> {
    root: &'s Json,
    subset: &'s Subset,
    /// The references that are being inlined.
    open: Vec<&'s str>,
    /// The references that may still be inlined.
    left: usize,
}

impl<'s> Reducer<'s> {
    fn schema(&mut self, schema: &'s Json) -> Json {
        let subset = self.subset;
        let mut out = Vec::new();
        let mut description = None;
        let mut sentences = Vec::new();
        for (keyword, value) in schema.members() {
            let value = match (&**keyword, value) {
                ("description", value) => {
                    description = value.as_str();
                    continue;
                }
                ("$defs", _) if !subset.accepts("$ref") => continue,
                ("$ref", Json::String(reference)) if !subset.accepts("$ref") => {
                    return self.inlined(reference);
                }
                ("properties" | "$defs", Json::Object(members)) => {
                    let members = members.iter();
                    let members = members.map(|(key, schema)| (key.clone(), self.schema(schema)));
                    Json::Object(members.collect())
                }
                ("anyOf" | "prefixItems", Json::Array(items))
                    if keyword == "anyOf" || subset.accepts(keyword) =>
                {
                    Json::Array(items.iter().map(|item| self.schema(item)).collect())
                }
                ("items" | "additionalProperties", Json::Object(_)) => self.schema(value),
                ("enum", Json::Array(values))
                    if values.iter().any(|value| value.as_str().is_none()) =>
                {
                    let values: Vec<_> = values.iter().map(Json::to_string).collect();
                    sentences.push(format!("Must be {}.", values.join(" or ")));
                    continue;
                }
                (
                    "type" | "$ref" | "required" | "items" | "additionalProperties" | "enum",
                    value,
                ) => value.clone(),
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
        if has_type(schema, "object") && schema.get("additionalProperties").is_none() {
            out.push(("additionalProperties".into(), Json::Boolean(true)));
        }
        let parts = description.into_iter().map(str::to_owned).chain(sentences);
        let text: Vec<_> = parts.collect();
        if !text.is_empty() {
            out.push(("description".into(), Json::String(text.join("\n"))));
        }
        Json::Object(out)
    }

    /// Returns the target of a reference. A recursive one accepts any value.
    fn inlined(&mut self, reference: &'s str) -> Json {
        self.left = self.left.saturating_sub(1);
        let target = self.root.pointer(reference.trim_start_matches('#'));
        let is_recursive = reference == "#" || self.open.contains(&reference);
        match target.filter(|_| !is_recursive && self.left > 0) {
            Some(target) => {
                self.open.push(reference);
                let schema = self.schema(target);
                self.open.pop();
                schema
            }
            None => {
                let text = "Has the form of a schema that contains it.";
                Json::object([("description", Some(Json::from(text)))])
            }
        }
    }
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
