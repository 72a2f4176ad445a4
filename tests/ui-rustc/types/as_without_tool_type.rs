//! `#[param(as = Type)]` with a type without `ToolType`.

use tool_core::{tool, tools};

struct City;

/// Weather of a city.
#[tool]
fn weather(#[param(as = City)] city: serde_json::Value) -> bool {
    city.is_null()
}

fn main() {
    let _ = City;
    let _ = tools![weather];
}
