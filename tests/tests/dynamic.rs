//! Tools that come while the program runs.

use std::convert::Infallible;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::dialect::{
    Anthropic, Bedrock, Cohere, Dialect, Gemini, Mcp, Mistral, OpenAiChat, OpenAiResponses, XAi,
};
use tool_core::{
    CallContext, DynamicTool, DynamicToolBuilder, Registry, ToolCall, ToolErrorKind, ToolResult,
    ToolType, Transient, tool, tools,
};

/// Where to go.
#[derive(serde::Deserialize, ToolType)]
#[allow(dead_code)]
struct Stop {
    #[param(length = 2..=20)]
    name: String,
    nights: Option<u8>,
}

#[derive(serde::Deserialize, ToolType)]
#[serde(tag = "by", rename_all = "snake_case")]
#[allow(dead_code)]
enum Payment {
    Card { number: String },
    Cash,
}

#[derive(Clone, Copy, serde::Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
#[allow(dead_code)]
enum Class {
    First,
    Second,
}

/// Plans a trip.
#[tool(unlinked)]
#[allow(clippy::too_many_arguments)]
fn plan_trip(
    stops: Vec<Stop>,
    #[param(range = 1..=9)] people: u8,
    #[param(range = 0.5..=2.5)] pace: Option<f64>,
    #[param(multiple_of = 5)] budget: Option<i32>,
    #[param(pattern = "^[A-Z]{3}$")] currency: Option<String>,
    #[param(length = 1..=2, unique)] classes: Option<Vec<Class>>,
    payment: Option<Payment>,
    return_trip: Option<bool>,
) -> usize {
    let _ = (
        people,
        pace,
        budget,
        currency,
        classes,
        payment,
        return_trip,
    );
    stops.len()
}

fn builder(name: &str, schema: Value) -> DynamicToolBuilder {
    DynamicTool::builder(name)
        .description("Does something.")
        .parameters(schema)
}

/// Answers with its arguments.
fn echo(schema: Value) -> Registry {
    let tool = builder("echo", schema).build(async |arguments, _| Ok::<_, Infallible>(arguments));
    Registry::builder().tool(tool.unwrap()).build().unwrap()
}

fn call(registry: &Registry, arguments: &str) -> ToolResult {
    registry.call_blocking(ToolCall::new("1", "echo", arguments))
}

fn violations(result: &ToolResult) -> Vec<String> {
    let error = result.error().expect("an error");
    error.violations().iter().map(ToString::to_string).collect()
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

/// The words that a model knows from functions.
#[test]
fn mistakes_are_told_as_those_of_a_function_are() {
    let function = Registry::builder()
        .tools(tools![plan_trip])
        .build()
        .unwrap();
    let schema: Value = serde_json::from_str(tools![plan_trip][0].parameters_json()).unwrap();
    let same = builder("plan_trip", schema).build(async |_, _| Ok::<_, Infallible>(()));
    let dynamic = Registry::builder().tool(same.unwrap()).build().unwrap();
    for (arguments, most) in [
        (json!({}), 2),
        (json!({"stops": [], "people": 0}), 1),
        (
            json!({"stops": [], "people": 10, "pace": 0.25, "budget": 7}),
            3,
        ),
        (json!({"stops": [], "people": "two", "pace": "fast"}), 2),
        (
            json!({"stops": [], "people": 1, "pace": 3, "currency": "euro"}),
            2,
        ),
        (
            json!({"stops": [{"name": "x"}, {"nam": "Rome"}, 7, {"name": "Rome", "nights": 300}], "people": 1}),
            5,
        ),
        (json!({"stops": "Rome", "people": 1, "classes": []}), 2),
        (
            json!({"stops": [], "people": 1, "classes": ["frist", "second", "second"]}),
            3,
        ),
        (
            json!({"stops": [], "people": 1, "payment": {"by": "card"}}),
            1,
        ),
        (
            json!({"stops": [], "people": 1, "payment": {"by": "cash", "number": "1"}}),
            1,
        ),
        (json!({"stops": [], "people": 1, "return_trip": "yes"}), 1),
        (json!({"stop": [], "peopel": 1}), 4),
        (json!([]), 1),
        (json!("Rome"), 1),
        (json!(5), 1),
    ] {
        let told = |registry: &Registry| {
            let call = ToolCall::new("1", "plan_trip", arguments.to_string());
            let mut told = violations(&registry.call_blocking(call));
            told.sort();
            told
        };
        assert_eq!(told(&dynamic), told(&function), "{arguments}");
        assert_eq!(told(&dynamic).len(), most, "{arguments}");
    }
}

#[test]
fn text_that_is_not_what_it_should_be_is_refused_as_a_functions() {
    let function = Registry::builder()
        .tools(tools![plan_trip])
        .build()
        .unwrap();
    let dynamic = echo(json!({"type": "object"}));
    for text in [
        "{",
        "{\"a\":1} trailing",
        "nonsense",
        "{\"a\":1,}",
        "[1]",
        "\"a\"",
    ] {
        let said = |result: ToolResult| {
            let content = result.content();
            let end = content.find("]:").map_or(0, |at| at + 2);
            (result.error().unwrap().kind(), content[end..].to_owned())
        };
        let call = ToolCall::new("1", "plan_trip", text);
        assert_eq!(
            said(self::call(&dynamic, text)),
            said(function.call_blocking(call)),
            "{text}"
        );
    }
    // What a value would not show.
    for (text, told) in [
        (r#"{"a":1,"a":2}"#, "a: given twice; give it once"),
        (
            r#"{"a":{"b":1,"c":[{"b":1,"b":2}],"b":3}}"#,
            "a.c[0].b: given twice; give it once",
        ),
        (r#"{"a":1e999}"#, "a: 1e999 is out of range"),
        (
            r#"{"a":"\ud800"}"#,
            "a: holds half of a surrogate pair, which is no text",
        ),
    ] {
        assert_eq!(violations(&call(&dynamic, text))[0], told);
    }
    for nothing in ["", " ", "null", "{}"] {
        assert_eq!(call(&dynamic, nothing).content(), "{}");
    }
}

#[test]
fn every_keyword_has_words() {
    let mut schema = object(json!({
        "above": {"type": "number", "exclusiveMinimum": 1.5},
        "below": {"type": "integer", "exclusiveMaximum": 3},
        "step": {"type": "number", "multipleOf": 0.1},
        "date": {"type": "string", "format": "date"},
        "two": {"type": ["string", "null"], "maxLength": 1},
        "one": {"const": "it"},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
        "some": {"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}},
        "free": {"type": "object", "additionalProperties": {"type": "boolean"}, "maxProperties": 1},
        "keys": {"type": "object", "propertyNames": {"pattern": "^a"}},
        "no": {"not": {"type": "string"}},
        "never": false,
        "refers": {"$ref": "#/$defs/Size"},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]},
        "tagged": {"anyOf": [
            object(json!({"kind": {"const": "a"}, "size": {"type": "integer"}})),
            object(json!({"kind": {"const": "b"}, "name": {"type": "string"}})),
        ]},
        "linked": {"type": "object", "dependentRequired": {"a": ["b"]}},
    }));
    schema["$defs"] = json!({"Size": {"enum": ["s", "m"]}});
    let registry = echo(schema);
    for (arguments, told) in [
        (json!({"above": 1.5}), "above: 1.5 is not above 1.5"),
        (
            json!({"above": "x"}),
            "above: expected a number above 1.5, got \"x\"",
        ),
        (json!({"below": 3}), "below: 3 is not below 3"),
        (
            json!({"below": null}),
            "below: expected an integer of at most 2, got null",
        ),
        (json!({"step": 0.25}), "step: 0.25 is no multiple of 0.1"),
        (
            json!({"date": "yesterday"}),
            "date: expected a string of the format date, got \"yesterday\"",
        ),
        (
            json!({"two": "ab"}),
            "two: expected a string of at most 1 character or null, got \"ab\"",
        ),
        (json!({"one": "that"}), "one: expected \"it\", got \"that\""),
        (
            json!({"pair": ["a", 1]}),
            "pair[1]: not accepted; leave it out",
        ),
        (json!({"pair": [1]}), "pair[0]: expected a string, got 1"),
        (
            json!({"some": [2]}),
            "some: has not the right number of items that are 1",
        ),
        (
            json!({"free": {"a": 1}}),
            "free.a: expected true or false, got 1",
        ),
        (
            json!({"free": {"a": true, "b": true}}),
            "free: expected an object of at most 1 member, got 2",
        ),
        (
            json!({"keys": {"b": 1}}),
            "keys.b: not accepted as a key: \"b\" does not match the pattern ^a",
        ),
        (
            json!({"no": "x"}),
            "no: \"x\" is not accepted; expected anything but a string",
        ),
        (json!({"never": 1}), "never: not accepted; leave it out"),
        (
            json!({"refers": "l"}),
            "refers: expected \"s\" or \"m\", got \"l\"",
        ),
        (
            json!({"either": true}),
            "either: expected a string or an integer of at least 0, got true",
        ),
        (json!({"either": -1}), "either: -1 is below the minimum 0"),
        (
            json!({"tagged": {"kind": "a", "size": "x"}}),
            "tagged.size: expected an integer, got \"x\"",
        ),
        (
            json!({"tagged": 1}),
            "tagged: expected an object with \"kind\": \"a\" or an object with \"kind\": \"b\", got 1",
        ),
        (json!({"linked": {"a": 1}}), "linked.b: missing"),
    ] {
        assert_eq!(violations(&call(&registry, &arguments.to_string())), [told]);
    }
}

/// As servers of the Model Context Protocol write them.
#[test]
fn schemas_of_servers_are_taken_as_they_are() {
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
fn everything_that_is_wrong_with_a_tool_is_told_at_once() {
    let error = DynamicTool::builder("get weather")
        .description(" ")
        .parameters(json!({
            "type": "string",
            "anyOf": [{"type": "object"}],
            "properties": {
                "city name": {"type": "string"},
                "stops": {"type": "array"},
                "unit": {"enum": ["Celsius", "celsius"]},
                "size": {"enum": []},
                "when": {"oneOf": [{"type": "string"}]},
                "where": {"$ref": "#/$defs/Place"},
                "far": {"$ref": "https://example.com/far.json"},
                "shape": {"pattern": "("},
                "type": {"type": "objekt"},
                "days": {"type": "integer", "minimum": "one"},
                "data": {"default": {"oneOf": 1, "$ref": "#/nowhere"}, "type": "object"},
            },
        }))
        .output(json!({"type": "string"}))
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
its name is none that every provider takes
it has no description
its schema at `/properties/days/minimum`: expected a number, got \"one\"
its schema at `/properties/type/type`: expected \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\" or \"string\", or an array, got \"objekt\"
its schema: it describes no object
its schema at `/anyOf`: stands at the root, and some providers refuse the whole request
its schema at `/properties/city name`: the key is none that every provider takes
its schema at `/properties/far/$ref`: refers to `https://example.com/far.json`, which is not in the schema, and nothing is fetched
its schema at `/properties/shape/pattern`: `(` is no regular expression
its schema at `/properties/size/enum`: has no values
its schema at `/properties/stops`: an array without `items`, which some providers refuse
its schema at `/properties/unit/enum`: `Celsius` and `celsius` differ by case alone, and some providers mix them up
its schema at `/properties/when/oneOf`: some providers refuse it
its schema at `/properties/where/$ref`: refers to `#/$defs/Place`, which is not in the schema, and nothing is fetched
its output schema: it describes no object
"
    );
}

#[test]
fn what_is_no_schema_is_none() {
    for (schema, told) in [
        (json!(true), "its schema: is no object; a schema is one"),
        (
            json!({"$schema": "https://example.com/mine", "type": "object"}),
            "its schema at `/$schema`: \"https://example.com/mine\" is no version of JSON Schema; leave it out, or name one",
        ),
        (
            json!({"type": "object", "required": "city"}),
            "its schema at `/required`: expected an array, got \"city\"",
        ),
        (
            json!({"type": "object", "properties": {"a": 7}}),
            "its schema at `/properties/a`: expected true or false or an object, got 7",
        ),
        (
            json!({}),
            "its schema: it describes no object; say `\"type\": \"object\"`",
        ),
    ] {
        let error = builder("echo", schema).build(async |_, _| Ok::<_, Infallible>(()));
        assert_eq!(error.unwrap_err().problems(), [told]);
    }
}

/// A schema that leads in circles is not followed for ever.
#[test]
fn circles_end() {
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

#[test]
fn whole_numbers_reach_the_closure_as_integers() {
    let registry = echo(object(
        json!({"n": {"type": "integer"}, "all": {"type": "array", "items": {"type": "number"}}}),
    ));
    let result = call(&registry, r#"{"n":20.0,"all":[2e1,0.5,-0.0,1e300]}"#);
    let expected = json!({"n": 20, "all": [20, 0.5, 0, 1e300]});
    assert_eq!(result.structured(), Some(expected));
}

struct Tenant(&'static str);

#[tokio::test]
async fn results_errors_panics_and_time_are_as_for_a_function() {
    let tool = DynamicTool::builder("work")
        .description("Works.")
        .parameters(json!({"type": "object", "properties": {"how": {"type": "string"}}}))
        .timeout(Duration::from_millis(20))
        .build(|arguments: Value, call: CallContext| async move {
            match arguments["how"].as_str().unwrap_or_default() {
                "text" => Ok(json!("bare")),
                "nothing" => Ok(json!(null)),
                "tenant" => Ok(json!(call.get::<Tenant>().map(|tenant| tenant.0))),
                "who" => Ok(json!([call.call_id(), call.tool_name()])),
                "panic" => panic!("with a secret"),
                "hang" => std::future::pending().await,
                "busy" => Err(Transient::new("busy")),
                how => Err(Transient::new(how.to_owned())),
            }
        })
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let run = async |how: &str| {
        let call = ToolCall::new("7", "work", json!({"how": how})).with(Tenant("Ada"));
        registry.call(call).await
    };
    assert_eq!(run("text").await.content(), "bare");
    assert_eq!(run("tenant").await.content(), "Ada");
    assert_eq!(run("who").await.content(), r#"["7","work"]"#);
    let panicked = run("panic").await;
    assert_eq!(panicked.error().unwrap().kind(), ToolErrorKind::Panicked);
    assert!(!panicked.content().contains("secret"));
    assert_eq!(
        run("hang").await.error().unwrap().kind(),
        ToolErrorKind::TimedOut
    );
    let busy = run("busy").await;
    assert!(busy.error().unwrap().is_retryable() && busy.content().contains("busy"));
}

/// The token of a call reaches what the closure keeps.
#[tokio::test]
async fn a_dropped_call_is_told_to_what_goes_on() {
    let (send, receive) = std::sync::mpsc::channel();
    let tool = DynamicTool::builder("keep")
        .description("Keeps its context.")
        .build(move |_, call: CallContext| {
            send.send(call).unwrap();
            std::future::pending::<Result<(), Infallible>>()
        });
    let registry = Registry::builder().tool(tool.unwrap()).build().unwrap();
    let running = registry.call(ToolCall::new("1", "keep", ""));
    let ended = tokio::time::timeout(Duration::from_millis(5), running).await;
    assert!(ended.is_err());
    assert!(receive.recv().unwrap().is_cancelled());
}

#[test]
fn a_result_is_held_to_its_schema() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    for (result, is_good) in [
        (json!({"n": 1}), true),
        (json!({"n": "one"}), false),
        (json!("text"), false),
        (json!([1]), false),
    ] {
        let tool = DynamicTool::builder("echo")
            .description("Answers.")
            .output(schema.clone())
            .build(move |_, _| std::future::ready(Ok::<_, Infallible>(result.clone())))
            .unwrap();
        let registry = Registry::builder().tool(tool).build().unwrap();
        let result = call(&registry, "");
        assert_eq!(result.is_error(), !is_good, "{}", result.content());
        let source = result
            .error()
            .map(|error| std::error::Error::source(error).unwrap().to_string());
        assert!(
            source.is_none_or(|source| source.contains("expected") || source.contains("missing"))
        );
    }
}

fn trip() -> DynamicTool {
    DynamicTool::builder("plan")
        .title("Plan a trip")
        .description("Plans.")
        .when_to_use("A trip is wanted.")
        .returns("Its days.")
        .read_only(true)
        .destructive(None)
        .parameters(
            json!({"type": "object", "properties": {"to": {"type": "string", "maxLength": 9}}}),
        )
        .output(json!({"type": "object", "properties": {"days": {"type": "integer"}}}))
        .build(async |_, _| Ok::<_, Infallible>(json!({"days": 3})))
        .unwrap()
}

#[test]
fn every_dialect_sends_the_schema_as_it_came() {
    let registry = Registry::builder().tool(trip()).build().unwrap();
    let schema =
        json!({"type": "object", "properties": {"to": {"type": "string", "maxLength": 9}}});
    let output = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    let text = "Plans.\n\nWhen to use: A trip is wanted.\n\nReturns: Its days.";
    let rendered = |dialect: &dyn Dialect| json!(registry.render(dialect))[0].take();
    let chat = json!({"type": "function", "function": {"name": "plan", "description": text, "parameters": schema}});
    for dialect in [
        &OpenAiChat::default() as &dyn Dialect,
        &XAi::default(),
        &Cohere::default(),
        &Mistral::default(),
    ] {
        assert_eq!(rendered(dialect), chat);
    }
    let mut strict = chat.clone();
    strict["function"]["strict"] = false.into();
    assert_eq!(rendered(&OpenAiChat::strict()), strict);
    for dialect in [OpenAiResponses::default(), OpenAiResponses::strict()] {
        assert_eq!(
            rendered(&dialect),
            json!({"type": "function", "name": "plan", "description": text, "parameters": schema, "strict": false})
        );
    }
    assert_eq!(
        rendered(&Anthropic::default()),
        json!({"name": "plan", "description": text, "input_schema": schema})
    );
    assert_eq!(
        rendered(&Anthropic::strict()),
        json!({"name": "plan", "description": text, "input_schema": schema, "strict": false})
    );
    for dialect in [Gemini::default(), Gemini::open_api()] {
        assert_eq!(
            rendered(&dialect)["functionDeclarations"][0],
            json!({"name": "plan", "description": text, "parametersJsonSchema": schema})
        );
    }
    assert_eq!(
        rendered(&Bedrock::default()),
        json!({"toolSpec": {"name": "plan", "description": text, "inputSchema": {"json": schema}}})
    );
    for dialect in [Mcp::v2025_11_25(), Mcp::v2026_07_28()] {
        assert_eq!(
            rendered(&dialect),
            json!({"name": "plan", "title": "Plan a trip", "description": text, "inputSchema": schema,
                   "outputSchema": output, "annotations": {"readOnlyHint": true}})
        );
    }
}

/// It is not counted where strict tools are, of which there may be 20.
#[test]
fn it_is_no_strict_tool() {
    let many = (0..40).map(|at| {
        let tool = builder(
            &format!("tool_{at}"),
            json!({"type": "object", "properties": {"a": true}}),
        );
        tool.build(async |_, _| Ok::<_, Infallible>(()))
            .unwrap()
            .into()
    });
    let registry = Registry::builder().tools(many).build().unwrap();
    let rendered = registry.render(&Anthropic::strict());
    assert_eq!(rendered.broken_rules(), []);
    assert!(!rendered.as_str().contains("\"strict\":true"));
}

/// One without parameters fits everywhere, strict modes too.
#[test]
fn a_tool_without_parameters_is_like_any_other() {
    let tool = DynamicTool::builder("ping").description("Pings.");
    let tool = tool.build(async |_, _| Ok::<_, Infallible>(())).unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let tools = json!(registry.render(&OpenAiChat::strict()));
    assert_eq!(tools[0]["function"]["strict"], true);
    let tools = json!(registry.render(&Gemini::default()));
    assert_eq!(
        tools[0]["functionDeclarations"],
        json!([{"name": "ping", "description": "Pings."}])
    );
    assert_eq!(
        registry
            .call_blocking(ToolCall::new("1", "ping", ""))
            .content(),
        "ok"
    );
    let result = registry.call_blocking(ToolCall::new("1", "ping", r#"{"a":1}"#));
    assert_eq!(
        violations(&result),
        ["a: unknown; nothing is expected here"]
    );
}

/// Places are told as for functions, without a crate.
#[test]
fn a_name_that_is_taken_is_told_with_both_places() {
    let error = Registry::builder()
        .tool(trip())
        .tool(trip())
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("2 tools are named `plan`:\n"), "{text}");
    assert_eq!(text.matches("dynamic.rs:").count(), 2, "{text}");
    assert!(!text.contains("(crate"), "{text}");
}
