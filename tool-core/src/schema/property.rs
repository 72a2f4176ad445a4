//! The members of objects, the parameters of tools among them.

use std::borrow::Cow;

use crate::schema::stats::SchemaStats;
use crate::schema::{Kind, Schema, Text};

/// A named member of an object schema.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    pub(crate) name: Text,
    pub(crate) description: Text,
    pub(crate) schema: &'static Schema,
    /// The JSON text of the default that the schema advertises; empty is none.
    pub(crate) default: &'static str,
    /// The JSON text of an example that the schema shows; empty is none.
    pub(crate) example: &'static str,
    /// Other names for it, which the schema does not show (`#[serde(alias)]`).
    pub(crate) aliases: &'static [&'static str],
    pub(crate) required: bool,
    /// Whether an absent value is decoded from `null`, as for an `Option`.
    pub(crate) nullable: bool,
    /// Whether an absent value is filled in by something else than `null`.
    pub(crate) filled: bool,
    /// Whether decoding alone enforces the schema, so that no walk over the tree is needed.
    pub(crate) exact: bool,
    /// Whether a result may leave it out though a call may not: `skip_serializing_if`.
    pub(crate) skipped: bool,
    /// Whether the members of its schema stand in its place (`#[serde(flatten)]`).
    pub(crate) flat: bool,
    /// What its type holds, where a target of the build limits that for a whole tool.
    pub(crate) stats: Option<&'static SchemaStats>,
}

impl Property {
    /// A member of this name, required unless `schema` accepts `null`.
    pub const fn new(name: Text, description: Text, schema: &'static Schema) -> Property {
        let (nullable, schema) = match schema.kind {
            Kind::Nullable(inner) => (true, inner),
            _ => (false, schema),
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
            filled: false,
            exact: false,
            skipped: false,
            flat: false,
            stats: None,
        }
    }

    /// The members of `schema`, an object or a map, in the place of one of their own.
    ///
    /// # Panics
    ///
    /// When `schema` has no members.
    pub const fn flatten(schema: &'static Schema) -> Property {
        assert!(
            matches!(schema.kind, Kind::Object(_) | Kind::Map(_)),
            "only a struct with named fields or a map can be flattened; \
             give the field a name of its own"
        );
        Property {
            required: false,
            flat: true,
            ..Property::new(Text::EMPTY, Text::EMPTY, schema)
        }
    }

    /// The same member, which may be left out.
    pub const fn optional(mut self) -> Property {
        self.required = false;
        self.filled = true;
        self
    }

    /// The same member, which a result may leave out though a call may not.
    pub const fn skipped_in_results(mut self) -> Property {
        self.skipped = true;
        self
    }

    /// The same member, which may be called by other names too.
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Property {
        self.aliases = aliases;
        self
    }

    /// Its key.
    pub const fn name(&self) -> &'static str {
        self.name.as_str()
    }

    /// Its own description, or that of its type.
    pub const fn description(&self) -> &'static str {
        self.text().as_str()
    }

    /// What its value must be.
    pub const fn schema(&self) -> &'static Schema {
        self.schema
    }

    /// Whether a call must name it.
    pub const fn is_required(&self) -> bool {
        self.required
    }

    /// The JSON text of the default that the schema advertises.
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

    /// Whether `null` stands for leaving it out: it is optional, and its type has no `null`.
    pub(crate) fn drops_null(&self) -> bool {
        !self.required && !self.nullable && !self.schema.admits_null()
    }

    /// Whether leaving it out means `null`, and nothing else.
    pub(crate) fn takes_null(&self) -> bool {
        self.nullable && !self.required && !self.filled && self.default.is_empty()
    }

    pub(crate) fn is_called(&self, key: &str) -> bool {
        self.name() == key || self.aliases.contains(&key)
    }
}

/// The members of an object with those that are flattened into it, and the schema of the values
/// under any other key, if there may be others.
pub(crate) struct Members {
    pub(crate) known: Cow<'static, [Property]>,
    pub(crate) others: Option<&'static Schema>,
}

impl Members {
    pub(crate) fn of(properties: &'static [Property]) -> Members {
        if !properties.iter().any(|property| property.flat) {
            return Members {
                known: Cow::Borrowed(properties),
                others: None,
            };
        }
        let mut known = Vec::new();
        let mut others = None;
        collect(properties, &mut known, &mut others);
        Members {
            known: Cow::Owned(known),
            others,
        }
    }
}

fn collect(
    properties: &'static [Property],
    known: &mut Vec<Property>,
    others: &mut Option<&'static Schema>,
) {
    for property in properties {
        match &property.schema.kind {
            Kind::Object(inner) if property.flat => collect(inner, known, others),
            Kind::Map(rule) if property.flat => *others = Some(rule.values),
            _ => known.push(*property),
        }
    }
}
