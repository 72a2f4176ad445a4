//! Fields that borrow from the JSON text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tool_core::ToolType;

#[derive(Deserialize, ToolType)]
struct Place<'a> {
    name: &'a str,
    country: Cow<'a, str>,
}

#[derive(Serialize, ToolType)]
enum Answer<'a> {
    Places(Vec<&'a str>),
    Nothing(&'static str),
}

fn main() {}
// 2 errors
