//! [`GuardedSpan`]: a span whose subscriber may panic.

use std::future::poll_fn;
use std::pin::pin;

use tracing::span::Entered;
use tracing::{Span, Value};

use crate::guarded::{Guarded, caught};

/// A span. Empty if the subscriber panicked on its creation.
pub(super) struct GuardedSpan(Guarded<Span>);

impl GuardedSpan {
    pub(super) fn new(create: impl FnOnce() -> Span) -> GuardedSpan {
        GuardedSpan(Guarded(caught("", create).ok()))
    }

    /// Returns the span if it is enabled.
    pub(super) fn enabled(&self) -> Option<&Span> {
        self.0.0.as_ref().filter(|span| !span.is_disabled())
    }

    pub(super) fn record(&self, field: &str, value: impl Value) {
        if let Some(span) = self.enabled() {
            let _ = caught("", || {
                span.record(field, value);
            });
        }
    }

    /// Runs code of the subscriber within the span.
    pub(super) fn inside(&self, run: impl FnOnce()) {
        let _inside = self.enter();
        let _ = caught("", run);
    }

    /// Runs a future within the span.
    pub(super) async fn around<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|context| {
            let _inside = self.enter();
            future.as_mut().poll(context)
        })
        .await
    }

    /// Enters the span until the returned value is dropped.
    fn enter(&self) -> Guarded<Entered<'_>> {
        let span = self.enabled();
        Guarded(span.and_then(|span| caught("", || span.enter()).ok()))
    }
}
