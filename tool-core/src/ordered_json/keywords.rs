//! The keywords of JSON Schema: one table of the facts that the crate needs about each.
//!
//! A row has a value in every column, or the table does not compile. A keyword without a row is an
//! annotation. The order of the rows is the order in which a type's keywords are written.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Json, pointer_below};

/// A row of the table.
#[derive(Debug)]
pub struct Keyword {
    /// Its name.
    pub name: &'static str,
    /// The form of the schemas in its value.
    pub holds: Holds,
    pub(crate) applies: Applies,
    /// The form of its value.
    pub form: Form,
    /// The type of the values that the keyword restricts; empty if it restricts values of any type.
    pub(crate) restricts: &'static str,
    /// The drafts in which the validator of calls enforces the keyword.
    pub enforced: Drafts,
    /// How lock files compare it.
    pub compared: Compared,
    pub(crate) told: Told,
}

/// The form of a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// No schema.
    Data,
    /// A reference to a schema.
    Reference,
    /// A list of keys of arguments.
    Keys,
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// A schema, or a list of schemas.
    Mixed,
    /// An object whose members are schemas.
    Map,
    /// The same, and its keys are keys of arguments. A member may also be a list of keys.
    Properties,
}

/// The values that the schemas of a keyword apply to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applies {
    Nowhere,
    /// The value that the keyword's schema applies to.
    Itself,
    Members,
    Items,
    Keys,
}

/// The form of a value. The form of schemas follows from [`Holds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Any value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array of any values.
    Array,
    /// A string, or an array of strings.
    Names,
    /// Schemas, as the other column says.
    Schemas,
}

/// How lock files compare a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// An annotation: a change is a change of wording.
    Wording,
    /// By itself, beside other keywords.
    Alone,
    /// With the whole schema.
    Whole,
}

/// How models are told about a keyword, for a tool from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Nothing,
    /// The reader of schemas has code for it.
    Parts,
    /// The keyword. Where a subset lacks it, messages and descriptions word it with its type.
    Copied,
    /// The keyword, or this sentence.
    Sentence(&'static str),
    /// Its JSON, in the description.
    Quoted,
}

/// Versions of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drafts(u8);

impl Drafts {
    /// No draft.
    pub const NONE: Drafts = Drafts(0);
    pub(crate) const V4: Drafts = Drafts(1);
    pub(crate) const V6: Drafts = Drafts(2);
    pub(crate) const V7: Drafts = Drafts(4);
    pub(crate) const V2019: Drafts = Drafts(8);
    pub(crate) const V2020: Drafts = Drafts(16);
    /// All drafts.
    pub const ALL: Drafts = Drafts(31);
    const FROM_6: Drafts = Drafts(30);
    const FROM_7: Drafts = Drafts(28);
    const FROM_2019: Drafts = Drafts(24);
    const V6_AND_7: Drafts = Drafts(6);
    const TO_2019: Drafts = Drafts(15);

    /// Each draft with its address, in the order in which a schema without one is tried.
    pub(crate) const NAMED: [(&'static str, Drafts); 5] = [
        (
            "https://json-schema.org/draft/2020-12/schema",
            Drafts::V2020,
        ),
        ("http://json-schema.org/draft-07/schema#", Drafts::V7),
        ("http://json-schema.org/draft-04/schema#", Drafts::V4),
        (
            "https://json-schema.org/draft/2019-09/schema",
            Drafts::V2019,
        ),
        ("http://json-schema.org/draft-06/schema#", Drafts::V6),
    ];

    /// Returns the draft that a schema names, or all if it is unknown.
    pub fn named(schema: &Json) -> Option<Drafts> {
        let name = schema.get_str("$schema")?.trim_end_matches('#');
        let is_named = |address: &str| address.trim_end_matches('#') == name;
        let found = Drafts::NAMED.iter().find(|(address, _)| is_named(address));
        Some(found.map_or(Drafts::ALL, |(_, draft)| *draft))
    }

    /// Returns the draft of a whole schema.
    pub fn of(root: &Json) -> Drafts {
        Drafts::named(root).unwrap_or(Drafts::V2020)
    }

    /// Returns `true` if a draft is in both sets.
    pub fn intersects(self, others: Drafts) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns the drafts of both sets.
    pub fn union(self, others: Drafts) -> Drafts {
        Drafts(self.0 | others.0)
    }
}

macro_rules! table {
    ($($name:literal $holds:ident $applies:ident $form:ident $restricts:literal $enforced:ident $compared:ident $told:expr;)*) => {
        &[$(Keyword {
            name: $name,
            holds: Holds::$holds,
            applies: Applies::$applies,
            form: Form::$form,
            restricts: $restricts,
            enforced: Drafts::$enforced,
            compared: Compared::$compared,
            told: $told,
        }),*]
    };
}

use Told::{Copied, Nothing, Parts, Quoted, Sentence};

pub(crate) static KEYWORDS: &[Keyword] = table! {
    // name                  holds      applies form    restricts enforced  compared told
    "$schema"                Data       Nowhere Any     ""        NONE      Alone    Nothing;
    "$id"                    Data       Nowhere Any     ""        NONE      Alone    Nothing;
    "id"                     Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "$anchor"                Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "$dynamicAnchor"         Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "$recursiveAnchor"       Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "$vocabulary"            Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "$comment"               Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "$ref"                   Reference  Itself  String  ""        ALL       Alone    Parts;
    "$dynamicRef"            Reference  Itself  String  ""        V2020     Whole    Parts;
    "$recursiveRef"          Reference  Itself  String  ""        V2019     Whole    Parts;
    "type"                   Data       Nowhere Names   ""        ALL       Alone    Parts;
    "enum"                   Data       Nowhere Array   ""        ALL       Alone    Parts;
    "const"                  Data       Nowhere Any     ""        FROM_6    Alone    Parts;
    "nullable"               Data       Nowhere Any     ""        NONE      Whole    Nothing;

    "properties"             Properties Members Schemas "object"  ALL       Alone    Parts;
    "required"               Keys       Nowhere Names   "object"  ALL       Alone    Parts;
    "patternProperties"      Map        Members Schemas "object"  ALL       Alone    Quoted;
    "additionalProperties"   Schema     Members Schemas "object"  ALL       Alone    Parts;
    "unevaluatedProperties"  Schema     Members Schemas "object"  FROM_2019 Whole    Parts;
    "propertyNames"          Schema     Keys    Schemas "object"  FROM_6    Whole    Quoted;
    "minProperties"          Data       Nowhere Number  "object"  ALL       Alone    Copied;
    "maxProperties"          Data       Nowhere Number  "object"  ALL       Alone    Copied;
    "dependentRequired"      Properties Nowhere Any     "object"  FROM_2019 Whole    Quoted;
    "dependentSchemas"       Properties Itself  Schemas "object"  FROM_2019 Whole    Quoted;
    "dependencies"           Properties Itself  Schemas "object"  ALL       Whole    Quoted;

    "prefixItems"            Schemas    Items   Schemas "array"   V2020     Alone    Parts;
    "items"                  Mixed      Items   Schemas "array"   ALL       Alone    Parts;
    "additionalItems"        Schema     Items   Schemas "array"   TO_2019   Whole    Parts;
    "unevaluatedItems"       Schema     Items   Schemas "array"   FROM_2019 Whole    Quoted;
    "contains"               Schema     Items   Schemas "array"   FROM_6    Whole    Quoted;
    "minContains"            Data       Nowhere Number  "array"   FROM_2019 Whole    Quoted;
    "maxContains"            Data       Nowhere Number  "array"   FROM_2019 Whole    Quoted;

    "minimum"                Data       Nowhere Number  "number"  ALL       Alone    Copied;
    "maximum"                Data       Nowhere Number  "number"  ALL       Alone    Copied;
    "exclusiveMinimum"       Data       Nowhere Number  "number"  ALL       Alone    Copied;
    "exclusiveMaximum"       Data       Nowhere Number  "number"  ALL       Alone    Copied;
    "multipleOf"             Data       Nowhere Number  "number"  ALL       Alone    Copied;
    "minLength"              Data       Nowhere Number  "string"  ALL       Alone    Copied;
    "maxLength"              Data       Nowhere Number  "string"  ALL       Alone    Copied;
    "pattern"                Data       Nowhere String  "string"  ALL       Alone    Copied;
    "format"                 Data       Nowhere String  "string"  ALL       Alone    Copied;
    "minItems"               Data       Nowhere Number  "array"   ALL       Alone    Copied;
    "maxItems"               Data       Nowhere Number  "array"   ALL       Alone    Copied;
    "uniqueItems"            Data       Nowhere Boolean "array"   ALL       Alone    Sentence("No item may occur twice.");
    "contentEncoding"        Data       Nowhere Any     "string"  V6_AND_7  Whole    Quoted;
    "contentMediaType"       Data       Nowhere Any     "string"  V6_AND_7  Whole    Quoted;
    "contentSchema"          Schema     Nowhere Any     "string"  NONE      Wording  Nothing;

    "anyOf"                  Schemas    Itself  Schemas ""        ALL       Alone    Parts;
    "oneOf"                  Schemas    Itself  Schemas ""        ALL       Whole    Parts;
    "allOf"                  Schemas    Itself  Schemas ""        ALL       Alone    Parts;
    "not"                    Schema     Itself  Schemas ""        ALL       Whole    Quoted;
    "if"                     Schema     Itself  Schemas ""        FROM_7    Whole    Quoted;
    "then"                   Schema     Itself  Schemas ""        FROM_7    Whole    Quoted;
    "else"                   Schema     Itself  Schemas ""        FROM_7    Whole    Quoted;
    "extends"                Mixed      Nowhere Schemas ""        NONE      Whole    Nothing;
    "disallow"               Mixed      Nowhere Any     ""        NONE      Whole    Nothing;
    "$defs"                  Map        Nowhere Schemas ""        NONE      Alone    Parts;
    "definitions"            Map        Nowhere Schemas ""        NONE      Alone    Nothing;

    "title"                  Data       Nowhere Any     ""        NONE      Wording  Parts;
    "description"            Data       Nowhere Any     ""        NONE      Wording  Parts;
    "default"                Data       Nowhere Any     ""        NONE      Wording  Sentence("Default: {}.");
    "example"                Data       Nowhere Any     ""        NONE      Wording  Sentence("For example: {}.");
    "examples"               Data       Nowhere Any     ""        NONE      Wording  Sentence("For example: {}.");
    "deprecated"             Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "readOnly"               Data       Nowhere Any     ""        NONE      Wording  Nothing;
    "writeOnly"              Data       Nowhere Any     ""        NONE      Wording  Nothing;
};

/// The place of a schema in the value of a keyword.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'s> {
    Here,
    Key(&'s str),
    Index(usize),
}

impl Step<'_> {
    /// Returns the JSON pointer of a step below a place.
    pub(crate) fn below(self, place: &str) -> String {
        match self {
            Step::Here => place.to_owned(),
            Step::Key(key) => pointer_below(place, key),
            Step::Index(at) => format!("{place}/{at}"),
        }
    }
}

/// Returns the keywords of a schema that have a row in the table, with their values.
#[cfg(feature = "dynamic")]
pub(crate) fn rows(schema: &Json) -> impl Iterator<Item = (&'static Keyword, &Json)> {
    let members = schema.members().iter();
    members.filter_map(|(name, value)| Some((Keyword::of(name)?, value)))
}

impl Keyword {
    /// Returns the row of a keyword.
    pub fn of(name: &str) -> Option<&'static Keyword> {
        static ROWS: LazyLock<HashMap<&str, &Keyword>> =
            LazyLock::new(|| KEYWORDS.iter().map(|row| (row.name, row)).collect());
        ROWS.get(name).copied()
    }

    /// Returns the schemas in a value of this keyword.
    pub(crate) fn schemas<'s>(
        &self,
        value: &'s Json,
    ) -> impl Iterator<Item = (Step<'s>, &'s Json)> + use<'s> {
        let (one, members, items) = match (self.holds, value) {
            (Holds::Map | Holds::Properties, value) => (None, value.members(), &[][..]),
            (Holds::Schemas, value) | (Holds::Mixed, value @ Json::Array(_)) => {
                (None, &[][..], value.items())
            }
            (Holds::Schema | Holds::Mixed, value) => (Some(value), &[][..], &[][..]),
            _ => (None, &[][..], &[][..]),
        };
        let one = one.into_iter().map(|schema| (Step::Here, schema));
        let members = members.iter().map(|(key, schema)| (Step::Key(key), schema));
        let items = items.iter().enumerate();
        let items = items.map(|(at, schema)| (Step::Index(at), schema));
        one.chain(members).chain(items)
    }

    /// Returns a value of this keyword with other schemas and keys.
    pub fn map<'s>(
        &self,
        value: &'s Json,
        schema: &mut dyn FnMut(&'s Json) -> Json,
        key: &dyn Fn(&str) -> String,
    ) -> Json {
        let keys = |list: &[Json]| {
            let keys = list.iter().map(|item| match item {
                Json::String(text) => Json::String(key(text)),
                other => other.clone(),
            });
            keys.collect::<Json>()
        };
        match (self.holds, value) {
            (Holds::Keys, Json::Array(list)) => keys(list),
            (Holds::Schemas | Holds::Mixed, Json::Array(items)) => {
                items.iter().map(schema).collect()
            }
            (Holds::Schema | Holds::Mixed, value) => schema(value),
            (Holds::Map | Holds::Properties, Json::Object(members)) => {
                let members = members.iter().map(|(name, value)| {
                    let name = match self.holds {
                        Holds::Properties => key(name),
                        _ => name.clone(),
                    };
                    let value = match value {
                        Json::Array(list) => keys(list),
                        value => schema(value),
                    };
                    (name, value)
                });
                members.collect()
            }
            _ => value.clone(),
        }
    }

    /// Returns what a description says in place of the keyword.
    #[cfg(feature = "dynamic")]
    pub(crate) fn sentence(&self, value: &Json) -> Option<String> {
        match self.told {
            Told::Sentence(sentence) => Some(sentence.replacen("{}", &value.to_string(), 1)),
            _ => None,
        }
    }
}
