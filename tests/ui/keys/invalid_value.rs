//! Values that the key does not accept.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool(title = Weather, read_only = "yes", name = 7, crate = "tool_core", unlinked = 1 + 1, doc = "hidden")]
fn weather(#[param(description = 7)] days: u8) -> u8 {
    days
}

fn main() {
    let _ = tools![weather];
}
// 7 errors
