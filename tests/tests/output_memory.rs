//! What an output cap truncates is freed.

use std::alloc::System;
use std::error::Error;
use std::sync::Arc;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tool_core::registry::{ResultScope, ResultStore, ResultStoreError};
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const HUGE: usize = 2_000_000;

/// Returns a huge text.
#[tool(unlinked)]
fn return_text() -> String {
    "x".repeat(HUGE)
}

/// Returns a short text in a huge buffer.
#[tool(unlinked)]
fn return_buffer() -> String {
    String::with_capacity(HUGE) + "short"
}

/// Returns huge JSON.
#[tool(unlinked)]
fn return_json() -> Vec<u8> {
    vec![0; HUGE]
}

/// Fails with a huge text.
#[tool(unlinked)]
fn fail() -> Result<(), String> {
    Err("x".repeat(HUGE))
}

/// Fails with a huge error that stays on its thread.
#[tool(unlinked)]
fn fail_confined() -> Result<(), Box<dyn Error>> {
    Err("x".repeat(HUGE).into())
}

/// Panics with a huge text.
#[tool(unlinked)]
fn panic() {
    std::panic::panic_any("x".repeat(HUGE))
}

/// Fails with the error of another server that lists a huge violation.
#[tool(unlinked)]
fn pass_on() -> Result<(), String> {
    let violation = "x".repeat(HUGE);
    Err(format!(
        "invalid arguments for pass_on [ref ABC123]:\n- city: {violation}"
    ))
}

/// Fails with an error that very many servers passed on.
#[tool(unlinked)]
fn pass_on_again() -> Result<(), String> {
    let level = "pass_on_again failed [ref ABC123]: ";
    Err(level.repeat(HUGE / level.len()) + "no")
}

/// A store that keeps nothing.
struct Nowhere;

impl ResultStore for Nowhere {
    fn put(&self, _: &ResultScope, _: &str, _: String) -> BoxFuture<Result<(), ResultStoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn read(
        &self,
        _: &ResultScope,
        _: &str,
    ) -> BoxFuture<Result<Option<Arc<str>>, ResultStoreError>> {
        Box::pin(async { Ok(None) })
    }

    fn remove(&self, _: &ResultScope) -> BoxFuture<Result<(), ResultStoreError>> {
        Box::pin(async { Ok(()) })
    }
}

fn in_use() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated - stats.bytes_deallocated
}

#[test]
fn truncated_results_hold_little_memory() {
    let builder = || {
        Registry::builder()
            .tools(tools![
                return_text,
                return_buffer,
                return_json,
                fail,
                fail_confined,
                panic,
                pass_on,
                pass_on_again
            ])
            .output_cap(100)
    };
    let registries = [
        builder().build().unwrap(),
        builder()
            .map_errors(|error| Some(error.message().to_owned() + "."))
            .build()
            .unwrap(),
        builder()
            .map_errors(|_| Some("replaced".into()))
            .build()
            .unwrap(),
        builder()
            .after(async |_, _| panic!("planned"))
            .build()
            .unwrap(),
        builder()
            .context(ResultScope::new("all"))
            .spill(Nowhere, 100)
            .build()
            .unwrap(),
    ];
    std::panic::set_hook(Box::new(|_| {}));
    let names = [
        "return_text",
        "return_buffer",
        "return_json",
        "fail",
        "fail_confined",
        "panic",
        "pass_on",
        "pass_on_again",
    ];
    for registry in &registries {
        for name in names {
            let before = in_use();
            let call = |_| registry.call_blocking(ToolCall::new("call_1", name, ""));
            let results: Vec<_> = (0..5).map(call).collect();
            let held = in_use() - before;
            assert!(held < 1_500_000, "{name}: {held} bytes");
            for result in &results {
                assert!(result.content().len() < 400);
            }
        }
    }
    // A text is copied once for the store.
    let allocated = ALLOCATOR.stats().bytes_allocated;
    let result = registries[4].call_blocking(ToolCall::new("call_1", "return_text", ""));
    let allocated = ALLOCATOR.stats().bytes_allocated - allocated;
    assert_eq!(result.kept().unwrap().1, HUGE);
    assert!(allocated < 2 * HUGE + 10_000, "{allocated} bytes");
    // The operator has more than the model.
    let registry = builder().build().unwrap();
    let result = registry.call_blocking(ToolCall::new("call_1", "fail", ""));
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Failed);
    assert!(error.original_message().len() > 60_000);
    assert!(error.source().unwrap().to_string().len() > 60_000);
}
