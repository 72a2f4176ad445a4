//! [`Registry::select`](super::Registry::select): registries whose tools follow another one.

use std::sync::Arc;

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
    /// The selection is live: the closure is asked again whenever tools change, and calls, listings and
    /// [listeners](Registry::on_change) of the selection see the change. Tools are added, replaced and removed in
    /// the registry it was made of, and doing so in the selection is an error. The closure must not change the
    /// registry. A tool for which it panics is not selected.
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
