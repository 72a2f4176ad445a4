//! `#[param(range, length, pattern, …)]`: narrower schemas, made while compiling.
//!
//! Each function panics where a constraint makes no sense; in a constant that is a compile error,
//! and the macro gives it the span of the constraint.

use super::{ArrayRule, Bound, Kind, Lengths, MapRule, Property, Schema, StringRule, Text};

/// What a constraint applies to: a schema without its `null`.
pub const fn inner(schema: &'static Schema) -> &'static Schema {
    match schema.kind {
        Kind::Nullable(inner) => inner,
        _ => schema,
    }
}

/// The narrower schema of a value that may be `null` where the wider one lets it.
pub const fn as_nullable_as(wide: &Schema, narrow: &'static Schema) -> Schema {
    match wide.kind {
        Kind::Nullable(_) => Schema::nullable(narrow),
        _ => *narrow,
    }
}

/// The same member, described by another type than the one that decodes it.
pub const fn stand_in(mut property: Property) -> Property {
    property.exact = false;
    property
}

/// A copy that nothing refers to by name: what refers to the type means all of its values.
const fn unnamed(schema: &Schema) -> Schema {
    Schema {
        name: "",
        ..*schema
    }
}

/// The same member with a narrower schema.
pub const fn narrow(mut property: Property, schema: &'static Schema) -> Property {
    property.schema = schema;
    property.exact = false;
    property
}

/// `range = 1..=14` of whole numbers.
pub const fn integers(schema: &Schema, minimum: Option<i128>, maximum: Option<i128>) -> Schema {
    let mut narrow = unnamed(schema);
    let Kind::Integer(range) = &mut narrow.kind else {
        if let Kind::Number(_) = schema.kind {
            panic!("invalid range for floats; write floats, such as `1.0..=14.0`");
        }
        panic!("`range` applies to numbers only; use `length` for strings and arrays");
    };
    if let Some(minimum) = minimum {
        assert!(
            range.minimum <= minimum && minimum <= range.maximum,
            "the range starts outside the values of its type; start it inside"
        );
        range.minimum = minimum;
        range.shows_minimum = true;
    }
    if let Some(maximum) = maximum {
        assert!(
            range.minimum <= maximum && maximum <= range.maximum,
            "the range ends outside the values of its type; end it inside"
        );
        range.maximum = maximum;
        range.shows_maximum = true;
    }
    narrow
}

/// `range = 0.5..1.0` of any numbers.
pub const fn numbers(schema: &Schema, minimum: Option<Bound>, maximum: Option<Bound>) -> Schema {
    let mut narrow = unnamed(schema);
    let Kind::Number(range) = &mut narrow.kind else {
        if let Kind::Integer(_) = schema.kind {
            panic!("invalid range for integers; write integers, such as `1..=14`");
        }
        panic!("`range` applies to numbers only; use `length` for strings and arrays");
    };
    if let Some(bound) = minimum {
        assert!(
            -range.magnitude <= bound.value && bound.value <= range.magnitude,
            "the range starts outside the values of its type; start it inside"
        );
        range.minimum = minimum;
    }
    if let Some(bound) = maximum {
        assert!(
            -range.magnitude <= bound.value && bound.value <= range.magnitude,
            "the range ends outside the values of its type; end it inside"
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
    let kind = match schema.kind {
        Kind::String(rule) => {
            assert!(
                rule.lengths.admits(minimum)
                    && (maximum == usize::MAX || rule.lengths.admits(maximum)),
                "the length exceeds what the type can hold; narrow it"
            );
            Kind::String(StringRule { lengths, ..rule })
        }
        Kind::Array(rule) => {
            assert!(
                rule.lengths.admits(minimum)
                    && (maximum == usize::MAX || rule.lengths.admits(maximum)),
                "the length exceeds what the type can hold; narrow it"
            );
            Kind::Array(ArrayRule { lengths, ..rule })
        }
        Kind::Map(rule) => Kind::Map(MapRule { lengths, ..rule }),
        _ => panic!("`length` applies to strings, arrays and maps only; use `range` for numbers"),
    };
    Schema {
        kind,
        ..unnamed(schema)
    }
}

/// `pattern = "^[a-z]+$"`, and the same for the `regex` crate.
pub const fn pattern(schema: &Schema, pattern: Text, regex: &'static str) -> Schema {
    let Kind::String(rule) = schema.kind else {
        panic!("`pattern` applies to strings only; remove it");
    };
    let kind = Kind::String(StringRule {
        pattern,
        regex,
        ..rule
    });
    Schema {
        kind,
        ..unnamed(schema)
    }
}

/// `format = "email"`.
pub const fn format(schema: &Schema, format: &'static str) -> Schema {
    let Kind::String(rule) = schema.kind else {
        panic!("`format` applies to strings only; remove it");
    };
    let kind = Kind::String(StringRule { format, ..rule });
    Schema {
        kind,
        ..unnamed(schema)
    }
}

/// `multiple_of = 5` of whole numbers.
pub const fn multiple_of_integer(schema: &Schema, step: i128) -> Schema {
    let mut narrow = unnamed(schema);
    let Kind::Integer(range) = &mut narrow.kind else {
        if let Kind::Number(_) = schema.kind {
            panic!("invalid step for floats; write a float, such as `5.0`");
        }
        panic!("`multiple_of` applies to numbers only; remove it");
    };
    range.multiple_of = step;
    narrow
}

/// `multiple_of = 0.5` of any numbers.
pub const fn multiple_of_number(schema: &Schema, step: Bound) -> Schema {
    let mut narrow = unnamed(schema);
    let Kind::Number(range) = &mut narrow.kind else {
        if let Kind::Integer(_) = schema.kind {
            panic!("invalid step for integers; write an integer, such as `5`");
        }
        panic!("`multiple_of` applies to numbers only; remove it");
    };
    range.multiple_of = Some(step);
    narrow
}

/// `unique`.
pub const fn unique(schema: &Schema) -> Schema {
    let Kind::Array(rule) = schema.kind else {
        panic!("`unique` applies to arrays only; remove it");
    };
    let kind = Kind::Array(ArrayRule {
        is_unique: true,
        ..rule
    });
    Schema {
        kind,
        ..unnamed(schema)
    }
}

/// `example = literal`, as JSON text.
pub const fn example(mut property: Property, json: &'static str) -> Property {
    property.example = json;
    property
}
