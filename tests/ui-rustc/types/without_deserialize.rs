//! A type with `ToolType` but without `Deserialize`.

use tool_core::{ToolType, tool, tools};

#[derive(ToolType)]
struct Place {
    city: String,
}

/// Weather of a place.
#[tool]
fn weather(place: Place) -> usize {
    place.city.len()
}

/// Weather of a lent place.
#[tool]
fn lent(place: &Place) -> usize {
    place.city.len()
}

fn main() {
    let _ = tools![weather, lent];
}
// 2 errors
