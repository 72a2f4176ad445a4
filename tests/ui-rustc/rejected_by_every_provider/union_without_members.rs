//! A union without members, with a manual `ToolType` implementation.

use serde::Deserialize;
use tool_core::schema::Schema;
use tool_core::{ToolType, by_serde, tool, tools};

#[derive(Deserialize)]
struct Never(String);

impl ToolType for Never {
    const SCHEMA: &'static Schema = &Schema::any_of(&[]);
}

by_serde!(Never);

/// Waits.
#[tool(unlinked)]
fn wait(until: Option<Vec<Never>>) -> usize {
    until.map_or(0, |all| all.iter().map(|never| never.0.len()).sum())
}

fn main() {
    let _ = tools![wait];
}
