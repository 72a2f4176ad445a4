//! [`Registry`]: the tools of a program, found by name, listed in order, called.

mod builder;
mod error;
mod gate;
mod groups;
mod linked_specs;
mod names;
mod policy;
mod run;
#[cfg(feature = "tower")]
mod service;
mod snapshot;

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use futures_util::future::join_all;

use self::policy::Policy;
use self::run::CallPath;
use self::snapshot::Snapshot;
use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Dialect, Rendered};
use crate::provider::hosted_tool::HostedTool;
use crate::runtime::block_on::block_on;
use crate::telemetry;
use crate::tool::{StaticTool, ToolEntry};

pub use builder::RegistryBuilder;
pub use error::{MissingTools, RegistryError};
pub use gate::{Gate, PendingCall};

/// Every `#[tool]` that is linked into the program.
#[linkme::distributed_slice]
pub static LINKED: [&'static StaticTool];

/// A set of tools with unlike names.
///
/// Clones share their tools and are cheap. Tools can be added, replaced and removed at any time.
/// Nobody waits for that: a call that runs keeps the tool that it started with, and whatever lists
/// or renders sees the tools as they were at one moment.
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
    /// Held by whoever makes the next snapshot, and never by a reader.
    changing: Mutex<()>,
    policy: Policy,
    /// Whether that asks nothing of a call.
    is_plain: bool,
}

impl Registry {
    /// A registry without tools.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Every `#[tool]` that is linked into this program, apart from those marked `unlinked`.
    ///
    /// A crate that nothing names is not linked, and its tools are then missing without a word.
    /// Name it (`use weather_tools as _;`), and let [`Registry::expect`] watch over it, or a test
    /// with [`assert_linked`](crate::testing::assert_linked).
    ///
    /// # Errors
    ///
    /// When two tools have one name (the error names both places and the remedies), when a tool
    /// lacks a context or a runtime, which a [builder](RegistryBuilder::linked) can be given, or when
    /// the tools together are more than a [target](crate::rules::Target) of this build takes.
    pub fn linked() -> Result<Registry, RegistryError> {
        Registry::builder().linked().build()
    }

    /// A registry of chosen tools.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// Checks that the tools named are all there, and hands the registry on.
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
    /// When some are missing; the error lists them and says why a tool can be missing.
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

    /// Every tool's spec, in the order of their names.
    pub fn specs(&self) -> Vec<ToolEntry> {
        self.0.current.load().tools.clone()
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<ToolEntry> {
        self.0.current.load().get(name).cloned()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.0.current.load().tools.len()
    }

    /// Whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds tools while the registry is in use.
    ///
    /// # Errors
    ///
    /// When a name is taken, or a tool lacks something that the registry was not given. Nothing is
    /// added then.
    pub fn add(&self, tools: impl IntoIterator<Item = ToolEntry>) -> Result<(), RegistryError> {
        let tools: Vec<_> = tools.into_iter().collect();
        // What is refused is dropped after the change: a tool may hold something that changes this
        // registry at its end.
        self.change(|current| (current.iter().chain(&tools).cloned().collect(), ()))
    }

    /// Puts a tool in the place of the one of its name, if there is one, and gives that back. No
    /// call meets a moment without either.
    ///
    /// # Errors
    ///
    /// When the tool lacks something that the registry was not given. The other one stays then.
    pub fn replace(&self, tool: impl Into<ToolEntry>) -> Result<Option<ToolEntry>, RegistryError> {
        let tool = tool.into();
        self.change(|current| {
            let is_old = |other: &&ToolEntry| other.name == tool.name;
            let old = current.iter().find(is_old).cloned();
            let kept = current.iter().filter(|other| !is_old(other)).cloned();
            (kept.chain([tool.clone()]).collect(), old)
        })
    }

    /// Removes a tool while the registry is in use and gives it back.
    pub fn remove(&self, name: &str) -> Option<ToolEntry> {
        self.remove_where(|tool| tool.name == name).pop()
    }

    fn remove_where(&self, is_out: impl Fn(&ToolEntry) -> bool) -> Vec<ToolEntry> {
        let parted = self.change(|current| {
            let (out, kept) = current.iter().cloned().partition(|tool| is_out(tool));
            (kept, out)
        });
        // Fewer tools break no rule that more of them keep, so nothing refuses them.
        parted.unwrap_or_default()
    }

    /// Makes the next snapshot, unless it is refused. Changes take turns.
    fn change<T>(
        &self,
        next: impl FnOnce(&[ToolEntry]) -> (Vec<ToolEntry>, T),
    ) -> Result<T, RegistryError> {
        let changing = self.0.changing.lock();
        let _turn = changing.unwrap_or_else(PoisonError::into_inner);
        let current = self.0.current.load();
        let (tools, told) = next(&current.tools);
        let snapshot = Snapshot::new(tools, current.hosted.clone(), &self.0.policy)?;
        self.0.current.store(Arc::new(snapshot));
        Ok(told)
    }

    /// The [hosted tools](HostedTool), in the order in which they came.
    pub fn hosted(&self) -> Vec<HostedTool> {
        self.0.current.load().hosted.clone()
    }

    /// Adds a hosted tool while the registry is in use. Nothing happens when it is there.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::{HostedTool, Registry, dialect::Anthropic};
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

    /// Removes a hosted tool while the registry is in use, and says whether it was there.
    pub fn remove_hosted(&self, tool: &HostedTool) -> bool {
        self.change_hosted(|hosted| {
            let count = hosted.len();
            hosted.retain(|other| other != tool);
            hosted.len() < count
        })
    }

    /// The same for the hosted tools, of which nothing is refused.
    fn change_hosted<T>(&self, change: impl FnOnce(&mut Vec<HostedTool>) -> T) -> T {
        let changing = self.0.changing.lock();
        let _turn = changing.unwrap_or_else(PoisonError::into_inner);
        let mut snapshot = Snapshot::clone(&self.0.current.load());
        let told = change(&mut snapshot.hosted);
        self.0.current.store(Arc::new(snapshot));
        told
    }

    /// The value of a request's `tools` field, as the provider wants it.
    ///
    /// What the provider is known to refuse of so many tools is told by
    /// [`Rendered::broken_rules`], what the dialect leaves out by [`Rendered::refused`], and both
    /// by events in the log.
    ///
    /// ```
    /// use tool_core::{Registry, dialect::Anthropic};
    ///
    /// let body = serde_json::json!({ "tools": Registry::new().render(&Anthropic::default()) });
    /// assert_eq!(body["tools"], serde_json::json!([]));
    /// ```
    pub fn render(&self, dialect: &(impl Dialect + ?Sized)) -> Rendered {
        let snapshot = self.0.current.load();
        let mut tools = Cow::Borrowed(&snapshot.tools);
        // A result that is cut is not what its schema says.
        if self.0.policy.output_cap.is_some() {
            let all = snapshot.tools.iter().cloned();
            tools = Cow::Owned(all.map(ToolEntry::without_output).collect());
        }
        let rendered = Rendered::new(dialect, &tools, &snapshot.hosted);
        telemetry::rendered(&rendered);
        rendered
    }

    /// Runs one call. There is always one result: bad arguments, an unknown name and a panic
    /// become results that the model can act on.
    ///
    /// The future needs no particular async runtime, and none at all for a sync tool; a tool that
    /// blocks or has a time-out needs a [`Runtime`](crate::Runtime). Dropping the future cancels
    /// the call. A tool may make calls of [its own](crate::CallContext#calls-inside-of-calls).
    pub fn call(&self, call: ToolCall) -> impl Future<Output = ToolResult> + Send + use<> {
        let found = self.find(&call.name);
        let inner = Arc::clone(&self.0);
        async move {
            let tool = match found {
                Ok(tool) => tool,
                Err(snapshot) => return run::unknown(&inner, call, &snapshot),
            };
            match run::way(&inner, &tool, &call) {
                CallPath::Sync(invoke) => run::at_once(&inner, tool, invoke, call),
                CallPath::Async(invoke) => run::later(inner, tool, invoke, call).await,
                CallPath::Full => run::guarded(inner, tool, call).await,
            }
        }
    }

    /// The tool of this name, or all there are.
    #[inline]
    fn find(&self, name: &str) -> Result<ToolEntry, Arc<Snapshot>> {
        let current = self.0.current.load();
        match current.get(name) {
            Some(tool) => Ok(tool.clone()),
            None => Err(Arc::clone(&current)),
        }
    }

    /// Runs calls side by side and gives their results in the order of the calls, whatever ids they
    /// have.
    ///
    /// They share one task, so that sync tools run one after the other: what takes long is to be
    /// `#[tool(blocking)]`. On several threads, spawn [`Registry::call`].
    pub fn call_all<C>(&self, calls: C) -> impl Future<Output = Vec<ToolResult>> + Send + use<C>
    where
        C: IntoIterator<Item = ToolCall>,
    {
        let running: Vec<_> = calls.into_iter().map(|call| self.call(call)).collect();
        join_all(running)
    }

    /// Runs one call to its end on this thread, for programs without an async runtime.
    ///
    /// A tool that needs the timers or the I/O of a runtime must be called inside of it, with
    /// [`Registry::call`]. In an async function this would keep the thread from the runtime, and wait
    /// for ever where that is its only one.
    pub fn call_blocking(&self, call: ToolCall) -> ToolResult {
        block_on(self.call(call))
    }

    fn of(snapshot: Snapshot, policy: Policy) -> Registry {
        Registry(Arc::new(Inner {
            current: ArcSwap::from_pointee(snapshot),
            changing: Mutex::new(()),
            is_plain: policy.is_plain(),
            policy,
        }))
    }
}

impl Default for Registry {
    fn default() -> Registry {
        let policy = Policy {
            runtime: Policy::default_runtime(),
            ..Policy::default()
        };
        Registry::of(Snapshot::default(), policy)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = self.0.current.load();
        f.debug_set().entries(snapshot.names()).finish()
    }
}
