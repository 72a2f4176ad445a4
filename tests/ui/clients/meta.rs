//! Metadata that is not valid.

use tool_core::{tool, tools};

/// Has a list.
#[tool(meta = "[1]")]
fn list() {}

/// Has no member.
#[tool(meta = "{}")]
fn empty() {}

/// Is no JSON.
#[tool(meta = "{a: 1}")]
fn no_json() {}

/// Has a key twice.
#[tool(meta = r#"{"a": 1, "a": 2}"#)]
fn twice() {}

/// Has what `tags` writes.
#[tool(meta = r#"{"tool-core/tags": ["admin"]}"#)]
fn tags() {}

/// Is for somebody else.
#[tool(meta = r#"{"ui": {"visibility": ["app", "user"]}}"#)]
fn user() {}

/// Is for nobody.
#[tool(meta = r#"{"ui": {"visibility": []}}"#)]
fn nobody() {}

/// Is no string.
#[tool(meta = {"a": 1})]
fn object() {}

fn main() {
    let _ = tools![list, empty, no_json, twice, tags, user, nobody, object];
}
// 8 errors
