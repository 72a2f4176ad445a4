//! Random JSON Schemas, and near copies of them.

use serde_json::{Map, Value, json};

use crate::random::Random;

/// Returns a schema, nested at most `depth` deep.
pub fn any(random: &mut Random, depth: usize) -> Value {
    let mut schema = match random.below(if depth == 0 { 6 } else { 12 }) {
        0 => json!({}),
        1 => json!({ "type": "boolean" }),
        2 => json!({ "type": "null" }),
        3 => scalar(random, "integer"),
        4 => scalar(random, "number"),
        5 => scalar(random, "string"),
        6 => json!({ "type": "array", "items": any(random, depth - 1) }),
        7 => tuple(random, depth - 1),
        8 => json!({ "type": "object", "additionalProperties": any(random, depth - 1) }),
        9 => union(random, depth - 1),
        10 if random.percent(30) => json!({ "$ref": "#/$defs/Node" }),
        _ => object(random, depth - 1),
    };
    if random.percent(20) {
        schema["description"] = word(random).into();
    }
    if random.percent(20) && schema.get("$ref").is_none() {
        for _ in 0..=random.below(2) {
            constrain(&mut schema, random);
        }
    }
    schema
}

/// Returns a whole schema with a definition that may refer to itself.
pub fn document(random: &mut Random) -> Value {
    let mut schema = any(random, 3);
    if schema.get("$ref").is_some() {
        schema = json!({ "type": "array", "items": schema });
    }
    let node = match random.below(3) {
        0 => {
            json!({ "anyOf": [any(random, 1), { "type": "array", "items": { "$ref": "#/$defs/Node" } }] })
        }
        1 => scalar(random, "string"),
        _ => object(random, 1),
    };
    schema["$defs"] = json!({ "Node": if is_itself(&node) { json!({}) } else { node } });
    schema
}

/// Returns `true` if a definition is only a reference to itself.
fn is_itself(node: &Value) -> bool {
    let union = node["anyOf"].as_array();
    node.get("$ref").is_some() || union.is_some_and(|members| members.iter().any(is_itself))
}

/// Applies one to three changes to a schema.
pub fn changed(schema: &Value, random: &mut Random) -> Value {
    let mut changed = schema.clone();
    for _ in 0..=random.below(2) {
        let mut place = random.below(count(&changed));
        change(&mut changed, &mut place, random);
    }
    if is_itself(&changed["$defs"]["Node"]) {
        schema.clone()
    } else {
        changed
    }
}

fn word(random: &mut Random) -> &'static str {
    ["a", "b", "c", "ab"][random.below(4)]
}

fn scalar(random: &mut Random, kind: &str) -> Value {
    let mut schema = json!({ "type": kind });
    if random.percent(50) {
        constrain(&mut schema, random);
    }
    schema
}

fn tuple(random: &mut Random, depth: usize) -> Value {
    let items: Vec<_> = (0..=random.below(2)).map(|_| any(random, depth)).collect();
    let rest = if random.percent(50) {
        Value::Bool(false)
    } else {
        any(random, depth)
    };
    json!({ "type": "array", "prefixItems": items, "items": rest })
}

fn union(random: &mut Random, depth: usize) -> Value {
    let members = (0..=random.below(3)).map(|_| {
        if random.percent(50) {
            variant(random, depth)
        } else {
            any(random, depth)
        }
    });
    json!({ "anyOf": members.collect::<Vec<_>>() })
}

fn variant(random: &mut Random, depth: usize) -> Value {
    let mut schema = object(random, depth);
    schema["properties"]["kind"] = json!({ "type": "string", "const": word(random) });
    schema["required"] = json!(["kind"]);
    schema
}

fn object(random: &mut Random, depth: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for _ in 0..random.below(4) {
        let key = word(random);
        properties.insert(key.to_owned(), any(random, depth));
        if random.percent(40) && !required.contains(&key) {
            required.push(key);
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties, "required": required });
    match random.below(5) {
        0 => {}
        1 => schema["additionalProperties"] = any(random, depth),
        _ => schema["additionalProperties"] = Value::Bool(false),
    }
    if random.percent(10) {
        schema["patternProperties"] = json!({ "^a": any(random, depth) });
    }
    schema
}

/// Adds or replaces a keyword.
fn constrain(schema: &mut Value, random: &mut Random) {
    let number = |random: &mut Random| {
        random
            .pick(&[
                json!(-1),
                json!(0),
                json!(1),
                json!(2),
                json!(0.5),
                json!(2.0),
            ])
            .clone()
    };
    let count = |random: &mut Random| json!(random.below(4));
    let (key, value) = match random.below(18) {
        0 => ("minimum", number(random)),
        1 => ("maximum", number(random)),
        2 => ("exclusiveMinimum", number(random)),
        3 => ("exclusiveMaximum", number(random)),
        4 => (
            "multipleOf",
            random
                .pick(&[json!(1), json!(2), json!(4), json!(0.5), json!(3)])
                .clone(),
        ),
        5 => ("minLength", count(random)),
        6 => ("maxLength", count(random)),
        7 => ("minItems", count(random)),
        8 => ("maxItems", count(random)),
        9 => ("minProperties", count(random)),
        10 => ("maxProperties", count(random)),
        11 => ("uniqueItems", Value::Bool(random.percent(50))),
        12 => ("pattern", random.pick(&[json!("a"), json!("^.$")]).clone()),
        13 => {
            let all = [
                json!("a"),
                json!("b"),
                json!(1),
                json!(1.0),
                json!(null),
                json!([1]),
            ];
            let values: Vec<_> = all.iter().filter(|_| random.percent(50)).cloned().collect();
            (
                "enum",
                if values.is_empty() {
                    json!(["c"])
                } else {
                    Value::from(values)
                },
            )
        }
        14 => ("allOf", json!([scalar(random, "number"), {}])),
        15 => ("not", scalar(random, "integer")),
        16 => ("default", count(random)),
        _ => ("const", number(random)),
    };
    schema[key] = value;
}

/// Returns the number of schemas in a schema.
fn count(schema: &Value) -> usize {
    1 + parts(schema).into_iter().map(count).sum::<usize>()
}

fn parts(schema: &Value) -> Vec<&Value> {
    let mut parts = Vec::new();
    for (key, value) in schema.as_object().into_iter().flatten() {
        match (&**key, value) {
            ("items" | "additionalProperties", part) => parts.push(part),
            ("prefixItems" | "anyOf", Value::Array(items)) => parts.extend(items),
            ("properties" | "$defs" | "patternProperties", Value::Object(members)) => {
                parts.extend(members.values());
            }
            _ => {}
        }
    }
    parts
}

/// Changes the schema with this number in pre-order.
fn change(schema: &mut Value, place: &mut usize, random: &mut Random) -> bool {
    if *place == 0 {
        *schema = other(schema.take(), random);
        return true;
    }
    *place -= 1;
    for (key, value) in schema.as_object_mut().into_iter().flatten() {
        let done = match (&**key, value) {
            ("items" | "additionalProperties", part) => change(part, place, random),
            ("prefixItems" | "anyOf", Value::Array(items)) => {
                items.iter_mut().any(|item| change(item, place, random))
            }
            ("properties" | "$defs" | "patternProperties", Value::Object(members)) => members
                .values_mut()
                .any(|member| change(member, place, random)),
            _ => false,
        };
        if done {
            return true;
        }
    }
    false
}

fn other(mut schema: Value, random: &mut Random) -> Value {
    let Some(members) = schema.as_object_mut() else {
        return any(random, 0);
    };
    let is_reference = members.contains_key("$ref");
    match random.below(12) {
        0 => {
            members.insert("description".into(), "other".into());
        }
        1 | 2 if !is_reference => {
            constrain(&mut schema, random);
        }
        3 | 4 => {
            let keys: Vec<_> = members
                .keys()
                .filter(|key| *key != "$defs")
                .cloned()
                .collect();
            if !keys.is_empty() && !is_reference {
                members.remove(random.pick(&keys));
            }
        }
        5 => {
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                properties.insert(word(random).into(), any(random, 1));
            }
        }
        6 => {
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                let key = properties.keys().next().cloned().unwrap_or_default();
                properties.remove(&key);
            }
        }
        7 => {
            if let Some(Value::Array(required)) = members.get_mut("required") {
                let key = Value::from(word(random));
                match required.iter().position(|name| *name == key) {
                    Some(at) => drop(required.remove(at)),
                    None => required.push(key),
                }
            }
        }
        8 => {
            if let Some(Value::Array(union)) = members.get_mut("anyOf") {
                union.push(any(random, 1));
            }
        }
        9 => {
            if let Some(Value::Array(union)) = members.get_mut("anyOf") {
                union.reverse();
                if union.len() > 1 && random.percent(50) {
                    union.pop();
                }
            }
        }
        10 if !members.contains_key("$defs") => {
            return json!({ "anyOf": [schema, { "type": "null" }] });
        }
        _ => {
            if let Some(Value::String(kind)) = members.get("type") {
                let kind = if kind == "integer" {
                    "number"
                } else {
                    "integer"
                };
                members.insert("type".into(), kind.into());
            }
        }
    }
    schema
}
