//! Changes the tools of a registry, and tells its listeners.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use super::listeners::{ChangeListener, RegistryChange};
use super::snapshot::Snapshot;
use super::{Inner, Registry, RegistryError};
use crate::call::boundary::Guarded;
use crate::provider::hosted_tool::HostedTool;
use crate::tool::ToolEntry;

/// Changes the tools.
impl Registry {
    /// Removes a tool and returns it, if the registry has it.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// assert_eq!(registry.remove("roll_die")?.unwrap().name, "roll_die");
    /// assert!(registry.remove("roll_die")?.is_none());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the registry is a [selection](Registry::select).
    pub fn remove(&self, name: &str) -> Result<Option<ToolEntry>, RegistryError> {
        let named = |current: &Snapshot| current.get(name).cloned();
        let mut removed = self.change(|current| named(current).into_iter().collect(), &[])?;
        Ok(removed.pop())
    }

    /// Removes tools and adds others, in one step: no call and no listing sees a state in between.
    /// Ignores tools to remove that the registry does not have. A tool that was renamed, because another
    /// one had its name, is still the same tool.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// /// Tosses a coin.
    /// #[tool]
    /// fn toss_coin() -> bool {
    ///     true
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// registry.exchange(&tools![roll_die], tools![toss_coin])?;
    /// assert!(registry.get("roll_die").is_none());
    /// assert!(registry.get("toss_coin").is_some());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a name is taken, if a tool needs something that the registry does not have, or if
    /// the registry is a [selection](Registry::select). The registry is unchanged in that case.
    pub fn exchange(
        &self,
        removed: &[ToolEntry],
        added: impl IntoIterator<Item = ToolEntry>,
    ) -> Result<(), RegistryError> {
        let added: Vec<_> = added.into_iter().collect();
        let is_removed = |tool: &ToolEntry| removed.iter().any(|other| other.has_body_of(tool));
        self.change(|current| current.tools_where(is_removed), &added)?;
        Ok(())
    }

    /// Removes the tools of a group and returns them.
    ///
    /// # Errors
    ///
    /// Returns an error if the registry is a [selection](Registry::select).
    pub fn remove_group(&self, name: &str) -> Result<Vec<ToolEntry>, RegistryError> {
        self.change(
            |current| current.tools_where(|tool| tool.group() == Some(name)),
            &[],
        )
    }

    /// Adds a hosted tool, unless the registry has it already.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::HostedTool;
    /// use tool_dialects::Anthropic;
    /// use tool_core::Registry;
    ///
    /// let registry = Registry::new();
    /// let search = HostedTool::new(json!({"type": "web_search_20250305", "name": "web_search"}));
    /// registry.add_hosted(search.clone());
    /// assert!(registry.render(&Anthropic::default()).as_str().contains("web_search"));
    /// assert!(registry.remove_hosted(&search));
    /// assert_eq!(registry.render(&Anthropic::default()).as_str(), "[]");
    /// ```
    pub fn add_hosted(&self, tool: HostedTool) {
        self.change_hosted(|hosted| {
            if !hosted.contains(&tool) {
                hosted.push(tool);
            }
        });
    }

    /// Removes a hosted tool. Returns `true` if the registry had it.
    pub fn remove_hosted(&self, tool: &HostedTool) -> bool {
        self.change_hosted(|hosted| {
            let len_before = hosted.len();
            hosted.retain(|other| other != tool);
            hosted.len() < len_before
        })
    }

    /// Calls a closure whenever tools are added, replaced or removed, until the returned value is
    /// dropped. Servers use it to notify their clients, such as with MCP's
    /// `notifications/tools/list_changed`.
    ///
    /// The closure sees each change once, in order, after it was made. It runs on the thread of the
    /// change, or on one that is already calling listeners, and should return quickly. It may change
    /// the registry: the listeners see that change next. Use the registry that is passed to it; a
    /// closure that owns a clone keeps the registry alive. Panics are caught and discarded. Hosted
    /// tools are not included.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::new();
    /// let names = Arc::new(Mutex::new(Vec::new()));
    /// let seen = names.clone();
    /// let listener = registry.on_change(move |_, change| {
    ///     seen.lock().unwrap().extend(change.added.iter().map(|tool| tool.name.clone()));
    /// });
    /// registry.add(tools![roll_die])?;
    /// assert_eq!(*names.lock().unwrap(), ["roll_die"]);
    ///
    /// drop(listener);
    /// registry.remove("roll_die")?;
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn on_change(
        &self,
        listener: impl Fn(&Registry, &RegistryChange) + Send + Sync + 'static,
    ) -> ChangeListener {
        let listener = Guarded::new(listener);
        let listeners = self.0.listeners.get_or_init(Arc::default);
        // Earlier changes are none of its, and later ones are compared with these tools.
        self.0.refresh();
        let key = listeners.add(Arc::new(move |registry, change| listener(registry, change)));
        // A change that another thread has made meanwhile.
        self.0.refresh();
        listeners.deliver(self);
        let listeners = Arc::downgrade(listeners);
        ChangeListener::new(move || {
            if let Some(listeners) = listeners.upgrade() {
                listeners.remove(key);
            }
        })
    }

    /// Replaces the hosted tools of the snapshot.
    fn change_hosted<T>(&self, change: impl FnOnce(&mut Vec<HostedTool>) -> T) -> T {
        let _guard = self.0.lock();
        let current = self.0.current.load();
        let mut snapshot = Snapshot::clone(&current);
        let value = change(&mut snapshot.hosted);
        self.0.store(&current, snapshot);
        value
    }

    /// Removes tools of the snapshot and adds others, unless the new tools are invalid or this is a selection.
    /// Returns the removed tools. The caller keeps those to add, so that rejected ones are dropped outside the lock:
    /// dropping a tool may run code that changes this registry.
    pub(super) fn change(
        &self,
        removed: impl FnOnce(&Snapshot) -> Vec<ToolEntry>,
        added: &[ToolEntry],
    ) -> Result<Vec<ToolEntry>, RegistryError> {
        if self.0.selection.is_some() {
            return Err(RegistryError::of_selection());
        }
        let guard = self.0.lock();
        let current = self.0.current.load();
        let removed = removed(&current);
        let snapshot = current.changed(&removed, added, &self.0.policy)?;
        self.0.store(&current, snapshot);
        // Dropping a tool may run code that changes this registry.
        drop(guard);
        drop(current);
        self.tell();
        Ok(removed)
    }

    /// Tells the listeners of the selections and of this registry that tools have changed.
    fn tell(&self) {
        for selection in self.0.selections() {
            if selection.has_listeners() {
                selection.refresh();
                Registry(selection).tell();
            }
        }
        if let Some(listeners) = self.0.listeners.get() {
            listeners.deliver(self);
        }
    }
}

type WriteGuard<'a> = MutexGuard<'a, Vec<Weak<Inner>>>;

impl Inner {
    /// Replaces the current snapshot and queues the change for listeners, while the registry is locked.
    pub(super) fn store(&self, current: &Snapshot, snapshot: Snapshot) {
        if let Some(listeners) = self.listeners.get() {
            listeners.queue(current, &snapshot);
        }
        self.current.store(Arc::new(snapshot));
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Returns the selections of this registry. Dropping one may run code that changes the registry, so it is not locked.
    fn selections(&self) -> Vec<Arc<Inner>> {
        self.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns `true` if this registry or a selection of it has listeners.
    fn has_listeners(&self) -> bool {
        let listeners = self.listeners.get();
        if listeners.is_some_and(|listeners| !listeners.is_empty()) {
            return true;
        }
        let selections = self.selections();
        selections.iter().any(|selection| selection.has_listeners())
    }

    /// Locks the snapshot and the selections against changes.
    pub(super) fn lock(&self) -> WriteGuard<'_> {
        let lock = self.write_lock.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }
}
