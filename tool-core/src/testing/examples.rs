//! The examples and defaults that schemas show, against the schemas that show them.

use crate::registry::Registry;
use crate::schema::validate::conforms;
use crate::schema::{Kind, Schema};

/// What does not fit, in words.
pub(super) fn misfits(registry: &Registry) -> Vec<String> {
    let mut found = Vec::new();
    for tool in registry.specs() {
        look(tool.parameters(), &tool.name, &mut found);
    }
    found
}

fn look(schema: &Schema, path: &str, found: &mut Vec<String>) {
    match schema.kind {
        Kind::Object(properties) => {
            for property in properties {
                let path = format!("{path}, {}", property.name());
                for (what, text) in [("default", property.default), ("example", property.example)] {
                    let fits = conforms(property.schema, text) == Some(text.len());
                    let is_null = text == "null" && property.nullable;
                    if !text.is_empty() && !fits && !is_null {
                        found.push(format!("{path}: the {what} {text} does not fit the schema"));
                    }
                }
                look(property.schema, &path, found);
            }
        }
        Kind::Array(rule) => look(rule.items, path, found),
        Kind::Map(rule) => look(rule.values, path, found),
        Kind::Nullable(inner) => look(inner, path, found),
        Kind::Tuple(schemas) | Kind::AnyOf(schemas) => {
            for schema in schemas {
                look(schema, path, found);
            }
        }
        // What it refers to stands further up, and was looked at there.
        _ => {}
    }
}
