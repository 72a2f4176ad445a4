//! A `crate` path that does not exist.

/// Weather of a city.
#[tool_core::tool(crate = toolbox)]
fn weather(city: &str) -> usize {
    city.len()
}

fn main() {
    weather("Lisbon");
}
// 2 errors, since rustc looks for attributes before it knows of the path
