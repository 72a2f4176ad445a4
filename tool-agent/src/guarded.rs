//! [`GuardedSpan`]: a span whose subscriber may panic.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use tool_core::ToolError;
use tracing::span::Entered;
use tracing::{Span, Value};

/// Runs code of the application, and returns `None` if it panics.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Option<T> {
    let ended = catch_unwind(AssertUnwindSafe(run));
    // The payload may panic too when it is dropped.
    ended
        .map_err(|payload| ToolError::of_panic("", payload))
        .ok()
}

/// A span; `None` if the subscriber panicked when it was created.
pub(crate) struct GuardedSpan(Option<Span>);

/// Is inside of a span until it is dropped.
struct Inside<'s>(Option<Entered<'s>>);

impl GuardedSpan {
    pub(crate) fn new(create: impl FnOnce() -> Span) -> GuardedSpan {
        GuardedSpan(caught(create))
    }

    /// Returns the span if a subscriber takes it.
    pub(crate) fn enabled(&self) -> Option<&Span> {
        self.0.as_ref().filter(|span| !span.is_disabled())
    }

    pub(crate) fn record(&self, field: &str, value: impl Value) {
        if let Some(span) = self.enabled() {
            caught(|| {
                span.record(field, value);
            });
        }
    }

    /// Runs code of the subscriber inside of the span.
    pub(crate) fn inside(&self, run: impl FnOnce()) {
        let _inside = self.enter();
        caught(run);
    }

    /// Runs a future inside of the span.
    pub(crate) async fn around<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|context| {
            let _inside = self.enter();
            future.as_mut().poll(context)
        })
        .await
    }

    fn enter(&self) -> Inside<'_> {
        Inside(self.enabled().and_then(|span| caught(|| span.enter())))
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let entered = self.0.take();
        caught(|| drop(entered));
    }
}

impl Drop for GuardedSpan {
    fn drop(&mut self) {
        let span = self.0.take();
        caught(|| drop(span));
    }
}
