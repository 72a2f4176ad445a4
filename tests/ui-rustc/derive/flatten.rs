//! Types that cannot be flattened, or not together.

use std::collections::BTreeMap;

use serde::Deserialize;
use tool_core::ToolType;

#[derive(Deserialize, ToolType)]
struct Chain {
    value: u8,
    #[serde(flatten)]
    next: Option<Box<Chain>>,
}

type Items = Vec<u8>;

#[derive(Deserialize, ToolType)]
struct List {
    #[serde(flatten)]
    items: Items,
}

#[derive(Deserialize, ToolType)]
#[serde(tag = "kind")]
enum Kind {
    One { size: u8 },
    Number(u8),
}

#[derive(Deserialize, ToolType)]
#[serde(tag = "kind")]
enum Simple {
    One { size: u8 },
    Two,
}

#[derive(Deserialize, ToolType)]
struct SameKey {
    kind: String,
    #[serde(flatten)]
    simple: Simple,
}

#[derive(Deserialize, ToolType)]
struct MapFirst {
    #[serde(flatten)]
    map: BTreeMap<String, u8>,
    #[serde(flatten)]
    simple: Simple,
}

#[derive(Deserialize, ToolType)]
#[serde(deny_unknown_fields)]
struct Denying {
    #[serde(flatten)]
    simple: Simple,
}

#[derive(Deserialize, ToolType)]
struct NumberKeys {
    #[serde(flatten)]
    map: BTreeMap<u8, u8>,
}

#[derive(ToolType, serde::Deserialize)]
struct ValuesBeforeAStruct {
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
    #[serde(flatten)]
    page: Page,
}

#[derive(ToolType, serde::Deserialize)]
struct ValuesAfterAnEnum {
    #[serde(flatten)]
    tagged: Tagged,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

#[derive(ToolType, serde::Deserialize)]
struct Page {
    size: u8,
}

#[derive(ToolType, serde::Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    One { one: u8 },
    Two { two: u8 },
}

fn main() {}
// 9 errors
