//! Further blocks that the first one does not list, and one that does not exist.

use tool_core::toolset;

struct Home;

#[toolset]
impl Home {
    /// Heats.
    #[tool]
    fn heat(&self) {}
}

#[toolset(block = 2)]
impl Home {
    /// Cools.
    #[tool]
    fn cool(&self) {}
}

struct Garden<T>(T);

#[toolset(blocks = 2)]
impl<T> Garden<T> {
    /// Waters.
    #[tool]
    fn water(&self) {}
}

fn main() {
    Garden(0).water();
}
// 2 errors
