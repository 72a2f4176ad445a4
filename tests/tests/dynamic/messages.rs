//! Messages for violations.

use std::convert::Infallible;

use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolResult, ToolType, tool, tools};

use super::{builder, call, echo, object, violations};

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

/// Dynamic tools use the same words as functions.
#[test]
fn violations_have_the_same_words_as_for_a_function() {
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
        // Near a known key: a `Value` sorts its keys, so lists of them differ.
        (json!({"stops": [], "people": 1, "currency\n- ": 1}), 1),
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
fn malformed_text_is_rejected_as_for_a_function() {
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
    // What a `Value` would not show.
    for (text, told) in [
        (r#"{"a":1,"a":2}"#, "a: given twice; give it once"),
        (
            r#"{"a":{"b":1,"c":[{"b":1,"b":2}],"b":3}}"#,
            "a.c[0].b: given twice; give it once",
        ),
        (r#"{"a":1e999}"#, "a: 1e999 is out of range"),
        (
            r#"{"a":"\ud800"}"#,
            "a: contains an unpaired surrogate, which is not valid text",
        ),
    ] {
        assert_eq!(violations(&call(&dynamic, text))[0], told);
    }
    for nothing in ["", " ", "null", "{}"] {
        assert_eq!(call(&dynamic, nothing).content(), "{}");
    }
}

#[test]
fn every_keyword_has_a_message() {
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
        (json!({"step": 0.25}), "step: 0.25 is not a multiple of 0.1"),
        (
            json!({"date": "yesterday"}),
            "date: expected a string in date format, got \"yesterday\"",
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
            "some: has too few or too many items that are 1",
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
