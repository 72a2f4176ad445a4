//! Calls of OpenAI whose results come in any later request.

use serde_json::{Value, json};
use tool_core::dialect::{Dialect, HostedTool, StreamEvent};
use tool_core::{Registry, ToolCall, tool, tools};
use tool_dialects::OpenAiResponses;

use super::freeform::streamed_responses;
use super::list_alarms;

/// Builds a target.
#[tool(background, unlinked)]
fn build(target: &str) -> String {
    target.into()
}

/// Runs a query.
#[tool(background, freeform, unlinked)]
fn query(sql: &str) -> String {
    sql.into()
}

/// Builds a target for a program, which waits for it.
#[tool(background, programmatic, unlinked)]
fn build_all(target: &str) -> String {
    target.into()
}

/// Builds a target that a model has to search for.
#[tool(background, defer, unlinked)]
fn build_late(target: &str) -> String {
    target.into()
}

/// The names of the tools that are async, in a list of tools.
fn names(tools: &Value) -> Vec<&str> {
    let tools = tools.as_array().unwrap().iter();
    let is_async = tools.filter(|tool| tool.get("async").is_some());
    let names = is_async.map(|tool| {
        assert_eq!(tool["async"], true);
        tool["name"].as_str().unwrap()
    });
    names.collect()
}

#[test]
fn a_tool_in_the_background_is_async_if_the_dialect_says_so() {
    let tools = tools![build, query, build_all, build_late, list_alarms];
    let registry = Registry::builder().tools(tools).build().unwrap();
    for dialect in [OpenAiResponses::default(), OpenAiResponses::strict()] {
        let all = ["build", "build_all", "query", "build_late"];
        assert_eq!(names(&json!(registry.render(&dialect.async_calls()))), all);
        assert_eq!(names(&json!(registry.render(&dialect))), [""; 0]);
    }
    let programs = HostedTool::new(json!({"type": "programmatic_tool_calling"}));
    registry.add_hosted(programs);
    let rendered = json!(registry.render(&OpenAiResponses::default().async_calls()));
    assert_eq!(names(&rendered), ["build", "query", "build_late"]);
}

/// A function and a custom tool, whole and streamed.
#[test]
fn an_async_call_takes_its_result_later() {
    let dialect = OpenAiResponses::default();
    let mut events = streamed_responses();
    for event in &mut events {
        if let Some(item) = event["item"].as_object_mut() {
            item.insert("async".into(), true.into());
        }
        let output = event["response"]["output"].as_array_mut();
        for item in output.into_iter().flatten() {
            item["async"] = true.into();
        }
    }
    let mut reader = dialect.stream();
    let read = events.iter().flat_map(|event| reader.event(event).unwrap());
    let read: Vec<_> = read.collect();
    let streamed = read.into_iter().filter_map(|event| match event {
        StreamEvent::Call(call) => Some(call),
        _ => None,
    });
    let streamed: Vec<_> = streamed.collect();
    let (turn, response) = reader.finish().unwrap();
    let whole = dialect.read(&response).unwrap();
    for calls in [&streamed, &turn.calls, &whole.calls] {
        assert_eq!(calls.len(), 2);
        for call in calls {
            assert!(call.takes_late_result(), "{call:?}");
            let saved = serde_json::to_string(call).unwrap();
            let loaded: ToolCall = serde_json::from_str(&saved).unwrap();
            assert!(loaded.takes_late_result(), "{saved}");
        }
    }
    // The next request repeats what the provider sent.
    let mut repeated = turn.messages.iter();
    assert!(
        repeated.all(|item| item["async"] == true),
        "{:?}",
        turn.messages
    );

    let (turn, _) = {
        let mut reader = dialect.stream();
        for event in streamed_responses() {
            reader.event(&event).unwrap();
        }
        reader.finish().unwrap()
    };
    assert!(turn.calls.iter().all(|call| !call.takes_late_result()));
}
