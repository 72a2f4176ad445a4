//! rig: `#[rig_tool]`, a `ToolSet`, `ToolSet::execute`.

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use harness::now::now;
use rig_agent::tool::ToolSet;
use rig_core::tool::ToolContext;

pub struct Rig {
    tools: ToolSet,
}

impl harness::Contender for Rig {
    type Tool = &'static str;

    fn start() -> Self {
        let mut tools = ToolSet::default();
        tools::add_all(&mut tools);
        Rig { tools }
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        let mut context = ToolContext::new();
        let result = now(self.tools.execute(tool, arguments, &mut context));
        let text = result.output().as_text().expect("text");
        if result.is_error() {
            look(Err(&text));
        } else {
            look(Ok(&text));
        }
    }

    const FORMS: &'static [&'static str] = &["definitions"];

    fn list(&self, _form: &str) -> Vec<u8> {
        serde_json::to_vec(&self.tools.tool_definitions()).expect("JSON")
    }

    fn forget(&mut self, name: &str) {
        self.tools.remove_tool(name);
    }
}
