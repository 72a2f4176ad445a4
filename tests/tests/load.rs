//! Load: ten thousand concurrent calls, a tenth for each way in which a call can end. Every call
//! gets its
//! own result, in order, and memory use returns to where it was.
//!
//! `TOOL_CORE_LONG=1` runs for three minutes and prints what it measured.

use std::alloc::System;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::runtime::{Builder, Runtime};
use tool_core::call::{CancellationToken, Transient};
use tool_core::hooks::Gate;
use tool_core::{
    CallContext, Registry, RegistryBuilder, ToolCall, ToolErrorKind, ToolResult, tool, tools,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CALLS: usize = 10_000;

/// How a call is meant to end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    AtOnce,
    Later,
    OnAThread,
    Panicked,
    TimedOut,
    Cancelled,
    Denied,
    Failed,
    Invalid,
    Unknown,
}

/// One for each tenth of the calls.
const ENDS: [End; 10] = [
    End::AtOnce,
    End::Later,
    End::OnAThread,
    End::Panicked,
    End::TimedOut,
    End::Cancelled,
    End::Denied,
    End::Failed,
    End::Invalid,
    End::Unknown,
];

/// Counts tools that have begun and have neither ended nor been dropped.
static INSIDE: AtomicUsize = AtomicUsize::new(0);

struct Inside;

impl Inside {
    fn new() -> Inside {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ends at once.
#[tool(unlinked)]
fn at_once(at: usize) -> usize {
    let _inside = Inside::new();
    at
}

/// Ends after a while.
#[tool(unlinked)]
async fn later(at: usize) -> usize {
    let _inside = Inside::new();
    for _ in 0..at % 5 {
        tokio::task::yield_now().await;
    }
    at
}

/// Ends on a thread of its own.
#[tool(unlinked, blocking)]
fn on_a_thread(at: usize) -> usize {
    let _inside = Inside::new();
    at
}

/// Panics, at once or after a while.
#[tool(unlinked)]
async fn panics(at: usize) {
    let _inside = Inside::new();
    for _ in 0..at / 10 % 3 {
        tokio::task::yield_now().await;
    }
    panic!("planned, by {at}");
}

/// Never ends in its time.
#[tool(unlinked, read_only, timeout = "20ms")]
async fn times_out() {
    let _inside = Inside::new();
    std::future::pending::<()>().await;
}

/// Never ends, and asks for its token or does not.
#[tool(unlinked)]
async fn waits(at: usize, call: &CallContext) {
    let _inside = Inside::new();
    if (at / 10).is_multiple_of(2) {
        call.cancellation().child().cancelled().await;
        tokio::task::yield_now().await;
    }
    std::future::pending::<()>().await;
}

/// Is never run.
#[tool(unlinked, destructive)]
fn destroys() {
    unreachable!("no gate lets it through");
}

/// Fails, for good or for a while.
#[tool(unlinked)]
async fn fails(at: usize) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let _inside = Inside::new();
    tokio::task::yield_now().await;
    let error = format!("by {at}");
    match at / 10 % 2 {
        0 => Err(Transient::new(error).into()),
        _ => Err(error.into()),
    }
}

/// Takes small numbers.
#[tool(unlinked)]
fn picky(#[param(range = 0..=9)] digit: u8) -> u8 {
    unreachable!("{digit} is no digit")
}

fn builder() -> RegistryBuilder {
    Registry::builder()
        .tools(tools![
            at_once,
            later,
            on_a_thread,
            panics,
            times_out,
            waits
        ])
        .tools(tools![destroys, fails, picky])
        .output_cap(200)
        .before(async |pending| {
            tokio::task::yield_now().await;
            match pending.tool.annotations.destructive {
                Some(true) => Gate::deny("nothing is destroyed here"),
                _ => Gate::Allow,
            }
        })
        .after(async |_, result| result)
}

/// Returns the calls of a round and the tokens that cancel some of them.
fn calls() -> (Vec<ToolCall>, Vec<CancellationToken>) {
    let tokens: Vec<_> = (0..20).map(|_| CancellationToken::new()).collect();
    let calls = (0..CALLS).map(|at| {
        let id = format!("call_{at}");
        match ENDS[at % 10] {
            End::AtOnce => ToolCall::new(id, "at_once", json!({ "at": at })),
            End::Later => ToolCall::new(id, "later", json!({ "at": at })),
            End::OnAThread => ToolCall::new(id, "on_a_thread", json!({ "at": at })),
            End::Panicked => ToolCall::new(id, "panics", json!({ "at": at })),
            End::TimedOut => ToolCall::new(id, "times_out", ""),
            End::Cancelled => {
                let token = &tokens[at / 10 % tokens.len()];
                ToolCall::new(id, "waits", json!({ "at": at })).cancel_with(token)
            }
            End::Denied => ToolCall::new(id, "destroys", "{}"),
            End::Failed => ToolCall::new(id, "fails", json!({ "at": at })),
            End::Invalid => ToolCall::new(id, "picky", json!({ "digit": at + 10 })),
            End::Unknown => ToolCall::new(id, format!("tool_{at}"), "{}"),
        }
    });
    let calls = calls.collect();
    // Some are cancelled before they begin.
    tokens[0].cancel();
    (calls, tokens)
}

/// Cancels tokens while the calls run.
async fn cancel(tokens: Vec<CancellationToken>) {
    for token in tokens {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        token.cancel();
    }
}

fn check(results: &[ToolResult]) {
    assert_eq!(results.len(), CALLS);
    for (at, result) in results.iter().enumerate() {
        assert_eq!(result.call_id(), format!("call_{at}"));
        let end = ENDS[at % 10];
        let kind = result.error().map(tool_core::ToolError::kind);
        let expected = match end {
            End::AtOnce | End::Later | End::OnAThread => None,
            End::Panicked => Some(ToolErrorKind::Panicked),
            End::TimedOut => Some(ToolErrorKind::TimedOut),
            End::Cancelled => Some(ToolErrorKind::Cancelled),
            End::Denied => Some(ToolErrorKind::Denied),
            End::Failed => Some(ToolErrorKind::Failed),
            End::Invalid => Some(ToolErrorKind::InvalidArguments),
            End::Unknown => Some(ToolErrorKind::UnknownTool),
        };
        assert_eq!(kind, expected, "{end:?}: {}", result.content());
        let Some(error) = result.error() else {
            assert_eq!(result.content(), at.to_string());
            continue;
        };
        assert!(result.content().contains(error.id()));
        let is_transient = end == End::Failed && (at / 10).is_multiple_of(2);
        assert_eq!(
            error.is_retryable(),
            is_transient || end == End::TimedOut,
            "{end:?}"
        );
        match end {
            End::Panicked => assert_eq!(error.detail(), format!("planned, by {at}")),
            End::Failed => assert!(error.message().contains(&format!("by {at}"))),
            End::Invalid => assert!(error.message().contains(&(at + 10).to_string())),
            _ => {}
        }
    }
}

/// Runs all calls in one task.
async fn together(registry: Registry) {
    let (calls, tokens) = calls();
    let cancelling = tokio::spawn(cancel(tokens));
    let results = tokio::spawn(registry.call_all(calls)).await.unwrap();
    cancelling.await.unwrap();
    check(&results);
}

/// Runs each call in its own task.
async fn apart(registry: Registry) {
    let (calls, tokens) = calls();
    let cancelling = tokio::spawn(cancel(tokens));
    let running: Vec<_> = calls
        .into_iter()
        .map(|call| tokio::spawn(registry.call(call)))
        .collect();
    let mut results = Vec::new();
    for result in running {
        results.push(result.await.unwrap());
    }
    cancelling.await.unwrap();
    check(&results);
}

/// Runs 20,000 calls.
fn round(runtime: &Runtime) {
    let limited = builder().concurrency(500).build().unwrap();
    runtime.block_on(together(limited));
    runtime.block_on(apart(builder().build().unwrap()));
}

/// Returns the bytes in use once the threads have dropped what they ran.
fn in_use(runtime: &Runtime) -> usize {
    let now = || {
        let stats = ALLOCATOR.stats();
        stats.bytes_allocated - stats.bytes_deallocated
    };
    let mut least = now();
    for _ in 0..50 {
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(2)).await });
        least = least.min(now());
    }
    least
}

/// Silences the output of planned panics.
fn be_quiet() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if !text.is_some_and(|text| text.starts_with("planned, by ")) {
            told(panic);
        }
    }));
}

#[test]
fn every_call_gets_its_own_result_and_leaks_nothing() {
    be_quiet();
    let runtime = Builder::new_multi_thread()
        .worker_threads(4)
        .max_blocking_threads(4)
        .thread_keep_alive(Duration::from_secs(600))
        .enable_time()
        .build()
        .unwrap();
    let is_long = std::env::var_os("TOOL_CORE_LONG").is_some();
    let soak = Duration::from_secs(if is_long { 180 } else { 0 });
    let begun = Instant::now();
    // Preallocated, so that it does not count itself.
    let mut levels = Vec::with_capacity(10_000);
    levels.push(in_use(&runtime));
    // A round may fill a pool once. A leak grows with every round.
    let is_level = |levels: &[usize]| levels.is_sorted_by(|before, after| before >= after);
    while begun.elapsed() < soak
        || levels.len() < 200 && levels.last_chunk::<3>().is_none_or(|last| !is_level(last))
    {
        round(&runtime);
        levels.push(in_use(&runtime));
    }
    println!(
        "{} calls in {:.1?}; bytes in use after each of the first rounds {:?}, and of the last {:?}",
        (levels.len() - 1) * 2 * CALLS,
        begun.elapsed(),
        &levels[..levels.len().min(8)],
        &levels[levels.len().saturating_sub(3)..],
    );
    assert_eq!(INSIDE.load(Ordering::SeqCst), 0);
    assert!(levels.last_chunk::<3>().is_some_and(|last| is_level(last)));
}
