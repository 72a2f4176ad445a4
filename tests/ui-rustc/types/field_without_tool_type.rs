//! A field without `ToolType`.

use serde::Deserialize;
use tool_core::ToolType;

#[derive(Deserialize)]
struct City(String);

#[derive(Deserialize, ToolType)]
struct Place {
    city: City,
}

fn main() {}
