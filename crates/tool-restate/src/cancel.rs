//! [`Cancellable`]: a step that ends when its invocation is cancelled.
//!
//! The SDK tells a step of no cancellation, but whoever waits for a signal. So each such step waits for one that nobody sends,
//! which costs nothing in the journal.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use restate_sdk::errors::TerminalError;
use restate_sdk::serde::Json;

/// The name of the signal.
pub(crate) const NEVER: &str = "never";

/// How long a step can be cancelled.
const CANCELLABLE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an invocation with such a step may run until the engine asks for its end. By default that is a minute, and ten
/// more until it breaks the connection. Longer than the step can be cancelled: what waits for a signal would be suspended.
pub(crate) const INACTIVITY: Duration = Duration::from_secs(48 * 60 * 60);

/// A step that may be cancelled.
#[derive(Default)]
pub(crate) struct Cancellable {
    has_ended: AtomicBool,
}

impl Cancellable {
    /// Does what the step does.
    pub(crate) async fn doing<T>(&self, step: impl Future<Output = T>) -> T {
        let done = step.await;
        self.has_ended.store(true, Ordering::Relaxed);
        done
    }

    /// Waits for the step, or for a cancellation, which drops what the step is [doing](Cancellable::doing).
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
            // Only one of the two may read what comes from the engine: the step does once it has ended.
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
