//! [`Registry`]: looks up, lists, renders and calls tools.

// First, because the page of `Registry` has its methods in this order.
pub(crate) mod builder;
mod call;

mod arguments;
mod background;
mod call_schema;
mod change;
mod deferred;
mod dispatch;
pub(crate) mod error;
pub(crate) mod linked;
mod listeners;
mod name_hash;
mod nesting;
mod permit;
mod policy;
mod read_result;
mod request;
mod resolve;
mod search;
mod selection;
#[cfg(feature = "tower")]
mod service;
mod snapshot;
mod table;

use std::any::{Any, TypeId};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use arc_swap::ArcSwap;

use self::listeners::Listeners;
use self::policy::Policy;
use self::snapshot::Snapshot;
use crate::call::context::{CallContext, Host};
use crate::call::type_map::TypeMap;
use crate::call::{Secrets, ToolCall, ToolResult};
use crate::hooks::HookCall;
use crate::hooks::observe::{RequestRecord, RunRecord, each};
use crate::provider::hosted_tool::HostedTool;
use crate::results::Spill;
use crate::runtime::{BoxFuture, Runtime};
use crate::spec::Need;
use crate::tool::{IntoTools, ToolEntry};
use crate::visible;

pub use crate::results::{MemoryResults, ResultLimits, ResultScope, ResultStore, ResultStoreError};
pub use arguments::ArgumentsReader;
pub use background::WAIT_FOR_RESULTS;
pub use error::MissingTools;
pub(crate) use error::RegistryError;
pub use listeners::{ChangeListener, RegistryChange};
pub use read_result::READ_RESULT;
pub use request::{RequestBuilder, RequestCache};

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
#[doc(alias("tool box", "ToolSet"))]
#[derive(Clone)]
pub struct Registry(Arc<Inner>);

struct Inner {
    /// [`snapshot`](Inner::snapshot) reads it, because the snapshot of a selection may be old.
    current: ArcSwap<Snapshot>,
    /// Counts the changes of `current`, from one.
    revision: AtomicU64,
    /// Held while the snapshot is replaced, never by readers. Has the [selections](Registry::select) of this
    /// registry, whose listeners are told of its changes.
    write_lock: Mutex<Vec<Weak<Inner>>>,
    /// The selected tools, if this registry is a selection.
    selection: Option<Selection>,
    /// Created with the first listener.
    listeners: OnceLock<Arc<Listeners<Registry>>>,
    policy: Policy,
    /// The result of [`Policy::is_plain`].
    is_plain: bool,
}

/// The registry that a selection follows, and which of its tools the selection has.
struct Selection {
    source: Registry,
    is_selected: Box<dyn Fn(&ToolEntry) -> bool + Send + Sync>,
    /// The revision of the source that the selection has, or 0.
    followed: AtomicU64,
}

/// Reads registries, and adds tools.
impl Registry {
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
        let snapshot = self.0.snapshot();
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
        self.0.snapshot().tools().to_vec()
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
        self.find(name).ok()
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
        // Tools that need values of no known type are rejected.
        if self.0.policy.per_call.is_empty() {
            return Vec::new();
        }
        let context = &self.0.policy.context;
        let of_call =
            |need: &&Need| need.id() != TypeId::of::<CallContext>() && !context.contains(need.id());
        let snapshot = self.0.snapshot();
        let needs = snapshot.tools().iter().flat_map(|tool| {
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
        self.0.snapshot().len()
    }

    /// Returns `true` if there are no tools.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the registry has [`before` hooks](crate::RegistryBuilder::before), which may hold calls.
    pub fn has_before_hooks(&self) -> bool {
        !self.0.policy.before.is_empty()
    }

    /// Returns the names of all groups, sorted.
    ///
    /// ```
    /// use tool_core::{tool, tools, Registry, ToolCall};
    /// use tool_dialects::Mcp;
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
        let current = self.0.snapshot();
        let groups: BTreeSet<_> = current
            .tools()
            .iter()
            .filter_map(ToolEntry::group)
            .collect();
        groups.into_iter().map(str::to_owned).collect()
    }

    /// Creates a registry of other tools, with the same context values, hooks and limits. Its tools change
    /// independently, and neither registry knows the tools of the other.
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
        let tools = tools.into_tools().chain(policy.own_tools()).collect();
        let snapshot = Snapshot::new(tools, Vec::new(), &policy)?;
        Ok(Registry::from_parts(snapshot, policy))
    }

    /// Returns the [hosted tools](HostedTool), in the order they were added.
    pub fn hosted(&self) -> Vec<HostedTool> {
        // A selection has its own, which follow nothing.
        self.0.current.load().hosted.clone()
    }

    /// Returns the tools that match a query best, at most `limit` of them, the best first.
    ///
    /// The words of the query are compared with the names, descriptions and parameters of the tools, ranked
    /// with BM25. Names are split into words, and endings such as plurals don't count. The first
    /// search indexes all tools, and later ones index those that were added since.
    ///
    /// [Deferred](crate::RegistryBuilder::defer) tools are found like others; tools [for
    /// apps](crate::ToolSpec::is_for_models) alone are not. An application can also use this to
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
        let snapshot = self.0.snapshot();
        let found = snapshot.search(query, limit, |tool| tool.is_for_models());
        found.into_iter().cloned().collect()
    }

    /// Returns the arguments of a call for a person, in the [form](visible::json) that a
    /// [hold](crate::hooks::Hold::arguments) shows, with `"[secret]"` for each
    /// [secret](macro@crate::tool#secrets). The arguments of an unknown tool are not shown, because no
    /// schema says which are secret. For a tool that the [provider](ToolCall::hosted_by) runs they are
    /// shown whole, because a person approves them.
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
        let text = match self.resolve(&mut resolved) {
            Some(tool) => tool.shown_arguments(&resolved.arguments).into(),
            // A person approves this text.
            None if call.server().is_some() => call.arguments.text(),
            None => return "[arguments of an unknown tool]".into(),
        };
        visible::json(&text).into_owned()
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

    /// Returns the timers and threads of the registry, if it has some; see
    /// [`RegistryBuilder::runtime`](crate::RegistryBuilder::runtime).
    pub fn runtime(&self) -> Option<&Arc<dyn Runtime>> {
        self.0.policy.runtime.as_ref()
    }

    /// Returns the store of results that were too long for a model, if the registry
    /// [has](crate::RegistryBuilder::spill) one.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_core::registry::MemoryResults;
    ///
    /// let registry = Registry::builder().spill(MemoryResults::new(), 10_000).build()?;
    /// assert!(registry.result_store().is_some());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn result_store(&self) -> Option<&Arc<dyn ResultStore>> {
        let spill = self.0.policy.context.get::<Spill>();
        spill.map(|spill| &spill.store)
    }

    // Not in `change`: rustc names a method whose bound is not met by the module of its block.

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

    fn from_parts(snapshot: Snapshot, policy: Policy) -> Registry {
        Registry(Arc::new(Inner::new(snapshot, policy)))
    }
}

impl Inner {
    fn new(snapshot: Snapshot, policy: Policy) -> Inner {
        Inner {
            current: ArcSwap::from_pointee(snapshot),
            revision: AtomicU64::new(1),
            write_lock: Mutex::default(),
            selection: None,
            listeners: OnceLock::new(),
            is_plain: policy.is_plain(),
            policy,
        }
    }
}

/// Requests and runs, for code that drives a model.
impl Registry {
    /// Passes the record of a request to the [observers](crate::RegistryBuilder::observe_with). For a loop of your own
    /// around a model; the `Agent` of `tool-agent` does it.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use std::sync::Arc;
    /// use std::time::{Duration, Instant};
    ///
    /// use tool_core::Registry;
    /// use tool_core::hooks::{Observer, RequestRecord};
    ///
    /// /// Counts the tokens of all requests.
    /// struct Tokens(Arc<AtomicU64>);
    ///
    /// impl Observer for Tokens {
    ///     fn request(&self, record: &RequestRecord<'_>) {
    ///         let tokens = record.usage.map_or(0, |usage| usage.total());
    ///         self.0.fetch_add(tokens, Ordering::Relaxed);
    ///     }
    /// }
    ///
    /// let tokens = Arc::new(AtomicU64::new(0));
    /// let registry = Registry::builder().observe_with(Tokens(tokens.clone())).build()?;
    /// let start = Instant::now();
    /// // Ask the model, and read its response.
    /// let mut usage = tool_core::dialect::Usage::default();
    /// (usage.input, usage.output) = (1000, 20);
    ///
    /// let mut record = RequestRecord::new("anthropic", start.elapsed());
    /// record.usage = Some(usage);
    /// registry.observe_request(&record);
    /// assert_eq!(tokens.load(Ordering::Relaxed), 1020);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn observe_request(&self, record: &RequestRecord<'_>) {
        each(self.0.policy.observers.as_ref(), |one| one.request(record));
    }

    /// Passes the record of a run to the [observers](crate::RegistryBuilder::observe_with), like
    /// [`observe_request`](Registry::observe_request).
    pub fn observe_run(&self, record: &RunRecord<'_>) {
        each(self.0.policy.observers.as_ref(), |one| one.run(record));
    }
}

impl HookCall {
    /// Returns the registry that runs the call.
    pub fn registry(&self) -> Registry {
        let registry = Arc::clone(&self.host).registry().downcast();
        *registry.expect("only registries run calls")
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
        let snapshot = self.snapshot();
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
        let snapshot = self.0.snapshot();
        f.debug_set().entries(snapshot.names()).finish()
    }
}
