//! Types that serde decodes, without `Deserialize`. `Plain` decodes itself.

use std::collections::HashMap;

use tool_core::{ToolType, tool, tools};

#[derive(ToolType)]
struct Plain {
    city: String,
}

#[derive(ToolType)]
struct Flattened {
    city: String,
    #[serde(flatten)]
    others: HashMap<String, u8>,
}

#[derive(ToolType)]
#[serde(untagged)]
enum Untagged {
    Number(u8),
    Name(String),
}

#[derive(ToolType)]
#[param(serde)]
struct Asked(u8);

/// Takes what decodes itself.
#[tool]
fn plain(one: Plain, other: &Plain) -> bool {
    one.city == other.city
}

/// Takes a flattened field.
#[tool]
fn flattened(place: Flattened) -> usize {
    place.city.len() + place.others.len()
}

/// Takes an untagged enum in a list.
#[tool]
fn untagged(places: Vec<Untagged>) -> usize {
    places.len()
}

/// Takes what asks for serde.
#[tool]
fn asked(number: &Asked) -> u8 {
    number.0
}

fn main() {
    let _ = tools![plain, flattened, untagged, asked];
}
// 3 errors
