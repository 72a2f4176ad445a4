//! [`Registry`]: looks up, lists, renders and calls tools.

mod arguments;
mod background;
pub(crate) mod builder;
mod decision_policy;
mod deferred;
mod dispatch;
pub(crate) mod error;
pub mod hooks;
pub(crate) mod linked;
mod listeners;
mod name_hash;
mod nesting;
mod observe;
mod permit;
mod policy;
mod request;
mod search;
mod selection;
#[cfg(feature = "tower")]
mod service;
mod snapshot;
mod table;

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use arc_swap::ArcSwap;

use self::dispatch::CallPath;
use self::listeners::Listeners;
use self::policy::Policy;
use self::selection::Selection;
use self::snapshot::Snapshot;
use crate::call::approval;
use crate::call::boundary::Guarded;
use crate::call::context::{CallContext, Host, Need, TypeMap};
use crate::call::error::ToolError;
use crate::call::{Secrets, ToolCall, ToolResult};
use crate::provider::dialect::{
    Deferral, Dialect, Rendered, RequestError, RequestOptions, ToolRequest, Turn,
};
use crate::provider::hosted_tool::HostedTool;
use crate::runtime::{BoxFuture, Runtime, join_all};
use crate::telemetry;
use crate::tool::{IntoTools, ToolEntry};

pub use arguments::ArgumentsReader;
pub use background::WAIT_FOR_RESULTS;
pub(crate) use builder::RegistryBuilder;
pub use error::MissingTools;
pub(crate) use error::RegistryError;
pub use listeners::{ChangeListener, RegistryChange};
pub use request::RequestBuilder;

/// A set of tools with unique names.
///
/// Clones are cheap and share their tools. Tools can be added, replaced and removed at any time,
/// without blocking calls: a running call keeps the tool it started with, and every listing is a
/// consistent snapshot.
///
/// ```
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let result = registry.call_blocking(ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#));
/// assert_eq!(result.content(), "5");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    current: ArcSwap<Snapshot>,
    /// Held while the snapshot is replaced, never by readers. Has the [selections](Registry::select) of this
    /// registry, which follow its changes.
    write_lock: Mutex<Vec<Weak<Inner>>>,
    /// What this registry selects, if it is a selection.
    selection: Option<Selection>,
    /// Created with the first listener.
    listeners: OnceLock<Box<Listeners>>,
    policy: Policy,
    /// The result of [`Policy::is_plain`].
    is_plain: bool,
}

type WriteGuard<'a> = MutexGuard<'a, Vec<Weak<Inner>>>;

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Creates a registry of every `#[tool]` linked into this program, except those marked
    /// `unlinked`.
    ///
    /// Tools in a crate that you never reference are silently absent. Reference the crate
    /// (`use weather_tools as _;`), and check the result with [`Registry::expect`] or with
    /// [`assert_linked`](crate::testing::assert_linked) in a test.
    ///
    /// ```
    /// use tool_core::{Registry, tool};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::linked()?;
    /// assert!(registry.get("roll_die").is_some());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if two tools have the same name, if a tool needs a context value or a
    /// runtime (set them on a [builder](RegistryBuilder::linked)), or if the tools together exceed a
    /// limit of a [target](crate::rules::Target) of this build.
    pub fn linked() -> Result<Registry, RegistryError> {
        Registry::builder().linked().build()
    }

    /// Creates a builder, to choose the tools and settings of a registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// Returns the registry if it has all of these tools.
    ///
    /// ```
    /// use tool_core::Registry;
    ///
    /// let error = Registry::new().expect(["get_forecast"]).unwrap_err();
    /// assert!(error.to_string().contains("get_forecast"));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error that lists the missing tools.
    pub fn expect<'n>(
        self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Registry, MissingTools> {
        let snapshot = self.0.current.load();
        let missing: Vec<_> = names
            .into_iter()
            .filter(|name| snapshot.get(name).is_none())
            .map(str::to_owned)
            .collect();
        if missing.is_empty() {
            Ok(self)
        } else {
            Err(MissingTools { missing })
        }
    }

    /// Returns the tools, sorted by name.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// for tool in registry.specs() {
    ///     println!("{}: {}", tool.name, tool.description);
    /// }
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn specs(&self) -> Vec<ToolEntry> {
        self.0.current.load().tools().to_vec()
    }

    /// Returns the tool with this name.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// assert_eq!(registry.get("add").unwrap().description, "Adds two numbers.");
    /// assert!(registry.get("subtract").is_none());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn get(&self, name: &str) -> Option<ToolEntry> {
        self.0.current.load().get(name).cloned()
    }

    /// Returns the context values that each call has to bring by [`ToolCall::with`], because the registry has none of their
    /// type: the name of the tool that needs one, and the path of the type.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// struct Rates(f64);
    /// struct User(String);
    ///
    /// /// Returns a price for a user.
    /// #[tool]
    /// fn quote(#[param(context)] rates: &Rates, #[param(context)] user: &User) -> String {
    ///     format!("{} for {}", rates.0, user.0)
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![quote])
    ///     .context(Rates(0.9))
    ///     .context_per_call::<User>()
    ///     .build()?;
    /// let missing = registry.contexts_per_call();
    /// assert_eq!(missing.len(), 1);
    /// assert_eq!(missing[0].0, "quote");
    /// assert!(missing[0].1.ends_with("User"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn contexts_per_call(&self) -> Vec<(String, &'static str)> {
        let context = &self.0.policy.context;
        let of_call =
            |need: &&Need| need.id() != TypeId::of::<CallContext>() && !context.contains(need.id());
        let tools = self.specs();
        let needs = tools.iter().flat_map(|tool| {
            let needs = tool.needs().iter().filter(of_call);
            needs.map(|need| (tool.name.to_string(), need.name()))
        });
        needs.collect()
    }

    /// Returns the registry that runs a call, so that a tool can add others to it. A registry that owns itself
    /// is never dropped: don't keep it in the tool.
    ///
    /// ```
    /// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// /// Adds the tools for games.
    /// #[tool]
    /// fn play(call: &CallContext) -> Result<(), tool_core::RegistryError> {
    ///     Registry::of(call).add(tools![roll_die])
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![play]).build()?;
    /// registry.call_blocking(ToolCall::new("call_1", "play", ""));
    /// assert!(registry.get("roll_die").is_some());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn of(call: &CallContext) -> Registry {
        let registry = call.registry().downcast::<Registry>();
        *registry.expect("only registries run calls")
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.0.current.load().len()
    }

    /// Returns `true` if there are no tools.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the registry has [`before` hooks](RegistryBuilder::before), which may hold calls.
    pub fn has_before_hooks(&self) -> bool {
        !self.0.policy.before.is_empty()
    }

    /// Adds tools: one, or as listed by [`tools!`](crate::tools).
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
    /// let registry = Registry::new();
    /// registry.add(tools![roll_die])?;
    /// assert_eq!(registry.len(), 1);
    /// // A second tool of that name is an error, which changes nothing.
    /// assert!(registry.add(tools![roll_die]).is_err());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a name is taken, if a tool needs something that the registry does not have, or if
    /// the registry is a [selection](Registry::select). No tool is added in that case.
    pub fn add<Kind>(&self, tools: impl IntoTools<Kind>) -> Result<(), RegistryError> {
        let tools: Vec<_> = tools.into_tools().collect();
        self.change(|_| Vec::new(), &tools)?;
        Ok(())
    }

    /// Adds a tool, atomically replacing the one with the same name, which is returned.
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
    /// let registry = Registry::new();
    /// let [tool] = tools![roll_die];
    /// assert!(registry.replace(tool.clone())?.is_none());
    /// assert!(registry.replace(tool)?.is_some());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the tool needs something that the registry does not have, or if the registry is a
    /// [selection](Registry::select). The registry is unchanged in that case.
    pub fn replace(&self, tool: impl Into<ToolEntry>) -> Result<Option<ToolEntry>, RegistryError> {
        let tool = tool.into();
        let old = |current: &Snapshot| current.get_by_source(tool.source_name()).cloned();
        let mut removed = self.change(
            |current| old(current).into_iter().collect(),
            std::slice::from_ref(&tool),
        )?;
        Ok(removed.pop())
    }

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

    /// Removes tools of the snapshot and adds others, unless the new tools are invalid or this is a selection.
    /// Returns the removed tools. The caller keeps those to add, so that rejected ones are dropped outside the lock:
    /// dropping a tool may run code that changes this registry.
    fn change(
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
        self.publish(guard, current, snapshot);
        Ok(removed)
    }

    /// Replaces the snapshot, then tells selections and listeners.
    fn publish(
        &self,
        guard: WriteGuard<'_>,
        current: arc_swap::Guard<Arc<Snapshot>>,
        snapshot: Snapshot,
    ) {
        let listeners = self.0.listeners.get();
        if let Some(listeners) = listeners {
            listeners.queue(&current, &snapshot);
        }
        self.0.current.store(Arc::new(snapshot));
        let selections: Vec<_> = guard.iter().filter_map(Weak::upgrade).collect();
        // Dropping a tool may run code that changes this registry.
        drop(guard);
        drop(current);
        for selection in selections {
            Registry(selection).follow();
        }
        if let Some(listeners) = listeners {
            listeners.deliver(self);
        }
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
        let listeners = self.0.listeners.get_or_init(Box::default);
        let key = listeners.add(Arc::new(move |registry, change| listener(registry, change)));
        ChangeListener::new(&self.0, key)
    }

    /// Returns the names of all groups, sorted.
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
    /// // A group is a registry, which can be listed, rendered and called.
    /// let games = registry.group("games");
    /// assert!(games.render(&Mcp::default()).as_str().contains("roll_die"));
    /// assert!(games.call_blocking(ToolCall::new("call_1", "add", r#"{"a":1,"b":2}"#)).is_error());
    ///
    /// registry.remove_group("games")?;
    /// // The group follows the registry.
    /// assert!(games.is_empty());
    /// assert_eq!(registry.len(), 1);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn groups(&self) -> Vec<String> {
        let current = self.0.current.load();
        let groups: BTreeSet<_> = current
            .tools()
            .iter()
            .filter_map(ToolEntry::group)
            .collect();
        groups.into_iter().map(str::to_owned).collect()
    }

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

    /// Creates a registry of other tools, with the same context values, hooks and limits. Its tools change
    /// independently, and those of the two are unknown to each other.
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool(unlinked)]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().before(async |_| Gate::deny("the shop is closed")).build()?;
    /// let games = registry.with_other_tools(tools![roll_die])?;
    /// assert!(games.call_blocking(ToolCall::new("call_1", "roll_die", "")).is_error());
    /// assert!(registry.is_empty());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the tools are not valid together, or need a context value that is missing.
    pub fn with_other_tools<Kind>(
        &self,
        tools: impl IntoTools<Kind>,
    ) -> Result<Registry, RegistryError> {
        let policy = self.0.policy.clone();
        let tools = tools.into_tools().collect();
        let snapshot = Snapshot::new(tools, Vec::new(), &policy)?;
        Ok(Registry::from_parts(snapshot, policy))
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

    /// Returns the [hosted tools](HostedTool), in the order they were added.
    pub fn hosted(&self) -> Vec<HostedTool> {
        self.0.current.load().hosted.clone()
    }

    /// Adds a hosted tool, unless the registry has it already.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Anthropic, HostedTool};
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

    /// Replaces the hosted tools of the snapshot.
    fn change_hosted<T>(&self, change: impl FnOnce(&mut Vec<HostedTool>) -> T) -> T {
        let _guard = self.0.lock();
        let mut snapshot = Snapshot::clone(&self.0.current.load());
        let value = change(&mut snapshot.hosted);
        self.0.current.store(Arc::new(snapshot));
        value
    }

    /// Renders the value of a request's `tools` field in the format of a provider.
    ///
    /// [`Rendered::broken_rules`] lists the provider rules that the tools break, and
    /// [`Rendered::rejected`] the tools that the dialect omits. Both are logged too.
    ///
    /// ```
    /// use tool_core::{Registry, dialect::Anthropic};
    ///
    /// let body = serde_json::json!({ "tools": Registry::new().render(&Anthropic::default()) });
    /// assert_eq!(body["tools"], serde_json::json!([]));
    /// ```
    pub fn render(&self, dialect: &(impl Dialect + ?Sized)) -> Rendered {
        let rendered = self.rendered(dialect);
        telemetry::rendered(&rendered);
        rendered
    }

    /// Renders the tools without logging.
    pub(crate) fn rendered(&self, dialect: &(impl Dialect + ?Sized)) -> Rendered {
        let snapshot = self.0.current.load();
        let tools = self.sent_tools(dialect, &snapshot);
        Rendered::new(dialect, &tools, &snapshot.hosted)
    }

    /// Writes the fields of a request that belong to its tools, for one provider: the tools, which of
    /// them the model may or must call, whether the provider should cache them, and so on.
    ///
    /// The tools are the same bytes from request to request while the registry is unchanged and the
    /// provider can restrict calls by itself, since prompt caches depend on it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Anthropic, ToolChoice};
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let request = registry
    ///     .request(&Anthropic::default())
    ///     .choice(ToolChoice::Required)
    ///     .cached()
    ///     .build()?;
    /// let fields = json!(request.fields());
    /// assert_eq!(fields["tools"][0]["cache_control"], json!({"type": "ephemeral"}));
    /// assert_eq!(fields["tool_choice"], json!({"type": "any"}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn request<'r, D: Dialect + ?Sized>(&'r self, dialect: &'r D) -> RequestBuilder<'r, D> {
        RequestBuilder::new(self, dialect)
    }

    pub(crate) fn tool_request(
        &self,
        dialect: &(impl Dialect + ?Sized),
        options: &RequestOptions,
    ) -> Result<ToolRequest, RequestError> {
        let snapshot = self.0.current.load();
        let mut tools = self.sent_tools(dialect, &snapshot);
        if options.has_background
            && snapshot.has_background()
            && dialect.deferral() != Deferral::Ignored
        {
            tools.to_mut().push(background::entry());
        }
        let request = ToolRequest::new(dialect, &tools, &snapshot.hosted, options)?;
        telemetry::requested(&request);
        Ok(request)
    }

    /// Returns the tools as requests have them.
    fn sent_tools<'s>(
        &self,
        dialect: &(impl Dialect + ?Sized),
        snapshot: &'s Snapshot,
    ) -> Cow<'s, [ToolEntry]> {
        let mut tools = Cow::Borrowed(snapshot.tools());
        if snapshot.has_deferred() && dialect.deferral() == Deferral::Emulated {
            tools = Cow::Owned(snapshot.listed());
        }
        if snapshot.has_hidden() && dialect.deferral() != Deferral::Ignored {
            tools.to_mut().retain(|tool| tool.is_for_models());
        }
        // A truncated result does not match its schema.
        if self.0.policy.output_cap.is_some() {
            let all = tools.iter().cloned();
            return all.map(ToolEntry::without_output).collect();
        }
        tools
    }

    /// Returns the tools that match a query best, at most `limit` of them, the best first.
    ///
    /// The words of the query are compared with the names, descriptions and parameters of the tools, ranked
    /// with BM25. Names are split into words, and endings such as plurals don't count. The index is
    /// built with the first search after a change of the tools.
    ///
    /// [Deferred](RegistryBuilder::defer) tools are found like others; those that are
    /// [for apps](crate::ToolSpec::is_for_models) alone are not. An application can also use this to
    /// [select](Registry::select) the tools for a request.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// The weather in the next days.
    /// #[tool]
    /// fn get_forecast(city: &str, days: u8) -> String {
    ///     format!("sunny in {city} for {days} days")
    /// }
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![get_forecast, roll_die]).build()?;
    /// let found = registry.search("How is the weather in Lisbon?", 5);
    /// assert_eq!(found.len(), 1);
    /// assert_eq!(found[0].name, "get_forecast");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn search(&self, query: &str, limit: usize) -> Vec<ToolEntry> {
        let snapshot = self.0.current.load();
        let found = snapshot.search(query, limit, |tool| tool.is_for_models());
        found.into_iter().cloned().collect()
    }

    /// Runs one call. Always returns one result: invalid arguments, an unknown name and a panic
    /// become errors that the model can act on. Only a value that panics when it is dropped while
    /// another panic unwinds aborts the process, as everywhere in Rust.
    ///
    /// Works with any async runtime, and without one for sync tools. A blocking tool or a tool with
    /// a timeout needs a [`Runtime`]. Dropping the future cancels the call. A tool
    /// may make [nested calls](crate::CallContext#nested-calls).
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let result = registry.call(ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#)).await;
    /// assert_eq!(result.content(), "5");
    /// # });
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn call(&self, call: ToolCall) -> impl Future<Output = ToolResult> + Send + use<> {
        let found = self.find(&call.name);
        let inner = Arc::clone(&self.0);
        let mut call = call;
        async move {
            // Not by `resolve`, which costs 20 instructions more when the name is found.
            let tool = match found {
                Ok(tool) => tool,
                Err(snapshot) => match deferred::resolve(&snapshot, &mut call) {
                    Some(tool) => tool,
                    None if call.server().is_some() => return dispatch::hosted(&inner, call),
                    None => return dispatch::unknown_tool(&inner, call, &snapshot),
                },
            };
            if !tool.admits(&call) {
                return dispatch::unknown_tool(&inner, call, &inner.current.load());
            }
            match dispatch::call_path(&inner, &tool, &call) {
                CallPath::Sync(invoke) => dispatch::run_sync(inner, tool, invoke, call),
                CallPath::SyncInRun(invoke) => dispatch::run_sync_in_run(inner, tool, invoke, call),
                CallPath::Async(invoke) => dispatch::run_async(inner, tool, invoke, call).await,
                CallPath::Full if call.server().is_some() => dispatch::hosted(&inner, call),
                CallPath::Full => dispatch::run_full(inner, tool, call).await,
            }
        }
    }

    /// Validates a call without running it: no hook and no tool sees it, and context values may be
    /// missing. Returns the arguments as JSON text, as the tool would get them.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Sets the volume.
    /// #[tool]
    /// fn set_volume(#[param(range = 0..=100)] percent: u8) {
    ///     println!("volume {percent} %");
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![set_volume]).build()?;
    /// let call = ToolCall::new("call_1", "set_volume", r#"{ "percent": 40.0 }"#);
    /// assert_eq!(registry.validate(&call).unwrap(), r#"{ "percent": 40 }"#);
    /// let call = ToolCall::new("call_2", "set_volume", r#"{"percent":400}"#);
    /// assert_eq!(registry.validate(&call).unwrap_err().violations()[0].path(), "percent");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error that the call would end with.
    pub fn validate(&self, call: &ToolCall) -> Result<String, ToolError> {
        let (tool, call) = match self.find(&call.name) {
            // Decoding does not see the id, and functions do not see the name.
            Ok(tool) => {
                let name = if tool.is_dynamic() { &*call.name } else { "" };
                let mut decoded = ToolCall::new("", name, call.arguments.clone());
                decoded.is_truncated = call.is_truncated;
                decoded.origin.clone_from(&call.origin);
                decoded.extensions.clone_from(&call.extensions);
                (tool, decoded)
            }
            Err(snapshot) => {
                let mut call = call.clone();
                match deferred::resolve(&snapshot, &mut call) {
                    Some(tool) => (tool, call),
                    None => return Err(snapshot.unknown_tool(&call.name)),
                }
            }
        };
        if !tool.admits(&call) {
            return Err(self.0.current.load().unknown_tool(&call.name));
        }
        dispatch::validate_call(&self.0, &tool, call).map_err(|error| *error)
    }

    /// Returns the tool that a call runs, or `None` if there is none of this name, or if the
    /// [provider](ToolCall::hosted_by) runs it. A call of `call_tool`,
    /// by which the model calls a deferred tool, is replaced by the call of that tool.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool(defer)]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// let arguments = r#"{"name":"roll_die","arguments":{}}"#;
    /// let mut call = ToolCall::new("call_1", "call_tool", arguments);
    /// assert_eq!(registry.resolve(&mut call).unwrap().name, "roll_die");
    /// assert_eq!(call.name, "roll_die");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn resolve(&self, call: &mut ToolCall) -> Option<ToolEntry> {
        if call.server().is_some() {
            return None;
        }
        let found = match self.find(&call.name) {
            Ok(tool) => Some(tool),
            Err(snapshot) => deferred::resolve(&snapshot, call),
        };
        found.filter(|tool| tool.admits(call))
    }

    /// Makes calls of what is [unanswered](Turn::unanswered) in a response, where a tool of the registry
    /// [provides](macro@crate::tool#trained-tools) the provider's tool. They follow the other calls of the turn. A `Run` of the
    /// crate `tool-agent` does this.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, OpenAiResponses, openai};
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Changes files of the project.
    /// #[tool(provides = openai::ApplyPatch)]
    /// fn edit(operation: openai::PatchOperation) -> String {
    ///     format!("changed {}", operation.path())
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![edit]).build()?;
    /// let call = json!({"type": "apply_patch_call", "call_id": "call_1", "status": "completed",
    ///     "operation": {"type": "delete_file", "path": "a.txt"}});
    /// let turn = OpenAiResponses::default().read(&json!({"output": [call]}))?;
    /// assert_eq!((turn.calls.len(), turn.unanswered.len()), (0, 1));
    /// let turn = registry.claim(turn);
    /// assert_eq!((turn.calls.len(), turn.unanswered.len()), (1, 0));
    /// assert_eq!(registry.call_blocking(turn.calls[0].clone()).content(), "changed a.txt");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn claim(&self, turn: Turn) -> Turn {
        if turn.offered.is_empty() {
            return turn;
        }
        let snapshot = self.0.current.load();
        let tools = snapshot.tools().iter();
        let providing: Vec<_> = tools
            .filter_map(|tool| Some((tool.provided()?.tool, &tool.name)))
            .collect();
        turn.claim(|(provider, kind)| {
            let mut tools = providing.iter();
            let found = tools.find(|(tool, _)| tool.provider == provider && tool.kind == kind);
            found.map(|(_, name)| name.to_string())
        })
    }

    /// Returns the arguments of a call as JSON text for a person, with `"[secret]"` for each
    /// [secret](macro@crate::tool#secrets). Those of an unknown tool are not shown, because no schema says which are
    /// secret. Those of a tool that the [provider](ToolCall::hosted_by) runs are shown whole, since a person approves them.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Signs in.
    /// #[tool]
    /// fn sign_in(user: &str, #[param(secret)] password: &str) -> usize {
    ///     user.len() + password.len()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![sign_in]).build()?;
    /// let call = ToolCall::new("call_1", "sign_in", r#"{"user":"ada","password":"hunter2"}"#);
    /// assert_eq!(registry.shown(&call), r#"{"user":"ada","password":"[secret]"}"#);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn shown(&self, call: &ToolCall) -> String {
        let mut resolved = call.clone();
        match self.resolve(&mut resolved) {
            Some(tool) => tool.shown_arguments(&resolved.arguments),
            // What a person approves.
            None if call.server().is_some() => approval::visible_json(&call.arguments.text()),
            None => "[arguments of an unknown tool]".into(),
        }
    }

    /// Returns the secret values in the arguments of a call, and in its result if there is one, to hide them in strings
    /// that may repeat them. The arguments of an unknown tool have none that are known.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Signs in.
    /// #[tool]
    /// fn sign_in(user: &str, #[param(secret)] password: &str) -> usize {
    ///     user.len() + password.len()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![sign_in]).build()?;
    /// let call = ToolCall::new("call_1", "sign_in", r#"{"user":"ada","password":"hunter2"}"#);
    /// let secrets = registry.secrets(&call, None);
    /// assert_eq!(secrets.hide("Signed in with hunter2."), "Signed in with [secret].");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn secrets(&self, call: &ToolCall, result: Option<&ToolResult>) -> Secrets {
        let mut resolved = call.clone();
        let Some(tool) = self.resolve(&mut resolved) else {
            return Secrets::default();
        };
        let mut secrets = tool.secrets_in(&resolved.arguments);
        if let Some(result) = result {
            secrets.add(tool.secrets_in_result(result));
        }
        secrets
    }

    /// Returns the tools of a request to a provider that can't search.
    #[cfg(feature = "docs")]
    pub(crate) fn listed(&self) -> Vec<ToolEntry> {
        self.0.current.load().listed()
    }

    /// Returns the timers and threads of the registry, if it has some; see
    /// [`RegistryBuilder::runtime`].
    pub fn runtime(&self) -> Option<&Arc<dyn Runtime>> {
        self.0.policy.runtime.as_ref()
    }

    /// Returns the tool with this name, or the snapshot that lacks it.
    #[inline]
    fn find(&self, name: &str) -> Result<ToolEntry, Arc<Snapshot>> {
        let current = self.0.current.load();
        match current.get(name) {
            Some(tool) => Ok(tool.clone()),
            None => Err(Arc::clone(&current)),
        }
    }

    /// Ends a call with an error, without running it: for code that handles calls before the registry
    /// does, such as a layer. The error is logged, and passes
    /// [`map_errors`](RegistryBuilder::map_errors). Hooks don't see the call.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, ToolError, ToolErrorKind};
    ///
    /// let registry = Registry::new();
    /// let call = ToolCall::new("call_1", "delete_note", r#"{"id":7}"#);
    /// let error = ToolError::denied(&call.name, "the user has no notes");
    /// let result = registry.fail(call, error);
    /// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    /// ```
    pub fn fail(&self, call: ToolCall, error: ToolError) -> ToolResult {
        dispatch::not_run(&self.0, call, error)
    }

    /// Runs calls concurrently and returns their results in the order of the calls.
    ///
    /// All calls share one task, so sync tools run one after another; mark slow ones
    /// `#[tool(blocking)]`. To use several threads, spawn [`Registry::call`].
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let calls = [
    ///     ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#),
    ///     ToolCall::new("call_2", "add", r#"{"a":2}"#),
    /// ];
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let results = registry.call_all(calls).await;
    /// assert_eq!(results[0].content(), "5");
    /// assert!(results[1].is_error());
    /// # });
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn call_all<C>(&self, calls: C) -> impl Future<Output = Vec<ToolResult>> + Send + use<C>
    where
        C: IntoIterator<Item = ToolCall>,
    {
        join_all(calls.into_iter().map(|call| self.call(call)))
    }

    /// Calls a tool as a part of a call of another registry, such as from a tool that runs a program of the model.
    ///
    /// As for [`CallContext::call`], the nested call has the context values of the outer one, asks the same
    /// user, is cancelled with it, and counts towards the depth of nesting. Hooks, limits and the registry's own
    /// context values are the ones of this registry.
    ///
    /// ```
    /// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
    ///
    /// struct User(&'static str);
    ///
    /// /// Returns the user's name.
    /// #[tool]
    /// fn whoami(#[param(context)] user: &User) -> &'static str {
    ///     user.0
    /// }
    ///
    /// /// Greets the user.
    /// #[tool]
    /// async fn greet(#[param(context)] inner: &Registry, call: &CallContext) -> String {
    ///     let name = inner.call_within(call, ToolCall::new("a", "whoami", "")).await;
    ///     format!("Hello, {}!", name.content())
    /// }
    ///
    /// let inner = Registry::builder().context_per_call::<User>().tools(tools![whoami]).build()?;
    /// let registry = Registry::builder().context(inner).tools(tools![greet]).build()?;
    /// let call = ToolCall::new("call_1", "greet", "").with(User("Ada"));
    /// assert_eq!(registry.call_blocking(call).content(), "Hello, Ada!");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn call_within(
        &self,
        outer: &CallContext,
        call: ToolCall,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        self.call(outer.nested(call))
    }

    /// Runs one call and blocks the thread until it ends, for programs without an async runtime.
    ///
    /// Use [`Registry::call`] in async code: blocking a thread of the runtime can deadlock, and tools
    /// that need its timers or I/O must run inside it.
    ///
    /// On WebAssembly without threads, nothing could end the wait: a tool that waits gets an error
    /// result.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add]).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#));
    /// assert_eq!(result.content(), "5");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn call_blocking(&self, call: ToolCall) -> ToolResult {
        call.block_on(|call| self.call(call))
    }

    fn from_parts(snapshot: Snapshot, policy: Policy) -> Registry {
        Registry(Arc::new(Inner::new(snapshot, policy)))
    }
}

impl Inner {
    fn new(snapshot: Snapshot, policy: Policy) -> Inner {
        Inner {
            current: ArcSwap::from_pointee(snapshot),
            write_lock: Mutex::default(),
            selection: None,
            listeners: OnceLock::new(),
            is_plain: policy.is_plain(),
            policy,
        }
    }
}

impl Host for Inner {
    fn values(&self) -> &TypeMap {
        &self.policy.context
    }

    fn call(self: Arc<Self>, call: ToolCall) -> BoxFuture<ToolResult> {
        Box::pin(Registry(self).call(call))
    }

    fn registry(self: Arc<Self>) -> Box<dyn Any> {
        Box::new(Registry(self))
    }

    fn search_deferred(&self, query: &str, limit: usize) -> String {
        let snapshot = self.current.load();
        let is_found = |tool: &ToolEntry| tool.is_deferred() && tool.is_for_models();
        deferred::found(&snapshot.search(query, limit, is_found))
    }
}

impl Default for Registry {
    fn default() -> Registry {
        let policy = Policy {
            runtime: Policy::default_runtime(),
            ..Policy::default()
        };
        Registry::from_parts(Snapshot::default(), policy)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = self.0.current.load();
        f.debug_set().entries(snapshot.names()).finish()
    }
}
