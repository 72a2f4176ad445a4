//! Derived structs.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use tool_core::ToolType;

use super::enums::{Colour, Internal};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) count: u8,
    pub(super) note: Option<String>,
}

// More fields than the largest tuple, and than two of them.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct ManyFields {
    f0: bool,
    f1: Option<bool>,
    f2: String,
    #[serde(default)]
    f3: bool,
    f4: Option<bool>,
    f5: String,
    f6: bool,
    f7: Option<bool>,
    f8: String,
    f9: bool,
    f10: Option<bool>,
    f11: String,
    f12: bool,
    f13: Option<bool>,
    #[serde(default = "words")]
    f14: String,
}

fn words() -> String {
    "two words".into()
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind")]
enum ManyFieldsOfVariant {
    Few {
        f0: u8,
    },
    Many {
        f0: bool,
        f1: bool,
        f2: bool,
        f3: bool,
        f4: bool,
        f5: bool,
        f6: bool,
        f7: bool,
        f8: bool,
        f9: bool,
        f10: bool,
        f11: bool,
        f12: bool,
        f13: bool,
        f14: bool,
        f15: bool,
        f16: bool,
        f17: bool,
        f18: bool,
        f19: bool,
        f20: bool,
        f21: bool,
        f22: bool,
        f23: bool,
        f24: bool,
        f25: bool,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Empty {}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Newtype(u8);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct NewtypeOption(Option<u8>);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct NewtypeStruct(Named);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Tuple(u8, Option<bool>, String);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct TupleEmpty();

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct TupleSkipped(u8, #[serde(skip)] u16, bool);

// serde reads and writes the field of a newtype even if it is skipped.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct NewtypeSkipped(#[serde(skip)] u8);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct TupleSkippedToOne(#[serde(skip)] u16, bool);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(transparent)]
struct Transparent {
    inner: Option<Vec<u8>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(transparent)]
struct TransparentMarked<T> {
    inner: i16,
    #[serde(skip)]
    marker: PhantomData<T>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct HoldsNewtypes {
    first: NewtypeOption,
    second: Transparent,
    third: Newtype,
    fourth: Box<Option<u8>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Renamed {
    first_name: String,
    #[serde(rename = "type")]
    kind: bool,
    r#match: u8,
    #[serde(rename(serialize = "last", deserialize = "last"))]
    final_one: Option<i8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE", deny_unknown_fields)]
struct Denying {
    first_name: String,
    second_name: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Aliased {
    #[serde(alias = "also", alias = "likewise")]
    name: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct AliasInFlat {
    #[serde(flatten)]
    aliased: Aliased,
    more: u8,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FieldDefaults {
    #[serde(default)]
    list: Vec<u8>,
    #[serde(default = "seven")]
    number: u8,
    #[serde(default = "some")]
    optional: Option<u8>,
    #[serde(default)]
    value: Value,
    needed: bool,
}

fn seven() -> u8 {
    7
}

fn some() -> Option<u8> {
    Some(7)
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(default)]
struct AllDefault {
    size: u8,
    named: Named,
    colour: Option<Colour>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Skipping {
    kept: u8,
    #[serde(skip)]
    lost: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    sometimes: Option<u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Flat {
    own: u8,
    #[serde(flatten)]
    named: Named,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatDeep {
    #[serde(flatten)]
    flat: Flat,
    #[serde(flatten)]
    renamed: Renamed,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatMap {
    own: Option<u8>,
    #[serde(flatten)]
    others: BTreeMap<String, bool>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatBoth {
    #[serde(flatten)]
    named: Box<Named>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatDefaults {
    #[serde(flatten)]
    defaults: AllDefault,
    list: Vec<Option<u8>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatRich {
    #[serde(flatten)]
    rich: Rich,
    wide: f32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Rich {
    pair: (i8, char),
    tagged: Internal,
    bytes: [u8; 2],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(try_from = "u16", into = "u16")]
struct Through(u16);

impl From<u16> for Through {
    fn from(number: u16) -> Through {
        Through(number)
    }
}

impl From<Through> for u16 {
    fn from(through: Through) -> u16 {
        through.0
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(from = "Option<Named>", into = "Option<Named>")]
struct FromOption(Named);

impl From<Option<Named>> for FromOption {
    fn from(named: Option<Named>) -> FromOption {
        FromOption(named.unwrap_or_default())
    }
}

impl From<FromOption> for Option<Named> {
    fn from(from: FromOption) -> Option<Named> {
        Some(from.0)
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct HoldsThrough {
    through: Through,
    optional: FromOption,
}

/// A version, written as `1.2`.
#[derive(Debug, PartialEq)]
struct Version(u8, u8);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

mod version {
    use super::{Deserialize, Deserializer, Serializer, Version};

    pub(super) fn serialize<S: Serializer>(
        version: &Version,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(version)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Version, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (major, minor) = text.split_once('.').unwrap_or(("1", "0"));
        Ok(Version(
            major.parse().unwrap_or(1),
            minor.parse().unwrap_or(0),
        ))
    }
}

mod optional {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        number: &Option<u8>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        number.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<u8>, D::Error> {
        Option::deserialize(deserializer)
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct With {
    #[serde(with = "version")]
    #[schemars(with = "String")]
    #[param(as = String)]
    version: Version,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct WithOptional {
    #[serde(with = "optional")]
    #[schemars(with = "Option<u8>")]
    #[param(as = Option<u8>)]
    number: Option<u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct WithPattern {
    #[serde(with = "version")]
    #[schemars(with = "String", regex(pattern = "^[0-9]\\.[0-9]$"))]
    #[param(as = String, pattern = "^[0-9]\\.[0-9]$")]
    version: Version,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Pair<L, R = L> {
    left: L,
    right: Option<R>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Sized<const N: usize> {
    items: Vec<u8>,
}

super::table! {
    both {
        named: Named;
        many_fields: ManyFields;
        many_fields_of_variant: Vec<ManyFieldsOfVariant>;
        empty: Empty;
        unit_struct: Unit;
        newtype: Newtype;
        newtype_option: NewtypeOption;
        newtype_struct: NewtypeStruct;
        tuple_struct: Tuple;
        tuple_struct_empty: TupleEmpty;
        newtype_skipped: NewtypeSkipped;
        transparent: Transparent;
        transparent_marked: TransparentMarked<String>;
        holds_newtypes: HoldsNewtypes;
        renamed: Renamed;
        denying: Denying;
        aliased: Aliased;
        alias_in_flat: AliasInFlat;
        field_defaults: FieldDefaults;
        all_default: AllDefault;
        flat: Flat;
        flat_deep: FlatDeep;
        flat_map: FlatMap;
        flat_both: FlatBoth;
        flat_defaults: FlatDefaults;
        flat_rich: FlatRich;
        through: Through;
        from_option: FromOption;
        holds_through: HoldsThrough;
        with_optional: WithOptional;
        with_pattern: WithPattern;
        pair: Pair<u8>;
        pair_unlike: Pair<Vec<Named>, Option<Colour>>;
        pair_of_pairs: Pair<Pair<bool>, Pair<char>>;
        constant_generic: Sized<2>;
    }
    read {
        tuple_struct_skipped: TupleSkipped;
        tuple_struct_skipped_to_one: TupleSkippedToOne;
        skipping: Skipping;
        with: With;
    }
}
