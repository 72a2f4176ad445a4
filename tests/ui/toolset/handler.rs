//! A method has no handler type.

use tool_core::toolset;

struct Home;

#[toolset]
impl Home {
    /// Counts.
    #[tool(handler = Count)]
    fn count(&self) -> usize {
        0
    }
}

fn main() {
    let _ = tool_core::Registry::builder().toolset("", Home);
}
