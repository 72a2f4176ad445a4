//! The schema tree: a constant description of the values that a type accepts.
//!
//! `#[tool]` and `#[derive(ToolType)]` write a [`Schema`] for each type, and types compose through
//! [`ToolType::SCHEMA`](crate::ToolType::SCHEMA). The same tree is rendered to JSON text at compile
//! time, validates the model's arguments at run time and words the errors, so the three cannot
//! disagree.
//!
//! # Deliberate exceptions
//!
//! A call is validated exactly against the schema that the model sees, with these exceptions.
//!
//! Accepted although the schema does not describe it, because models and strict modes send it and
//! its meaning is clear:
//!
//! - `null` for an optional property means that the property is absent. So an `Option` whose default is not
//!   `None` gets the default: in a strict form, which requires every property, `null` is the only way to
//!   leave one out.
//! - `null`, empty text (also as a JSON string) or missing arguments mean `{}`.
//! - An enum value, even as the key of a map, may differ in case, as long as only one value matches.
//! - Names from `#[serde(alias)]` are accepted, and so is any value of an enum with
//!   `#[serde(other)]`.
//!
//! Rejected although the schema allows it, because JSON Schema cannot express the rule, or only at
//! the cost of noise:
//!
//! - A number that does not fit its Rust type, where the schema shows no bound.
//! - An integer map key that does not fit the key type.
//! - A string that its type cannot parse, such as an address, a date or a validated newtype. The
//!   error carries the type's own message.
//! - A duplicate key, also of a map whose key type reads two keys as one value.
//! - Unique items that differ as JSON and that their type reads as one value, such as an address in
//!   two spellings. Types with a `Deserialize` of the application's own are compared as JSON, and an
//!   absent property differs from one that equals its default.
//! - A number that a JSON value may have rounded, where an integer is expected: an integer of more
//!   than 64 bits in arguments that arrive as a `serde_json::Value`.
//! - A value nested more than 127 levels deep.
//!
//! Multiples are computed in decimal: 0.3 is a multiple of 0.1. Some validators compute in binary
//! fractions, in which it is not.

pub(crate) mod const_check;
pub(crate) mod const_string;
pub(crate) mod constrain;
pub(crate) mod cursor;
pub(crate) mod decode_check;
pub(crate) mod difference;
pub(crate) mod examples;
mod flat;
pub(crate) mod flatten;
mod from_text;
pub(crate) mod json;
pub(crate) mod messages;
mod nearest;
pub(crate) mod not_json;
pub(crate) mod numbers;
mod parts;
#[cfg(feature = "regex")]
mod pattern;
pub(crate) mod property;
pub(crate) mod prose;
pub(crate) mod references;
pub(crate) mod secret;
pub(crate) mod sets;
pub(crate) mod stats;
pub(crate) mod validate;
pub(crate) mod violation;

pub use from_text::object_from_text;
pub use parts::Text;
#[doc(hidden)]
pub use parts::{
    ArrayRule, Bound, IntegerRange, Lengths, MapRule, NumberRange, Reference, StringRule, Strings,
};
pub use property::{Property, PropertyDetails};
pub use violation::{Coercion, Violation};

pub use crate::ordered_json::Json;

/// A node of a schema tree: what a type accepts.
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
    /// The meaning of each value of an enum. Appended to the description, even to the description of a
    /// parameter, which replaces the type's.
    pub(crate) notes: Text,
    /// The type's name, which references use; empty if there is none.
    pub(crate) name: &'static str,
    /// The form in which the type is serialized.
    pub(crate) results: Results,
    pub(crate) extra_forms: ExtraForms,
    /// `true` if values are shown to nobody but the model and the tool; see [`secret`].
    pub(crate) is_secret: bool,
    /// Decodes a value to find out whether the type rejects what the schema allows.
    pub(crate) decode_check: Option<decode_check::DecodeCheckFn>,
    /// Decodes a value to find out whether the type's `Deserialize` does so in another way.
    #[cfg(debug_assertions)]
    pub(crate) comparison: Option<decode_check::DecodeCheckFn>,
}

/// The direction of the described values.
///
/// It matters for types that serde writes in another form than it reads, and for optional values: a
/// call should omit them, while serde writes a result's `None` as `null`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Direction {
    /// From a model to a tool.
    Arguments,
    /// From a tool to a model.
    Result,
}

/// The relation of a schema of arguments to results.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Results {
    /// The type is serialized in the same form.
    Same,
    /// The type is serialized in this form.
    Other(&'static Schema),
    /// The type is serialized in an unknown form.
    Unknown,
}

/// The forms that serde accepts for a value although the schema does not describe them.
///
/// Validation rejects them, but an untagged enum must not prefer them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExtraForms {
    /// None that matter.
    None,
    /// None, like a variant with named fields that denies unknown ones.
    Strict,
    /// An array of the fields' values in order: a struct that denies unknown fields.
    Positional,
    /// Objects with unknown fields: a variant of an untagged enum, or a struct that flattens.
    Unknown,
    /// Both: any other struct.
    Lax,
    /// Numbers, strings or arrays: a type whose `Deserialize` accepts several forms.
    Several,
    /// The extra forms of its members: an untagged enum.
    Untagged,
    /// An object whose flattened `Option` is `None` if its type rejects the value.
    Swallowing,
}

/// The kinds of schema node.
///
/// ```
/// use tool_core::ToolType;
/// use tool_core::schema::Kind;
///
/// assert!(matches!(bool::SCHEMA.kind(), Kind::Boolean));
/// let Kind::Nullable(inner) = Option::<bool>::SCHEMA.kind() else { unreachable!() };
/// assert!(matches!(inner.kind(), Kind::Boolean));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Any JSON value.
    Any,
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// An integer; `20.0` is one.
    Integer(IntegerRange),
    /// A number.
    Number(NumberRange),
    /// A string.
    String(StringRule),
    /// One of several strings.
    Enum(Strings),
    /// An array whose items all follow one schema.
    Array(ArrayRule),
    /// An array with one item for each of these schemas.
    Tuple(&'static [&'static Schema]),
    /// An object with free keys, whose values all follow one schema.
    Map(MapRule),
    /// An object with these properties and no others.
    Object(&'static [Property]),
    /// A value that matches at least one of these schemas.
    AnyOf(&'static [&'static Schema]),
    /// `null`, or a value that matches the inner schema. A parameter or a field of this kind is
    /// optional, and its schema is then written without `null`.
    Nullable(&'static Schema),
    /// A reference to a schema further up the tree: a recursive type.
    Reference(Reference),
}

impl Kind {
    /// Returns `true` if no schema is part of it.
    pub(crate) const fn is_leaf(&self) -> bool {
        matches!(
            self,
            Kind::Any
                | Kind::Null
                | Kind::Boolean
                | Kind::Integer(_)
                | Kind::Number(_)
                | Kind::String(_)
                | Kind::Enum(_)
        )
    }
}

impl Schema {
    /// Any JSON value.
    pub const ANY: Schema = Schema::of(Kind::Any);
    /// `null`.
    pub const NULL: Schema = Schema::of(Kind::Null);
    /// `true` or `false`.
    pub const BOOLEAN: Schema = Schema::of(Kind::Boolean);
    /// An integer.
    pub const INTEGER: Schema = Schema::of(Kind::Integer(IntegerRange {
        shows_minimum: false,
        shows_maximum: false,
        ..IntegerRange::between(i128::MIN, i128::MAX)
    }));
    /// A number.
    pub const NUMBER: Schema = Schema::of(Kind::Number(NumberRange::up_to(f64::MAX)));
    /// A string of any length.
    pub const STRING: Schema = Schema::of(Kind::String(StringRule::ANY));
    /// A value that is serialized in an unknown form.
    pub(crate) const UNKNOWN: Schema = Schema {
        results: Results::Unknown,
        ..Schema::ANY
    };

    pub(crate) const fn of(kind: Kind) -> Schema {
        Schema {
            kind,
            description: Text::EMPTY,
            notes: Text::EMPTY,
            name: "",
            results: Results::Same,
            extra_forms: ExtraForms::None,
            is_secret: false,
            decode_check: None,
            #[cfg(debug_assertions)]
            comparison: None,
        }
    }

    /// An integer between two limits, both shown in the schema.
    pub const fn integer(minimum: i128, maximum: i128) -> Schema {
        Schema::of(Kind::Integer(IntegerRange::between(minimum, maximum)))
    }

    /// A string of a standard format, such as `date-time`. The type itself must enforce the format.
    pub const fn format(format: &'static str) -> Schema {
        Schema::of(Kind::String(StringRule {
            format,
            ..StringRule::ANY
        }))
    }

    /// A string of a limited number of characters.
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

    /// An array of a limited number of items that all follow one schema.
    pub const fn array_of(items: &'static Schema, lengths: Lengths) -> Schema {
        Schema::of(Kind::Array(ArrayRule {
            items,
            lengths,
            is_unique: false,
            is_set: false,
        }))
    }

    /// An array that is decoded to a set. A minimum length of two or more makes its items unique.
    pub(crate) const fn set(items: &'static Schema) -> Schema {
        Schema::of(Kind::Array(ArrayRule {
            items,
            lengths: Lengths::ANY,
            is_unique: false,
            is_set: true,
        }))
    }

    /// An array with one item for each of these schemas.
    pub const fn tuple(items: &'static [&'static Schema]) -> Schema {
        Schema::of(Kind::Tuple(items))
    }

    /// An object with any keys, whose values all follow one schema.
    pub const fn map(values: &'static Schema) -> Schema {
        Schema::map_of(&Schema::STRING, values)
    }

    /// An object whose keys and values each follow a schema.
    ///
    /// # Panics
    ///
    /// Panics if `keys` is not a string, an enum, an integer or a boolean.
    pub const fn map_of(keys: &'static Schema, values: &'static Schema) -> Schema {
        const BOOLEANS: &Schema = &Schema::of(Kind::Enum(Strings {
            needs_text: true,
            ..Strings::of(&[Text::new("true"), Text::new("false")])
        }));
        let keys = match keys.kind {
            Kind::Boolean => BOOLEANS,
            _ => keys,
        };
        assert!(
            matches!(
                keys.kind,
                Kind::String(_) | Kind::Enum(_) | Kind::Integer(_)
            ),
            "the keys of a JSON object are strings; use a `Vec` of pairs for keys of this type"
        );
        Schema::of(Kind::Map(MapRule {
            keys,
            values,
            lengths: Lengths::ANY,
        }))
    }

    /// An object with these properties and no others.
    pub const fn object(properties: &'static [Property]) -> Schema {
        Schema::of(Kind::Object(properties))
    }

    /// One of these strings.
    pub const fn strings(values: &'static [Text]) -> Schema {
        Schema::of(Kind::Enum(Strings::of(values)))
    }

    /// A value that matches at least one of these schemas.
    pub const fn any_of(schemas: &'static [&'static Schema]) -> Schema {
        Schema::of(Kind::AnyOf(schemas))
    }

    /// `null`, or a value that matches `inner`.
    pub const fn nullable(inner: &'static Schema) -> Schema {
        Schema {
            description: inner.description,
            ..Schema::of(Kind::Nullable(inner))
        }
    }

    /// Sets the description.
    pub const fn describe(mut self, description: Text) -> Schema {
        self.description = description;
        self
    }

    /// Marks a type whose `Deserialize` accepts forms that the schema does not describe.
    #[allow(dead_code, reason = "only optional features use it")]
    pub(crate) const fn with_several_forms(mut self) -> Schema {
        self.extra_forms = ExtraForms::Several;
        self
    }

    /// Makes the values secret: logs, telemetry and errors do not show them.
    ///
    /// ```
    /// use tool_core::schema::Schema;
    ///
    /// const PASSWORD: &Schema = &Schema::STRING.secret();
    /// assert!(PASSWORD.is_secret());
    /// assert_eq!(PASSWORD.to_json(), Schema::STRING.to_json());
    /// ```
    pub const fn secret(mut self) -> Schema {
        self.is_secret = true;
        self
    }

    /// Returns `true` if the values are secret.
    pub const fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// Returns the kind of value that the schema accepts.
    pub const fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Returns the description, which may be empty.
    pub const fn description(&self) -> &'static str {
        self.description.as_str()
    }

    /// Returns the properties of an object; empty for other kinds.
    pub const fn properties(&self) -> &'static [Property] {
        match self.kind {
            Kind::Object(properties) => properties,
            _ => &[],
        }
    }

    /// Returns the property with this name, if the schema is an object that has one.
    pub fn property(&self, name: &str) -> Option<&'static Property> {
        self.properties().iter().find(|p| p.name() == name)
    }

    /// Renders the schema as JSON text.
    pub fn to_json(&self) -> String {
        json::to_string(self)
    }

    /// Returns the schema that describes values of one direction.
    pub(crate) const fn form(&self, direction: Direction) -> &Schema {
        let mut form = self;
        if let Direction::Result = direction {
            while let Results::Other(other) = form.results {
                form = other;
            }
        }
        form
    }

    /// Returns the schema at `index` among those nested directly in this one.
    ///
    /// The loops over a tree in constant code share this, since they can't use iterators.
    pub(crate) const fn child(
        &self,
        direction: Direction,
        index: usize,
    ) -> Option<&'static Schema> {
        match self.form(direction).kind {
            Kind::Nullable(inner) if index == 0 => Some(inner),
            Kind::Array(rule) if index == 0 => Some(rule.items),
            Kind::Map(rule) if index == 0 => Some(rule.values),
            Kind::AnyOf(schemas) | Kind::Tuple(schemas) if index < schemas.len() => {
                Some(schemas[index])
            }
            Kind::Object(properties) if index < properties.len() => {
                Some(properties[index].value(direction))
            }
            _ => None,
        }
    }

    /// Returns `true` if the schema describes serialized results too, not only arguments.
    pub(crate) const fn describes_results(&self) -> bool {
        let mut at = 0;
        while let Some(child) = self.child(Direction::Result, at) {
            if !child.describes_results() {
                return false;
            }
            at += 1;
        }
        let form = self.form(Direction::Result);
        match form.kind {
            Kind::Map(rule) if !rule.keys.describes_results() => return false,
            Kind::Object(properties) => {
                let mut at = 0;
                while at < properties.len() {
                    let property = &properties[at];
                    let form = property.schema.form(Direction::Result);
                    let is_inserted = property.is_definition()
                        || matches!(form.kind, Kind::Object(_) | Kind::Map(_));
                    if property.is_flat() && !is_inserted {
                        return false;
                    }
                    at += 1;
                }
            }
            _ => {}
        }
        !matches!(form.results, Results::Unknown)
    }

    /// Returns `true` if `null` is a valid value.
    pub(crate) const fn accepts_null(&self) -> bool {
        match self.kind {
            Kind::Any | Kind::Null | Kind::Nullable(_) => true,
            Kind::AnyOf(schemas) => {
                let mut at = 0;
                while at < schemas.len() {
                    if schemas[at].accepts_null() {
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
