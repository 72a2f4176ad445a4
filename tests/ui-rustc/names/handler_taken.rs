//! A type with the name of a tool's handler.

use tool_core::tool;

#[allow(non_camel_case_types)]
struct weather {}

/// Weather of a city.
#[tool]
fn weather(city: &str) -> usize {
    city.len()
}

fn main() {}
