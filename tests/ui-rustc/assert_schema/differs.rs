//! A schema that differs from the expected text.

use tool_core::{assert_schema, tool};

/// Weather of a city.
#[tool(name = "get-weather")]
fn weather(city: &str, days: u8) {
    drop((city.len(), days));
}

assert_schema!(
    weather,
    r#"{
        "type": "object",
        "properties": {
            "city": { "type": "string" },
            "days": { "type": "number" }
        },
        "required": ["city", "days"],
        "additionalProperties": false
    }"#
);

fn main() {
    assert_schema!(weather, "");
    weather("Lisbon", 1);
}
// 2 errors
