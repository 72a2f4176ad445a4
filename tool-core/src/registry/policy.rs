//! What an application decided for all calls of a registry.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::gate::{AfterHook, BeforeHook};
use crate::call::context::Values;
use crate::call::error::ToolError;
use crate::runtime::Runtime;
use crate::tool::ToolEntry;

/// Set once, by the builder.
#[derive(Clone, Default)]
pub(super) struct Policy {
    pub(super) is_lenient: bool,
    pub(super) context: Values,
    /// The types that every call brings itself.
    pub(super) per_call: Vec<TypeId>,
    pub(super) runtime: Option<Arc<dyn Runtime>>,
    /// Of tools that say nothing about it.
    pub(super) timeout: Option<Duration>,
    /// The most bytes of a result.
    pub(super) output_cap: Option<usize>,
    pub(super) before: Vec<BeforeHook>,
    pub(super) after: Vec<AfterHook>,
    pub(super) map_message: Option<Retell>,
    #[cfg(feature = "tokio")]
    pub(super) limit: Option<Arc<tokio::sync::Semaphore>>,
}

/// Another text for the model in the place of an error's own.
pub(super) type Retell = Arc<dyn Fn(&ToolError) -> Option<String> + Send + Sync>;

impl Policy {
    /// The runtime of a registry that was given none.
    pub(super) fn default_runtime() -> Option<Arc<dyn Runtime>> {
        #[cfg(feature = "tokio")]
        return Some(Arc::new(crate::runtime::Tokio));
        #[cfg(not(feature = "tokio"))]
        None
    }

    /// How long a tool may take.
    pub(super) fn limit_of(&self, tool: &ToolEntry) -> Option<Duration> {
        tool.timeout().or(self.timeout)
    }

    /// Whether a call is nothing but its tool: no gate, no limit, nothing to be done with its
    /// result.
    pub(super) fn is_plain(&self) -> bool {
        #[cfg(feature = "tokio")]
        let has_limit = self.limit.is_some();
        #[cfg(not(feature = "tokio"))]
        let has_limit = false;
        self.output_cap.is_none()
            && self.before.is_empty()
            && self.after.is_empty()
            && self.map_message.is_none()
            && !has_limit
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").finish_non_exhaustive()
    }
}
