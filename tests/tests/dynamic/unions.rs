//! Each violation is reported once; in a union, as a violation of the variant that was meant.

use serde_json::{Value, json};
use tool_core::Registry;

use super::{call, echo, object, violations};

fn told(registry: &Registry, arguments: &str) -> Vec<String> {
    violations(&call(registry, arguments))
}

/// Returns a tool with one parameter, `value`.
fn of_value(schema: Value) -> Registry {
    let mut parameters = object(json!({"value": schema}));
    parameters["required"] = json!(["value"]);
    echo(parameters)
}

#[test]
fn a_violation_is_reported_once() {
    for (schema, value, said) in [
        (
            json!({"type": "integer", "maximum": 5, "multipleOf": 2}),
            json!(5.5),
            "value: expected an integer of at most 5, a multiple of 2, got 5.5",
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!(1),
            "value: expected \"a\" or \"b\", got 1",
        ),
        (
            json!({"type": "string", "const": "a"}),
            json!(1),
            "value: expected \"a\", got 1",
        ),
        (
            json!({"type": "string", "minLength": 2, "pattern": "^[a-z]"}),
            json!("1"),
            "value: expected a string of at least 2 characters that matches ^[a-z], got \"1\"",
        ),
        (
            json!({"type": "array", "prefixItems": [true], "items": false, "maxItems": 1}),
            json!([1, 2]),
            "value: expected an array of at most 1 item, got 2",
        ),
        (
            json!({"allOf": [{"type": "string"}, {"type": "string"}]}),
            json!(1),
            "value: expected a string, got 1",
        ),
        // Bounds as other generators write them.
        (
            json!({"type": "integer", "minimum": 1.0, "maximum": 1e3}),
            json!("x"),
            "value: expected an integer from 1 to 1000, got \"x\"",
        ),
    ] {
        let arguments = json!({ "value": value }).to_string();
        assert_eq!(told(&of_value(schema), &arguments), [said]);
    }
    // Two violations stay two.
    let steps = of_value(json!({"type": "integer", "maximum": 5, "multipleOf": 2}));
    assert_eq!(
        told(&steps, r#"{"value":7}"#),
        [
            "value: 7 is above the maximum 5",
            "value: 7 is not a multiple of 2"
        ]
    );
}

#[test]
fn arguments_that_are_not_an_object_list_the_expected_keys() {
    let registry = of_value(json!({"type": "string"}));
    for (text, got) in [("5", "5"), ("[\"a\"]", "[\"a\"]")] {
        let said = format!("expected an object with \"value\", got {got}");
        assert_eq!(told(&registry, text), [said]);
    }
    // In this draft a reference overrides its siblings.
    let registry = echo(json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object", "$ref": "#/definitions/Any", "definitions": {"Any": {}},
    }));
    assert_eq!(call(&registry, "{}").content(), "{}");
    assert_eq!(told(&registry, " 5"), ["expected an object, got 5"]);
}

#[test]
fn a_repeated_key_is_reported_with_all_other_violations() {
    let registry = of_value(json!({"type": "string"}));
    assert_eq!(
        told(&registry, r#"{"value":1,"valeu":2,"value":3}"#),
        [
            "value: given twice; give it once",
            "value: expected a string, got 3",
            "valeu: unknown; did you mean \"value\"?",
        ]
    );
}

#[test]
fn a_rejected_key_shows_the_required_pattern() {
    let keys = json!({"^[0-9]+$": {"type": "integer"}});
    let registry = of_value(
        json!({"type": "object", "patternProperties": keys, "additionalProperties": false}),
    );
    assert_eq!(
        told(&registry, r#"{"value":{"1":1,"a":1}}"#),
        ["value.a: unknown; a key must match ^[0-9]+$"]
    );
    let registry = of_value(
        json!({"type": "object", "properties": {"total": {}, "rest": {}}, "patternProperties": keys,
               "additionalProperties": false}),
    );
    assert_eq!(
        told(&registry, r#"{"value":{"totl":1,"a":1}}"#),
        [
            "value.a: unknown; a key must be \"rest\" or \"total\" or match ^[0-9]+$",
            "value.totl: unknown; did you mean \"total\"?",
        ]
    );
}

/// Variants as several languages write them.
#[test]
fn a_variant_is_identified_by_its_tag() {
    let variant = |kind: &str, key: &str, schema: Value| {
        let mut variant = object(json!({"kind": {"const": kind}, key: schema}));
        variant["required"] = json!(["kind", key]);
        variant
    };
    let inner = json!({"anyOf": [
        variant("x", "size", json!({"type": "integer"})),
        variant("y", "name", json!({"type": "string"})),
    ]});
    let registry = of_value(json!({"anyOf": [
        variant("a", "inner", inner),
        variant("b", "name", json!({"type": "string"})),
    ]}));
    for (value, said) in [
        (
            json!({"kind": "a", "inner": {"kind": "z"}}),
            "value.inner.kind: expected \"x\" or \"y\", got \"z\"",
        ),
        (
            json!({"kind": "a", "inner": {"kind": "x", "size": "big"}}),
            "value.inner.size: expected an integer, got \"big\"",
        ),
        (
            json!({"kind": "aa", "name": "n"}),
            "value.kind: expected \"a\" or \"b\", got \"aa\"; did you mean \"a\"?",
        ),
        (json!({}), "value.kind: missing; expected \"a\" or \"b\""),
        (
            json!({"kind": null, "name": "n"}),
            "value.kind: expected \"a\" or \"b\", got null",
        ),
        (
            json!({"kind": "B", "name": "n"}),
            "value.kind: expected \"b\", got \"B\"; did you mean \"b\"?",
        ),
        (
            json!([]),
            "value: expected an object with \"kind\": \"a\" or an object with \"kind\": \"b\", got []",
        ),
    ] {
        let arguments = json!({ "value": value }).to_string();
        assert_eq!(told(&registry, &arguments), [said]);
    }
}

#[test]
fn a_variant_is_identified_by_its_required_member() {
    let variant = |key: &str, schema: Value| {
        let mut variant = object(json!({ key: schema }));
        variant["required"] = json!([key]);
        variant
    };
    let mut parameters = object(json!({"value": {"$ref": "#/$defs/Sum"}}));
    parameters["$defs"] = json!({
        "Sum": {"anyOf": [{"$ref": "#/$defs/Number"}, {"$ref": "#/$defs/Both"}, {"enum": ["none"]}]},
        "Number": variant("number", json!({"type": "integer"})),
        "Both": variant("both", json!({"type": "array", "items": {"$ref": "#/$defs/Sum"}})),
    });
    let registry = echo(parameters);
    for (value, said) in [
        (
            json!({"number": "x"}),
            "value.number: expected an integer, got \"x\"",
        ),
        (
            json!({"both": ["none", {"both": 1}]}),
            "value.both[1].both: expected an array, got 1",
        ),
        (
            json!("nome"),
            "value: expected \"none\", got \"nome\"; did you mean \"none\"?",
        ),
        (
            json!("number"),
            "value: expected an object with \"number\", an object with \"both\" or \"none\", got \"number\"",
        ),
    ] {
        let arguments = json!({ "value": value }).to_string();
        assert_eq!(told(&registry, &arguments), [said]);
    }
}
