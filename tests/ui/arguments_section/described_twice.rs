//! Two descriptions of one parameter: both in the list, or one on the parameter.

use tool_core::{tool, tools};

/// Weather of a city.
///
/// # Arguments
/// * `city` - Where.
/// * `days` - How long.
/// * `days` - How many.
#[tool]
fn weather(
    /// City and country.
    city: &str,
    days: u8,
) -> usize {
    city.len() + usize::from(days)
}

fn main() {
    let _ = tools![weather];
}
// 2 errors
