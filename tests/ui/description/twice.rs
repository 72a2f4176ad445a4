//! A doc comment and a key for the same thing: a tool, a parameter, a type and a field.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

/// A nap.
#[derive(Deserialize, ToolType)]
#[param(description = "Sleep.")]
struct Nap {
    /// How long.
    #[param(description = "Minutes.")]
    minutes: u8,
}

/// Takes a nap.
#[tool(description = "Sleeps.")]
fn nap(
    /// When, how long.
    #[param(description = "How long.")]
    nap: Nap,
) -> u8 {
    nap.minutes
}

fn main() {
    let _ = tools![nap];
}
// 4 errors
