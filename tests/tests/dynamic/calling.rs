//! Calling a tool: from the arguments to the result.

use std::convert::Infallible;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::call::Transient;
use tool_core::dynamic::DynamicTool;
use tool_core::{CallContext, Registry, ToolCall, ToolErrorKind};

use super::{call, echo, object};

#[test]
fn whole_numbers_reach_the_closure_as_integers() {
    let registry = echo(object(
        json!({"n": {"type": "integer"}, "all": {"type": "array", "items": {"type": "number"}}}),
    ));
    let result = call(&registry, r#"{"n":20.0,"all":[2e1,0.5,-0.0,1e300]}"#);
    let expected = json!({"n": 20, "all": [20, 0.5, 0, 1e300]});
    assert_eq!(result.structured(), Some(expected));
}

struct Tenant(&'static str);

#[tokio::test]
async fn results_errors_panics_and_timeouts_are_as_for_a_function() {
    let tool = DynamicTool::builder("work")
        .description("Works.")
        .parameters(json!({"type": "object", "properties": {"how": {"type": "string"}}}))
        .timeout(Duration::from_millis(20))
        .build(|arguments: Value, call: CallContext| async move {
            match arguments["how"].as_str().unwrap_or_default() {
                "text" => Ok(json!("bare")),
                "nothing" => Ok(json!(null)),
                "tenant" => Ok(json!(call.get::<Tenant>().map(|tenant| tenant.0))),
                "who" => Ok(json!([call.call_id(), call.tool_name()])),
                "panic" => panic!("with a secret"),
                "hang" => std::future::pending().await,
                "busy" => Err(Transient::new("busy")),
                how => Err(Transient::new(how.to_owned())),
            }
        })
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let run = async |how: &str| {
        let call = ToolCall::new("7", "work", json!({"how": how})).with(Tenant("Ada"));
        registry.call(call).await
    };
    assert_eq!(run("text").await.content(), "bare");
    assert_eq!(run("tenant").await.content(), "Ada");
    assert_eq!(run("who").await.content(), r#"["7","work"]"#);
    let panicked = run("panic").await;
    assert_eq!(panicked.error().unwrap().kind(), ToolErrorKind::Panicked);
    assert!(!panicked.content().contains("secret"));
    assert_eq!(
        run("hang").await.error().unwrap().kind(),
        ToolErrorKind::TimedOut
    );
    let busy = run("busy").await;
    assert!(busy.error().unwrap().is_retryable() && busy.content().contains("busy"));
}

/// The call's cancellation token reaches work that the closure has started.
#[tokio::test]
async fn dropping_a_call_cancels_what_the_closure_started() {
    let (send, receive) = std::sync::mpsc::channel();
    let tool = DynamicTool::builder("keep")
        .description("Keeps its context.")
        .build(move |_, call: CallContext| {
            send.send(call).unwrap();
            std::future::pending::<Result<(), Infallible>>()
        });
    let registry = Registry::builder().tool(tool.unwrap()).build().unwrap();
    let running = registry.call(ToolCall::new("1", "keep", ""));
    let ended = tokio::time::timeout(Duration::from_millis(5), running).await;
    assert!(ended.is_err());
    assert!(receive.recv().unwrap().is_cancelled());
}

#[test]
fn a_result_is_validated_against_its_schema() {
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    for (result, is_good) in [
        (json!({"n": 1}), true),
        (json!({"n": "one"}), false),
        (json!("text"), false),
        (json!([1]), false),
    ] {
        let tool = DynamicTool::builder("echo")
            .description("Answers.")
            .output(schema.clone())
            .build(move |_, _| std::future::ready(Ok::<_, Infallible>(result.clone())))
            .unwrap();
        let registry = Registry::builder().tool(tool).build().unwrap();
        let result = call(&registry, "");
        assert_eq!(result.is_error(), !is_good, "{}", result.content());
        if let Some(error) = result.error() {
            assert_eq!(error.kind(), ToolErrorKind::InvalidResult);
            let detail = error.detail();
            assert!(detail.contains("expected") || detail.contains("missing"));
            assert_eq!(error.violations().len(), 1);
        }
    }
}

/// Removes the tools of its session when dropped.
struct Session(Registry);

impl Drop for Session {
    fn drop(&mut self) {
        self.0.remove_group("session").unwrap();
    }
}

#[test]
fn a_tool_can_change_the_registry_when_it_is_dropped() {
    let tool = |name: &str, registry: &Registry| {
        let session = Session(registry.clone());
        let tool = DynamicTool::builder(name).description("Works.");
        let tool = tool.build(move |_, _| {
            let _ = &session;
            async { Ok::<_, Infallible>("done") }
        });
        tool_core::ToolEntry::from(tool.unwrap())
    };
    let (told, ended) = mpsc::channel();
    thread::spawn(move || {
        let registry = Registry::new();
        let [kept, late] = ["work", "other"].map(|name| tool(name, &registry));
        registry
            .add([kept.clone(), late.in_group("session")])
            .unwrap();
        // A rejected tool is dropped before the change is applied.
        let refused = registry.add([tool("work", &registry)]).is_err();
        told.send((refused, registry.len())).unwrap();
        registry.remove("work").unwrap();
        drop(kept);
        told.send((true, registry.len())).unwrap();
    });
    // It would wait for itself, so nothing is logged.
    let next = || ended.recv_timeout(Duration::from_secs(60));
    assert_eq!(next(), Ok((true, 1)));
    assert_eq!(next(), Ok((true, 0)));
}
