//! Plain types that cannot be flattened.

use tool_core::ToolType;

#[derive(ToolType, serde::Deserialize)]
struct Query {
    #[serde(flatten)]
    words: Vec<String>,
    #[serde(flatten)]
    limit: Option<u8>,
}

fn main() {}
// 2 errors
