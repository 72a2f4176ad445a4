//! One build shows an error at the type of every rejected parameter.

use std::collections::BTreeMap;

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
#[allow(dead_code)]
struct Item {
    name: String,
    extra: serde_json::Value,
}

/// Stores things.
#[tool]
fn store(
    name: &str,
    labels: BTreeMap<String, String>,
    count: u8,
    items: Option<Vec<Item>>,
    #[param(description = "In \"quotes\".")] values: Vec<serde_json::Value>,
    #[param(schema = r#"{"type":"object","properties":{"1st":{}},"additionalProperties":false}"#)]
    rank: BTreeMap<String, u8>,
) -> usize {
    name.len() + labels.len() + usize::from(count) + items.map_or(0, |items| items.len()) + values.len() + rank.len()
}

fn main() {
    let _ = tools![store];
}
// 4 errors
