//! Checks the `tools` of a request: their size, the arguments that their schemas wrongly allow or
//! reject,
//! and the docs that are missing.
//!
//! A separate program, so that programs that count instructions need no tokenizer and no validator.

use serde_json::{Map, Value, json};
use tiktoken_rs::o200k_base_singleton;

/// For each tool: valid arguments, invalid arguments by what is wrong with them, and the texts of
/// its
/// documentation.
const PROBES: &str = include_str!("../probes.json");

/// The keys of the schema in the contenders' formats.
const SCHEMA_KEYS: &[&str] = &[
    "inputSchema",
    "input_schema",
    "parameter_schema",
    "parameters",
    "parametersJsonSchema",
];

/// `schema-check <file>`, where the file holds the `tools` of a request.
fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let text = std::fs::read_to_string(path).expect("the file");
    let list: Value = serde_json::from_str(&text).expect("JSON");
    let mut definitions = Vec::new();
    find(&list, &mut definitions);
    assert!(!definitions.is_empty(), "no tools in {text}");

    let mut bytes = 0;
    let mut tokens = 0;
    for (_, schema) in &definitions {
        let schema = schema.to_string();
        bytes += schema.len();
        tokens += count(&schema);
    }
    let mut out = json!({
        "tools": definitions.len(),
        "list bytes": text.len(),
        "list tokens": count(&text),
        "schemas bytes": bytes,
        "schemas tokens": tokens,
    });
    let (mut allows, mut refuses, mut loses) = (Vec::new(), Vec::new(), Vec::new());
    let probes: Map<String, Value> = serde_json::from_str(PROBES).expect("JSON");
    for (tool, probes) in &probes {
        let named = definitions
            .iter()
            .find(|(object, _)| object["name"] == **tool);
        let (object, schema) = *named.unwrap_or_else(|| panic!("no tool {tool}"));
        if tool == "get_forecast" {
            let definition = object.to_string();
            let schema = schema.to_string();
            out["get_forecast definition bytes"] = definition.len().into();
            out["get_forecast definition tokens"] = count(&definition).into();
            out["get_forecast schema bytes"] = schema.len().into();
            out["get_forecast schema tokens"] = count(&schema).into();
        }
        let validator = jsonschema::validator_for(schema).expect("a JSON Schema");
        let entries = |key: &str| probes[key].as_object().expect("an object").iter();
        for (what, arguments) in entries("right") {
            if !validator.is_valid(arguments) {
                refuses.push(format!("{tool}: {what}"));
            }
        }
        for (what, arguments) in entries("wrong") {
            if validator.is_valid(arguments) {
                allows.push(format!("{tool}: {what}"));
            }
        }
        let mut said = Vec::new();
        strings(object, &mut said);
        for text in probes["docs"].as_array().expect("an array") {
            let text = text.as_str().expect("a string");
            if !said.iter().any(|said| said.contains(text)) {
                loses.push(format!("{tool}: {text}"));
            }
        }
    }
    out["allows"] = allows.into();
    out["refuses"] = refuses.into();
    out["loses"] = loses.into();
    println!("{out}");
}

fn count(text: &str) -> usize {
    o200k_base_singleton().encode_ordinary(text).len()
}

/// Stands in for the schema of a tool without one.
static ANYTHING: Value = Value::Bool(true);

/// Collects every object that is a tool, with its schema. Gemini's tools without parameters have
/// only a
/// name and a description.
fn find<'v>(value: &'v Value, out: &mut Vec<(&'v Value, &'v Value)>) {
    match value {
        Value::Object(members) => {
            let schema = SCHEMA_KEYS.iter().find_map(|key| members.get(*key));
            let is_string = |key| members.get(key).is_some_and(Value::is_string);
            let is_all = members.len() == 2 && is_string("description");
            if is_string("name") && (schema.is_some() || is_all) {
                return out.push((value, schema.unwrap_or(&ANYTHING)));
            }
            members.values().for_each(|value| find(value, out));
        }
        Value::Array(items) => items.iter().for_each(|value| find(value, out)),
        _ => {}
    }
}

fn strings<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter().for_each(|value| strings(value, out)),
        Value::Object(members) => members.values().for_each(|value| strings(value, out)),
        _ => {}
    }
}
