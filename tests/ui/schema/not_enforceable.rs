//! Schemas that are invalid or cannot be enforced.

#![allow(unused_variables)]

use serde_json::Value;
use tool_core::tool;

/// Takes anything.
#[tool]
fn take(
    #[param(schema = "{\"type\":\"string\"")] open: Value,
    #[param(schema = r#"{"type":"string","contentEncoding":"base64"}"#)] unknown: Value,
    #[param(schema = r#"{"type":"array"}"#)] items: Value,
    #[param(schema = r#"{"type":"object","properties":{}}"#)] closed: Value,
    #[param(schema = r#"{"type":"text"}"#)] name: Value,
    #[param(schema = r#"{}"#, as = String)] both: Value,
) {
}

fn main() {}
// 6 errors
