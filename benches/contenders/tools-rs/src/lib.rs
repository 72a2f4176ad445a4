//! tools-rs: `#[tool]`, the collection of all linked tools, `ToolCollection::call`.

#[allow(
    dead_code,
    reason = "fields are decoded, not read, and tools are found by the library"
)]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use harness::now::now;
use tools_rs::{FunctionCall, ToolCollection};

pub struct ToolsRs {
    tools: ToolCollection,
}

impl harness::Contender for ToolsRs {
    type Tool = &'static str;

    fn start() -> Self {
        ToolsRs {
            tools: tools_rs::collect_tools(),
        }
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        // It takes a parsed value. `FunctionCall::new` would generate a random id, which it does
        // not need.
        let called = serde_json::from_str(arguments).map_err(|error| error.to_string());
        let result = called.and_then(|arguments| {
            let call = FunctionCall {
                id: None,
                name: (*tool).to_owned(),
                arguments,
            };
            now(self.tools.call(call)).map_err(|error| error.to_string())
        });
        match result {
            Ok(response) => look(Ok(response.result.as_str().expect("a string"))),
            Err(text) => look(Err(&text)),
        }
    }

    const FORMS: &'static [&'static str] = &["definitions"];

    fn list(&self, _form: &str) -> Vec<u8> {
        serde_json::to_vec(&self.tools.json().expect("JSON")).expect("JSON")
    }

    fn forget(&mut self, name: &str) {
        self.tools.unregister(name).expect("a known tool");
    }
}
