//! List items that do not name a parameter.

use tool_core::{tool, tools};

/// Weather of a city.
///
/// # Arguments
/// * the city
/// * `days`
/// - `city - where
#[tool]
fn weather(city: &str, days: u8) -> usize {
    city.len() + usize::from(days)
}

fn main() {
    let _ = tools![weather];
}
// 3 errors
