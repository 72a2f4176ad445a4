//! Errors in several items of a block.

use tool_core::toolset;

struct Home;

#[toolset]
impl Home {
    /// How many.
    #[tool]
    const ROOMS: usize = 3;

    /// Heats.
    #[cfg_attr(all(), tool)]
    fn heat(&self) {}

    #[tool]
    fn cool(&self) {}

    /// Dries.
    #[tool]
    fn dry(&self, (from, to): (u8, u8)) -> u8 {
        to - from
    }

    /// Airs.
    ///
    /// # Arguments
    /// * `room` - Which.
    #[tool(name = "air the house")]
    fn air() {}
}

fn main() {
    Home.heat();
    Home.cool();
    Home.dry((1, Home::ROOMS as u8));
    Home::air();
    let _ = tool_core::Registry::builder().toolset("", Home);
}
// 6 errors
