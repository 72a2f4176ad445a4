//! Two recursive types with the same name in one schema.

use serde::Deserialize;
use tool_core::{ToolType, tool};

#[derive(Deserialize, ToolType)]
struct Tree<T> {
    value: T,
    branches: Vec<Tree<T>>,
}

/// Takes two trees.
#[tool]
fn plant(one: Tree<u8>, other: Tree<bool>) {
    drop((one, other));
}

fn main() {}
