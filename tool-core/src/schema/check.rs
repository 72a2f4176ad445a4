//! Rules over a schema tree that are judged while compiling.
//!
//! The macro emits one constant for each parameter, with the span of what is judged, so that a
//! broken rule underlines it.

use super::{Kind, Property, Reading, Schema};

/// A literal of the source, as a default or an example is one.
pub enum Literal {
    /// `true` or `false`
    Boolean(bool),
    /// A whole number that 128 bits hold.
    Integer(i128),
    /// Any other number.
    Number(f64),
    /// A string, and how many characters it has.
    String(&'static str, usize),
    /// A list.
    Array(&'static [Literal]),
}

/// Stops the build unless `literal` is a value that `schema` describes.
///
/// Patterns are not judged here but by the macro, which sees both.
///
/// # Panics
///
/// With `message`, when it is not.
pub const fn fits(schema: &Schema, literal: &Literal, message: &str) {
    if !admits(schema, literal) {
        panic!("{}", message);
    }
}

const fn admits(schema: &Schema, literal: &Literal) -> bool {
    match (&schema.kind, literal) {
        (Kind::Any, _) | (Kind::Boolean, Literal::Boolean(_)) => true,
        (Kind::Nullable(inner), _) => admits(inner, literal),
        (Kind::AnyOf(schemas), _) => {
            let mut at = 0;
            while at < schemas.len() {
                if admits(schemas[at], literal) {
                    return true;
                }
                at += 1;
            }
            false
        }
        (Kind::Integer(range), Literal::Integer(number)) => {
            range.minimum <= *number
                && *number <= range.maximum
                && (range.multiple_of == 0 || *number % range.multiple_of == 0)
        }
        // A literal of more than 53 bits is as near to its bounds as a float can be.
        #[allow(clippy::cast_precision_loss)]
        (Kind::Number(_), Literal::Integer(number)) => admits_number(schema, *number as f64),
        (Kind::Number(_), Literal::Number(number)) => admits_number(schema, *number),
        (Kind::String(rule), Literal::String(_, length)) => rule.lengths.admits(*length),
        (Kind::Enum(strings), Literal::String(text, _)) => {
            let mut at = 0;
            while at < strings.values.len() {
                if same(strings.values[at].as_str(), text) {
                    return true;
                }
                at += 1;
            }
            false
        }
        (Kind::Array(rule), Literal::Array(items)) => {
            let mut at = 0;
            while at < items.len() {
                if !admits(rule.items, &items[at]) {
                    return false;
                }
                at += 1;
            }
            rule.lengths.admits(items.len())
        }
        (Kind::Tuple(schemas), Literal::Array(items)) => {
            let mut at = 0;
            while at < items.len() && at < schemas.len() {
                if !admits(schemas[at], &items[at]) {
                    return false;
                }
                at += 1;
            }
            items.len() == schemas.len()
        }
        _ => false,
    }
}

const fn admits_number(schema: &Schema, number: f64) -> bool {
    let Kind::Number(range) = schema.kind else {
        return false;
    };
    if let Some(bound) = range.minimum
        && (number < bound.value || bound.is_exclusive && number <= bound.value)
    {
        return false;
    }
    if let Some(bound) = range.maximum
        && (number > bound.value || bound.is_exclusive && number >= bound.value)
    {
        return false;
    }
    if let Some(step) = range.multiple_of
        && number % step.value != 0.0
    {
        return false;
    }
    -range.magnitude <= number && number <= range.magnitude
}

/// Whether two texts are the same.
pub(crate) const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut at = 0;
    while at < left.len() {
        if left[at] != right[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Stops the build when serde would read a value that one of these schemas describes as another,
/// earlier one: it tries the variants of an untagged enum in turn, and a struct takes whatever has
/// its fields.
///
/// # Panics
///
/// When that could happen; what the later variant has more would be lost without a word.
pub const fn untagged(schemas: &'static [&'static Schema]) -> Schema {
    let mut later = 1;
    while later < schemas.len() {
        let mut earlier = 0;
        while earlier < later {
            assert!(
                !takes(schemas[earlier], schemas[later]),
                "serde would decode a value of a later variant as an earlier one, which ignores \
                 unknown fields; put the variant with more fields first, or add \
                 `#[serde(deny_unknown_fields)]` to the earlier one"
            );
            earlier += 1;
        }
        later += 1;
    }
    Schema::any_of(schemas)
}

/// Whether serde may take a value of `later` for one of `earlier` that the schema does not
/// describe.
const fn takes(earlier: &Schema, later: &Schema) -> bool {
    if let Reading::Several = earlier.reading {
        // Any, numbers, strings and arrays.
        return matches!(json_type(later), 0 | 3 | 4 | 5);
    }
    let Kind::Object(required) = earlier.kind else {
        return false;
    };
    match (&later.kind, earlier.reading) {
        (_, Reading::Exact | Reading::Several) => false,
        (Kind::Array(_) | Kind::Tuple(_), _) => true,
        (Kind::Map(_), Reading::Lax) => true,
        (Kind::Object(members), Reading::Lax) => {
            let mut at = 0;
            while at < required.len() {
                let wanted = &required[at];
                if wanted.required {
                    match find(members, wanted.name()) {
                        Some(member) if may_be_same(wanted.schema, member.schema) => {}
                        _ => return false,
                    }
                }
                at += 1;
            }
            true
        }
        _ => false,
    }
}

const fn find(members: &'static [Property], name: &str) -> Option<&'static Property> {
    let mut at = 0;
    while at < members.len() {
        if same(members[at].name(), name) {
            return Some(&members[at]);
        }
        at += 1;
    }
    None
}

/// Whether a value of one schema could be one of the other, from their kinds alone.
const fn may_be_same(left: &Schema, right: &Schema) -> bool {
    match (&left.kind, &right.kind) {
        (Kind::Enum(left), Kind::Enum(right)) => {
            let mut at = 0;
            while at < left.values.len() {
                let mut other = 0;
                while other < right.values.len() {
                    if same(left.values[at].as_str(), right.values[other].as_str()) {
                        return true;
                    }
                    other += 1;
                }
                at += 1;
            }
            left.is_open || right.is_open
        }
        _ => {
            let (left, right) = (json_type(left), json_type(right));
            left == 0 || right == 0 || left == right
        }
    }
}

/// A number for each type of JSON; 0 for any of them.
const fn json_type(schema: &Schema) -> u8 {
    match schema.kind {
        Kind::Null => 1,
        Kind::Boolean => 2,
        Kind::Integer(_) | Kind::Number(_) => 3,
        Kind::String(_) | Kind::Enum(_) => 4,
        Kind::Array(_) | Kind::Tuple(_) => 5,
        Kind::Map(_) | Kind::Object(_) => 6,
        Kind::Any | Kind::AnyOf(_) | Kind::Nullable(_) | Kind::Reference(_) => 0,
    }
}
