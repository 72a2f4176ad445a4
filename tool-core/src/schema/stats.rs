//! [`SchemaStats`]: the counts that providers limit.

use crate::schema::Property;

/// Counts over the schema of a parameter or of a whole tool.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(test, derive(PartialEq, Eq))]
pub(crate) struct SchemaStats {
    /// Keys in all objects.
    pub(crate) keys: usize,
    /// Optional keys in all objects.
    pub(crate) optional: usize,
    /// Required parameters.
    pub(crate) required: usize,
    /// Values in all enums.
    pub(crate) values: usize,
    /// Characters in all keys, enum values and names of definitions.
    pub(crate) characters: usize,
    /// Unions.
    pub(crate) unions: usize,
}

/// `true` if a target of the build limits a tool as a whole.
pub(crate) const IS_LIMITED: bool = cfg!(any(
    feature = "anthropic-strict",
    feature = "cohere",
    feature = "openai-strict"
));

/// The size of a parameter's schema, if it was counted. Takes no space in a build that needs none.
pub(crate) type KnownStats = [Option<&'static SchemaStats>; IS_LIMITED as usize];

impl SchemaStats {
    pub(crate) const NONE: SchemaStats = SchemaStats {
        keys: 0,
        optional: 0,
        required: 0,
        values: 0,
        characters: 0,
        unions: 0,
    };

    /// Adds the parameter whose schema this counts.
    pub(crate) const fn of(self, parameter: &Property) -> SchemaStats {
        SchemaStats {
            keys: self.keys + 1,
            characters: self.characters + parameter.name().len(),
            optional: self.optional + !parameter.is_required() as usize,
            required: parameter.is_required() as usize,
            ..self
        }
    }

    /// Adds up two counts.
    pub(crate) const fn and(self, other: SchemaStats) -> SchemaStats {
        SchemaStats {
            keys: self.keys + other.keys,
            optional: self.optional + other.optional,
            required: self.required + other.required,
            values: self.values + other.values,
            characters: self.characters + other.characters,
            unions: self.unions + other.unions,
        }
    }
}
