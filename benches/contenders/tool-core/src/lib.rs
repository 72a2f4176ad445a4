//! tool-core: a registry of all linked tools, called with the arguments as text.

#[allow(
    dead_code,
    reason = "fields are decoded, not read, and tools are found by the library"
)]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

mod own;

use harness::Work;
use harness::now::now;
use tool_core::{Registry, ToolCall};
use tool_dialects::{Anthropic, Gemini, Mcp, OpenAiChat, OpenAiResponses};

pub struct ToolCore {
    registry: Registry,
}

impl harness::Contender for ToolCore {
    type Tool = &'static str;

    fn start() -> Self {
        ToolCore {
            registry: Registry::linked().expect("unique names"),
        }
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        let call = ToolCall::new("call_1", *tool, arguments);
        let result = now(self.registry.call(call));
        if result.is_error() {
            look(Err(result.content()));
        } else {
            look(Ok(result.content()));
        }
    }

    const FORMS: &'static [&'static str] = &[
        "openai-chat",
        "openai-responses",
        "anthropic",
        "gemini",
        "mcp",
    ];

    fn list(&self, form: &str) -> Vec<u8> {
        rendered(&self.registry, form).into_bytes()
    }

    fn forget(&mut self, name: &str) {
        self.registry.remove(name).unwrap().unwrap();
    }

    const OWN: &'static [&'static str] = own::CASES;

    fn own(case: &str) -> Work {
        own::work(case)
    }
}

/// Lists the tools for a request.
fn rendered(registry: &Registry, form: &str) -> String {
    let rendered = match form {
        "openai-chat" => registry.render(&OpenAiChat::default()),
        "openai-responses" => registry.render(&OpenAiResponses::default()),
        "anthropic" => registry.render(&Anthropic::default()),
        "gemini" => registry.render(&Gemini::default()),
        "mcp" => registry.render(&Mcp::default()),
        _ => panic!("no form {form}"),
    };
    rendered.into_string()
}
