//! The macro checks names at compile time, the library those of dynamic tools at run time. Neither
//! can
//! call the other, so they must agree, and both must agree with the providers' rules.

use std::convert::Infallible;

use serde_json::{Value, json};
use tool_core::DynamicTool;
use tool_core::rules::{self, Value as Told};

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

/// Returns why a tool with this name and a parameter with this key is rejected.
fn problems(name: &str, key: &str) -> Vec<String> {
    let tool = DynamicTool::builder(name)
        .description("Does something.")
        .parameters(json!({"type": "object", "properties": {key: {"type": "string"}}}))
        .build(async |_, _| Ok::<_, Infallible>(()));
    tool.map_or_else(|error| error.problems().to_vec(), |_| Vec::new())
}

/// Returns a check of a rule's pattern by an independent validator.
fn by_rule(rule: &str) -> impl Fn(&str) -> bool {
    let Told::Pattern(pattern) = rules::find(rule).unwrap().value else {
        panic!("{rule} has no pattern");
    };
    let validator = jsonschema::validator_for(&json!({"pattern": pattern})).unwrap();
    move |name| validator.is_valid(&Value::from(name))
}

#[test]
fn the_macro_and_the_library_accept_the_same_tool_names() {
    let by_rule = by_rule("portable.tool_name");
    let mut taken = 0;
    for name in names() {
        let is_taken = grammar::is_tool_name(&name);
        assert_eq!(problems(&name, "key").is_empty(), is_taken, "{name:?}");
        assert_eq!(by_rule(&name), is_taken, "{name:?}");
        taken += usize::from(is_taken);
    }
    assert!(taken > 300, "{taken}");
}

#[test]
fn the_macro_and_the_library_accept_the_same_keys() {
    let by_rule = by_rule("portable.param_name");
    let mut taken = 0;
    for key in names() {
        let is_taken = grammar::is_key(&key);
        assert_eq!(problems("name", &key).is_empty(), is_taken, "{key:?}");
        assert_eq!(by_rule(&key), is_taken, "{key:?}");
        taken += usize::from(is_taken);
    }
    assert!(taken > 300, "{taken}");
}
