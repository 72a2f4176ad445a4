//! An invalid key deep in a type with a manual `ToolType` implementation.

use serde::Deserialize;
use tool_core::schema::{Property, Schema, Text};
use tool_core::{ToolType, by_serde, tool, tools};

#[derive(Deserialize)]
struct Headers {
    #[serde(rename = "x-trace")]
    trace: String,
}

impl ToolType for Headers {
    const SCHEMA: &'static Schema =
        &Schema::object(&[Property::new(Text::new("x-trace"), &Schema::STRING)]);
}

by_serde!(Headers);

#[derive(Deserialize, ToolType)]
struct Page<T> {
    items: Vec<T>,
}

/// Sends requests.
#[tool]
fn send(url: &str, requests: Option<Page<Headers>>) -> usize {
    let size = |page: Page<Headers>| page.items.iter().map(|one| one.trace.len()).sum();
    url.len() + requests.map_or(0, size)
}

fn main() {
    let _ = tools![send];
}
