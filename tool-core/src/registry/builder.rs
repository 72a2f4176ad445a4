//! [`RegistryBuilder`]: a registry of chosen tools.

mod around;

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::time::Duration;

use super::policy::Policy;
use super::{LINKED, Registry, RegistryError, Snapshot};
use crate::provider::hosted_tool::HostedTool;
use crate::runtime::Runtime;
use crate::tool::toolset::Toolset;
use crate::tool::{LiveTool, ToolEntry};

/// Collects the tools of a [`Registry`], and what holds for all of their calls.
#[derive(Clone, Default)]
pub struct RegistryBuilder {
    tools: Vec<ToolEntry>,
    hosted: Vec<HostedTool>,
    policy: Policy,
}

/// Tools.
impl RegistryBuilder {
    /// Takes every tool that is linked into this program; see [`Registry::linked`].
    pub fn linked(mut self) -> Self {
        let linked = LINKED.iter().map(|tool| ToolEntry::from_static(tool));
        self.tools.extend(linked);
        self
    }

    /// Takes these tools, made by [`tools!`](crate::tools).
    pub fn tools(mut self, tools: impl IntoIterator<Item = ToolEntry>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// Takes one tool, such as a `DynamicTool`.
    pub fn tool(self, tool: impl Into<ToolEntry>) -> Self {
        self.tools([tool.into()])
    }

    /// Takes a tool that a provider runs itself; see [`HostedTool`].
    pub fn hosted(mut self, tool: HostedTool) -> Self {
        if !self.hosted.contains(&tool) {
            self.hosted.push(tool);
        }
        self
    }

    /// Takes these tools as a group, which [`Registry::group`] finds again.
    pub fn group(self, name: &str, tools: impl IntoIterator<Item = ToolEntry>) -> Self {
        self.tools(tools.into_iter().map(|tool| tool.in_group(name)))
    }

    /// Takes the methods of a value as tools, each with this prefix before its name, so that
    /// several values of one type can stand in one registry. The prefix without the `_` or `-` at
    /// its end names their group; without a prefix they are in none.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicI32, Ordering};
    /// use tool_core::{Registry, ToolCall, toolset};
    ///
    /// struct Heating(AtomicI32);
    ///
    /// #[toolset]
    /// impl Heating {
    ///     /// Sets the temperature, in degrees Celsius.
    ///     #[tool]
    ///     fn set(&self, degrees: i32) {
    ///         self.0.store(degrees, Ordering::Relaxed);
    ///     }
    ///
    ///     /// The temperature that was set.
    ///     #[tool(read_only)]
    ///     fn get(&self) -> i32 {
    ///         self.0.load(Ordering::Relaxed)
    ///     }
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .toolset("kitchen_", Heating(AtomicI32::new(20)))
    ///     .toolset("hall_", Heating(AtomicI32::new(16)))
    ///     .build()?;
    /// registry.call_blocking(ToolCall::new("call_1", "kitchen_set", r#"{"degrees":22}"#));
    /// let kitchen = registry.call_blocking(ToolCall::new("call_2", "kitchen_get", ""));
    /// let hall = registry.call_blocking(ToolCall::new("call_3", "hall_get", ""));
    /// assert_eq!((kitchen.content(), hall.content()), ("22", "16"));
    /// assert_eq!(registry.groups(), ["hall", "kitchen"]);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn toolset<T: Toolset>(self, prefix: &str, value: T) -> Self {
        self.shared_toolset(prefix, Arc::new(value))
    }

    /// The same with a value that the application goes on using.
    pub fn shared_toolset<T: Toolset>(self, prefix: &str, value: Arc<T>) -> Self {
        let group = prefix.trim_end_matches(['_', '-']);
        let group: Option<Arc<str>> = (!group.is_empty()).then(|| group.into());
        let tools = T::TOOLS.iter().map(|tool| {
            let mut tool = LiveTool {
                receiver: Some(value.clone()),
                group: group.clone(),
                ..ToolEntry::from_static(tool).into_live()
            };
            if !prefix.is_empty() {
                tool.spec.name = format!("{prefix}{}", tool.spec.name).into();
            }
            ToolEntry::from_live(tool)
        });
        self.tools(tools)
    }

    /// The registry.
    ///
    /// # Errors
    ///
    /// When two tools have one name, when a prefix makes a name that not every provider takes,
    /// when a tool lacks a [context](RegistryBuilder::context) or a runtime, or when the tools
    /// together are more than a [target](crate::rules::Target) of this build takes. The error tells
    /// of everything at once.
    pub fn build(self) -> Result<Registry, RegistryError> {
        let mut policy = self.policy;
        policy.runtime = policy.runtime.or_else(Policy::default_runtime);
        let snapshot = Snapshot::new(self.tools, self.hosted, &policy)?;
        Ok(Registry::of(snapshot, policy))
    }
}

/// What tools borrow.
impl RegistryBuilder {
    /// Gives tools a value, which they borrow by its type with `#[param(context)]`; the last of
    /// each type counts.
    pub fn context<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.policy.context.insert(value);
        self
    }

    /// Says that every call brings a value of this type by
    /// [`ToolCall::with`](crate::ToolCall::with). A call of a tool that borrows it and that brings
    /// none is refused, as [`Unavailable`](crate::ToolErrorKind::Unavailable).
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// struct User(&'static str);
    ///
    /// /// Who is asking.
    /// #[tool]
    /// fn whoami(#[param(context)] user: &User) -> &'static str {
    ///     user.0
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![whoami])
    ///     .context_per_call::<User>()
    ///     .build()?;
    /// let call = ToolCall::new("call_1", "whoami", "{}");
    /// assert_eq!(registry.call_blocking(call.clone().with(User("Ada"))).content(), "Ada");
    /// assert!(registry.call_blocking(call).is_error());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn context_per_call<T: Any + Send + Sync>(mut self) -> Self {
        self.policy.per_call.push(TypeId::of::<T>());
        self
    }

    /// The timers and the threads for time-outs and for tools that block. With the feature `tokio`
    /// they are those of tokio unless others are given.
    pub fn runtime(mut self, runtime: impl Runtime) -> Self {
        self.policy.runtime = Some(Arc::new(runtime));
        self
    }
}

/// What holds for every call.
impl RegistryBuilder {
    /// Forgives what models get wrong most: a number, a truth value, an array or an object that
    /// comes in quotes, and one value where a list is wanted, unless it is a list of lists. Each case
    /// is told by [`ToolResult::coercions`](crate::ToolResult::coercions). A `DynamicTool` is held to
    /// its schema all the same.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Adds numbers.
    /// #[tool]
    /// fn sum(numbers: Vec<i64>) -> i64 {
    ///     numbers.iter().sum()
    /// }
    ///
    /// let strict = Registry::builder().tools(tools![sum]).build()?;
    /// let lenient = Registry::builder().tools(tools![sum]).lenient().build()?;
    /// let call = ToolCall::new("call_1", "sum", r#"{"numbers":"5"}"#);
    /// assert!(strict.call_blocking(call.clone()).is_error());
    /// let result = lenient.call_blocking(call);
    /// assert_eq!(result.content(), "5");
    /// assert_eq!(result.coercions()[0].path(), "numbers");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn lenient(mut self) -> Self {
        self.policy.is_lenient = true;
        self
    }

    /// The time that a tool has which does not say so itself, by `#[tool(timeout = "30s")]`. It
    /// begins when the tool does: gates and limits may take longer.
    ///
    /// A sync tool that is not `blocking` runs to its end, since nothing can stop it. Of one that
    /// is, the thread goes on; see [`CallContext::is_cancelled`](crate::CallContext::is_cancelled).
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.policy.timeout = Some(limit);
        self
    }

    /// How many calls may be in their tools at one time; the others wait for their turn, first
    /// come, first served. A limit of nothing is one of 1. A call that waits may be
    /// [cancelled](crate::ToolCall::cancel_with); no time-out counts before its tool begins.
    ///
    /// Two kinds of tools can keep all others waiting for ever:
    ///
    /// - A tool that calls tools of the same registry waits for a second turn while it has one. When
    ///   all turns are with such tools, none goes on. Give them a time-out, or call what they need
    ///   in another registry: [`select`](Registry::select) shares the limit, a second builder has
    ///   its own.
    /// - A tool that blocks has its turn until its thread ends, which may be long after its time was
    ///   up. It should look at [`CallContext::is_cancelled`](crate::CallContext::is_cancelled), and
    ///   wait for nothing without a limit of its own.
    #[cfg(feature = "tokio")]
    pub fn concurrency(mut self, limit: usize) -> Self {
        let limit = limit.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self.policy.limit = Some(Arc::new(tokio::sync::Semaphore::new(limit)));
        self
    }
}
