//! Types that contain each other, without `#[param(recursive)]`. The message is rustc's; its notes show the fields.

use tool_core::{ToolType, tool};

#[derive(ToolType)]
struct Folder {
    link: Option<Box<Link>>,
}

#[derive(ToolType)]
struct Link {
    to: Folder,
}

/// Creates a folder.
#[tool]
fn create(root: Folder) -> bool {
    root.link.is_some()
}

fn main() {}
// 2 errors
