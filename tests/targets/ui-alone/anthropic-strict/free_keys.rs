//! A map whose keys the model makes up.

use std::collections::BTreeMap;

use tool_core::{tool, tools};

/// Sets labels.
#[tool]
fn label(item: &str, labels: Option<BTreeMap<String, String>>) -> usize {
    item.len() + labels.map_or(0, |labels| labels.len())
}

fn main() {
    let _ = tools![label];
}
