//! Invalid `timeout` and `blocking` keys.

use tool_core::{tool, tools};

/// Waits.
#[tool(blocking)]
async fn blocks() {}

/// Waits.
#[tool(timeout = "30s")]
fn unstoppable() {}

/// Waits.
#[tool(timeout = "30")]
async fn without_a_unit() {}

/// Waits.
#[tool(timeout = "0s")]
async fn nothing() {}

/// Waits.
#[tool(blocking, timeout = "99999999999999999999h")]
fn forever() {}

/// Waits.
#[tool(timeout = 30)]
async fn a_number() {}

fn main() {
    let _ = tools![blocks, unstoppable, without_a_unit, nothing, forever, a_number];
}
// 6 errors
