//! A map by another name.

use std::collections::HashMap;

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
struct Labels(HashMap<String, String>);

/// Sets labels.
#[tool]
async fn label(#[param(description = "The labels.")] labels: Option<Labels>, item: String) -> usize {
    item.len() + labels.map_or(0, |labels| labels.0.len())
}

fn main() {
    let _ = tools![label];
}
