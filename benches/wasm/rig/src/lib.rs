//! The functions as tools of rig.

use futures_util::FutureExt;
use rig_agent::tool::ToolSet;
use rig_core::tool::ToolContext;

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

include!("../../interface.rs");

// On this target, its tools are neither `Send` nor `Sync`.
thread_local! {
    static TOOLS: ToolSet = {
        let mut tools = ToolSet::default();
        tools::add_all(&mut tools);
        tools
    };
}

fn list_tools() -> String {
    TOOLS.with(|tools| serde_json::to_string(&tools.tool_definitions()).expect("JSON"))
}

fn call_tool(name: &str, arguments: &str) -> String {
    TOOLS.with(|tools| {
        let mut context = ToolContext::new();
        let running = tools.execute(name, arguments, &mut context);
        let result = running.now_or_never().expect("the function does not wait");
        result.output().as_text().expect("text").to_string()
    })
}
