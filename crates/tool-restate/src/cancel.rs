//! [`Cancellable`]: a step that ends when its invocation is cancelled.
//!
//! The SDK doesn't tell a running step that its invocation was cancelled, but it does tell a wait for a signal. So each
//! such step also waits for a signal that nobody sends. That costs nothing in the journal.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use restate_sdk::errors::TerminalError;
use restate_sdk::serde::Json;

/// The name of the signal.
pub(crate) const NEVER: &str = "never";

/// The time during which a step can be cancelled.
const CANCELLABLE: Duration = Duration::from_secs(24 * 60 * 60);
/// The time for which an invocation with such a step may run before the engine asks it to end. By default that is one
/// minute, and ten more before the engine breaks the connection. It must exceed the time in which the step can be
/// cancelled, because an invocation that only waits for a signal is suspended.
pub(crate) const INACTIVITY: Duration = Duration::from_secs(48 * 60 * 60);

/// A step that may be cancelled.
#[derive(Default)]
pub(crate) struct Cancellable {
    has_ended: AtomicBool,
}

impl Cancellable {
    /// Runs the body of the step.
    pub(crate) async fn doing<T>(&self, step: impl Future<Output = T>) -> T {
        let done = step.await;
        self.has_ended.store(true, Ordering::Relaxed);
        done
    }

    /// Waits for the step. A cancellation drops its [body](Cancellable::doing).
    pub(crate) async fn or_cancelled<T>(
        &self,
        step: impl Future<Output = Result<T, TerminalError>>,
        never: impl Future<Output = Result<Json<()>, TerminalError>>,
    ) -> Result<T, TerminalError> {
        let mut step = pin!(step);
        let mut cancelled = pin!(async {
            match tokio::time::timeout(CANCELLABLE, never).await {
                Ok(Err(error)) => error,
                _ => pending().await,
            }
        });
        poll_fn(|cx| {
            if let Poll::Ready(result) = step.as_mut().poll(cx) {
                return Poll::Ready(result);
            }
            // Only one of the two may read from the engine: once the step has ended, the step does.
            if !self.has_ended.load(Ordering::Relaxed)
                && let Poll::Ready(error) = cancelled.as_mut().poll(cx)
            {
                return Poll::Ready(Err(error));
            }
            Poll::Pending
        })
        .await
    }
}
