//! The parts of a schema: descriptions, bounds and the rules of each kind of node.

use crate::schema::Schema;
use crate::schema::numbers::Decimal;

/// Text in a schema, in plain form and escaped for JSON.
///
/// The macro writes the escaped form, so that rendering at compile time only copies slices.
///
/// ```
/// use tool_core::ToolType;
/// use tool_core::schema::{Schema, Text};
///
/// const CODE: Schema = String::SCHEMA.describe(Text::new("The code of an airport."));
/// assert_eq!(CODE.description(), "The code of an airport.");
/// assert_eq!(CODE.to_json(), r#"{"type":"string","description":"The code of an airport."}"#);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    /// The plain form, and after it the content of the JSON string, if that differs. One string, because
    /// every pointer costs a relocation.
    pub(crate) both: &'static str,
    /// The bytes of the plain form.
    pub(crate) plain: usize,
}

impl Text {
    /// The empty text.
    pub const EMPTY: Text = Text::new("");

    /// Creates a string that needs no JSON escapes.
    ///
    /// # Panics
    ///
    /// Panics if `text` contains a quote, a backslash or a control character. In a constant this
    /// is a compile error.
    pub const fn new(text: &'static str) -> Text {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            assert!(
                bytes[at] >= 0x20 && bytes[at] != b'"' && bytes[at] != b'\\',
                "this text needs JSON escapes; leave out quotes, backslashes and control characters"
            );
            at += 1;
        }
        Text::unchecked(text)
    }

    /// Creates a string that needs no JSON escapes, unchecked.
    pub(crate) const fn unchecked(text: &'static str) -> Text {
        Text {
            both: text,
            plain: size_of_val(text),
        }
    }

    /// Returns `true` if both forms are equal.
    pub(crate) const fn is_plain(&self) -> bool {
        // `len` would cost the compiler nested calls.
        size_of_val(self.both) == self.plain
    }

    /// Returns the content of the JSON string, without its quotes.
    pub(crate) const fn json(&self) -> &'static str {
        if self.is_plain() {
            self.both
        } else {
            self.both.split_at(self.plain).1
        }
    }

    /// Returns the text in plain form.
    pub const fn as_str(&self) -> &'static str {
        if self.is_plain() {
            self.both
        } else {
            self.both.split_at(self.plain).0
        }
    }

    /// Returns `true` if the text is empty.
    pub const fn is_empty(&self) -> bool {
        self.plain == 0
    }
}

/// A keyword of JSON Schema that limits numbers: everything that the crate writes about it.
#[derive(Debug)]
pub(crate) struct NumberKeyword {
    pub(crate) name: &'static str,
    /// The words of a message before its value.
    pub(crate) phrase: &'static str,
    /// The words of a violation between the number and the value.
    pub(crate) relation: &'static str,
}

impl NumberKeyword {
    const MINIMUM: &NumberKeyword = &NumberKeyword {
        name: "minimum",
        phrase: "at least",
        relation: "below the minimum",
    };
    const EXCLUSIVE_MINIMUM: &NumberKeyword = &NumberKeyword {
        name: "exclusiveMinimum",
        phrase: "above",
        relation: "not above",
    };
    const MAXIMUM: &NumberKeyword = &NumberKeyword {
        name: "maximum",
        phrase: "at most",
        relation: "above the maximum",
    };
    const EXCLUSIVE_MAXIMUM: &NumberKeyword = &NumberKeyword {
        name: "exclusiveMaximum",
        phrase: "below",
        relation: "not below",
    };
    const MULTIPLE_OF: &NumberKeyword = &NumberKeyword {
        name: "multipleOf",
        phrase: "a multiple of",
        relation: "not a multiple of",
    };
}

/// A keyword with its value.
pub(crate) type Limit<T> = Option<(&'static NumberKeyword, T)>;

/// The integers that a node accepts.
///
/// A limit of `i128::MIN` or `i128::MAX` means unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerRange {
    pub(crate) minimum: i128,
    pub(crate) maximum: i128,
    /// `true` if the schema shows the minimum. The limits of `i64` are only noise to a model.
    pub(crate) shows_minimum: bool,
    /// `true` if the schema shows the maximum.
    pub(crate) shows_maximum: bool,
    /// `true` for types of 128 bits, which serde reads from JSON text only; see
    /// [`buffered`](crate::schema::const_check::buffered).
    pub(crate) needs_text: bool,
    /// Accepted numbers are multiples of this; 0 for any.
    pub(crate) multiple_of: i128,
}

impl IntegerRange {
    /// Creates a range whose limits the schema shows.
    pub(crate) const fn between(minimum: i128, maximum: i128) -> IntegerRange {
        IntegerRange {
            minimum,
            maximum,
            shows_minimum: true,
            shows_maximum: true,
            needs_text: false,
            multiple_of: 0,
        }
    }

    /// Returns the limits that the schema shows, in this order: the minimum, the maximum, the step. Code
    /// that writes or describes schemas at run time reads the limits here.
    pub(crate) const fn limits(&self) -> [Limit<i128>; 3] {
        let mut limits = [None; 3];
        if self.shows_minimum {
            limits[0] = Some((NumberKeyword::MINIMUM, self.minimum));
        }
        if self.shows_maximum {
            limits[1] = Some((NumberKeyword::MAXIMUM, self.maximum));
        }
        if self.multiple_of != 0 {
            limits[2] = Some((NumberKeyword::MULTIPLE_OF, self.multiple_of));
        }
        limits
    }

    /// Returns the limits that a number violates: one of the ends, and the step.
    #[inline]
    pub(crate) const fn violated(&self, number: i128) -> [Limit<i128>; 2] {
        let mut violated = [None; 2];
        if number < self.minimum {
            violated[0] = Some((NumberKeyword::MINIMUM, self.minimum));
        } else if number > self.maximum {
            violated[0] = Some((NumberKeyword::MAXIMUM, self.maximum));
        }
        if self.multiple_of != 0 && number % self.multiple_of != 0 {
            violated[1] = Some((NumberKeyword::MULTIPLE_OF, self.multiple_of));
        }
        violated
    }

    /// Returns the limit of a 128-bit type that digits are beyond.
    pub(crate) fn type_limit(&self, digits: &str) -> Limit<String> {
        let is_unsigned = self.minimum >= 0;
        let is_held = !self.needs_text
            || digits.parse::<i128>().is_ok()
            || is_unsigned && digits.parse::<u128>().is_ok();
        if is_held {
            return None;
        }
        Some(match (digits.starts_with('-'), is_unsigned) {
            (true, _) => (NumberKeyword::MINIMUM, self.minimum.to_string()),
            (_, true) => (NumberKeyword::MAXIMUM, u128::MAX.to_string()),
            _ => (NumberKeyword::MAXIMUM, i128::MAX.to_string()),
        })
    }

    /// Returns the range without the limits of some keywords, by name.
    pub(crate) fn without(self, is_removed: impl Fn(&str) -> bool) -> IntegerRange {
        let [minimum, maximum, step] = self
            .limits()
            .map(|limit| limit.filter(|(keyword, _)| !is_removed(keyword.name)));
        IntegerRange {
            shows_minimum: minimum.is_some(),
            shows_maximum: maximum.is_some(),
            multiple_of: step.map_or(0, |(_, step)| step),
            ..self
        }
    }

    /// Returns `true` if both accept the same integers.
    pub(crate) const fn is_same(&self, other: &IntegerRange) -> bool {
        self.minimum == other.minimum
            && self.maximum == other.maximum
            && self.multiple_of == other.multiple_of
    }
}

/// The numbers that a node accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRange {
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) multiple_of: Option<Bound>,
    /// The greatest magnitude that the Rust type holds. The schema does not show it.
    pub(crate) magnitude: f64,
}

impl NumberRange {
    /// Creates the range of a type that holds numbers up to this magnitude.
    pub(crate) const fn up_to(magnitude: f64) -> NumberRange {
        NumberRange {
            minimum: None,
            maximum: None,
            multiple_of: None,
            magnitude,
        }
    }

    /// Returns `true` if the schema shows no limit.
    #[inline]
    pub(crate) const fn is_any(&self) -> bool {
        self.minimum.is_none() && self.maximum.is_none() && self.multiple_of.is_none()
    }

    /// Returns the limits that the schema shows, in this order: the minimum, the maximum, the step. Code
    /// that writes or describes schemas at run time reads the limits here.
    pub(crate) const fn limits(&self) -> [Limit<Bound>; 3] {
        let mut limits = [None; 3];
        if let Some(bound) = self.minimum {
            limits[0] = Some((bound.minimum_keyword(), bound));
        }
        if let Some(bound) = self.maximum {
            limits[1] = Some((bound.maximum_keyword(), bound));
        }
        if let Some(step) = self.multiple_of {
            limits[2] = Some((NumberKeyword::MULTIPLE_OF, step));
        }
        limits
    }

    /// Returns the limits that a number violates, which is given as JSON too: one of the ends, and the
    /// step.
    #[inline]
    pub(crate) const fn violated(&self, number: f64, json: &str) -> [Limit<Bound>; 2] {
        let mut violated = [None; 2];
        if let Some(bound) = self.minimum
            && bound.is_above(number)
        {
            violated[0] = Some((bound.minimum_keyword(), bound));
        } else if let Some(bound) = self.maximum
            && bound.is_below(number)
        {
            violated[0] = Some((bound.maximum_keyword(), bound));
        }
        if let Some(step) = self.multiple_of {
            let is_multiple = match Decimal::parse(json).is_multiple_of(&Decimal::parse(step.json))
            {
                // A float may hold no number between this one and zero.
                Some(is_multiple) => is_multiple || number == 0.0,
                None => number % step.value == 0.0,
            };
            if !is_multiple {
                violated[1] = Some((NumberKeyword::MULTIPLE_OF, step));
            }
        }
        violated
    }

    /// Returns the range without the limits of some keywords, by name.
    pub(crate) fn without(self, is_removed: impl Fn(&str) -> bool) -> NumberRange {
        let rest = |limit: Limit<Bound>| {
            let rest = limit.filter(|(keyword, _)| !is_removed(keyword.name));
            rest.map(|(_, bound)| bound)
        };
        let [minimum, maximum, multiple_of] = self.limits().map(rest);
        NumberRange {
            minimum,
            maximum,
            multiple_of,
            ..self
        }
    }
}

/// One end of a range of numbers, as a value and as JSON text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub(crate) value: f64,
    pub(crate) json: &'static str,
    /// `true` if the range does not include the bound itself.
    pub(crate) is_exclusive: bool,
}

impl Bound {
    /// Returns `true` if `number` violates this minimum.
    const fn is_above(&self, number: f64) -> bool {
        number < self.value || self.is_exclusive && number <= self.value
    }

    /// Returns `true` if `number` violates this maximum.
    const fn is_below(&self, number: f64) -> bool {
        number > self.value || self.is_exclusive && number >= self.value
    }

    const fn minimum_keyword(&self) -> &'static NumberKeyword {
        if self.is_exclusive {
            NumberKeyword::EXCLUSIVE_MINIMUM
        } else {
            NumberKeyword::MINIMUM
        }
    }

    const fn maximum_keyword(&self) -> &'static NumberKeyword {
        if self.is_exclusive {
            NumberKeyword::EXCLUSIVE_MAXIMUM
        } else {
            NumberKeyword::MAXIMUM
        }
    }
}

/// The accepted length of a string (in characters), an array (in items) or a map (in members).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    pub(crate) minimum: usize,
    pub(crate) maximum: usize,
}

impl Lengths {
    /// Any length.
    pub const ANY: Lengths = Lengths {
        minimum: 0,
        maximum: usize::MAX,
    };

    /// Exactly this length.
    pub const fn exactly(length: usize) -> Lengths {
        Lengths {
            minimum: length,
            maximum: length,
        }
    }

    pub(crate) const fn accepts(self, length: usize) -> bool {
        self.minimum <= length && length <= self.maximum
    }

    pub(crate) const fn is_any(self) -> bool {
        self.minimum == 0 && self.maximum == usize::MAX
    }
}

/// The strings that a node accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringRule {
    pub(crate) lengths: Lengths,
    /// A regular expression to be found in the string; empty if there is none.
    pub(crate) pattern: Text,
    /// The pattern in the syntax of the `regex` crate, translated by the macro.
    pub(crate) regex: &'static str,
    /// The name of a format, such as `date-time`; empty if there is none. It informs the model;
    /// the decoded type enforces it.
    pub(crate) format: &'static str,
}

impl StringRule {
    pub(crate) const ANY: StringRule = StringRule {
        lengths: Lengths::ANY,
        pattern: Text::EMPTY,
        regex: "",
        format: "",
    };

    /// Returns `true` if every string is accepted.
    pub(crate) const fn is_any(&self) -> bool {
        self.lengths.is_any() && self.pattern.is_empty() && self.format.is_empty()
    }
}

/// The strings of an enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strings {
    pub(crate) values: &'static [Text],
    /// Other accepted names, which the schema does not show (`#[serde(alias)]`), each with the index
    /// of its value. The variant for any other string, if it is not among the values, comes after
    /// them.
    pub(crate) aliases: &'static [(&'static str, usize)],
    /// `true` if any other string is accepted too, which the schema does not show
    /// (`#[serde(other)]`).
    pub(crate) is_open: bool,
    /// `true` for the tag of a variant, rendered as `const`.
    pub(crate) is_tag: bool,
    /// `true` for keys that are booleans, which serde reads from JSON text only; see
    /// [`buffered`](crate::schema::const_check::buffered).
    pub(crate) needs_text: bool,
    /// The names of the other variants, if any other string is accepted.
    pub(crate) excluded: &'static [&'static str],
}

impl Strings {
    pub(crate) const fn of(values: &'static [Text]) -> Strings {
        Strings {
            values,
            aliases: &[],
            is_open: false,
            is_tag: false,
            needs_text: false,
            excluded: &[],
        }
    }

    pub(crate) fn accepts(self, text: &str) -> bool {
        self.contains(text) || self.is_open && !self.is_excluded(text)
    }

    /// Returns `true` if `text` names another variant, in any case.
    pub(crate) fn is_excluded(self, text: &str) -> bool {
        let folded = || text.to_lowercase();
        !self.excluded.is_empty()
            && self
                .excluded
                .iter()
                .any(|name| name.to_lowercase() == folded())
    }

    /// Returns `true` if `text` is one of the values or aliases.
    pub(crate) fn contains(self, text: &str) -> bool {
        self.values.iter().any(|value| value.as_str() == text)
            || self.aliases.iter().any(|(alias, _)| *alias == text)
    }

    /// Returns the number of variants that the strings stand for.
    pub(crate) fn variants(self) -> usize {
        let other = self.aliases.iter().map(|(_, number)| number + 1).max();
        self.values.len().max(other.unwrap_or(0))
    }

    /// Returns the number of the variant that `text` is decoded to, if it is spelled exactly. The variant for
    /// any other string is the last.
    pub(crate) fn number_of(&self, text: &str) -> Option<usize> {
        if let Some(number) = self.values.iter().position(|value| value.as_str() == text) {
            return Some(number);
        }
        if let Some((_, number)) = self.aliases.iter().find(|(alias, _)| *alias == text) {
            return Some(*number);
        }
        let is_other =
            self.is_open && !self.is_excluded(text) && self.match_ignoring_case(text).is_none();
        is_other.then(|| self.variants() - 1)
    }

    /// Returns the value that `text` is decoded to, by a name that all its spellings share. Returns
    /// `None` if it is not accepted.
    pub(crate) fn value_of(self, text: &str) -> Option<&'static str> {
        let value = |index: usize| match self.values.get(index) {
            Some(value) => Some(value.as_str()),
            None => {
                let mut aliases = self.aliases.iter();
                aliases.find(|(_, at)| *at == index).map(|(name, _)| *name)
            }
        };
        if let Some(value) = self.values.iter().find(|value| value.as_str() == text) {
            return Some(value.as_str());
        }
        if let Some((_, index)) = self.aliases.iter().find(|(alias, _)| *alias == text) {
            return value(*index);
        }
        if let Some(value) = self.match_ignoring_case(text) {
            return Some(value.as_str());
        }
        let other = || value(self.values.len()).or_else(|| value(0));
        if self.is_open { other() } else { None }
    }

    /// Returns the value that equals `text` except for case, if there is exactly one. Anthropic's
    /// strict mode sends such values.
    pub(crate) fn match_ignoring_case(self, text: &str) -> Option<Text> {
        let folded = text.to_lowercase();
        let mut same = self
            .values
            .iter()
            .filter(|value| value.as_str().to_lowercase() == folded);
        let found = same.next().copied();
        found.filter(|_| same.next().is_none())
    }
}

/// The arrays that a node accepts.
#[derive(Clone, Copy, Debug)]
pub struct ArrayRule {
    pub(crate) items: &'static Schema,
    pub(crate) lengths: Lengths,
    /// `true` if the items must be unique.
    pub(crate) is_unique: bool,
    /// `true` for a set, which holds equal items once.
    pub(crate) is_set: bool,
}

impl ArrayRule {
    /// Any array.
    pub(crate) const ANY: ArrayRule = ArrayRule {
        items: &Schema::ANY,
        lengths: Lengths::ANY,
        is_unique: false,
        is_set: false,
    };
}

/// The objects with free keys that a node accepts.
#[derive(Clone, Copy, Debug)]
pub struct MapRule {
    /// The schema of a key: any string, an enum, an integer in quotes or one character.
    pub(crate) keys: &'static Schema,
    pub(crate) values: &'static Schema,
    pub(crate) lengths: Lengths,
}

impl MapRule {
    /// Any object.
    pub(crate) const ANY: MapRule = MapRule {
        keys: &Schema::STRING,
        values: &Schema::ANY,
        lengths: Lengths::ANY,
    };
}

/// A reference from a recursive type to its schema further up the tree.
///
/// The schema is behind a function, because a constant would need itself to be computed.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    pub(crate) name: &'static str,
    pub(crate) target: fn() -> &'static Schema,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Kind;
    use crate::schema::constrain::bound;

    #[test]
    fn a_schema_shows_its_limits() {
        let integers = IntegerRange {
            multiple_of: 3,
            ..IntegerRange::between(1, 9)
        };
        let limits = integers.limits().map(|limit| limit.expect("a limit"));
        let limits = limits.map(|(keyword, limit)| format!(",\"{}\":{limit}", keyword.name));
        assert_eq!(
            Schema::of(Kind::Integer(integers)).to_json(),
            format!("{{\"type\":\"integer\"{}}}", limits.concat())
        );
        for is_exclusive in [false, true] {
            let numbers = NumberRange {
                minimum: Some(bound(0.5, "0.5", is_exclusive)),
                maximum: Some(bound(9.5, "9.5", is_exclusive)),
                multiple_of: Some(bound(0.1, "0.1", false)),
                ..NumberRange::up_to(f64::MAX)
            };
            let limits = numbers.limits().map(|limit| limit.expect("a limit"));
            let limits =
                limits.map(|(keyword, limit)| format!(",\"{}\":{}", keyword.name, limit.json));
            assert_eq!(
                Schema::of(Kind::Number(numbers)).to_json(),
                format!("{{\"type\":\"number\"{}}}", limits.concat())
            );
            assert!(numbers.without(|_| true).is_any());
            assert_eq!(numbers.without(|_| false), numbers);
        }
    }
}
