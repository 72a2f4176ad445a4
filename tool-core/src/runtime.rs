//! Timers and threads of an async runtime, by the trait [`Runtime`], and [`block_on`] for programs
//! without one.

mod block_on;
mod join;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

pub use self::block_on::block_on;
pub(crate) use self::join::{either, join_all};

/// `false` on WebAssembly without threads: nothing can wake a thread that waits.
pub(crate) const HAS_THREADS: bool =
    cfg!(any(not(target_family = "wasm"), target_feature = "atomics"));

/// `false` where reading the clock panics.
pub(crate) const HAS_CLOCK: bool = cfg!(not(all(target_family = "wasm", target_os = "unknown")));

/// A boxed future, as the methods of [`Runtime`] return it.
///
/// ```
/// use tool_core::runtime::{BoxFuture, block_on};
///
/// fn answer() -> BoxFuture<u8> {
///     Box::pin(async { 42 })
/// }
///
/// assert_eq!(block_on(answer()), Ok(42));
/// ```
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The timers and threads that timeouts and blocking tools need.
///
/// With the feature `tokio`, a registry uses tokio by default. For another async runtime, implement
/// this trait and pass it to [`RegistryBuilder::runtime`](crate::RegistryBuilder::runtime):
///
/// ```
/// use std::thread;
/// use std::time::Duration;
/// use tool_core::runtime::{BoxFuture, NoRuntime, Runtime};
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Starts a thread for every timer and job.
/// struct Threads;
///
/// impl Runtime for Threads {
///     fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime> {
///         self.spawn_blocking(Box::new(move || thread::sleep(duration)))
///     }
///
///     fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
///         // From the crate `futures-channel`.
///         let (sender, receiver) = futures_channel::oneshot::channel();
///         thread::spawn(move || {
///             job();
///             let _ = sender.send(());
///         });
///         Ok(Box::pin(async { drop(receiver.await) }))
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
    /// Returns a future that completes after this time.
    ///
    /// # Errors
    ///
    /// Returns an error if called outside the runtime.
    fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime>;

    /// Runs a job on a thread that may block. The future completes when the job has ended, or when
    /// it will never run. Dropping the future does not stop the job.
    ///
    /// # Errors
    ///
    /// Returns an error if called outside the runtime.
    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime>;
}

/// The error of a call that needs a runtime but was made outside of it. On WebAssembly, a call gets it, too, if it is a
/// blocking tool, and of a call that would block the only thread forever.
///
/// ```
/// use std::time::Duration;
/// use tool_core::runtime::{BoxFuture, NoRuntime, Runtime};
///
/// /// Runs nothing: for tests of what happens outside of a runtime.
/// struct Missing;
///
/// impl Runtime for Missing {
///     fn sleep(&self, _: Duration) -> Result<BoxFuture<()>, NoRuntime> {
///         Err(NoRuntime)
///     }
///
///     fn spawn_blocking(&self, _: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
///         Err(NoRuntime)
///     }
/// }
///
/// assert!(NoRuntime.to_string().contains("outside of the async runtime"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRuntime;

impl fmt::Display for NoRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if HAS_THREADS {
            "a blocking tool or a tool with a timeout was called outside of the async runtime; \
             make the call inside the runtime, with timers enabled"
        } else {
            "this platform has no threads: blocking tools can't run, and calls that wait or have a \
             timeout need an async runtime; make the call in async code, with a runtime that has timers"
        })
    }
}

impl std::error::Error for NoRuntime {}

/// The timers and threads of tokio: the default of a registry.
///
/// ```
/// use std::time::Duration;
/// use tool_core::runtime::{NoRuntime, Runtime, Tokio};
///
/// // A registry uses it by default. Outside of tokio, there are no timers.
/// assert!(matches!(Tokio.sleep(Duration::ZERO), Err(NoRuntime)));
/// ```
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug)]
pub struct Tokio;

#[cfg(feature = "tokio")]
impl Runtime for Tokio {
    fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime> {
        // It panics if the runtime has no timers.
        tokio::runtime::Handle::try_current().map_err(|_| NoRuntime)?;
        let sleep = std::panic::catch_unwind(|| tokio::time::sleep(duration));
        Ok(Box::pin(sleep.map_err(|_| NoRuntime)?))
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
        if !HAS_THREADS {
            return Err(NoRuntime);
        }
        let handle = tokio::runtime::Handle::try_current().map_err(|_| NoRuntime)?;
        let job = handle.spawn_blocking(job);
        // An error means that the job did not run, because the runtime is shutting down.
        Ok(Box::pin(async { drop(job.await) }))
    }
}
