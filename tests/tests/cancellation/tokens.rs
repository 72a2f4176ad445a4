//! Tokens and their wakers, and calls that other threads cancel or drop.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;

use tool_core::call::CancellationToken;
use tool_core::{CallContext, Registry, ToolCall, ToolErrorKind, tool, tools};

use super::{Bell, Inside, Seen};

#[test]
fn a_token_keeps_no_waker_of_a_finished_wait() {
    let parent = CancellationToken::new();
    let bells: Vec<_> = (0..1_000).map(|_| Arc::new(Bell::default())).collect();
    let mut waits: Vec<_> = (0..1_000).map(|_| parent.child().cancelled()).collect();
    for (wait, bell) in waits.iter_mut().zip(&bells) {
        let waker = Waker::from(Arc::clone(bell));
        for _ in 0..3 {
            let mut context = Context::from_waker(&waker);
            assert!(pin!(&mut *wait).poll(&mut context).is_pending());
        }
    }
    // Half of them are dropped, the others are woken.
    waits.truncate(500);
    for bell in &bells[500..] {
        assert_eq!(Arc::strong_count(bell), 1);
    }
    parent.cancel();
    for (at, bell) in bells.iter().enumerate() {
        assert_eq!(bell.0.load(Ordering::SeqCst), at < 500, "{at}");
    }
    // The children keep theirs until their waits are dropped.
    drop(waits);
    for bell in &bells {
        assert_eq!(Arc::strong_count(bell), 1);
    }
}

/// A task that only its waker keeps alive, and which waits for the token that holds the waker.
struct Task(#[allow(dead_code)] Mutex<Option<tool_core::call::Cancelled>>);

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn dropping_a_waker_may_drop_a_wait_for_the_same_token() {
    // A deadlock would hang this test.
    for is_dropped in [false, true] {
        let token = CancellationToken::new();
        let mut other = token.cancelled();
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(&mut other).poll(&mut context).is_pending());
        let waker = Waker::from(Arc::new(Task(Mutex::new(Some(other)))));
        let mut wait = token.cancelled();
        assert!(
            pin!(&mut wait)
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        drop(waker);
        // The token holds the last reference to the task now.
        if is_dropped {
            drop(wait);
        } else {
            assert!(pin!(&mut wait).poll(&mut context).is_pending());
        }
    }
}

/// Takes a while, or for ever.
#[tool(unlinked)]
async fn linger(at: u32, #[param(context)] seen: &Seen, call: &CallContext) -> u32 {
    let inside = Inside::new(seen, call);
    for _ in 0..at % 11 {
        tokio::task::yield_now().await;
    }
    if at.is_multiple_of(3) {
        call.cancellation().cancelled().await;
        std::future::pending::<()>().await;
    }
    inside.end();
    at
}

#[test]
fn other_threads_can_cancel_and_drop_calls_at_any_time() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    let seen = Seen::default();
    let registry = Registry::builder()
        .tools(tools![linger])
        .context(seen.clone())
        .concurrency(64)
        .build()
        .unwrap();
    let token = CancellationToken::new();
    let running: Vec<_> = (0..3_000_u32)
        .map(|at| {
            let own = if at % 2 == 0 {
                token.clone()
            } else {
                token.child()
            };
            let call = ToolCall::new(at.to_string(), "linger", serde_json::json!({ "at": at }));
            let running = runtime.spawn(registry.call(call.cancel_with(&own)));
            (own, running)
        })
        .collect();
    let tokens: Vec<_> = running.iter().map(|(own, _)| own.clone()).collect();
    let aborts: Vec<_> = running
        .iter()
        .map(|(_, task)| task.abort_handle())
        .collect();
    let canceller = thread::spawn(move || {
        for token in tokens.into_iter().skip(1).step_by(2) {
            token.cancel();
        }
    });
    let aborter = thread::spawn(move || {
        for abort in aborts.into_iter().step_by(7) {
            abort.abort();
            thread::yield_now();
        }
    });
    canceller.join().unwrap();
    aborter.join().unwrap();
    token.cancel();
    for (at, (_, task)) in (0_u32..).zip(running) {
        match runtime.block_on(task) {
            Ok(result) => match result.error() {
                Some(error) => assert_eq!(error.kind(), ToolErrorKind::Cancelled),
                None => assert_eq!(result.content(), at.to_string()),
            },
            Err(error) => assert!(error.is_cancelled() && at % 7 == 0),
        }
    }
    assert_eq!(seen.0.inside.load(Ordering::SeqCst), 0);
    drop((registry, runtime));
    seen.0.token.lock().unwrap().take();
    assert_eq!(Arc::strong_count(&seen.0), 1);
}
