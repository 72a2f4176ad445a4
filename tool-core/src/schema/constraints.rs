//! The parts of a schema: texts, bounds, lists of strings.

use crate::schema::Schema;

/// Text of a schema: as a person wrote it, and as it stands between the quotes of a JSON string.
///
/// The JSON form is made by the macro, so that writing a schema while compiling only copies
/// slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    pub(crate) plain: &'static str,
    /// Empty where it is the same: a program has a place to fix up for each text that it points
    /// to, and most need no escapes.
    pub(crate) escaped: &'static str,
}

impl Text {
    /// No text.
    pub const EMPTY: Text = Text::new("");

    /// Text that is the same in JSON.
    ///
    /// # Panics
    ///
    /// When `text` holds a quote, a backslash or a control character, which JSON escapes. In a
    /// constant this is a compile error.
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
        Text::escaped(text, "")
    }

    /// The text in both its forms, trusted to be the same text. The second may be empty where it
    /// does not differ.
    pub(crate) const fn escaped(plain: &'static str, escaped: &'static str) -> Text {
        Text { plain, escaped }
    }

    /// Whether it is the same in JSON.
    pub(crate) const fn is_plain(&self) -> bool {
        // As `is_empty`, which is calls within calls.
        size_of_val(self.escaped) == 0
    }

    /// What stands between the quotes in JSON.
    pub(crate) const fn json(&self) -> &'static str {
        if self.is_plain() {
            self.plain
        } else {
            self.escaped
        }
    }

    /// The text as written.
    pub const fn as_str(&self) -> &'static str {
        self.plain
    }

    /// Whether there is any text.
    pub const fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }
}

/// The whole numbers that a node accepts.
///
/// A limit of `i128::MIN` or `i128::MAX` is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntegerRange {
    pub(crate) minimum: i128,
    pub(crate) maximum: i128,
    /// Whether the limits are written into the schema: `i64`'s are true but only noise to a model.
    pub(crate) shows_minimum: bool,
    pub(crate) shows_maximum: bool,
    /// What the number is a multiple of; 0 for anything.
    pub(crate) multiple_of: i128,
}

impl IntegerRange {
    /// Between two limits, which the schema shows.
    pub(crate) const fn between(minimum: i128, maximum: i128) -> IntegerRange {
        IntegerRange {
            minimum,
            maximum,
            shows_minimum: true,
            shows_maximum: true,
            multiple_of: 0,
        }
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
    /// Every number that a type of this greatest magnitude holds.
    pub(crate) const fn up_to(magnitude: f64) -> NumberRange {
        NumberRange {
            minimum: None,
            maximum: None,
            multiple_of: None,
            magnitude,
        }
    }
}

/// One end of a range of numbers, as a value and as its JSON text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub(crate) value: f64,
    pub(crate) json: &'static str,
    /// Whether the end itself is left out.
    pub(crate) is_exclusive: bool,
}

/// How long a string (in characters) or an array (in items) may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    pub(crate) minimum: usize,
    pub(crate) maximum: usize,
}

impl Lengths {
    /// No bound.
    pub const ANY: Lengths = Lengths {
        minimum: 0,
        maximum: usize::MAX,
    };

    /// Exactly this long.
    pub const fn exactly(length: usize) -> Lengths {
        Lengths {
            minimum: length,
            maximum: length,
        }
    }

    pub(crate) const fn admits(self, length: usize) -> bool {
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
    /// A regular expression that is found in the string; empty for none.
    pub(crate) pattern: Text,
    /// The same for the `regex` crate, translated by the macro.
    pub(crate) regex: &'static str,
    /// A format's name, such as `date-time`; empty for none. It is for the model: what enforces
    /// it is the type that is decoded.
    pub(crate) format: &'static str,
}

impl StringRule {
    pub(crate) const ANY: StringRule = StringRule {
        lengths: Lengths::ANY,
        pattern: Text::EMPTY,
        regex: "",
        format: "",
    };
}

/// A list of strings that a node accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strings {
    pub(crate) values: &'static [Text],
    /// Other names for them, which the schema does not show (`#[serde(alias)]`).
    pub(crate) aliases: &'static [&'static str],
    /// Whether any other string is accepted too, though the schema does not say so
    /// (`#[serde(other)]`).
    pub(crate) is_open: bool,
    /// Whether this is the tag of a variant, which is written as a constant.
    pub(crate) is_tag: bool,
}

impl Strings {
    pub(crate) const fn of(values: &'static [Text]) -> Strings {
        Strings {
            values,
            aliases: &[],
            is_open: false,
            is_tag: false,
        }
    }

    pub(crate) fn admits(self, text: &str) -> bool {
        self.lists(text) || self.is_open
    }

    /// Whether it is one of them, and not only let in with any other.
    pub(crate) fn lists(self, text: &str) -> bool {
        self.values.iter().any(|value| value.as_str() == text) || self.aliases.contains(&text)
    }

    /// The one value that differs from `text` by case alone: Anthropic's strict mode returns
    /// values so.
    pub(crate) fn fold(self, text: &str) -> Option<Text> {
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
    /// Whether no item may occur twice.
    pub(crate) is_unique: bool,
}

/// The objects with free keys that a node accepts.
#[derive(Clone, Copy, Debug)]
pub struct MapRule {
    /// What a key is, as a schema of its own: any string, one of some strings, an integer in
    /// quotes, one character.
    pub(crate) keys: &'static Schema,
    pub(crate) values: &'static Schema,
    pub(crate) lengths: Lengths,
}

/// A schema further up in the same tree, which a recursive type refers to.
///
/// The schema itself is behind a function: named here as a constant, it would be needed to compute
/// itself.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    pub(crate) name: &'static str,
    pub(crate) target: fn() -> &'static Schema,
}
