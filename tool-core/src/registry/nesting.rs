//! [`CallFuture`]: a call as it is polled, at its depth of nesting.
//!
//! A tool may call tools, which may call tools. Each call needs some of the thread's stack, so the depth is
//! limited, because a stack overflow would end the process.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::call::boundary::catch;
use crate::telemetry::Scope;

/// The maximum depth of calls inside one another. A debug build needs about 30 KiB of stack for each, and
/// threads have at least 2 MiB.
pub(super) const MAX_DEPTH: u32 = 32;

thread_local! {
    /// The number of calls that run inside one another on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns the depth of the innermost call that runs on this thread; 0 outside of calls.
#[inline]
pub(super) fn depth() -> u32 {
    DEPTH.get()
}

/// Runs a part of a call at its depth.
#[inline]
pub(super) fn at_depth<T>(depth: u32, run: impl FnOnce() -> T) -> T {
    struct Outer(u32);

    impl Drop for Outer {
        fn drop(&mut self) {
            DEPTH.set(self.0);
        }
    }

    let _outer = Outer(DEPTH.replace(depth));
    run()
}

/// Runs a call that never panics one level deeper than the innermost one, which is passed to it.
/// Without a guard, which would cost each call of a sync tool a second look-up of the variable.
#[inline]
pub(super) fn one_deeper<T>(run: impl FnOnce(u32) -> T) -> T {
    let outer = DEPTH.get();
    DEPTH.set(outer + 1);
    let value = run(outer + 1);
    DEPTH.set(outer);
    value
}

/// The future of a call. It is polled and dropped at its depth and inside its span, and dropping it
/// never panics.
pub(super) struct CallFuture<F> {
    /// Boxed, because its state is large and would be moved.
    running: Option<Pin<Box<F>>>,
    depth: u32,
    scope: Scope,
}

impl<F: Future> CallFuture<F> {
    pub(super) fn new(depth: u32, scope: Scope, running: F) -> CallFuture<F> {
        CallFuture {
            running: Some(Box::pin(running)),
            depth,
            scope,
        }
    }
}

impl<F: Future> Future for CallFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        let running = this.running.as_mut().expect("polled after completion");
        let polled = at_depth(this.depth, || {
            this.scope.run(|| running.as_mut().poll(context))
        });
        if polled.is_ready() {
            // Nothing of the application is left in it.
            this.running = None;
        }
        polled
    }
}

impl<F> Drop for CallFuture<F> {
    fn drop(&mut self) {
        if self.running.is_none() {
            return;
        }
        at_depth(self.depth, || {
            self.scope.run(|| {
                let _ = catch(|| self.running = None);
            });
        });
    }
}
