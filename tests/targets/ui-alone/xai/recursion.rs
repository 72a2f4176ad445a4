//! A type that holds itself, whatever happens.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

#[derive(Deserialize, ToolType)]
struct Folder {
    name: String,
    folders: Vec<Folder>,
}

fn size(folder: &Folder) -> usize {
    folder.name.len() + folder.folders.iter().map(size).sum::<usize>()
}

/// Makes folders.
#[tool]
fn make(name: &str, root: Folder) -> usize {
    name.len() + size(&root)
}

fn main() {
    let _ = tools![make];
}
