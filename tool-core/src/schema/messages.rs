//! The wording of messages for the model: the expectation and the received value.
//!
//! The functions append to the message, so that no part of it is copied.

use std::borrow::Cow;
use std::fmt::{Display, Write};

pub(crate) use super::nearest::nearest;
use super::property::Members;
use super::{Bound, IntegerRange, Kind, Lengths, NumberRange, Property, Schema, StringRule, Text};
use crate::visible;

/// The most characters of the model's text that a message repeats.
pub(crate) const SHOWN: usize = 40;
/// The most enum values or keys that a message lists.
const LISTED: usize = 12;

/// Builds a string with a function that appends to it.
pub(crate) fn text(write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

/// Appends a displayable value.
pub(crate) fn push(out: &mut String, shown: impl Display) {
    write!(out, "{shown}").expect("writing to a string does not fail");
}

/// Returns the text to append if the received value is a string that contains the JSON of an expected
/// value.
pub(crate) fn itself(expected: &str, got: &str) -> &'static str {
    let is_in_string = (got.starts_with("\"{") && expected.contains("an object"))
        || (got.starts_with("\"[") && expected.contains("an array"));
    if is_in_string {
        "; send the value itself, not its JSON in a string"
    } else {
        ""
    }
}

/// The description of a schema that accepts everything, or takes too long to describe.
pub(crate) const ANY: &str = "any JSON value";

/// The cost that one description may have. Recursive unions are exponentially long.
pub(crate) struct Budget {
    /// The depth that is left, references included.
    depth: usize,
    schemas: usize,
}

impl Budget {
    pub(crate) fn new() -> Budget {
        Budget {
            depth: 16,
            schemas: 200,
        }
    }

    /// Describes one more schema; `None` if the budget is used up.
    pub(crate) fn spend<T>(&mut self, describe: impl FnOnce(&mut Budget) -> T) -> Option<T> {
        self.schemas = self.schemas.checked_sub(1)?;
        self.depth = self.depth.checked_sub(1)?;
        let described = describe(self);
        self.depth += 1;
        Some(described)
    }
}

/// Appends what `schema` expects, to follow "expected".
pub(crate) fn expected(out: &mut String, schema: &Schema) {
    describe(out, schema, &mut Budget::new());
}

fn describe(out: &mut String, schema: &Schema, budget: &mut Budget) {
    let described = budget.spend(|budget| described(out, schema, budget));
    if described.is_none() {
        out.push_str(ANY);
    }
}

fn described(out: &mut String, schema: &Schema, budget: &mut Budget) {
    match &schema.kind {
        Kind::Any => out.push_str(ANY),
        Kind::Null => out.push_str("null"),
        Kind::Boolean => out.push_str("true or false"),
        Kind::Integer(range) => integer(out, range),
        Kind::Number(range) => number(out, range),
        Kind::String(rule) => string(out, rule),
        Kind::Enum(strings) => one_of(out, strings.values.iter().map(Text::json), Some('"')),
        Kind::Array(rule) => sized(out, "an array", rule.lengths, "item"),
        Kind::Tuple(items) => sized(out, "an array", Lengths::exactly(items.len()), "item"),
        Kind::Map(rule) => sized(out, "an object", rule.lengths, "member"),
        Kind::Object(properties) => object(out, properties),
        Kind::AnyOf(schemas) => {
            let each = schemas
                .iter()
                .map(|schema| text(|out| describe(out, schema, budget)));
            let mut each: Vec<_> = each.collect();
            each.dedup();
            one_of(out, each.iter(), None);
        }
        Kind::Nullable(inner) => {
            describe(out, inner, budget);
            out.push_str(" or null");
        }
        Kind::Reference(reference) => describe(out, (reference.target)(), budget),
    }
}

/// Names an object by its distinguishing property: its tag, or its only property if that is required.
fn object(out: &mut String, properties: &'static [Property]) {
    let properties = &*Members::of(properties).known;
    for property in properties {
        if let Kind::Enum(strings) = property.schema.kind
            && strings.is_tag
        {
            let (key, value) = (property.name(), strings.values[0].json());
            return push(out, format_args!("an object with \"{key}\": \"{value}\""));
        }
    }
    match properties {
        [only] if only.is_required() => {
            push(out, format_args!("an object with \"{}\"", only.name()));
        }
        _ => out.push_str("an object"),
    }
}

fn string(out: &mut String, rule: &StringRule) {
    match rule.format {
        "" => sized(out, "a string", rule.lengths, "character"),
        format => {
            let what = format!("a string in {format} format");
            sized(out, &what, rule.lengths, "character");
        }
    }
    pattern(out, rule.pattern.as_str());
}

/// Appends the pattern that a string must match, if there is one.
pub(crate) fn pattern(out: &mut String, pattern: &str) {
    if !pattern.is_empty() {
        out.push_str(" that matches ");
        out.push_str(pattern);
    }
}

fn number(out: &mut String, range: &NumberRange) {
    let end = |bound: Option<Bound>| bound.map(|bound| (bound.json, bound.is_exclusive));
    let [.., step] = range.limits();
    let step = step.map(|(_, step)| step.json);
    number_between(out, end(range.minimum), end(range.maximum), step);
}

/// Appends a number with its limits, each with `true` if it is exclusive, and its step.
pub(crate) fn number_between(
    out: &mut String,
    minimum: Option<(&str, bool)>,
    maximum: Option<(&str, bool)>,
    step: Option<&str>,
) {
    out.push_str("a number");
    let ends = [
        (minimum, "at least", "above"),
        (maximum, "at most", "below"),
    ];
    let mut link = "";
    for (end, inclusive, exclusive) in ends {
        if let Some((limit, is_exclusive)) = end {
            let relation = if is_exclusive { exclusive } else { inclusive };
            push(out, format_args!("{link} {relation} {limit}"));
            link = " and";
        }
    }
    if let Some(step) = step {
        push(out, format_args!(", a multiple of {step}"));
    }
}

/// Appends an integer with its limits and its step.
pub(crate) fn integer(out: &mut String, range: &IntegerRange) {
    out.push_str("an integer");
    let (minimum, maximum) = (range.minimum, range.maximum);
    match (range.shows_minimum, range.shows_maximum) {
        (true, true) => push(out, format_args!(" from {minimum} to {maximum}")),
        (true, false) => push(out, format_args!(" of at least {minimum}")),
        (false, true) => push(out, format_args!(" of at most {maximum}")),
        (false, false) => {}
    }
    if let [.., Some((keyword, step))] = range.limits() {
        push(out, format_args!(", {} {step}", keyword.phrase));
    }
}

/// Appends an integer with the limits of its type, which a schema may not show.
pub(crate) fn integer_in_full(out: &mut String, range: &IntegerRange) {
    push(out, format_args!("an integer from {} to ", range.minimum));
    // `i128::MAX` stands for the maximum of `u128`.
    if range.minimum >= 0 && range.maximum == i128::MAX {
        push(out, u128::MAX);
    } else {
        push(out, range.maximum);
    }
}

/// Appends `what` with its lengths, counted in units.
pub(crate) fn sized(out: &mut String, what: &str, lengths: Lengths, unit: &str) {
    out.push_str(what);
    let last = match (lengths.minimum, lengths.maximum) {
        (0, usize::MAX) => return,
        (least, most) if least == most => {
            out.push_str(" of exactly ");
            most
        }
        (least, usize::MAX) => {
            out.push_str(" of at least ");
            least
        }
        (0, most) => {
            out.push_str(" of at most ");
            most
        }
        (least, most) => {
            push(out, format_args!(" of {least} to "));
            most
        }
    };
    let plural = if last == 1 { "" } else { "s" };
    push(out, format_args!("{last} {unit}{plural}"));
}

/// Appends `a, b or c`, each between two quotes, limited to the first dozen.
pub(crate) fn one_of<T: AsRef<str>>(
    out: &mut String,
    values: impl ExactSizeIterator<Item = T>,
    quote: Option<char>,
) {
    let total = values.len();
    for (at, value) in values.enumerate().take(LISTED) {
        match at {
            0 => {}
            _ if at + 1 == total => out.push_str(" or "),
            _ => out.push_str(", "),
        }
        if let Some(quote) = quote {
            out.push(quote);
        }
        out.push_str(value.as_ref());
        if let Some(quote) = quote {
            out.push(quote);
        }
    }
    if total > LISTED {
        push(out, format_args!(" or one of {} others", total - LISTED));
    }
}

/// Appends the message for a key that is not one of `names`.
pub(crate) fn unknown<'a>(
    out: &mut String,
    key: &str,
    names: impl ExactSizeIterator<Item = &'a str> + Clone,
) {
    out.push_str("unknown; ");
    if let Some(name) = nearest(key, names.clone()) {
        return push(out, format_args!("did you mean \"{name}\"?"));
    }
    if names.len() == 0 {
        return out.push_str("no properties are expected here");
    }
    out.push_str("expected ");
    one_of(out, names, Some('"'));
}

/// Appends the value that was most likely meant, if one is close to `text`.
pub(crate) fn did_you_mean<'a>(
    out: &mut String,
    text: &str,
    values: impl Iterator<Item = &'a str>,
) {
    if let Some(value) = nearest(text, values) {
        let value = serde_json::Value::from(value);
        push(out, format_args!("; did you mean {value}?"));
    }
}

/// Truncates a value for display.
///
/// ```
/// use tool_core::dialect::write::shorten;
///
/// assert_eq!(shorten("[1,2,3]"), "[1,2,3]");
/// assert!(shorten(&"9".repeat(1000)).ends_with("9…"));
/// ```
pub fn shorten(json: &str) -> Cow<'_, str> {
    // At most `SHOWN` bytes are at most `SHOWN` characters.
    if json.len() <= SHOWN {
        return json.into();
    }
    match json.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &json[..end]).into(),
        None => json.into(),
    }
}

/// Truncates a name that the model wrote, for display.
///
/// The name also goes into the operator's log, so one with hidden characters is quoted and escaped.
///
/// ```
/// use tool_core::dialect::write::name;
///
/// assert_eq!(name("roll_die"), "roll_die");
/// assert_eq!(name("roll\u{200B}die"), r#""roll\u{200b}die""#);
/// ```
pub fn name(written: &str) -> Cow<'_, str> {
    if written.len() <= SHOWN && written.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return written.into();
    }
    let name = shorten(written);
    if name.contains(visible::is_hidden) {
        visible::line(&format!("{name:?}")).into_owned().into()
    } else {
        name
    }
}

/// Returns the part of a name that names a tool: without a path before it, as in `functions.get_weather`, and without
/// the tokens of a chat format and arguments, as in `get_weather<|channel|>commentary`.
///
/// ```
/// use tool_core::dialect::write::bare_name;
///
/// assert_eq!(bare_name("functions.get_weather"), "get_weather");
/// assert_eq!(bare_name("get_weather<|channel|>commentary"), "get_weather");
/// ```
pub fn bare_name(name: &str) -> &str {
    let mut name = name;
    while let Some((_, rest)) = name
        .strip_prefix("<|")
        .and_then(|rest| rest.split_once("|>"))
    {
        name = rest;
    }
    let end = name
        .find("<|")
        .or_else(|| name.find('('))
        .unwrap_or(name.len());
    let is_edge = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let name = name[..end].trim_matches(is_edge);
    let start = name.rfind(['.', '/', ':']).map_or(0, |at| at + 1);
    name[start..].trim_matches(is_edge)
}

/// Returns the last character boundary up to `at`.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    let boundary = (0..=at).rev().find(|&at| text.is_char_boundary(at));
    boundary.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_has_a_budget() {
        let mut schema: &'static Schema = &Schema::NULL;
        for _ in 0..40 {
            let both = Box::leak(Box::new([schema, &Schema::BOOLEAN, schema]));
            schema = Box::leak(Box::new(Schema::of(Kind::AnyOf(both))));
        }
        let described = text(|out| expected(out, schema));
        assert!(described.contains(ANY), "{described}");
        assert!(described.len() < 10_000, "{described}");
    }
}
