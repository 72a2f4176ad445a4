//! `#[param(recursive)]` on a field that leads to a type outside the parameter.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
struct Folder {
    name: String,
}

#[derive(Deserialize, ToolType)]
struct Link {
    #[param(recursive)]
    to: Folder,
}

/// Creates a link.
#[tool]
fn create(link: Link) -> usize {
    link.to.name.len()
}

/// Points to others, without a name for what it holds.
#[derive(Deserialize, ToolType)]
struct Nameless(#[param(recursive)] Option<Vec<Nameless>>);

/// Counts pointers.
#[tool]
fn count(pointers: Nameless) -> usize {
    pointers.0.map_or(0, |all| all.len())
}

fn main() {
    let _ = tools![create, count];
}
// 2 errors
