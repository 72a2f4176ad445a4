//! Values that a schema allows but their type rejects, such as a date that does not exist.
//!
//! Validation decodes such values, so that these errors are reported together with all others.

use super::messages::{expected, integer_in_full, text};
use super::{IntegerRange, Kind, Schema};

/// Decodes a value and discards it. Returns the error, if there is one. Otherwise writes the value
/// in the spelling of its type, if that is wanted and the type has one.
pub(crate) type DecodeCheckFn = fn(&str, Option<&mut String>) -> Option<String>;

/// Adds checks to a schema that compare the type's own decoding with its `Deserialize`, the first of which is
/// used. Only a test makes them.
pub const fn with_comparison(
    schema: Schema,
    value: Option<DecodeCheckFn>,
    verdict: Option<DecodeCheckFn>,
) -> Schema {
    #[cfg(debug_assertions)]
    return Schema {
        comparison: match value {
            Some(_) => value,
            None => verdict,
        },
        ..schema
    };
    #[cfg(not(debug_assertions))]
    {
        let _ = (value, verdict);
        schema
    }
}

/// Adds a decode check to a schema, if there is one.
pub const fn with_decode_check(schema: Schema, check: Option<DecodeCheckFn>) -> Schema {
    match check {
        Some(_) => Schema {
            decode_check: check,
            ..schema
        },
        None => schema,
    }
}

/// Returns the message for a value that its type rejects.
///
/// Uses the type's own message unless it is one of serde's or names Rust types. The expected value
/// follows, because a parser's message may say little, unless that would only be "a string".
pub(crate) fn rejection(error: &str, schema: Option<&Schema>) -> String {
    let error = error.rfind(" at line ").map_or(error, |end| &error[..end]);
    let generic = [
        "invalid ",
        "missing field",
        "unknown ",
        "duplicate field",
        "data did not",
        "number out of range",
    ];
    let is_generic = generic.iter().any(|start| error.starts_with(start));
    // serde says "overflow deserializing Duration" of types in the standard library.
    let names_types = error.contains("::") || error.starts_with("overflow deserializing ");
    let reason = if is_generic || names_types {
        "not accepted"
    } else {
        error
    };
    let Some(schema) = schema else {
        return reason.to_owned();
    };
    let expected = text(|out| match whole_range(schema) {
        Some(range) if error.starts_with("number out of range") => integer_in_full(out, &range),
        _ => expected(out, schema),
    });
    let form = match schema.kind {
        // How the string is written.
        Kind::String(_) if !schema.notes.is_empty() => schema.notes.as_str(),
        // The value is a string already.
        Kind::String(rule) if rule.is_any() && reason == error => return reason.to_owned(),
        _ => schema.description(),
    };
    match form {
        "" => format!("{reason}; expected {expected}"),
        form => format!("{reason}; expected {expected} ({form})"),
    }
}

/// Returns the range of an integer type, without the gap of a `NonZero`.
fn whole_range(schema: &Schema) -> Option<IntegerRange> {
    match schema.kind {
        Kind::Integer(range) => Some(range),
        Kind::Nullable(inner) => whole_range(inner),
        Kind::AnyOf(schemas) => {
            let ranges = schemas.iter().map(|schema| whole_range(schema));
            let mut ranges = ranges.collect::<Option<Vec<_>>>()?.into_iter();
            let first = ranges.next()?;
            Some(ranges.fold(first, |all, range| IntegerRange {
                minimum: all.minimum.min(range.minimum),
                maximum: all.maximum.max(range.maximum),
                ..all
            }))
        }
        _ => None,
    }
}
