//! The floor: a hand-written argument struct, `serde_json::from_str`, a direct call. Events of streams are such structs,
//! too.

#[allow(dead_code, reason = "fields are decoded, not read")]
mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

mod streams;

pub struct Floor;

impl harness::Contender for Floor {
    type Tool = fn(&str) -> Result<String, String>;

    fn start() -> Self {
        Floor
    }

    fn find(&self, name: &'static str) -> Self::Tool {
        let mut tools = tools::TOOLS.iter();
        tools.find(|tool| tool.0 == name).expect("a known tool").1
    }

    fn call(&self, tool: &Self::Tool, arguments: &str, look: impl FnOnce(Result<&str, &str>)) {
        match tool(arguments) {
            Ok(text) => look(Ok(&text)),
            Err(text) => look(Err(&text)),
        }
    }

    const FORMS: &'static [&'static str] = &[];

    fn list(&self, _form: &str) -> Vec<u8> {
        Vec::new()
    }

    fn forget(&mut self, _name: &str) {}

    const OWN: &'static [&'static str] = streams::CASES;

    fn own(case: &str) -> harness::Work {
        streams::own(case)
    }
}
