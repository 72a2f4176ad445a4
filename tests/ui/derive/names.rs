//! Invalid names of fields and variants.

use serde::Deserialize;
use tool_core::ToolType;

#[derive(Deserialize, ToolType)]
struct Place {
    #[serde(rename = "the city")]
    city: String,
}

#[derive(Deserialize, ToolType)]
enum Unit {
    #[serde(rename = "c")]
    Celsius,
    #[serde(rename = "C")]
    Coulomb,
    #[serde(rename = "f(x)")]
    Function(u8),
}

fn main() {}
// 3 errors
