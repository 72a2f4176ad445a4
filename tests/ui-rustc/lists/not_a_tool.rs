//! A function without `#[tool]` in a list of tools.

use tool_core::tools;

/// A function without the attribute.
fn weather() {}

struct Place;

fn main() {
    let _ = tools![weather];
    let _ = tools![Place];
    weather();
}
// 2 errors
