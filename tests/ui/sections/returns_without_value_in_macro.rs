//! A unit type from a macro.

use tool_core::{tool, tools};

macro_rules! waits {
    ($output:ty) => {
        /// Waits.
        ///
        /// # Returns
        /// How long it took.
        #[tool]
        fn wait() -> $output {}
    };
}

waits!(());

fn main() {
    let _ = tools![wait];
}
