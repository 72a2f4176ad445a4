//! Texts and schemas made to cost exponential time: every call ends, and its message is short.
//!
//! Nothing measures time. A call that does not end within a minute ends the test program.

use std::collections::BTreeSet;

use properties::random::Random;
use properties::subject::Subject;
use properties::{rounds, sample};
use serde_json::{Map, Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::{Registry, ToolCall, ToolErrorKind};
use tool_docs::Docs;
use tool_docs::lock::Lock;

#[path = "../../support/watchdog.rs"]
mod watchdog;

use watchdog::Watchdog;

/// The most bytes of a message: 20 violations, each with its path and the names that are near.
const MESSAGE: usize = 100_000;

/// Collects the names of properties and the strings of constants and enums.
fn words(schema: &Value, keys: &mut BTreeSet<String>, values: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (key, member) in members {
                if key == "properties" {
                    keys.extend(
                        member
                            .as_object()
                            .into_iter()
                            .flatten()
                            .map(|(key, _)| key.clone()),
                    );
                }
                words(member, keys, values);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, keys, values)),
        Value::String(text) => {
            values.insert(text.clone());
        }
        _ => {}
    }
}

/// Nests a leaf deeply, in objects with the schema's own keys and in lists: what makes a validator of
/// unions try every alternative at every level.
fn nested(random: &mut Random, levels: usize, keys: &[String], values: &[String]) -> Value {
    let leaves = [
        json!(null),
        json!(true),
        json!(1),
        json!(-1.5),
        json!(""),
        json!({}),
        json!([]),
    ];
    let mut value = random.pick(&leaves).clone();
    // A few kinds of levels, repeated: the same alternatives then stay possible all the way.
    let kinds: Vec<_> = (0..=random.below(3))
        .map(|_| {
            (
                random.below(4),
                random.below(keys.len().max(1)),
                random.below(values.len().max(1)),
            )
        })
        .collect();
    for level in 0..levels {
        let (kind, key, text) = kinds[level % kinds.len()];
        let key = keys.get(key).cloned().unwrap_or_else(|| "value".into());
        let other = keys
            .get((text + 1) % keys.len().max(1))
            .cloned()
            .unwrap_or_default();
        let text = values.get(text).cloned().unwrap_or_default();
        // Not with `json!`, which copies what it contains.
        let mut members = Map::new();
        value = match kind {
            0 => Value::Array(vec![value]),
            1 => Value::Array(vec![json!(text), value]),
            2 => {
                members.insert(other, json!(text));
                members.insert(key, value);
                members.into()
            }
            _ => {
                members.insert(key, value);
                members.into()
            }
        };
    }
    value
}

fn check(registry: &Registry, name: &str, arguments: &Value) {
    let call = ToolCall::new("id", name, arguments.to_string());
    let result = registry.call_blocking(call);
    if let Some(error) = result.error() {
        let is_rejected = matches!(
            error.kind(),
            ToolErrorKind::InvalidArguments | ToolErrorKind::MalformedJson
        );
        assert!(is_rejected, "{name}: {arguments}: {}", error.message());
        assert!(error.message().len() < MESSAGE, "{name}: {arguments}");
    }
}

#[test]
fn nested_arguments_of_every_tool_are_checked_in_bounded_time() {
    let watchdog = Watchdog::new("the first tool");
    for subject in Subject::all() {
        let (mut keys, mut values) = (BTreeSet::new(), BTreeSet::new());
        words(&subject.schema, &mut keys, &mut values);
        let keys: Vec<_> = keys.into_iter().collect();
        let values: Vec<_> = values.into_iter().collect();
        let foreign = DynamicTool::builder("foreign")
            .description("Takes a value.")
            .parameters(subject.schema.clone())
            .build(async |arguments, _| Ok::<Value, String>(arguments));
        let foreign = foreign
            .ok()
            .map(|tool| Registry::builder().tool(tool).build());
        let foreign = foreign.map(|registry| registry.expect("one tool has one name"));
        let mut random = Random::named(subject.row.name, 11);
        for _ in 0..rounds(6, 2000) {
            let levels = *random.pick(&[3, 12, 30, 60, 120]);
            let value = nested(&mut random, levels, &keys, &values);
            let mut arguments = sample::Sampler::new(&subject.schema).sample(&mut random);
            if let Some(members) = arguments.as_object_mut() {
                let all: Vec<_> = members.keys().cloned().collect();
                let key = all.get(random.below(all.len())).cloned();
                members.insert(key.unwrap_or_else(|| "value".into()), value);
            }
            watchdog.step(format!("{}: {arguments}", subject.row.name));
            subject.call(&arguments.to_string(), false);
            subject.call(&arguments.to_string(), true);
            if let Some(registry) = &foreign {
                check(registry, "foreign", &arguments);
            }
        }
    }
}

/// A random schema that refers to definitions, its own among them.
fn schema(random: &mut Random, definitions: usize, depth: usize) -> Value {
    let reference = |random: &mut Random| {
        let at = random.below(definitions);
        json!({ "$ref": format!("#/$defs/d{at}") })
    };
    if depth == 0 {
        return match random.below(4) {
            0 => json!({"type": "integer"}),
            1 => json!({"type": "string", "pattern": "^(a+)+b$"}),
            _ => reference(random),
        };
    }
    let some = |random: &mut Random| -> Vec<Value> {
        let count = 1 + random.below(4);
        (0..count)
            .map(|_| schema(random, definitions, depth - 1))
            .collect()
    };
    match random.below(13) {
        0 => json!({ "anyOf": some(random) }),
        1 => json!({ "oneOf": some(random) }),
        2 => json!({ "allOf": some(random) }),
        3 => json!({ "not": schema(random, definitions, depth - 1) }),
        4 => {
            let mut parts = some(random).into_iter().cycle();
            let mut next = || parts.next().unwrap_or_default();
            json!({ "if": next(), "then": next(), "else": next() })
        }
        5 => json!({ "type": "array", "items": schema(random, definitions, depth - 1) }),
        6 => {
            json!({ "prefixItems": some(random), "items": schema(random, definitions, depth - 1) })
        }
        7 => json!({ "type": "array", "contains": schema(random, definitions, depth - 1) }),
        8 => json!({ "type": "array", "uniqueItems": true, "unevaluatedItems": false,
            "anyOf": some(random) }),
        9 => {
            json!({ "type": "object", "additionalProperties": schema(random, definitions, depth - 1) })
        }
        10 => json!({ "type": "object", "unevaluatedProperties": false, "oneOf": some(random),
            "patternProperties": { "^x": schema(random, definitions, depth - 1) } }),
        11 => json!({ "type": "object", "required": ["a"], "dependentSchemas":
            { "a": schema(random, definitions, depth - 1) },
            "properties": { "a": schema(random, definitions, depth - 1),
                "b": schema(random, definitions, depth - 1) } }),
        _ => reference(random),
    }
}

#[test]
fn random_recursive_schemas_are_built_and_checked_in_bounded_time() {
    let watchdog = Watchdog::new("the first schema");
    let mut random = Random::named("hostile schemas", 1);
    let (wanted, mut built, mut tries) = (rounds(40, 4000), 0, 0);
    while built < wanted {
        tries += 1;
        assert!(
            tries <= 500 * wanted,
            "{built} of {tries} schemas are valid"
        );
        let count = 1 + random.below(4);
        let definitions: Map<_, _> = (0..count)
            .map(|at| (format!("d{at}"), schema(&mut random, count, 3)))
            .collect();
        let parameters = json!({
            "type": "object",
            "properties": {"value": {"$ref": "#/$defs/d0"}},
            "$defs": definitions,
        });
        watchdog.step(parameters.to_string());
        let tool = DynamicTool::builder("hostile")
            .description("Takes a value.")
            .parameters(parameters.clone())
            .build(async |_, _| Ok::<_, String>("done"));
        let Ok(tool) = tool else {
            continue;
        };
        built += 1;
        let registry = Registry::builder().tool(tool).build().expect("one name");
        let keys = ["a", "b", "x", "other"].map(str::to_owned);
        let values = ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "b"].map(str::to_owned);
        for _ in 0..10 {
            let levels = *random.pick(&[0, 2, 8, 20, 50, 120]);
            let value = nested(&mut random, levels, &keys, &values);
            let arguments = Value::Object(Map::from_iter([("value".to_owned(), value)]));
            watchdog.step(format!("{arguments} against {parameters}"));
            check(&registry, "hostile", &arguments);
        }
        watchdog.step(format!("the texts of {parameters}"));
        let _ = (Lock::new(&registry), Docs::new(&registry));
    }
}
