//! An invalid description is not reported as missing too.

use tool_core::{tool, tools};

#[tool(descripton = "Weather of a city.")]
fn mistyped() {}

#[tool(description: "Weather of a city.", name: "forecast")]
fn with_a_colon() {}

#[tool(description = Weather of a city)]
fn computed() {}

fn main() {
    let _ = tools![mistyped, with_a_colon, computed];
}
// 4 errors
