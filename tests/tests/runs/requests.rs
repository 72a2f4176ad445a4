//! The requests of an agent: the same tools are rendered once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::testing::ScriptedModel;
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{Dialect, HostedTool, RequestOptions, ResponseError, ToolChoice, Turn};
use tool_core::registry::RequestCache;
use tool_core::{Registry, ToolEntry, ToolResult, tool, tools};
use tool_dialects::{Bedrock, OpenAiChat};

use super::{calling, saying};

/// Tells the time.
#[tool(unlinked)]
fn get_time() -> &'static str {
    "12:00"
}

/// Finds a time for a meeting.
#[tool(unlinked)]
fn find_time() -> &'static str {
    "14:00"
}

/// Counts how often it writes the tools.
#[derive(Clone)]
struct Counting(Arc<AtomicUsize>);

impl Dialect for Counting {
    fn provider(&self) -> &'static str {
        OpenAiChat::default().provider()
    }

    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        self.0.fetch_add(1, Ordering::Relaxed);
        OpenAiChat::default().write_tools(tools, hosted, out);
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        OpenAiChat::default().read(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        OpenAiChat::default().results(results)
    }
}

/// Calls a tool in two rounds, and answers.
fn script(model: &ScriptedModel) {
    for index in 0..2 {
        let id = format!("call_{}", model.requests().len() + index);
        model.push(calling(&[(&id, "get_time")]));
    }
    model.push(saying("Done."));
}

#[test]
fn tools_are_rendered_again_only_after_a_change() {
    let registry = Registry::builder().tools(tools![get_time]).build().unwrap();
    let dialect = Counting(Arc::default());
    let rendered = Arc::clone(&dialect.0);
    let model = ScriptedModel::default();
    let agent = Agent::new(registry.clone(), dialect.clone(), model.clone());
    let ask = |agent: &Agent| {
        script(&model);
        agent.ask_blocking("Go on.").unwrap();
        let last = model.requests().pop().unwrap();
        let has_added = last.tools().as_str().contains("find_time");
        (rendered.swap(0, Ordering::Relaxed), has_added)
    };
    assert_eq!(ask(&agent), (1, false));
    assert_eq!(ask(&agent), (0, false));

    registry.add(tools![find_time]).unwrap();
    assert_eq!(ask(&agent), (1, true));
    registry.remove("find_time").unwrap();
    assert_eq!(ask(&agent), (1, false));

    // The first request has another choice than the later ones.
    let options = RequestOptions::new().choice(ToolChoice::Required);
    let agent = Agent::new(registry, dialect, model.clone()).request_options(options);
    assert_eq!(ask(&agent), (2, false));
    assert_eq!(ask(&agent), (0, false));
}

/// Users of several roles take turns.
#[test]
fn the_requests_of_several_registries_are_kept() {
    let all = Registry::builder().tools(tools![get_time]).build().unwrap();
    let none = all.select(|_| false);
    let (dialect, cache) = (OpenAiChat::default(), RequestCache::default());
    let request = |registry: &Registry| registry.request(&dialect).build_in(&cache).unwrap();
    let (with, without) = (request(&all), request(&none));
    assert!(Arc::ptr_eq(&with, &request(&all)));
    assert!(Arc::ptr_eq(&without, &request(&none)));
    // A request of tools that are gone is not kept.
    all.remove("get_time").unwrap();
    assert_eq!(request(&all).tools().as_str(), "[]");
    assert!(!Arc::ptr_eq(&with, &request(&all)));
}

#[test]
fn a_kept_request_has_the_tools_that_the_messages_need() {
    let dialect = Bedrock::default();
    let registry = Registry::builder().tools(tools![get_time]).build().unwrap();
    let call = json!({"toolUse": {"toolUseId": "call_1", "name": "get_time", "input": {}}});
    let result = json!({"toolResult": {"toolUseId": "call_1", "content": [{"text": "12:00"}]}});
    let messages = [
        dialect.user_message("What time is it?"),
        json!({"role": "assistant", "content": [call]}),
        json!({"role": "user", "content": [result]}),
    ];
    let cache = RequestCache::default();
    let request = |messages: &[Value]| {
        let request = registry.request(&dialect).choice(ToolChoice::None);
        request.history(messages).build_in(&cache).unwrap()
    };
    let (without, with) = (request(&messages[..1]), request(&messages));
    assert!(!without.tools().as_str().contains("get_time"));
    assert!(with.tools().as_str().contains("get_time"));
    assert!(Arc::ptr_eq(&without, &request(&messages[..1])));
    assert!(Arc::ptr_eq(&with, &request(&messages)));
}
