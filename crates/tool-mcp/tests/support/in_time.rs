//! Tests that fail in place of hanging.

#![allow(dead_code, unreachable_pub)]

use std::time::Duration;

use serde_json::Value;
use tool_core::{Registry, ToolCall, ToolResult};

/// Fails if the future takes long.
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("nothing happened for a minute")
}

/// Calls a tool of a registry.
pub async fn run(registry: &Registry, name: &str, arguments: Value) -> ToolResult {
    in_time(registry.call(ToolCall::new("call_1", name, arguments))).await
}
