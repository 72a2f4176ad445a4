//! Schemas and calls of a dynamic tool that would take exponential time, or overflow the stack.

use serde_json::{Map, Value, json};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult};

use super::watchdog::Watchdog;

fn build(schema: Value) -> Result<DynamicTool, DynamicToolError> {
    DynamicTool::builder("test")
        .description("Tests.")
        .parameters(schema)
        .build(async |_, _| Ok::<_, String>("fits"))
}

/// Calls a tool with this schema, which must not take long.
fn call(schema: Value, arguments: impl Into<tool_core::call::Arguments>) -> ToolResult {
    let registry = Registry::builder()
        .tool(build(schema).unwrap())
        .build()
        .unwrap();
    let _watchdog = Watchdog::new("a call of a dynamic tool");
    registry.call_blocking(ToolCall::new("call_1", "test", arguments))
}

/// A schema whose property `tree` is a definition.
fn tree(definition: Value) -> Value {
    json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {"tree": definition},
    })
}

#[test]
fn a_recursive_union_is_explained_in_bounded_time() {
    let reference = json!({"$ref": "#/$defs/tree"});
    let list = json!({"type": "array", "items": reference});
    let schemas = [
        tree(json!({"anyOf": [list, list, {"type": "integer"}]})),
        tree(json!({"anyOf": [{"anyOf": [list, list]}, list, list, list, list]})),
        tree(
            json!({"not": {"type": "boolean"}, "anyOf": [{"items": reference}, {"prefixItems": [reference]}]}),
        ),
        tree(json!({"allOf": [list, list, list]})),
        tree(json!({"not": {"not": list}, "if": list, "then": list, "else": list})),
    ];
    for schema in schemas {
        for depth in [1, 3, 18, 100] {
            let arguments = format!(
                "{{\"tree\":{}true{}}}",
                "[".repeat(depth),
                "]".repeat(depth)
            );
            let result = call(schema.clone(), arguments);
            assert_eq!(
                result.error().unwrap().kind(),
                ToolErrorKind::InvalidArguments
            );
            let is_explained = !result.content().contains("too complex to say where");
            assert!(is_explained || depth > 3, "{}", result.content());
        }
    }
}

#[test]
fn a_union_of_itself_is_described_in_bounded_time() {
    let many = vec![json!({"type": "array", "items": {"$ref": "#/$defs/tree"}}); 10];
    let nested = json!({"anyOf": vec![json!({"anyOf": vec![json!({"anyOf": many}); 10]}); 10]});
    let nested = json!({"anyOf": vec![nested; 10]});
    let result = call(tree(nested), json!({"tree": true}));
    assert!(result.is_error());
    assert!(result.content().len() < 10_000);
}

#[test]
fn many_unknown_keys_are_rejected_in_bounded_time() {
    let properties: Map<_, _> = (0..500)
        .map(|at| (format!("property_{at:03}"), json!({"type": "string"})))
        .collect();
    let schemas = [
        json!({"type": "object", "properties": properties, "additionalProperties": false}),
        json!({"type": "object", "properties": properties, "unevaluatedProperties": false}),
        json!({"type": "object", "properties": properties, "additionalProperties": false,
               "patternProperties": {"^x-": {}}}),
    ];
    let unknown: Map<_, _> = (0..20_000)
        .map(|at| (format!("proberty_{at:05}"), json!(1)))
        .collect();
    for schema in schemas {
        let result = call(schema, Value::from(unknown.clone()));
        assert!(
            result.content().contains("and 19980 more"),
            "{}",
            result.content()
        );
    }
}

#[test]
fn a_deep_schema_is_rejected() {
    let nest = |levels: usize| {
        let mut schema = json!({"type": "string"});
        for _ in 0..levels {
            // Not with `json!`, which copies what it contains.
            let members = [("type".into(), json!("array")), ("items".into(), schema)];
            schema = Value::Object(Map::from_iter(members));
        }
        let properties = Map::from_iter([("nested".into(), schema)]);
        let members = [
            ("type".into(), json!("object")),
            ("properties".into(), properties.into()),
        ];
        Value::Object(Map::from_iter(members))
    };
    for levels in [10, 97, 98, 130, 20_000] {
        let tool = build(nest(levels));
        assert_eq!(tool.is_ok(), levels <= 97, "{levels}");
        if let Ok(tool) = tool {
            let registry = Registry::builder().tool(tool).build().unwrap();
            let _ = (registry.lock(), registry.docs());
        } else if let Err(error) = tool {
            assert!(
                error.to_string().contains("nested deeper than 100 levels"),
                "{error}"
            );
        }
    }
    let text = format!("{}{}", "{\"items\":".repeat(20_000), "}".repeat(20_000));
    let tool = DynamicTool::builder("test")
        .description("Tests.")
        .parameters_json(text);
    let error = tool.build(async |_, _| Ok::<_, String>("")).unwrap_err();
    assert!(
        error.to_string().contains("nested deeper than 100 levels"),
        "{error}"
    );
}

#[test]
fn a_long_chain_of_references_is_rejected() {
    for length in [50, 20_000] {
        let mut definitions = Map::new();
        for at in 0..length {
            let next = format!("#/$defs/d{}", at + 1);
            definitions.insert(format!("d{at}"), json!({"allOf": [{"$ref": next}]}));
        }
        definitions.insert(format!("d{length}"), json!({"type": "integer"}));
        let schema = json!({
            "type": "object",
            "properties": {"value": {"$ref": "#/$defs/d0"}},
            "$defs": definitions,
        });
        let tool = build(schema);
        assert_eq!(tool.is_ok(), length == 50);
        if let Err(error) = tool {
            assert!(error.to_string().contains("too often"), "{error}");
        }
    }
    let _ = build(json!({"type": "object", "properties": {}, "$ref": "#"}));
}

#[test]
fn a_pattern_with_look_around_is_matched_in_bounded_time() {
    let schema = json!({
        "type": "object",
        "properties": {"texts": {"type": "array", "items": {
            "type": "string",
            "pattern": "^(?!.*secret)((a+)+)+(?=b)b\\1$",
        }}},
    });
    let texts = vec!["a".repeat(60); 200];
    assert!(call(schema, json!({"texts": texts})).is_error());
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "pattern": "^(?!\\s*$)(?=.*[A-Z]).{8,}$"}},
    });
    let text = format!("{}Z", "a".repeat(1000));
    assert_eq!(
        call(schema.clone(), json!({"text": text})).content(),
        "fits"
    );
    assert!(call(schema, json!({"text": "aaaaaaaaa"})).is_error());
}
