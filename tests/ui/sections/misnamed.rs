//! Headings that resemble those for the model.

use tool_core::{tool, tools};

/// Weather of a city.
///
/// # Parameters
/// * `city` - Where.
///
/// # Usage
/// On rainy days.
///
/// # Return value
/// The number of letters.
#[tool]
fn weather(city: &str) -> usize {
    city.len()
}

fn main() {
    let _ = tools![weather];
}
// 3 errors
