//! The functions of the Berkeley Function Calling Leaderboard as tools: see `src/bfcl.rs`.

#[allow(warnings, reason = "nobody here wrote them")]
pub mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use tool_core::Registry;
use tool_dialects::{Mcp, OpenAiChat};

pub struct Bfcl {
    registry: Registry,
}

impl harness::Contender for Bfcl {
    type Tool = &'static str;

    fn start() -> Self {
        Bfcl {
            registry: Registry::linked().expect("unique names"),
        }
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, _tool: &Self::Tool, _arguments: &str, _look: impl FnOnce(Result<&str, &str>)) {
        panic!("these are not called")
    }

    const FORMS: &'static [&'static str] = &["openai-chat", "mcp"];

    fn list(&self, form: &str) -> Vec<u8> {
        let rendered = match form {
            "openai-chat" => self.registry.render(&OpenAiChat::default()),
            "mcp" => self.registry.render(&Mcp::default()),
            _ => panic!("no form {form}"),
        };
        rendered.into_string().into_bytes()
    }

    fn forget(&mut self, name: &str) {
        self.registry.remove(name).unwrap().unwrap();
    }
}
