//! The tool `wait_for_results`, which a model calls to wait for its calls in the background.
//!
//! It is not among the tools of a snapshot. A `Run` of the crate `tool-agent` answers its calls.

use crate::tool::ToolEntry;

/// The name of the tool that waits for calls in the background. No other tool of a registry with tools in the background
/// can have it; see [`RequestOptions::background`](crate::dialect::RequestOptions::background).
pub const WAIT_FOR_RESULTS: &str = "wait_for_results";

/// Waits until a call in the background has ended, and returns its result.
#[crate::tool(unlinked, read_only)]
fn wait_for_results() -> &'static str {
    "No call is in the background."
}

pub(super) fn entry() -> ToolEntry {
    ToolEntry::of::<wait_for_results>()
}
