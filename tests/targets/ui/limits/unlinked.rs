//! The whole of a tool that no registry finds by itself.

/// Rolls a die.
#[tool_core::tool(unlinked)]
fn roll() -> u8 {
    4
}

fn main() {
    roll();
}
