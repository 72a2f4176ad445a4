//! A value of a generic toolset that concurrent calls cannot share.

use std::cell::Cell;

use tool_core::{Registry, toolset};

struct Home<T>(T);

#[toolset]
impl<T: Default> Home<T> {
    /// Heats.
    #[tool]
    fn heat(&self) -> bool {
        let _ = T::default();
        true
    }
}

fn main() {
    let tools = Registry::builder().toolset("a_", Home(1));
    let _ = tools.toolset("b_", Home(Cell::new(1)));
}
