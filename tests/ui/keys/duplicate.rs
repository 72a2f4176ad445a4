//! Duplicate keys, in one attribute or in two.

use tool_core::{tool, tools};

/// Weather of a city.
#[tool(title = "Weather", read_only, title = "Forecast")]
fn weather(
    #[param(default = 3, default = 4)] days: u8,
    #[param(rename = "place")]
    #[param(rename = "where")]
    city: &str,
) -> usize {
    city.len() + usize::from(days)
}

fn main() {
    let _ = tools![weather];
}
// 3 errors
