//! A schema in words for a model: what was expected, what came instead.

use super::{IntegerRange, Kind, Lengths, Schema};

/// The longest stretch of a model's own text that an error repeats, in characters.
const SHOWN: usize = 40;
/// The most enum values or keys that an error lists.
const LISTED: usize = 12;

/// What `schema` expects, to stand after "expected".
pub(crate) fn expected(schema: &Schema) -> String {
    match schema.kind {
        Kind::Any => "any JSON value".into(),
        Kind::Boolean => "true or false".into(),
        Kind::Integer(range) => integer(range),
        Kind::Number => "a number".into(),
        Kind::String(lengths) => format!("a string{}", sized(lengths, "character")),
        Kind::Enum(values) => one_of(values.iter().map(|value| format!("\"{}\"", value.as_str()))),
        Kind::Array(_, lengths) => format!("an array{}", sized(lengths, "item")),
        Kind::Map(_) | Kind::Object(_) => "an object".into(),
        Kind::Nullable(inner) => format!("{} or null", expected(inner)),
    }
}

fn integer(range: IntegerRange) -> String {
    match (range.shows_minimum, range.shows_maximum) {
        (true, true) => format!("an integer from {} to {}", range.minimum, range.maximum),
        (true, false) => format!("an integer of at least {}", range.minimum),
        (false, true) => format!("an integer of at most {}", range.maximum),
        (false, false) => "an integer".into(),
    }
}

fn sized(lengths: Lengths, unit: &str) -> String {
    match (lengths.minimum, lengths.maximum) {
        (0, usize::MAX) => String::new(),
        (least, most) if least == most => format!(" of exactly {}", count(least, unit)),
        (least, usize::MAX) => format!(" of at least {}", count(least, unit)),
        (0, most) => format!(" of at most {}", count(most, unit)),
        (least, most) => format!(" of {least} to {}", count(most, unit)),
    }
}

fn count(number: usize, unit: &str) -> String {
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// `a, b or c`, cut after the first dozen.
pub(crate) fn one_of(values: impl ExactSizeIterator<Item = String>) -> String {
    let total = values.len();
    let mut words = String::new();
    for (at, value) in values.enumerate().take(LISTED) {
        if at > 0 {
            words.push_str(if at + 1 == total { " or " } else { ", " });
        }
        words.push_str(&value);
    }
    if total > LISTED {
        words.push_str(&format!(" or one of {} others", total - LISTED));
    }
    words
}

/// A value as it came, shortened.
pub(crate) fn shorten(json: &str) -> String {
    match json.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &json[..end]),
        None => json.into(),
    }
}

/// The candidate that a mistyped `name` most likely meant.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    // A model's key may be a megabyte long, and the distance is quadratic.
    if name.len() > 128 {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .map(|candidate| {
            let distance = strsim::damerau_levenshtein(&folded, &candidate.to_lowercase());
            (distance, candidate)
        })
        .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()) / 2)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
