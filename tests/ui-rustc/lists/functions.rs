//! Functions, and tools that are not entries, in place of a list of tools.

use tool_core::{Registry, tool};

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    let _ = Registry::builder().tools([add]);
    let _ = Registry::builder().tool(add);
    let _ = Registry::new().add(["add"]);
}
// 3 errors
