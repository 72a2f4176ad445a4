//! [`Runtime`]: the timers and the threads of an application.

pub(crate) mod block_on;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// A future in a box, as the methods of [`Runtime`] give it.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Timers and threads: what a time-out, and a tool that blocks, need besides futures.
///
/// With the feature `tokio`, a registry has those of tokio. For another async runtime implement
/// it, and give it to [`RegistryBuilder::runtime`](crate::RegistryBuilder::runtime):
///
/// ```
/// use std::thread;
/// use std::time::Duration;
/// use tool_core::{BoxFuture, NoRuntime, Registry, Runtime, ToolCall, tool, tools};
///
/// /// Every timer and every job has a thread.
/// struct Threads;
///
/// impl Runtime for Threads {
///     fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime> {
///         self.spawn_blocking(Box::new(move || thread::sleep(duration)))
///     }
///
///     fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
///         // Of the crate `futures-channel`.
///         let (done, waits) = futures_channel::oneshot::channel();
///         thread::spawn(move || {
///             job();
///             let _ = done.send(());
///         });
///         Ok(Box::pin(async { drop(waits.await) }))
///     }
/// }
///
/// /// Reads slowly.
/// #[tool(blocking, timeout = "5ms")]
/// fn read() {
///     thread::sleep(Duration::from_secs(1));
/// }
///
/// let registry = Registry::builder().tools(tools![read]).runtime(Threads).build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "read", ""));
/// assert!(result.content().contains("timed out"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub trait Runtime: Send + Sync + 'static {
    /// Ends after this time.
    ///
    /// # Errors
    ///
    /// When the runtime does not run here.
    fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime>;

    /// Runs a job on a thread that it may block. The future ends when the job has ended, or won't
    /// run any more. Dropping the future does not stop the job.
    ///
    /// # Errors
    ///
    /// When the runtime does not run here.
    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime>;
}

/// A call needs a runtime, and was made outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRuntime;

impl fmt::Display for NoRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a tool that blocks or has a time-out was called outside of the async runtime; \
             make the call inside of it, and let it have timers",
        )
    }
}

impl std::error::Error for NoRuntime {}

/// The timers and the threads of tokio.
#[cfg(feature = "tokio")]
pub(crate) struct Tokio;

#[cfg(feature = "tokio")]
impl Runtime for Tokio {
    fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime> {
        // Without timers it panics; not even that may leave the call.
        tokio::runtime::Handle::try_current().map_err(|_| NoRuntime)?;
        let sleep = std::panic::catch_unwind(|| tokio::time::sleep(duration));
        Ok(Box::pin(sleep.map_err(|_| NoRuntime)?))
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
        let handle = tokio::runtime::Handle::try_current().map_err(|_| NoRuntime)?;
        let job = handle.spawn_blocking(job);
        // An error is a job that was not run: the runtime shuts down.
        Ok(Box::pin(async { drop(job.await) }))
    }
}
