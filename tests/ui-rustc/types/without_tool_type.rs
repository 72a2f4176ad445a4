//! Types without `ToolType`: as a parameter, nested, and behind a reference.

use serde::Deserialize;
use tool_core::{tool, tools};

#[derive(Deserialize)]
struct Place {
    city: String,
}

/// Weather of a place.
#[tool]
fn weather(place: Place) -> usize {
    place.city.len()
}

/// Weather of places.
#[tool]
fn weathers(places: Option<Vec<Place>>) -> usize {
    places.map_or(0, |places| places.len())
}

/// Weather of a lent place.
#[tool]
fn lent(place: &Place) -> usize {
    place.city.len()
}

fn main() {
    let _ = tools![weather, weathers, lent];
}
// 3 errors
