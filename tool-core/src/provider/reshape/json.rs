//! Writes the portable schema of a dynamic tool in the subset of a provider.

use crate::ordered_json::Json;
use crate::ordered_json::expected;
use crate::ordered_json::keywords::Keyword;
use crate::provider::subset::{RECURSIVE, Subset};
use crate::provider::writer::JsonWriter;

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
        let mut rest = Vec::new();
        for (keyword, value) in schema.members() {
            let value = match (&**keyword, value) {
                ("description", value) => {
                    description = value.as_str();
                    continue;
                }
                ("$defs", _) if !subset.has_recursion => continue,
                ("$ref", Json::String(reference)) if !subset.has_recursion => {
                    return self.inlined(reference);
                }
                ("enum", Json::Array(values))
                    if values.iter().any(|value| value.as_str().is_none()) =>
                {
                    let values: Vec<_> = values.iter().map(Json::to_string).collect();
                    sentences.push(format!("Must be {}.", values.join(" or ")));
                    continue;
                }
                (name, value) => match Keyword::of(name) {
                    Some(row) if is_accepted(name, value, subset) => {
                        row.map(value, &mut |inner| self.schema(inner), &str::to_owned)
                    }
                    row => {
                        match row.and_then(|row| row.sentence(value)) {
                            Some(sentence) => sentences.push(sentence),
                            None => rest.push((keyword.clone(), value.clone())),
                        }
                        continue;
                    }
                },
            };
            out.push((keyword.clone(), value));
        }
        let phrase = |rest| expected::typed(type_name(schema), &Json::Object(rest));
        let (expected, any) = (phrase(rest), phrase(Vec::new()));
        if expected != any {
            sentences.insert(0, format!("Must be {expected}."));
        }
        // Some providers close objects by default.
        if has_type(schema, "object") && schema.get("additionalProperties").is_none() {
            out.push(("additionalProperties".into(), Json::Boolean(true)));
        }
        let text = sentences.join(" ");
        let parts = description.into_iter().chain([&*text]);
        let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            out.push(("description".into(), Json::String(parts.join("\n"))));
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
            None => Json::object([("description", Some(Json::from(RECURSIVE)))]),
        }
    }
}

fn has_type(schema: &Json, name: &str) -> bool {
    schema.get_str("type") == Some(name)
}

/// The type of a schema, `null` aside.
fn type_name(schema: &Json) -> &str {
    let names = schema.get_items("type").first();
    let name = schema.get_str("type").or(names.and_then(Json::as_str));
    name.unwrap_or_default()
}

fn is_accepted(keyword: &str, value: &Json, subset: &Subset) -> bool {
    match (keyword, value) {
        ("type" | "enum" | "properties" | "required" | "additionalProperties", _) => true,
        ("items" | "anyOf" | "$ref" | "$defs", _) => true,
        ("pattern", Json::String(pattern)) => subset.accepts_pattern(pattern),
        ("format", Json::String(format)) => subset.accepts_format(format),
        ("minItems", Json::Number(length)) => length
            .parse()
            .is_ok_and(|length| subset.accepts_length(keyword, length)),
        _ => subset.accepts(keyword),
    }
}
