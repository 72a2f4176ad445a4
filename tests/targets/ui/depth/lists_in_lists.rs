//! More levels than one provider takes.

use tool_core::{tool, tools};

type Four<T> = Vec<Vec<Vec<Vec<T>>>>;

/// Counts.
#[tool]
fn count(deep: Four<Four<Vec<Vec<u8>>>>) -> usize {
    deep.len()
}

fn main() {
    let _ = tools![count];
}
