//! Methods with errors that only rustc finds, each underlined separately.

use serde::Deserialize;
use tool_core::{Registry, ToolType, toolset};

#[derive(Deserialize, ToolType)]
struct Tree<T> {
    value: T,
    branches: Vec<Tree<T>>,
}

#[derive(Deserialize)]
struct Seed;

type Litres = u8;

struct Garden;

#[toolset]
impl Garden {
    /// Takes two trees.
    #[tool]
    fn plant(&self, one: Tree<u8>, other: Tree<bool>) {
        drop((one.value, one.branches, other.value, other.branches));
    }

    /// Takes a seed.
    #[tool]
    fn sow(&self, seed: Seed) {
        drop(seed);
    }

    /// Takes a number.
    #[tool]
    fn water(&self, #[param(default = 300)] litres: Litres) -> Litres {
        litres
    }
}

fn main() {
    let _ = Registry::builder().toolset("", Garden);
}
// 3 errors
