//! Enums, by tagging.

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{Registry, Tool, ToolCall, ToolType, tool, tools};

use super::structs::Key;
use super::{Circle, Subject};

#[derive(Debug, Deserialize, ToolType)]
pub(crate) enum External {
    Nothing,
    /// Just a number.
    Number(u8),
    Pair(u8, String),
    #[serde(rename_all = "camelCase")]
    Named {
        first_name: String,
        age: Option<u8>,
    },
    Boxed(Circle),
}

#[test]
fn external_tags() {
    let subject = subject!(External);
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let around = |key: &str, inner: Value| json!({"type": "object", "properties": {key: inner}, "required": [key], "additionalProperties": false});
    let mut number = around("Number", byte.clone());
    number["description"] = "Just a number.".into();
    subject.schema(json!({"anyOf": [
        {"type": "string", "enum": ["Nothing"]},
        number,
        around("Pair", json!({"type": "array", "prefixItems": [byte, {"type": "string"}], "items": false, "minItems": 2, "maxItems": 2})),
        around("Named", json!({"type": "object", "properties": {"firstName": {"type": "string"}, "age": byte}, "required": ["firstName"], "additionalProperties": false})),
        around("Boxed", json!({"type": "object", "properties": {"radius": {"type": "number", "description": "In metres."}}, "required": ["radius"], "additionalProperties": false})),
    ]}));
    subject.accepts(json!("Nothing"), "Nothing");
    subject.accepts(json!({"Number": 7.0}), "Number(7)");
    subject.accepts(json!({"Pair": [1, "a"]}), "Pair(1, \"a\")");
    subject.accepts(
        json!({"Named": {"firstName": "Ada"}}),
        "Named { first_name: \"Ada\", age: None }",
    );
    subject.accepts(
        json!({"Boxed": {"radius": 1}}),
        "Boxed(Circle { radius: 1.0 })",
    );
    subject.refuses(
        json!({"Nothing": null}),
        "value: expected \"Nothing\", an object with \"Number\"",
    );
    subject.refuses(
        json!({"Number": 256}),
        "value.Number: 256 is above the maximum 255",
    );
    subject.refuses(
        json!({"Pair": [1]}),
        "value.Pair: expected an array of exactly 2 items, got 1",
    );
    subject.refuses(
        json!({"Named": {"first_name": "Ada"}}),
        "value.Named.first_name: unknown; did you mean \"firstName\"?",
    );
    subject.refuses(json!({"Number": 1, "Pair": [1, "a"]}), "value");
    subject.refuses(json!("Something"), "did you mean \"Nothing\"?");
    // The name of a variant that is an object.
    subject.refuses(
        json!("Number"),
        "value: expected \"Nothing\", an object with \"Number\"",
    );
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    /// Nothing at all.
    Nothing,
    RoundThing(Circle),
    Square {
        side: u8,
    },
}

#[test]
fn internal_tags() {
    let subject = subject!(Internal);
    subject.schema(json!({"anyOf": [
        {"type": "object", "properties": {"kind": {"type": "string", "const": "nothing"}}, "required": ["kind"], "additionalProperties": false, "description": "Nothing at all."},
        {"type": "object", "properties": {"kind": {"type": "string", "const": "round_thing"}, "radius": {"type": "number", "description": "In metres."}}, "required": ["kind", "radius"], "additionalProperties": false},
        {"type": "object", "properties": {"kind": {"type": "string", "const": "square"}, "side": {"type": "integer", "minimum": 0, "maximum": 255}}, "required": ["kind", "side"], "additionalProperties": false},
    ]}));
    subject.accepts(json!({"kind": "nothing"}), "Nothing");
    subject.accepts(
        json!({"radius": 2, "kind": "round_thing"}),
        "RoundThing(Circle { radius: 2.0 })",
    );
    subject.accepts(json!({"kind": "square", "side": 3.0}), "Square { side: 3 }");
    subject.accepts_unseen(json!({"kind": "SQUARE", "side": 3}), "Square { side: 3 }");
    subject.refuses(
        json!({"kind": "square", "side": 3, "radius": 1}),
        "value.radius: unknown",
    );
    subject.refuses(json!({"kind": "square"}), "value");
    subject.refuses(
        json!({"kind": "round"}),
        "value.kind: expected \"nothing\", \"round_thing\" or \"square\", got \"round\"",
    );
    subject.refuses(json!({"side": 3}), "value.kind: missing");
    subject.refuses(json!(["square", 3]), "got [\"square\",3]");
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Nothing,
    Number(u8),
    Pair(u8, u8),
    Named { side: u8 },
}

#[test]
fn adjacent_tags() {
    let subject = subject!(Adjacent);
    subject.accepts(json!({"t": "Nothing"}), "Nothing");
    subject.accepts(json!({"t": "Number", "c": 1}), "Number(1)");
    subject.accepts(json!({"c": [1, 2], "t": "Pair"}), "Pair(1, 2)");
    subject.accepts(json!({"t": "Named", "c": {"side": 1}}), "Named { side: 1 }");
    subject.refuses(json!({"t": "Nothing", "c": null}), "value.c: unknown");
    subject.refuses(json!({"t": "Number"}), "value");
    subject.refuses(
        json!({"t": "Named", "c": [1]}),
        "value.c: expected an object",
    );
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Untagged {
    Flag(bool),
    Number(u8),
    Text(String),
    Circle(Circle),
    Nothing,
}

#[test]
fn untagged() {
    let subject = subject!(Untagged);
    subject.accepts(json!(true), "Flag(true)");
    subject.accepts(json!(3.0), "Number(3)");
    subject.accepts(json!("3"), "Text(\"3\")");
    subject.accepts(json!({"radius": 1}), "Circle(Circle { radius: 1.0 })");
    subject.accepts(json!(null), "Nothing");
    subject.refuses(json!({"radius": 1, "x": 2}), "value.x: unknown");
    subject.refuses(json!(256), "value: 256 is above the maximum 255");
    subject.refuses(json!([1]), "value: expected true or false, an integer from 0 to 255, a string, an object with \"radius\" or null");
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Documented {
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit, "the other" one.
    Fahrenheit,
}

#[test]
fn docs_of_values_are_shown_with_any_description() {
    /// Takes a unit.
    #[tool(unlinked)]
    fn take(
        /// Unit of the answer.
        unit: Documented,
        plain: Documented,
    ) -> String {
        format!("{unit:?}{plain:?}")
    }
    let parameters: Value = serde_json::from_str(take::SPEC.parameters_json()).unwrap();
    let notes = "celsius: Degrees Celsius.\nfahrenheit: Degrees Fahrenheit, \"the other\" one.";
    assert_eq!(
        parameters["properties"]["unit"]["description"],
        format!("Unit of the answer.\n{notes}")
    );
    assert_eq!(parameters["properties"]["plain"]["description"], notes);
}

#[derive(Debug, Deserialize, ToolType)]
enum Open {
    #[serde(alias = "first", alias = "1st")]
    One,
    Two,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, ToolType)]
struct Aliased {
    #[serde(alias = "colour")]
    color: String,
}

#[test]
fn aliases_and_other_are_accepted_and_not_shown() {
    let subject = subject!(Open);
    subject.schema(json!({"type": "string", "enum": ["One", "Two"]}));
    subject.accepts(json!("One"), "One");
    subject.accepts_unseen(json!("1st"), "One");
    subject.accepts_unseen(json!("Seventeen"), "Other");
    subject.accepts_unseen(json!("two"), "Two");
    let subject = subject!(Aliased);
    subject.accepts_unseen(json!({"colour": "red"}), "Aliased { color: \"red\" }");
    subject.refuses(
        json!({"colour": "red", "color": "red"}),
        "value.colour: given twice",
    );
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged)]
enum Guess {
    Known(Key),
    Other(String),
}

#[test]
fn another_case_is_accepted_only_if_nothing_fits_as_written() {
    /// Takes guesses.
    #[tool(unlinked)]
    fn take(value: Guess, size: u8) -> String {
        format!("{value:?} {size}")
    }
    let registry = Registry::builder().tools(tools![take]).build().unwrap();
    // The second argument must be corrected, which must not change the first.
    for (size, seen) in [("1", "Other(\"LOW\") 1"), ("1.0", "Other(\"LOW\") 1")] {
        let arguments = format!("{{\"value\":\"LOW\",\"size\":{size}}}");
        let result = registry.call_blocking(ToolCall::new("id", "take", arguments));
        assert_eq!(result.content(), seen);
    }
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum OpenShape {
    Circle {
        radius: u8,
    },
    #[serde(other)]
    Unknown,
}

#[test]
fn a_violation_in_an_open_enum_keeps_its_place() {
    let subject = subject!(OpenShape);
    subject.accepts(
        json!({"kind": "circle", "radius": 1}),
        "Circle { radius: 1 }",
    );
    subject.accepts_unseen(json!({"kind": "square"}), "Unknown");
    subject.refuses(
        json!({"kind": "circle", "radius": 256}),
        "value.radius: 256 is above the maximum 255",
    );
    subject.refuses(json!({"kind": "circle"}), "value.radius: missing");
}

#[derive(Debug, Deserialize, ToolType)]
enum Stored {
    Live(u8),
    Cached(#[serde(skip)] u8),
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "t", content = "c")]
enum StoredAdjacent {
    Live(u8),
    Cached(#[serde(skip)] u8),
}

#[test]
fn a_variant_whose_only_field_is_skipped_is_a_unit_variant() {
    let subject = subject!(Stored);
    subject.accepts(json!("Cached"), "Cached(0)");
    subject.refuses(json!({"Cached": []}), "value");
    let subject = subject!(StoredAdjacent);
    subject.accepts(json!({"t": "Cached"}), "Cached(0)");
    subject.accepts(json!({"t": "Cached", "c": null}), "Cached(0)");
}
