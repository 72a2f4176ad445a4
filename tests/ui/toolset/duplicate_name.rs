//! Two methods with the same tool name.

use tool_core::toolset;

struct Home;

#[toolset]
impl Home {
    /// Heats.
    #[tool]
    fn heat(&self) {}

    /// Heats more.
    #[tool(name = "heat")]
    fn heat_more(&self) {}

    /// Cools, here.
    #[cfg(all())]
    #[tool(name = "cool")]
    fn cool_here(&self) {}

    /// Cools, elsewhere.
    #[cfg(not(all()))]
    #[tool(name = "cool")]
    fn cool_elsewhere(&self) {}
}

fn main() {
    Home.heat();
    Home.heat_more();
    Home.cool_here();
}
