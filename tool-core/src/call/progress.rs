//! [`Progress`]: the progress of a call.

use std::fmt;
use std::sync::Arc;

use crate::call::boundary::Guarded;

/// The progress of a call, as in MCP's `notifications/progress`.
///
/// ```
/// use tool_core::call::Progress;
///
/// let progress = Progress::of(3.0, 10.0).message("three pages read");
/// assert_eq!(progress.total, Some(10.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The amount of work done, in any unit. It should increase with every report.
    pub done: f64,
    /// The total amount of work, if known.
    pub total: Option<f64>,
    /// A human-readable message.
    pub message: Option<String>,
}

impl Progress {
    /// Creates a report with an unknown total.
    pub fn new(done: f64) -> Progress {
        Progress {
            done,
            ..Progress::default()
        }
    }

    /// Creates a report with a known total.
    pub fn of(done: f64, total: f64) -> Progress {
        Progress {
            total: Some(total),
            ..Progress::new(done)
        }
    }

    /// Sets a human-readable message.
    pub fn message(mut self, message: impl Into<String>) -> Progress {
        self.message = Some(message.into());
        self
    }
}

/// The closure that receives progress reports.
#[derive(Clone)]
pub(crate) struct ProgressSink(Arc<dyn Fn(&Progress) + Send + Sync>);

impl ProgressSink {
    pub(crate) fn new(callback: impl Fn(&Progress) + Send + Sync + 'static) -> ProgressSink {
        let callback = Guarded::new(callback);
        ProgressSink(Arc::new(move |progress| callback(progress)))
    }

    pub(crate) fn send(&self, progress: &Progress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}
