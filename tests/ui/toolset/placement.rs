//! `#[toolset]` on items that are not inherent `impl` blocks.

use tool_core::toolset;

#[toolset]
struct Home;

#[toolset]
impl Clone for Home {
    /// Doubles the home.
    #[tool]
    fn clone(&self) -> Home {
        Home
    }
}

#[toolset]
trait Heated {
    /// Heats.
    fn heat(&self);
}

#[toolset]
const fn home() -> impl Sized {}

#[toolset]
pub mod rooms {}

fn main() {
    let _ = Home.clone();
    home();
}
// 5 errors
