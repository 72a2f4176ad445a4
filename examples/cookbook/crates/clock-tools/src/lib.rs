//! A crate with one tool.

use std::time::SystemTime;

use tool_core::tool;

/// The current time.
#[tool(read_only)]
pub fn get_time() -> SystemTime {
    SystemTime::now()
}
