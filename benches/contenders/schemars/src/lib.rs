//! `schemars` for the schema, with hand-written glue: a hash map by name.

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use std::collections::HashMap;

type Call = fn(&str) -> Result<String, String>;

#[derive(serde::Serialize)]
struct Definition {
    name: &'static str,
    description: &'static str,
    input_schema: schemars::Schema,
}

pub struct Schemars {
    calls: HashMap<&'static str, Call>,
    definitions: Vec<Definition>,
}

impl harness::Contender for Schemars {
    type Tool = &'static str;

    fn start() -> Self {
        let rows = tools::TOOLS.iter();
        Schemars {
            calls: rows.clone().map(|row| (row.0, row.3)).collect(),
            definitions: rows
                .map(|row| Definition {
                    name: row.0,
                    description: row.1,
                    input_schema: row.2(),
                })
                .collect(),
        }
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        name
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        let result = match self.calls.get(tool) {
            Some(call) => call(arguments),
            None => Err(format!("no tool {tool}")),
        };
        match result {
            Ok(text) => look(Ok(&text)),
            Err(text) => look(Err(&text)),
        }
    }

    const FORMS: &'static [&'static str] = &["definitions"];

    fn list(&self, _form: &str) -> Vec<u8> {
        serde_json::to_vec(&self.definitions).expect("JSON")
    }

    fn forget(&mut self, name: &str) {
        self.calls.remove(name);
        self.definitions
            .retain(|definition| definition.name != name);
    }
}
