//! llm-tool: `#[llm_tool]`, a `ToolRegistry`, `ToolRegistry::dispatch_str`.

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use harness::now::now;
use llm_tool::{ToolContext, ToolRegistry};

pub struct LlmTool {
    tools: ToolRegistry,
    context: ToolContext,
}

impl harness::Contender for LlmTool {
    type Tool = &'static str;

    fn start() -> Self {
        let mut tools = ToolRegistry::new();
        tools::add_all(&mut tools);
        LlmTool {
            tools,
            context: ToolContext::new(),
        }
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        match now(self.tools.dispatch_str(tool, arguments, &self.context)) {
            Ok(output) => look(Ok(output.content())),
            Err(error) => look(Err(&error.to_string())),
        }
    }

    const FORMS: &'static [&'static str] = &["definitions"];

    fn list(&self, _form: &str) -> Vec<u8> {
        serde_json::to_vec(&*self.tools.definitions_slice()).expect("JSON")
    }

    fn forget(&mut self, name: &str) {
        self.tools.remove(name);
    }
}
