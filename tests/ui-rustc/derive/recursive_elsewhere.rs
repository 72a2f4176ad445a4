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

fn main() {
    let _ = tools![create];
}
