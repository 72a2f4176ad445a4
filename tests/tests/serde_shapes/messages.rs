//! Messages for violations: enough to make none in the next call.

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{Registry, Tool, ToolCall, ToolType, tool, tools};

use super::{Circle, Subject};

#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Size {
    Small,
    Large,
    #[serde(rename = "\"X\"")]
    Quoted,
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Round(Circle),
    Nothing,
}

#[derive(Debug, Deserialize, ToolType)]
struct Options {
    depth: Option<u8>,
    width: Option<u8>,
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Several {
    Number(u8),
    Texts(Vec<String>),
    Options(Options),
}

fn told(subject: &Subject, value: &Value) -> Vec<String> {
    let result = subject.call(value);
    assert!(!subject.is_valid(value), "{value}");
    let error = result.error().expect("a mistake");
    error.violations().iter().map(ToString::to_string).collect()
}

#[test]
fn a_rejected_number_shows_its_limit_and_step() {
    #[derive(Debug, Deserialize, ToolType)]
    struct Steps {
        #[param(range = 1..=60, multiple_of = 5)]
        whole: u16,
        #[param(range = 0.5..1.0, multiple_of = 0.25)]
        part: f64,
    }
    let subject = subject!(Steps);
    assert_eq!(
        told(&subject, &json!({"whole": 61, "part": 1.1})),
        [
            "value.part: 1.1 is not below 1",
            "value.part: 1.1 is not a multiple of 0.25",
            "value.whole: 61 is above the maximum 60",
            "value.whole: 61 is not a multiple of 5",
        ]
    );
    assert_eq!(
        told(&subject, &json!({"whole": 65, "part": 0.25})),
        [
            "value.part: 0.25 is below the minimum 0.5",
            "value.whole: 65 is above the maximum 60",
        ]
    );
    // 2 to the power of 128, plus one: beyond every integer type, but still divisible.
    let text = r#"{"value":{"whole":340282366920938463463374607431768211460,"part":0.5}}"#;
    let call = ToolCall::new("id", "take", text);
    let result = subject.registry.call_blocking(call);
    assert!(
        !result.content().contains("multiple"),
        "{}",
        result.content()
    );
}

#[test]
fn a_nullable_value_is_described_as_such() {
    let subject = subject!(Vec<Option<u8>>);
    let said = "value[1]: expected an integer from 0 to 255 or null, got \"2\"";
    assert_eq!(told(&subject, &json!([null, "2"])), [said]);
    let subject = subject!(Vec<Option<Size>>);
    let said = r#"value[0]: expected "small", "large" or "\"X\"" or null, got "smal"; did you mean "small"?"#;
    assert_eq!(told(&subject, &json!(["smal", null])), [said]);
    let subject = subject!((Option<Vec<u8>>, Option<Circle>));
    assert_eq!(
        told(&subject, &json!([{}, 1])),
        [
            "value[0]: expected an array or null, got {}",
            "value[1]: expected an object with \"radius\" or null, got 1",
        ]
    );
    // An optional parameter is shown without `null`.
    let subject = subject!(Option<u8>);
    let said = "value: expected an integer from 0 to 255, got \"2\"";
    assert_eq!(told(&subject, &json!("2")), [said]);
}

#[test]
fn a_lenient_registry_wraps_nullable_values() {
    /// Takes lists.
    #[tool(unlinked)]
    fn lists(numbers: Vec<Option<u8>>, rows: Vec<Option<Vec<u8>>>) -> String {
        format!("{numbers:?} {rows:?}")
    }
    let builder = Registry::builder().tools(tools![lists]).lenient();
    let lenient = builder.build().unwrap();
    let call = |arguments: Value| lenient.call_blocking(ToolCall::new("id", "lists", arguments));
    let taken = call(json!({"numbers": ["1", null], "rows": [2, null, "[3]"]}));
    assert_eq!(
        taken.content(),
        "[Some(1), None] [Some([2]), None, Some([3])]"
    );
    // The message shows the value that is not an item.
    let refused = call(json!({"numbers": "[1, x]", "rows": {}}));
    for said in [
        "numbers: expected an array, got \"[1, x]\"",
        "rows: expected an array, got {}",
    ] {
        assert!(refused.content().contains(said), "{}", refused.content());
    }
    let refused = call(json!({"numbers": 300, "rows": []}));
    let said = "numbers: 300 is above the maximum 255";
    assert!(refused.content().contains(said), "{}", refused.content());
    let refused = call(json!({"numbers": ["one"], "rows": []}));
    let said = "numbers[0]: expected an integer from 0 to 255 or null, got \"one\"";
    assert!(refused.content().contains(said), "{}", refused.content());
}

#[test]
fn quotes_in_a_value_are_escaped_as_in_json() {
    let subject = subject!(Size);
    assert_eq!(
        told(&subject, &json!("\"Y\"")),
        [r#"value: expected "small", "large" or "\"X\"", got "\"Y\""; did you mean "\"X\""?"#]
    );
}

#[test]
fn a_long_tag_is_shortened_in_a_message() {
    let subject = subject!(Shape);
    let long = "a".repeat(1000);
    let said = told(&subject, &json!({"kind": long, "radius": 1}));
    let start = "value.kind: expected \"round\" or \"nothing\", got \"aaa";
    assert!(said[0].starts_with(start), "{said:?}");
    assert!(said[0].len() < 120, "{said:?}");
    let said = r#"value.kind: expected "round" or "nothing", got "rond"; did you mean "round"?"#;
    let value = json!({"kind": "rond", "radius": 1});
    assert_eq!(told(&subject, &value), [said]);
}

/// std types name themselves when a number is out of range.
#[test]
fn no_rust_type_is_named() {
    let subject = subject!(std::time::SystemTime);
    let time = json!({"secs_since_epoch": u64::MAX, "nanos_since_epoch": 999_999_999});
    let result = subject.call(&time);
    let said = result.content();
    assert!(
        said.contains("value: not accepted; expected an object"),
        "{said}"
    );
    assert!(!said.contains("Time"), "{said}");
}

/// If only one schema has the type of the value, it was meant, whatever is wrong.
#[test]
fn the_only_schema_of_a_type_is_the_one_meant() {
    let subject = subject!(Several);
    for (value, said) in [
        (
            json!({"depth": "deep"}),
            vec!["value.depth: expected an integer from 0 to 255, got \"deep\""],
        ),
        (
            json!({"dept": 1, "width": 256}),
            vec![
                "value.dept: unknown; did you mean \"depth\"?",
                "value.width: 256 is above the maximum 255",
            ],
        ),
        (json!(["a", 1]), vec!["value[1]: expected a string, got 1"]),
        (
            json!(true),
            vec!["value: expected an integer from 0 to 255, an array or an object, got true"],
        ),
    ] {
        assert_eq!(told(&subject, &value), said, "{value}");
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Step {
    id: u8,
    #[serde(flatten)]
    action: Action,
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Action {
    Add { add: u8 },
    Remove { remove: u8, all: bool },
}

#[derive(Debug, Deserialize, ToolType)]
struct Item {
    id: u8,
    #[serde(flatten)]
    shape: Shape,
}

/// What every variant finds wrong is wrong whichever was meant, and the one with the fewest violations
/// is the likely one.
#[test]
fn a_value_of_no_variant_is_explained() {
    let subject = subject!(Step);
    for (value, said) in [
        (
            json!({"id": 300, "add": 1}),
            vec!["value.id: 300 is above the maximum 255"],
        ),
        (
            json!({"id": 1, "add": -1}),
            vec!["value.add: -1 is below the minimum 0"],
        ),
        (
            json!({"id": 1, "remove": 300}),
            vec![
                "value.remove: 300 is above the maximum 255",
                "value.all: missing; expected true or false",
            ],
        ),
        (
            json!({"id": 300}),
            vec![
                "value.id: 300 is above the maximum 255",
                "value: expected an object, got {\"id\":300}",
            ],
        ),
        (
            json!({"id": 300, "neither": 1}),
            vec![
                "value.id: 300 is above the maximum 255",
                "value: expected an object, got {\"id\":300,\"neither\":1}",
            ],
        ),
    ] {
        assert_eq!(told(&subject, &value), said, "{value}");
    }
    let subject = subject!(Item);
    assert_eq!(
        told(&subject, &json!({"id": 300, "kind": "square"})),
        [
            "value.id: 300 is above the maximum 255",
            "value.kind: expected \"round\" or \"nothing\", got \"square\""
        ]
    );
}
