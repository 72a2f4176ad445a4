//! The runtime of the HTTP client, in its own thread.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::thread;
#[cfg(feature = "tower")]
use std::time::Duration;

use futures_util::Stream;
use tokio::runtime::{Builder, Handle};
#[cfg(feature = "tower")]
use tool_core::runtime::BoxFuture;

/// Polls a future or a stream within the runtime of the process.
pub(super) struct InRuntime<T> {
    pub(super) handle: &'static Handle,
    pub(super) inner: Pin<Box<T>>,
}

impl<T: Future> Future for InRuntime<T> {
    type Output = T::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        let _guard = self.handle.enter();
        self.inner.as_mut().poll(context)
    }
}

impl<T: Stream> Stream for InRuntime<T> {
    type Item = T::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T::Item>> {
        let _guard = self.handle.enter();
        self.inner.as_mut().poll_next(context)
    }
}

/// Returns a future that completes after this time, on any thread.
#[cfg(feature = "tower")]
pub(in crate::model) fn sleep(time: Duration) -> Option<BoxFuture<()>> {
    let _guard = handle()?.enter();
    Some(Box::pin(tokio::time::sleep(time)))
}

/// Returns the runtime of the process. A connection belongs to the runtime that opened it, and fails or panics once
/// that runtime has ended. So this one never ends.
pub(super) fn handle() -> Option<&'static Handle> {
    static RUNTIME: OnceLock<Option<Handle>> = OnceLock::new();
    let handle = RUNTIME.get_or_init(|| {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let handle = runtime.handle().clone();
        let run = move || runtime.block_on(std::future::pending::<()>());
        let thread = thread::Builder::new().name("tool-core-http".into());
        thread.spawn(run).ok().map(|_| handle)
    });
    handle.as_ref()
}
