//! An `unsafe` function.

use tool_core::{tool, tools};

/// Reads memory.
///
/// # Safety
/// The address must be valid.
#[tool]
unsafe fn peek(address: usize) -> u8 {
    unsafe { *(address as *const u8) }
}

fn main() {
    let _ = tools![peek];
}
