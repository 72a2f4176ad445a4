//! Icons that are not valid.

use tool_core::{tool, tools};

/// Has a number.
#[tool(icons = 3)]
fn number() {}

/// Has none.
#[tool(icons = [])]
fn none() {}

/// Is fetched without encryption, or runs a script.
#[tool(icons = ["http://example.com/a.png", icon("javascript:alert(1)")])]
fn schemes() {}

/// Has another name.
#[tool(icons = [image("https://example.com/a.png")])]
fn name() {}

/// Has wrong keys.
#[tool(icons = [icon("https://example.com/a.png", mime_type = "text/html", sizes = ["48", "48x48"], theme = "grey", size = 3)])]
fn keys() {}

fn main() {
    let _ = tools![number, none, schemes, name, keys];
}
// 9 errors
