//! Calls that a tool makes through its context.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tool_core::call::CancellationToken;
use tool_core::hooks::{Decision, Gate};
use tool_core::{CallContext, Registry, ToolCall, ToolErrorKind, tool, tools};

/// The tools that run, and the most that ran at one time.
#[derive(Default)]
struct Running {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Works for a while.
#[tool(unlinked)]
async fn work(#[param(context)] running: &Running) -> &'static str {
    let now = running.now.fetch_add(1, Ordering::SeqCst) + 1;
    running.most.fetch_max(now, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(2)).await;
    running.now.fetch_sub(1, Ordering::SeqCst);
    "worked"
}

/// Works on another thread.
#[tool(unlinked, blocking)]
fn work_on_a_thread(call: &CallContext) -> String {
    let result = call.call_blocking(ToolCall::new("inner", "work", ""));
    result.content().into()
}

/// Calls several tools at once.
#[tool(unlinked)]
async fn call_many(levels: u32, call: &CallContext) -> Vec<String> {
    let inner = [0, 1, 2].map(|at| match (levels, at) {
        (0, 0) => ToolCall::new("a", "work_on_a_thread", ""),
        (0, _) => ToolCall::new("b", "work", ""),
        _ => ToolCall::new("c", "call_many", json!({ "levels": levels - 1 })),
    });
    let [a, b, c] = inner.map(|inner| call.call(inner));
    let (a, b, c) = tokio::join!(a, b, c);
    [a, b, c].map(|result| result.content().into()).into()
}

fn registry() -> tool_core::RegistryBuilder {
    Registry::builder()
        .tools(tools![
            work,
            work_on_a_thread,
            call_many,
            who,
            wait,
            call_waiting,
            call_later
        ])
        .context(Running::default())
        .context_per_call::<User>()
}

#[tokio::test]
async fn nested_calls_run_under_the_permit_of_their_parent() {
    for limit in [1, 2] {
        let limited = || registry().concurrency(limit);
        let hooked = limited()
            .before(|_| async { Gate::Allow })
            .after(|_, result| async { result });
        for registry in [limited(), hooked] {
            let registry = registry.build().unwrap();
            let call = |_| ToolCall::new("call_1", "call_many", r#"{"levels":1}"#);
            let results = registry.call_all((0..4).map(call));
            let results = tokio::time::timeout(Duration::from_secs(20), results)
                .await
                .unwrap();
            for result in results {
                assert!(!result.is_error(), "{}", result.content());
                assert_eq!(result.content().matches("worked").count(), 9);
            }
        }
    }
}

/// The most tools that may run at one time are as many as the limit.
#[tokio::test]
async fn nested_calls_of_one_parent_run_one_at_a_time() {
    let running: &'static Running = Box::leak(Box::default());
    let count = tool_count(running);
    let registry = Registry::builder()
        .tools(tools![call_counts])
        .tool(count)
        .concurrency(2)
        .build()
        .unwrap();
    let calls = (0..5).map(|_| ToolCall::new("call_1", "call_counts", ""));
    for result in registry.call_all(calls).await {
        assert_eq!(
            result.content(),
            r#"["null","null","null"]"#,
            "{}",
            result.content()
        );
    }
    assert_eq!(running.most.load(Ordering::SeqCst), 2);
}

/// Calls a tool three times at once.
#[tool(unlinked)]
async fn call_counts(call: &CallContext) -> Vec<String> {
    let inner = || call.call(ToolCall::new("inner", "count", ""));
    let (a, b, c) = tokio::join!(inner(), inner(), inner());
    [a, b, c].map(|result| result.content().into()).into()
}

fn tool_count(running: &'static Running) -> tool_core::dynamic::DynamicTool {
    tool_core::dynamic::DynamicTool::builder("count")
        .description("Counts.")
        .build(async move |_, _| {
            let now = running.now.fetch_add(1, Ordering::SeqCst) + 1;
            running.most.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(2)).await;
            running.now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, String>(serde_json::Value::Null)
        })
        .unwrap()
}

#[derive(Clone, Copy)]
struct User(&'static str);

/// Who is asking.
#[tool(unlinked)]
fn who(#[param(context)] user: &User) -> &'static str {
    user.0
}

/// Waits for ever.
#[tool(unlinked)]
async fn wait() {
    std::future::pending::<()>().await;
}

/// Calls a tool that waits.
#[tool(unlinked)]
async fn call_waiting(call: &CallContext) -> String {
    let own = ToolCall::new("1", "who", "").with(User("Bob"));
    let who = call.call(own).await.content().to_owned();
    let inherited = call.call(ToolCall::new("1", "who", "")).await;
    assert_eq!((&*who, inherited.content()), ("Bob", "Ada"));
    call.call(ToolCall::new("2", "wait", ""))
        .await
        .content()
        .into()
}

#[tokio::test]
async fn a_nested_call_inherits_context_values_and_the_token() {
    let registry = registry().build().unwrap();
    let token = CancellationToken::new();
    let call = ToolCall::new("call_1", "call_waiting", "").with(User("Ada"));
    let running = tokio::spawn(registry.call(call.cancel_with(&token)));
    tokio::time::sleep(Duration::from_millis(10)).await;
    token.cancel();
    let result = running.await.unwrap();
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Cancelled);
}

/// Makes a call that outlives this one.
#[tool(unlinked)]
async fn call_later(call: &CallContext) {
    tokio::task::yield_now().await;
    let call = call.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        call.call(ToolCall::new("inner", "work", "")).await;
    });
}

#[tokio::test]
async fn a_context_that_outlives_its_call_waits_for_a_permit() {
    let registry = registry().concurrency(1).build().unwrap();
    let result = registry
        .call(ToolCall::new("call_1", "call_later", "").with(User("Ada")))
        .await;
    assert!(!result.is_error());
    let work = || registry.call(ToolCall::new("call_1", "work", ""));
    for _ in 0..10 {
        let result = tokio::time::timeout(Duration::from_secs(5), work())
            .await
            .unwrap();
        assert_eq!(result.content(), "worked");
    }
}

/// Calls a tool that calls a tool.
#[tool(unlinked)]
async fn outer(call: &CallContext) -> String {
    let result = call.call(ToolCall::new("inner", "middle", "")).await;
    format!("outer: {}", result.content())
}

/// Calls a tool.
#[tool(unlinked)]
fn middle(call: &CallContext) -> String {
    let result = call.call_blocking(ToolCall::new("inner", "last", ""));
    format!("middle: {}", result.content())
}

/// Is called by others.
#[tool(unlinked)]
fn last() -> &'static str {
    "last"
}

/// Calls a tool of another registry.
#[tool(unlinked)]
async fn elsewhere(call: &CallContext, #[param(context)] other: &Registry) -> String {
    let result = other
        .call_within(call, ToolCall::new("inner", "last", ""))
        .await;
    result.content().into()
}

#[tokio::test]
async fn a_call_is_checked_right_before_it_starts_and_so_are_those_that_it_makes() {
    let order = Arc::new(Mutex::new(Vec::new()));
    let noting = |what: &'static str| {
        let order = order.clone();
        move |name: &str, is_nested: bool| {
            let nested = if is_nested { " nested" } else { "" };
            order.lock().unwrap().push(format!("{what} {name}{nested}"));
        }
    };
    let hook = noting("hook");
    let registry = Registry::builder()
        .tools(tools![outer, middle, last])
        .before(move |call| {
            hook(&call.tool.name, false);
            async { Gate::Allow }
        })
        .build()
        .unwrap();
    let call = |refuses: &'static str| {
        let (first, second) = (noting("first"), noting("second"));
        ToolCall::new("call_1", "outer", "")
            .start_with(move |start| {
                first(&start.tool.name, start.is_nested);
                assert_ne!(refuses, "panic");
                let refused = *start.tool.name == *refuses;
                std::future::ready(if refused {
                    Err("not today".to_owned())
                } else {
                    Ok(())
                })
            })
            .start_with(move |start| {
                second(&start.tool.name, start.is_nested);
                std::future::ready(Ok(()))
            })
    };
    let result = registry.call(call("nothing")).await;
    assert_eq!(result.content(), "outer: middle: last");
    let expected = [
        "hook outer",
        "first outer",
        "second outer",
        "hook middle",
        "first middle nested",
        "second middle nested",
        "hook last",
        "first last nested",
        "second last nested",
    ];
    assert_eq!(std::mem::take(&mut *order.lock().unwrap()), expected);

    let result = registry.call(call("outer")).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    assert!(
        result.content().ends_with("not today"),
        "{}",
        result.content()
    );
    let noted = std::mem::take(&mut *order.lock().unwrap());
    assert_eq!(noted, ["hook outer", "first outer"]);
    let result = registry.call(call("last")).await;
    let text = result.content();
    assert!(
        text.starts_with("outer: middle: last was not run") && text.ends_with("not today"),
        "{text}"
    );
    let result = registry.call(call("panic")).await;
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Panicked);
    // Calls of another registry are a part of the call, too.
    let other = Registry::builder().tools(tools![last]).build().unwrap();
    let registry = Registry::builder().tools(tools![elsewhere]);
    let registry = registry.context(other).build().unwrap();
    let call = ToolCall::new("call_1", "elsewhere", "").start_with(async |start| {
        if start.is_nested {
            Err("not from here".to_owned())
        } else {
            Ok(())
        }
    });
    let result = registry.call(call).await;
    assert!(
        result.content().ends_with("not from here"),
        "{}",
        result.content()
    );
}

#[tokio::test]
async fn a_call_that_does_not_start_is_not_checked() {
    let registry = Registry::builder()
        .tools(tools![last])
        .before(async |_| Gate::hold("others will see it"))
        .build()
        .unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let call = ToolCall::new("call_1", "last", "").start_with(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok(()))
    });
    let result = registry.call(call.clone()).await;
    let hold = result.error().unwrap().hold().unwrap().clone();
    let denied = call
        .clone()
        .decided_by(hold.clone(), Decision::deny("no"), "Ada");
    assert!(registry.call(denied).await.is_error());
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    let allowed = call.decided_by(hold, Decision::Allow, "Ada");
    assert_eq!(registry.call(allowed).await.content(), "last");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}
