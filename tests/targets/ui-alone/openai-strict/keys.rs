//! More keys in all than the provider takes, though each type has few.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
struct Wide<T> {
    a: T, b: T, c: T, d: T, e: T, f: T, g: T, h: T, i: T,
    j: T, k: T, l: T, m: T, n: T, o: T, p: T, q: T, r: T,
}

/// Stores sheets.
#[tool]
fn store(name: &str, sheets: Vec<Wide<Wide<Wide<u8>>>>) -> usize {
    name.len() + sheets.iter().map(|sheet| usize::from(sheet.a.b.c)).sum::<usize>()
}

fn main() {
    let _ = tools![store];
}
