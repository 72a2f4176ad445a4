//! Changes that a comparison of lock files calls compatible are compatible for an independent
//! validator.
//!
//! `TOOL_CORE_LONG=1` compares many times as many pairs.

use jsonschema::Validator;
use properties::random::Random;
use properties::sample::Sampler;
use properties::{mutate, rounds, schemas};
use serde_json::{Value, json};
use tool_docs::lock::{Changes, Class, Lock, compare};

fn lock(key: &str, schema: &Value) -> Lock {
    let mut spec = json!({ "description": "D.", "parameters": {} });
    spec[key] = schema.clone();
    let lock = json!({ "version": 1, "tools": { "t": spec } });
    lock.to_string().parse().expect("it is a lock")
}

fn compared(key: &str, old: &Value, new: &Value) -> Changes {
    compare(&lock(key, old), &lock(key, new))
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error}: {schema}"))
}

/// Returns values that a schema accepts, or nearly.
fn values(schema: &Value, other: &Value, random: &mut Random) -> Vec<Value> {
    let mut values = Vec::new();
    for source in [schema, other] {
        let sampler = Sampler::new(source);
        for _ in 0..12 {
            let value = sampler.sample(random);
            values.push(mutate::value(&value, source, random));
            values.push(value);
        }
    }
    values
}

/// Returns the first value that one schema accepts and another rejects.
fn lost<'v>(values: &'v [Value], from: &Validator, to: &Validator) -> Option<&'v Value> {
    let mut lost = values.iter();
    lost.find(|value| from.is_valid(value) && !to.is_valid(value))
}

/// Returns the schema for readers that ignore unknown members.
fn opened(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.filter(|(key, value)| {
                *key != "additionalProperties" || **value != Value::Bool(false)
            });
            Value::Object(
                members
                    .map(|(key, value)| (key.clone(), opened(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(opened).collect(),
        other => other.clone(),
    }
}

#[test]
fn a_compatible_parameter_change_accepts_every_old_call() {
    let mut random = Random::new(7);
    let (mut accepted, mut counts) = (0, [0; 3]);
    for _ in 0..rounds(4000, 100_000) {
        let old = schemas::document(&mut random);
        let new = schemas::changed(&old, &mut random);
        let changes = compared("parameters", &old, &new);
        let Some(class) = changes.class() else {
            assert_eq!(old, new);
            continue;
        };
        counts[class as usize] += 1;
        if class == Class::Breaking {
            continue;
        }
        let (before, after) = (validator(&old), validator(&new));
        let values = values(&old, &new, &mut random);
        accepted += values.iter().filter(|value| before.is_valid(value)).count();
        let lost_one = lost(&values, &before, &after);
        assert!(
            lost_one.is_none(),
            "{lost_one:?} is lost\n{old}\n{new}\n{changes}"
        );
        if class == Class::Wording {
            let gained = lost(&values, &after, &before);
            assert!(
                gained.is_none(),
                "{gained:?} is gained\n{old}\n{new}\n{changes}"
            );
        }
    }
    println!("wording, compatible, breaking: {counts:?}; {accepted} values");
    assert!(counts.iter().all(|count| *count >= 400), "{counts:?}");
    assert!(accepted >= 10_000, "{accepted}");
}

#[test]
fn a_compatible_result_change_is_readable_by_old_readers() {
    let mut random = Random::new(8);
    let (mut accepted, mut compatible) = (0, 0);
    for _ in 0..rounds(4000, 100_000) {
        let old = schemas::document(&mut random);
        let new = schemas::changed(&old, &mut random);
        let changes = compared("output", &old, &new);
        if changes.class().is_none_or(|class| class == Class::Breaking) {
            continue;
        }
        compatible += 1;
        let (before, after) = (validator(&opened(&old)), validator(&new));
        let values = values(&new, &old, &mut random);
        accepted += values.iter().filter(|value| after.is_valid(value)).count();
        let odd = lost(&values, &after, &before);
        assert!(odd.is_none(), "{odd:?} is new\n{old}\n{new}\n{changes}");
    }
    println!("{compatible} pairs, {accepted} values");
    assert!(
        compatible >= 400 && accepted >= 5000,
        "{compatible} {accepted}"
    );
}

#[test]
fn two_random_schemas_are_never_wrongly_called_compatible() {
    let mut random = Random::new(9);
    let mut compatible = 0;
    for _ in 0..rounds(20_000, 1_000_000) {
        let [old, new] = [1, 1].map(|depth| schemas::any(&mut random, depth));
        if [&old, &new]
            .iter()
            .any(|schema| schema.to_string().contains("$ref"))
        {
            continue;
        }
        let changes = compared("parameters", &old, &new);
        if changes.class().is_none_or(|class| class == Class::Breaking) {
            continue;
        }
        compatible += 1;
        let values = values(&old, &new, &mut random);
        let lost = lost(&values, &validator(&old), &validator(&new)).cloned();
        assert!(lost.is_none(), "{lost:?} is lost\n{old}\n{new}\n{changes}");
    }
    println!("{compatible} pairs");
    assert!(compatible >= 500, "{compatible}");
}
