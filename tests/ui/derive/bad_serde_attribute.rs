//! Attributes that serde rejects too: two derives, one error.

use serde::Deserialize;
use tool_core::ToolType;

#[derive(Deserialize, ToolType)]
#[serde(rename_all = "shouting", unknown)]
struct Place {
    #[serde(default = 5)]
    city: String,
}

fn main() {}
// 3 errors
