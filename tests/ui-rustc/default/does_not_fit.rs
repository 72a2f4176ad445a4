//! Defaults that the schema rejects, of types that the macro does not know.

use tool_core::{tool, tools};

type Small = u8;

/// Weather of a city.
#[tool]
fn weather(
    #[param(default = 300)] days: Small,
    #[param(default = "three")] hours: Small,
    #[param(default = ["a", 3, 4])] words: Vec<String>,
    city: &str,
) -> usize {
    city.len() + usize::from(days) + usize::from(hours) + words.len()
}

fn main() {
    let _ = tools![weather];
}
// 3 errors
