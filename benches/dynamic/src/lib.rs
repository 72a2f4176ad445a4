//! Tools that are defined at run time, beside the crates `jsonschema` and `schemars` alone.

use std::hint::black_box;

use harness::now::soon;
use harness::{Work, cases};
use jsonschema::Validator;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::Value;
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall};

/// The cases that are counted. Those of `jsonschema` do what a program without tool-core does.
pub const CASES: &[&str] = &[
    "call",
    "call, jsonschema",
    "call, nested",
    "call, nested, jsonschema",
    "build",
    "build, jsonschema",
    "build, foreign",
    "build, typed",
    "build, typed, jsonschema",
];

/// The parameters of the case `flat`.
const FLAT: &str = r#"{"type":"object","properties":{"city":{"type":"string","description":"Name of the city."},"days":{"type":"integer","minimum":1,"maximum":14,"description":"Days to forecast."},"unit":{"type":"string","enum":["celsius","fahrenheit"]},"latitude":{"type":"number","minimum":-90,"maximum":90},"limit":{"type":"integer","minimum":0},"hourly":{"type":"boolean"}},"required":["city","days"],"additionalProperties":false}"#;

/// The parameters of the case `nested`.
const NESTED: &str = r#"{"type":"object","properties":{"order":{"type":"object","properties":{"customer":{"type":"string"},"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"},"country":{"type":"string","minLength":2,"maxLength":2}},"required":["street","city","country"],"additionalProperties":false},"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"quantity":{"type":"integer","minimum":1},"price":{"type":"integer","minimum":0},"gift":{"type":"boolean"}},"required":["sku","quantity"],"additionalProperties":false},"minItems":1},"note":{"type":"string"}},"required":["customer","address","items"],"additionalProperties":false},"rush":{"type":"boolean"}},"required":["order"],"additionalProperties":false}"#;

/// A type whose schema, as `schemars` writes it, equals [`FLAT`].
#[allow(dead_code, reason = "fields are decoded, not read")]
#[derive(Deserialize, JsonSchema)]
struct Forecast {
    /// Name of the city.
    city: String,
    /// Days to forecast.
    #[schemars(range(min = 1, max = 14))]
    days: u32,
    unit: Option<Unit>,
    #[schemars(range(min = -90, max = 90))]
    latitude: Option<f64>,
    limit: Option<u32>,
    hourly: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

/// Returns a case.
pub fn work(case: &str) -> Work {
    match case {
        "call" => call(FLAT, cases::flat()),
        "call, nested" => call(NESTED, cases::nested()),
        "call, jsonschema" => checked(FLAT, cases::flat()),
        "call, nested, jsonschema" => checked(NESTED, cases::nested()),
        "build" => repeated(parsed(FLAT), |schema| tool("get_forecast", schema)),
        "build, jsonschema" => repeated(parsed(FLAT), |schema| compiled(&schema)),
        "build, foreign" => repeated(parsed(FLAT), foreign),
        "build, typed" => repeated((), |()| typed()),
        "build, typed, jsonschema" => repeated((), |()| compiled(described().as_value())),
        _ => panic!("no case {case}"),
    }
}

/// Calls a tool, and returns the string that a model is sent.
fn call(schema: &str, arguments: String) -> Work {
    let registry = Registry::builder().tool(tool("tool", parsed(schema)));
    let registry = registry.build().expect("one tool");
    Work::new(1, move || {
        let call = ToolCall::new("call_1", "tool", &*arguments);
        assert!(!black_box(soon(registry.call(call))).is_error());
    })
}

/// Parses arguments and checks them.
fn checked(schema: &str, arguments: String) -> Work {
    let validator = compiled(&parsed(schema));
    Work::new(1, move || {
        let value: Value = serde_json::from_str(&arguments).expect("JSON");
        assert!(validator.is_valid(&value));
        black_box(value);
    })
}

/// Repeats what takes a copy of an input.
fn repeated<I: Clone + 'static, T: 'static>(input: I, build: fn(I) -> T) -> Work {
    Work::new(1, move || {
        black_box(build(input.clone()));
    })
}

fn parsed(schema: &str) -> Value {
    serde_json::from_str(schema).expect("JSON")
}

fn compiled(schema: &Value) -> Validator {
    let options = jsonschema::options().should_validate_formats(true);
    options.build(schema).expect("a valid schema")
}

fn described() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    settings.into_generator().into_root_schema_for::<Forecast>()
}

fn tool(name: &str, schema: Value) -> DynamicTool {
    let tool = DynamicTool::builder(name).description("Weather forecast for a city.");
    let tool = tool.parameters(schema).build(async |arguments, _| {
        black_box(arguments);
        Ok::<_, String>("stored")
    });
    tool.expect("a valid schema")
}

fn foreign(schema: Value) -> DynamicTool {
    let tool = DynamicTool::foreign("get_forecast").description("Weather forecast for a city.");
    let tool = tool.parameters(schema).build(async |arguments, _| {
        black_box(arguments);
        Ok::<_, String>("stored")
    });
    tool.expect("a valid schema")
}

fn typed() -> DynamicTool {
    let about = "Weather forecast for a city.";
    let tool = DynamicTool::typed("get_forecast", about, async |forecast: Forecast, _| {
        black_box(forecast);
        Ok::<_, String>("stored")
    });
    tool.expect("a valid schema")
}

/// The number of tools whose memory is measured together.
const MANY: usize = 1000;

/// Returns the schemas of many tools, no two alike.
fn schemas() -> impl Iterator<Item = Value> {
    (0..MANY).map(|at| {
        let mut schema = parsed(FLAT);
        schema["properties"]["days"]["maximum"] = (14 + at).into();
        schema
    })
}

/// Returns a registry of these tools.
pub fn registry() -> Registry {
    let tools = schemas().enumerate();
    let tools = tools.map(|(at, schema)| tool(&format!("get_forecast_{at}"), schema));
    let registry = tools.fold(Registry::builder(), |builder, tool| builder.tool(tool));
    registry.build().expect("unique names")
}

/// Calls every tool once.
pub fn call_each(registry: &Registry) {
    for at in 0..MANY {
        let name = format!("get_forecast_{at}");
        let call = ToolCall::new("call_1", name, cases::flat());
        assert!(!soon(registry.call(call)).is_error());
    }
}

/// Returns the validators of their schemas.
pub fn validators() -> Vec<Validator> {
    schemas().map(|schema| compiled(&schema)).collect()
}

/// Returns the bytes of one tool: an equal share of what all `MANY` hold.
pub fn each(bytes: usize) -> usize {
    bytes / MANY
}
