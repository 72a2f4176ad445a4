//! Values that a JSON Schema describes, generated from the schema alone.

use std::cell::RefCell;
use std::collections::HashMap;

use jsonschema::Validator;
use serde_json::{Map, Number, Value};

use crate::mutate;
use crate::random::Random;

/// Strings that match the patterns and formats of the table; samples are picked from those that
/// fit.
const WORDS: [&str; 37] = [
    "",
    "a",
    "b",
    "ab",
    "abc",
    "A",
    "Lisbon",
    "x-y",
    "é",
    "日本語",
    "\u{1f980}",
    "a\nb",
    "\"",
    "\\",
    "\u{0}",
    "0",
    "-1",
    "7",
    "42",
    "300",
    "AB-123",
    "zz9",
    "no",
    "yes",
    "a b",
    "127.0.0.1",
    "::1",
    "10.0.0.255",
    "2001:db8::ff",
    "[::1]:80",
    "127.0.0.1:8080",
    "a@b.pt",
    "2026-11-21",
    "/tmp/x",
    "1.2",
    "[2001:db8::ff]:443",
    "10.0.0.1:1",
];

/// Generates values of one schema.
pub struct Sampler<'s> {
    /// The document that references resolve in.
    root: &'s Value,
    schema: &'s Value,
}

impl<'s> Sampler<'s> {
    /// Creates a sampler of a whole schema.
    pub fn new(root: &'s Value) -> Sampler<'s> {
        Sampler { root, schema: root }
    }

    /// Creates a sampler of a part of a schema.
    pub fn within(root: &'s Value, schema: &'s Value) -> Sampler<'s> {
        Sampler { root, schema }
    }

    /// Returns a value that the schema describes, unless no known text fits a pattern or a step.
    pub fn sample(&self, random: &mut Random) -> Value {
        self.value(self.schema, random, 0)
    }

    fn value(&self, schema: &Value, random: &mut Random, depth: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            // A type that always contains itself has no values.
            if depth > 12 {
                return Value::Null;
            }
            let target = self.root.pointer(reference.trim_start_matches('#'));
            return self.value(target.unwrap_or(&Value::Null), random, depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema["enum"].as_array() {
            return random.pick(values).clone();
        }
        if let Some(schemas) = schema["anyOf"].as_array() {
            // Deep down, take the last: this ends a recursive type.
            let schema = if depth > 6 {
                schemas
                    .iter()
                    .min_by_key(|schema| schema.to_string().contains("$ref"))
            } else {
                Some(random.pick(schemas))
            };
            return self.value(schema.unwrap_or(&Value::Null), random, depth + 1);
        }
        match schema["type"].as_str() {
            None => mutate::any(random, 2),
            Some("boolean") => Value::Bool(random.percent(50)),
            Some("integer") => integer(schema, random),
            Some("number") => number(schema, random),
            Some("string") => Value::String(text(schema, random)),
            Some("array") => self.array(schema, random, depth),
            Some("object") => self.object(schema, random, depth),
            Some(_) => Value::Null,
        }
    }

    fn array(&self, schema: &Value, random: &mut Random, depth: usize) -> Value {
        if let Some(items) = schema["prefixItems"].as_array() {
            return items
                .iter()
                .map(|item| self.value(item, random, depth + 1))
                .collect();
        }
        let count = size(schema, ["minItems", "maxItems"], random, depth);
        let mut items: Vec<Value> = Vec::new();
        for _ in 0..count {
            let item = self.value(&schema["items"], random, depth + 1);
            if schema["uniqueItems"] != Value::Bool(true) || !items.contains(&item) {
                items.push(item);
            }
        }
        Value::Array(items)
    }

    fn object(&self, schema: &Value, random: &mut Random, depth: usize) -> Value {
        let mut members = Map::new();
        let is_map = schema.get("required").is_none() && schema.get("minProperties").is_some();
        for (key, member) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = schema["required"]
                .as_array()
                .is_some_and(|r| r.iter().any(|name| name == key));
            let chance = if depth > 6 {
                0
            } else if is_map {
                90
            } else {
                70
            };
            if is_required || random.percent(chance) {
                members.insert(key.clone(), self.value(member, random, depth + 1));
            }
        }
        let (keys, values) = match schema["patternProperties"]
            .as_object()
            .and_then(|all| all.iter().next())
        {
            Some((pattern, values)) => (Some(pattern), Some(values)),
            None => (None, schema.get("additionalProperties")),
        };
        let is_closed = values == Some(&Value::Bool(false))
            || values.is_none() && schema.get("properties").is_some();
        if !is_closed {
            let count = size(schema, ["minProperties", "maxProperties"], random, depth);
            for _ in 0..count * 3 {
                if members.len() >= count {
                    break;
                }
                let key = match keys {
                    // The only key patterns are one character and digits.
                    Some(pattern) if pattern.contains("\\s") => {
                        (*random.pick(&["a", "é", "\u{1f980}", "\n", "7"])).to_owned()
                    }
                    Some(_) => (*random.pick(&[
                        "0",
                        "1",
                        "2",
                        "7",
                        "42",
                        "256",
                        "40000",
                        "9223372036854775808",
                    ]))
                    .to_owned(),
                    None => random.pick(&WORDS).to_string(),
                };
                if members.get(&key).is_none() {
                    members.insert(
                        key,
                        self.value(
                            values.unwrap_or(&Value::Object(Map::new())),
                            random,
                            depth + 1,
                        ),
                    );
                }
            }
        }
        Value::Object(members)
    }
}

/// Returns a number of items or members within the bounds, usually small.
fn size(schema: &Value, [least, most]: [&str; 2], random: &mut Random, depth: usize) -> usize {
    let bound = |key: &str| {
        schema[key]
            .as_u64()
            .and_then(|bound| usize::try_from(bound).ok())
    };
    let least = bound(least).unwrap_or(0);
    let room = if depth > 6 { 0 } else { 3 };
    let most = bound(most).unwrap_or(least + room).min(least + room);
    least + random.below(most + 1 - least.min(most))
}

fn text(schema: &Value, random: &mut Random) -> String {
    let fitting: Vec<&str> = match schema["format"].as_str() {
        Some("ipv4") => vec!["127.0.0.1", "10.0.0.255", "0.0.0.0"],
        Some("ipv6") => vec!["::1", "2001:db8::ff", "::", "::ffff:1.2.3.4"],
        _ => WORDS.to_vec(),
    };
    let bound = |key: &str| {
        schema[key]
            .as_u64()
            .and_then(|bound| usize::try_from(bound).ok())
    };
    let (least, most) = (
        bound("minLength").unwrap_or(0),
        bound("maxLength").unwrap_or(usize::MAX),
    );
    let is_fit =
        |word: &&&str| (least..=most).contains(&word.chars().count()) && matches(schema, word);
    let fitting: Vec<_> = fitting.iter().filter(is_fit).copied().collect();
    if fitting.is_empty() {
        "a".repeat(least)
    } else {
        (*random.pick(&fitting)).to_owned()
    }
}

thread_local! {
    /// Validators of the patterns seen so far.
    static PATTERNS: RefCell<HashMap<String, Validator>> = RefCell::default();
}

/// Returns `true` if the independent validator matches a word against the schema's pattern.
fn matches(schema: &Value, word: &str) -> bool {
    let Some(pattern) = schema["pattern"].as_str() else {
        return true;
    };
    PATTERNS.with_borrow_mut(|validators| {
        let validator = validators.entry(pattern.to_owned()).or_insert_with(|| {
            let schema = serde_json::json!({ "pattern": pattern });
            jsonschema::validator_for(&schema).expect("an emitted pattern is one")
        });
        validator.is_valid(&Value::String(word.into()))
    })
}

fn integer(schema: &Value, random: &mut Random) -> Value {
    let bound = |key: &str| schema[key].as_i64().map(i128::from);
    let step = bound("multipleOf").unwrap_or(1);
    let least = bound("minimum")
        .or(bound("maximum").map(|most| most - 200))
        .unwrap_or(-100);
    let most = bound("maximum").unwrap_or(least + 200);
    let number = match random.below(6) {
        0 => least,
        1 => most,
        2 if bound("maximum").is_none() => i128::from(i32::MAX) + 1,
        3 if bound("maximum").is_none() => i128::from(u64::MAX),
        4 if bound("minimum").is_none() => i128::from(i64::MIN),
        _ => {
            least + i128::from(random.word() % u64::try_from(most - least + 1).unwrap_or(1).max(1))
        }
    };
    let mut number = number - number.rem_euclid(step);
    if number < least && least <= most {
        number += step;
    }
    if random.percent(5) && number.abs() < 1 << 50 {
        #[allow(clippy::cast_precision_loss)]
        return Value::from(number as f64);
    }
    match (i64::try_from(number), u64::try_from(number)) {
        (Ok(number), _) => Value::from(number),
        (_, Ok(number)) => Value::from(number),
        _ => Value::from(0),
    }
}

fn number(schema: &Value, random: &mut Random) -> Value {
    let bound = |key: &str, exclusive: &str| schema[key].as_f64().or(schema[exclusive].as_f64());
    let least = bound("minimum", "exclusiveMinimum");
    let most = bound("maximum", "exclusiveMaximum");
    if let Some(step) = schema["multipleOf"].as_f64() {
        let from = (least.or(most).unwrap_or(0.0) / step).ceil();
        #[allow(clippy::cast_precision_loss)]
        let steps = from + random.below(5) as f64;
        return Value::from(steps * step);
    }
    #[allow(clippy::cast_precision_loss)]
    let part = random.below(1001) as f64 / 1000.0;
    let free = [0.0, -0.0, 1.0, -1.5, 0.1, 1e300, -1e300, 5e-324, 1e10];
    let number = match (least, most) {
        (Some(least), Some(most)) => least + (most - least) * part,
        (Some(least), None) => least + part * 10.0,
        (None, Some(most)) => most - part * 10.0,
        (None, None) => *random.pick(&free),
    };
    #[allow(clippy::cast_possible_truncation)]
    if number.fract() == 0.0 && number.abs() < 1e9 && random.percent(50) {
        Value::from(number as i64)
    } else {
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}
