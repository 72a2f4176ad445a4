//! The functions as tools of rig.

use std::sync::LazyLock;

use futures_util::FutureExt;
use rig_agent::tool::ToolSet;
use rig_core::tool::ToolContext;

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

include!("../../interface.rs");

static TOOLS: LazyLock<ToolSet> = LazyLock::new(|| {
    let mut tools = ToolSet::default();
    tools::add_all(&mut tools);
    tools
});

fn list_tools() -> String {
    serde_json::to_string(&TOOLS.tool_definitions()).expect("JSON")
}

fn call_tool(name: &str, arguments: &str) -> String {
    let mut context = ToolContext::new();
    let running = TOOLS.execute(name, arguments, &mut context);
    let result = running.now_or_never().expect("the function does not wait");
    result.output().as_text().expect("text").to_string()
}
