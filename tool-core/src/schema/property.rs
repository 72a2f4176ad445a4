//! Properties of objects, including the parameters of tools.

use std::borrow::Cow;

use crate::schema::stats::{IS_LIMITED, KnownStats};
use crate::schema::{Direction, Kind, MapRule, Results, Schema, Text};

/// A property of an object schema.
///
/// ```
/// use tool_core::ToolType;
/// use tool_core::schema::{Property, Schema, Text};
///
/// const PROPERTIES: &[Property] = &[
///     Property::new(Text::new("city"), &Schema::STRING.describe(Text::new("City and country."))),
///     Property::new(Text::new("days"), u8::SCHEMA).optional(),
/// ];
/// const PLACE: Schema = Schema::object(PROPERTIES);
/// assert!(PLACE.property("city").unwrap().is_required());
/// assert!(PLACE.to_json().ends_with(r#""required":["city"],"additionalProperties":false}"#));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The name in plain form and as JSON, then the description in both. The second form of each is left out
    /// if it is the same. One string, because every pointer costs a relocation.
    texts: &'static str,
    pub(crate) schema: &'static Schema,
    /// The schema with its `null`, if it is serialized in another form.
    pub(crate) result: Option<&'static Schema>,
    details: Option<&'static PropertyDetails>,
    /// The size of the schema, where a target of the build limits it for a whole tool.
    pub(crate) stats: KnownStats,
    /// The bytes of the description in plain form.
    plain_description: u32,
    /// The bytes of the name in plain form.
    plain_name: u16,
    /// The bytes that escapes add to the name in JSON. If there are none, it has one form.
    escapes: u8,
    /// The sum of its [`Flag`]s.
    flags: u8,
}

/// The yes-or-no questions about a property.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flag {
    Required = 1,
    /// An absent value is decoded from `null`, as for an `Option`.
    Nullable = 2,
    /// An absent value is replaced by something other than `null`.
    HasFallback = 4,
    /// Strict decoding enforces the whole schema, so that validation can be skipped.
    Exact = 8,
    /// Results may omit the property although calls may not (`skip_serializing_if`).
    SkippedInResults = 16,
    /// The properties of the schema replace this one (`#[serde(flatten)]`).
    Flat = 32,
    /// A flattened union that references need; its members are properties of their own.
    Definition = 64,
    /// The schema is known to contain no reference.
    NoReferences = 128,
}

/// Details that few properties have.
///
/// ```
/// use tool_core::ToolType;
/// use tool_core::schema::{Property, PropertyDetails, Schema, Text};
///
/// const PLACE: Schema = Schema::object(&[Property::new(Text::new("city"), String::SCHEMA)
///     .details(&PropertyDetails::aliases(&["town"]))]);
/// assert_eq!(PLACE.properties()[0].aliases(), ["town"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PropertyDetails {
    /// JSON text of the default that the schema shows; empty if there is none.
    pub(crate) default: &'static str,
    /// JSON text of the example that the schema shows; empty if there is none.
    pub(crate) example: &'static str,
    /// Other accepted names, which the schema does not show (`#[serde(alias)]`).
    pub(crate) aliases: &'static [&'static str],
}

impl PropertyDetails {
    /// Other accepted names, which the schema does not show.
    pub const fn aliases(aliases: &'static [&'static str]) -> PropertyDetails {
        PropertyDetails {
            default: "",
            example: "",
            aliases,
        }
    }
}

/// The name and the description of a property in one string.
#[derive(Clone, Copy)]
pub struct PropertyTexts {
    pub(crate) texts: &'static str,
    /// The bytes of the name in plain form.
    pub(crate) plain_name: usize,
    /// The bytes of the name in both forms.
    pub(crate) name: usize,
    /// The bytes of the description in plain form.
    pub(crate) plain_description: usize,
}

impl Property {
    /// Creates a property, which is required unless `schema` accepts `null`. Its description comes from
    /// `schema`.
    ///
    /// # Panics
    ///
    /// Panics if the name is longer than 65,535 bytes.
    pub const fn new(name: Text, schema: &'static Schema) -> Property {
        Property::of_schema(schema).with_texts(PropertyTexts {
            texts: name.both,
            plain_name: name.plain,
            name: size_of_val(name.both),
            plain_description: 0,
        })
    }

    /// Creates a property without a name.
    pub(crate) const fn of_schema(schema: &'static Schema) -> Property {
        let (flags, schema, result) = match schema.kind {
            Kind::Nullable(inner) if matches!(schema.results, Results::Same) => {
                (Flag::Nullable, inner, None)
            }
            Kind::Nullable(inner) => (Flag::Nullable, inner, Some(schema)),
            _ => (Flag::Required, schema, None),
        };
        Property {
            texts: "",
            schema,
            result,
            details: None,
            stats: [None; IS_LIMITED as usize],
            plain_description: 0,
            plain_name: 0,
            escapes: 0,
            flags: flags as u8,
        }
    }

    /// Replaces the schema alone.
    pub(crate) const fn with_schema(mut self, schema: &'static Schema) -> Property {
        self.schema = schema;
        self
    }

    /// Sets texts of which the description follows the name of `name` bytes, both the same in JSON.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) const fn with_plain_texts(mut self, texts: &'static str, name: usize) -> Property {
        assert!(
            name <= u16::MAX as usize,
            "the name of a property can have 65535 bytes; use a shorter one"
        );
        self.texts = texts;
        self.plain_name = name as u16;
        self.plain_description = (texts.len() - name) as u32;
        self
    }

    /// Sets the name and the description.
    ///
    /// # Panics
    ///
    /// Panics if the name is longer than 65,535 bytes, escapes add more than 255 to it, or the description is
    /// longer than 4 GiB.
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) const fn with_texts(self, texts: PropertyTexts) -> Property {
        let plain_name = texts.plain_name;
        let escapes = if texts.name == plain_name {
            0
        } else {
            texts.name - 2 * plain_name
        };
        assert!(
            plain_name <= u16::MAX as usize
                && escapes <= u8::MAX as usize
                && texts.plain_description <= u32::MAX as usize,
            "the name of a property can have 65535 bytes, and 255 more for escapes in JSON; use a shorter one"
        );
        Property {
            texts: texts.texts,
            plain_description: texts.plain_description as u32,
            plain_name: plain_name as u16,
            escapes: escapes as u8,
            ..self
        }
    }

    /// Inserts the properties of `schema`, an object or a map, into the surrounding object.
    ///
    /// # Panics
    ///
    /// Panics if `schema` is neither an object nor a map.
    pub const fn flatten(schema: &'static Schema) -> Property {
        assert!(
            matches!(schema.kind, Kind::Object(_) | Kind::Map(_)),
            "only an object or a map can be flattened"
        );
        Property::of_schema(schema)
            .without(Flag::Required)
            .with(Flag::Flat)
    }

    pub(crate) const fn with(mut self, flag: Flag) -> Property {
        self.flags |= flag as u8;
        self
    }

    pub(crate) const fn without(mut self, flag: Flag) -> Property {
        self.flags &= !(flag as u8);
        self
    }

    const fn has(&self, flag: Flag) -> bool {
        self.flags & flag as u8 != 0
    }

    /// Makes the property optional.
    pub const fn optional(self) -> Property {
        self.without(Flag::Required).with(Flag::HasFallback)
    }

    /// Lets results omit the property although calls may not.
    pub const fn skipped_in_results(self) -> Property {
        self.with(Flag::SkippedInResults)
    }

    /// Adds what few properties have.
    pub const fn details(mut self, details: &'static PropertyDetails) -> Property {
        self.details = Some(details);
        self
    }

    /// Returns the key.
    pub const fn name(&self) -> &'static str {
        self.texts.split_at(self.plain_name as usize).0
    }

    /// Returns the content of the key's JSON string, without its quotes.
    pub(crate) const fn name_json(&self) -> &'static str {
        let both = self.texts.split_at(self.description_start()).0;
        if self.escapes == 0 {
            both
        } else {
            both.split_at(self.plain_name as usize).1
        }
    }

    const fn description_start(&self) -> usize {
        let plain = self.plain_name as usize;
        if self.escapes == 0 {
            plain
        } else {
            2 * plain + self.escapes as usize
        }
    }

    /// Returns the bytes of [`name_json`](Property::name_json).
    #[inline]
    pub(crate) fn json_key(&self) -> &'static [u8] {
        self.plain_key()
            .unwrap_or_else(|| self.name_json().as_bytes())
    }

    /// Returns the key if it needs no escapes in JSON. As bytes, which may be split anywhere, because each
    /// member of each call is compared with it.
    #[inline]
    pub(crate) fn plain_key(&self) -> Option<&'static [u8]> {
        if self.escapes == 0 {
            self.texts.as_bytes().get(..self.plain_name as usize)
        } else {
            None
        }
    }

    /// Returns the other accepted names, which the schema does not show.
    pub const fn aliases(&self) -> &'static [&'static str] {
        match self.details {
            Some(details) => details.aliases,
            None => &[],
        }
    }

    /// Returns the property's description, or else the description of its type.
    pub const fn description(&self) -> &'static str {
        self.text().as_str()
    }

    /// Returns the schema of the value.
    pub const fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Returns the schema of the value in one direction, without `null` if it is nullable.
    pub(crate) const fn value(&self, direction: Direction) -> &'static Schema {
        match (direction, self.result) {
            (Direction::Result, Some(result)) => result,
            _ => self.schema,
        }
    }

    /// Returns `true` if a call must provide the property.
    pub const fn is_required(&self) -> bool {
        self.has(Flag::Required)
    }

    pub(crate) const fn is_nullable(&self) -> bool {
        self.has(Flag::Nullable)
    }

    pub(crate) const fn has_fallback(&self) -> bool {
        self.has(Flag::HasFallback)
    }

    pub(crate) const fn is_exact(&self) -> bool {
        self.has(Flag::Exact)
    }

    pub(crate) const fn is_skipped_in_results(&self) -> bool {
        self.has(Flag::SkippedInResults)
    }

    pub(crate) const fn is_flat(&self) -> bool {
        self.has(Flag::Flat)
    }

    pub(crate) const fn is_definition(&self) -> bool {
        self.has(Flag::Definition)
    }

    pub(crate) const fn has_references(&self) -> bool {
        !self.has(Flag::NoReferences)
    }

    /// Returns the JSON text of the default that the schema shows.
    pub const fn default_json(&self) -> Option<&'static str> {
        match self.details {
            Some(details) if !details.default.is_empty() => Some(details.default),
            _ => None,
        }
    }

    /// Returns the JSON text of the example that the schema shows.
    pub(crate) const fn example_json(&self) -> Option<&'static str> {
        match self.details {
            Some(details) if !details.example.is_empty() => Some(details.example),
            _ => None,
        }
    }

    /// Returns the property's description, or else the description of its type.
    pub(crate) const fn text(&self) -> Text {
        if self.plain_description == 0 {
            return self.schema.description;
        }
        Text {
            both: self.texts.split_at(self.description_start()).1,
            plain: self.plain_description as usize,
        }
    }

    /// Returns `true` if `null` means that the property is absent: it is optional, and its type does
    /// not accept `null`, or its default is another value. A strict form requires every property, so
    /// `null` is the only way to that default.
    pub(crate) fn ignores_null(&self) -> bool {
        !self.is_required()
            && if self.is_nullable() {
                !self.defaults_to_null()
            } else {
                !self.schema.accepts_null()
            }
    }

    /// Returns `true` if an absent property means `null`.
    pub(crate) fn defaults_to_null(&self) -> bool {
        self.is_nullable()
            && !self.is_required()
            && !self.has_fallback()
            && self.default_json().is_none()
    }

    /// Returns `true` if `key` is the name or an alias of the property.
    pub(crate) fn has_name(&self, key: &str) -> bool {
        self.name() == key || self.aliases().contains(&key)
    }
}

/// The properties of an object, including flattened ones.
pub(crate) struct Members {
    pub(crate) known: Cow<'static, [Property]>,
    /// The schema of the values under other keys, if those are allowed.
    pub(crate) others: Option<&'static Schema>,
}

impl Members {
    /// Returns the properties of an object of arguments.
    pub(crate) fn of(properties: &'static [Property]) -> Members {
        Members::in_direction(properties, Direction::Arguments)
    }

    pub(crate) fn in_direction(properties: &'static [Property], direction: Direction) -> Members {
        if !properties.iter().any(Property::is_flat) {
            return Members {
                known: Cow::Borrowed(properties),
                others: None,
            };
        }
        let mut known = Vec::new();
        let mut others = None;
        collect(properties, direction, &mut known, &mut others);
        Members {
            known: Cow::Owned(known),
            others,
        }
    }
}

fn collect(
    properties: &'static [Property],
    direction: Direction,
    known: &mut Vec<Property>,
    others: &mut Option<&'static Schema>,
) {
    for property in properties {
        match &property.schema.form(direction).kind {
            Kind::Object(inner) if property.is_flat() => collect(inner, direction, known, others),
            Kind::Map(rule) if property.is_flat() => match rule.keys.form(direction).kind {
                Kind::Enum(keys) => {
                    known.extend(keys.values.iter().map(|key| key_property(rule, *key)));
                    if keys.is_open {
                        *others = Some(rule.values);
                    }
                }
                _ => *others = Some(rule.values),
            },
            // The definition of a union.
            _ if property.is_flat() => {}
            _ => known.push(*property),
        }
    }
}

/// Returns the property for a key of a flattened map whose keys are an enum.
pub(super) const fn key_property(rule: &MapRule, key: Text) -> Property {
    Property::new(key, rule.values).optional()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::__private::{schema_property, text, texts};

    #[test]
    fn a_name_and_a_description_are_parts_of_one_string() {
        for (both, lengths, [name, json, description, described]) in [
            (
                "citéThe city.",
                [5, 5, 9],
                ["cité", "cité", "The city.", "The city."],
            ),
            (
                "a\"a\\\"Say \"a\".Say \\\"a\\\".",
                [2, 5, 8],
                ["a\"", "a\\\"", "Say \"a\".", "Say \\\"a\\\"."],
            ),
            (
                "cityA\nB.A\\nB.",
                [4, 4, 4],
                ["city", "city", "A\nB.", "A\\nB."],
            ),
            ("city", [4, 4, 0], ["city", "city", "", ""]),
            ("", [0; 3], [""; 4]),
        ] {
            let property = schema_property(texts(both, lengths), &Schema::STRING);
            assert_eq!((property.name(), property.name_json()), (name, json));
            assert_eq!(
                property.plain_key(),
                (name == json).then_some(name.as_bytes())
            );
            assert_eq!(
                (property.description(), property.text().json()),
                (description, described)
            );
        }
    }

    #[test]
    fn a_property_without_a_description_has_that_of_its_schema() {
        const SCHEMA: &Schema = &Schema::STRING.describe(Text::new("Of the type."));

        let property = Property::new(text("a\"a\\\"", 2), SCHEMA);
        assert_eq!((property.name(), property.name_json()), ("a\"", "a\\\""));
        assert_eq!(property.description(), "Of the type.");
        let property = schema_property(texts("aOwn.", [1, 1, 4]), SCHEMA);
        assert_eq!(property.description(), "Own.");
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    #[should_panic(expected = "the name of a property can have 65535 bytes")]
    fn a_name_of_more_than_65535_bytes_is_rejected() {
        Property::new(Text::new("n".repeat(65536).leak()), &Schema::STRING);
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    #[should_panic(expected = "the name of a property can have 65535 bytes")]
    fn a_name_with_more_than_255_escapes_is_rejected() {
        let both = "\"".repeat(256) + &"\\\"".repeat(256);
        Property::new(text(both.leak(), 256), &Schema::STRING);
    }
}
