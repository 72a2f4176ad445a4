//! A registry as a `tower` service.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tool_core::call::Transient;
use tool_core::dynamic::DynamicTool;
use tool_core::{CallContext, Registry, ToolCall, ToolErrorKind, ToolResult};
use tower::retry::Policy;
use tower::{Service, ServiceBuilder, ServiceExt};

/// Retries a call as long as that may help.
#[derive(Clone)]
struct Again(usize);

impl Policy<ToolCall, ToolResult, Infallible> for Again {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut ToolCall,
        result: &mut Result<ToolResult, Infallible>,
    ) -> Option<Ready<()>> {
        let error = result.as_ref().ok().and_then(ToolResult::error);
        let may_help = error.is_some_and(tool_core::ToolError::is_retryable);
        self.0 = self.0.checked_sub(usize::from(may_help))?;
        may_help.then(|| ready(()))
    }

    fn clone_request(&mut self, call: &ToolCall) -> Option<ToolCall> {
        Some(call.clone())
    }
}

/// What the tools of a test recorded.
#[derive(Default)]
struct Seen {
    calls: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
}

fn registry(seen: &Arc<Seen>) -> Registry {
    let seen = Arc::clone(seen);
    let tool = DynamicTool::builder("work")
        .description("Works.")
        .parameters(json!({"type": "object", "properties": {
            "busy": {"type": "integer"}, "hangs": {"type": "boolean"}, "fails": {"type": "boolean"},
        }}))
        .build(move |arguments: Value, _: CallContext| {
            let seen = Arc::clone(&seen);
            async move {
                let before = seen.calls.fetch_add(1, Ordering::SeqCst);
                let running = seen.running.fetch_add(1, Ordering::SeqCst) + 1;
                seen.most.fetch_max(running, Ordering::SeqCst);
                tokio::time::sleep(Duration::from_millis(2)).await;
                seen.running.fetch_sub(1, Ordering::SeqCst);
                if arguments["hangs"] == true {
                    std::future::pending::<()>().await;
                }
                if arguments["fails"] == true {
                    return Err(Box::<dyn std::error::Error + Send + Sync>::from("for good"));
                }
                match arguments["busy"].as_u64() {
                    Some(busy) if before < usize::try_from(busy).unwrap() => {
                        Err(Box::new(Transient::new("busy")) as _)
                    }
                    _ => Ok("done"),
                }
            }
        });
    Registry::builder().tool(tool.unwrap()).build().unwrap()
}

#[tokio::test]
async fn only_transient_failures_are_retried() {
    for (arguments, most, calls, ended) in [
        (json!({"busy": 2}), 5, 3, None),
        (json!({"busy": 9}), 3, 4, Some(ToolErrorKind::Failed)),
        (json!({"fails": true}), 5, 1, Some(ToolErrorKind::Failed)),
        (
            json!({"busy": "no"}),
            5,
            0,
            Some(ToolErrorKind::InvalidArguments),
        ),
        (json!({}), 5, 1, None),
    ] {
        let seen = Arc::new(Seen::default());
        let service = ServiceBuilder::new()
            .retry(Again(most))
            .service(registry(&seen));
        let call = ToolCall::new("call_1", "work", arguments.clone());
        let Ok(result) = service.oneshot(call).await;
        assert_eq!(
            result.error().map(tool_core::ToolError::kind),
            ended,
            "{arguments}"
        );
        assert_eq!(seen.calls.load(Ordering::SeqCst), calls, "{arguments}");
        assert_eq!(result.call_id(), "call_1");
    }
}

#[tokio::test]
async fn timeout_and_retry_layers_wrap_a_registry() {
    let seen = Arc::new(Seen::default());
    let within = |time| {
        let stack = ServiceBuilder::new().timeout(time).concurrency_limit(3);
        stack.retry(Again(4)).service(registry(&seen))
    };
    let service = within(Duration::from_secs(600));
    let calls = (0..20).map(|id| {
        let mut service = service.clone();
        let call = ToolCall::new(id.to_string(), "work", json!({"busy": 4}));
        tokio::spawn(async move { service.ready().await?.call(call).await })
    });
    for (id, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let result = call.await.unwrap().unwrap();
        assert_eq!(
            (result.call_id(), result.content()),
            (&*id.to_string(), "done")
        );
    }
    assert_eq!(seen.most.load(Ordering::SeqCst), 3);
    // Four of them were retried.
    assert_eq!(seen.calls.load(Ordering::SeqCst), 24);

    let call = ToolCall::new("slow", "work", json!({"hangs": true}));
    let service = within(Duration::from_millis(20));
    let error = service.oneshot(call).await.unwrap_err();
    assert!(error.is::<tower::timeout::error::Elapsed>(), "{error}");
}
