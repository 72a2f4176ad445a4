//! Properties of objects, including the parameters of tools.

use std::borrow::Cow;

use crate::schema::stats::SchemaStats;
use crate::schema::{Direction, Kind, MapRule, Results, Schema, Text};

/// A property of an object schema.
///
/// ```
/// use tool_core::ToolType;
/// use tool_core::schema::{Property, Schema, Text};
///
/// const PROPERTIES: &[Property] = &[
///     Property::new(Text::new("city"), Text::new("City and country."), <String as ToolType>::SCHEMA),
///     Property::new(Text::new("days"), Text::new(""), <u8 as ToolType>::SCHEMA).optional(),
/// ];
/// const PLACE: Schema = Schema::object(PROPERTIES);
/// assert!(PLACE.property("city").unwrap().is_required());
/// assert!(PLACE.to_json().ends_with(r#""required":["city"],"additionalProperties":false}"#));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Property {
    pub(crate) name: Text,
    pub(crate) description: Text,
    pub(crate) schema: &'static Schema,
    /// JSON text of the default that the schema shows; empty if there is none.
    pub(crate) default: &'static str,
    /// JSON text of the example that the schema shows; empty if there is none.
    pub(crate) example: &'static str,
    /// Other accepted names, which the schema does not show (`#[serde(alias)]`).
    pub(crate) aliases: &'static [&'static str],
    pub(crate) required: bool,
    /// `true` if an absent value is decoded from `null`, as for an `Option`.
    pub(crate) nullable: bool,
    /// `true` if an absent value is replaced by something other than `null`.
    pub(crate) has_fallback: bool,
    /// `true` if strict decoding enforces the whole schema, so that validation can be skipped.
    pub(crate) exact: bool,
    /// The schema with its `null`, if it is serialized in another form.
    pub(crate) result: Option<&'static Schema>,
    /// `true` if results may omit the property although calls may not (`skip_serializing_if`).
    pub(crate) skipped_in_results: bool,
    /// `true` if the properties of `schema` replace this one (`#[serde(flatten)]`).
    pub(crate) flat: bool,
    /// `true` for a flattened union that references need; its members are properties of their own.
    pub(crate) is_definition: bool,
    /// `false` if the schema is known to contain no reference.
    pub(crate) has_references: bool,
    /// The size of the schema, where a target of the build limits it for a whole tool.
    pub(crate) stats: Option<&'static SchemaStats>,
}

impl Property {
    /// Creates a property, which is required unless `schema` accepts `null`.
    pub const fn new(name: Text, description: Text, schema: &'static Schema) -> Property {
        let (nullable, schema, result) = match schema.kind {
            Kind::Nullable(inner) if matches!(schema.results, Results::Same) => (true, inner, None),
            Kind::Nullable(inner) => (true, inner, Some(schema)),
            _ => (false, schema, None),
        };
        Property {
            name,
            description,
            schema,
            default: "",
            example: "",
            aliases: &[],
            required: !nullable,
            nullable,
            has_fallback: false,
            exact: false,
            result,
            skipped_in_results: false,
            flat: false,
            is_definition: false,
            has_references: true,
            stats: None,
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
        Property {
            required: false,
            flat: true,
            ..Property::new(Text::EMPTY, Text::EMPTY, schema)
        }
    }

    /// Makes the property optional.
    pub const fn optional(mut self) -> Property {
        self.required = false;
        self.has_fallback = true;
        self
    }

    /// Lets results omit the property although calls may not.
    pub const fn skipped_in_results(mut self) -> Property {
        self.skipped_in_results = true;
        self
    }

    /// Adds other accepted names.
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Property {
        self.aliases = aliases;
        self
    }

    /// Returns the key.
    pub const fn name(&self) -> &'static str {
        self.name.as_str()
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
        self.required
    }

    /// Returns the JSON text of the default that the schema shows.
    pub const fn default_json(&self) -> Option<&'static str> {
        if self.default.is_empty() {
            None
        } else {
            Some(self.default)
        }
    }

    pub(crate) const fn text(&self) -> Text {
        if self.description.is_empty() {
            self.schema.description
        } else {
            self.description
        }
    }

    /// Returns `true` if `null` means that the property is absent: it is optional, and its type
    /// does not accept `null`.
    pub(crate) fn ignores_null(&self) -> bool {
        !self.required && !self.nullable && !self.schema.accepts_null()
    }

    /// Returns `true` if an absent property means `null`.
    pub(crate) fn defaults_to_null(&self) -> bool {
        self.nullable && !self.required && !self.has_fallback && self.default.is_empty()
    }

    /// Returns `true` if `key` is the name or an alias of the property.
    pub(crate) fn has_name(&self, key: &str) -> bool {
        self.name() == key || self.aliases.contains(&key)
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
        if !properties.iter().any(|property| property.flat) {
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
            Kind::Object(inner) if property.flat => collect(inner, direction, known, others),
            Kind::Map(rule) if property.flat => match rule.keys.form(direction).kind {
                Kind::Enum(keys) => {
                    known.extend(keys.values.iter().map(|key| key_property(rule, *key)));
                    if keys.is_open {
                        *others = Some(rule.values);
                    }
                }
                _ => *others = Some(rule.values),
            },
            // The definition of a union.
            _ if property.flat => {}
            _ => known.push(*property),
        }
    }
}

/// Returns the property for a key of a flattened map whose keys are an enum.
pub(super) const fn key_property(rule: &MapRule, key: Text) -> Property {
    Property::new(key, Text::EMPTY, rule.values).optional()
}
