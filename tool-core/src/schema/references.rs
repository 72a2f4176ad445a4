//! References between recursive types: the names that a schema defines, and their targets.

use crate::schema::const_check::same;
use crate::schema::{Direction, Kind, Property, Results, Schema};

/// The most recursive types in one schema.
const RECURSIVE: usize = 16;

/// The names that references in a tree use.
#[derive(Clone, Copy)]
pub(crate) struct Names {
    pub(super) names: [&'static str; RECURSIVE],
    pub(crate) count: usize,
}

impl Names {
    pub(crate) const NONE: Names = Names {
        names: [""; RECURSIVE],
        count: 0,
    };

    /// Collects the names of all references in `schema`.
    pub(crate) const fn of(schema: &Schema, direction: Direction) -> Names {
        let mut names = Names::NONE;
        names.collect(schema, direction);
        names
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.names.into_iter().take(self.count)
    }

    #[track_caller]
    const fn collect(&mut self, schema: &Schema, direction: Direction) {
        if let Kind::Reference(reference) = schema.form(direction).kind
            && !self.contains(reference.name)
        {
            assert!(
                self.count < RECURSIVE,
                "more than 16 recursive types in one schema; split the tool"
            );
            self.names[self.count] = reference.name;
            self.count += 1;
        }
        let mut at = 0;
        while let Some(child) = schema.child(direction, at) {
            self.collect(child, direction);
            at += 1;
        }
    }

    pub(crate) const fn contains(&self, name: &str) -> bool {
        let mut at = 0;
        while at < self.count {
            if same(self.names[at], name) {
                return true;
            }
            at += 1;
        }
        false
    }

    #[track_caller]
    const fn resolve_in(&self, schema: &Schema, direction: Direction) {
        let mut at = 0;
        while at < self.count {
            let name = self.names[at];
            let Some(definition) = find(schema, name, direction) else {
                panic!(
                    "a field with `#[param(recursive)]` leads to a type that this schema does not \
                     contain: types that contain each other are described from the type to which the \
                     field leads; take or return that one, or move `#[param(recursive)]` to the field \
                     that leads back to the tool's own type; if that type is a tuple struct around an \
                     `Option`, give its field a name"
                )
            };
            check_same(schema, name, definition, direction);
            at += 1;
        }
    }
}

/// Returns `true` if arguments of a schema may contain a reference. The compiler evaluates it once for each type
/// of a parameter, so that [`resolve`] need not visit its schema for each tool.
pub(crate) const fn has_references(schema: &Schema) -> bool {
    !schema.kind.is_leaf() && Names::of(schema, Direction::Arguments).count > 0
}

/// Checks the references in a tool's schemas.
///
/// Most schemas have none, which costs one look at each parameter.
///
/// # Panics
///
/// Panics if a name is not defined in the same schema, or is defined by two different types.
#[track_caller]
pub(crate) const fn resolve(parameters: &'static [Property], output: Option<&'static Schema>) {
    let mut names = Names::NONE;
    let mut at = 0;
    while at < parameters.len() {
        if parameters[at].has_references() && !parameters[at].schema.kind.is_leaf() {
            names.collect(parameters[at].schema, Direction::Arguments);
        }
        at += 1;
    }
    if names.count > 0 {
        names.resolve_in(&Schema::object(parameters), Direction::Arguments);
    }
    if let Some(output) = output
        && !(output.kind.is_leaf() && matches!(output.results, Results::Same))
    {
        Names::of(output, Direction::Result).resolve_in(output, Direction::Result);
    }
}

/// Finds the schema with this name in a tree.
pub(crate) const fn find<'s>(
    schema: &'s Schema,
    name: &str,
    direction: Direction,
) -> Option<&'s Schema> {
    if same(schema.name, name) {
        return Some(schema);
    }
    let mut at = 0;
    while let Some(child) = schema.child(direction, at) {
        if let Some(found) = find(child, name, direction) {
            return Some(found);
        }
        at += 1;
    }
    None
}

/// Checks that all types with this name are the same: a reference to one would describe the others.
#[track_caller]
const fn check_same(schema: &Schema, name: &str, definition: &Schema, direction: Direction) {
    if same(schema.name, name) {
        assert!(
            is_same_schema(schema, definition, direction),
            "two different recursive types have the same name in this schema, perhaps one type \
             with different parameters; wrap one of them in a type with another name"
        );
        return;
    }
    let mut at = 0;
    while let Some(child) = schema.child(direction, at) {
        check_same(child, name, definition, direction);
        at += 1;
    }
}

/// Returns `true` if two schemas describe the same values, as far as types of one name can differ.
const fn is_same_schema(left: &Schema, right: &Schema, direction: Direction) -> bool {
    let (left, right) = (left.form(direction), right.form(direction));
    let is_same_node = match (&left.kind, &right.kind) {
        (Kind::Any, Kind::Any)
        | (Kind::Null, Kind::Null)
        | (Kind::Boolean, Kind::Boolean)
        | (Kind::Array(_), Kind::Array(_))
        | (Kind::AnyOf(_), Kind::AnyOf(_))
        | (Kind::Tuple(_), Kind::Tuple(_))
        | (Kind::Nullable(_), Kind::Nullable(_)) => true,
        (Kind::Integer(left), Kind::Integer(right)) => left.is_same(right),
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
        (Kind::Map(left), Kind::Map(right)) => is_same_schema(left.keys, right.keys, direction),
        (Kind::Object(left), Kind::Object(right)) => {
            let mut at = 0;
            while at < left.len() && at < right.len() {
                let is_same = same(left[at].name(), right[at].name())
                    && left[at].is_required() == right[at].is_required();
                if !is_same {
                    return false;
                }
                at += 1;
            }
            left.len() == right.len()
        }
        (Kind::Reference(left), Kind::Reference(right)) => same(left.name, right.name),
        _ => false,
    };
    if !is_same_node {
        return false;
    }
    let mut at = 0;
    loop {
        match (left.child(direction, at), right.child(direction, at)) {
            (Some(left), Some(right)) if is_same_schema(left, right, direction) => at += 1,
            (None, None) => return true,
            _ => return false,
        }
    }
}
