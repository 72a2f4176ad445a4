//! Constants that are not descriptions, each underlined separately.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools, toolset};

const NUMBER: u8 = 5;
const BLANK: &str = " \n";

#[tool(description = BLANK)]
fn nap(#[doc = concat!("", "")] minutes: u8) -> u8 {
    minutes
}

#[derive(Deserialize, ToolType)]
#[param(description = BLANK)]
struct Place {
    /// Its name.
    name: String,
}

/// Visits.
#[doc = concat!("With", "\n# Returns\n", "Nothing.")]
#[tool]
fn visit(place: Place) -> usize {
    place.name.len()
}

#[tool(description = NUMBER)]
fn add() {}

struct Home;

#[toolset]
impl Home {
    #[tool(description = Self::TEXT)]
    fn heat(&self) {}
}

fn main() {
    let _ = tools![nap, visit, add];
}
// 6 errors
