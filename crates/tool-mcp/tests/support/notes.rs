//! Tools of which some are for admins, and one that calls others.

#![allow(unreachable_pub)]

use tool_core::{CallContext, ToolCall, tool};

/// Wipes all notes.
#[tool(unlinked, tags = ["admin"])]
pub fn wipe_notes() -> &'static str {
    "wiped"
}

/// Exports the notes of everybody.
#[tool(unlinked, defer, tags = ["admin"])]
pub fn export_notes() -> &'static str {
    "exported"
}

/// Prints the notes.
#[tool(unlinked, defer)]
pub fn print_notes() -> &'static str {
    "printed"
}

/// Calls a tool.
#[tool(unlinked)]
pub async fn relay(name: &str, arguments: &str, call: &CallContext) -> String {
    let result = call.call(ToolCall::new("inner", name, arguments)).await;
    result.content().to_owned()
}
