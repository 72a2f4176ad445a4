//! Invalid keys, of parameters and of fields.

use serde::Deserialize;
use tool_core::{ToolType, tool, tools};

/// A place.
#[derive(Deserialize, ToolType)]
#[serde(rename_all = "kebab-case")]
struct Place {
    time_zone: String,
    #[serde(rename = "1st")]
    first: u8,
}

/// Weather of a city.
#[tool]
fn weather(#[param(rename = "city-name")] city: &str, größe: u8, place: Place) -> usize {
    city.len() + usize::from(größe) + place.time_zone.len() + usize::from(place.first)
}

fn main() {
    let _ = tools![weather];
}
// 4 errors
