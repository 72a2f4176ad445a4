//! Tools of strangers: every one is built, rendered by every dialect and called.
//!
//! `TOOL_CORE_MCP_TOOLS=DIR` does the same with the `tools/list` results in a folder, and
//! `TOOL_CORE_LONG=1` generates many more tools.

#[path = "../provider_subsets/forms.rs"]
#[allow(dead_code)]
mod forms;
mod generate;
mod judge;
#[path = "../provider_subsets/subset.rs"]
mod subset;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use properties::random::Random;
use properties::rounds;
use serde_json::{Map, Value, json};
use tool_core::dynamic::{DynamicTool, Repair};
use tool_core::visible::remove;
use tool_core::{Registry, ToolCall, ToolErrorKind};
use tool_dialects::Mcp;

/// A tool and the arguments that its closure got.
struct Subject {
    listed: Value,
    registry: Registry,
    name: String,
    keys: BTreeMap<String, String>,
    got: Arc<Mutex<Option<Value>>>,
}

impl Subject {
    fn new(listed: &Value) -> Subject {
        let got = Arc::new(Mutex::new(None));
        let kept = got.clone();
        let mut without_output = listed.clone();
        if let Value::Object(members) = &mut without_output {
            members.remove("outputSchema");
        }
        let tool = DynamicTool::from_mcp(&without_output);
        let tool = tool.build(move |arguments, _| {
            *kept.lock().unwrap() = Some(arguments);
            async { Ok::<_, Infallible>("done") }
        });
        let tool = tool.unwrap_or_else(|error| panic!("{error} in {listed}"));
        let keys = tool.repairs().iter().filter_map(|repair| match repair {
            Repair::Key { original, valid } => Some((original.clone(), valid.clone())),
            _ => None,
        });
        Subject {
            listed: listed.clone(),
            keys: keys.collect(),
            name: tool.spec().name.to_string(),
            registry: Registry::builder().tool(tool).build().unwrap(),
            got,
        }
    }

    /// Calls the tool, and returns what the closure got.
    fn call(&self, name: &str, arguments: &Value) -> Result<Value, String> {
        let call = ToolCall::new("1", name, arguments.clone());
        let result = self.registry.call_blocking(call);
        match result.error() {
            Some(error) => {
                assert_eq!(
                    error.kind(),
                    ToolErrorKind::InvalidArguments,
                    "{}",
                    result.content()
                );
                Err(result.content().to_owned())
            }
            None => Ok(self.got.lock().unwrap().take().expect("the closure ran")),
        }
    }

    /// Returns the value with the keys that models are given.
    fn mapped(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.mapped(item)).collect(),
            Value::Object(members) => {
                let members = members.iter().map(|(key, value)| {
                    (
                        self.keys.get(key).unwrap_or(key).clone(),
                        self.mapped(value),
                    )
                });
                Value::Object(members.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    /// Calls with values that an independent validator accepts. Returns the number of calls.
    fn call_with_valid_values(&self, random: &mut Random, count: usize) -> usize {
        let schema = &self.listed["inputSchema"];
        let validator = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .build(schema);
        // An invalid schema has no valid values.
        let Ok(validator) = validator else { return 0 };
        let mut called = 0;
        for _ in 0..count {
            let value = generate::value(schema, schema, random, 0);
            if !value.is_object() || !validator.is_valid(&value) {
                continue;
            }
            called += 1;
            let sent = self.mapped(&value);
            let got = self.call(&self.name, &sent);
            assert_eq!(got.as_ref(), Ok(&value), "{sent} for {}", self.listed);
            // A client of the tool as listed.
            let name = self.listed["name"].as_str().unwrap();
            let got = self.call(name, &value);
            assert_eq!(got.as_ref(), Ok(&value), "{value} for {}", self.listed);
        }
        called
    }

    fn check_listing(&self) {
        for dialect in [Mcp::v2025_11_25(), Mcp::v2026_07_28()] {
            let again = json!(self.registry.render(&dialect))[0].take();
            // Under the name that calls have here, which every provider accepts.
            assert_eq!(again["name"], *self.name);
            let described = |tool: &Value| {
                let text = tool["description"].as_str().unwrap_or_default();
                text.to_owned()
            };
            // Without what nobody sees.
            assert_eq!(described(&again), remove(&described(&self.listed)));
            let mut schema = match &self.listed["inputSchema"] {
                schema @ Value::Object(_) => schema.clone(),
                _ => json!({}),
            };
            schema["type"] = "object".into();
            assert_eq!(again["inputSchema"], schema);
        }
    }
}

fn check(listed: &[Value], random: &mut Random, count: usize) -> usize {
    let mut called = 0;
    for listed in listed {
        let subject = Subject::new(listed);
        let problems = judge::problems(&subject.registry);
        assert!(problems.is_empty(), "{listed}\n{}", problems.join("\n"));
        subject.check_listing();
        called += subject.call_with_valid_values(random, count);
    }
    called
}

#[test]
fn generated_tools_are_let_in() {
    let mut random = Random::named("foreign", 1);
    let (mut called, mut callable) = (0, 0);
    let count = rounds(400, 40_000);
    for _ in 0..count {
        let here = check(&[generate::tool(&mut random)], &mut random, 12);
        called += here;
        callable += usize::from(here > 0);
    }
    println!("{called} calls of {callable} tools of {count}");
    assert!(callable * 3 > count, "{callable} of {count}");
}

/// Models fill in what the schema they are given says.
#[test]
fn models_are_given_words_with_the_keys_they_know() {
    let mut random = Random::named("foreign", 2);
    for _ in 0..rounds(300, 20_000) {
        let subject = Subject::new(&generate::tool(&mut random));
        for arguments in [
            json!({}),
            json!({"child_node": 1, "unknown": 2}),
            json!({"x_y": {}}),
        ] {
            let Err(message) = subject.call(&subject.name, &arguments) else {
                continue;
            };
            // `a-b`, but not "A-B" in a pattern, and not `a` in a word.
            for (original, valid) in &subject.keys {
                let is_said = ["- ", "\""].iter().any(|before| {
                    message.contains(&format!("{before}{original}: missing"))
                        || message.contains(&format!("{before}{original}\"?"))
                });
                assert!(
                    !is_said || original.len() < 2,
                    "{valid}: {message} of {}",
                    subject.listed
                );
            }
        }
    }
}

#[test]
fn tools_like_those_of_real_servers_are_let_in() {
    let listed: Vec<Value> = serde_json::from_str(include_str!("servers.json")).unwrap();
    let called = check(&listed, &mut Random::named("servers", 1), 60);
    assert!(called > 10 * listed.len(), "{called}");
    // One registry has them all.
    let tools = listed.iter().map(|listed| {
        let tool = DynamicTool::from_mcp(listed).build(async |_, _| Ok::<_, Infallible>(json!({})));
        tool.unwrap().into()
    });
    let registry = Registry::builder().tools(tools).build().unwrap();
    assert_eq!(registry.len(), listed.len());
    let problems = judge::problems(&registry);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The lists of a folder, each a `tools/list` result or its tools.
#[test]
fn tools_of_a_folder_are_let_in() {
    let Ok(folder) = std::env::var("TOOL_CORE_MCP_TOOLS") else {
        return println!("skipped: TOOL_CORE_MCP_TOOLS is not set");
    };
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(mut list) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        for key in ["result", "tools"] {
            if list.get(key).is_some() {
                list = list[key].take();
            }
        }
        let Value::Array(listed) = list else { continue };
        let mut random = Random::named("folder", 1);
        let called = check(&listed, &mut random, 60);
        println!("{}: {} tools, {called} calls", path.display(), listed.len());
        let uncalled = listed
            .iter()
            .filter(|listed| Subject::new(listed).call_with_valid_values(&mut random, 400) == 0);
        let uncalled: Vec<_> = uncalled.map(|listed| &listed["name"]).collect();
        assert!(uncalled.is_empty(), "{uncalled:?}");
    }
}
