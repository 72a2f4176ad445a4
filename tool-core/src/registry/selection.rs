//! [`Registry::select`](super::Registry::select): registries whose tools follow another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::read_result::is_read_result;
use super::snapshot::Snapshot;
use super::{Inner, Registry, Selection};
use crate::call::boundary::{Guarded, catch};
use crate::provider::hosted_tool::HostedTool;
use crate::tool::ToolEntry;

/// Selects tools.
impl Registry {
    /// Returns a registry of the tools in this group; see [`select`](Registry::select).
    /// Hosted tools have no group and are not included.
    pub fn group(&self, name: &str) -> Registry {
        let name = name.to_owned();
        self.selection(move |tool| tool.group() == Some(&name), Vec::new())
    }

    /// Returns a registry of some of the tools, with the same context values, hooks and limits.
    ///
    /// The selection is live: calls, listings and [listeners](Registry::on_change) of the selection see each change. The
    /// closure is asked about all tools with the first listing after a change, and about one tool for a call. Tools are
    /// added, replaced and removed in the registry that the selection was made of, and doing so in the selection is an
    /// error. The closure must neither change the registry nor read the selection. A tool for which it panics is not
    /// selected.
    ///
    /// The selection starts with all [hosted tools](HostedTool), and later changes of those do not affect the other
    /// registry.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Deletes everything.
    /// #[tool(destructive)]
    /// fn delete_all() {}
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![delete_all]).build()?;
    /// let harmless = registry.select(|tool| tool.annotations.destructive != Some(true));
    /// assert!(harmless.is_empty());
    ///
    /// registry.add(tools![roll_die])?;
    /// assert!(harmless.get("roll_die").is_some());
    /// assert!(harmless.remove("roll_die").is_err());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn select(
        &self,
        is_selected: impl Fn(&ToolEntry) -> bool + Send + Sync + 'static,
    ) -> Registry {
        self.selection(is_selected, self.hosted())
    }

    /// Returns a registry of the tools that have at least one of these [tags](crate::ToolSpec::tags);
    /// see [`select`](Registry::select). Hosted tools have no tags and are not included.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Bans a user.
    /// #[tool(tags = ["admin"])]
    /// fn ban(user: &str) {
    ///     # let _ = user;
    /// }
    ///
    /// /// Lists the users.
    /// #[tool(tags = ["admin", "support"])]
    /// fn list_users() {}
    ///
    /// /// Opens a ticket.
    /// #[tool(tags = ["support"])]
    /// fn open_ticket() {}
    ///
    /// let registry = Registry::builder().tools(tools![ban, list_users, open_ticket]).build()?;
    /// assert_eq!(registry.select_tags(["support"]).len(), 2);
    /// assert_eq!(registry.select_tags(["admin", "support"]).len(), 3);
    /// // Tools with both tags.
    /// assert_eq!(registry.select_tags(["admin"]).select_tags(["support"]).len(), 1);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn select_tags<'t>(&self, tags: impl IntoIterator<Item = &'t str>) -> Registry {
        let tags: Vec<_> = tags.into_iter().map(str::to_owned).collect();
        let is_tagged =
            move |tool: &ToolEntry| tool.tags().any(|tag| tags.iter().any(|t| t == tag));
        self.selection(is_tagged, Vec::new())
    }

    /// Returns a registry of the same tools without the [hosted tools](HostedTool); see
    /// [`select`](Registry::select).
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::HostedTool;
    /// use tool_core::Registry;
    ///
    /// let registry = Registry::new();
    /// registry.add_hosted(HostedTool::new(json!({"type": "web_search"})));
    /// let offline = registry.without_hosted();
    /// assert!(offline.hosted().is_empty());
    /// assert_eq!(registry.hosted().len(), 1);
    /// ```
    pub fn without_hosted(&self) -> Registry {
        self.selection(|_| true, Vec::new())
    }

    /// Returns a live registry of some of the tools.
    fn selection(
        &self,
        is_selected: impl Fn(&ToolEntry) -> bool + Send + Sync + 'static,
        hosted: Vec<HostedTool>,
    ) -> Registry {
        let is_selected = Guarded::new(is_selected);
        let snapshot = Snapshot::of_valid(Vec::new(), hosted);
        let selection = Selection {
            source: self.clone(),
            is_selected: Box::new(move |tool| is_selected(tool)),
            followed: AtomicU64::new(0),
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
        selected
    }
}

impl Selection {
    /// Asks the closure of the application. What reads the results of a tool goes with it.
    fn has(&self, tool: &ToolEntry) -> bool {
        is_read_result(tool) || catch(|| (self.is_selected)(tool)).unwrap_or(false)
    }

    /// Returns `true` if the selection has the last change of its source.
    fn is_current(&self) -> bool {
        let is_current = |selection: &Selection| selection.is_current();
        self.source.0.selection.as_ref().is_none_or(is_current)
            && self.followed.load(Ordering::Acquire)
                == self.source.0.revision.load(Ordering::Acquire)
    }
}

impl Inner {
    /// Returns the tools. Those of a selection are selected now, if its source has changed since.
    #[inline]
    pub(super) fn snapshot(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        if self.selection.is_some() {
            self.refresh();
        }
        self.current.load()
    }

    /// Selects the tools again, if this is a selection whose source has changed.
    pub(super) fn refresh(&self) {
        let Some(selection) = &self.selection else {
            return;
        };
        let source = &selection.source.0;
        loop {
            source.refresh();
            // Before the tools, which may be newer then, but never older.
            let revision = source.revision.load(Ordering::Acquire);
            if selection.followed.load(Ordering::Acquire) == revision {
                return;
            }
            let all = source.current.load_full();
            // Outside the lock, because the closure may run any code.
            let tools = all.tools().iter().filter(|tool| selection.has(tool));
            let tools: Vec<_> = tools.cloned().collect();
            let guard = self.lock();
            if selection.followed.load(Ordering::Acquire) >= revision {
                // Another thread was faster.
                continue;
            }
            let current = self.current.load();
            let snapshot = Snapshot::of_valid(tools, current.hosted.clone()).after(&current);
            self.store(&current, snapshot);
            selection.followed.store(revision, Ordering::Release);
            // Dropping a tool may run code that changes the registry.
            drop(guard);
            drop(current);
        }
    }

    /// Finds a tool of a selection that is not up to date, and asks about it alone: a selection may be made for one call.
    pub(super) fn selected(&self, name: &str) -> Option<ToolEntry> {
        let selection = self.selection.as_ref()?;
        if selection.is_current() {
            return None;
        }
        let source = &selection.source.0;
        let found = source.selected(name);
        let tool = found.or_else(|| source.snapshot().get(name).cloned())?;
        selection.has(&tool).then_some(tool)
    }
}
