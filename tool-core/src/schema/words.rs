//! A schema in words for a model: what was expected, what came instead.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::{Bound, IntegerRange, Kind, Lengths, NumberRange, Property, Schema, StringRule, Text};

/// The longest stretch of a model's own text that an error repeats, in characters.
const SHOWN: usize = 40;
/// The most enum values or keys that an error lists.
const LISTED: usize = 12;

/// What `schema` expects, to stand after "expected".
pub(crate) fn expected(schema: &Schema) -> Cow<'static, str> {
    match schema.kind {
        Kind::Any => "any JSON value".into(),
        Kind::Null => "null".into(),
        Kind::Boolean => "true or false".into(),
        Kind::Integer(range) => integer(range),
        Kind::Number(range) => number(&range),
        Kind::String(rule) => string(&rule),
        Kind::Enum(strings) => one_of(strings.values.iter().map(Text::as_str), "\"").into(),
        Kind::Array(rule) => sized("an array", rule.lengths, "item"),
        Kind::Tuple(items) => sized("an array", Lengths::exactly(items.len()), "item"),
        Kind::Map(rule) => sized("an object", rule.lengths, "member"),
        Kind::Object(properties) => object(properties),
        Kind::AnyOf(schemas) => {
            let mut words: Vec<_> = schemas.iter().map(|schema| expected(schema)).collect();
            words.dedup();
            one_of(words.iter(), "").into()
        }
        Kind::Nullable(inner) => format!("{} or null", expected(inner)).into(),
        Kind::Reference(reference) => expected((reference.target)()),
    }
}

/// An object by what tells it from others: its tag, or the one member that it must have.
fn object(properties: &[Property]) -> Cow<'static, str> {
    for property in properties {
        if let Kind::Enum(strings) = property.schema.kind
            && strings.is_tag
        {
            let (key, value) = (property.name(), strings.values[0].as_str());
            return format!("an object with \"{key}\": \"{value}\"").into();
        }
    }
    match properties {
        [only] if only.required => format!("an object with \"{}\"", only.name()).into(),
        _ => "an object".into(),
    }
}

fn string(rule: &StringRule) -> Cow<'static, str> {
    let words = match rule.format {
        "" => sized("a string", rule.lengths, "character"),
        format => {
            let words = format!("a string of the format {format}");
            sized(&words, rule.lengths, "character").into_owned().into()
        }
    };
    with_pattern(words, rule.pattern.as_str())
}

pub(crate) fn with_pattern<'w>(mut words: Cow<'w, str>, pattern: &str) -> Cow<'w, str> {
    if !pattern.is_empty() {
        let words = words.to_mut();
        words.push_str(" that matches ");
        words.push_str(pattern);
    }
    words
}

fn number(range: &NumberRange) -> Cow<'static, str> {
    let end = |bound: Option<Bound>| bound.map(|bound| (bound.json, bound.is_exclusive));
    let step = range.multiple_of.map(|step| step.json);
    number_between(end(range.minimum), end(range.maximum), step)
}

/// A number by its ends, each with whether it is left out itself, and by what it is a multiple of.
pub(crate) fn number_between(
    minimum: Option<(&str, bool)>,
    maximum: Option<(&str, bool)>,
    step: Option<&str>,
) -> Cow<'static, str> {
    let ends = [
        (minimum, "at least", "above"),
        (maximum, "at most", "below"),
    ];
    let ends = ends.into_iter().filter_map(|(end, inclusive, exclusive)| {
        let (limit, is_exclusive) = end?;
        let relation = if is_exclusive { exclusive } else { inclusive };
        Some(format!("{relation} {limit}"))
    });
    let ends: Vec<_> = ends.collect();
    let mut words = Cow::Borrowed("a number");
    if !ends.is_empty() {
        words += " ";
        words.to_mut().push_str(&ends.join(" and "));
    }
    if let Some(step) = step {
        words.to_mut().push_str(&format!(", a multiple of {step}"));
    }
    words
}

pub(crate) fn integer(range: IntegerRange) -> Cow<'static, str> {
    let mut words: Cow<'_, str> = match (range.shows_minimum, range.shows_maximum) {
        (true, true) => format!("an integer from {} to {}", range.minimum, range.maximum).into(),
        (true, false) => format!("an integer of at least {}", range.minimum).into(),
        (false, true) => format!("an integer of at most {}", range.maximum).into(),
        (false, false) => "an integer".into(),
    };
    if range.multiple_of != 0 {
        let step = format!(", a multiple of {}", range.multiple_of);
        words.to_mut().push_str(&step);
    }
    words
}

pub(crate) fn sized<'w>(what: &'w str, lengths: Lengths, unit: &str) -> Cow<'w, str> {
    let size = match (lengths.minimum, lengths.maximum) {
        (0, usize::MAX) => return what.into(),
        (least, most) if least == most => format!("exactly {}", count(least, unit)),
        (least, usize::MAX) => format!("at least {}", count(least, unit)),
        (0, most) => format!("at most {}", count(most, unit)),
        (least, most) => format!("{least} to {}", count(most, unit)),
    };
    format!("{what} of {size}").into()
}

fn count(number: usize, unit: &str) -> String {
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// `a, b or c`, each in these quotes, cut after the first dozen.
pub(crate) fn one_of<T: AsRef<str>>(
    values: impl ExactSizeIterator<Item = T>,
    quotes: &str,
) -> String {
    let total = values.len();
    let mut words = String::with_capacity(total.min(LISTED) * 16);
    for (at, value) in values.enumerate().take(LISTED) {
        if at > 0 {
            words.push_str(if at + 1 == total { " or " } else { ", " });
        }
        words.push_str(quotes);
        words.push_str(value.as_ref());
        words.push_str(quotes);
    }
    if total > LISTED {
        words.push_str(&format!(" or one of {} others", total - LISTED));
    }
    words
}

/// What is wrong with a key that is none of these.
pub(crate) fn unknown<'a>(
    key: &str,
    names: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> String {
    if let Some(name) = nearest(key, names.clone()) {
        return ["unknown; did you mean \"", name, "\"?"].concat();
    }
    if names.len() == 0 {
        return "unknown; nothing is expected here".into();
    }
    ["unknown; expected ", &one_of(names, "\"")].concat()
}

/// A value as it came, shortened.
pub(crate) fn shorten(json: &str) -> Cow<'_, str> {
    // As many characters have at least as many bytes.
    if json.len() <= SHOWN {
        return json.into();
    }
    match json.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &json[..end]).into(),
        None => json.into(),
    }
}

/// A name as a model wrote it, shortened. One that would begin a line of its own, or turn the
/// direction of others, is quoted: it stands in the operator's log, too.
pub(crate) fn name(written: &str) -> Cow<'_, str> {
    let name = shorten(written);
    match name.chars().any(steers) {
        true => format!("{name:?}").into(),
        false => name,
    }
}

/// Whether a character moves what is written around it.
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
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
    let letters = letters(name);
    let folded = OnceCell::new();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let mut most = candidate.len().max(name.len()) / 2;
        if let Some((distance, _)) = best {
            // The first of several is taken.
            most = most.min(distance.saturating_sub(1));
        }
        if is_farther(letters, self::letters(candidate), most) {
            continue;
        }
        let folded = folded.get_or_init(|| name.to_lowercase());
        let distance = strsim::damerau_levenshtein(folded, &candidate.to_lowercase());
        if distance <= most && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Which letters and digits a text holds, a bit for each, if they are all of ASCII. Some share a
/// bit.
fn letters(text: &str) -> Option<u64> {
    let (mut set, mut all) = (0_u64, 0);
    for byte in text.bytes() {
        // The two cases of a letter differ in this bit, and what else does may share one.
        set |= 1 << ((byte | 0x20) & 63);
        all |= byte;
    }
    all.is_ascii().then_some(set)
}

/// Whether the distance of two texts is surely greater than `most`: every letter that only one of
/// them holds takes a change, and one change removes at most one letter and brings one.
fn is_farther(left: Option<u64>, right: Option<u64>, most: usize) -> bool {
    let (Some(left), Some(right)) = (left, right) else {
        return false;
    };
    let alone = (left & !right)
        .count_ones()
        .max((right & !left).count_ones());
    alone as usize > most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same without looking at letters first.
    fn nearest_of_all<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
        let folded = name.to_lowercase();
        candidates
            .iter()
            .map(|candidate| {
                let distance = strsim::damerau_levenshtein(&folded, &candidate.to_lowercase());
                (distance, *candidate)
            })
            .filter(|(distance, candidate)| *distance <= candidate.len().max(name.len()) / 2)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, candidate)| candidate)
    }

    #[test]
    fn a_name_is_passed_over_only_when_it_is_too_far() {
        let names = [
            "city",
            "days",
            "unit",
            "latitude",
            "limit",
            "hourly",
            "wind",
            "contry",
            "Country",
            "aab",
            "aba",
            "ab",
            "a",
            "",
            "0",
            "p0",
            "größe",
            "GRÖSSE",
            "naïve",
            "dayz",
            "yads",
            "LIMITS",
            "latitude_deg",
            "_",
            "__",
            "İ",
        ];
        for name in names {
            for end in 0..=names.len() {
                let candidates = &names[..end];
                assert_eq!(
                    nearest(name, candidates.iter().copied()),
                    nearest_of_all(name, candidates),
                    "{name} among {candidates:?}"
                );
            }
        }
    }
}
