//! Applies `#[param(range, length, pattern, …)]` to schemas at compile time.
//!
//! Each function panics if the constraint does not fit the schema. In a constant that is a compile
//! error, to which the macro gives the span of the constraint. The message starts with `key`, the parameter or
//! field. With `#[track_caller]`, rustc does not show these functions.
//!
//! The macro checks whatever the spelling of a type tells it (`check/plain.rs` of `tool-macros`), with the
//! same words.

use super::const_string::ConstString;
use super::property::Flag;
use super::{
    ArrayRule, Bound, IntegerRange, Kind, Lengths, MapRule, Property, Schema, StringRule, Text,
};

/// Stops the build: an attribute of `key` does not fit its type.
#[track_caller]
pub(super) const fn misfit(key: &str, problem: &str) -> ! {
    let mut message: ConstString<400> = ConstString::new("`");
    message.push(key);
    message.push("`: ");
    message.push(problem);
    panic!("{}", message.as_str());
}

/// Stops the build: a range starts or ends outside of the type.
#[track_caller]
const fn outside(key: &str, relation: &str, end: &str, at: i128, held: &IntegerRange) -> ! {
    let mut problem: ConstString<300> = ConstString::new("the range ");
    problem.push(relation);
    problem.push(" at ");
    problem.integer(at);
    problem.push(", but the type holds ");
    problem.integer(held.minimum);
    problem.push(" to ");
    problem.integer(held.maximum);
    problem.push("; use ");
    problem.push(end);
    problem.push(" that the type can hold");
    misfit(key, problem.as_str())
}

/// Returns the schema that constraints apply to, without `null`.
pub const fn inner(schema: &'static Schema) -> &'static Schema {
    match schema.kind {
        Kind::Nullable(inner) => inner,
        _ => schema,
    }
}

/// Makes `narrow` nullable if `wide` is.
pub const fn as_nullable_as(wide: &Schema, narrow: &'static Schema) -> Schema {
    match wide.kind {
        Kind::Nullable(_) => Schema::nullable(narrow),
        _ => *narrow,
    }
}

/// Marks a property whose schema describes another type than the decoded one.
pub const fn inexact(property: Property) -> Property {
    property.without(Flag::Exact)
}

/// Copies a schema with another kind and without its name, because references by name mean the
/// unconstrained type.
const fn constrained(schema: &Schema, kind: Kind) -> Schema {
    Schema {
        kind,
        name: "",
        ..*schema
    }
}

/// Replaces the schema of a property with a narrower one.
pub const fn narrow(property: Property, schema: &'static Schema) -> Property {
    inexact(property).with_schema(schema)
}

/// `range = 1..=14` of integers.
#[track_caller]
pub const fn integers(
    schema: &Schema,
    key: &str,
    minimum: Option<i128>,
    maximum: Option<i128>,
) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Integer(range) = &mut narrow.kind else {
        if let Kind::Number(_) = schema.kind {
            misfit(
                key,
                "a range of floats needs float ends, such as `1.0..=14.0`",
            );
        }
        misfit(key, NO_RANGE);
    };
    let held = *range;
    if let Some(minimum) = minimum {
        if !(held.minimum <= minimum && minimum <= held.maximum) {
            outside(key, "starts", "a start", minimum, &held);
        }
        range.minimum = minimum;
        range.shows_minimum = true;
    }
    if let Some(maximum) = maximum {
        if !(held.minimum <= maximum && maximum <= held.maximum) {
            outside(key, "ends", "an end", maximum, &held);
        }
        range.maximum = maximum;
        range.shows_maximum = true;
    }
    narrow
}

const NO_RANGE: &str = "`range` applies only to numbers; use `length` for strings and arrays";

/// `range = 0.5..1.0` of floats.
#[track_caller]
pub const fn numbers(
    schema: &Schema,
    key: &str,
    minimum: Option<Bound>,
    maximum: Option<Bound>,
) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Number(range) = &mut narrow.kind else {
        if let Kind::Integer(_) = schema.kind {
            misfit(
                key,
                "a range of integers needs integer ends, such as `1..=14`",
            );
        }
        misfit(key, NO_RANGE);
    };
    if let Some(bound) = minimum {
        if !(-range.magnitude <= bound.value && bound.value <= range.magnitude) {
            misfit(
                key,
                "the range starts outside of what the type can hold; use a start that it can hold",
            );
        }
        range.minimum = minimum;
    }
    if let Some(bound) = maximum {
        if !(-range.magnitude <= bound.value && bound.value <= range.magnitude) {
            misfit(
                key,
                "the range ends outside of what the type can hold; use an end that it can hold",
            );
        }
        range.maximum = maximum;
    }
    narrow
}

/// One end of a range of numbers.
pub const fn bound(value: f64, json: &'static str, is_exclusive: bool) -> Bound {
    Bound {
        value,
        json,
        is_exclusive,
    }
}

/// `length = 1..=64`.
#[track_caller]
pub const fn length(schema: &Schema, key: &str, minimum: usize, maximum: usize) -> Schema {
    let lengths = Lengths { minimum, maximum };
    if let Kind::String(StringRule { lengths: outer, .. })
    | Kind::Array(ArrayRule { lengths: outer, .. }) = schema.kind
        && !(outer.accepts(minimum) && (maximum == usize::MAX || outer.accepts(maximum)))
    {
        misfit(
            key,
            "the length is outside of what the type can hold; use a length that it can hold",
        );
    }
    let kind = match schema.kind {
        Kind::String(rule) => Kind::String(StringRule { lengths, ..rule }),
        Kind::Array(rule) => Kind::Array(ArrayRule {
            lengths,
            // Otherwise equal items would count, of which a set holds one.
            is_unique: rule.is_unique || rule.is_set && minimum > 1,
            ..rule
        }),
        Kind::Map(rule) => Kind::Map(MapRule { lengths, ..rule }),
        _ => misfit(
            key,
            "`length` applies only to strings, arrays and maps; use `range` for numbers",
        ),
    };
    constrained(schema, kind)
}

/// `pattern = "^[a-z]+$"`, and its translation for the `regex` crate.
#[track_caller]
pub const fn pattern(schema: &Schema, key: &str, pattern: Text, regex: &'static str) -> Schema {
    let Kind::String(rule) = schema.kind else {
        misfit(key, "`pattern` applies only to strings; remove it");
    };
    let kind = Kind::String(StringRule {
        pattern,
        regex,
        ..rule
    });
    constrained(schema, kind)
}

/// `format = "email"`.
#[track_caller]
pub const fn format(schema: &Schema, key: &str, format: &'static str) -> Schema {
    let Kind::String(rule) = schema.kind else {
        misfit(key, "`format` applies only to strings; remove it");
    };
    let kind = Kind::String(StringRule { format, ..rule });
    constrained(schema, kind)
}

/// `multiple_of = 5` of integers.
#[track_caller]
pub const fn multiple_of_integer(schema: &Schema, key: &str, step: i128) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Integer(range) = &mut narrow.kind else {
        if let Kind::Number(_) = schema.kind {
            misfit(
                key,
                "`multiple_of` for a float needs a float, such as `5.0`",
            );
        }
        misfit(key, "`multiple_of` applies only to numbers; remove it");
    };
    range.multiple_of = step;
    narrow
}

/// `multiple_of = 0.5` of floats.
#[track_caller]
pub const fn multiple_of_number(schema: &Schema, key: &str, step: Bound) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Number(range) = &mut narrow.kind else {
        if let Kind::Integer(_) = schema.kind {
            misfit(
                key,
                "`multiple_of` for an integer needs an integer, such as `5`",
            );
        }
        misfit(key, "`multiple_of` applies only to numbers; remove it");
    };
    range.multiple_of = Some(step);
    narrow
}

/// `unique`.
#[track_caller]
pub const fn unique(schema: &Schema, key: &str) -> Schema {
    let Kind::Array(rule) = schema.kind else {
        misfit(key, "`unique` applies only to arrays; remove it");
    };
    let kind = Kind::Array(ArrayRule {
        is_unique: true,
        ..rule
    });
    constrained(schema, kind)
}

/// `secret`.
pub const fn secret(schema: &Schema) -> Schema {
    schema.secret()
}
