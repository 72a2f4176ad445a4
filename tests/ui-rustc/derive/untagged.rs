//! Untagged enums whose variants shadow later ones.

use serde::Deserialize;
use tool_core::ToolType;

#[derive(Deserialize, ToolType)]
struct Short {
    name: String,
}

#[derive(Deserialize, ToolType)]
struct Long {
    name: String,
    size: u8,
}

#[derive(Deserialize, ToolType)]
#[serde(untagged)]
enum Prefix {
    Short(Short),
    Long(Long),
}

#[derive(Deserialize, ToolType)]
#[serde(untagged)]
enum Positions {
    Struct(Short),
    List([String; 1]),
}

#[derive(Deserialize, ToolType)]
#[serde(untagged)]
enum Fine {
    Long(Long),
    Short(Short),
}

fn main() {
    let _ = (Prefix::SCHEMA, Positions::SCHEMA, Fine::SCHEMA);
}
// 2 errors
