//! `# Returns` on functions that return nothing.

use tool_core::{tool, tools};

/// Waits.
///
/// # Returns
/// How long it took.
#[tool]
fn wait(seconds: u8) {
    drop(seconds);
}

/// Sleeps.
///
/// # When to use
/// At night.
///
/// # Returns
///
/// The dreams.
///
/// # Errors
/// Never.
#[tool]
async fn sleep() -> () {}

fn main() {
    let _ = tools![wait, sleep];
}
// 2 errors
