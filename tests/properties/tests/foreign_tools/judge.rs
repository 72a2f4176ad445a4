//! What every provider accepts outside its strict mode, written a second time from the providers'
//! documentation.

use serde_json::Value;
use tool_core::Registry;
use tool_core::dialect::Dialect;
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mistral, OpenAiChat, OpenAiResponses,
    XAi,
};

use crate::forms::Form;
use crate::subset;

/// A dialect, the place of a tool in its output, and of the schema in the tool.
struct Place {
    dialect: Box<dyn Dialect>,
    tool: &'static str,
    schema: &'static str,
    form: Option<Form>,
}

#[allow(clippy::box_default)] // one form for all
fn places() -> Vec<Place> {
    let place = |dialect, tool, schema, form| Place {
        dialect,
        tool,
        schema,
        form,
    };
    vec![
        place(
            Box::new(OpenAiChat::default()),
            "/function",
            "/parameters",
            None,
        ),
        place(
            Box::new(OpenAiChat::strict()),
            "/function",
            "/parameters",
            None,
        ),
        place(
            Box::new(OpenAiResponses::default()),
            "",
            "/parameters",
            None,
        ),
        place(Box::new(OpenAiResponses::strict()), "", "/parameters", None),
        place(Box::new(Anthropic::default()), "", "/input_schema", None),
        place(Box::new(Anthropic::strict()), "", "/input_schema", None),
        place(
            Box::new(Bedrock::default()),
            "/toolSpec",
            "/inputSchema/json",
            None,
        ),
        place(
            Box::new(Cohere::default()),
            "/function",
            "/parameters",
            None,
        ),
        place(
            Box::new(Mistral::default()),
            "/function",
            "/parameters",
            None,
        ),
        place(
            Box::new(XAi::default()),
            "/function",
            "/parameters",
            Some(Form::XAi),
        ),
        place(
            Box::new(Gemini::default()),
            "",
            "/parametersJsonSchema",
            Some(Form::GeminiJson),
        ),
        place(
            Box::new(GeminiInteractions::default()),
            "",
            "/parameters",
            Some(Form::GeminiJson),
        ),
        place(
            Box::new(Gemini::open_api()),
            "",
            "/parametersJsonSchema",
            Some(Form::GeminiJson),
        ),
    ]
}

/// Returns what a provider rejects in the tools of a registry.
pub(crate) fn problems(registry: &Registry) -> Vec<String> {
    let mut found = Vec::new();
    for place in places() {
        let who = place.dialect.provider();
        let rendered = registry.render(&place.dialect);
        for rejected in rendered.rejected() {
            found.push(format!("{who} refuses: {rejected}"));
        }
        let json: Value = serde_json::from_str(rendered.as_str()).expect("a dialect writes JSON");
        let tools = match &json[0]["functionDeclarations"] {
            Value::Array(tools) => tools.clone(),
            _ => json.as_array().cloned().unwrap_or_default(),
        };
        if tools.len() != registry.len() {
            found.push(format!("{who} got {} tools", tools.len()));
        }
        let mut names = std::collections::BTreeSet::new();
        for tool in &tools {
            let tool = tool.pointer(place.tool).expect("a tool");
            let name = tool["name"].as_str().unwrap_or_default();
            let mut report = |problem: String| {
                found.push(format!("{who}, {name}: {problem} in {tool}"));
            };
            if !names.insert(name) {
                report("a name twice".into());
            }
            if !is_name(name, "-") {
                report("a name that some provider rejects".into());
            }
            if tool["description"]
                .as_str()
                .is_none_or(|text| text.trim().is_empty())
            {
                report("no description".into());
            }
            let Some(schema) = tool.pointer(place.schema) else {
                // Gemini has no schema for a tool without parameters.
                if place.form.is_none() {
                    report("no schema".into());
                }
                continue;
            };
            for problem in schema_problems(schema) {
                report(problem);
            }
            if let Some(form) = place.form {
                for problem in subset::problems(schema, form) {
                    report(problem);
                }
            }
        }
    }
    found
}

fn is_name(name: &str, more: &str) -> bool {
    let is_start = |first: char| first.is_ascii_alphabetic() || first == '_';
    let is_rest =
        |other: char| other.is_ascii_alphanumeric() || other == '_' || more.contains(other);
    name.len() <= 64 && name.starts_with(is_start) && name.chars().all(is_rest)
}

const KEYWORDS: [&str; 27] = [
    "type",
    "description",
    "default",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "enum",
    "anyOf",
    "$ref",
    "$defs",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "const",
];

const FORMATS: [&str; 12] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uuid",
    "uri-reference",
    "regex",
];

fn schema_problems(root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if root["type"] != "object" || root.get("anyOf").is_some() {
        found.push("a root that is no object".into());
    }
    if !root["properties"].is_object() {
        found.push("a root without properties".into());
    }
    if root.to_string().len() > 1_000_000 {
        found.push("a schema of a megabyte".into());
    }
    node(root, root, 0, &mut found);
    found
}

fn node(schema: &Value, root: &Value, depth: usize, found: &mut Vec<String>) {
    let Some(members) = schema.as_object() else {
        return found.push(format!("{schema} for a schema"));
    };
    if depth > 100 {
        return found.push("a schema that is too deep".into());
    }
    for (keyword, value) in members {
        if !KEYWORDS.contains(&&**keyword) {
            found.push(format!("the keyword {keyword}"));
        }
        match (&**keyword, value) {
            ("properties", Value::Object(properties)) => {
                for (key, schema) in properties {
                    if !is_name(key, "") {
                        found.push(format!("the key {key:?}"));
                    }
                    node(schema, root, depth + 1, found);
                }
            }
            ("$defs", Value::Object(definitions)) => {
                for schema in definitions.values() {
                    node(schema, root, depth + 1, found);
                }
            }
            ("anyOf" | "prefixItems", Value::Array(schemas)) => {
                if schemas.is_empty() {
                    found.push("an empty union".into());
                }
                for schema in schemas {
                    node(schema, root, depth + 1, found);
                }
            }
            ("additionalProperties", Value::Bool(_)) => {}
            ("items" | "additionalProperties", schema) => node(schema, root, depth + 1, found),
            ("enum", Value::Array(values)) => {
                let is_scalar = |value: &Value| !value.is_array() && !value.is_object();
                if values.is_empty() || !values.iter().all(is_scalar) {
                    found.push(format!("the enum {value}"));
                }
            }
            ("format", Value::String(format)) => {
                let is_known = FORMATS.contains(&&**format)
                    || format.starts_with("idn-")
                    || format.starts_with("iri")
                    || format == "uri-template"
                    || format.ends_with("json-pointer");
                if !is_known {
                    found.push(format!("the format {format}"));
                }
            }
            ("$ref", Value::String(reference)) => {
                let target = root.pointer(reference.trim_start_matches('#'));
                if members.len() > 1 || target.is_none() || !reference.starts_with('#') {
                    found.push(format!("the reference {schema}"));
                }
            }
            ("required", Value::Array(keys)) => {
                let has = |key: &Value| {
                    let key = key.as_str().unwrap_or_default();
                    members
                        .get("properties")
                        .is_some_and(|all| all.get(key).is_some())
                };
                if !keys.iter().all(has) {
                    found.push(format!("required keys that are no properties: {value}"));
                }
            }
            _ => {}
        }
    }
    let is_array = match &schema["type"] {
        Value::String(name) => name == "array",
        Value::Array(names) => names.iter().any(|name| name == "array"),
        _ => false,
    };
    if is_array && !schema["items"].is_object() {
        found.push("an array without items".into());
    }
}
