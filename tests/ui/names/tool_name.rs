//! Invalid tool names.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool(name = "get weather")]
fn weather() {}

/// Weather of a city, empty.
#[tool(name = "")]
fn empty() {}

/// Weather of a city, in French.
#[tool]
fn météo() {}

fn main() {
    let _ = tools![weather, empty, météo];
}
// 3 errors
