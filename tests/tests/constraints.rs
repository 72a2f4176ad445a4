//! `#[param(…)]`: constraints are shown in the schema and enforced, on parameters and on fields.

// Tests read the fields through `Debug`.
#![allow(dead_code)]

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{Registry, Tool, ToolCall, ToolResult, ToolType, tool, tools};

#[derive(Debug, Deserialize, ToolType)]
struct Stop {
    /// Where.
    #[param(length = 1..=5, example = "Porto")]
    name: String,
    #[serde(default)]
    #[param(range = ..=60, multiple_of = 5)]
    minutes: u16,
}

/// Everything with bounds.
#[tool]
#[allow(clippy::too_many_arguments)]
fn bounded(
    #[param(range = 1..=14, default = 3)] days: Option<u8>,
    #[param(range = -5..5)] offset: i64,
    #[param(range = 0.5..1.0)] share: f64,
    #[param(multiple_of = 0.1)] step: f32,
    #[param(length = 2..)] word: &str,
    #[param(pattern = r"^\d{3}-\w+$", default = "123-abc")] code: String,
    #[param(format = "email")] mail: Option<String>,
    #[param(length = ..=3, unique)] tags: Vec<String>,
    #[param(length = 1..=2)] stops: &[Stop],
    #[param(
        schema = r#"{"type":"array","items":{"type":["integer","null"],"minimum":1},"minItems":1}"#
    )]
    raw: Value,
) -> String {
    format!("{days:?} {offset} {share} {step} {word} {code} {mail:?} {tags:?} {stops:?} {raw}")
}

fn good() -> Value {
    json!({
        "days": 14, "offset": -5, "share": 0.5, "step": 0.3, "word": "ab", "code": "999-x_1", "mail": "a@b.c",
        "tags": ["a", "b"], "stops": [{"name": "Porto", "minutes": 55}], "raw": [1, null]
    })
}

fn call(arguments: &Value) -> ToolResult {
    let registry = Registry::linked().unwrap();
    registry.call_blocking(ToolCall::new("id", "bounded", arguments.clone()))
}

#[test]
fn constraints_are_shown_in_the_schema() {
    let parameters: Value = serde_json::from_str(bounded::SPEC.parameters_json()).unwrap();
    assert_eq!(
        parameters["properties"],
        json!({
            "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
            "offset": {"type": "integer", "minimum": -5, "maximum": 4},
            "share": {"type": "number", "minimum": 0.5, "exclusiveMaximum": 1},
            "step": {"type": "number", "multipleOf": 0.1},
            "word": {"type": "string", "minLength": 2},
            "code": {"type": "string", "pattern": "^\\d{3}-\\w+$", "default": "123-abc"},
            "mail": {"type": "string", "format": "email"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3, "uniqueItems": true},
            "stops": {"type": "array", "minItems": 1, "maxItems": 2, "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 5, "description": "Where.", "examples": ["Porto"]},
                    "minutes": {"type": "integer", "minimum": 0, "maximum": 60, "multipleOf": 5}
                },
                "required": ["name"], "additionalProperties": false
            }},
            "raw": {"type": "array", "minItems": 1, "items": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}
        })
    );
}

#[test]
fn constraints_are_enforced_as_an_independent_validator_reads_them() {
    let parameters: Value = serde_json::from_str(bounded::SPEC.parameters_json()).unwrap();
    let validator = jsonschema::validator_for(&parameters).unwrap();
    assert!(validator.is_valid(&good()));
    assert_eq!(
        call(&good()).content(),
        "Some(14) -5 0.5 0.3 ab 999-x_1 Some(\"a@b.c\") [\"a\", \"b\"] [Stop { name: \"Porto\", minutes: 55 }] [1,null]"
    );
    for (place, value, said) in [
        ("/days", json!(0), "days: 0 is below the minimum 1"),
        ("/days", json!(15), "days: 15 is above the maximum 14"),
        ("/offset", json!(5), "offset: 5 is above the maximum 4"),
        ("/share", json!(1.0), "share: 1.0 is not below 1"),
        ("/share", json!(0.4), "share: 0.4 is below the minimum 0.5"),
        ("/step", json!(0.35), "step: 0.35 is not a multiple of 0.1"),
        (
            "/word",
            json!("é"),
            "word: expected a string of at least 2 characters, got \"é\"",
        ),
        (
            "/code",
            json!("12-x"),
            "code: \"12-x\" does not match the pattern ^\\d{3}-\\w+$",
        ),
        ("/code", json!("٣٣٣-x"), "code: "),
        ("/code", json!("999-x\n"), "code: "),
        (
            "/tags",
            json!(["a", "b", "a"]),
            "tags: contains \"a\" twice; give it once",
        ),
        (
            "/tags",
            json!(["a", "b", "c", "d"]),
            "tags: expected an array of at most 3 items, got 4",
        ),
        (
            "/stops",
            json!([]),
            "stops: expected an array of 1 to 2 items, got 0",
        ),
        (
            "/stops/0/name",
            json!("Lisboa"),
            "stops[0].name: expected a string of 1 to 5 characters, got \"Lisboa\"",
        ),
        (
            "/stops/0/minutes",
            json!(7),
            "stops[0].minutes: 7 is not a multiple of 5",
        ),
        ("/raw", json!([0]), "raw[0]: 0 is below the minimum 1"),
        (
            "/raw",
            json!([]),
            "raw: expected an array of at least 1 item, got 0",
        ),
    ] {
        let mut arguments = good();
        *arguments.pointer_mut(place).unwrap() = value.clone();
        let result = call(&arguments);
        assert!(result.is_error(), "{place} = {value} was accepted");
        assert!(result.content().contains(said), "{}", result.content());
        assert!(!validator.is_valid(&arguments), "{place} = {value}");
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Tree(Vec<Tree>);

/// Lists of lists.
#[tool(unlinked)]
fn lists(rows: Option<Vec<Vec<u8>>>, tree: Option<Tree>) -> String {
    format!("{rows:?} {tree:?}")
}

#[test]
fn a_lenient_registry_wraps_a_value_in_a_list_once() {
    let builder = Registry::builder().tools(tools![lists]).lenient();
    let lenient = builder.build().unwrap();
    let call = |arguments: Value| lenient.call_blocking(ToolCall::new("id", "lists", arguments));
    let taken = call(json!({"rows": [1, [2, 3]]}));
    assert_eq!(taken.content(), "Some([[1], [2, 3]]) None");
    let refused = call(json!({"rows": 1, "tree": 1}));
    for said in ["rows: expected an array", "tree: expected an array"] {
        assert!(refused.content().contains(said), "{}", refused.content());
    }
    // One message each, not one for each possible level.
    let refused = call(json!({"tree": vec![1; 100]}));
    let said = "tree[0]: expected an array, got 1\n";
    assert!(refused.content().contains(said), "{}", refused.content());
}

#[test]
fn a_lenient_registry_converts_clear_values_and_reports_it() {
    let lenient = Registry::builder()
        .tools(tools![bounded])
        .lenient()
        .build()
        .unwrap();
    let mut arguments = good();
    arguments["days"] = json!("5");
    arguments["share"] = json!("0.75");
    arguments["tags"] = json!("one");
    arguments["stops"] = json!("[{\"name\":\"Faro\",\"minutes\":\"10\"}]");
    assert!(call(&arguments).is_error());
    let result = lenient.call_blocking(ToolCall::new("id", "bounded", arguments.clone()));
    assert_eq!(
        result.content(),
        "Some(5) -5 0.75 0.3 ab 999-x_1 Some(\"a@b.c\") [\"one\"] [Stop { name: \"Faro\", minutes: 10 }] [1,null]"
    );
    let coerced: Vec<_> = result.coercions().iter().map(ToString::to_string).collect();
    assert_eq!(
        coerced,
        [
            "days: converted a string to the value it contains (\"5\")",
            "share: converted a string to the value it contains (\"0.75\")",
            "stops: converted a string to the value it contains (\"[{\\\"name\\\":\\\"Faro\\\",\\\"minutes\\\":\\\"10\\\"}…)",
            "stops[0].minutes: converted a string to the value it contains (\"10\")",
            "tags: wrapped a single value in an array (\"one\")",
        ]
    );
    arguments["days"] = json!("15");
    let result = lenient.call_blocking(ToolCall::new("id", "bounded", arguments));
    assert!(
        result
            .content()
            .contains("days: 15 is above the maximum 14"),
        "{}",
        result.content()
    );
}

#[derive(Debug, Deserialize, ToolType)]
struct Line {
    sku: String,
    count: Option<u8>,
    #[serde(default)]
    gift: bool,
}

#[derive(Debug, Deserialize, ToolType)]
enum Speed {
    Slow,
    Fast,
}

/// Orders.
#[tool(unlinked)]
fn order(
    items: Vec<Line>,
    note: Option<String>,
    speed: Option<Speed>,
    #[param(default = 3)] days: u8,
    weight: Option<f32>,
) -> String {
    format!("{items:?} {note:?} {speed:?} {days} {weight:?}")
}

#[test]
fn a_lenient_registry_takes_text_that_says_so_for_no_value() {
    let registry =
        |builder: tool_core::RegistryBuilder| builder.tools(tools![order]).build().unwrap();
    let strict = registry(Registry::builder());
    let lenient = registry(Registry::builder().lenient());
    let arguments = r#"{"items": [{"sku": "x", "count": "", "gift": "null"}], "note": "null",
        "speed": "", "days": "", "weight": " null "}"#;
    let call = || ToolCall::new("id", "order", arguments);
    assert!(strict.call_blocking(call()).is_error());
    let result = lenient.call_blocking(call());
    // Text is text where the type has some.
    let said = "[Line { sku: \"x\", count: None, gift: false }] Some(\"null\") None 3 None";
    assert_eq!(result.content(), said);
    let paths: Vec<_> = result
        .coercions()
        .iter()
        .map(tool_core::schema::Coercion::path)
        .collect();
    assert_eq!(
        paths,
        ["items[0].count", "items[0].gift", "speed", "days", "weight"]
    );
    // In pieces, too.
    let mut reader = lenient.arguments("order").unwrap();
    for piece in arguments.as_bytes().chunks(3) {
        reader.push(std::str::from_utf8(piece).unwrap());
    }
    assert!(reader.finish().is_ok());
    // What is required stays so.
    let refused = lenient.call_blocking(ToolCall::new("id", "order", r#"{"items": ""}"#));
    assert!(refused.is_error());
}
