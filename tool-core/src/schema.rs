//! The schema tree: what a type accepts, as constant data.
//!
//! A [`Schema`] is written by `#[tool]` and `#[derive(ToolType)]`, composed through
//! [`ToolType::SCHEMA`](crate::ToolType::SCHEMA), rendered to JSON text while compiling
//! and walked to judge a model's arguments. One tree, three readers:
//! they cannot disagree.
//!
//! # Where a call is judged otherwise than by the letter of its schema
//!
//! Wider, because models and strict modes send it and nothing is lost:
//!
//! - `null` for whatever may be left out is leaving it out;
//! - `null`, empty text and nothing at all in the place of the arguments are no arguments;
//! - a value of an enum may differ by case alone;
//! - the names of `#[serde(alias)]` and `#[serde(other)]` are taken and not shown.
//!
//! Narrower, because the schema could only say it at the cost of noise, or not at all:
//!
//! - a number beyond its Rust type is refused where the schema shows no bound;
//! - so is an integer key of a map beyond the type of the keys;
//! - a type that parses a string (an address, a date, a validated newtype) refuses what it can't
//!   parse, in its own words;
//! - a key that is given twice is refused: no schema can say that;
//! - values nest at most 127 levels deep.

#[doc(hidden)]
pub mod check;
pub(crate) mod const_string;
#[doc(hidden)]
pub mod constrain;
mod constraints;
pub(crate) mod cursor;
pub(crate) mod decode_check;
pub(crate) mod golden;
pub(crate) mod json;
pub(crate) mod numbers;
#[cfg(feature = "regex")]
mod pattern;
pub(crate) mod property;
pub(crate) mod seen;
pub(crate) mod stats;
pub(crate) mod validate;
pub(crate) mod violation;
pub(crate) mod words;

pub use constraints::{
    ArrayRule, Bound, IntegerRange, Lengths, MapRule, NumberRange, Reference, StringRule, Strings,
    Text,
};
pub use property::Property;

/// What a type accepts: the node of a schema tree.
///
/// Built from its constants and constant functions:
///
/// ```
/// use tool_core::schema::{Schema, Text};
///
/// const COLOUR: &Schema = &Schema::STRING.describe(Text::new("A CSS colour."));
/// assert_eq!(COLOUR.to_json(), r#"{"type":"string","description":"A CSS colour."}"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    pub(crate) kind: Kind,
    pub(crate) description: Text,
    /// What is told beside any description, its own or that of a parameter: the meaning of each
    /// value of an enum.
    pub(crate) notes: Text,
    /// The name of the type, where something may refer to it; else empty.
    pub(crate) name: &'static str,
    /// Whether the type is written differently from how it is read, so that this describes
    /// arguments but no result.
    pub(crate) is_input_only: bool,
    /// How serde reads it, where that differs from what the schema says.
    pub(crate) reading: Reading,
    /// What the type itself says to a value, where that may be more.
    pub(crate) trial: Option<decode_check::DecodeCheckFn>,
}

/// What serde takes for a value although the schema does not describe it. The walk refuses it, but
/// an untagged enum must not prefer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Nothing else, or nothing that matters.
    Exact,
    /// An array with the values of the fields in their order: a struct that denies unknown fields.
    Positional,
    /// That, and objects with more members: any other struct.
    Lax,
    /// Numbers, strings or arrays besides: a type that reads itself in several ways.
    Several,
}

/// The kinds of schema node.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Any JSON value.
    Any,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A whole number; `20.0` is one.
    Integer(IntegerRange),
    /// A number.
    Number(NumberRange),
    /// A string.
    String(StringRule),
    /// One of some strings.
    Enum(Strings),
    /// An array of values of one kind.
    Array(ArrayRule),
    /// An array with one value for each of these.
    Tuple(&'static [&'static Schema]),
    /// An object with free keys and values of one kind.
    Map(MapRule),
    /// An object with exactly these keys: nothing else is accepted.
    Object(&'static [Property]),
    /// A value that at least one of these describes.
    AnyOf(&'static [&'static Schema]),
    /// `null`, or what the inner schema says. A parameter or a field of this kind may be left out,
    /// and its schema is then written without `null`.
    Nullable(&'static Schema),
    /// What a schema further up says: a recursive type.
    Reference(Reference),
}

impl Schema {
    /// Any JSON value.
    pub const ANY: Schema = Schema::of(Kind::Any);
    /// `null`.
    pub const NULL: Schema = Schema::of(Kind::Null);
    /// `true` or `false`.
    pub const BOOLEAN: Schema = Schema::of(Kind::Boolean);
    /// A whole number.
    pub const INTEGER: Schema = Schema::of(Kind::Integer(IntegerRange {
        shows_minimum: false,
        shows_maximum: false,
        ..IntegerRange::between(i128::MIN, i128::MAX)
    }));
    /// A number.
    pub const NUMBER: Schema = Schema::of(Kind::Number(NumberRange::up_to(f64::MAX)));
    /// A string of any length.
    pub const STRING: Schema = Schema::of(Kind::String(StringRule::ANY));

    pub(crate) const fn of(kind: Kind) -> Schema {
        Schema {
            kind,
            description: Text::EMPTY,
            notes: Text::EMPTY,
            name: "",
            is_input_only: false,
            reading: Reading::Exact,
            trial: None,
        }
    }

    /// A whole number between two limits, both written into the schema.
    pub const fn integer(minimum: i128, maximum: i128) -> Schema {
        Schema::of(Kind::Integer(IntegerRange::between(minimum, maximum)))
    }

    /// A string whose format a model knows, such as `date-time`. The type must enforce it.
    pub const fn format(format: &'static str) -> Schema {
        Schema::of(Kind::String(StringRule {
            format,
            ..StringRule::ANY
        }))
    }

    /// A string of so many characters.
    pub const fn string(lengths: Lengths) -> Schema {
        Schema::of(Kind::String(StringRule {
            lengths,
            ..StringRule::ANY
        }))
    }

    /// An array whose items all follow one schema.
    pub const fn array(items: &'static Schema) -> Schema {
        Schema::array_of(items, Lengths::ANY)
    }

    /// An array of so many items that all follow one schema.
    pub const fn array_of(items: &'static Schema, lengths: Lengths) -> Schema {
        Schema::of(Kind::Array(ArrayRule {
            items,
            lengths,
            is_unique: false,
        }))
    }

    /// An array with one item for each of these schemas.
    pub const fn tuple(items: &'static [&'static Schema]) -> Schema {
        Schema::of(Kind::Tuple(items))
    }

    /// An object with any keys whose values all follow one schema.
    pub const fn map(values: &'static Schema) -> Schema {
        Schema::map_of(&Schema::STRING, values)
    }

    /// An object whose keys and values each follow a schema. The keys' is that of any string, of
    /// some strings, of an integer or of one character.
    ///
    /// # Panics
    ///
    /// When the schema of the keys is of another kind, which can't be a key.
    pub const fn map_of(keys: &'static Schema, values: &'static Schema) -> Schema {
        assert!(
            matches!(
                keys.kind,
                Kind::String(_) | Kind::Enum(_) | Kind::Integer(_)
            ),
            "the keys of a JSON object are strings; take a `Vec` of pairs for keys of this type"
        );
        Schema::of(Kind::Map(MapRule {
            keys,
            values,
            lengths: Lengths::ANY,
        }))
    }

    /// A closed object: these keys and no other.
    pub const fn object(properties: &'static [Property]) -> Schema {
        Schema::of(Kind::Object(properties))
    }

    /// One of these strings.
    pub const fn strings(values: &'static [Text]) -> Schema {
        Schema::of(Kind::Enum(Strings::of(values)))
    }

    /// A value that at least one of these schemas describes.
    pub const fn any_of(schemas: &'static [&'static Schema]) -> Schema {
        Schema::of(Kind::AnyOf(schemas))
    }

    /// `null`, or what `inner` says.
    pub const fn nullable(inner: &'static Schema) -> Schema {
        Schema {
            description: inner.description,
            ..Schema::of(Kind::Nullable(inner))
        }
    }

    /// The same schema with this description.
    pub const fn describe(mut self, description: Text) -> Schema {
        self.description = description;
        self
    }

    /// The same schema of a type that serde reads in other ways besides.
    #[allow(dead_code)] // for the types of other crates, which are all optional
    pub(crate) const fn read_in_several_ways(mut self) -> Schema {
        self.reading = Reading::Several;
        self
    }

    /// What kind of value it is.
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Its description, empty for none.
    pub const fn description(&self) -> &'static str {
        self.description.as_str()
    }

    /// Its members, if it is an object with known keys.
    pub const fn properties(&self) -> &'static [Property] {
        match self.kind {
            Kind::Object(properties) => properties,
            _ => &[],
        }
    }

    /// The member of this name, if it is an object that has one.
    pub fn property(&self, name: &str) -> Option<&'static Property> {
        self.properties().iter().find(|p| p.name() == name)
    }

    /// The JSON text of this schema.
    pub fn to_json(&self) -> String {
        json::to_string(self)
    }

    /// Whether results look like this too, and not only arguments.
    pub(crate) const fn describes_results(&self) -> bool {
        if self.is_input_only {
            return false;
        }
        match self.kind {
            Kind::Nullable(inner) => inner.describes_results(),
            Kind::Array(rule) => rule.items.describes_results(),
            Kind::Map(rule) => rule.values.describes_results(),
            Kind::AnyOf(schemas) | Kind::Tuple(schemas) => {
                let mut at = 0;
                while at < schemas.len() {
                    if !schemas[at].describes_results() {
                        return false;
                    }
                    at += 1;
                }
                true
            }
            Kind::Object(properties) => {
                let mut at = 0;
                while at < properties.len() {
                    if !properties[at].schema.describes_results() {
                        return false;
                    }
                    at += 1;
                }
                true
            }
            _ => true,
        }
    }

    /// Whether `null` is a value.
    pub(crate) const fn admits_null(&self) -> bool {
        match self.kind {
            Kind::Any | Kind::Null | Kind::Nullable(_) => true,
            Kind::AnyOf(schemas) => {
                let mut at = 0;
                while at < schemas.len() {
                    if schemas[at].admits_null() {
                        return true;
                    }
                    at += 1;
                }
                false
            }
            _ => false,
        }
    }
}
