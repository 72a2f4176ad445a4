//! The linked tools for whoever only looks at them.

use std::sync::Arc;
use std::time::Duration;

use crate::registry::{LINKED, Policy, Registry, RegistryError, Snapshot};
use crate::runtime::{BoxFuture, NoRuntime, Runtime};
use crate::tool::ToolEntry;

impl Registry {
    /// Every tool that is linked, whether or not what it borrows is there: none will be called.
    pub(crate) fn linked_at_a_glance() -> Result<Registry, RegistryError> {
        let tools: Vec<_> = LINKED
            .iter()
            .map(|tool| ToolEntry::from_static(tool))
            .collect();
        let needs = tools.iter().flat_map(ToolEntry::needs);
        let policy = Policy {
            per_call: needs.map(|need| need.id()).collect(),
            runtime: Some(Arc::new(Nowhere)),
            ..Policy::default()
        };
        let snapshot = Snapshot::new(tools, Vec::new(), &policy)?;
        Ok(Registry::of(snapshot, policy))
    }
}

/// A runtime that does not run.
struct Nowhere;

impl Runtime for Nowhere {
    fn sleep(&self, _: Duration) -> Result<BoxFuture<()>, NoRuntime> {
        Err(NoRuntime)
    }

    fn spawn_blocking(&self, _: Box<dyn FnOnce() + Send>) -> Result<BoxFuture<()>, NoRuntime> {
        Err(NoRuntime)
    }
}
