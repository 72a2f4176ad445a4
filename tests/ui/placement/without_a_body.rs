//! `#[tool]` on a function of a trait.

use tool_core::tool;

trait Weather {
    /// Weather.
    #[tool]
    fn weather(days: u8) -> u8;
}

fn main() {}
