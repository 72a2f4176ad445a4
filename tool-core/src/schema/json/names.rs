//! The names that references in a tree refer to, and what they name.

use crate::schema::check::same;
use crate::schema::{Kind, Schema};

/// The most recursive types that one schema may hold.
const RECURSIVE: usize = 16;

/// The names that references in a tree refer to.
#[derive(Clone, Copy)]
pub(super) struct Names {
    pub(super) names: [&'static str; RECURSIVE],
    pub(super) count: usize,
}

impl Names {
    pub(super) const NONE: Names = Names {
        names: [""; RECURSIVE],
        count: 0,
    };

    /// Adds the names of all references below `schema`.
    pub(super) const fn collect(&mut self, schema: &Schema) {
        match schema.kind {
            Kind::Reference(reference) if !self.hold(reference.name) => {
                assert!(
                    self.count < RECURSIVE,
                    "more than 16 recursive types in one schema; split the tool"
                );
                self.names[self.count] = reference.name;
                self.count += 1;
            }
            Kind::Nullable(inner) => self.collect(inner),
            Kind::Array(rule) => self.collect(rule.items),
            Kind::Map(rule) => self.collect(rule.values),
            Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
                let mut at = 0;
                while at < schemas.len() {
                    self.collect(schemas[at]);
                    at += 1;
                }
            }
            Kind::Object(properties) => {
                let mut at = 0;
                while at < properties.len() {
                    self.collect(properties[at].schema);
                    at += 1;
                }
            }
            _ => {}
        }
    }

    pub(super) const fn hold(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.count {
            if same(self.names[at], name) {
                return true;
            }
            at += 1;
        }
        false
    }
}

/// The schema of this name in a tree.
pub(super) const fn find<'s>(schema: &'s Schema, name: &str) -> Option<&'s Schema> {
    if same(schema.name, name) {
        return Some(schema);
    }
    match schema.kind {
        Kind::Nullable(inner) => find(inner, name),
        Kind::Array(rule) => find(rule.items, name),
        Kind::Map(rule) => find(rule.values, name),
        Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
            let mut at = 0;
            while at < schemas.len() {
                if let Some(found) = find(schemas[at], name) {
                    return Some(found);
                }
                at += 1;
            }
            None
        }
        Kind::Object(properties) => {
            let mut at = 0;
            while at < properties.len() {
                if let Some(found) = find(properties[at].schema, name) {
                    return Some(found);
                }
                at += 1;
            }
            None
        }
        _ => None,
    }
}
