//! A call always ends, in bounded time, with one result, whatever the code of the application does.

#![allow(clippy::unused_self)] // Methods must have a receiver to be tools.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use tool_core::hooks::Gate;
use tool_core::{
    CallContext, Registry, Tool, ToolCall, ToolErrorKind, ToolResult, ToolType, tool, tools,
    toolset,
};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};

#[allow(dead_code)] // Other tests look at spans.
#[path = "../support/capture.rs"]
mod capture;
#[path = "../support/watchdog.rs"]
mod watchdog;

use watchdog::Watchdog;

/// A new call without arguments.
fn call(name: &str) -> ToolCall {
    ToolCall::new("call_1", name, "")
}

fn kind(result: &ToolResult) -> Option<ToolErrorKind> {
    result.error().map(tool_core::ToolError::kind)
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "planned: the drop of a bomb");
    }
}

// Errors

/// An error with an unusual chain of sources.
#[derive(Debug)]
enum Odd {
    Cyclic,
    Deep(&'static [Odd]),
    Panicking,
    Undisplayable,
    Dropped { _bomb: Armed },
}

/// A bomb that implements `Debug`.
struct Armed(#[allow(dead_code)] Bomb);

impl fmt::Debug for Armed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Armed")
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Odd::Deep(rest) => write!(f, "level {}", rest.len()),
            _ => f.write_str("odd"),
        }
    }
}

/// A source that panics when displayed.
#[derive(Debug)]
struct Silent;

impl fmt::Display for Silent {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("planned: no text")
    }
}

impl Error for Silent {}

impl Error for Odd {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Odd::Cyclic => Some(self),
            Odd::Deep(rest) => rest.first().map(|next| next as _),
            Odd::Panicking => panic!("planned: no source"),
            Odd::Undisplayable => Some(&Silent),
            Odd::Dropped { .. } => None,
        }
    }
}

fn odd(which: usize) -> Odd {
    match which {
        0 => Odd::Cyclic,
        1 => {
            // A chain of a million, each the source of the one before it.
            let mut deep: &'static [Odd] = &[];
            for _ in 0..1_000_000 {
                deep = std::slice::from_ref(Box::leak(Box::new(Odd::Deep(deep))));
            }
            Odd::Deep(deep)
        }
        2 => Odd::Panicking,
        3 => Odd::Undisplayable,
        _ => Odd::Dropped { _bomb: Armed(Bomb) },
    }
}

/// Fails with an odd error.
#[tool(unlinked)]
fn fail(which: usize) -> Result<(), Odd> {
    Err(odd(which))
}

/// Fails later.
#[tool(unlinked)]
async fn fail_later(which: usize) -> Result<(), Odd> {
    tokio::task::yield_now().await;
    Err(odd(which))
}

/// Fails with an error that stays on its thread.
#[tool(unlinked)]
fn fail_confined(which: usize) -> Result<(), Box<dyn Error>> {
    Err(Box::new(odd(which)))
}

#[test]
fn a_chain_of_sources_without_an_end_is_cut() {
    let registry = Registry::builder()
        .tools(tools![fail, fail_later, fail_confined])
        .build()
        .unwrap();
    let capped = Registry::builder()
        .tools(tools![fail, fail_later, fail_confined])
        .output_cap(1000)
        .build()
        .unwrap();
    // Somebody listens.
    capture::capture();
    for which in 0..5 {
        for name in ["fail", "fail_later", "fail_confined"] {
            for registry in [&registry, &capped] {
                let _watchdog = Watchdog::new(format!("{name} {which}"));
                let call = ToolCall::new("call_1", name, json!({ "which": which }));
                let result = registry.call_blocking(call);
                // Displaying and dropping a boxed error are part of the tool.
                let expected = match (name, which) {
                    ("fail_confined", 4) => ToolErrorKind::Panicked,
                    _ => ToolErrorKind::Failed,
                };
                assert_eq!(kind(&result), Some(expected), "{name} {which}");
                drop(result);
            }
        }
    }
}

// Drops

struct Receiver(#[allow(dead_code)] Bomb);

#[toolset]
impl Receiver {
    /// Works.
    #[tool]
    fn receive(&self) -> u8 {
        1
    }
}

/// An argument with a bomb.
#[derive(Deserialize, ToolType)]
struct Argument {
    #[serde(skip, default = "bomb")]
    #[allow(dead_code)]
    bomb: Option<Arc<Bomb>>,
}

fn bomb() -> Option<Arc<Bomb>> {
    Some(Arc::new(Bomb))
}

/// Drops an argument.
#[tool(unlinked)]
fn drop_argument(_argument: Argument) -> u8 {
    1
}

/// Holds a bomb across a wait.
#[tool(unlinked)]
async fn hold_bomb() -> u8 {
    let _bomb = Bomb;
    tokio::task::yield_now().await;
    1
}

/// Holds a bomb for ever.
#[tool(unlinked, timeout = "5ms")]
async fn hold_for_ever() {
    let _bomb = Bomb;
    std::future::pending::<()>().await;
}

/// Holds a bomb on another thread.
#[tool(unlinked, blocking)]
fn hold_on_a_thread() -> u8 {
    let _bomb = Bomb;
    1
}

/// A result with a bomb.
struct Returned(#[allow(dead_code)] Bomb);

impl Serialize for Returned {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(1)
    }
}

/// Returns a bomb.
#[tool(unlinked)]
fn return_bomb() -> impl Serialize {
    Returned(Bomb)
}

/// Works.
#[tool(unlinked)]
fn work() -> u8 {
    1
}

/// Works, later.
#[tool(unlinked)]
async fn work_later() -> u8 {
    tokio::task::yield_now().await;
    1
}

/// Works with a context value.
#[tool(unlinked)]
fn work_with(call: &CallContext) -> u8 {
    assert!(call.get::<Arc<Bomb>>().is_none());
    1
}

#[tokio::test]
async fn a_drop_that_panics_keeps_all_results() {
    let in_hook = Bomb;
    let registry = Registry::builder()
        .tools(tools![
            drop_argument,
            hold_bomb,
            hold_for_ever,
            hold_on_a_thread,
            return_bomb
        ])
        .tools(tools![work, work_later, work_with, fail])
        .toolset("", Receiver(Bomb))
        .context(Armed(Bomb))
        .map_errors(move |_| {
            let _ = &in_hook;
            None
        })
        .build()
        .unwrap();
    let calls = [
        (call("work").with(Bomb), None),
        (call("work_later").with(Bomb), None),
        (call("work_with").with(Bomb).with(7_u8), None),
        (call("receive").with(Bomb), None),
        (call("nothing").with(Bomb), Some(ToolErrorKind::UnknownTool)),
        (
            call("drop_argument").with(Bomb),
            Some(ToolErrorKind::InvalidArguments),
        ),
        (
            ToolCall::new("1", "drop_argument", json!({"_argument": {}})),
            Some(ToolErrorKind::Panicked),
        ),
        (call("hold_bomb"), Some(ToolErrorKind::Panicked)),
        (call("hold_for_ever"), Some(ToolErrorKind::Panicked)),
        (call("hold_on_a_thread"), Some(ToolErrorKind::Panicked)),
        (call("return_bomb"), Some(ToolErrorKind::Panicked)),
        (
            ToolCall::new("1", "fail", json!({"which": 4})),
            Some(ToolErrorKind::Failed),
        ),
    ];
    let (calls, expected): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
    let running = registry.call_all(calls.clone());
    drop(calls);
    // The last call drops everything that the registry owns.
    drop(registry);
    let results = running.await;
    for (result, expected) in results.iter().zip(expected) {
        assert_eq!(
            kind(result),
            expected,
            "{}: {}",
            result.name(),
            result.content()
        );
    }
    assert_eq!(results.len(), 12);
}

#[test]
fn a_dropped_call_with_a_bomb_does_not_panic() {
    let registry = Registry::builder()
        .tools(tools![hold_bomb, work_later])
        .output_cap(1000)
        .build()
        .unwrap();
    let plain = Registry::builder()
        .tools(tools![hold_bomb])
        .build()
        .unwrap();
    for registry in [registry, plain] {
        let mut running = Box::pin(registry.call_all([
            call("hold_bomb").with(Bomb),
            call("hold_bomb"),
            call("work_later").with(Bomb),
        ]));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(running.as_mut().poll(&mut context).is_pending());
        drop(running);
    }
}

#[test]
fn hooks_with_bombs_lose_no_result() {
    let registry = Registry::builder()
        .tools(tools![work])
        .before(|_| async {
            let _bomb = Bomb;
            tokio::task::yield_now().await;
            Gate::Allow
        })
        .build()
        .unwrap();
    let result = registry.call_blocking(call("work").with(Bomb));
    assert_eq!(kind(&result), Some(ToolErrorKind::Panicked));
    let denied = Registry::builder()
        .tools(tools![work])
        .before(|_| async { Gate::deny("no") })
        .build()
        .unwrap();
    let result = denied.call_blocking(call("work").with(Bomb));
    assert_eq!(kind(&result), Some(ToolErrorKind::Denied));
    let answered = Registry::builder()
        .tools(tools![work])
        .before(|_| async { Gate::answer(Returned(Bomb)) })
        .build()
        .unwrap();
    let result = answered.call_blocking(call("work").with(Bomb));
    assert_eq!(kind(&result), Some(ToolErrorKind::Panicked));
    // The arguments are decoded before the hooks run.
    let asked = Arc::new(AtomicUsize::new(0));
    let hook = Arc::clone(&asked);
    let validated = Registry::builder()
        .tools(tools![drop_argument])
        .before(move |_| {
            hook.fetch_add(1, Ordering::Relaxed);
            async { Gate::Allow }
        })
        .build()
        .unwrap();
    let call = ToolCall::new("1", "drop_argument", json!({"_argument": {}}));
    let result = validated.call_blocking(call.with(Bomb));
    assert_eq!(kind(&result), Some(ToolErrorKind::Panicked));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn a_listener_with_a_bomb_does_not_panic() {
    let registry = Registry::new();
    let kept = Bomb;
    registry
        .on_change(move |_, _| {
            let _ = &kept;
        })
        .keep();
    let owned = Bomb;
    let listener = registry.on_change(move |_, _| {
        let _ = &owned;
        std::panic::panic_any(Armed(Bomb));
    });
    registry.add(tools![work]).unwrap();
    drop(listener);
    assert_eq!(kind(&registry.call_blocking(call("work"))), None);
    drop(registry);
}

// The log

/// A subscriber that panics at one of its events.
struct Faulty {
    at: usize,
    calls: Arc<AtomicUsize>,
}

impl Faulty {
    fn step(&self) {
        let step = self.calls.fetch_add(1, Ordering::Relaxed);
        assert!(step != self.at, "planned: the log is full");
    }
}

impl<S: tracing::Subscriber> Layer<S> for Faulty {
    fn on_new_span(
        &self,
        _: &tracing::span::Attributes<'_>,
        _: &tracing::span::Id,
        _: Context<'_, S>,
    ) {
        self.step();
    }

    fn on_record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>, _: Context<'_, S>) {
        self.step();
    }

    fn on_event(&self, _: &tracing::Event<'_>, _: Context<'_, S>) {
        self.step();
    }

    fn on_enter(&self, _: &tracing::span::Id, _: Context<'_, S>) {
        self.step();
    }

    fn on_exit(&self, _: &tracing::span::Id, _: Context<'_, S>) {
        self.step();
    }

    fn on_close(&self, _: tracing::span::Id, _: Context<'_, S>) {
        self.step();
    }
}

#[test]
fn a_log_that_panics_loses_no_result() {
    let plain = Registry::builder()
        .tools(tools![work, work_later, fail])
        .build()
        .unwrap();
    let full = Registry::builder()
        .tools(tools![work, work_later, fail])
        .output_cap(1000)
        .build()
        .unwrap();
    for at in 0..30 {
        for registry in [&plain, &full] {
            for name in ["work", "work_later", "fail", "nothing"] {
                let calls = Arc::default();
                let faulty = Faulty { at, calls };
                let subscriber = tracing_subscriber::registry().with(faulty);
                let result = tracing::subscriber::with_default(subscriber, || {
                    let arguments = if name == "fail" { "{\"which\":0}" } else { "" };
                    registry.call_blocking(ToolCall::new("call_1", name, arguments))
                });
                let expected = match name {
                    "fail" => Some(ToolErrorKind::Failed),
                    "nothing" => Some(ToolErrorKind::UnknownTool),
                    _ => None,
                };
                assert_eq!(kind(&result), expected, "{name} {at}");
            }
        }
    }
}

// Nesting

/// Calls itself, through a registry.
#[tool(unlinked)]
fn dig(depth: u32, #[param(context)] registry: &Registry) -> String {
    let arguments = json!({ "depth": depth.saturating_sub(1) });
    if depth == 0 {
        return "reached".into();
    }
    let call = ToolCall::new("call_1", "dig", arguments).with(registry.clone());
    registry.call_blocking(call).content().into()
}

/// Calls itself, through its context.
#[tool(unlinked)]
async fn dig_inside(depth: u32, call: &CallContext) -> String {
    if depth == 0 {
        return "reached".into();
    }
    let arguments = json!({ "depth": depth - 1 });
    let inner = call.call(ToolCall::new("call_1", "dig_inside", arguments));
    inner.await.content().into()
}

/// Calls itself, in another task.
#[tool(unlinked)]
async fn dig_apart(depth: u32, call: &CallContext) -> String {
    if depth == 0 {
        return "reached".into();
    }
    let arguments = json!({ "depth": depth - 1 });
    let inner = call.call(ToolCall::new("call_1", "dig_apart", arguments));
    tokio::spawn(inner).await.unwrap().content().into()
}

/// Calls itself, on another thread.
#[tool(unlinked, blocking)]
fn dig_blocking(depth: u32, call: &CallContext) -> String {
    if depth == 0 {
        return "reached".into();
    }
    let arguments = json!({ "depth": depth - 1 });
    let inner = call.call_blocking(ToolCall::new("call_1", "dig_blocking", arguments));
    inner.content().into()
}

#[test]
fn calls_are_nested_up_to_a_limit() {
    let tools = || tools![dig, dig_inside, dig_apart, dig_blocking];
    let builder = || {
        Registry::builder()
            .tools(tools())
            .context_per_call::<Registry>()
    };
    let plain = builder().build().unwrap();
    let full = builder()
        .before(async |_| Gate::Allow)
        .after(async |_, result| result)
        .timeout(Duration::from_secs(100))
        .concurrency(1)
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    for (registry, is_limited) in [(plain, false), (full, true)] {
        for name in ["dig", "dig_inside", "dig_apart", "dig_blocking"] {
            // A limit of 1 lets only calls through the context nest.
            if is_limited && name == "dig" {
                continue;
            }
            for (depth, expected) in [
                (31, "reached"),
                (32, "internal error"),
                (10_000, "internal error"),
            ] {
                let call = ToolCall::new("call_1", name, json!({ "depth": depth }));
                let result = registry.call_blocking(call.with(registry.clone()));
                assert!(
                    result.content().contains(expected),
                    "{name} {depth}: {}",
                    result.content()
                );
            }
        }
    }
}

// Output

/// A value of this many levels.
struct Levels(u32);

impl Serialize for Levels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut items = serializer.serialize_seq(None)?;
        if self.0 > 1 {
            items.serialize_element(&Levels(self.0 - 1))?;
        }
        items.end()
    }
}

/// Returns a deep value.
#[tool(unlinked)]
fn nest(levels: u32) -> impl Serialize {
    Levels(levels)
}

#[test]
fn an_output_is_as_deep_as_arguments_may_be() {
    let registry = Registry::builder().tools(tools![nest]).build().unwrap();
    for levels in [1, 127, 128, 1_000_000] {
        let result = registry.call_blocking(ToolCall::new("1", "nest", json!({"levels": levels})));
        if levels <= 127 {
            assert!(result.structured().is_some(), "{levels}");
        } else {
            let error = result.error().unwrap();
            assert_eq!(error.kind(), ToolErrorKind::InvalidResult);
            let source = error.source().unwrap().to_string();
            assert!(source.contains("deeper than 127 levels"), "{source}");
        }
    }
}

// Names

#[test]
fn an_unknown_name_is_rejected_quickly_among_many_tools() {
    const TOOLS: usize = 20_000;
    struct Many;

    #[toolset]
    impl Many {
        /// Searches.
        #[tool]
        fn search_for_documents(&self) {}
    }

    let many = Arc::new(Many);
    let mut builder = Registry::builder();
    for at in 0..TOOLS {
        builder = builder.shared_toolset(&format!("server_{at:05}_"), many.clone());
    }
    let registry = builder.build().unwrap();
    let _watchdog = Watchdog::new("unknown names");
    let unknown = registry.call_blocking(call(&"qwzx_".repeat(12)));
    assert_eq!(kind(&unknown), Some(ToolErrorKind::UnknownTool));
    let near = registry.call_blocking(call("server_00123_serch_for_documents"));
    assert!(
        near.content()
            .contains("did you mean server_00123_search_for_documents?")
    );
}

// Unions

/// An untagged enum that serde decodes in exponential time.
#[derive(Deserialize, ToolType)]
#[serde(untagged)]
#[allow(dead_code)]
enum Chain {
    First { next: Box<Chain>, first: u8 },
    Second { next: Box<Chain>, second: u8 },
    Third { next: Box<Chain> },
    End(bool),
}

/// Reads a chain.
#[tool(unlinked)]
fn read_chain(_chain: Chain) -> u8 {
    1
}

#[test]
fn nested_untagged_enums_are_decoded_in_bounded_time() {
    let registry = Registry::builder()
        .tools(tools![read_chain])
        .build()
        .unwrap();
    let lenient = Registry::builder()
        .tools(tools![read_chain])
        .lenient()
        .build()
        .unwrap();
    for registry in [registry, lenient] {
        for depth in 0..100 {
            let mut chain = json!(true);
            for _ in 0..depth {
                chain = json!({ "next": chain });
            }
            let _watchdog = Watchdog::new(format!("a chain of {depth}"));
            let call = ToolCall::new("call_1", "read_chain", json!({ "_chain": chain }));
            let result = registry.call_blocking(call);
            match kind(&result) {
                None => assert!(depth < 30),
                Some(kind) => {
                    assert_eq!(kind, ToolErrorKind::InvalidArguments);
                    assert!(depth > 4, "{}", result.content());
                    assert!(result.content().contains("too complex to check"));
                }
            }
        }
    }
    assert!(!read_chain::SPEC.name.is_empty());
}
