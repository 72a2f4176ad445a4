//! Removes characters that nobody sees from the schemas of foreign tools: a model would read them.

use super::repair::{Repair, Repairs};
use crate::ordered_json::keywords::{Drafts, Holds, Keyword};
use crate::ordered_json::{Json, pointer_below};
use crate::visible;

/// Removes hidden characters from a text of a tool.
pub(super) fn remove_from(text: &mut String, place: &str, repairs: &mut Repairs) {
    let visible = visible::remove(text);
    let count = text.chars().count() - visible.chars().count();
    if count > 0 {
        *text = visible.into_owned();
        repairs.push(Repair::Hidden {
            place: place.into(),
            count,
        });
    }
}

/// Removes hidden characters from a schema. Values of an `enum` with some are left out. Everything else that a call has to
/// repeat, such as a key, stays as it is.
pub(super) fn remove_from_schema(schema: &mut Json, place: &str, repairs: &mut Repairs) {
    let Json::Object(members) = schema else {
        if let Json::Array(items) = schema {
            for (at, item) in items.iter_mut().enumerate() {
                remove_from_schema(item, &format!("{place}/{at}"), repairs);
            }
        }
        return;
    };
    for (name, value) in members {
        let place = pointer_below(place, name);
        match Keyword::of(name) {
            Some(keyword) if keyword.holds == Holds::Data && keyword.enforced != Drafts::NONE => {
                remove_values(name, value, &place, repairs);
            }
            Some(keyword) if matches!(keyword.holds, Holds::Reference | Holds::Keys) => {}
            Some(keyword) if matches!(keyword.holds, Holds::Map | Holds::Properties) => {
                if let Json::Object(schemas) = value {
                    for (key, schema) in schemas {
                        remove_from_schema(schema, &pointer_below(&place, key), repairs);
                    }
                }
            }
            Some(keyword) if keyword.holds != Holds::Data => {
                remove_from_schema(value, &place, repairs);
            }
            _ => remove_from_data(value, &place, repairs),
        }
    }
}

fn remove_values(keyword: &str, value: &mut Json, place: &str, repairs: &mut Repairs) {
    let Json::Array(values) = value else {
        return;
    };
    let before = values.len();
    // A schema without values accepts nothing. Such a tool is rejected later.
    if keyword == "enum" && values.iter().any(|value| !has_hidden(value)) {
        values.retain(|value| !has_hidden(value));
    }
    let count = before - values.len();
    if count > 0 {
        let change = format!("{count} values with invisible characters were left out");
        repairs.rewritten(place, &change);
    }
}

fn remove_from_data(value: &mut Json, place: &str, repairs: &mut Repairs) {
    match value {
        Json::String(text) => remove_from(text, place, repairs),
        Json::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                remove_from_data(item, &format!("{place}/{at}"), repairs);
            }
        }
        Json::Object(members) => {
            for (key, value) in members {
                remove_from_data(value, &pointer_below(place, key), repairs);
            }
        }
        _ => {}
    }
}

/// Returns `true` if a string or a key has hidden characters.
pub(super) fn has_hidden(value: &Json) -> bool {
    let is_changed = |text: &str| visible::remove(text).len() < text.len();
    match value {
        Json::String(text) => is_changed(text),
        Json::Array(items) => items.iter().any(has_hidden),
        Json::Object(members) => {
            let mut members = members.iter();
            members.any(|(key, value)| is_changed(key) || has_hidden(value))
        }
        _ => false,
    }
}
