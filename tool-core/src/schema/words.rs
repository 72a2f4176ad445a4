//! A schema in words for a model: what was expected, what came instead.
//!
//! Whatever has words adds them to the text that they are for, so that a message is written once.

mod nearest;

use std::borrow::Cow;
use std::fmt::{Display, Write};

pub(crate) use self::nearest::nearest;
use super::{Bound, IntegerRange, Kind, Lengths, NumberRange, Property, Schema, StringRule, Text};

/// The longest stretch of a model's own text that an error repeats, in characters.
const SHOWN: usize = 40;
/// The most enum values or keys that an error lists.
const LISTED: usize = 12;

/// The text of what adds itself to another.
pub(crate) fn text(tell: impl FnOnce(&mut String)) -> String {
    let mut words = String::new();
    tell(&mut words);
    words
}

/// Adds what can be displayed.
pub(crate) fn push(words: &mut String, shown: impl Display) {
    write!(words, "{shown}").expect("a string takes every text");
}

/// What `schema` expects, to stand after "expected".
pub(crate) fn expected(words: &mut String, schema: &Schema) {
    match &schema.kind {
        Kind::Any => words.push_str("any JSON value"),
        Kind::Null => words.push_str("null"),
        Kind::Boolean => words.push_str("true or false"),
        Kind::Integer(range) => integer(words, range),
        Kind::Number(range) => number(words, range),
        Kind::String(rule) => string(words, rule),
        Kind::Enum(strings) => one_of(words, strings.values.iter().map(Text::json), Some('"')),
        Kind::Array(rule) => sized(words, "an array", rule.lengths, "item"),
        Kind::Tuple(items) => sized(words, "an array", Lengths::exactly(items.len()), "item"),
        Kind::Map(rule) => sized(words, "an object", rule.lengths, "member"),
        Kind::Object(properties) => object(words, properties),
        Kind::AnyOf(schemas) => {
            let each = schemas
                .iter()
                .map(|schema| text(|words| expected(words, schema)));
            let mut each: Vec<_> = each.collect();
            each.dedup();
            one_of(words, each.iter(), None);
        }
        Kind::Nullable(inner) => {
            expected(words, inner);
            words.push_str(" or null");
        }
        Kind::Reference(reference) => expected(words, (reference.target)()),
    }
}

/// An object by what tells it from others: its tag, or the one member that it must have.
fn object(words: &mut String, properties: &[Property]) {
    for property in properties {
        if let Kind::Enum(strings) = property.schema.kind
            && strings.is_tag
        {
            let (key, value) = (property.name(), strings.values[0].json());
            return push(words, format_args!("an object with \"{key}\": \"{value}\""));
        }
    }
    match properties {
        [only] if only.required => {
            push(words, format_args!("an object with \"{}\"", only.name()));
        }
        _ => words.push_str("an object"),
    }
}

fn string(words: &mut String, rule: &StringRule) {
    match rule.format {
        "" => sized(words, "a string", rule.lengths, "character"),
        format => {
            let what = format!("a string of the format {format}");
            sized(words, &what, rule.lengths, "character");
        }
    }
    pattern(words, rule.pattern.as_str());
}

/// What a string must match, behind what it is; nothing where there is no pattern.
pub(crate) fn pattern(words: &mut String, pattern: &str) {
    if !pattern.is_empty() {
        words.push_str(" that matches ");
        words.push_str(pattern);
    }
}

fn number(words: &mut String, range: &NumberRange) {
    let end = |bound: Option<Bound>| bound.map(|bound| (bound.json, bound.is_exclusive));
    let step = range.multiple_of.map(|step| step.json);
    number_between(words, end(range.minimum), end(range.maximum), step);
}

/// A number by its ends, each with whether it is left out itself, and by what it is a multiple of.
pub(crate) fn number_between(
    words: &mut String,
    minimum: Option<(&str, bool)>,
    maximum: Option<(&str, bool)>,
    step: Option<&str>,
) {
    words.push_str("a number");
    let ends = [
        (minimum, "at least", "above"),
        (maximum, "at most", "below"),
    ];
    let mut link = "";
    for (end, inclusive, exclusive) in ends {
        if let Some((limit, is_exclusive)) = end {
            let relation = if is_exclusive { exclusive } else { inclusive };
            push(words, format_args!("{link} {relation} {limit}"));
            link = " and";
        }
    }
    if let Some(step) = step {
        push(words, format_args!(", a multiple of {step}"));
    }
}

pub(crate) fn integer(words: &mut String, range: &IntegerRange) {
    words.push_str("an integer");
    let (minimum, maximum) = (range.minimum, range.maximum);
    match (range.shows_minimum, range.shows_maximum) {
        (true, true) => push(words, format_args!(" from {minimum} to {maximum}")),
        (true, false) => push(words, format_args!(" of at least {minimum}")),
        (false, true) => push(words, format_args!(" of at most {maximum}")),
        (false, false) => {}
    }
    if range.multiple_of != 0 {
        push(words, format_args!(", a multiple of {}", range.multiple_of));
    }
}

pub(crate) fn sized(words: &mut String, what: &str, lengths: Lengths, unit: &str) {
    words.push_str(what);
    let last = match (lengths.minimum, lengths.maximum) {
        (0, usize::MAX) => return,
        (least, most) if least == most => {
            words.push_str(" of exactly ");
            most
        }
        (least, usize::MAX) => {
            words.push_str(" of at least ");
            least
        }
        (0, most) => {
            words.push_str(" of at most ");
            most
        }
        (least, most) => {
            push(words, format_args!(" of {least} to "));
            most
        }
    };
    let plural = if last == 1 { "" } else { "s" };
    push(words, format_args!("{last} {unit}{plural}"));
}

/// `a, b or c`, each between two of these, cut after the first dozen.
pub(crate) fn one_of<T: AsRef<str>>(
    words: &mut String,
    values: impl ExactSizeIterator<Item = T>,
    quote: Option<char>,
) {
    let total = values.len();
    for (at, value) in values.enumerate().take(LISTED) {
        match at {
            0 => {}
            _ if at + 1 == total => words.push_str(" or "),
            _ => words.push_str(", "),
        }
        if let Some(quote) = quote {
            words.push(quote);
        }
        words.push_str(value.as_ref());
        if let Some(quote) = quote {
            words.push(quote);
        }
    }
    if total > LISTED {
        push(words, format_args!(" or one of {} others", total - LISTED));
    }
}

/// What is wrong with a key that is none of these.
pub(crate) fn unknown<'a>(
    words: &mut String,
    key: &str,
    names: impl ExactSizeIterator<Item = &'a str> + Clone,
) {
    words.push_str("unknown; ");
    if let Some(name) = nearest(key, names.clone()) {
        return push(words, format_args!("did you mean \"{name}\"?"));
    }
    if names.len() == 0 {
        return words.push_str("nothing is expected here");
    }
    words.push_str("expected ");
    one_of(words, names, Some('"'));
}

/// Which of these values was most likely meant, behind what is wrong; nothing where none is near.
pub(crate) fn did_you_mean<'a>(
    words: &mut String,
    text: &str,
    values: impl Iterator<Item = &'a str>,
) {
    if let Some(value) = nearest(text, values) {
        let value = serde_json::Value::from(value);
        push(words, format_args!("; did you mean {value}?"));
    }
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
    if written.len() <= SHOWN && written.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return written.into();
    }
    let name = shorten(written);
    match !name.chars().any(steers) {
        true => name,
        false => format!("{name:?}").into(),
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
