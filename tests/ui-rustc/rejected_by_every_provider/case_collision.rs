//! Enum values that differ only in case, with a manual `ToolType` implementation.

use serde::Deserialize;
use tool_core::schema::{Schema, Text};
use tool_core::{ToolType, by_serde, tool, tools};

#[derive(Deserialize)]
struct Unit(String);

impl ToolType for Unit {
    const SCHEMA: &'static Schema =
        &Schema::strings(&[Text::new("mw"), Text::new("kW"), Text::new("MW")]);
}

by_serde!(Unit);

#[derive(Deserialize, ToolType)]
struct Power {
    value: f64,
    unit: Unit,
}

/// Adds powers.
#[tool]
fn add(powers: Vec<Power>) -> f64 {
    powers.iter().filter(|one| one.unit.0 == "MW").map(|one| one.value).sum()
}

fn main() {
    let _ = tools![add];
}
