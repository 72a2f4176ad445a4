//! Values of `handler` that are not the name of a new type.

use tool_core::{tool, tools};

/// Searches.
#[tool(handler)]
fn missing() {}

/// Searches.
#[tool(handler = "Search")]
fn text() {}

/// Searches.
#[tool(handler = tools::Search)]
fn path() {}

/// Searches.
#[tool(handler = Search<u8>)]
fn generic() {}

/// Searches.
#[tool(handler = Self)]
fn keyword() {}

/// Searches.
#[tool(handler = same)]
fn same() {}

/// Searches.
#[tool(handler = Twice, handler = Again)]
fn repeated() {}

fn main() {
    let _ = tools![missing, text, path, generic, keyword, same, Twice];
}
// 7 errors
