//! A type without `ToolType` and `Deserialize`.

use tool_core::{tool, tools};

struct Place {
    city: String,
}

/// Weather of a place.
#[tool]
fn weather(place: Place) -> usize {
    place.city.len()
}

fn main() {
    let _ = tools![weather];
}
