//! [`Names`]: the recursive types of a tree.

use crate::schema::{Kind, Schema};

/// The types that references refer to.
#[derive(Default)]
pub(super) struct Names {
    pub(super) found: Vec<(&'static str, &'static Schema)>,
}

impl Names {
    pub(super) fn of(schema: &Schema) -> Names {
        let mut names = Names::default();
        names.collect(schema);
        names
    }

    fn collect(&mut self, schema: &Schema) {
        match schema.kind {
            Kind::Reference(reference) if !self.hold(reference.name) => {
                self.found.push((reference.name, (reference.target)()));
            }
            Kind::Nullable(inner) => self.collect(inner),
            Kind::Array(rule) => self.collect(rule.items),
            Kind::Map(rule) => self.collect(rule.values),
            Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
                for schema in schemas {
                    self.collect(schema);
                }
            }
            Kind::Object(properties) => {
                for property in properties {
                    self.collect(property.schema);
                }
            }
            _ => {}
        }
    }

    pub(super) fn hold(&self, name: &str) -> bool {
        self.found.iter().any(|(found, _)| *found == name)
    }
}
