//! A handler with the name of another type.

use tool_core::{tool, tools};

struct Search;

/// Searches.
#[tool(handler = Search)]
fn search() {}

fn main() {
    let _ = (tools![Search], Search);
}
