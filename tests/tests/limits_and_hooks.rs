//! Timeouts, cancellation, blocking threads, concurrency and output limits, hooks, and error
//! mapping.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use futures_util::FutureExt;
use serde::Deserialize;
use tool_core::call::{Arguments, CallPosition, CancellationToken, Transient};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::{Gate, HookCall};
use tool_core::schema::Coercion;
use tool_core::{
    CallContext, Registry, RegistryBuilder, ToolCall, ToolErrorKind, ToolResult, ToolType, tool,
    tools,
};

/// Never ends.
#[tool(unlinked, timeout = "20ms")]
async fn hang() {
    std::future::pending::<()>().await;
}

/// Never ends, and says nothing of time.
#[tool(unlinked)]
async fn wait() {
    std::future::pending::<()>().await;
}

/// What a thread has recorded.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<&'static str>>>);

impl Seen {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    /// Waits until `what` is recorded.
    fn wait_for(&self, what: &str) {
        while !self.0.lock().unwrap().contains(&what) {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Blocks until it is cancelled.
#[tool(unlinked, blocking)]
fn block(call: &CallContext, #[param(context)] seen: &Seen) {
    seen.note("began");
    while !call.is_cancelled() {
        thread::sleep(Duration::from_millis(1));
    }
    seen.note("cancelled");
}

/// Ends when it is told to.
#[tool(unlinked)]
async fn obey(call: &CallContext) {
    call.cancellation().cancelled().await;
}

/// The name of its thread.
#[tool(unlinked, blocking)]
fn thread_name(panics: bool) -> String {
    assert!(!panics, "with a secret");
    format!("{:?}", thread::current().id())
}

/// Says something long.
#[tool(unlinked)]
fn talk(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

/// Fails for a while.
#[tool(unlinked)]
fn busy(text: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Err(Box::new(Transient::new(text)))
}

fn all() -> RegistryBuilder {
    Registry::builder()
        .tools(tools![hang, wait, block, obey, thread_name, talk, busy])
        .context(Seen::default())
}

fn kind(result: &ToolResult) -> ToolErrorKind {
    result.error().expect("an error").kind()
}

#[tokio::test]
async fn a_tool_has_its_own_timeout_or_that_of_the_registry() {
    let registry = all().timeout(Duration::from_millis(5)).build().unwrap();
    let result = registry.call(ToolCall::new("1", "hang", "")).await;
    assert_eq!(kind(&result), ToolErrorKind::TimedOut);
    assert!(!result.error().unwrap().is_retryable());
    assert!(
        result.content().contains("did not finish within 20ms"),
        "{}",
        result.content()
    );
    let result = registry.call(ToolCall::new("2", "wait", "")).await;
    assert!(
        result.content().contains("within 5ms"),
        "{}",
        result.content()
    );
    // A thread continues and is cancelled. A job that starts too late does not run.
    let seen = Seen::default();
    while seen.0.lock().unwrap().is_empty() {
        let call = ToolCall::new("3", "block", "").with(seen.clone());
        assert_eq!(kind(&registry.call(call).await), ToolErrorKind::TimedOut);
    }
    seen.wait_for("cancelled");
    // A sync tool is not stopped, and needs no clock.
    let result = registry
        .call(ToolCall::new("4", "talk", r#"{"text":"a"}"#))
        .await;
    assert!(!result.is_error());
}

#[tokio::test]
async fn a_registry_created_without_tools_has_timers_and_threads() {
    let registry = Registry::new();
    registry.add(tools![hang, thread_name]).unwrap();
    let result = registry.call(ToolCall::new("1", "hang", "")).await;
    assert_eq!(kind(&result), ToolErrorKind::TimedOut);
    let call = ToolCall::new("2", "thread_name", r#"{"panics":false}"#);
    assert!(!registry.call(call).await.is_error());
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_token() {
    let registry = all().build().unwrap();
    let (token, seen) = (CancellationToken::new(), Seen::default());
    let wait = registry.call(ToolCall::new("1", "wait", "").cancel_with(&token));
    let block = ToolCall::new("2", "block", "").with(seen.clone());
    let block = registry.call(block.cancel_with(&token));
    let obey = registry.call(ToolCall::new("4", "obey", "").cancel_with(&token));
    let canceller = async {
        while seen.0.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        token.cancel();
    };
    let (wait, block, obey, ()) = tokio::join!(wait, block, obey, canceller);
    for result in [&wait, &block, &obey] {
        assert_eq!(kind(result), ToolErrorKind::Cancelled);
    }
    assert_eq!((wait.call_id(), block.call_id()), ("1", "2"));
    seen.wait_for("cancelled");
    // It does not begin any more.
    let seen = Seen::default();
    let call = ToolCall::new("3", "block", "").with(seen.clone());
    let result = registry.call(call.cancel_with(&token)).await;
    assert_eq!(kind(&result), ToolErrorKind::Cancelled);
    assert!(seen.0.lock().unwrap().is_empty());
}

/// Notes that it ran, and returns the key of its call.
#[tool(unlinked)]
fn note(call: &CallContext, #[param(context)] seen: &Seen) -> String {
    seen.note("ran");
    call.idempotency_key().unwrap_or_default().to_owned()
}

/// Panics when the call is over.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test]
async fn a_sync_call_of_a_conversation_is_like_any_other() {
    let registry = Registry::builder()
        .tools(tools![note])
        .context(Seen::default());
    let registry = registry.build().unwrap();
    let (token, seen) = (CancellationToken::new(), Seen::default());
    let position = CallPosition::new(2, 1);
    let call = |id: &str| {
        ToolCall::new(id, "note", "{}")
            .with(seen.clone())
            .at(position.clone())
            .idempotency_key("run/2/1")
            .cancel_with(&token)
    };
    let result = registry.call(call("1")).await;
    assert_eq!(result.position(), Some(&position));
    assert_eq!(result.content(), "run/2/1");
    // A panic stays inside, whatever has it.
    let result = registry.call(call("2").with(Bomb)).await;
    assert_eq!(
        (result.call_id(), result.position()),
        ("2", Some(&position))
    );
    assert_eq!(*seen.0.lock().unwrap(), ["ran", "ran"]);
    // A call that is cancelled does not begin.
    token.cancel();
    let result = registry.call(call("3")).await;
    assert_eq!(kind(&result), ToolErrorKind::Cancelled);
    assert_eq!(result.position(), Some(&position));
    assert_eq!(*seen.0.lock().unwrap(), ["ran", "ran"]);
    // Neither does one whose arguments are invalid.
    let wrong = ToolCall::new("4", "note", "{").at(position.clone());
    let result = registry.call(wrong).await;
    assert_eq!(kind(&result), ToolErrorKind::MalformedJson);
}

#[tokio::test]
async fn dropping_a_call_cancels_its_thread() {
    let registry = all().build().unwrap();
    let seen = Seen::default();
    let call = ToolCall::new("1", "block", "").with(seen.clone());
    let running = tokio::spawn(registry.call(call));
    while seen.0.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    seen.wait_for("cancelled");
}

#[tokio::test]
async fn a_blocking_tool_runs_off_the_thread_of_its_caller() {
    let registry = all().build().unwrap();
    let call = |panics: bool| {
        let arguments = serde_json::json!({ "panics": panics });
        registry.call(ToolCall::new("1", "thread_name", arguments))
    };
    let result = call(false).await;
    assert_ne!(result.content(), format!("{:?}", thread::current().id()));
    let result = call(true).await;
    assert_eq!(kind(&result), ToolErrorKind::Panicked);
    assert!(!result.content().contains("secret"));
}

#[test]
fn outside_of_a_runtime_a_call_is_an_error_and_not_a_panic() {
    let registry = all().build().unwrap();
    for name in ["hang", "block"] {
        let result = registry.call_blocking(ToolCall::new("1", name, ""));
        assert_eq!(kind(&result), ToolErrorKind::Unavailable);
        let error = result.error().unwrap();
        assert!(error.detail().contains("outside of the async runtime"));
    }
    // A runtime without timers.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let result = runtime.block_on(registry.call(ToolCall::new("1", "hang", "")));
    assert_eq!(kind(&result), ToolErrorKind::Unavailable);
}

/// The number of running tools, now and at most.
#[derive(Clone, Default)]
struct Crowd(Arc<(AtomicUsize, AtomicUsize)>);

/// Takes a while.
#[tool(unlinked)]
async fn crowd(#[param(context)] crowd: &Crowd, at: usize) -> usize {
    let (now, most) = &*crowd.0;
    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    for _ in 0..at % 7 {
        tokio::task::yield_now().await;
    }
    now.fetch_sub(1, Ordering::SeqCst);
    at
}

#[tokio::test]
async fn concurrency_is_limited_and_results_are_in_order() {
    let seen = Crowd::default();
    let registry = Registry::builder()
        .tools(tools![crowd])
        .context(seen.clone())
        .concurrency(3)
        .build()
        .unwrap();
    let calls =
        (0..100).map(|at| ToolCall::new(at.to_string(), "crowd", serde_json::json!({"at": at})));
    let results = registry.call_all(calls).await;
    for (at, result) in results.iter().enumerate() {
        assert_eq!(
            (result.call_id(), result.content()),
            (&*at.to_string(), &*at.to_string())
        );
    }
    assert_eq!(seen.0.1.load(Ordering::SeqCst), 3);
}

#[test]
fn a_long_result_is_truncated_between_two_characters() {
    let call = |text: &str| ToolCall::new("1", "talk", serde_json::json!({ "text": text }));
    for cap in 0..12 {
        let registry = all().output_cap(cap).build().unwrap();
        let result = registry.call_blocking(call("äöü€"));
        let whole = r#"["äöü€"]"#;
        if cap >= whole.len() {
            assert_eq!(result.content(), whole);
            assert!(result.structured().is_some());
            continue;
        }
        let (kept, note) = result.content().split_once('\n').unwrap();
        assert!(whole.starts_with(kept) && kept.len() <= cap && kept.len() + 3 > cap);
        let missing = whole.len() - kept.len();
        assert_eq!(
            note,
            format!("[truncated: {missing} of {} bytes omitted]", whole.len())
        );
        assert_eq!(result.structured(), None);
        assert!(!result.is_error());
    }
}

#[test]
fn a_long_error_is_truncated_after_its_reference() {
    let registry = all().output_cap(10).build().unwrap();
    let text = serde_json::json!({ "text": "x".repeat(500) });
    let result = registry.call_blocking(ToolCall::new("1", "busy", text));
    let error = result.error().unwrap();
    assert!(result.content().contains(error.id()));
    assert!(result.content().len() < 100, "{}", result.content());
    assert!(error.is_retryable());
}

#[tokio::test]
async fn before_hooks_allow_deny_and_change() {
    let seen = Seen::default();
    let registry = all()
        .context(seen.clone())
        .before(|pending| async move {
            match pending.call.id.as_str() {
                "denied" => Gate::deny("not today"),
                "changed" => Gate::change(serde_json::json!({ "text": "other" })),
                "panics" => panic!("with a secret"),
                "broken" => Gate::change("{"),
                _ => Gate::Allow,
            }
        })
        .before(|pending| async move {
            // The second hook sees the change of the first.
            let text = format!("{:?}", pending.call.arguments.to_object());
            pending.get::<Seen>().unwrap().note("second");
            if text.contains("other") && pending.tool.annotations.read_only.is_some() {
                Gate::deny("no tool here is read-only")
            } else {
                Gate::Allow
            }
        })
        .after(|hook, result| async move {
            assert_ne!(result.call_id(), "after", "with a secret");
            let told = format!("{} said {}", hook.tool.name, result.content());
            result.with_content(told)
        })
        .build()
        .unwrap();
    let call = |id: &str| registry.call(ToolCall::new(id, "talk", r#"{"text":"a"}"#));
    assert_eq!(call("allowed").await.content(), r#"talk said ["a"]"#);
    assert_eq!(call("changed").await.content(), r#"talk said ["other"]"#);
    for (id, expected) in [
        ("denied", ToolErrorKind::Denied),
        ("panics", ToolErrorKind::Panicked),
        ("broken", ToolErrorKind::MalformedJson),
        ("after", ToolErrorKind::Panicked),
    ] {
        let result = call(id).await;
        assert_eq!(kind(&result), expected, "{id}");
        assert_eq!((result.call_id(), result.name()), (id, "talk"));
        assert!(result.content().contains(result.error().unwrap().id()));
        assert!(!result.content().contains("secret"), "{}", result.content());
    }
    assert!(call("denied").await.content().contains("not today"));
    // Hooks are not called for an unknown tool.
    seen.0.lock().unwrap().clear();
    let result = registry.call(ToolCall::new("1", "tall", "")).await;
    assert_eq!(kind(&result), ToolErrorKind::UnknownTool);
    assert!(seen.0.lock().unwrap().is_empty());
}

#[test]
fn error_messages_can_be_replaced_by_the_application() {
    let registry = all()
        .map_errors(|error| match error.kind() {
            ToolErrorKind::Failed => Some("Da ging etwas schief.".into()),
            ToolErrorKind::UnknownTool => Some(format!("{}: so etwas gibt es nicht", error.id())),
            ToolErrorKind::InvalidArguments => panic!("while telling"),
            _ => None,
        })
        .build()
        .unwrap();
    let call =
        |name: &str, arguments: &str| registry.call_blocking(ToolCall::new("1", name, arguments));
    let failed = call("busy", r#"{"text":"a"}"#);
    let id = failed.error().unwrap().id();
    assert_eq!(
        failed.content(),
        format!("Da ging etwas schief. [ref {id}]")
    );
    let unknown = call("nothing", "");
    let id = unknown.error().unwrap().id();
    assert_eq!(unknown.content(), format!("{id}: so etwas gibt es nicht"));
    // Without a replacement, or after a panic, the library's message stays.
    assert!(call("talk", "{").content().contains("not valid JSON"));
    assert!(call("talk", "{}").content().contains("text: missing"));
}

/// Mode of a deletion.
#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Soft,
    Hard,
}

/// Which files.
#[derive(Debug, Deserialize, ToolType)]
#[allow(dead_code)]
struct Files {
    #[serde(alias = "file")]
    path: Option<String>,
    #[serde(alias = "number", default)]
    count: u8,
}

/// Is even.
#[derive(Debug, Deserialize, ToolType)]
#[serde(try_from = "u8")]
#[allow(dead_code)]
struct Even(u8);

impl TryFrom<u8> for Even {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Even, &'static str> {
        if number.is_multiple_of(2) {
            Ok(Even(number))
        } else {
            Err("odd")
        }
    }
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// Deletes files.
#[tool(unlinked)]
fn delete(mode: Mode, days: u32, files: Files, even: Even, note: Option<&str>) -> String {
    RUNS.fetch_add(1, Ordering::SeqCst);
    format!("{mode:?} {days} {files:?} {even:?} {note:?}")
}

#[test]
fn a_call_that_cannot_run_reaches_no_gate() {
    let gate = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&gate);
    let registry = Registry::builder()
        .tools(tools![delete, block])
        .context_per_call::<Seen>()
        .before(move |_| {
            asked.fetch_add(1, Ordering::SeqCst);
            async { Gate::Allow }
        })
        .build()
        .unwrap();
    let good = r#"{"mode":"soft","days":1,"files":{},"even":2}"#;
    assert!(
        !registry
            .call_blocking(ToolCall::new("1", "delete", good))
            .is_error()
    );
    assert_eq!(gate.swap(0, Ordering::SeqCst), 1);
    let runs = RUNS.load(Ordering::SeqCst);
    for (call, expected) in [
        (
            ToolCall::new("1", "delete", "{"),
            ToolErrorKind::MalformedJson,
        ),
        (
            ToolCall::new("1", "delete", "{}"),
            ToolErrorKind::InvalidArguments,
        ),
        (
            ToolCall::new("1", "delete", good.replace("soft", "sift")),
            ToolErrorKind::InvalidArguments,
        ),
        // Only decoding finds this.
        (
            ToolCall::new("1", "delete", good.replace(":2}", ":3}")),
            ToolErrorKind::InvalidArguments,
        ),
        (
            ToolCall::new("1", "delete", good).truncated(),
            ToolErrorKind::MalformedJson,
        ),
        // Without its context value.
        (ToolCall::new("1", "block", ""), ToolErrorKind::Unavailable),
    ] {
        let result = registry.call_blocking(call);
        assert_eq!(kind(&result), expected, "{}", result.content());
        assert_eq!(gate.load(Ordering::SeqCst), 0, "{}", result.content());
    }
    assert_eq!(RUNS.load(Ordering::SeqCst), runs);
}

/// Returns a registry with hooks that record the arguments they see.
fn recording(change: Option<&'static str>) -> (Registry, Arc<Mutex<Vec<String>>>) {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (before, second, after) = (seen.clone(), seen.clone(), seen.clone());
    let text = |call: &HookCall| match &call.call.arguments {
        Arguments::Text(text) => text.clone(),
        other => panic!("{other:?} is not text"),
    };
    let registry = Registry::builder()
        .tools(tools![delete, talk])
        .lenient()
        .before(move |hook| {
            before.lock().unwrap().push(text(&hook));
            async move { change.map_or(Gate::Allow, Gate::change) }
        })
        .before(move |hook| {
            second.lock().unwrap().push(text(&hook));
            async { Gate::Allow }
        })
        .after(move |hook, result| {
            after.lock().unwrap().push(text(&hook));
            async { result }
        })
        .build()
        .unwrap();
    (registry, seen)
}

#[test]
fn hooks_see_the_arguments_that_the_tool_gets() {
    let (registry, seen) = recording(None);
    for (sent, expected, quoted) in [
        (
            r#"{"mode":"HARD","days":30.0,"files":{"file":"a","number":1.0},"even":4,"note":null}"#,
            // A null is left out where it means that nothing was given.
            r#"{"mode":"hard","days":30,"files":{"path":"a","count":1},"even":4}"#,
            0,
        ),
        (
            r#"{"files":{"number":null,"file":"a"},"even":"4","mode":"soft","days":"7"}"#,
            r#"{"files":{"path":"a"},"even":4,"mode":"soft","days":7}"#,
            2,
        ),
        (
            r#"{"files":{"file":"a","number":null},"mode":"soft","days":7,"even":4}"#,
            r#"{"files":{"path":"a"},"mode":"soft","days":7,"even":4}"#,
            0,
        ),
    ] {
        let sent: serde_json::Value = serde_json::from_str(sent).unwrap();
        let text = sent.to_string();
        for call in [
            ToolCall::new("1", "delete", sent),
            ToolCall::new("1", "delete", text),
        ] {
            let result = registry.call_blocking(call);
            assert!(!result.is_error(), "{}", result.content());
            let coerced: Vec<_> = result.coercions().iter().map(Coercion::path).collect();
            assert_eq!(coerced.len(), quoted, "{coerced:?}");
            let told = std::mem::take(&mut *seen.lock().unwrap());
            assert_eq!(told.len(), 3);
            let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
            for text in told {
                let text: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(text, expected);
            }
        }
    }
}

#[test]
fn what_a_gate_changes_is_validated_and_normalised_again() {
    let good = r#"{"mode":"soft","days":1,"files":{"path":"a"},"even":2}"#;
    let changed = r#"{"mode":"HARD","days":2.0,"files":{"file":"b"},"even":2}"#;
    let (registry, seen) = recording(Some(changed));
    let result = registry.call_blocking(ToolCall::new("1", "delete", good));
    let normalised = r#"{"mode":"hard","days":2,"files":{"path":"b"},"even":2}"#;
    assert_eq!(*seen.lock().unwrap(), [good, normalised, normalised]);
    assert!(
        result.content().starts_with("Hard 2 "),
        "{}",
        result.content()
    );

    let (registry, seen) = recording(Some("{}"));
    let result = registry.call_blocking(ToolCall::new("1", "delete", good));
    assert_eq!(kind(&result), ToolErrorKind::InvalidArguments);
    // The second gate is not asked.
    assert_eq!(seen.lock().unwrap().len(), 2);
}

/// Says any value.
#[tool(unlinked)]
fn say(text: &str) -> serde_json::Value {
    serde_json::json!([text])
}

#[test]
fn a_gate_answers_in_the_place_of_a_tool() {
    let registry = Registry::builder()
        .tools(tools![delete, say])
        .before(|hook| async move {
            match hook.call.id.as_str() {
                "text" => Gate::answer("cached"),
                "json" => Gate::answer(vec![1, 2]),
                "fails" => Gate::fail("the browser is closed"),
                _ => Gate::Allow,
            }
        })
        .before(|hook| async move {
            assert_eq!(hook.call.id, "runs");
            Gate::Allow
        })
        .after(|hook, result| async move {
            assert_eq!(hook.get::<u8>(), Some(&7));
            let arguments = hook.call.arguments.to_object().unwrap();
            assert_eq!(arguments["text"], "a");
            if result.is_error() {
                return result;
            }
            let content = format!("{:?} {}", result.structured(), result.content());
            result.with_content(content)
        })
        .build()
        .unwrap();
    let call = |id: &str| {
        let call = ToolCall::new(id, "say", r#"{"text":"a"}"#).with(7_u8);
        registry.call_blocking(call)
    };
    assert_eq!(call("text").content(), "None cached");
    assert!(call("json").content().ends_with(" [1,2]"));
    assert!(call("runs").content().ends_with(r#" ["a"]"#));
    let failed = call("fails");
    assert_eq!(kind(&failed), ToolErrorKind::Failed);
    assert!(failed.content().ends_with(": the browser is closed"));
}

/// Reads slowly.
#[tool(unlinked, timeout = "5ms", read_only)]
async fn read() {
    std::future::pending::<()>().await;
}

/// Sets something slowly.
#[tool(unlinked, timeout = "5ms", idempotent, blocking)]
fn set() {
    thread::sleep(Duration::from_millis(100));
}

/// Pays slowly.
#[tool(unlinked, timeout = "5ms", blocking)]
fn pay() {
    thread::sleep(Duration::from_millis(100));
}

#[tokio::test]
async fn a_timeout_invites_a_retry_only_of_tools_that_may_be_repeated() {
    let registry = Registry::builder().tools(tools![hang, read, set, pay]);
    let registry = registry.build().unwrap();
    for (name, is_repeatable, may_run) in [
        ("hang", false, false),
        ("read", true, false),
        ("set", true, true),
        ("pay", false, true),
    ] {
        let result = registry.call(ToolCall::new("1", name, "")).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::TimedOut);
        assert_eq!(error.is_retryable(), is_repeatable, "{error}");
        let text = result.content();
        assert_eq!(
            text.ends_with("retrying the same call may succeed"),
            is_repeatable,
            "{text}"
        );
        assert_eq!(
            text.contains("check before you repeat the call"),
            !is_repeatable,
            "{text}"
        );
        assert_eq!(text.contains("may still be running"), may_run, "{text}");
    }
}

#[test]
fn a_dynamic_tool_is_validated_before_it_is_gated() {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let tool = DynamicTool::builder("set_days")
        .description("Sets a number of days.")
        .parameters(serde_json::json!({
            "type": "object",
            "properties": {"days": {"type": "integer", "maximum": 14}},
            "required": ["days"],
        }))
        .build(move |arguments, _| {
            count.fetch_add(1, Ordering::SeqCst);
            async move { Ok::<_, String>(arguments) }
        })
        .unwrap();
    let shown = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&shown);
    let registry = Registry::builder()
        .tool(tool)
        .before(move |hook| {
            sink.lock().unwrap().push(hook.call.arguments.clone());
            async move {
                match hook.call.id.as_str() {
                    "changed" => Gate::change(r#"{"days":30}"#),
                    _ => Gate::Allow,
                }
            }
        })
        .build()
        .unwrap();
    let call = |id: &str, arguments: &str| {
        registry.call_blocking(ToolCall::new(id, "set_days", arguments))
    };
    for invalid in ["{", "{}", r#"{"days":30}"#] {
        assert!(call("1", invalid).is_error());
    }
    assert!(shown.lock().unwrap().is_empty());
    assert_eq!(call("1", r#"{"days":7.0}"#).content(), r#"{"days":7}"#);
    let result = call("changed", r#"{"days":1}"#);
    assert_eq!(kind(&result), ToolErrorKind::InvalidArguments);
    assert_eq!(
        *shown.lock().unwrap(),
        [r#"{"days":7}"#, r#"{"days":1}"#].map(Arguments::from)
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// Returns the number, unless it is seven.
#[tool(unlinked)]
fn check(number: u8) -> Result<u8, &'static str> {
    if number == 7 {
        Err("seven")
    } else {
        Ok(number)
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_observer_sees_how_each_call_ended() {
    let records = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&records);
    let registry = Registry::builder()
        .tools(tools![check, wait, hang])
        .before(async |hook| match hook.call.arguments.to_object() {
            Ok(arguments) if arguments.get("number") == Some(&1.into()) => Gate::deny("one"),
            Ok(arguments) if arguments.get("number") == Some(&2.into()) => Gate::hold("two"),
            _ => Gate::Allow,
        })
        .observe(|_| panic!("planned"))
        .observe(move |record| {
            let (tool, time) = (record.tool.to_owned(), record.duration);
            sink.lock().unwrap().push((tool, record.error, time));
        })
        .build()
        .unwrap();
    let call = |name: &str, arguments: &str| registry.call(ToolCall::new("1", name, arguments));
    for (arguments, content) in [
        (r#"{"number":0}"#, "0"),
        (r#"{"number":1}"#, "one"),
        (r#"{"number":2}"#, "two"),
        (r#"{"number":7}"#, "seven"),
        ("{}", "missing"),
    ] {
        let result = call("check", arguments).await;
        assert!(result.content().contains(content), "{result:?}");
    }
    call("hang", "").await;
    assert!(call("wait", "").now_or_never().is_none());
    call("no_such_tool", "").await;

    let records = records.lock().unwrap();
    let seen: Vec<_> = records
        .iter()
        .map(|record| (&*record.0, record.1))
        .collect();
    let expected = [
        ("check", None),
        ("check", Some(ToolErrorKind::Denied)),
        ("check", Some(ToolErrorKind::Held)),
        ("check", Some(ToolErrorKind::Failed)),
        ("check", Some(ToolErrorKind::InvalidArguments)),
        ("hang", Some(ToolErrorKind::TimedOut)),
        ("wait", Some(ToolErrorKind::Cancelled)),
    ];
    assert_eq!(seen, expected);
    assert!(records[5].2 >= Duration::from_millis(20));
}
