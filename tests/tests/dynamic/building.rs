//! Building a tool: valid and invalid schemas.

use std::convert::Infallible;
use std::fmt::Write;

use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolErrorKind};

use super::{builder, call, echo, trip};

/// Schemas as MCP servers write them.
#[test]
fn schemas_of_mcp_servers_are_accepted() {
    let draft_7 = "http://json-schema.org/draft-07/schema#";
    for (schema, good, bad) in [
        (json!({"type": "object"}), json!({"anything": [1]}), None),
        (
            json!({"type": "object", "properties": {}, "$schema": draft_7}),
            json!({"x": 1}),
            None,
        ),
        (
            json!({"$schema": draft_7, "type": "object", "required": ["path"],
                   "properties": {"path": {"type": "string"},
                                  "head": {"type": "number", "description": "First lines."},
                                  "sort": {"type": "string", "enum": ["name", "size"], "default": "name"}}}),
            json!({"path": "/tmp", "head": 3, "unknown": true}),
            Some(json!({"path": "/tmp", "sort": "date"})),
        ),
        (
            json!({"$schema": draft_7, "type": "object", "additionalProperties": false,
                   "required": ["edits"], "title": "Edits",
                   "properties": {"edits": {"type": "array", "minItems": 1, "items": {
                       "type": "object", "required": ["old", "new"],
                       "properties": {"old": {"type": "string"}, "new": {"type": "string"}}}}}}),
            json!({"edits": [{"old": "a", "new": "b"}]}),
            Some(json!({"edits": [{"old": "a"}]})),
        ),
        (
            json!({"type": "object", "properties": {"query": {"$ref": "#/$defs/Query"}},
            "$defs": {"Query": {"anyOf": [
                {"type": "string"},
                {"type": "object", "properties": {"not": {"$ref": "#/$defs/Query"}}, "required": ["not"]},
            ]}}}),
            json!({"query": {"not": {"not": "this"}}}),
            Some(json!({"query": {"not": {"not": 1}}})),
        ),
        (
            json!({"type": "object", "properties": {"tree": {"$ref": "#"}}}),
            json!({"tree": {"tree": {}}}),
            Some(json!({"tree": {"tree": 1}})),
        ),
    ] {
        let registry = echo(schema.clone());
        assert_eq!(
            call(&registry, &good.to_string()).structured(),
            Some(good),
            "{schema}"
        );
        if let Some(bad) = bad {
            let result = call(&registry, &bad.to_string());
            assert_eq!(
                result.error().unwrap().kind(),
                ToolErrorKind::InvalidArguments,
                "{schema}"
            );
        }
        let spec = registry.get("echo").unwrap();
        let sent: Value = serde_json::from_str(spec.parameters_json()).unwrap();
        assert!(sent["properties"].is_object(), "{sent}");
    }
}

#[test]
fn every_problem_of_a_tool_is_reported_at_once() {
    let error = DynamicTool::builder("")
        .parameters(json!({
            "type": "string",
            "properties": {
                "where": {"$ref": "#/$defs/Place"},
                "far": {"$ref": "https://example.com/far.json"},
                "shape": {"pattern": "("},
                "type": {"type": "objekt"},
                "days": {"type": "integer", "minimum": "one"},
                "data": {"default": {"oneOf": 1, "$ref": "#/nowhere"}, "type": "object"},
            },
        }))
        .output(json!({"type": "text"}))
        .build(async |_, _| Ok::<_, Infallible>(()))
        .unwrap_err();
    let mut text = String::new();
    for problem in error.problems() {
        let start = problem.split("; ").next().unwrap();
        writeln!(text, "{start}").unwrap();
    }
    assert_eq!(
        text,
        "\
its name is empty
its parameter schema at `/properties/days/minimum`: expected a number, got \"one\"
its parameter schema at `/properties/type/type`: expected \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\" or \"string\", or an array, got \"objekt\"
its parameter schema: it does not describe an object
its parameter schema at `/properties/far/$ref`: `https://example.com/far.json` is not in the schema, and nothing is fetched
its parameter schema at `/properties/shape/pattern`: `(` is not a valid regular expression
its parameter schema at `/properties/where/$ref`: `#/$defs/Place` is not in the schema, and nothing is fetched
its output schema at `/type`: expected \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\" or \"string\", or an array, got \"text\"
"
    );
}

#[test]
fn values_that_are_not_a_schema_are_rejected() {
    for (schema, told) in [
        (json!(true), "its parameter schema: it is not a JSON object"),
        (
            json!({"$schema": "https://example.com/mine", "type": "object"}),
            "its parameter schema at `/$schema`: \"https://example.com/mine\" is not a known version of JSON Schema; remove it, or use a known one",
        ),
        (
            json!({"type": "object", "required": "city"}),
            "its parameter schema at `/required`: expected an array, got \"city\"",
        ),
        (
            json!({"type": "object", "properties": {"a": 7}}),
            "its parameter schema at `/properties/a`: expected true or false or an object, got 7",
        ),
        (
            json!({"type": "array"}),
            "its parameter schema: it does not describe an object; add `\"type\": \"object\"`",
        ),
    ] {
        let error = builder("echo", schema).build(async |_, _| Ok::<_, Infallible>(()));
        assert_eq!(error.unwrap_err().problems(), [told]);
    }
}

#[test]
fn text_that_is_not_a_schema_is_rejected() {
    for (schema, told) in [
        (
            "",
            "its parameter schema: it is not valid JSON: EOF while parsing a value at line 1 column 0",
        ),
        (
            "{\"type\": object}",
            "its parameter schema: it is not valid JSON: expected value at line 1 column 10",
        ),
        ("[]", "its parameter schema: it is not a JSON object"),
        (
            r#"{"type": "object", "properties": {"a": {"type": "string", "type": "integer"}}}"#,
            "its parameter schema at `properties.a.type`: given twice; give it once",
        ),
    ] {
        let tool = DynamicTool::builder("echo").description("Echoes.");
        let tool = tool.parameters_json(schema);
        let error = tool.build(async |_, _| Ok::<_, Infallible>(()));
        assert_eq!(error.unwrap_err().problems(), [told]);
    }
}

/// References in a circle are not followed forever.
#[test]
fn circular_references_end() {
    for schema in [
        json!({"type": "object", "$ref": "#"}),
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}},
               "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}},
               "$defs": {"a": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/a"}]}}}),
    ] {
        if let Ok(tool) = builder("echo", schema).build(async |_, _| Ok::<_, Infallible>("done")) {
            let registry = Registry::builder().tool(tool).build().unwrap();
            call(&registry, r#"{"x":{"x":1}}"#);
            call(&registry, "[]");
        }
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(5000), "}".repeat(5000));
    let result = call(&echo(json!({"type": "object"})), &deep);
    assert!(result.content().contains("nested deeper than 127 levels"));
}

/// Places are reported as for functions, without a crate.
#[test]
fn a_taken_name_is_reported_with_both_places() {
    let error = Registry::builder()
        .tool(trip())
        .tool(trip())
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("2 tools are named `plan`:\n"), "{text}");
    assert_eq!(text.matches("main.rs:").count(), 2, "{text}");
    assert!(!text.contains("(crate"), "{text}");
}
