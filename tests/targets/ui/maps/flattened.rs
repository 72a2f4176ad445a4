//! A struct that takes what it does not name.

use std::collections::BTreeMap;

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
struct Event {
    kind: String,
    #[serde(flatten)]
    rest: BTreeMap<String, String>,
}

/// Records an event.
#[tool]
fn record(event: Event) -> usize {
    event.kind.len() + event.rest.len()
}

fn main() {
    let _ = tools![record];
}
