//! A method of a trait, without a body.

use tool_core::tool;

trait Weather {
    /// The city.
    #[tool]
    fn city(&self) -> String;
}

fn main() {}
