//! Tools whose arguments are a type of a crate that knows only schemars.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::Gate;
use tool_core::{Registry, RegistryBuilder, ToolCall, ToolErrorKind};
use tool_dialects::{Anthropic, Mcp, OpenAiChat};

use super::{call, violations};

/// An even number, which no keyword of this schema demands.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "u8")]
struct Even(u8);

impl TryFrom<u8> for Even {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Even, &'static str> {
        if number.is_multiple_of(2) {
            Ok(Even(number))
        } else {
            Err("choose an even number")
        }
    }
}

/// Seats in a train.
#[derive(Deserialize, JsonSchema)]
struct Seats {
    rows: Vec<Row>,
    /// What to tell the passenger.
    note: Option<String>,
    offset: i32,
}

#[derive(Deserialize, JsonSchema)]
struct Row {
    number: Even,
}

fn registry(tool: DynamicTool) -> RegistryBuilder {
    Registry::builder().tool(tool)
}

/// Returns a tool that counts its runs.
fn seats() -> (DynamicTool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let tool = DynamicTool::typed("echo", "Reserves seats.", move |seats: Seats, _| {
        count.fetch_add(1, Ordering::Relaxed);
        let numbers: Vec<_> = seats.rows.iter().map(|row| row.number.0).collect();
        std::future::ready(Ok::<_, Infallible>((numbers, seats.note, seats.offset)))
    });
    (tool.unwrap(), runs)
}

#[test]
fn the_closure_gets_the_type_and_the_model_a_minimal_schema() {
    let (tool, runs) = seats();
    let schema: Value = serde_json::from_str(tool.spec().parameters_json()).unwrap();
    let mut number = json!({"type": "integer", "minimum": 0, "maximum": 255});
    number["description"] = "An even number, which no keyword of this schema demands.".into();
    let expected = json!({
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {
                "type": "object",
                "properties": {"number": number},
                "required": ["number"],
                "additionalProperties": false,
            }},
            "note": {"type": "string", "description": "What to tell the passenger."},
            "offset": {"type": "integer"},
        },
        "required": ["rows", "offset"],
        "additionalProperties": false,
    });
    assert_eq!(schema, expected);
    let registry = registry(tool).build().unwrap();
    let result = call(
        &registry,
        r#"{"rows":[{"number":4.0}],"note":null,"offset":-1}"#,
    );
    assert_eq!(result.content(), "[[4],null,-1]");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

#[test]
fn all_violations_of_the_schema_are_listed() {
    let registry = registry(seats().0).build().unwrap();
    let arguments = r#"{"rows":[{"number":1,"nummer":2}],"offset":3000000000,"notes":""}"#;
    let expected = [
        "notes: unknown; did you mean \"note\"?",
        "offset: 3000000000 is above the maximum 2147483647",
        "rows[0].nummer: unknown; did you mean \"number\"?",
    ];
    let mut violations = violations(&call(&registry, arguments));
    violations.sort();
    assert_eq!(violations, expected);
}

#[test]
fn what_only_serde_rejects_is_a_violation_too() {
    let (tool, runs) = seats();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let plain = registry(tool.clone()).build().unwrap();
    let gated = registry(tool).before(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Gate::Allow)
    });
    for registry in [plain, gated.build().unwrap()] {
        let result = call(
            &registry,
            r#"{"rows":[{"number":2},{"number":3}],"offset":0}"#,
        );
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        assert_eq!(
            violations(&result),
            ["rows[1].number: choose an even number"]
        );
    }
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // A hook sees only calls that can run.
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

/// Changes the light.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "mode", rename_all = "lowercase")]
enum Light {
    Off,
    /// Of one colour.
    Colour {
        name: String,
    },
}

#[derive(Deserialize, JsonSchema)]
struct Weight {
    grams: f32,
}

#[test]
fn a_number_beyond_its_type_never_reaches_the_closure() {
    let tool = DynamicTool::typed("weigh", "Weighs.", async |weight: Weight, _| {
        Ok::<_, String>(weight.grams.is_finite())
    });
    let registry = registry(tool.unwrap()).build().unwrap();
    let fits = |grams: &str| {
        let arguments = format!(r#"{{"grams":{grams}}}"#);
        let result = registry.call_blocking(ToolCall::new("1", "weigh", arguments));
        assert!(result.is_error() || result.content() == "true", "{grams}");
        !result.is_error()
    };
    assert!(fits("3.4028234663852886e38") && fits("-3.4e38") && fits("0.1"));
    assert!(!fits("1e300") && !fits("-1e300") && !fits("3.5e38") && !fits("1e999"));
}

#[test]
fn an_enum_is_a_union_for_calls_and_an_object_for_providers() {
    let tool = DynamicTool::builder("echo").build_typed(async |light: Light, _| {
        Ok::<_, Infallible>(match light {
            Light::Off => "off".to_owned(),
            Light::Colour { name } => name,
        })
    });
    let tool = tool.unwrap();
    assert_eq!(tool.spec().description, "Changes the light.");
    let registry = registry(tool).build().unwrap();
    assert_eq!(
        call(&registry, r#"{"mode":"colour","name":"red"}"#).content(),
        "red"
    );
    assert_eq!(
        violations(&call(&registry, r#"{"mode":"colour"}"#)),
        ["name: missing; expected a string"]
    );
    let tools = json!(registry.render(&OpenAiChat::default()));
    let schema = &tools[0]["function"]["parameters"];
    assert_eq!(schema["type"], "object");
    assert_eq!(
        schema["properties"]["mode"]["enum"],
        json!(["off", "colour"])
    );
    let tools = json!(registry.render(&Mcp::default()));
    assert_eq!(
        tools[0]["inputSchema"]["anyOf"][1]["description"],
        "Of one colour."
    );
}

#[derive(Deserialize, JsonSchema)]
struct Folder {
    name: String,
    #[serde(default)]
    folders: Vec<Folder>,
}

#[test]
fn a_recursive_type_keeps_its_reference() {
    let tool = DynamicTool::typed("echo", "Counts.", async |folder: Folder, _| {
        fn count(folder: &Folder) -> usize {
            folder.name.len() + folder.folders.iter().map(count).sum::<usize>()
        }
        Ok::<_, Infallible>(count(&folder))
    });
    let registry = registry(tool.unwrap()).build().unwrap();
    let arguments = r#"{"name":"a","folders":[{"name":"bc","folders":[{"name":"def"}]}]}"#;
    assert_eq!(call(&registry, arguments).content(), "6");
    let wrong = call(
        &registry,
        r#"{"name":"a","folders":[{"folders":[{"name":1}]}]}"#,
    );
    assert_eq!(
        violations(&wrong),
        [
            "folders[0].folders[0].name: expected a string, got 1",
            "folders[0].name: missing; expected a string"
        ]
    );
    let tools = json!(registry.render(&Anthropic::default()));
    assert_eq!(
        tools[0]["input_schema"]["properties"]["folders"]["items"]["$ref"],
        "#"
    );
}

#[test]
fn a_type_that_is_no_object_is_an_error() {
    let tool = DynamicTool::typed("echo", "Adds.", async |_: Vec<u8>, _| {
        Ok::<_, Infallible>(())
    });
    let error = tool.unwrap_err();
    assert_eq!(
        error.problems(),
        ["its parameter schema: it does not describe an object; add `\"type\": \"object\"`"]
    );
}

#[derive(Serialize, JsonSchema)]
struct Report {
    total: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    rest: Option<u8>,
    by_city: BTreeMap<String, f64>,
}

#[test]
fn a_result_is_validated_against_the_schema_of_its_type() {
    let build = |result: Value| {
        let tool = DynamicTool::builder("echo")
            .description("Reports.")
            .output_type::<Report>();
        let tool = tool.build(move |_, _| std::future::ready(Ok::<_, Infallible>(result.clone())));
        registry(tool.unwrap()).build().unwrap()
    };
    let report = Report {
        total: 3,
        note: None,
        rest: None,
        by_city: BTreeMap::from([("Lisbon".into(), 1.5)]),
    };
    let registry = build(json!(report));
    let tools = json!(registry.render(&Mcp::default()));
    let expected = json!({
        "type": "object",
        "properties": {
            "total": {"type": "integer", "minimum": 0},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "rest": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}]},
            "by_city": {"type": "object", "additionalProperties": {"type": "number"}},
        },
        "required": ["total", "rest", "by_city"],
        "additionalProperties": false,
    });
    assert_eq!(tools[0]["outputSchema"], expected);
    assert_eq!(call(&registry, "{}").structured(), Some(json!(report)));
    let result = call(&build(json!({"total": 3})), "{}");
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::InvalidResult);
}

#[test]
fn settings_and_examples_are_those_of_every_dynamic_tool() {
    let builder = DynamicTool::builder("echo")
        .description("Reserves.")
        .destructive(true)
        .tags(["trains"]);
    let build = |example: Value| {
        let run = async |seats: Seats, _| Ok::<_, Infallible>(seats.rows.len());
        builder.clone().example(example).build_typed(run)
    };
    let tool = build(json!({"rows": [], "offset": 0})).unwrap();
    assert_eq!(tool.spec().annotations.destructive, Some(true));
    assert!(tool.spec().examples().eq([r#"{"offset":0,"rows":[]}"#]));
    let error = build(json!({"rows": []})).unwrap_err();
    assert!(error.problems()[0].contains("offset: missing"), "{error}");
    let registry = registry(tool).build().unwrap();
    let call = ToolCall::new("1", "echo", r#"{"rows":[{"number":2}],"offset":0}"#);
    assert_eq!(registry.call_blocking(call).content(), "1");
}
