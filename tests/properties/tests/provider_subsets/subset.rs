//! The providers' subsets of JSON Schema, written a second time from the providers' documentation.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::forms::Form;

/// Returns the keywords that a form may use.
fn keywords(form: Form) -> &'static [&'static str] {
    match form {
        Form::OpenAiStrict => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "anyOf",
            "$ref",
            "$defs",
            "pattern",
            "format",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minItems",
            "maxItems",
        ],
        Form::AnthropicStrict => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "anyOf",
            "default",
            "pattern",
            "format",
            "minItems",
        ],
        Form::GeminiJson => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "prefixItems",
            "enum",
            "anyOf",
            "$ref",
            "$defs",
            "format",
            "minimum",
            "maximum",
            "minItems",
            "maxItems",
        ],
        Form::GeminiOpenApi => &[
            "type",
            "format",
            "description",
            "nullable",
            "items",
            "minItems",
            "maxItems",
            "enum",
            "properties",
            "propertyOrdering",
            "required",
            "minProperties",
            "maxProperties",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "pattern",
            "anyOf",
        ],
        Form::XAi => &[
            "type",
            "description",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "prefixItems",
            "enum",
            "const",
            "anyOf",
            "pattern",
            "format",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
        ],
    }
}

fn formats(form: Form) -> Option<&'static [&'static str]> {
    match form {
        Form::OpenAiStrict => Some(&[
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "uuid",
        ]),
        Form::AnthropicStrict => Some(&[
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "uri",
            "ipv4",
            "ipv6",
            "uuid",
        ]),
        Form::GeminiJson => None,
        Form::GeminiOpenApi => Some(&["enum", "date-time"]),
        Form::XAi => Some(&[
            "date",
            "time",
            "date-time",
            "email",
            "uuid",
            "ipv4",
            "ipv6",
            "uri",
        ]),
    }
}

/// Returns everything in a schema that the provider would reject.
pub(crate) fn problems(schema: &Value, form: Form) -> Vec<String> {
    let mut checker = Checker {
        form,
        found: Vec::new(),
    };
    let root = schema["type"].as_str().unwrap_or_default();
    checker.expect(
        root.eq_ignore_ascii_case("object"),
        "a root that is no object",
    );
    checker.node(schema, 0);
    checker.found
}

struct Checker {
    form: Form,
    found: Vec<String>,
}

impl Checker {
    fn expect(&mut self, holds: bool, problem: impl Into<String>) {
        if !holds {
            self.found.push(problem.into());
        }
    }

    fn node(&mut self, schema: &Value, depth: usize) {
        let Some(members) = schema.as_object() else {
            return self.expect(false, format!("{schema} for a schema"));
        };
        for keyword in members.keys() {
            let is_known = keywords(self.form).contains(&&**keyword);
            self.expect(is_known, format!("the keyword {keyword}"));
        }
        let is_strict = matches!(self.form, Form::OpenAiStrict | Form::AnthropicStrict);
        let has_type = ["type", "anyOf", "$ref"]
            .iter()
            .any(|key| members.contains_key(*key));
        let may_be_any = matches!(self.form, Form::GeminiJson | Form::XAi);
        self.expect(has_type || may_be_any, "no type");
        if members.contains_key("$ref") {
            self.expect(members.len() == 1, "a reference with siblings");
        }
        let types: Vec<_> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            name => name.as_str().into_iter().collect(),
        };
        for name in &types {
            let is_case = match self.form {
                Form::GeminiOpenApi => name.bytes().all(|byte| byte.is_ascii_uppercase()),
                _ => name.bytes().all(|byte| byte.is_ascii_lowercase()),
            };
            self.expect(is_case, format!("the type {name}"));
        }
        let is = |wanted: &str| types.iter().any(|name| name.eq_ignore_ascii_case(wanted));
        let depth = depth + usize::from(is("object") || is("array"));
        if self.form == Form::OpenAiStrict {
            self.expect(depth <= 10, "an eleventh level");
        }
        if is("object") {
            self.object(members, is_strict);
        } else {
            self.expect(!members.contains_key("properties"), "members of no object");
            self.expect(
                !members.contains_key("required"),
                "required members of no object",
            );
        }
        if is("array") {
            let has_items =
                members.contains_key("items") || members.contains_key("prefixItems") && !is_strict;
            self.expect(has_items, "an array without items");
        }
        if self.form == Form::AnthropicStrict && members.contains_key("minItems") {
            self.expect(
                schema["minItems"].as_u64() <= Some(1),
                "more than one item at least",
            );
        }
        if let Some(values) = members.get("enum") {
            let values = values.as_array().map(Vec::as_slice).unwrap_or_default();
            self.expect(!values.is_empty(), "an empty enum");
            self.expect(
                values.iter().all(Value::is_string),
                "an enum of other than strings",
            );
        }
        if let (Some(format), Some(known)) = (schema["format"].as_str(), formats(self.form)) {
            self.expect(known.contains(&format), format!("the format {format}"));
        }
        if let Some(pattern) = schema["pattern"].as_str() {
            self.pattern(pattern);
        }
        for inner in children(members) {
            self.node(inner, depth);
        }
        for definition in schema["$defs"]
            .as_object()
            .into_iter()
            .flat_map(Map::values)
        {
            self.node(definition, 1);
        }
    }

    fn object(&mut self, members: &Map<String, Value>, is_strict: bool) {
        let keys: BTreeSet<_> = members
            .get("properties")
            .and_then(Value::as_object)
            .map(|properties| properties.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let required: BTreeSet<_> = members
            .get("required")
            .and_then(Value::as_array)
            .map(|keys| keys.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        self.expect(
            required.is_subset(&keys),
            "a required key that is no member",
        );
        let rest = members.get("additionalProperties");
        if is_strict {
            self.expect(rest == Some(&Value::Bool(false)), "an open object");
        }
        match self.form {
            Form::OpenAiStrict => {
                self.expect(members.contains_key("properties"), "no properties");
                self.expect(required == keys, "a key that is not required");
            }
            Form::GeminiOpenApi => self.expect(!keys.is_empty(), "an object without members"),
            Form::XAi => self.expect(rest.is_some(), "an object without additionalProperties"),
            _ => {}
        }
        for key in keys {
            let is_dashed = self.form == Form::AnthropicStrict || self.form == Form::XAi;
            let fine = |byte: u8| {
                byte.is_ascii_alphanumeric() || byte == b'_' || is_dashed && b".-".contains(&byte)
            };
            self.expect(key.bytes().all(fine), format!("the key {key}"));
        }
    }

    fn pattern(&mut self, pattern: &str) {
        let has = |parts: &[&str]| parts.iter().any(|part| pattern.contains(part));
        self.expect(!has(&["(?=", "(?!", "(?<"]), "a lookaround");
        if matches!(self.form, Form::AnthropicStrict | Form::XAi) {
            self.expect(!has(&["\\b", "\\B"]), "a word boundary");
        }
        if self.form == Form::XAi {
            let is_whole = pattern.starts_with('^') && pattern.ends_with('$');
            self.expect(is_whole, "a pattern for a part");
        }
    }
}

fn children(members: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let single = ["items", "additionalProperties"];
    let single = single.into_iter().filter_map(|key| members.get(key));
    let lists = ["anyOf", "prefixItems"].into_iter();
    let lists = lists.filter_map(|key| members.get(key)?.as_array());
    let properties = members.get("properties").and_then(Value::as_object);
    single
        .filter(|value| !value.is_boolean())
        .chain(lists.flatten())
        .chain(properties.into_iter().flat_map(Map::values))
}
