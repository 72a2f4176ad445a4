//! An enum without values, with a manual `ToolType` implementation.

use serde::Deserialize;
use tool_core::schema::Schema;
use tool_core::{ToolType, by_serde, tool, tools};

#[derive(Deserialize)]
struct Never(String);

impl ToolType for Never {
    const SCHEMA: &'static Schema = &Schema::strings(&[]);
}

by_serde!(Never);

/// Waits.
#[tool]
fn wait(until: (u8, Never)) -> usize {
    until.1.0.len()
}

fn main() {
    let _ = tools![wait];
}
