//! A map with the keys of an enum, one of which is no key.

use std::collections::BTreeMap;

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType, PartialEq, Eq, PartialOrd, Ord)]
enum Route {
    #[serde(rename = "by sea")]
    BySea,
    ByLand,
}

/// Sets prices.
#[tool]
fn price(routes: BTreeMap<Route, u8>) -> usize {
    routes.len()
}

fn main() {
    let _ = tools![price];
}
