//! Parts of a registry.

use super::{Registry, Snapshot};
use crate::tool::ToolEntry;

impl Registry {
    /// The names of the groups that its tools are in, sorted.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, dialect::Mcp, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .group("sums", tools![add])
    ///     .group("games", tools![roll_die])
    ///     .build()?;
    /// assert_eq!(registry.groups(), ["games", "sums"]);
    ///
    /// // A group is a registry: it can be listed, rendered and called.
    /// let games = registry.group("games");
    /// assert!(games.render(&Mcp::default()).as_str().contains("roll_die"));
    /// assert!(games.call_blocking(ToolCall::new("call_1", "add", r#"{"a":1,"b":2}"#)).is_error());
    ///
    /// registry.remove_group("games");
    /// assert_eq!(registry.len(), 1);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn groups(&self) -> Vec<String> {
        let tools = &self.0.current.load().tools;
        let groups = tools.iter().filter_map(ToolEntry::group);
        let mut groups: Vec<_> = groups.map(str::to_owned).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    }

    /// A registry of the tools that are in this group now.
    pub fn group(&self, name: &str) -> Registry {
        self.select(|tool| tool.group() == Some(name))
    }

    /// A registry of some tools of this one, with the same context, gates and limits. What is
    /// added to or removed from either of them later does not touch the other. Hosted tools stay
    /// behind.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Deletes everything.
    /// #[tool(destructive)]
    /// fn delete_all() {}
    ///
    /// let registry = Registry::builder().tools(tools![delete_all]).build()?;
    /// let harmless = registry.select(|tool| tool.annotations.destructive != Some(true));
    /// assert!(harmless.is_empty());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn select(&self, is_in: impl Fn(&ToolEntry) -> bool) -> Registry {
        let tools = &self.0.current.load().tools;
        let tools = tools.iter().filter(|tool| is_in(tool)).cloned().collect();
        let policy = self.0.policy.clone();
        // Some of what is a registry are one.
        let snapshot = Snapshot::new(tools, Vec::new(), &policy).unwrap_or_default();
        Registry::of(snapshot, policy)
    }

    /// Removes the tools of a group while the registry is in use, and gives them back.
    pub fn remove_group(&self, name: &str) -> Vec<ToolEntry> {
        self.remove_where(|tool| tool.group() == Some(name))
    }
}
