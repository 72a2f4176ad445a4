//! The names that references in a tree refer to, and what they name.

use crate::schema::check::same;
use crate::schema::{Kind, Property, Schema};

/// The most recursive types that one schema may hold.
const RECURSIVE: usize = 16;

/// The names that references in a tree refer to.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    pub(super) names: [&'static str; RECURSIVE],
    pub(crate) count: usize,
}

impl Names {
    pub(super) const NONE: Names = Names {
        names: [""; RECURSIVE],
        count: 0,
    };

    /// The names of all references below `schema`.
    pub(crate) const fn of(schema: &Schema) -> Names {
        let mut names = Names::NONE;
        names.collect(schema);
        names
    }

    /// The names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.names.into_iter().take(self.count)
    }

    /// Adds the names of all references below `schema`.
    const fn collect(&mut self, schema: &Schema) {
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

    pub(crate) const fn hold(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.count {
            if same(self.names[at], name) {
                return true;
            }
            at += 1;
        }
        false
    }

    const fn resolve_in(&self, schema: &Schema) {
        let mut at = 0;
        while at < self.count {
            let name = self.names[at];
            let Some(definition) = find(schema, name) else {
                panic!(
                    "this schema refers to a recursive type that it does not contain; add \
                     `#[param(recursive)]` to the field that leads back to that type"
                )
            };
            check(schema, name, definition);
            at += 1;
        }
    }
}

/// Stops the build when what a tool's schemas refer to can't be told.
///
/// Most schemas refer to nothing, which costs one look at each parameter.
///
/// # Panics
///
/// When a name refers to nothing in the same schema, or to two unlike types.
pub(crate) const fn resolve(parameters: &'static [Property], output: Option<&'static Schema>) {
    let mut names = Names::NONE;
    let mut at = 0;
    while at < parameters.len() {
        let is_leaf = matches!(
            parameters[at].schema.kind,
            Kind::Any
                | Kind::Null
                | Kind::Boolean
                | Kind::Integer(_)
                | Kind::Number(_)
                | Kind::String(_)
                | Kind::Enum(_)
        );
        if !is_leaf {
            names.collect(parameters[at].schema);
        }
        at += 1;
    }
    if names.count > 0 {
        names.resolve_in(&Schema::object(parameters));
    }
    if let Some(output) = output {
        Names::of(output).resolve_in(output);
    }
}

/// The schema of this name in a tree.
pub(crate) const fn find<'s>(schema: &'s Schema, name: &str) -> Option<&'s Schema> {
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

/// Stops the build when two unlike types below `schema` have one name: a reference to one would
/// then describe the other.
const fn check(schema: &Schema, name: &str, definition: &Schema) {
    if same(schema.name, name) {
        assert!(
            alike(schema, definition),
            "two recursive types in this schema have the same name, perhaps one generic type \
             with different arguments; wrap one of them in a type with another name"
        );
        return;
    }
    match schema.kind {
        Kind::Nullable(inner) => check(inner, name, definition),
        Kind::Array(rule) => check(rule.items, name, definition),
        Kind::Map(rule) => check(rule.values, name, definition),
        Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
            let mut at = 0;
            while at < schemas.len() {
                check(schemas[at], name, definition);
                at += 1;
            }
        }
        Kind::Object(properties) => {
            let mut at = 0;
            while at < properties.len() {
                check(properties[at].schema, name, definition);
                at += 1;
            }
        }
        _ => {}
    }
}

/// Whether two schemas describe the same values, as far as their types can differ.
const fn alike(left: &Schema, right: &Schema) -> bool {
    match (&left.kind, &right.kind) {
        (Kind::Any, Kind::Any) | (Kind::Null, Kind::Null) | (Kind::Boolean, Kind::Boolean) => true,
        (Kind::Integer(left), Kind::Integer(right)) => {
            left.minimum == right.minimum
                && left.maximum == right.maximum
                && left.multiple_of == right.multiple_of
        }
        (Kind::Number(left), Kind::Number(right)) => {
            left.minimum.is_some() == right.minimum.is_some()
                && left.maximum.is_some() == right.maximum.is_some()
        }
        (Kind::String(left), Kind::String(right)) => {
            same(left.pattern.as_str(), right.pattern.as_str())
                && same(left.format, right.format)
                && left.lengths.minimum == right.lengths.minimum
                && left.lengths.maximum == right.lengths.maximum
        }
        (Kind::Enum(left), Kind::Enum(right)) => {
            let mut at = 0;
            while at < left.values.len() && at < right.values.len() {
                if !same(left.values[at].as_str(), right.values[at].as_str()) {
                    return false;
                }
                at += 1;
            }
            left.values.len() == right.values.len()
        }
        (Kind::Array(left), Kind::Array(right)) => alike(left.items, right.items),
        (Kind::Map(left), Kind::Map(right)) => {
            alike(left.keys, right.keys) && alike(left.values, right.values)
        }
        (Kind::AnyOf(left), Kind::AnyOf(right)) | (Kind::Tuple(left), Kind::Tuple(right)) => {
            let mut at = 0;
            while at < left.len() && at < right.len() {
                if !alike(left[at], right[at]) {
                    return false;
                }
                at += 1;
            }
            left.len() == right.len()
        }
        (Kind::Object(left), Kind::Object(right)) => {
            let mut at = 0;
            while at < left.len() && at < right.len() {
                let is_alike = same(left[at].name(), right[at].name())
                    && left[at].required == right[at].required
                    && alike(left[at].schema, right[at].schema);
                if !is_alike {
                    return false;
                }
                at += 1;
            }
            left.len() == right.len()
        }
        (Kind::Nullable(left), Kind::Nullable(right)) => alike(left, right),
        (Kind::Reference(left), Kind::Reference(right)) => same(left.name, right.name),
        _ => false,
    }
}
