//! A union.

use tool_core::ToolType;

#[derive(ToolType)]
union Bits {
    float: f32,
    integer: u32,
}

fn main() {}
