//! A type that is not `Sync`.

use std::cell::Cell;

use tool_core::toolset;

struct Home(Cell<u8>);

#[toolset]
impl Home {
    /// Heats.
    #[tool]
    fn heat(&self) {
        self.0.set(1);
    }
}

fn main() {}
