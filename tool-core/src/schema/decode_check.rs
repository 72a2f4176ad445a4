//! What a type says to a value that its schema allows: a date that does not exist, dice of seven
//! sides. The walk asks it, so that it stands among the other mistakes of a call.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use super::Schema;
use super::words::{expected, text};

/// Decodes a value and forgets it, or says why it can't.
pub(crate) type DecodeCheckFn = fn(&str) -> Option<String>;

/// The trial of a type, an inherent constant; that of [`NoDecodeCheck`] for a type that decoding borrows
/// from the text, or that is never decoded.
pub struct DecodeCheck<T: ?Sized>(PhantomData<T>);

impl<T: DeserializeOwned> DecodeCheck<T> {
    /// By serde.
    pub const VALUE: Option<DecodeCheckFn> = Some(problem::<T>);
}

/// The way of all other types.
pub trait NoDecodeCheck {
    /// None.
    const VALUE: Option<DecodeCheckFn> = None;
}

impl<T: ?Sized> NoDecodeCheck for DecodeCheck<T> {}

/// The schema of a type that may refuse what it allows.
pub const fn with_decode_check(schema: Schema, trial: Option<DecodeCheckFn>) -> Schema {
    match trial {
        Some(_) => Schema { trial, ..schema },
        None => schema,
    }
}

fn problem<T: DeserializeOwned>(json: &str) -> Option<String> {
    let decoded = serde_json::from_str::<T>(json);
    decoded.err().map(|error| error.to_string())
}

/// The words of a type that refuses what its schema allows: its own, unless they are serde's or
/// name Rust types. What was expected follows, since a parser's own words may say little.
pub(crate) fn refused(problem: &str, schema: Option<&Schema>) -> String {
    let problem = problem
        .rfind(" at line ")
        .map_or(problem, |end| &problem[..end]);
    let generic = [
        "invalid ",
        "missing field",
        "unknown ",
        "duplicate field",
        "data did not",
        "number out of range",
    ];
    let is_generic = generic.iter().any(|start| problem.starts_with(start));
    // As serde says it of types of the standard library, by their names.
    let names_types = problem.contains("::") || problem.starts_with("overflow deserializing ");
    let said = match is_generic || names_types {
        true => "not accepted",
        false => problem,
    };
    let Some(schema) = schema else {
        return said.to_owned();
    };
    let expected = text(|words| expected(words, schema));
    match schema.description() {
        "" => format!("{said}; expected {expected}"),
        described => format!("{said}; expected {expected} ({described})"),
    }
}
