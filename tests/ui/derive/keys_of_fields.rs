//! Keys of a field on the type.

use tool_core::ToolType;

#[derive(ToolType)]
#[param(range = 1..=14, exemple = 3)]
struct Days(u8);

fn main() {}
// 2 errors
