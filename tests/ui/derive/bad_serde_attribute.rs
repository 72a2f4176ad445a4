//! Attributes that serde itself would refuse: two derives, one message.

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
