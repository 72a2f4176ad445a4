//! The functions as tools of tool-core.

use std::sync::LazyLock;

use tool_core::{Registry, ToolCall};
use tool_dialects::OpenAiChat;

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

include!("../../interface.rs");

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| Registry::linked().expect("unique names"));

fn list_tools() -> String {
    REGISTRY.render(&OpenAiChat::default()).into_string()
}

fn call_tool(name: &str, arguments: &str) -> String {
    let result = REGISTRY.call_blocking(ToolCall::new("call_1", name, arguments));
    result.content().to_owned()
}
