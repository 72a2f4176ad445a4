//! Unknown keys: mistyped, unrelated, or of another attribute.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

/// Temperature unit.
#[derive(Deserialize, ToolType)]
#[param(crat = tool_core)]
struct Unit {
    #[param(descripton = "Its letter.")]
    letter: char,
}

/// Weather of a city.
#[tool(readonly, colour = "red", type = "x")]
fn weather(#[param(defualt = 3, name = "days", recursive)] days: u8, unit: Unit) -> u8 {
    let _ = unit.letter;
    days
}

fn main() {
    let _ = tools![weather];
}
// 8 errors
