//! [`Policy`]: the settings that apply to all calls of a registry.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::hooks::{AfterHook, BeforeHook};
use crate::call::context::{Need, TypeMap};
use crate::call::error::ToolError;
use crate::runtime::Runtime;
use crate::tool::ToolEntry;

pub(super) type MapError = Arc<dyn Fn(&ToolError) -> Option<String> + Send + Sync>;

/// Permission to run a tool, if the registry limits concurrency.
#[cfg(feature = "tokio")]
pub(super) type Permit = Option<tokio::sync::OwnedSemaphorePermit>;
#[cfg(not(feature = "tokio"))]
pub(super) type Permit = Option<std::convert::Infallible>;

/// The settings of a registry. Only its builder changes them.
#[derive(Clone, Default)]
pub(super) struct Policy {
    pub(super) is_lenient: bool,
    pub(super) context: TypeMap,
    /// The types of the context values attached to every call.
    pub(super) per_call: Vec<Need>,
    pub(super) runtime: Option<Arc<dyn Runtime>>,
    /// The timeout of tools without their own.
    pub(super) timeout: Option<Duration>,
    /// The maximum length of a result in bytes.
    pub(super) output_cap: Option<usize>,
    pub(super) before: Vec<BeforeHook>,
    pub(super) after: Vec<AfterHook>,
    pub(super) map_error: Option<MapError>,
    /// Limits concurrently running tools.
    #[cfg(feature = "tokio")]
    pub(super) semaphore: Option<Arc<tokio::sync::Semaphore>>,
}

impl Policy {
    /// Returns the runtime of a registry whose builder sets none.
    pub(super) fn default_runtime() -> Option<Arc<dyn Runtime>> {
        #[cfg(feature = "tokio")]
        return Some(Arc::new(crate::runtime::Tokio));
        #[cfg(not(feature = "tokio"))]
        None
    }

    pub(super) fn timeout_of(&self, tool: &ToolEntry) -> Option<Duration> {
        tool.timeout().or(self.timeout)
    }

    /// Waits until another tool may run.
    #[cfg_attr(not(feature = "tokio"), allow(clippy::unused_async))]
    pub(super) async fn acquire(&self) -> Permit {
        #[cfg(feature = "tokio")]
        if let Some(semaphore) = &self.semaphore {
            // It is never closed.
            return Arc::clone(semaphore).acquire_owned().await.ok();
        }
        None
    }

    /// Returns `true` if a call only runs its tool: no hooks, no limits, no changes to the result.
    pub(super) fn is_plain(&self) -> bool {
        #[cfg(feature = "tokio")]
        let is_limited = self.semaphore.is_some();
        #[cfg(not(feature = "tokio"))]
        let is_limited = false;
        self.output_cap.is_none()
            && self.before.is_empty()
            && self.after.is_empty()
            && self.map_error.is_none()
            && !is_limited
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").finish_non_exhaustive()
    }
}
