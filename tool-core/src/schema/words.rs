//! A schema in words for a model: what was expected, what came instead.

use super::{IntegerRange, Kind, Lengths, NumberRange, Property, Schema, StringRule};

/// The longest stretch of a model's own text that an error repeats, in characters.
const SHOWN: usize = 40;
/// The most enum values or keys that an error lists.
const LISTED: usize = 12;

/// What `schema` expects, to stand after "expected".
pub(crate) fn expected(schema: &Schema) -> String {
    match schema.kind {
        Kind::Any => "any JSON value".into(),
        Kind::Null => "null".into(),
        Kind::Boolean => "true or false".into(),
        Kind::Integer(range) => integer(range),
        Kind::Number(range) => number(&range),
        Kind::String(rule) => string(&rule),
        Kind::Enum(strings) => one_of(strings.values.iter().map(|v| format!("\"{}\"", v.as_str()))),
        Kind::Array(rule) => format!("an array{}", sized(rule.lengths, "item")),
        Kind::Tuple(items) => format!("an array{}", sized(Lengths::exactly(items.len()), "item")),
        Kind::Map(rule) => format!("an object{}", sized(rule.lengths, "member")),
        Kind::Object(properties) => object(properties),
        Kind::AnyOf(schemas) => {
            let mut words: Vec<_> = schemas.iter().map(|schema| expected(schema)).collect();
            words.dedup();
            one_of(words.into_iter())
        }
        Kind::Nullable(inner) => format!("{} or null", expected(inner)),
        Kind::Reference(reference) => expected((reference.target)()),
    }
}

/// An object by what tells it from others: its tag, or the one member that it must have.
fn object(properties: &[Property]) -> String {
    for property in properties {
        if let Kind::Enum(strings) = property.schema.kind
            && strings.is_tag
        {
            let (key, value) = (property.name(), strings.values[0].as_str());
            return format!("an object with \"{key}\": \"{value}\"");
        }
    }
    match properties {
        [only] if only.required => format!("an object with \"{}\"", only.name()),
        _ => "an object".into(),
    }
}

fn string(rule: &StringRule) -> String {
    let sized = sized(rule.lengths, "character");
    let mut words = match rule.format {
        "" => format!("a string{sized}"),
        format => format!("a string of the format {format}{sized}"),
    };
    if !rule.pattern.is_empty() {
        words.push_str(" that matches ");
        words.push_str(rule.pattern.as_str());
    }
    words
}

fn number(range: &NumberRange) -> String {
    let ends = [
        (&range.minimum, "at least", "above"),
        (&range.maximum, "at most", "below"),
    ];
    let ends = ends
        .into_iter()
        .filter_map(|(bound, inclusive, exclusive)| {
            let bound = bound.as_ref()?;
            let relation = if bound.is_exclusive {
                exclusive
            } else {
                inclusive
            };
            Some(format!("{relation} {}", bound.json))
        });
    let ends: Vec<_> = ends.collect();
    let mut words = String::from("a number");
    if !ends.is_empty() {
        words.push(' ');
        words.push_str(&ends.join(" and "));
    }
    if let Some(step) = range.multiple_of {
        words.push_str(&format!(", a multiple of {}", step.json));
    }
    words
}

fn integer(range: IntegerRange) -> String {
    let mut words = match (range.shows_minimum, range.shows_maximum) {
        (true, true) => format!("an integer from {} to {}", range.minimum, range.maximum),
        (true, false) => format!("an integer of at least {}", range.minimum),
        (false, true) => format!("an integer of at most {}", range.maximum),
        (false, false) => "an integer".into(),
    };
    if range.multiple_of != 0 {
        words.push_str(&format!(", a multiple of {}", range.multiple_of));
    }
    words
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
