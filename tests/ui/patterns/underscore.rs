//! A parameter without a name.

use tool_core::{tool, tools};

/// Takes a nap.
#[tool]
fn nap(_: u8) {}

fn main() {
    let _ = tools![nap];
}
