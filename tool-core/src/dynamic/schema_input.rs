//! [`SchemaInput`]: a schema as it was given to a builder.

use serde_json::Value;

use crate::schema::Schema;
use crate::schema::validate::{ValidateError, normalise};

/// A schema, in the order of its keys if that is known.
#[derive(Clone, Debug)]
pub(super) enum SchemaInput {
    Value(Value),
    /// JSON text, which is sent as it is. A `Value` mostly sorts its keys.
    Text(String),
}

/// A schema to judge by, and the JSON text of it to send.
pub(super) struct Read {
    pub(super) schema: Value,
    pub(super) text: String,
}

impl SchemaInput {
    /// Reads it. What is wrong with a text is reported with its place.
    pub(super) fn read(self, report: &mut dyn FnMut(&str, &str)) -> Option<Read> {
        let text = match self {
            SchemaInput::Text(text) => text,
            SchemaInput::Value(schema) => {
                let text = schema.to_string();
                return Some(Read { schema, text });
            }
        };
        let schema = match serde_json::from_str(&text) {
            Ok(schema) => schema,
            Err(error) => {
                report("", &format!("is no JSON: {error}"));
                return None;
            }
        };
        // Of a key that comes twice, one reader may take the first and another the last.
        if let Err(ValidateError::Invalid(violations)) = normalise(&Schema::ANY, &text, false) {
            for violation in violations.into_parts().0 {
                report(violation.path(), violation.message());
            }
            return None;
        }
        let text = minified(&text);
        Some(Read { schema, text })
    }
}

impl Read {
    /// The same with a list of its keys, if it is an object without: some providers refuse those.
    pub(super) fn with_properties(mut self) -> Read {
        if let Value::Object(members) = &mut self.schema
            && !members.contains_key("properties")
        {
            members.insert("properties".into(), Value::Object(serde_json::Map::new()));
            let end = self.text.len() - 1;
            let comma = if members.len() > 1 { "," } else { "" };
            self.text
                .insert_str(end, &format!("{comma}\"properties\":{{}}"));
        }
        self
    }
}

/// JSON text without the white space between its parts.
fn minified(text: &str) -> String {
    let mut is_inside = false;
    let mut is_escaped = false;
    let kept = text.chars().filter(|&character| {
        match character {
            '"' if !is_escaped => is_inside = !is_inside,
            ' ' | '\t' | '\n' | '\r' if !is_inside => return false,
            _ => {}
        }
        is_escaped = character == '\\' && !is_escaped;
        true
    });
    kept.collect()
}
