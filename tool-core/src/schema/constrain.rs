//! Applies `#[param(range, length, pattern, …)]` to schemas at compile time.
//!
//! Each function panics if the constraint does not fit the schema. In a constant that is a compile
//! error, to which the macro gives the span of the constraint.

use super::{ArrayRule, Bound, Kind, Lengths, MapRule, Property, Schema, StringRule, Text};

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
pub const fn inexact(mut property: Property) -> Property {
    property.exact = false;
    property
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
pub const fn narrow(mut property: Property, schema: &'static Schema) -> Property {
    property.schema = schema;
    property.exact = false;
    property
}

/// `range = 1..=14` of integers.
pub const fn integers(schema: &Schema, minimum: Option<i128>, maximum: Option<i128>) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Integer(range) = &mut narrow.kind else {
        if let Kind::Number(_) = schema.kind {
            panic!("a range of floats needs float bounds, such as `1.0..=14.0`");
        }
        panic!("`range` applies only to numbers; use `length` for strings and arrays");
    };
    if let Some(minimum) = minimum {
        assert!(
            range.minimum <= minimum && minimum <= range.maximum,
            "the range starts outside of the type's range; use a start that the type can hold"
        );
        range.minimum = minimum;
        range.shows_minimum = true;
    }
    if let Some(maximum) = maximum {
        assert!(
            range.minimum <= maximum && maximum <= range.maximum,
            "the range ends outside of the type's range; use an end that the type can hold"
        );
        range.maximum = maximum;
        range.shows_maximum = true;
    }
    narrow
}

/// `range = 0.5..1.0` of floats.
pub const fn numbers(schema: &Schema, minimum: Option<Bound>, maximum: Option<Bound>) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Number(range) = &mut narrow.kind else {
        if let Kind::Integer(_) = schema.kind {
            panic!("a range of integers needs integer bounds, such as `1..=14`");
        }
        panic!("`range` applies only to numbers; use `length` for strings and arrays");
    };
    if let Some(bound) = minimum {
        assert!(
            -range.magnitude <= bound.value && bound.value <= range.magnitude,
            "the range starts outside of the type's range; use a start that the type can hold"
        );
        range.minimum = minimum;
    }
    if let Some(bound) = maximum {
        assert!(
            -range.magnitude <= bound.value && bound.value <= range.magnitude,
            "the range ends outside of the type's range; use an end that the type can hold"
        );
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
pub const fn length(schema: &Schema, minimum: usize, maximum: usize) -> Schema {
    let lengths = Lengths { minimum, maximum };
    if let Kind::String(StringRule { lengths: outer, .. })
    | Kind::Array(ArrayRule { lengths: outer, .. }) = schema.kind
    {
        assert!(
            outer.accepts(minimum) && (maximum == usize::MAX || outer.accepts(maximum)),
            "the length is outside of what the type can hold; use a length that it can hold"
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
        _ => panic!("`length` applies only to strings, arrays and maps; use `range` for numbers"),
    };
    constrained(schema, kind)
}

/// `pattern = "^[a-z]+$"`, and its translation for the `regex` crate.
pub const fn pattern(schema: &Schema, pattern: Text, regex: &'static str) -> Schema {
    let Kind::String(rule) = schema.kind else {
        panic!("`pattern` applies only to strings; remove it");
    };
    let kind = Kind::String(StringRule {
        pattern,
        regex,
        ..rule
    });
    constrained(schema, kind)
}

/// `format = "email"`.
pub const fn format(schema: &Schema, format: &'static str) -> Schema {
    let Kind::String(rule) = schema.kind else {
        panic!("`format` applies only to strings; remove it");
    };
    let kind = Kind::String(StringRule { format, ..rule });
    constrained(schema, kind)
}

/// `multiple_of = 5` of integers.
pub const fn multiple_of_integer(schema: &Schema, step: i128) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Integer(range) = &mut narrow.kind else {
        if let Kind::Number(_) = schema.kind {
            panic!("`multiple_of` for a float needs a float, such as `5.0`");
        }
        panic!("`multiple_of` applies only to numbers; remove it");
    };
    range.multiple_of = step;
    narrow
}

/// `multiple_of = 0.5` of floats.
pub const fn multiple_of_number(schema: &Schema, step: Bound) -> Schema {
    let mut narrow = constrained(schema, schema.kind);
    let Kind::Number(range) = &mut narrow.kind else {
        if let Kind::Integer(_) = schema.kind {
            panic!("`multiple_of` for an integer needs an integer, such as `5`");
        }
        panic!("`multiple_of` applies only to numbers; remove it");
    };
    range.multiple_of = Some(step);
    narrow
}

/// `unique`.
pub const fn unique(schema: &Schema) -> Schema {
    let Kind::Array(rule) = schema.kind else {
        panic!("`unique` applies only to arrays; remove it");
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

/// `example = literal`, as JSON text.
pub const fn example(mut property: Property, json: &'static str) -> Property {
    property.example = json;
    property
}
