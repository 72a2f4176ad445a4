//! Flags that exclude each other.

use tool_core::{tool, tools};

/// Removes a file.
#[tool(read_only, destructive)]
fn remove(path: &str) -> usize {
    path.len()
}

fn main() {
    let _ = tools![remove];
}
