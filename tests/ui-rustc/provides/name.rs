//! The provider's models call the tool by another name.

#![allow(unused_variables)]

use tool_dialects::anthropic::{EditorCommand, TextEditor20250728};
use tool_core::tool;

/// Edits.
#[tool(provides = TextEditor20250728)]
fn edit(command: EditorCommand) {}

fn main() {}
