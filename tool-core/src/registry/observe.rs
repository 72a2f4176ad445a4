//! [`CallRecord`]: what the observers of a registry see of each call.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::call::ToolResult;
use crate::call::boundary::catch;
use crate::call::error::{ToolError, ToolErrorKind};
use crate::runtime::HAS_CLOCK;
use crate::tool::ToolEntry;

/// The functions that see each call.
pub(super) type Observers = Arc<Vec<Observer>>;

pub(super) type Observer = Arc<dyn Fn(&CallRecord<'_>) + Send + Sync>;

/// A call that has ended; see [`RegistryBuilder::observe`](crate::RegistryBuilder::observe).
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

/// Measures a call. If it is dropped early, the call counts as cancelled.
pub(super) struct Timer {
    observers: Observers,
    start: Option<Instant>,
    tool: ToolEntry,
    error: Option<ToolErrorKind>,
}

impl Timer {
    /// Starts, if the registry has observers.
    pub(super) fn start(observers: Option<&Observers>, tool: &ToolEntry) -> Option<Box<Timer>> {
        let observers = Arc::clone(observers?);
        Some(Box::new(Timer {
            observers,
            start: HAS_CLOCK.then(Instant::now),
            tool: tool.clone(),
            error: Some(ToolErrorKind::Cancelled),
        }))
    }

    pub(super) fn finish(mut self, result: &ToolResult) {
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
        for observer in self.observers.iter() {
            // The result stays, whatever the application's code does.
            let _ = catch(|| observer(&record));
        }
    }
}
