//! [`Policy`]: the settings that apply to all calls of a registry.

use std::sync::Arc;
use std::time::Duration;

use super::read_result;
use crate::call::boundary::Guarded;
use crate::call::error::ToolError;
use crate::call::type_map::TypeMap;
use crate::hooks::observe::Observers;
use crate::hooks::{AfterHook, BeforeHook};
use crate::results::Spill;
use crate::runtime::{BoxFuture, NoRuntime, Runtime};
use crate::spec::Need;
use crate::telemetry::Settings;
use crate::tool::ToolEntry;

pub(super) type MapError = Arc<dyn Fn(&ToolError) -> Option<String> + Send + Sync>;

pub(super) type DeferRule = Arc<dyn Fn(&ToolEntry) -> bool + Send + Sync>;

/// The settings of a registry. Only its builder changes them.
#[derive(Clone, Default)]
pub(super) struct Policy {
    pub(super) is_lenient: bool,
    /// Set if context values and the runtime may be missing.
    pub(super) is_incomplete: bool,
    pub(super) context: TypeMap,
    /// The types of the context values attached to every call.
    pub(super) per_call: Vec<Need>,
    pub(super) runtime: Option<Arc<dyn Runtime>>,
    /// The timeout of tools without their own.
    pub(super) timeout: Option<Duration>,
    /// The maximum length of a result in bytes.
    pub(super) output_cap: Option<usize>,
    /// The maximum size of a result's media in bytes.
    pub(super) media_cap: Option<usize>,
    pub(super) before: Vec<BeforeHook>,
    pub(super) after: Vec<AfterHook>,
    pub(super) map_error: Option<MapError>,
    pub(super) telemetry: Settings,
    pub(super) observers: Option<Observers>,
    /// The rules that defer tools.
    pub(super) defer: Vec<DeferRule>,
    pub(super) group_descriptions: Vec<(String, Arc<str>)>,
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

    /// Returns the tools that a registry with these settings has besides those of the application.
    pub(super) fn own_tools(&self) -> Option<ToolEntry> {
        let spill = self.context.get::<Spill>();
        spill.map(|_| read_result::entry())
    }

    /// Returns `true` if a call only runs its tool: no hooks, no limits, no changes to the result.
    pub(super) fn is_plain(&self) -> bool {
        #[cfg(feature = "tokio")]
        let is_limited = self.semaphore.is_some();
        #[cfg(not(feature = "tokio"))]
        let is_limited = false;
        self.output_cap.is_none()
            && self.media_cap.is_none()
            && self.before.is_empty()
            && self.after.is_empty()
            && self.map_error.is_none()
            && self.observers.is_none()
            && !is_limited
    }
}

impl<R: Runtime> Runtime for Guarded<R> {
    fn sleep(&self, duration: Duration) -> Result<BoxFuture<()>, NoRuntime> {
        (**self).sleep(duration)
    }

    fn spawn_blocking(&self, job: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
        (**self).spawn_blocking(job)
    }
}
