//! Two toolset blocks of one type.

use tool_core::toolset;

struct Home;

#[toolset]
impl Home {
    /// Heats.
    #[tool]
    fn heat(&self) {}
}

#[toolset]
impl Home {
    /// Cools.
    #[tool]
    fn cool(&self) {}
}

fn main() {}
