//! [`Registry`]: the tools of a program, found by name, listed in order, called.

mod builder;
mod error;
mod names;
mod run;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::join_all;

use crate::block_on::block_on;
use crate::call::{ToolCall, ToolResult};
use crate::dialect::{Dialect, Rendered};
use crate::rules::{BrokenRule, Target, broken};
use crate::telemetry;
use crate::tool::{Invoke, StaticTool, ToolEntry};

pub use builder::RegistryBuilder;
use error::Duplicate;
pub use error::{MissingTools, RegistryError};
use names::NameHash;

/// Every `#[tool]` that is linked into the program.
#[linkme::distributed_slice]
pub static LINKED: [&'static StaticTool];

/// A set of tools with unlike names.
///
/// Clones share their tools and are cheap. Tools can be added and removed at any time; a call
/// that runs keeps the tool that it started with.
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
#[derive(Clone, Default)]
pub struct Registry {
    current: Arc<RwLock<Arc<Snapshot>>>,
    is_lenient: bool,
}

/// The tools at one moment, in the order of their names.
#[derive(Clone, Default)]
struct Snapshot {
    tools: Vec<ToolEntry>,
    places: HashMap<Cow<'static, str>, usize, NameHash>,
}

impl Snapshot {
    fn new(tools: Vec<ToolEntry>) -> Result<Snapshot, RegistryError> {
        let mut named: BTreeMap<Cow<'static, str>, Vec<ToolEntry>> = BTreeMap::new();
        for tool in tools {
            named.entry(tool.name.clone()).or_default().push(tool);
        }
        let duplicates: Vec<_> = named
            .iter()
            .filter(|(_, tools)| tools.len() > 1)
            .map(|(name, tools)| {
                let mut locations: Vec<_> = tools.iter().map(|tool| tool.location).collect();
                // The linker's order is not the same in every build.
                locations.sort_unstable_by_key(|place| (place.file, place.line));
                Duplicate {
                    name: name.to_string(),
                    locations,
                }
            })
            .collect();
        if !duplicates.is_empty() {
            return Err(RegistryError {
                duplicates,
                ..RegistryError::default()
            });
        }
        let snapshot = Snapshot {
            places: named.keys().cloned().zip(0..).collect(),
            tools: named.into_values().flatten().collect(),
        };
        let broken = broken_by_targets(&snapshot.tools);
        if !broken.is_empty() {
            return Err(RegistryError {
                broken,
                ..RegistryError::default()
            });
        }
        Ok(snapshot)
    }

    fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.places.get(name).map(|&place| &self.tools[place])
    }
}

/// What the targets of this build refuse of these tools together. No tools at all are no mistake
/// before they are sent.
fn broken_by_targets(tools: &[ToolEntry]) -> Vec<BrokenRule> {
    let targets = Target::ALL.into_iter();
    let targets = targets.filter(|target| target.is_on() && !tools.is_empty());
    targets.flat_map(|target| broken(target, tools)).collect()
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
    /// When two tools have one name (the error names both places and the remedies), or when the
    /// tools together are more than a [target](crate::rules::Target) of this build takes.
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
        let snapshot = self.snapshot();
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
        self.snapshot().tools.clone()
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<ToolEntry> {
        self.snapshot().get(name).cloned()
    }

    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.snapshot().tools.len()
    }

    /// Whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds tools while the registry is in use.
    ///
    /// # Errors
    ///
    /// When a name is taken. Nothing is added then.
    pub fn add(&self, tools: impl IntoIterator<Item = ToolEntry>) -> Result<(), RegistryError> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let tools = current.tools.iter().cloned().chain(tools).collect();
        *current = Arc::new(Snapshot::new(tools)?);
        Ok(())
    }

    /// Removes a tool while the registry is in use and gives it back.
    pub fn remove(&self, name: &str) -> Option<ToolEntry> {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let removed = current.get(name).cloned()?;
        let rest = current.tools.iter().filter(|tool| tool.name != name);
        *current = Arc::new(Snapshot::new(rest.cloned().collect()).unwrap_or_default());
        Some(removed)
    }

    /// The value of a request's `tools` field, as the provider wants it.
    ///
    /// What the provider is known to refuse of so many tools is told by
    /// [`Rendered::broken_rules`], and by an event in the log.
    ///
    /// ```
    /// use tool_core::{Registry, dialect::Anthropic};
    ///
    /// let body = serde_json::json!({ "tools": Registry::new().render(&Anthropic::default()) });
    /// assert_eq!(body["tools"], serde_json::json!([]));
    /// ```
    pub fn render(&self, dialect: &(impl Dialect + ?Sized)) -> Rendered {
        let rendered = Rendered::new(dialect, &self.snapshot().tools);
        telemetry::rendered(&rendered);
        rendered
    }

    /// Runs one call. There is always one result: bad arguments, an unknown name and a panic
    /// become results that the model can act on.
    ///
    /// The future needs no particular async runtime, and none at all for a sync tool.
    pub fn call(&self, call: ToolCall) -> impl Future<Output = ToolResult> + Send + use<> {
        let snapshot = self.snapshot();
        let is_lenient = self.is_lenient;
        async move {
            match snapshot.get(&call.name) {
                Some(tool) => match tool.invoke() {
                    Invoke::Sync(invoke) => run::at_once(tool, *invoke, call, is_lenient),
                    Invoke::Async(invoke) => run::later(tool, *invoke, call, is_lenient).await,
                },
                None => run::unknown(call, snapshot.tools.iter().map(|tool| &*tool.name)),
            }
        }
    }

    /// Runs calls side by side and gives their results in the order of the calls.
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
    /// [`Registry::call`].
    pub fn call_blocking(&self, call: ToolCall) -> ToolResult {
        block_on(self.call(call))
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&current)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let snapshot = self.snapshot();
        let names = snapshot.tools.iter().map(|tool| &tool.name);
        f.debug_set().entries(names).finish()
    }
}
