//! Rules over a schema tree that are judged while compiling.
//!
//! The macro emits one constant for each parameter, with the span of what is judged, so that a
//! broken rule underlines it.

use super::{Kind, Schema};

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
