//! serde reads untagged enums and flattened fields from a buffer, which holds no integers of 128 bits and no integer keys.
//! What `ToolType` decodes is not buffered: `Internal`, `Adjacent` and `External` compile.

use std::collections::HashMap;

use tool_core::ToolType;

#[derive(ToolType, serde::Deserialize)]
#[serde(tag = "kind")]
enum Internal {
    Amount { wei: u128 },
}

#[derive(ToolType, serde::Deserialize)]
#[serde(tag = "kind", content = "value")]
enum Adjacent {
    Ages(HashMap<u32, String>),
    Pair(u8, Vec<Option<i128>>),
}

#[derive(ToolType, serde::Deserialize)]
#[serde(untagged)]
enum Untagged {
    Flags { flags: HashMap<bool, u8> },
}

#[derive(ToolType, serde::Deserialize)]
struct Totals {
    #[param(range = 1..=10)]
    sum: u128,
}

#[derive(ToolType, serde::Deserialize)]
struct Account {
    id: u128,
    #[serde(flatten)]
    totals: Totals,
}

#[derive(ToolType, serde::Deserialize)]
enum External {
    Account(u128),
    Keys(HashMap<i8, u8>),
    Other { keys: HashMap<bool, u8> },
}

fn main() {}
// 2 errors
