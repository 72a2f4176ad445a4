//! A map from which keys may be missing.

use std::collections::BTreeMap;

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType, PartialEq, Eq, PartialOrd, Ord)]
enum Day {
    Saturday,
    Sunday,
}

/// Sets hours.
#[tool]
fn open(hours: BTreeMap<Day, u8>) -> usize {
    hours.len()
}

fn main() {
    let _ = tools![open];
}
