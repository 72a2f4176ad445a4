//! The macro checks names at compile time and the library checks them at run time. Neither can call
//! the other, so both are compared here, and with the rules that they implement.

use std::convert::Infallible;

use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
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

/// Returns `true` if every provider accepts the name and the key, so that none needs a repair.
fn is_accepted(name: &str, key: &str) -> bool {
    let tool = DynamicTool::foreign(name)
        .description("Does something.")
        .parameters(json!({"type": "object", "properties": {key: {"type": "string"}}}))
        .build(async |_, _| Ok::<_, Infallible>(()));
    tool.unwrap().repairs().is_empty()
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
        assert_eq!(is_accepted(&name, "key"), is_valid, "{name:?}");
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
        assert_eq!(is_accepted("name", &key), is_valid, "{key:?}");
        assert_eq!(by_rule(&key), is_valid, "{key:?}");
        accepted += usize::from(is_valid);
    }
    assert!(accepted > 300, "{accepted}");
}

#[test]
fn the_macro_finds_case_collisions() {
    for (one, other, collide) in [
        ("celsius", "Celsius", true),
        ("ÉTÉ", "été", true),
        ("ΣΣ", "σς", true),
        ("celsius", "celsiuS ", false),
        ("a", "b", false),
        ("straße", "STRASSE", false),
    ] {
        let in_macro = grammar::case_error(other, [one].into_iter()).is_some();
        assert_eq!(in_macro, collide, "{one} {other}");
    }
}

#[test]
fn the_macro_and_the_library_accept_the_same_tags() {
    let mut tags: Vec<String> = (0..128).map(|byte| char::from(byte).to_string()).collect();
    tags.extend(["", "a b", "é", "a:b.c-d_e"].map(str::to_owned));
    tags.extend([64, 65].map(|length| "a".repeat(length)));
    for tag in tags {
        let tool = DynamicTool::builder("tool")
            .description("A tool.")
            .tags([&*tag]);
        let tool = tool.build(async |_, _| Ok::<_, Infallible>(()));
        assert_eq!(grammar::tag_error(&tag).is_none(), tool.is_ok(), "{tag:?}");
    }
}
