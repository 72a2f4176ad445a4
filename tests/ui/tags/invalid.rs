//! Tags that are not valid.

use tool_core::{tool, tools};

/// Has no list.
#[tool(tags = "admin")]
fn no_list() {}

/// Has no tags.
#[tool(tags = [])]
fn no_tags() {}

/// Has a number.
#[tool(tags = ["admin", 5])]
fn number() {}

/// Has an empty one, one with a space, one with a letter that is not ASCII, and one twice.
#[tool(tags = ["", "two words", "größe", "admin", "v1.2:x-y_z", "admin"])]
fn four() {}

fn main() {
    let _ = tools![no_list, no_tags, number, four];
}
// 7 errors
