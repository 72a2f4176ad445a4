//! Fields of a request's body.

use serde_json::{Map, Value};

/// Adds a field of the body. `null` stays as a mark, because it removes a field of the tools, too.
pub(super) fn add(body: &mut Map<String, Value>, key: String, value: Value) {
    match value {
        Value::Null => drop(body.insert(key, Value::Null)),
        value => merge(body, key, value),
    }
}

/// Merges an object into an existing one, removes a value for `null`, or replaces it.
fn merge(target: &mut Map<String, Value>, key: String, value: Value) {
    match (target.get_mut(&key), value) {
        (Some(_), Value::Null) => drop(target.remove(&key)),
        (Some(Value::Object(inner)), Value::Object(value)) => {
            for (key, value) in value {
                merge(inner, key, value);
            }
        }
        (_, value) => {
            target.insert(key, value);
        }
    }
}

/// Sets a value at a path, and creates missing objects on the way.
pub(super) fn set(target: &mut Map<String, Value>, path: &[&str], value: Value) {
    let (last, outer) = path.split_last().unwrap_or((&"", &[]));
    let inner = Map::from_iter([((*last).to_owned(), value)]);
    let wrapped = outer.iter().rev().fold(inner, |inner, key| {
        Map::from_iter([((*key).to_owned(), Value::Object(inner))])
    });
    for (key, value) in wrapped {
        merge(target, key, value);
    }
}
