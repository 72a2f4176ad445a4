//! A map behind two types, one of them generic: the parameter's type shows where it begins.

use std::collections::BTreeMap;

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
struct Page<T> {
    items: Vec<T>,
}

#[derive(Deserialize, ToolType)]
struct Entry {
    labels: BTreeMap<String, u8>,
}

/// Stores entries.
#[tool]
fn store(page: Page<Entry>) -> usize {
    page.items.iter().map(|entry| entry.labels.len()).sum()
}

fn main() {
    let _ = tools![store];
}
