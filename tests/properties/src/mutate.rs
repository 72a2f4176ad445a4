//! Values that a schema does not describe, or barely: mutations of values that it does.

mod text;

pub use text::{bytes, spelling};

use serde_json::{Map, Value, json};

use crate::exceptions::ALIASES;
use crate::random::Random;
use crate::sample::Sampler;

/// Returns any JSON value, nested at most `depth` deep.
pub fn any(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 7 } else { 9 }) {
        0 => Value::Null,
        1 => Value::Bool(random.percent(50)),
        2 => number(random),
        3 => number(random),
        4 => random
            .pick(&[
                json!(0.5),
                json!(1.0),
                json!(-0.0),
                json!(1e39),
                json!(-1e300),
                json!(20.0),
            ])
            .clone(),
        5 | 6 => Value::from(word(random)),
        7 => (0..random.below(4))
            .map(|_| any(random, depth - 1))
            .collect(),
        _ => Value::Object(
            (0..random.below(4))
                .map(|_| (word(random).to_owned(), any(random, depth - 1)))
                .collect(),
        ),
    }
}

fn word(random: &mut Random) -> &'static str {
    const WORDS: [&str; 31] = [
        "",
        "a",
        "ab",
        "é",
        "\u{1f980}",
        "value",
        "type",
        "kind",
        "content",
        "1",
        "-1",
        "01",
        "true",
        "null",
        "[]",
        "1.5",
        "A",
        "other",
        "unknown",
        "x\ny",
        "127.0.0.1",
        "256",
        "40000",
        "99999999999999999999",
        "also",
        "likewise",
        "disc",
        "crimson",
        "-0",
        "DEEP-RED",
        "Circle",
    ];
    WORDS[random.below(WORDS.len())]
}

fn number(random: &mut Random) -> Value {
    let bases: [i64; 22] = [
        0,
        1,
        -1,
        2,
        3,
        5,
        7,
        10,
        127,
        -128,
        255,
        32_767,
        -32_768,
        65_535,
        2_147_483_647,
        -2_147_483_648,
        4_294_967_295,
        i64::MAX,
        i64::MIN,
        999_999_999,
        64,
        100,
    ];
    if random.percent(5) {
        return Value::from(u64::MAX);
    }
    let base = *random.pick(&bases);
    Value::from(base.saturating_add(i64::try_from(random.below(3)).unwrap_or(0) - 1))
}

/// Applies one to three changes to a value.
pub fn value(value: &Value, schema: &Value, random: &mut Random) -> Value {
    let mut changed = value.clone();
    for _ in 0..=random.below(3) {
        let nodes = count(&changed);
        let mut place = random.below(nodes);
        if let Some(node) = find(&mut changed, &mut place) {
            change(node, schema, random);
        }
    }
    changed
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the node with this number in pre-order.
fn find<'v>(value: &'v mut Value, place: &mut usize) -> Option<&'v mut Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| find(item, place)),
        Value::Object(members) => members.values_mut().find_map(|member| find(member, place)),
        _ => None,
    }
}

fn change(node: &mut Value, schema: &Value, random: &mut Random) {
    match random.below(8) {
        0 => *node = any(random, 2),
        1 => *node = Value::Null,
        2 => *node = Value::Array(vec![node.take()]),
        3 => *node = constant(schema, random),
        4 => *node = respelled(node),
        _ => match node {
            Value::Array(items) => change_array(items, schema, random),
            Value::Object(members) => change_object(members, schema, random),
            Value::String(text) => change_text(text, random),
            Value::Number(_) => {
                let step = random.pick(&[1.0, -1.0, 0.5, 0.1, 256.0]);
                let number = node.as_f64().unwrap_or(0.0) + step;
                #[allow(clippy::cast_possible_truncation)]
                let whole = number as i64;
                *node = if number.fract() == 0.0 && random.percent(80) {
                    Value::from(whole)
                } else {
                    Value::from(number)
                };
            }
            _ => *node = any(random, 1),
        },
    }
}

/// Returns the value as another type: a quoted number, a struct as an array, a one-item list as its
/// item.
fn respelled(node: &mut Value) -> Value {
    match node.take() {
        Value::Array(mut items) if items.len() == 1 => items.remove(0),
        Value::Object(members) => members.into_iter().map(|(_, value)| value).collect(),
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        #[allow(clippy::cast_precision_loss)]
        Value::Number(number) if number.is_i64() => number
            .as_i64()
            .map_or(Value::Null, |number| Value::from(number as f64)),
        other => Value::String(other.to_string()),
    }
}

fn change_array(items: &mut Vec<Value>, schema: &Value, random: &mut Random) {
    match random.below(4) {
        0 => drop(items.pop()),
        1 => items.extend(items.first().cloned()),
        2 => items.push(constant(schema, random)),
        _ => items.reverse(),
    }
}

fn change_object(members: &mut Map<String, Value>, schema: &Value, random: &mut Random) {
    let keys: Vec<String> = members.keys().cloned().collect();
    let some = (!keys.is_empty()).then(|| random.pick(&keys).clone());
    match (random.below(6), some) {
        (0 | 1, Some(key)) => drop(members.remove(&key)),
        (2, Some(key)) => {
            let value = members.remove(&key).unwrap_or_default();
            members.insert(key.to_uppercase(), value);
        }
        (3, Some(key)) => {
            let value = members.remove(&key).unwrap_or_default();
            members.insert(key_of(schema, random), value);
        }
        (4, _) => drop(members.insert(key_of(schema, random), any(random, 1))),
        _ => drop(members.insert(word(random).to_owned(), constant(schema, random))),
    }
}

fn change_text(text: &mut String, random: &mut Random) {
    match random.below(7) {
        0 => *text = text.to_uppercase(),
        1 => *text = text.to_lowercase(),
        2 => text.push('x'),
        3 => drop(text.pop()),
        4 => text.push('\u{1f980}'),
        5 => random.pick(&ALIASES).1.clone_into(text),
        _ => word(random).clone_into(text),
    }
}

/// Returns a value from the schema or close to one: a bound, a listed value, a whole member.
fn constant(schema: &Value, random: &mut Random) -> Value {
    let mut place = random.below(count(schema));
    match look(schema, &mut place) {
        Some(found @ Value::Number(_)) => {
            let step = [-1, 0, 1][random.below(3)];
            let number = found.as_i64().map(|number| number.saturating_add(step));
            number.map_or_else(|| found.clone(), Value::from)
        }
        Some(part @ Value::Object(_)) if part.get("type").is_some() => {
            Sampler::within(schema, part).sample(random)
        }
        Some(found @ Value::String(_)) => found.clone(),
        _ => any(random, 1),
    }
}

fn look<'v>(value: &'v Value, place: &mut usize) -> Option<&'v Value> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter().find_map(|item| look(item, place)),
        Value::Object(members) => members.values().find_map(|member| look(member, place)),
        _ => None,
    }
}

/// Returns a key of any object in the schema.
fn key_of(schema: &Value, random: &mut Random) -> String {
    let aliases = ALIASES.iter().map(|(_, alias, _)| (*alias).to_owned());
    let mut keys: Vec<String> = aliases
        .take(if random.percent(30) { 9 } else { 1 })
        .collect();
    collect_keys(schema, &mut keys);
    random.pick(&keys).clone()
}

fn collect_keys(schema: &Value, keys: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            let properties = members.get("properties").and_then(Value::as_object);
            keys.extend(properties.into_iter().flat_map(|all| all.keys().cloned()));
            members
                .values()
                .for_each(|member| collect_keys(member, keys));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_keys(item, keys)),
        _ => {}
    }
}
