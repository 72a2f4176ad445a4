//! The macro checks names at compile time and the library checks them at run time. Neither can call
//! the other, so both are compared here, and with the rules that they implement.

use std::convert::Infallible;

use serde_json::{Value, json};
use tool_core::DynamicTool;
use tool_core::rules::{self, Value as RuleValue};

#[path = "../../tool-macros/src/util/grammar.rs"]
mod grammar;

/// Returns every ASCII character alone, first and last, other characters, and lengths around the
/// limit.
fn names() -> Vec<String> {
    let ascii = (0..=127_u8).map(char::from);
    let others = ['é', 'ß', 'Ａ', '１', '٣', '‿', '\u{200d}', '\u{e000}', '🦀'];
    let characters = ascii.chain(others);
    let places = characters.flat_map(|one| {
        [
            format!("{one}"),
            format!("{one}a"),
            format!("a{one}"),
            format!("a{one}a"),
        ]
    });
    let lengths = (0..=66).flat_map(|length| [("a", length), ("_", length), ("é", length)]);
    let lengths = lengths.map(|(one, length)| one.repeat(length));
    places.chain(lengths).collect()
}

/// The problems of a tool with this name and a parameter with this key.
fn problems(name: &str, key: &str) -> Vec<String> {
    let properties = json!({key: {"type": "string"}});
    problems_of(name, &properties)
}

fn problems_of(name: &str, properties: &Value) -> Vec<String> {
    let tool = DynamicTool::builder(name)
        .description("Does something.")
        .parameters(json!({"type": "object", "properties": properties}))
        .build(async |_, _| Ok::<_, Infallible>(()));
    tool.map_or_else(|error| error.problems().to_vec(), |_| Vec::new())
}

/// Returns a function that matches a name against the pattern of a rule, with an independent
/// validator.
fn by_rule(rule: &str) -> impl Fn(&str) -> bool {
    let RuleValue::Pattern(pattern) = rules::find(rule).unwrap().value else {
        panic!("{rule} has no pattern");
    };
    let validator = jsonschema::validator_for(&json!({"pattern": pattern})).unwrap();
    move |name| validator.is_valid(&Value::from(name))
}

#[test]
fn the_macro_and_the_library_accept_the_same_tool_names() {
    let by_rule = by_rule("portable.tool_name");
    let mut accepted = 0;
    for name in names() {
        let is_valid = grammar::tool_name_error(&name).is_none();
        assert_eq!(problems(&name, "key").is_empty(), is_valid, "{name:?}");
        assert_eq!(by_rule(&name), is_valid, "{name:?}");
        accepted += usize::from(is_valid);
    }
    assert!(accepted > 300, "{accepted}");
}

#[test]
fn the_macro_and_the_library_accept_the_same_keys() {
    let by_rule = by_rule("portable.param_name");
    let mut accepted = 0;
    for key in names() {
        let is_valid = grammar::key_error(&key).is_none();
        assert_eq!(problems("name", &key).is_empty(), is_valid, "{key:?}");
        assert_eq!(by_rule(&key), is_valid, "{key:?}");
        accepted += usize::from(is_valid);
    }
    assert!(accepted > 300, "{accepted}");
}

#[test]
fn the_macro_and_the_library_find_the_same_case_collisions() {
    for (one, other, collide) in [
        ("celsius", "Celsius", true),
        ("ÉTÉ", "été", true),
        ("ΣΣ", "σς", true),
        ("celsius", "celsiuS ", false),
        ("a", "b", false),
        ("straße", "STRASSE", false),
    ] {
        let properties = json!({"key": {"type": "string", "enum": [one, other]}});
        let in_library = !problems_of("name", &properties).is_empty();
        let in_macro = grammar::case_error(other, [one].into_iter()).is_some();
        assert_eq!((in_macro, in_library), (collide, collide), "{one} {other}");
    }
}
