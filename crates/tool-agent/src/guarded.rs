//! Runs application code that may panic, so that a run can go on.

use std::error::Error;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use tool_core::ToolError;
use tool_core::runtime::BoxFuture;

/// Runs code of the application. If it panics, returns an error of `tool`, which is the called tool or another part
/// such as "the model".
pub(crate) fn caught<T>(tool: &str, run: impl FnOnce() -> T) -> Result<T, ToolError> {
    let caught = catch_unwind(AssertUnwindSafe(run));
    // Dropping the payload may panic too.
    caught.map_err(|payload| ToolError::of_panic(tool, payload))
}

/// Waits for a future of the application. A panic becomes an error as in [`caught`].
pub(crate) async fn finished<T>(
    tool: &str,
    running: Pin<Box<dyn Future<Output = T> + Send + '_>>,
) -> Result<T, ToolError> {
    let mut running = Some(running);
    poll_fn(|context| {
        let mut result = None;
        let polled = caught(tool, || {
            if let Some(future) = &mut running
                && let Poll::Ready(ready) = future.as_mut().poll(context)
            {
                result = Some(ready);
                // Dropped in here, because that may panic too. The result is kept even then.
                running = None;
            }
        });
        match (result, polled) {
            (Some(result), _) => Poll::Ready(Ok(result)),
            (None, Ok(())) => Poll::Pending,
            (None, Err(error)) => {
                let _ = caught(tool, || running = None);
                Poll::Ready(Err(error))
            }
        }
    })
    .await
}

/// Runs an async closure of the application. A panic becomes an error as in [`caught`].
pub(crate) async fn answered<T>(
    tool: &str,
    start: impl FnOnce() -> BoxFuture<Result<T, Box<dyn Error + Send + Sync>>>,
) -> Result<T, Box<dyn Error + Send + Sync>> {
    let answered = started(tool, start).await;
    answered.unwrap_or_else(|panic| Err(panic.into()))
}

/// Starts a future of the application and waits for it. A panic becomes an error as in [`caught`].
pub(crate) async fn started<T>(
    tool: &str,
    start: impl FnOnce() -> BoxFuture<T>,
) -> Result<T, ToolError> {
    let running = caught(tool, start)?;
    finished(tool, running).await
}

/// A value of the application. Catches a panic in its `Drop`.
pub(crate) struct Guarded<T>(pub(crate) Option<T>);

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        let _ = caught("", || self.0 = None);
    }
}
