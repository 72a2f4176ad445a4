//! Keys that only the block or only its methods accept.

use tool_core::toolset;

struct Home;

#[toolset(prefix = "home_", crate = tool_core)]
impl Home {
    /// Heats.
    #[tool(unlinked)]
    fn heat(&self) {}

    /// Cools.
    #[tool(crate = tool_core, read_only)]
    fn cool(&self) {}

    /// Dries.
    #[tool = "dry"]
    fn dry(&self) {}

    /// Airs.
    #[tool(read_only)]
    #[tool(idempotent)]
    fn air(&self) {}
}

#[toolset(block = 1)]
impl Home {
    /// Paints.
    #[tool]
    fn paint(&self) {}
}

#[toolset(block = 3, blocks = "three")]
impl Home {
    /// Sells.
    #[tool]
    fn sell(&self) {}
}

#[toolset(block = 2, blocks = 2)]
impl Home {
    /// Buys.
    #[tool]
    fn buy(&self) {}
}

fn main() {
    Home.heat();
    Home.cool();
    Home.dry();
    Home.air();
}
// 8 errors
