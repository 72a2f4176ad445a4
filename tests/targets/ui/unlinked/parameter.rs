//! A tool that no registry finds by itself is judged all the same.

use std::collections::BTreeMap;

use tool_core::tool;

/// Sets labels.
#[tool(unlinked)]
fn label(labels: BTreeMap<String, String>) -> usize {
    labels.len()
}

fn main() {
    let _ = label(BTreeMap::new());
}
