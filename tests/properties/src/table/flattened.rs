//! Types in the place of an object's members: `#[serde(flatten)]`, and what the variants of internally
//! tagged enums hold.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_core::ToolType;

use super::structs::Named;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Paint {
    Red,
    Green,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum External {
    Unit,
    /// Two units.
    SecondUnit,
    Newtype(u8),
    Optional(Option<u8>),
    Pair(u8, bool),
    Struct {
        inner: i8,
    },
    Skipped(#[serde(skip)] u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "type")]
enum Internal {
    /// Nothing else.
    Unit,
    Struct {
        inner: i8,
        more: Option<bool>,
    },
    Named(Named),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "tag", content = "content")]
enum Adjacent {
    Unit,
    Newtype(u8),
    Optional(Option<u8>),
    Struct { inner: i8 },
    Skipped(#[serde(skip)] u8),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Named(Named),
    Both {
        x: u8,
        y: u8,
    },
    OnlyX {
        x: u8,
    },
    Paint(Paint),
    // serde never reads these from an object.
    #[serde(skip_serializing)]
    Number(u8),
    #[serde(skip_serializing)]
    Null,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "other", rename_all = "lowercase")]
enum Other {
    Circle {
        radius: u8,
    },
    #[serde(other)]
    Unknown,
}

/// One type that is flattened beside a property.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Flat<T> {
    /// The first.
    own: u8,
    #[serde(flatten)]
    flat: T,
}

macro_rules! flat {
    ($($name:ident($inner:ty);)*) => {$(
        #[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
        struct $name {
            #[serde(flatten)]
            flat: $inner,
            last: Option<String>,
        }
    )*};
}

flat! {
    FlatExternal(External);
    FlatInternal(Internal);
    FlatAdjacent(Adjacent);
    FlatUntagged(Untagged);
    FlatPaint(Paint);
    FlatOther(Other);
    FlatOption(Option<Named>);
    FlatOptionInternal(Option<Internal>);
    FlatOptionExternal(Option<Box<External>>);
    FlatOptionUnit(Option<AllOptional>);
    FlatFlat(FlatInternal2);
    FlatUnit(());
    FlatValue(Value);
    FlatEnumMap(BTreeMap<Paint, u8>);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatInternal2 {
    #[serde(flatten)]
    internal: Internal,
    #[serde(flatten)]
    colour: Option<Paint>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct AllOptional {
    first: Option<u8>,
    second: Option<bool>,
}

/// An `Option` that serde reads as `None` if a value is rejected.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatOptionParsed {
    #[serde(flatten)]
    host: Option<Host>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Host {
    address: Ipv4Addr,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatSeveral {
    #[serde(flatten)]
    named: Named,
    #[serde(flatten)]
    external: External,
    own: bool,
    #[serde(flatten)]
    optional: Option<AllRequired>,
    #[serde(flatten)]
    adjacent: Other,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct AllRequired {
    a: u8,
    b: u8,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatEnumThenMap {
    #[serde(flatten)]
    colour: Paint,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FlatDenying {
    own: u8,
    #[serde(flatten)]
    named: Option<Named>,
    #[serde(flatten)]
    external: External,
}

/// An internally tagged enum whose variants hold enums of all forms.
#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "holds")]
enum Holds {
    External(External),
    Internal(Internal),
    Adjacent(Adjacent),
    Untagged(UntaggedObjects),
    Paint(Paint),
    Boxed(Box<Internal>),
    Unit(()),
    Any(Value),
    Map(BTreeMap<String, bool>),
    Keyed(BTreeMap<Paint, u8>),
    Flat(FlatInternal),
    Fields {
        own: u8,
        #[serde(flatten)]
        adjacent: Adjacent,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(untagged)]
enum UntaggedObjects {
    Both { x: u8, y: u8 },
    OnlyX { x: u8 },
    Paint(Paint),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "level")]
enum HoldsHolds {
    Deeper(Holds),
    End,
}

// Types that contain themselves below a flattened one.

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Node {
    name: String,
    #[serde(flatten)]
    kind: NodeKind,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind")]
enum NodeKind {
    Leaf,
    Branch {
        #[param(recursive)]
        children: Vec<Node>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Filter {
    #[serde(flatten)]
    condition: Condition,
    note: Option<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "op")]
enum Condition {
    Is { value: u8 },
    Not { condition: Box<Condition> },
    All { conditions: Vec<Condition> },
}

super::table! {
    both {
        flat_generic: Flat<Named>;
        flat_generic_enum: Flat<Internal>;
        flat_generic_option: Flat<Option<External>>;
        flat_external: FlatExternal;
        flat_internal: FlatInternal;
        flat_adjacent: FlatAdjacent;
        flat_colour: FlatPaint;
        other_flat: FlatOther;
        flat_option: FlatOption;
        flat_option_internal: FlatOptionInternal;
        flat_option_external: FlatOptionExternal;
        flat_option_unit: FlatOptionUnit;
        flat_option_parsed: FlatOptionParsed;
        flat_flat: FlatFlat;
        flat_unit: FlatUnit;
        flat_untagged: FlatUntagged;
        flat_value: FlatValue;
        flat_enum_map: FlatEnumMap;
        flat_several: FlatSeveral;
        flat_enum_then_map: FlatEnumThenMap;
        flat_denying: FlatDenying;
        holds: Holds;
        holds_holds: HoldsHolds;
        recursive_flat: Node;
        recursive_flat_list: Vec<Node>;
        recursive_flat_enum: Filter;
    }
    read {}
}
