//! A constraint that does not fit the type, and an invalid map key.

use std::collections::BTreeMap;

use serde::Deserialize;
use tool_core::ToolType;

type Minutes = u8;

#[derive(Deserialize, ToolType)]
struct Stop {
    #[param(range = 1..=300)]
    minutes: Minutes,
}

#[derive(Deserialize, ToolType)]
struct Keys {
    map: BTreeMap<Vec<u8>, u8>,
}

fn main() {
    let _ = (Stop::SCHEMA, Keys::SCHEMA);
}
// 2 errors
