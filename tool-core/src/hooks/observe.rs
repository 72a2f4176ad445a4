//! [`Observer`]: what sees the calls of a registry, and the requests and runs of whoever drives a model with it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::call::ToolResult;
use crate::call::boundary::{Guarded, catch};
use crate::call::error::{ToolError, ToolErrorKind};
use crate::provider::dialect::Usage;
use crate::runtime::HAS_CLOCK;
use crate::tool::ToolEntry;

/// The observers of a registry.
pub(crate) type Observers = Arc<Vec<Arc<dyn Observer>>>;

/// Sees what happens with a registry and changes nothing, such as for metrics; see
/// [`RegistryBuilder::observe_with`](crate::RegistryBuilder::observe_with).
///
/// Each method does nothing by default. It should return quickly. If it panics, the observed call, request
/// or run goes on.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use tool_core::hooks::{CallRecord, Observer};
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// /// Counts the calls that fail.
/// #[derive(Clone, Default)]
/// struct Failures(Arc<AtomicU32>);
///
/// impl Observer for Failures {
///     fn call(&self, record: &CallRecord<'_>) {
///         self.0.fetch_add(record.error.is_some().into(), Ordering::Relaxed);
///     }
/// }
///
/// let failures = Failures::default();
/// let registry = Registry::builder().tools(tools![add]).observe_with(failures.clone()).build()?;
/// registry.call_blocking(ToolCall::new("call_1", "add", "{}"));
/// assert_eq!(failures.0.load(Ordering::Relaxed), 1);
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub trait Observer: Send + Sync {
    /// Sees a call that has ended. A call of an unknown tool is not observed, because the model made up its name.
    fn call(&self, record: &CallRecord<'_>) {
        let _ = record;
    }

    /// Sees a request to a model that has ended. Code that drives a model, such as the `Agent` of
    /// `tool-agent`, reports it.
    fn request(&self, record: &RequestRecord<'_>) {
        let _ = record;
    }

    /// Sees a run that has ended or waits. Code that drives a model reports it.
    fn run(&self, record: &RunRecord<'_>) {
        let _ = record;
    }
}

/// A call that has ended; see [`RegistryBuilder::observe`](crate::RegistryBuilder::observe).
///
/// ```
/// use tool_core::Registry;
///
/// let builder = Registry::builder().observe(|record| {
///     let outcome = record.error.map_or("ok", |kind| kind.as_str());
///     println!("{} took {:?}: {outcome}", record.tool, record.duration);
/// });
/// # let _ = builder;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallRecord<'r> {
    /// The name of the tool.
    pub tool: &'r str,
    /// Why the call failed, or `None` if it succeeded. A call that waits for a decision is
    /// [`Held`](ToolErrorKind::Held), and a call whose future was dropped is
    /// [`Cancelled`](ToolErrorKind::Cancelled).
    pub error: Option<ToolErrorKind>,
    /// The time from the start of the call, with its hooks and its wait for a free place. Zero on a platform
    /// without a clock.
    pub duration: Duration,
}

/// A request to a model that has ended; see [`Observer::request`].
///
/// ```
/// use std::time::Duration;
/// use tool_core::Registry;
/// use tool_core::hooks::RequestRecord;
///
/// // In your own loop around a model; the `Agent` of `tool-agent` does it for you.
/// let mut record = RequestRecord::new("anthropic", Duration::from_millis(800));
/// record.retries = 1;
/// Registry::new().observe_request(&record);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RequestRecord<'r> {
    /// The provider, as [`Dialect::telemetry_name`](crate::dialect::Dialect::telemetry_name) names it.
    pub provider: &'r str,
    /// The model that was asked, if it is known.
    pub model: Option<&'r str>,
    /// The model that answered, in the provider's words. A provider that you don't trust may send many names.
    pub response_model: Option<&'r str>,
    /// The kind of the error, or `None` if the request succeeded. A request that was dropped is `cancelled`.
    pub error: Option<&'r str>,
    /// The time until the response was read, with all repetitions. Zero on a platform without a clock.
    pub duration: Duration,
    /// The time until the first event of a streamed response.
    pub first_chunk: Option<Duration>,
    /// The tokens that the response used, if the provider reports them.
    pub usage: Option<Usage>,
    /// The number of repetitions after failures.
    pub retries: u32,
}

/// A run that has ended or waits; see [`Observer::run`]. A run that goes on later, such as after a decision, is
/// observed each time.
///
/// ```
/// use std::time::Duration;
/// use tool_core::Registry;
/// use tool_core::hooks::RunRecord;
///
/// let mut record = RunRecord::new("anthropic", Duration::from_secs(4));
/// (record.requests, record.calls) = (3, 5);
/// Registry::new().observe_run(&record);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunRecord<'r> {
    /// The provider, as [`Dialect::telemetry_name`](crate::dialect::Dialect::telemetry_name) names it.
    pub provider: &'r str,
    /// The model that was asked, if it is known.
    pub model: Option<&'r str>,
    /// How the run ended, such as `answered` or `waiting`, or `None` if it failed.
    pub outcome: Option<&'r str>,
    /// The kind of the error, or `None` if the run did not fail. A run that was dropped is `cancelled`.
    pub error: Option<&'r str>,
    /// The time for which the run was driven. Zero on a platform without a clock.
    pub duration: Duration,
    /// The number of requests to the model in this time, including failed ones.
    pub requests: u32,
    /// The number of calls that started in this time.
    pub calls: u32,
}

impl<'r> RequestRecord<'r> {
    /// Creates the record of a request that succeeded. Set the other fields.
    pub fn new(provider: &'r str, duration: Duration) -> RequestRecord<'r> {
        RequestRecord {
            provider,
            model: None,
            response_model: None,
            error: None,
            duration,
            first_chunk: None,
            usage: None,
            retries: 0,
        }
    }
}

impl<'r> RunRecord<'r> {
    /// Creates the record of a run without requests and calls. Set the other fields.
    pub fn new(provider: &'r str, duration: Duration) -> RunRecord<'r> {
        RunRecord {
            provider,
            model: None,
            outcome: None,
            error: None,
            duration,
            requests: 0,
            calls: 0,
        }
    }
}

/// Shows something to each observer.
pub(crate) fn each(observers: Option<&Observers>, show: impl Fn(&dyn Observer)) {
    for observer in observers.into_iter().flat_map(|all| all.iter()) {
        // The observed work goes on, even if the application's code panics.
        let _ = catch(|| show(&**observer));
    }
}

/// An observer that sees calls alone.
pub(crate) struct OfCalls<F>(pub(crate) F);

impl<F: Fn(&CallRecord<'_>) + Send + Sync> Observer for OfCalls<F> {
    fn call(&self, record: &CallRecord<'_>) {
        (self.0)(record);
    }
}

impl<O: Observer> Observer for Guarded<O> {
    fn call(&self, record: &CallRecord<'_>) {
        (**self).call(record);
    }

    fn request(&self, record: &RequestRecord<'_>) {
        (**self).request(record);
    }

    fn run(&self, record: &RunRecord<'_>) {
        (**self).run(record);
    }
}

/// Measures a call. If it is dropped early, the call counts as cancelled.
pub(crate) struct Timer {
    observers: Observers,
    start: Option<Instant>,
    tool: ToolEntry,
    error: Option<ToolErrorKind>,
}

impl Timer {
    /// Starts, if the registry has observers.
    pub(crate) fn start(observers: Option<&Observers>, tool: &ToolEntry) -> Option<Box<Timer>> {
        let observers = Arc::clone(observers?);
        Some(Box::new(Timer {
            observers,
            start: HAS_CLOCK.then(Instant::now),
            tool: tool.clone(),
            error: Some(ToolErrorKind::Cancelled),
        }))
    }

    pub(crate) fn finish(mut self, result: &ToolResult) {
        self.error = result.error().map(ToolError::kind);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let record = CallRecord {
            tool: &self.tool.name,
            error: self.error,
            duration: self.start.map_or(Duration::ZERO, |start| start.elapsed()),
        };
        each(Some(&self.observers), |one| one.call(&record));
    }
}
