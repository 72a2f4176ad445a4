//! Empty descriptions.

use tool_core::{tool, tools};

#[tool(description = " ")]
fn nap(#[param(description = "")] minutes: u8) -> u8 {
    minutes
}

fn main() {
    let _ = tools![nap];
}
// 2 errors
