//! Schemas and calls of a dynamic tool that would take exponential time, or overflow the stack.

use serde_json::{Map, Value, json};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult};
use tool_docs::Docs;
use tool_docs::lock::Lock;

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
            let _ = (Lock::new(&registry), Docs::new(&registry));
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

/// Definitions of which each uses the next one twice, by a closure that gets a reference to it.
fn ladder(levels: usize, uses: &dyn Fn(&Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), uses(&next));
    }
    definitions.insert(format!("d{levels}"), json!({"not": {"type": "boolean"}}));
    let parameters = json!({"value": {"$ref": "#/$defs/d0"}});
    json!({"type": "object", "properties": parameters, "$defs": definitions})
}

/// Nests an empty object in objects with a key, or in arrays.
fn nested(levels: usize, is_list: bool) -> Value {
    (0..levels).fold(json!({}), |value, _| {
        if is_list {
            return json!([value]);
        }
        Value::Object(Map::from_iter([("a".to_owned(), value)]))
    })
}

#[test]
fn definitions_that_are_used_twice_at_every_level_never_hang() {
    type Uses = fn(&Value) -> Value;
    // Applied to the same value: the schema is rejected, or loses that part if another wrote it.
    let in_place: [Uses; 7] = [
        |next| json!({"allOf": [next, next]}),
        |next| json!({"anyOf": [{"type": "boolean"}, {"allOf": [next, next]}]}),
        |next| json!({"oneOf": [next, next]}),
        |next| json!({"not": {"not": next}, "if": next, "then": next, "else": next}),
        |next| json!({"dependentSchemas": {"a": next, "b": next}}),
        |next| json!({"unevaluatedProperties": false, "allOf": [next, next]}),
        |next| json!({"unevaluatedProperties": next, "anyOf": [next, next]}),
    ];
    // Applied to the members or items: it depends on the call.
    let inside: [(bool, Uses); 4] = [
        (
            false,
            |next| json!({"allOf": [{"properties": {"a": next}}, {"properties": {"a": next}}]}),
        ),
        (
            false,
            |next| json!({"patternProperties": {"a": next, ".": next}}),
        ),
        (
            false,
            |next| json!({"properties": {"a": next}, "patternProperties": {"^a": next}}),
        ),
        (true, |next| json!({"items": next, "contains": next})),
    ];
    let foreign = |schema: &Value| {
        let _watchdog = Watchdog::new("a tool from elsewhere");
        let builder = DynamicTool::foreign("test").description("Tests.");
        let tool = builder.parameters(schema.clone());
        tool.build(async |_, _| Ok::<_, String>("fits")).unwrap()
    };
    let run = |tool: DynamicTool, value: Value| {
        let registry = Registry::builder().tool(tool).build().unwrap();
        let _watchdog = Watchdog::new("a call of a ladder");
        registry.call_blocking(ToolCall::new("call_1", "test", json!({ "value": value })))
    };
    for uses in in_place {
        for levels in [3, 60] {
            let schema = ladder(levels, &uses);
            let built = build(schema.clone());
            assert_eq!(built.is_ok(), levels == 3, "{schema}");
            let tool = foreign(&schema);
            let is_reduced = tool
                .repairs()
                .iter()
                .any(|repair| repair.to_string().contains("in thousands of ways"));
            assert_eq!(is_reduced, levels == 60, "{:?}", tool.repairs());
            for value in [
                json!({}),
                json!({"a": 1, "b": 2}),
                nested(60, false),
                json!(true),
            ] {
                run(tool.clone(), value);
            }
        }
    }
    for (is_list, uses) in inside {
        let schema = ladder(60, &uses);
        for tool in [build(schema.clone()).unwrap(), foreign(&schema)] {
            let shallow = run(tool.clone(), nested(4, is_list));
            assert_eq!(shallow.content(), "fits", "{schema}");
            let deep = run(tool, nested(60, is_list));
            assert!(
                deep.content().contains("in too many ways"),
                "{}",
                deep.content()
            );
        }
    }
}

#[test]
fn what_a_schema_repeats_in_a_result_is_bounded() {
    let long = |letter: &str| letter.repeat(50_000);
    let schemas = [
        json!({ "pattern": long("a") }),
        json!({ "const": long("b") }),
        json!({ "enum": [long("ü"), long("é")] }),
    ];
    for schema in schemas {
        let keyword = schema.as_object().unwrap().keys().next().unwrap().clone();
        let properties: Map<_, _> = (0..5)
            .map(|at| (format!("p{at}"), schema.clone()))
            .collect();
        let wrong: Map<_, _> = (0..5).map(|at| (format!("p{at}"), json!("x"))).collect();
        let result = call(
            json!({"type": "object", "properties": properties}),
            Value::from(wrong).to_string(),
        );
        let content = result.content();
        assert!(result.is_error(), "{keyword}");
        assert!(content.len() < 15_000, "{keyword}: {} bytes", content.len());
        assert!(content.contains('…'), "{keyword}: {content}");
        assert!(content.contains("p4: "), "{keyword}: {content}");
    }
}
