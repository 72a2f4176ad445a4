//! Attributes that serde itself would refuse are refused once by each derive.

use tool_core::ToolType;

#[derive(ToolType)]
#[serde(rename_all = "shouting", unknown)]
struct Place {
    #[serde(default = 5)]
    city: String,
}

fn main() {}
