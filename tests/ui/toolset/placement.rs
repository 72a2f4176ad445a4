//! `#[toolset]` on items that are not `impl` blocks.

use tool_core::toolset;

#[toolset]
struct Home;

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
    let _ = Home;
    home();
}
// 4 errors
