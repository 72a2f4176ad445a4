//! JSON text that does not depend on the order of keys, for hashes: a peer may order them anew.

use serde_json::{Map, Value};

/// Writes a value with sorted keys.
pub(crate) fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(object) => write_object(object, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write(item, out);
                out.push(',');
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Writes an object with sorted keys.
pub(crate) fn write_object(object: &Map<String, Value>, out: &mut String) {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (key, value) in members {
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push(':');
        write(value, out);
        out.push(',');
    }
    out.push('}');
}
