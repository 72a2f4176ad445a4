//! How far a call is.

use std::fmt;
use std::sync::Arc;

/// How far a call is, in the way of MCP's `notifications/progress`.
///
/// ```
/// use tool_core::Progress;
///
/// let progress = Progress::of(3.0, 10.0).message("three pages read");
/// assert_eq!(progress.total, Some(10.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done, in a unit of the tool's choice. It should grow with every report.
    pub done: f64,
    /// How much there is to do, if that is known.
    pub total: Option<f64>,
    /// Words for people.
    pub message: Option<String>,
}

impl Progress {
    /// So much is done, of who knows how much.
    pub fn new(done: f64) -> Progress {
        Progress {
            done,
            ..Progress::default()
        }
    }

    /// So much is done of so much.
    pub fn of(done: f64, total: f64) -> Progress {
        Progress {
            total: Some(total),
            ..Progress::new(done)
        }
    }

    /// With words for people.
    pub fn message(mut self, message: impl Into<String>) -> Progress {
        self.message = Some(message.into());
        self
    }
}

/// Who wants to know.
#[derive(Clone)]
pub(crate) struct ProgressSink(Arc<dyn Fn(&Progress) + Send + Sync>);

impl ProgressSink {
    pub(crate) fn new(tell: impl Fn(&Progress) + Send + Sync + 'static) -> ProgressSink {
        ProgressSink(Arc::new(tell))
    }

    pub(crate) fn tell(&self, progress: &Progress) {
        (self.0)(progress);
    }
}

impl fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProgressSink")
    }
}
