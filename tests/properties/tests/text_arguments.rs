//! Values that are written as named strings become arguments that decode to the same values.

use properties::random::Random;
use properties::sample::Sampler;
use properties::subject::Subject;
use properties::{mutate, rounds};
use serde_json::Value;
use tool_core::dynamic::DynamicTool;

/// Rows of objects with any members: what follows the first dot is one key.
const OPEN: [&str; 3] = ["any_object", "map_values", "flat_value"];

/// Appends the strings of a value: each item of a list under the same name, and the members of some objects under
/// dotted names.
fn flatten(
    name: String,
    value: &Value,
    depth: usize,
    random: &mut Random,
    pairs: &mut Vec<(String, String)>,
) {
    match value {
        Value::String(text) => pairs.push((name, text.clone())),
        Value::Array(items) if items.len() > 1 && items.iter().all(|item| !item.is_null()) => {
            for item in items {
                let text = item
                    .as_str()
                    .map_or_else(|| item.to_string(), ToOwned::to_owned);
                pairs.push((name.clone(), text));
            }
        }
        // What is `null` in an optional member can be left out, which is another value.
        Value::Object(members)
            if depth > 0
                && !members.is_empty()
                && !members.values().any(Value::is_null)
                && random.word().is_multiple_of(2) =>
        {
            for (key, value) in members {
                flatten(format!("{name}.{key}"), value, depth - 1, random, pairs);
            }
        }
        other => pairs.push((name, other.to_string())),
    }
}

/// Returns `true` if a value has a string or a key that can be read in another way.
fn is_ambiguous(value: &Value) -> bool {
    match value {
        Value::String(text) => serde_json::from_str::<Value>(text).is_ok(),
        Value::Array(items) => items.iter().any(is_ambiguous),
        Value::Object(members) => members
            .iter()
            .any(|(key, value)| key.contains('.') || is_ambiguous(value)),
        _ => false,
    }
}

#[test]
fn values_of_every_type_arrive_as_named_strings() {
    let mut failures = Vec::new();
    let (mut types, mut sent, mut ambiguous) = (0, 0, 0);
    for subject in Subject::all() {
        let name = subject.row.name;
        let mut random = Random::named(name, 9);
        let sampler = Sampler::new(&subject.schema);
        let dynamic = DynamicTool::builder("tool")
            .description("Takes a value.")
            .parameters(subject.schema.clone())
            .build(|arguments, _| std::future::ready(Ok::<Value, String>(arguments)));
        types += 1;
        for round in 0..rounds(60, 3000) {
            let mut arguments = sampler.sample(&mut random);
            if round % 4 == 0 {
                arguments = mutate::value(&arguments, &subject.schema, &mut random);
            }
            let Value::Object(members) = &arguments else {
                continue;
            };
            if members.values().any(Value::is_null) || !subject.accepts(&arguments) {
                continue;
            }
            let mut pairs = Vec::new();
            let depth = if OPEN.contains(&name) { 1 } else { 32 };
            for (key, value) in members {
                flatten(key.clone(), value, depth, &mut random, &mut pairs);
            }
            let text = subject.row.tool.arguments_from_text(pairs.clone());
            if let Ok(dynamic) = &dynamic {
                assert_eq!(
                    dynamic.spec().arguments_from_text(pairs.clone()),
                    text,
                    "{name}"
                );
            }
            let read: Value = serde_json::from_str(&text).expect("the arguments are JSON");
            sent += 1;
            if read != arguments {
                if is_ambiguous(&arguments) {
                    ambiguous += 1;
                } else {
                    failures.push(format!("{name}: {arguments} as {pairs:?} is {text}"));
                }
            }
        }
    }
    println!("{types} types, {sent} values, {ambiguous} of them ambiguous");
    failures.sort_by_key(String::len);
    failures.truncate(40);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(ambiguous < sent / 50, "{ambiguous} of {sent}");
}

#[test]
fn any_pairs_become_an_object_and_cost_little() {
    let names = [
        "value",
        "value.",
        ".",
        "",
        "value.value.value",
        "a.b",
        "value.0",
        "\"",
        "values",
    ];
    let values = [
        "",
        "1",
        "-",
        "[",
        "{}",
        "[1]",
        "null",
        "true",
        "\u{0}",
        "{\"a\":\"\\ud800\"}",
        "1e999",
    ];
    for subject in Subject::all() {
        let mut random = Random::named(subject.row.name, 10);
        for _ in 0..rounds(20, 1000) {
            let pick = |list: &[&str], random: &mut Random| {
                list[usize::try_from(random.word() % list.len() as u64).unwrap_or(0)].to_owned()
            };
            let count = random.word() % 6;
            let pairs: Vec<_> = (0..count)
                .map(|_| (pick(&names, &mut random), pick(&values, &mut random)))
                .collect();
            let text = subject.row.tool.arguments_from_text(pairs);
            let read = serde_json::from_str::<Value>(&text);
            assert!(read.is_ok_and(|read| read.is_object()), "{text}");
            // No panic; the tool runs once or not at all.
            subject.call(&text, false);
        }
    }
}
