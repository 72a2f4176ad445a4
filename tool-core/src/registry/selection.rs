//! [`Registry::select`](super::Registry::select): registries whose tools follow another one.

use std::sync::{Arc, PoisonError};

use super::snapshot::Snapshot;
use super::{Inner, Registry};
use crate::call::boundary::{Guarded, catch};
use crate::provider::hosted_tool::HostedTool;
use crate::tool::ToolEntry;

/// The registry that a selection follows, and which of its tools the selection has.
pub(super) struct Selection {
    /// Owned, because a selection of a selection is told of changes through the one in between.
    source: Registry,
    is_selected: Box<dyn Fn(&ToolEntry) -> bool + Send + Sync>,
}

impl Registry {
    /// Returns a live registry of some of the tools.
    pub(super) fn selection(
        &self,
        is_selected: impl Fn(&ToolEntry) -> bool + Send + Sync + 'static,
        hosted: Vec<HostedTool>,
    ) -> Registry {
        let is_selected = Guarded::new(is_selected);
        let snapshot = Snapshot::of_valid(Vec::new(), hosted);
        let selection = Selection {
            source: self.clone(),
            is_selected: Box::new(move |tool| is_selected(tool)),
        };
        let selected = Registry(Arc::new(Inner {
            selection: Some(selection),
            ..Inner::new(snapshot, self.0.policy.clone())
        }));
        let mut selections = self.0.lock();
        // Only when the vector would grow, so that many short selections cost little.
        if selections.len() == selections.capacity() {
            selections.retain(|selection| selection.strong_count() > 0);
        }
        selections.push(Arc::downgrade(&selected.0));
        drop(selections);
        // After it was added, so that it misses no change.
        selected.follow();
        selected
    }

    /// Takes over the tools of the registry that a selection follows.
    pub(super) fn follow(&self) {
        let Some(Selection {
            source,
            is_selected,
        }) = &self.0.selection
        else {
            return;
        };
        loop {
            let all = source.0.current.load_full();
            // Outside the lock, because the closure may run any code.
            let tools = all.tools().iter();
            let tools = tools.filter(|tool| catch(|| is_selected(tool)).unwrap_or(false));
            let tools: Vec<_> = tools.cloned().collect();
            let guard = self.0.lock();
            if !Arc::ptr_eq(&all, &source.0.current.load()) {
                // Another thread has changed the tools meanwhile.
                continue;
            }
            let current = self.0.current.load();
            let snapshot = Snapshot::of_valid(tools, current.hosted.clone());
            self.publish(guard, current, snapshot);
            return;
        }
    }
}

impl Inner {
    /// Locks the snapshot and the selections against changes.
    pub(super) fn lock(&self) -> super::WriteGuard<'_> {
        let lock = self.write_lock.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}
