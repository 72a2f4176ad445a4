//! Nothing that must be given.

use tool_core::{tool, tools};

/// Lists what there is.
#[tool]
fn list(page: Option<u32>) -> u32 {
    page.unwrap_or(1)
}

fn main() {
    let _ = tools![list];
}
