//! Types that are serialized in another form than they are decoded, or only serialized.

// Fields that are never read are the point.
#![allow(dead_code)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use tool_core::ToolType;
use tool_core::schema::Schema;

use super::structs::Named;
use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Other {
    Red,
    Green,
    #[serde(other)]
    Unknown,
}

impl Other {
    fn any(random: &mut Random) -> Other {
        match random.below(3) {
            0 => Other::Red,
            1 => Other::Green,
            _ => Other::Unknown,
        }
    }
}

/// Enums of every form, whose variants are skipped in one direction or the other.
macro_rules! skipped {
    ($($name:ident [$($attribute:tt)*];)*) => {$(
        #[derive(Serialize, Deserialize, ToolType)]
        $($attribute)*
        enum $name {
            Kept { only: u8 },
            #[serde(skip_deserializing)]
            Unit,
            #[serde(skip_deserializing)]
            Struct { text: String, note: Option<u8> },
            #[serde(skip_deserializing)]
            Newtype(Named),
            #[serde(skip_serializing)]
            Read { other: bool },
        }

        impl $name {
            fn any(random: &mut Random) -> $name {
                match random.below(4) {
                    0 => $name::Kept { only: 1 },
                    1 => $name::Unit,
                    2 => $name::Struct { text: "t".into(), note: random.percent(50).then_some(1) },
                    _ => $name::Newtype(Named::default()),
                }
            }
        }
    )*};
}

skipped! {
    SkippedExternal [];
    SkippedInternal [#[serde(tag = "kind")]];
    SkippedAdjacent [#[serde(tag = "kind", content = "content")]];
    SkippedUntagged [#[serde(untagged)]];
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "kind", content = "content")]
enum SkippedFields {
    Newtype(#[serde(skip_serializing)] u8),
    Tuple(u8, #[serde(skip_serializing)] u8, bool),
    Struct {
        kept: u8,
        #[serde(skip_serializing)]
        read: u8,
        #[serde(skip_deserializing)]
        written: u8,
    },
}

impl SkippedFields {
    fn any(random: &mut Random) -> SkippedFields {
        match random.below(3) {
            0 => SkippedFields::Newtype(1),
            1 => SkippedFields::Tuple(1, 2, true),
            _ => SkippedFields::Struct {
                kept: 1,
                read: 2,
                written: 3,
            },
        }
    }
}

#[derive(Serialize, Deserialize, ToolType)]
struct Tuple(u8, #[serde(skip_serializing)] u8);

#[derive(Serialize, Deserialize, ToolType)]
struct Newtype(#[serde(skip_serializing)] u8);

#[derive(Serialize, Deserialize, ToolType)]
#[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"))]
struct Renamed {
    first_name: u8,
    #[serde(rename(serialize = "colour", deserialize = "kind"))]
    second: Option<Other>,
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "type", rename(serialize = "place"))]
struct Tagged {
    x: u8,
    #[serde(flatten)]
    renamed: Renamed,
}

#[derive(Clone, Serialize, Deserialize, ToolType)]
#[serde(from = "Option<u8>", into = "Vec<Option<u8>>")]
struct Converted(Option<u8>);

impl From<Option<u8>> for Converted {
    fn from(number: Option<u8>) -> Converted {
        Converted(number)
    }
}

impl From<Converted> for Vec<Option<u8>> {
    fn from(converted: Converted) -> Vec<Option<u8>> {
        vec![converted.0]
    }
}

#[derive(Clone, Serialize, Deserialize, ToolType)]
#[serde(from = "u8", into = "Option<u8>")]
struct Hidden(u8);

impl From<u8> for Hidden {
    fn from(number: u8) -> Hidden {
        Hidden(number)
    }
}

impl From<Hidden> for Option<u8> {
    fn from(hidden: Hidden) -> Option<u8> {
        (hidden.0 > 0).then_some(hidden.0)
    }
}

#[derive(Serialize, Deserialize, ToolType)]
struct Holder {
    converted: Converted,
    hidden: Hidden,
    pair: (Converted, Hidden),
    list: Vec<Hidden>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<Box<Holder>>,
    tagged: Tagged,
}

impl Holder {
    fn any(random: &mut Random, depth: usize) -> Holder {
        let number = u8::try_from(random.below(2)).unwrap_or_default();
        Holder {
            converted: Converted(random.percent(50).then_some(number)),
            hidden: Hidden(number),
            pair: (Converted(None), Hidden(number)),
            list: vec![Hidden(number), Hidden(1)],
            more: (depth < 3 && random.percent(50))
                .then(|| Box::new(Holder::any(random, depth + 1))),
            tagged: Tagged {
                x: 1,
                renamed: Renamed {
                    first_name: 2,
                    second: random.percent(50).then(|| Other::any(random)),
                },
            },
        }
    }
}

/// Recursive through what is only serialized.
#[derive(Serialize, Deserialize, ToolType)]
struct Tree {
    #[serde(rename(serialize = "out", deserialize = "in"))]
    value: u8,
    children: Vec<Tree>,
    #[serde(skip_deserializing)]
    parent: Option<Box<Tree>>,
}

impl Tree {
    fn any(random: &mut Random, depth: usize) -> Tree {
        let count = random.below(3_usize.saturating_sub(depth));
        Tree {
            value: 1,
            children: (0..count).map(|_| Tree::any(random, depth + 1)).collect(),
            parent: (depth < 2 && random.percent(50))
                .then(|| Box::new(Tree::any(random, depth + 1))),
        }
    }
}

/// Not a `ToolType`.
struct Opaque;

impl Serialize for Opaque {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq([1, 2])
    }
}

#[derive(Serialize, ToolType)]
struct WithOpaque {
    #[serde(skip_deserializing)]
    opaque: Option<Opaque>,
}

/// Inserts what is not a `ToolType`.
#[derive(Serialize, ToolType)]
struct WithOpaqueFlat {
    own: u8,
    #[serde(flatten, skip_deserializing)]
    rest: BTreeMap<String, Opaque>,
}

#[derive(Serialize, ToolType)]
#[serde(tag = "kind")]
enum WithOpaqueVariant {
    Kept {
        x: u8,
    },
    #[serde(skip_deserializing)]
    Opaque(BTreeMap<String, Opaque>),
}

#[derive(Serialize, ToolType)]
struct Omitting(u8, #[serde(skip_serializing_if = "is_zero")] u8);

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

#[derive(Serialize, ToolType)]
struct WithFunction {
    #[serde(serialize_with = "text")]
    number: u8,
    #[serde(deserialize_with = "unused")]
    #[param(as = String)]
    count: u8,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn text<S: Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

#[derive(Serialize, ToolType)]
struct ReadWithFunction {
    #[serde(deserialize_with = "unused")]
    #[param(as = String)]
    count: u8,
}

/// Writes more than the schema says.
struct Lying(u8);

impl Serialize for Lying {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => serializer.serialize_none(),
            1 => serializer.serialize_str("one"),
            _ => serializer.serialize_u8(self.0),
        }
    }
}

impl ToolType for Lying {
    const SCHEMA: &'static Schema = u8::SCHEMA;
}

#[derive(Serialize, ToolType)]
#[serde(tag = "kind")]
enum Measured {
    Reading {
        celsius: f64,
        #[param(range = 0..=100)]
        humidity: u8,
    },
    Lying {
        #[param(length = ..=1)]
        all: Vec<Lying>,
    },
    Map(BTreeMap<String, u8>),
}

impl Measured {
    fn any(random: &mut Random) -> Measured {
        let number = u8::try_from(random.below(3)).unwrap_or_default();
        match random.below(3) {
            0 => Measured::Reading {
                celsius: *random.pick(&[0.5, f64::NAN, f64::INFINITY]),
                humidity: *random.pick(&[0, 100, 101]),
            },
            1 => Measured::Lying {
                all: (0..number).map(Lying).collect(),
            },
            _ => Measured::Map(BTreeMap::from([(
                (*random.pick(&["kind", "other"])).to_owned(),
                number,
            )])),
        }
    }
}

/// Inserts a type that is written in other forms than it is read.
#[derive(Serialize, Deserialize, ToolType)]
struct Flat<T> {
    own: u8,
    #[serde(flatten)]
    flat: T,
}

fn flat<T>(flat: T) -> Flat<T> {
    Flat { own: 1, flat }
}

/// Is written in another form itself.
#[derive(Serialize, Deserialize, ToolType)]
#[serde(rename_all(serialize = "camelCase"))]
struct FlatRenamed {
    #[serde(flatten)]
    internal: Option<SkippedInternal>,
    own_key: Option<u8>,
    #[serde(flatten)]
    internal_other: InternalOther,
    #[serde(flatten, skip_deserializing)]
    more: BTreeMap<Other, bool>,
}

#[derive(Clone, Copy, Serialize, Deserialize, ToolType)]
#[serde(tag = "rest")]
enum InternalOther {
    Known,
    #[serde(other)]
    Unknown,
}

/// An enum whose variants insert such types.
#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "holds")]
enum Holds {
    External(SkippedExternal),
    Internal(Box<SkippedInternal>),
    Untagged(SkippedUntagged),
    Other(Other),
    Renamed(FlatRenamed),
    #[serde(skip_deserializing)]
    Written(Box<SkippedAdjacent>),
}

impl Holds {
    fn any(random: &mut Random) -> Holds {
        match random.below(6) {
            0 => Holds::External(SkippedExternal::any(random)),
            1 => Holds::Internal(Box::new(SkippedInternal::any(random))),
            2 => Holds::Untagged(SkippedUntagged::any(random)),
            3 => Holds::Other(Other::any(random)),
            4 => Holds::Renamed(FlatRenamed::any(random)),
            _ => Holds::Written(Box::new(SkippedAdjacent::any(random))),
        }
    }
}

impl FlatRenamed {
    fn any(random: &mut Random) -> FlatRenamed {
        FlatRenamed {
            internal: random.percent(70).then(|| SkippedInternal::any(random)),
            own_key: random.percent(50).then_some(1),
            internal_other: *random.pick(&[InternalOther::Known, InternalOther::Unknown]),
            more: BTreeMap::from([(*random.pick(&[Other::Red, Other::Unknown]), true)]),
        }
    }
}

/// Contains itself below an inserted type.
#[derive(Serialize, Deserialize, ToolType)]
struct Filter {
    #[serde(flatten)]
    condition: Condition,
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "op")]
enum Condition {
    #[serde(skip_deserializing)]
    Never,
    Is {
        value: u8,
    },
    All {
        conditions: Vec<Condition>,
    },
}

impl Condition {
    fn any(random: &mut Random, depth: usize) -> Condition {
        match random.below(3) {
            0 => Condition::Never,
            1 if depth < 3 => Condition::All {
                conditions: (0..random.below(3))
                    .map(|_| Condition::any(random, depth + 1))
                    .collect(),
            },
            _ => Condition::Is { value: 1 },
        }
    }
}

/// Has a key twice when it is written.
#[derive(Serialize, Deserialize, ToolType)]
struct Clash {
    #[serde(rename(serialize = "red"))]
    own: u8,
    #[serde(flatten)]
    other: Other,
}

/// A unit that an inserted type writes as nothing.
#[derive(Serialize, Deserialize, ToolType)]
#[serde(untagged)]
enum OrNothing {
    Named(Named),
    Nothing,
}

/// Makes a tool for each row: a name, a type, and a function that makes a value.
macro_rules! written {
    ($($name:ident: $ty:ty = $make:expr;)*) => {
        pub(super) fn returning() -> Vec<crate::written::Returning> {
            vec![$({
                /// Returns a value.
                #[tool_core::tool(unlinked)]
                fn result() -> $ty {
                    crate::written::next()
                }
                crate::written::Returning {
                    name: stringify!($name),
                    tool: tool_core::ToolEntry::of::<result>(),
                    probe: |subject, _, random| {
                        let make: fn(&mut Random) -> $ty = $make;
                        crate::written::made(subject, make(random))
                    },
                }
            },)*]
        }
    };
}

written! {
    written_other: Other = Other::any;
    written_other_keys: BTreeMap<Other, Option<Other>> = |random| BTreeMap::from([(Other::any(random), Some(Other::any(random)))]);
    written_skipped_external: SkippedExternal = SkippedExternal::any;
    written_skipped_internal: SkippedInternal = SkippedInternal::any;
    written_skipped_adjacent: SkippedAdjacent = SkippedAdjacent::any;
    written_skipped_untagged: SkippedUntagged = SkippedUntagged::any;
    written_skipped_list: Vec<SkippedExternal> = |random| vec![SkippedExternal::any(random)];
    written_skipped_fields: SkippedFields = SkippedFields::any;
    written_tuple: Tuple = |_| Tuple(1, 2);
    written_newtype: Option<Newtype> = |_| Some(Newtype(1));
    written_holder: Holder = |random| Holder::any(random, 0);
    written_tree: Tree = |random| Tree::any(random, 0);
    written_opaque: WithOpaque = |_| WithOpaque { opaque: Some(Opaque) };
    written_opaque_flat: WithOpaqueFlat = |_| WithOpaqueFlat { own: 1, rest: BTreeMap::from([("a".into(), Opaque)]) };
    written_opaque_variant: WithOpaqueVariant = |_| WithOpaqueVariant::Opaque(BTreeMap::from([("a".into(), Opaque)]));
    written_omitting: Omitting = |random| Omitting(1, u8::from(random.percent(50)));
    written_with: WithFunction = |_| WithFunction { number: 1, count: 2 };
    written_read_with: ReadWithFunction = |_| ReadWithFunction { count: 2 };
    written_flat_other: Flat<Other> = |random| flat(Other::any(random));
    written_flat_option: Flat<Option<Other>> = |random| flat(random.percent(70).then(|| Other::any(random)));
    written_flat_external: Flat<SkippedExternal> = |random| flat(SkippedExternal::any(random));
    written_flat_internal: Flat<Box<SkippedInternal>> = |random| flat(Box::new(SkippedInternal::any(random)));
    written_flat_adjacent: Flat<SkippedAdjacent> = |random| flat(SkippedAdjacent::any(random));
    written_flat_untagged: Flat<SkippedUntagged> = |random| flat(SkippedUntagged::any(random));
    written_flat_flat: Flat<FlatRenamed> = |random| flat(FlatRenamed::any(random));
    written_flat_holds: Flat<Holds> = |random| flat(Holds::any(random));
    written_flat_nothing: Flat<OrNothing> = |random| flat(if random.percent(50) { OrNothing::Nothing } else { OrNothing::Named(Named::default()) });
    written_flat_renamed: Option<FlatRenamed> = |random| Some(FlatRenamed::any(random));
    written_flat_recursive: Vec<Filter> = |random| vec![Filter { condition: Condition::any(random, 0) }];
    written_flat_clash: Clash = |random| Clash { own: 1, other: Other::any(random) };
    written_holds: Holds = Holds::any;
    written_lying: Option<Lying> = |random| Some(Lying(u8::try_from(random.below(3)).unwrap_or_default()));
    written_measured: Vec<Measured> = |random| vec![Measured::any(random)];
}
