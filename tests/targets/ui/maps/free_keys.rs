//! A map whose keys the model makes up.

use std::collections::BTreeMap;

use tool_core::{tool, tools};

/// Sets labels.
#[tool]
fn label(item: &str, labels: BTreeMap<String, String>) -> usize {
    item.len() + labels.len()
}

fn main() {
    let _ = tools![label];
}
