//! Checks the definition of a tool: its name, its description and its schemas.

use std::collections::BTreeMap;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value, json};

use super::CompiledSchema;
use super::cost::{MAX_DEPTH, drop_deep, has_long_chain, is_deep, is_deep_text};
use super::violations::message;
use crate::provider::portable::{is_param_name, is_tool_name};
use crate::schema::Schema;
use crate::schema::validate::{ValidateError, normalise};

/// A schema as passed to a builder.
#[derive(Clone, Debug)]
pub(super) enum SchemaInput {
    Value(Value),
    /// JSON text, which keeps the order of keys.
    Text(String),
}

/// The audience of a schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    /// Models, so that the rules of their providers apply.
    Model,
    /// Clients of the Model Context Protocol.
    Client,
}

/// The backtracking of one pattern on one text, after which they count as a mismatch. A text takes
/// less than a millisecond.
const MAX_BACKTRACKS: usize = 2000;

type Report<'r> = &'r mut dyn FnMut(&str, &str);

/// Returns the problems of the texts.
pub(super) fn name_and_description(name: &str, description: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !is_tool_name(name) {
        problems.push(
            "its name is not valid for every provider; start with an ASCII letter or `_`, followed \
             by at most 63 ASCII letters, digits, `_` or `-`"
                .into(),
        );
    }
    if description.trim().is_empty() {
        problems.push("it has no description; say what it does, since models read it".into());
    }
    problems
}

/// Reports the tags that `#[tool]` would reject too.
pub(super) fn tags(tags: &[String], problems: &mut Vec<String>) {
    let may_have = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte);
    let is_tag = |tag: &str| (1..=64).contains(&tag.len()) && tag.bytes().all(may_have);
    for tag in tags.iter().filter(|tag| !is_tag(tag)) {
        problems.push(format!(
            "its tag `{}` is invalid; use 1 to 64 ASCII letters, digits, `_`, `-`, `.` or `:`",
            tag.escape_debug()
        ));
    }
}

/// Checks and compiles a schema, and returns it with its JSON text. Each problem is reported with
/// its place, a JSON pointer.
pub(super) fn schema(
    input: SchemaInput,
    audience: Audience,
    problems: &mut Vec<String>,
) -> Option<(CompiledSchema, String)> {
    let subject = match audience {
        Audience::Model => "its parameter schema",
        Audience::Client => "its output schema",
    };
    let before = problems.len();
    let mut report = |place: &str, problem: &str| {
        let place = match place {
            "" => String::new(),
            place => format!(" at `{place}`"),
        };
        let problem = format!("{subject}{place}: {problem}");
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    let (mut schema, mut text) = parse(input, &mut report)?;
    if !schema.is_object() {
        report("", "it is not a JSON object");
        return None;
    }
    if has_long_chain(&schema) {
        report(
            "",
            "its references lead from one to the next too often; shorten them",
        );
        return None;
    }
    check_meta_schema(&schema, &mut report)?;
    check_portable(&schema, audience, &mut report);
    if problems.len() > before {
        return None;
    }
    add_properties(&mut schema, &mut text);
    match compile(&schema) {
        Ok(validator) => Some((CompiledSchema { schema, validator }, text)),
        Err(problem) => {
            problems.push(format!("{subject}: {problem}"));
            None
        }
    }
}

fn parse(input: SchemaInput, report: Report<'_>) -> Option<(Value, String)> {
    let too_deep = format!("it is nested deeper than {MAX_DEPTH} levels; use `$defs`");
    let text = match input {
        SchemaInput::Text(text) if is_deep_text(&text) => {
            report("", &too_deep);
            return None;
        }
        SchemaInput::Text(text) => text,
        SchemaInput::Value(schema) if is_deep(&schema) => {
            report("", &too_deep);
            drop_deep(schema);
            return None;
        }
        SchemaInput::Value(schema) => {
            let text = schema.to_string();
            return Some((schema, text));
        }
    };
    let schema = serde_json::from_str(&text);
    let schema = schema.map_err(|error| report("", &format!("it is not valid JSON: {error}")));
    let schema = schema.ok()?;
    // Of a duplicate key, one reader may use the first value and another the last.
    if let Err(ValidateError::Invalid(violations)) = normalise(&Schema::ANY, &text, false) {
        for violation in violations.into_parts().0 {
            report(violation.path(), violation.message());
        }
        return None;
    }
    Some((schema, minified(&text)))
}

/// Removes the white space of JSON text outside of strings.
fn minified(text: &str) -> String {
    let mut is_inside = false;
    let mut is_escaped = false;
    let kept = text.chars().filter(|&character| {
        match character {
            '"' if !is_escaped => is_inside = !is_inside,
            ' ' | '\t' | '\n' | '\r' if !is_inside => return false,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
        true
    });
    kept.collect()
}

/// Adds `properties` to an object schema without: some providers reject those.
fn add_properties(schema: &mut Value, text: &mut String) {
    if let Value::Object(members) = schema
        && !members.contains_key("properties")
    {
        members.insert("properties".into(), json!({}));
        let comma = if members.len() > 1 { "," } else { "" };
        text.insert_str(text.len() - 1, &format!("{comma}\"properties\":{{}}"));
    }
}

/// Checks a schema against the meta-schema of its draft. Returns `None` if the draft is unknown.
fn check_meta_schema(schema: &Value, report: Report<'_>) -> Option<()> {
    let meta = match Draft::default().detect(schema) {
        Draft::Draft4 => jsonschema::draft4::meta::validator(),
        Draft::Draft6 => jsonschema::draft6::meta::validator(),
        Draft::Draft7 => jsonschema::draft7::meta::validator(),
        Draft::Draft201909 => jsonschema::draft201909::meta::validator(),
        Draft::Draft202012 => jsonschema::draft202012::meta::validator(),
        _ => {
            let name = &schema["$schema"];
            let problem = format!(
                "{name} is not a known version of JSON Schema; remove it, or use a known one"
            );
            report("/$schema", &problem);
            return None;
        }
    };
    for error in meta.iter_errors(schema) {
        report(
            error.instance_path().as_str(),
            &message(&error, &Value::Null),
        );
    }
    Some(())
}

/// Compiles a validator that never fetches anything.
pub(super) fn compile(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options()
        .offline()
        .should_validate_formats(true)
        // Only patterns with look-around or back-references backtrack.
        .with_pattern_options(PatternOptions::fancy_regex().backtrack_limit(MAX_BACKTRACKS));
    options.build(schema).map_err(|error| match error.kind() {
        ValidationErrorKind::Referencing(_) => {
            "it has a reference that can't be resolved; nothing is fetched".into()
        }
        _ => message(&error, &Value::Null),
    })
}

/// Reports references that can't be resolved, and what some providers reject.
fn check_portable(schema: &Value, audience: Audience, report: Report<'_>) {
    if schema["type"] != "object" {
        report(
            "",
            "it does not describe an object; add `\"type\": \"object\"`",
        );
    }
    if audience == Audience::Model {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if schema.get(keyword).is_some() {
                report(
                    &format!("/{keyword}"),
                    "some providers reject this keyword at the root; move it into a property",
                );
            }
        }
    }
    let mut walk = Walk {
        root: schema,
        audience,
        report,
    };
    walk.schema(schema, "");
}

struct Walk<'s, 'r> {
    root: &'s Value,
    audience: Audience,
    report: Report<'r>,
}

impl Walk<'_, '_> {
    /// Visits a schema and the schemas in it, but not data such as a default.
    fn schema(&mut self, schema: &Value, place: &str) {
        let Value::Object(members) = schema else {
            return;
        };
        if self.audience == Audience::Model {
            self.provider_rules(members, place);
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

    /// Reports what some providers reject in one schema.
    fn provider_rules(&mut self, schema: &Map<String, Value>, place: &str) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for key in properties.into_iter().flat_map(Map::keys) {
            if !is_param_name(key) {
                (self.report)(
                    &below(&below(place, "properties"), key),
                    "the key is not valid for every provider; start with an ASCII letter or `_`, \
                     followed by at most 63 ASCII letters, digits or `_`",
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
                "some providers reject an array without `items`; describe its items",
            );
        }
        if schema.contains_key("oneOf") {
            (self.report)(
                &below(place, "oneOf"),
                "some providers reject this keyword; use `anyOf` with schemas that exclude each \
                 other",
            );
        }
        if let Some(Value::Array(values)) = schema.get("enum") {
            self.enum_values(values, &below(place, "enum"));
        }
    }

    fn enum_values(&mut self, values: &[Value], place: &str) {
        if values.is_empty() {
            (self.report)(place, "it has no values; add one");
        }
        let mut seen = BTreeMap::new();
        for value in values.iter().filter_map(Value::as_str) {
            if let Some(other) = seen.insert(value.to_lowercase(), value)
                && other != value
            {
                let problem = format!(
                    "`{other}` and `{value}` differ only in case, and some providers confuse \
                     them; rename one"
                );
                (self.report)(place, &problem);
            }
        }
    }

    fn pattern(&mut self, pattern: &str, place: &str) {
        if compile(&json!({ "pattern": pattern })).is_err() {
            let problem = format!("`{pattern}` is not a valid regular expression");
            (self.report)(place, &problem);
        }
    }

    fn reference(&mut self, reference: &str, place: &str) {
        let is_found = match reference.strip_prefix('#') {
            Some("") => true,
            // The validator decodes the escapes of a URI.
            Some(fragment) if fragment.contains('%') => true,
            Some(pointer) if pointer.starts_with('/') => self.root.pointer(pointer).is_some(),
            Some(anchor) => has_anchor(self.root, anchor),
            None => has_id(self.root) || compile(&json!({ "$ref": reference })).is_ok(),
        };
        if !is_found {
            let problem = format!(
                "`{reference}` is not in the schema, and nothing is fetched; add it to `$defs`"
            );
            (self.report)(place, &problem);
        }
    }
}

fn has_anchor(schema: &Value, anchor: &str) -> bool {
    any_object(schema, &|members| {
        let text = |key| members.get(key).and_then(Value::as_str);
        text("$anchor") == Some(anchor)
            || text("$dynamicAnchor") == Some(anchor)
            || text("$id").and_then(|id| id.strip_prefix('#')) == Some(anchor)
    })
}

/// Returns `true` if a part of the schema has an address that references may use.
fn has_id(schema: &Value) -> bool {
    any_object(schema, &|members| members.contains_key("$id"))
}

fn any_object(value: &Value, matches: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(members) => {
            matches(members) || members.values().any(|member| any_object(member, matches))
        }
        Value::Array(items) => items.iter().any(|item| any_object(item, matches)),
        _ => false,
    }
}

/// Appends a step to a JSON pointer.
fn below(place: &str, key: &str) -> String {
    format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"))
}
