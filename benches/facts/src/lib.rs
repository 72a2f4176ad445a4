//! Observes what a crate does with the function `get_weather(city, days, unit)`.
//!
//! Each program in `bin` is what a user of that crate would write. `benches/run facts` runs them
//! and keeps what they print; the comparison in the README is derived from that.

#[cfg(feature = "lines")]
pub mod lines;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};

/// A server or a registry with the tools of its crate.
pub trait Subject {
    /// Prepares the tools, or returns why the crate rejects them.
    fn start() -> Result<Self, String>
    where
        Self: Sized;

    /// Returns the definitions of the tools: an array, or an object that contains it.
    fn list(&mut self) -> Value;

    /// Calls a tool with the text of its arguments.
    fn call(&mut self, tool: &str, arguments: &str) -> Reply;
}

/// What comes back from a call.
#[derive(Debug)]
pub enum Reply {
    /// A result for the model.
    Result(String),
    /// An error for the model.
    Error(String),
    /// `Err` for the program, instead of a result.
    Failure(String),
    /// An error of JSON-RPC, instead of a result.
    Protocol(String),
    /// No answer.
    Nothing,
}

/// The calls, by what is special about them. The first is correct.
const CALLS: &[(&str, &str, &str)] = &[
    (
        "correct",
        "get_weather",
        r#"{"city":"Lisbon","days":3,"unit":"celsius"}"#,
    ),
    (
        "without days",
        "get_weather",
        r#"{"city":"Lisbon","unit":"celsius"}"#,
    ),
    (
        "days: null",
        "get_weather",
        r#"{"city":"Lisbon","days":null,"unit":"celsius"}"#,
    ),
    (
        "an unknown argument",
        "get_weather",
        r#"{"city":"Lisbon","days":3,"unit":"celsius","wind":true}"#,
    ),
    ("an array", "get_weather", r#"["Lisbon",3,"celsius"]"#),
    (
        "days: 20.0",
        "get_weather",
        r#"{"city":"Lisbon","days":20.0,"unit":"celsius"}"#,
    ),
    (
        "days: \"3\"",
        "get_weather",
        r#"{"city":"Lisbon","days":"3","unit":"celsius"}"#,
    ),
    (
        "unit: Celsius",
        "get_weather",
        r#"{"city":"Lisbon","days":3,"unit":"Celsius"}"#,
    ),
    (
        "days: 300",
        "get_weather",
        r#"{"city":"Lisbon","days":300,"unit":"celsius"}"#,
    ),
    (
        "four violations",
        "get_weather",
        r#"{"city":5,"days":300,"unit":"kelvin","wind":true}"#,
    ),
    ("an unknown tool", "get_wether", r#"{"city":"Lisbon"}"#),
    ("the tool fails", "fail", "{}"),
    ("the tool panics", "panic", "{}"),
    (
        "after the panic",
        "get_weather",
        r#"{"city":"Lisbon","days":3,"unit":"celsius"}"#,
    ),
];

/// Prints the definitions and the replies to all calls, as JSON.
pub fn main<S: Subject>() {
    std::panic::set_hook(Box::new(|_| ()));
    let mut out = Map::new();
    match S::start() {
        Ok(mut subject) => observe(&mut subject, &mut out),
        Err(error) => {
            out.insert("start".into(), error.into());
        }
    }
    println!("{}", Value::Object(out));
}

fn observe(subject: &mut impl Subject, out: &mut Map<String, Value>) {
    let list = subject.list();
    let mut definitions = Vec::new();
    find(&list, &mut definitions);
    let mut names: Vec<_> = definitions
        .iter()
        .map(|tool| tool["name"].as_str())
        .collect();
    names.sort_unstable();
    out.insert("tools".into(), json!(names));
    let mut definition = |name: &str| {
        if let Some(&tool) = definitions.iter().find(|tool| tool["name"] == name) {
            out.insert(name.into(), tool.clone());
        }
    };
    definition("get_weather");
    definition("quiet");

    let mut replies = Map::new();
    for &(what, tool, arguments) in CALLS {
        let reply = catch_unwind(AssertUnwindSafe(|| subject.call(tool, arguments)));
        let (kind, text) = match reply {
            Ok(Reply::Result(text)) => ("result", text),
            Ok(Reply::Error(text)) => ("error", text),
            Ok(Reply::Failure(text)) => ("failure", text),
            Ok(Reply::Protocol(text)) => ("protocol", text),
            Ok(Reply::Nothing) => ("nothing", String::new()),
            Err(_) => ("panic", String::new()),
        };
        replies.insert(what.into(), json!({ kind: text }));
    }
    out.insert("replies".into(), replies.into());
}

/// A tool with the name of another in the program of tool-core.
#[cfg(all(feature = "across", feature = "tool-core"))]
mod again {
    /// Weather forecast for a city.
    #[tool_core::tool]
    fn get_weather() -> String {
        "the second".into()
    }
}

/// Panics, for a crate that rejects functions that do nothing else.
pub fn panic() -> String {
    panic!("a secret")
}

/// Collects the objects that have a name and more.
fn find<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Object(members) if members.get("name").is_some_and(Value::is_string) => {
            out.push(value);
        }
        Value::Object(members) => members.values().for_each(|value| find(value, out)),
        Value::Array(items) => items.iter().for_each(|value| find(value, out)),
        _ => {}
    }
}
