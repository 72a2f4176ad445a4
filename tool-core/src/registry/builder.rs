//! [`RegistryBuilder`]: a registry of chosen tools.

use std::any::{Any, TypeId};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::gate::{self, Gate, PendingCall};
use super::policy::Policy;
use super::{LINKED, Registry, RegistryError, Snapshot};
use crate::call::ToolResult;
use crate::error::ToolError;
use crate::hosted::HostedTool;
use crate::runtime::Runtime;
use crate::tool::{LiveTool, ToolEntry};
use crate::toolset::Toolset;

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
    /// come, first served. A limit of nothing is one of 1.
    #[cfg(feature = "tokio")]
    pub fn concurrency(mut self, limit: usize) -> Self {
        let limit = limit.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self.policy.limit = Some(Arc::new(tokio::sync::Semaphore::new(limit)));
        self
    }

    /// The most bytes of text that a tool's result may have. What is longer is cut between two
    /// characters, and a note behind it says how much is missing. A cut result is text, and no
    /// longer [structured](ToolResult::structured). The note itself does not count. Hooks
    /// ([`after`](RegistryBuilder::after)) still see the whole, and what they make of it is cut.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Counts.
    /// #[tool]
    /// fn count() -> String {
    ///     "123456789".into()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![count]).output_cap(4).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "count", ""));
    /// assert_eq!(result.content(), "1234\n[cut: 5 of 9 bytes are left out]");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn output_cap(mut self, bytes: usize) -> Self {
        self.policy.output_cap = Some(bytes);
        self
    }

    /// Asks before every call of a tool whether it may go on. Several gates are asked in turn, and
    /// each sees what the one before it made of the arguments.
    ///
    /// ```
    /// use tool_core::{Gate, Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// Deletes a note.
    /// #[tool(destructive)]
    /// fn delete_note(id: u32) {
    ///     unreachable!("nobody allowed to delete note {id}")
    /// }
    ///
    /// async fn ask_the_user(_: &ToolCall) -> bool { false }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![delete_note])
    ///     .before(async |pending| match pending.tool.annotations.destructive {
    ///         Some(true) if !ask_the_user(&pending.call).await => Gate::deny("the user said no"),
    ///         _ => Gate::Allow,
    ///     })
    ///     .build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "delete_note", r#"{"id":7}"#));
    /// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    /// assert!(result.content().ends_with("the user said no"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn before<F, D>(mut self, hook: F) -> Self
    where
        F: Fn(PendingCall) -> D + Send + Sync + 'static,
        D: Future<Output = Gate> + Send + 'static,
    {
        self.policy.before.push(gate::before(hook));
        self
    }

    /// Looks at the result of every call of a tool, and may put another in its place. Several are
    /// asked in turn.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Looks up a person.
    /// #[tool]
    /// fn look_up() -> &'static str {
    ///     "Ada, born in 1815, PIN 4711"
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![look_up])
    ///     .after(async |_tool, result| {
    ///         let told = result.content().replace("4711", "****");
    ///         result.with_content(told)
    ///     })
    ///     .build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "look_up", ""));
    /// assert_eq!(result.content(), "Ada, born in 1815, PIN ****");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn after<F, R>(mut self, hook: F) -> Self
    where
        F: Fn(ToolEntry, ToolResult) -> R + Send + Sync + 'static,
        R: Future<Output = ToolResult> + Send + 'static,
    {
        self.policy.after.push(gate::after(hook));
        self
    }

    /// Puts errors into other words for the model: the text that this gives for one, if it gives
    /// any, stands in the place of its own. The reference stays with it.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// Reads a file.
    /// #[tool]
    /// fn read() -> Result<String, std::io::Error> {
    ///     std::fs::read_to_string("/nowhere/secret")
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![read])
    ///     .map_errors(|error| match error.kind() {
    ///         ToolErrorKind::Failed => Some("the file can't be read".into()),
    ///         _ => None,
    ///     })
    ///     .build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "read", ""));
    /// let reference = result.error().unwrap().id();
    /// assert_eq!(result.content(), format!("the file can't be read [ref {reference}]"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn map_errors(
        mut self,
        retell: impl Fn(&ToolError) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.policy.retell = Some(Arc::new(retell));
        self
    }
}
