//! Strings without quotes.

use tool_core::tool;

/// Weather of a city.
#[tool(name = forecast, timeout = 30)]
async fn weather(days: u8) -> u8 {
    days
}

fn main() {}
// 2 errors
