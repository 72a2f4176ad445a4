//! `default` for a type without a `Default` implementation.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
struct Place {
    city: String,
}

/// Weather of a place.
#[tool]
fn weather(#[param(default)] place: Place) -> usize {
    place.city.len()
}

fn main() {
    let _ = tools![weather];
}
