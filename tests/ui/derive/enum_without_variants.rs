//! An enum without variants.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
enum Never {}

/// Waits.
#[tool]
fn wait(until: Never) {
    match until {}
}

fn main() {
    let _ = tools![wait];
}
