//! Tools from elsewhere: names, keys and schemas that some provider rejects.

use std::convert::Infallible;

use serde_json::{Value, json};
use tool_core::dialect::{Dialect, Rejected};
use tool_core::dynamic::{DynamicTool, Repair};
use tool_core::{Registry, ToolCall, ToolEntry};
use tool_dialects::{
    Anthropic, Bedrock, Gemini, GeminiInteractions, Mcp, OpenAiChat, OpenAiResponses, XAi,
};

use super::{builder, violations};

fn foreign(name: &str, schema: Value) -> DynamicTool {
    let tool = DynamicTool::foreign(name)
        .description("Works.")
        .parameters(schema);
    tool.build(async |arguments, _| Ok::<_, Infallible>(arguments))
        .unwrap()
}

fn registry(tools: impl IntoIterator<Item = DynamicTool>) -> Registry {
    let tools = tools.into_iter().map(ToolEntry::from);
    Registry::builder().tools(tools).build().unwrap()
}

fn sent(tool: &DynamicTool) -> Value {
    serde_json::from_str(tool.spec().parameters_json()).unwrap()
}

#[test]
fn a_dialect_leaves_out_a_tool_whose_name_or_key_its_provider_rejects() {
    let tool = |name: &str, key: &str| {
        let schema = json!({"type": "object", "properties": {key: {"type": "string"}}});
        let tool = builder(name, schema).build(async |_, _| Ok::<_, Infallible>("done"));
        ToolEntry::from(tool.unwrap())
    };
    let registry = Registry::builder()
        .tools([
            tool("fine", "city"),
            tool("files.read", "city"),
            tool("key", "file-path"),
            tool("9th", "$x"),
        ])
        .build()
        .unwrap();
    for (dialect, refused) in [
        (&OpenAiChat::default() as &dyn Dialect, &["files.read"][..]),
        (&OpenAiChat::strict(), &["files.read"]),
        (&OpenAiResponses::default(), &["files.read"]),
        (&Bedrock::default(), &["files.read"]),
        (&XAi::default(), &["files.read"]),
        (&Anthropic::default(), &["9th", "files.read"]),
        (&Gemini::default(), &["9th", "key"]),
        (&GeminiInteractions::default(), &["9th", "key"]),
        (&Mcp::default(), &[]),
    ] {
        let rendered = registry.render(dialect);
        let names: Vec<_> = rendered
            .rejected()
            .iter()
            .map(|refused| &refused.tool)
            .collect();
        let expected: Vec<_> = refused
            .iter()
            .map(|name| Rejected::Function((*name).into()))
            .collect();
        assert_eq!(
            names,
            expected.iter().collect::<Vec<_>>(),
            "{}",
            dialect.provider()
        );
        for name in refused {
            assert!(
                !rendered.as_str().contains(&format!("\"{name}\"")),
                "{rendered}"
            );
        }
        assert!(rendered.as_str().contains("\"fine\""));
    }
    assert_eq!(
        registry.render(&OpenAiChat::default()).rejected()[0].to_string(),
        "chat completions does not accept the tool files.read: its name must be 1 to 64 ASCII \
         letters, digits, `_`, `-`; it is left out: rename it, or build the tool with \
         `DynamicTool::foreign`"
    );
    // It can be called all the same.
    let result = registry.call_blocking(ToolCall::new("1", "files.read", r#"{"city":"x"}"#));
    assert_eq!(result.content(), "done");
}

#[test]
fn dialects_rewrite_what_some_provider_rejects_in_a_schema() {
    let mut schema = json!({
        "oneOf": [
            {"type": "object", "properties": {"list": {"type": "array"}}, "required": ["list"]},
            {"type": "object", "properties": {"size": {"oneOf": [{"type": "integer"}, {"enum": []}]}},
             "required": ["size"]},
        ],
    });
    let tool = builder("work", schema.clone()).build(async |_, _| Ok::<_, Infallible>("done"));
    let tool = tool.unwrap();
    assert_eq!(tool.repairs(), []);
    schema["type"] = "object".into();
    schema["properties"] = json!({});
    assert_eq!(sent(&tool), schema);
    let registry = registry([tool]);
    let tools = json!(registry.render(&Anthropic::default()));
    let written = &tools[0]["input_schema"];
    assert_eq!(written["type"], "object");
    assert_eq!(
        written["properties"]["list"],
        json!({"type": "array", "items": {}})
    );
    assert!(!written.to_string().contains("oneOf"), "{written}");
    let tools = json!(registry.render(&Mcp::default()));
    assert_eq!(tools[0]["inputSchema"], schema);
    let call = |arguments: Value| registry.call_blocking(ToolCall::new("1", "work", arguments));
    assert_eq!(call(json!({"list": [1]})).content(), "done");
    assert!(call(json!({"list": [1], "size": 1})).is_error());
}

#[test]
fn violations_name_the_keys_that_models_are_given() {
    let schema = json!({
        "type": "object",
        "properties": {
            "file-path": {"type": "string"},
            "line ranges": {"type": "array", "items": {
                "type": "object",
                "properties": {"first-line": {"type": "integer"}},
                "required": ["first-line"],
                "additionalProperties": false,
            }},
        },
        "required": ["file-path"],
        "additionalProperties": false,
    });
    let registry = registry([foreign("files/read", schema)]);
    let call = |name: &str, arguments: Value| {
        let result = registry.call_blocking(ToolCall::new("1", name, arguments));
        violations(&result)
    };
    assert_eq!(
        call(
            "files_read",
            json!({"file_pat": "x", "line_ranges": [{"first_lin": 1}, {"first_line": "1"}]})
        ),
        [
            "line_ranges[0].first_lin: unknown; did you mean \"first_line\"?",
            "line_ranges[1].first_line: expected an integer, got \"1\"",
            "file_pat: unknown; did you mean \"file_path\"?",
            "line_ranges[0].first_line: missing; expected an integer",
            "file_path: missing; expected a string",
        ]
    );
    // A client of the dialect `Mcp` was given the original names.
    assert_eq!(
        call("files/read", json!({})),
        ["file-path: missing; expected a string"]
    );
    let result = registry.call_blocking(ToolCall::new("1", "file_read", "{}"));
    assert!(
        result.content().contains("files_read"),
        "{}",
        result.content()
    );
}

#[test]
fn names_that_become_equal_are_told_apart() {
    let empty = || json!({"type": "object", "properties": {}});
    let names = |registry: &Registry| -> Vec<(String, String)> {
        let listed = json!(registry.render(&Mcp::default()));
        let specs = registry.specs();
        let pairs = specs.iter().zip(listed.as_array().unwrap());
        let pairs = pairs.map(|(tool, listed)| {
            (
                listed["name"].as_str().unwrap().to_owned(),
                tool.name.to_string(),
            )
        });
        pairs.collect()
    };
    let tools = || {
        [
            foreign("a.b", empty()),
            foreign("a_b", empty()),
            foreign("a/b", empty()),
        ]
    };
    let registry = registry(tools());
    let all = names(&registry);
    let [mut reversed, _, _] = [tools(), tools(), tools()];
    reversed.reverse();
    assert_eq!(names(&self::registry(reversed)), all);
    assert_eq!(all[0], ("a_b".into(), "a_b".into()));
    for (original, name) in &all {
        assert_eq!(registry.get(original).unwrap().name, **name);
        for name in [original, name] {
            let result = registry.call_blocking(ToolCall::new("1", name, "{}"));
            assert!(!result.is_error(), "{}", result.content());
        }
    }
    // A name stays when other tools are added and removed.
    let kept = registry.get("a/b").unwrap().name.clone();
    registry.remove("a.b").unwrap().unwrap();
    registry.add([foreign("c", empty()).into()]).unwrap();
    assert_eq!(registry.get("a/b").unwrap().name, kept);
    assert!(registry.get("a.b").is_none());
    // The tool with the same original name is replaced.
    let old = registry.replace(foreign("a/b", empty())).unwrap();
    assert_eq!(old.unwrap().name, kept);
    assert_eq!(registry.len(), 3);
    registry.remove("c").unwrap().unwrap();
    // Two tools that a client would see under one name.
    let error = registry.add([foreign("a/b", empty()).into()]).unwrap_err();
    assert!(error.to_string().contains("2 tools are named"), "{error}");
    let same = builder("x.y", empty()).build(async |_, _| Ok::<_, Infallible>(()));
    let error = registry.add([same.unwrap().into(), foreign("x.y", empty()).into()]);
    assert!(error.unwrap_err().to_string().contains("`x.y`"));
}

#[test]
fn repairs_are_listed() {
    let tool = DynamicTool::foreign("get weather!")
        .title("Weather")
        .parameters(json!({
            "$schema": "https://example.com/mine",
            "properties": {
                "@city": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
                "far": {"$ref": "https://example.com/far.json"},
                "size": {"type": "objekt"},
                "text": {"type": "string", "pattern": "("},
            },
        }))
        .build(async |_, _| Ok::<_, Infallible>(()))
        .unwrap();
    let repairs: Vec<_> = tool.repairs().iter().map(Repair::to_string).collect();
    assert_eq!(
        repairs,
        [
            r#"the name "get weather!" became "get_weather""#,
            r#"the missing description became "Weather""#,
            r#"not validated at "/$schema": it is not a known version of JSON Schema"#,
            r#"not validated at "/properties/size/type": expected "array", "boolean", "integer", "null", "number", "object" or "string", or an array, got "objekt""#,
            r#"not validated at "/properties/text/pattern": `(` is not a valid regular expression"#,
            r#"not validated at "/properties/far/$ref": `https://example.com/far.json` is not in the schema, and nothing is fetched; add it to `$defs`"#,
            r#"the key "@city" became "city""#,
            r#"at "/properties/city/oneOf": `oneOf` became `anyOf`"#,
            r#"at "": the missing type became `object`"#,
        ]
    );
    let fine = foreign(
        "fine",
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
    );
    assert_eq!(fine.repairs(), []);
    // Not even a stranger's schema may take all memory.
    let deep = format!("{}{}", "{\"items\":".repeat(20_000), "}".repeat(20_000));
    let tool = DynamicTool::foreign("deep").parameters_json(deep);
    assert!(tool.build(async |_, _| Ok::<_, Infallible>(())).is_err());
}

#[test]
fn references_are_inlined_unless_they_are_recursive() {
    let schema = json!({
        "type": "object",
        "properties": {
            "unit": {"$ref": "#/$defs/Unit", "description": "Which unit."},
            "tree": {"$ref": "#/$defs/Tree"},
        },
        "$defs": {
            "Unit": {"enum": ["c", "f"]},
            "Tree": {"type": "object", "properties": {"unit": {"$ref": "#/$defs/Unit"}, "next": {"$ref": "#/$defs/Tree"}}},
        },
    });
    let tool = foreign("work", schema);
    let unit = json!({"type": "string", "enum": ["c", "f"]});
    let mut described = unit.clone();
    described["description"] = "Which unit.".into();
    assert_eq!(
        sent(&tool),
        json!({
            "type": "object",
            "properties": {"unit": described, "tree": {"$ref": "#/$defs/Tree"}},
            "$defs": {"Tree": {"type": "object", "properties": {"unit": unit, "next": {"$ref": "#/$defs/Tree"}}}},
        })
    );
    // xAI accepts no recursion.
    let rendered = registry([tool]).render(&XAi::default());
    assert!(!rendered.as_str().contains("$ref"), "{rendered}");
}

/// References that double at each step would take all memory.
#[test]
fn a_schema_that_grows_when_it_is_inlined_is_cut() {
    let mut definitions = serde_json::Map::new();
    for at in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        let both = json!({"type": "object", "properties": {"a": next, "b": next}});
        definitions.insert(format!("d{at}"), both);
    }
    definitions.insert("d60".into(), json!({"type": "integer"}));
    let tool = foreign(
        "work",
        json!({"type": "object", "properties": {"d": {"$ref": "#/$defs/d0"}}, "$defs": definitions}),
    );
    assert!(tool.spec().parameters_json().len() < 1_000_000);
    let registry = registry([tool]);
    let good = registry.call_blocking(ToolCall::new("1", "work", json!({"d": {"a": {}}})));
    assert!(!good.is_error());
    let bad = registry.call_blocking(ToolCall::new("1", "work", json!({"d": {"a": {"b": 1}}})));
    assert!(bad.is_error());
}

/// The library's own listing, with output schemas of every type.
#[test]
fn tools_of_this_library_can_be_imported() {
    #[derive(serde::Serialize, tool_core::ToolType)]
    struct Point {
        x: i32,
    }
    /// Returns a number.
    #[tool_core::tool(unlinked)]
    fn number() -> u8 {
        4
    }
    /// Returns a list.
    #[tool_core::tool(unlinked)]
    fn list(#[param(range = 1..=3)] count: u8) -> Vec<Point> {
        (0..count).map(|x| Point { x: x.into() }).collect()
    }
    /// Returns an object.
    #[tool_core::tool(unlinked)]
    fn object() -> Point {
        Point { x: 1 }
    }
    /// Returns a text.
    #[tool_core::tool(unlinked)]
    fn text() -> String {
        "hello".into()
    }
    let tools = tool_core::tools![number, list, object, text];
    let own = Registry::builder().tools(tools).build().unwrap();
    for dialect in [Mcp::v2025_11_25(), Mcp::v2026_07_28()] {
        let listed = json!(own.render(&dialect));
        for is_foreign in [false, true] {
            let imported = listed.as_array().unwrap().iter().map(|listed| {
                let name = listed["name"].as_str().unwrap().to_owned();
                let own = own.clone();
                let run = move |arguments: Value, _| {
                    let call = ToolCall::new("1", &*name, arguments);
                    let own = own.clone();
                    async move {
                        let result = own.call(call).await;
                        let structured = result.structured();
                        Ok::<_, Infallible>(structured.unwrap_or(result.content().into()))
                    }
                };
                if is_foreign {
                    return DynamicTool::from_mcp(listed).build(run).unwrap();
                }
                let mut tool = DynamicTool::builder(listed["name"].as_str().unwrap())
                    .parameters(listed["inputSchema"].clone());
                if let Some(output) = listed.get("outputSchema") {
                    tool = tool.output(output.clone());
                }
                tool.build(run).unwrap()
            });
            let imported = registry(imported);
            for (name, arguments) in [
                ("number", "{}"),
                ("list", r#"{"count":2}"#),
                ("object", "{}"),
                ("text", "{}"),
            ] {
                let call = || ToolCall::new("1", name, arguments);
                let (here, there) = (imported.call_blocking(call()), own.call_blocking(call()));
                assert!(!here.is_error(), "{name}: {}", here.content());
                assert_eq!(here.content(), there.content());
            }
            let mut again = json!(imported.render(&dialect));
            for (again, listed) in again
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .zip(listed.as_array().unwrap())
            {
                if !is_foreign {
                    again["description"] = listed["description"].clone();
                }
                assert_eq!(again, listed);
            }
        }
    }
}

#[test]
fn a_tool_that_the_registry_renamed_can_be_exchanged() {
    let tool = |name: &str| {
        let built = DynamicTool::foreign(name).build(async |_, _| Ok::<_, String>(()));
        ToolEntry::from(built.unwrap())
    };
    let tools = [tool("a/b"), tool("a.b")];
    let registry = Registry::new();
    registry.add(tools.clone()).unwrap();
    assert_ne!(registry.get("a/b").unwrap().name, "a_b");
    let renamed = registry.get("a.b").unwrap().name.clone();
    registry.exchange(&tools[..1], []).unwrap();
    assert_eq!(registry.len(), 1);
    assert!(registry.get("a/b").is_none());
    // The model may still use the name.
    assert_eq!(registry.get("a.b").unwrap().name, renamed);
}
