//! Derived enums: every tagging combined with every shape of a variant.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::ToolType;

use super::structs::Named;

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToolType,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Colour {
    /// As of blood.
    DeepRed,
    #[serde(rename = "GREEN")]
    Green,
    /// As of the sky.
    Blue,
}

#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToolType,
    JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum Paint {
    #[serde(alias = "crimson")]
    Red,
    Blue,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum Single {
    Only,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum External {
    Unit,
    SecondUnit,
    Newtype(u8),
    NewtypeOption(Option<u8>),
    NewtypeStruct(Named),
    NewtypeList(Vec<i8>),
    Tuple(u8, Option<bool>),
    #[serde(rename_all = "camelCase")]
    Struct {
        inner_name: String,
        #[serde(default)]
        inner_flag: bool,
    },
    EmptyStruct {},
    EmptyTuple(),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum ExternalOne {
    Circle { radius: f64 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum Internal {
    Point,
    Circle {
        radius: f64,
    },
    Named(Named),
    Extra(BTreeMap<String, u8>),
    Deep {
        inner: Option<Box<InternalSmall>>,
        list: Vec<(u8, char)>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind")]
pub(super) enum InternalSmall {
    A { value: u8 },
    B { value: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind", rename_all_fields = "camelCase", deny_unknown_fields)]
enum InternalDenying {
    First {
        some_value: u8,
    },
    #[serde(rename = "2nd")]
    Second {
        some_value: Option<u16>,
        other_value: bool,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Newtype(u8),
    Option(Option<u8>),
    Null(()),
    Tuple(u8, char),
    Struct { a: i8, b: Option<i8> },
    Named(Named),
    Map(BTreeMap<String, bool>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind", content = "content", deny_unknown_fields)]
enum AdjacentDenying {
    Number(i64),
    Text { text: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Flag(bool),
    Number(i32),
    Text(String),
    Pair(u8, bool),
    Object { x: u8 },
    Null,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum UntaggedObjects {
    List(Vec<UntaggedNumbers>),
    Both { x: u8, y: u8 },
    OnlyZ { z: Option<u8>, w: bool },
    Colour(Colour),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
pub(super) enum UntaggedNumbers {
    Byte(u8),
    Whole(i64),
    Float(f64),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum PartlyUntagged {
    Known,
    Sized(u8),
    #[serde(untagged)]
    Number(i64),
    #[serde(untagged)]
    Object {
        x: bool,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind")]
enum InternalPartlyUntagged {
    A {
        x: u8,
    },
    #[serde(untagged)]
    Text(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OtherPlain {
    Known,
    Usual,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum OtherInternal {
    Circle {
        radius: u8,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind", content = "c", rename_all = "lowercase")]
enum OtherAdjacent {
    Circle(u8),
    #[serde(other)]
    Unknown,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OtherMixed {
    Known,
    Circle(u8),
    #[serde(other)]
    Unknown,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AliasedVariants {
    #[serde(alias = "crimson")]
    Red,
    Blue,
    #[serde(alias = "disc")]
    Circle(u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum AliasedTags {
    #[serde(alias = "disc")]
    Circle {
        radius: u8,
    },
    Point,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum Skipped {
    Kept,
    #[serde(skip)]
    #[allow(dead_code)]
    Lost,
    Sized(#[serde(skip)] u8, bool),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum Generic<T> {
    None,
    Some(T),
    Many { all: Vec<T> },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatInVariant {
    own: u8,
    choice: InternalFlat,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "type")]
enum InternalFlat {
    A {
        x: u8,
        #[serde(flatten)]
        named: Named,
    },
    B {
        #[serde(flatten)]
        rest: BTreeMap<String, Value>,
    },
}

// Every tagging with variants whose fields are skipped. serde takes a variant with one field that is
// skipped for a unit variant.

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum SkippedExternal {
    One(#[serde(skip)] u8),
    Two(#[serde(skip)] u8, #[serde(skip)] bool),
    Rest(#[serde(skip)] u8, bool),
    Struct {
        #[serde(skip)]
        hidden: u8,
    },
    Shown(u8),
    Unit,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "t")]
enum SkippedInternal {
    One(#[serde(skip)] u8),
    Struct {
        #[serde(skip)]
        hidden: u8,
        shown: Option<bool>,
    },
    Unit,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum SkippedAdjacent {
    One(#[serde(skip)] u8),
    Two(#[serde(skip)] u8, #[serde(skip)] bool),
    Rest(#[serde(skip)] u8, bool),
    Struct {
        #[serde(skip)]
        hidden: u8,
    },
    Shown(u8),
    Unit,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum SkippedUntagged {
    One(#[serde(skip)] u8),
    Two(#[serde(skip)] u8, #[serde(skip)] bool),
    Rest(#[serde(skip)] u8, bool),
    Shown {
        shown: u8,
        #[serde(skip)]
        hidden: u8,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum SkippedOnly {
    Only(#[serde(skip)] u8),
}

// Untagged enums in which serde reads the variants apart, although they look alike.

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct OnlyOptional {
    note: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum FieldsOrArray {
    Fields { d: u8 },
    Array([u8; 2]),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum StructOrArrays {
    Struct(Named),
    Longer([u8; 4]),
    Numbers(u8, u8, u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum ArraysThenStruct {
    Pair(String, u8),
    Struct(Named),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum ShorterFirst {
    Short { name: String },
    Long { name: String, size: u8 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum WrappersThenStruct {
    External(ExternalOne),
    #[allow(non_snake_case)]
    Struct {
        Circle: Option<u8>,
        more: bool,
    },
}

super::table! {
    both {
        skipped_external: SkippedExternal;
        skipped_internal: SkippedInternal;
        skipped_adjacent: SkippedAdjacent;
        skipped_untagged: SkippedUntagged;
        skipped_only: SkippedOnly;
        one_or_many: OneOrMany<Named>;
        one_or_many_optional: OneOrMany<OnlyOptional>;
        one_or_many_tagged: OneOrMany<Internal>;
        fields_or_array: FieldsOrArray;
        struct_or_arrays: StructOrArrays;
        arrays_then_struct: ArraysThenStruct;
        shorter_first: ShorterFirst;
        wrappers_then_struct: WrappersThenStruct;
        other_mixed: OtherMixed;
        colour: Colour;
        single: Single;
        external: External;
        external_one: ExternalOne;
        internal: Internal;
        internal_small: InternalSmall;
        internal_denying: InternalDenying;
        internal_flat: FlatInVariant;
        adjacent: Adjacent;
        adjacent_denying: AdjacentDenying;
        untagged: Untagged;
        untagged_objects: UntaggedObjects;
        untagged_numbers: UntaggedNumbers;
        untagged_list: Vec<Untagged>;
        untagged_option: Option<Untagged>;
        partly_untagged: PartlyUntagged;
        internal_partly_untagged: InternalPartlyUntagged;
        other_plain: OtherPlain;
        other_internal: OtherInternal;
        other_adjacent: OtherAdjacent;
        aliased_variants: AliasedVariants;
        aliased_tags: AliasedTags;
        generic_enum: Generic<i8>;
        generic_enum_nested: Generic<Option<Colour>>;
        enum_map: BTreeMap<String, External>;
        enum_list: Vec<Internal>;
        enum_tuple: (Adjacent, Colour);
    }
    read {
        skipped_variants: Skipped;
        borrowed_enum: &External;
    }
}
