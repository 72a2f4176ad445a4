//! Checks of a schema tree at compile time.
//!
//! The macro emits a constant for each check, with the span of what is checked, so that the compile
//! error underlines it.

use super::{ExtraForms, Kind, Property, Schema, Text};

/// A literal in the source: a default or an example.
pub enum Literal {
    /// `true` or `false`.
    Boolean(bool),
    /// An integer of up to 128 bits.
    Integer(i128),
    /// Any other number.
    Number(f64),
    /// A string and its number of characters.
    String(&'static str, usize),
    /// A list.
    Array(&'static [Literal]),
}

/// Checks that `literal` matches `schema`. The macro checks patterns, since it sees both.
///
/// # Panics
///
/// Panics with `message` if it does not match.
pub const fn fits(schema: &Schema, literal: &Literal, message: &str) {
    if !accepts(schema, literal) {
        panic!("{}", message);
    }
}

const fn accepts(schema: &Schema, literal: &Literal) -> bool {
    match (&schema.kind, literal) {
        (Kind::Any, _) | (Kind::Boolean, Literal::Boolean(_)) => true,
        (Kind::Nullable(inner), _) => accepts(inner, literal),
        (Kind::AnyOf(schemas), _) => {
            let mut at = 0;
            while at < schemas.len() {
                if accepts(schemas[at], literal) {
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
        #[allow(clippy::cast_precision_loss, reason = "the bounds are floats too")]
        (Kind::Number(_), Literal::Integer(number)) => accepts_number(schema, *number as f64),
        (Kind::Number(_), Literal::Number(number)) => accepts_number(schema, *number),
        (Kind::String(rule), Literal::String(_, length)) => rule.lengths.accepts(*length),
        (Kind::Enum(strings), Literal::String(text, _)) => contains(strings.values, text),
        (Kind::Array(rule), Literal::Array(items)) => {
            let mut at = 0;
            while at < items.len() {
                if !accepts(rule.items, &items[at]) {
                    return false;
                }
                at += 1;
            }
            rule.lengths.accepts(items.len())
        }
        (Kind::Tuple(schemas), Literal::Array(items)) => {
            let mut at = 0;
            while at < items.len() && at < schemas.len() {
                if !accepts(schemas[at], &items[at]) {
                    return false;
                }
                at += 1;
            }
            items.len() == schemas.len()
        }
        _ => false,
    }
}

const fn accepts_number(schema: &Schema, number: f64) -> bool {
    let Kind::Number(range) = schema.kind else {
        return false;
    };
    if let Some(bound) = range.minimum
        && bound.is_above(number)
    {
        return false;
    }
    if let Some(bound) = range.maximum
        && bound.is_below(number)
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

/// Returns `true` if some value equals `text`.
const fn contains(values: &[Text], text: &str) -> bool {
    let mut at = 0;
    while at < values.len() {
        if same(values[at].as_str(), text) {
            return true;
        }
        at += 1;
    }
    false
}

/// Compares two texts.
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

/// Creates the schema of an untagged enum.
///
/// # Panics
///
/// Panics if serde could decode a value of one variant as an earlier one: it tries the variants in
/// order, and a struct accepts any object that has its fields. The later variant's other fields
/// would silently be lost.
pub const fn untagged(schemas: &'static [&'static Schema]) -> Schema {
    let mut later = 1;
    while later < schemas.len() {
        let mut earlier = 0;
        while earlier < later {
            assert!(
                !shadows(schemas[earlier], schemas[later]),
                "serde would decode a later variant as an earlier one, which ignores unknown \
                 fields; put the variant with more fields first, or add \
                 `#[serde(deny_unknown_fields)]` to the earlier one"
            );
            earlier += 1;
        }
        later += 1;
    }
    Schema::any_of(schemas)
}

/// Returns `true` if serde may decode a value of `later` as `earlier`, in a form that the schema of
/// `earlier` does not describe.
const fn shadows(earlier: &Schema, later: &Schema) -> bool {
    if let ExtraForms::Several = earlier.extra_forms {
        return matches!(json_type(later), ANY | NUMBER | STRING | ARRAY);
    }
    let Kind::Object(required) = earlier.kind else {
        return false;
    };
    match (&later.kind, earlier.extra_forms) {
        (_, ExtraForms::None | ExtraForms::Several) => false,
        (Kind::Array(_) | Kind::Tuple(_), _) => true,
        (Kind::Map(_), ExtraForms::Lax) => true,
        (Kind::Object(members), ExtraForms::Lax) => {
            let mut at = 0;
            while at < required.len() {
                let wanted = &required[at];
                if wanted.required {
                    match find(members, wanted.name()) {
                        Some(member) if may_overlap(wanted.schema, member.schema) => {}
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

/// Returns `true` if a value could match both schemas, judging by their kinds and tags.
const fn may_overlap(left: &Schema, right: &Schema) -> bool {
    match (&left.kind, &right.kind) {
        (Kind::Enum(left), Kind::Enum(right)) => {
            let mut at = 0;
            while at < left.values.len() {
                if contains(right.values, left.values[at].as_str()) {
                    return true;
                }
                at += 1;
            }
            left.is_open || right.is_open
        }
        _ => {
            let (left, right) = (json_type(left), json_type(right));
            left == ANY || right == ANY || left == right
        }
    }
}

// The JSON types; constants because `==` of an enum is not constant.
const ANY: u8 = 0;
const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const NUMBER: u8 = 3;
const STRING: u8 = 4;
const ARRAY: u8 = 5;
const OBJECT: u8 = 6;

const fn json_type(schema: &Schema) -> u8 {
    match schema.kind {
        Kind::Null => NULL,
        Kind::Boolean => BOOLEAN,
        Kind::Integer(_) | Kind::Number(_) => NUMBER,
        Kind::String(_) | Kind::Enum(_) => STRING,
        Kind::Array(_) | Kind::Tuple(_) => ARRAY,
        Kind::Map(_) | Kind::Object(_) => OBJECT,
        Kind::Any | Kind::AnyOf(_) | Kind::Nullable(_) | Kind::Reference(_) => ANY,
    }
}
