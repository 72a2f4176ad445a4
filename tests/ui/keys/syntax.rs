//! Arguments that are neither `key` nor `key = value`.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool("weather")]
fn quoted() {}

/// Weather of a city.
#[tool(title("Weather"))]
fn parenthesized() {}

/// Weather of a city.
#[tool(title: "Weather")]
fn with_a_colon() {}

/// Weather of a city.
#[tool(read_only idempotent)]
fn without_a_comma() {}

/// Weather of a city.
#[tool(title = "Weather" read_only)]
fn without_a_comma_after_a_value() {}

/// Weather of a city.
#[tool(read_only,, idempotent, = 5)]
fn without_a_key() {}

/// Weather of a city.
#[tool]
fn parameters(#[param] a: u8, #[param = "b"] b: u8, #[param("c")] c: u8) -> u8 {
    a + b + c
}

fn main() {
    let _ = tools![
        quoted,
        parenthesized,
        with_a_colon,
        without_a_comma,
        without_a_comma_after_a_value,
        without_a_key,
        parameters,
    ];
}
// 10 errors
