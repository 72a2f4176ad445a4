//! [`RegistryBuilder`]: chooses the tools and settings of a registry.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use super::policy::Policy;
use super::{Registry, RegistryError, Snapshot, linked};
use crate::call::ToolResult;
#[cfg(feature = "tracing")]
use crate::call::TraceContext;
use crate::call::boundary::Guarded;
use crate::call::error::ToolError;
use crate::call::type_map::Shared;
use crate::hooks::observe::OfCalls;
use crate::hooks::{CallRecord, Gate, HookCall, HookFuture, Observer};
use crate::provider::hosted_tool::HostedTool;
use crate::results::{ResultStore, Spill};
use crate::runtime::Runtime;
use crate::spec::Need;
use crate::tool::{IntoTools, LiveTool, ToolEntry, Toolset};

/// Collects the tools and settings of a [`Registry`].
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
/// let registry = Registry::builder()
///     .group("games", tools![roll_die])
///     .describe_group("games", "Dice and cards.")
///     .output_cap(10_000)
///     .build()?;
/// assert_eq!(registry.len(), 1);
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Default)]
pub struct RegistryBuilder {
    tools: Vec<ToolEntry>,
    hosted: Vec<HostedTool>,
    policy: Policy,
    results: Option<Arc<dyn ResultStore>>,
    /// The reason why the linked tools can't be listed.
    unlisted: Option<String>,
}

/// Creates registries.
impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Creates a registry of every `#[tool]` linked into this program, except those marked
    /// `unlinked`.
    ///
    /// Tools in a crate that you never reference are silently [absent](crate::guide::traps#tools-are-missing). Reference the crate
    /// (`use weather_tools as _;`), and check the result with [`Registry::expect`] or with
    /// `assert_linked` of the crate `tool-docs` in a test.
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
    /// runtime (set them on a [builder](RegistryBuilder::linked)), if the tools together exceed a
    /// limit of a [target](crate::rules::Target) of this build, or if crates of the program define tools with
    /// [another copy](crate::guide::traps#two-copies-of-this-crate) of tool-core.
    pub fn linked() -> Result<Registry, RegistryError> {
        Registry::builder().linked().build()
    }

    /// Creates a builder, to choose the tools and settings of a registry.
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }
}

/// Tools.
impl RegistryBuilder {
    /// Adds every tool linked into this program; see [`Registry::linked`].
    pub fn linked(mut self) -> Self {
        match linked::tools() {
            Ok(tools) => self.tools.extend(tools),
            Err(problem) => self.unlisted = Some(problem),
        }
        self
    }

    /// Adds tools, as listed by [`tools!`](crate::tools).
    pub fn tools<Kind>(mut self, tools: impl IntoTools<Kind>) -> Self {
        self.tools.extend(tools.into_tools());
        self
    }

    /// Adds one tool, such as a `DynamicTool`.
    pub fn tool<Kind>(self, tool: impl IntoTools<Kind>) -> Self {
        self.tools(tool)
    }

    /// Adds a tool that a provider runs itself; see [`HostedTool`].
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::Registry;
    /// use tool_core::dialect::HostedTool;
    /// use tool_dialects::OpenAiResponses;
    ///
    /// let search = HostedTool::new(json!({"type": "web_search"}));
    /// let registry = Registry::builder().hosted(search).build()?;
    /// let tools = registry.render(&OpenAiResponses::default());
    /// assert_eq!(tools.as_str(), r#"[{"type":"web_search"}]"#);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn hosted(mut self, tool: HostedTool) -> Self {
        if !self.hosted.contains(&tool) {
            self.hosted.push(tool);
        }
        self
    }

    /// Adds tools as a group; see [`Registry::group`].
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
    /// let registry = Registry::builder().group("games", tools![roll_die]).build()?;
    /// assert_eq!(registry.get("roll_die").unwrap().group(), Some("games"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn group<Kind>(self, name: &str, tools: impl IntoTools<Kind>) -> Self {
        self.tools(tools.into_tools().map(|tool| tool.in_group(name)))
    }

    /// Describes a group to models. Providers with namespaces show it in place of the group's deferred tools;
    /// see [`defer`](RegistryBuilder::defer). Without it, they show the names of the tools. Replaces an earlier
    /// description of the group.
    pub fn describe_group(mut self, name: &str, description: &str) -> Self {
        let description = (name.to_owned(), description.into());
        self.policy.group_descriptions.push(description);
        self
    }

    /// Defers the tools for which a closure returns `true`, including tools that you add later: a model
    /// gets their descriptions and parameters only when it searches for them. `#[tool(defer)]` does so for
    /// one tool, [`ToolEntry::deferred`] for an entry.
    ///
    /// Every request repeats all tools. Dozens of them cost many tokens, and models choose worse among
    /// them. So defer the tools that few conversations need.
    ///
    /// - [`Anthropic`](https://docs.rs/tool-dialects/latest/tool_dialects/struct.Anthropic.html) and [`OpenAiResponses`](https://docs.rs/tool-dialects/latest/tool_dialects/struct.OpenAiResponses.html)
    ///   send the deferred tools marked as such, together with the provider's own search. OpenAI gets a
    ///   [group](RegistryBuilder::group) as a namespace.
    /// - Other dialects send two tools in their place: `search_tools` and `call_tool`. They are the same in
    ///   every request, so that a cached prompt stays valid. A call of `call_tool` is validated, gated, traced,
    ///   limited and counted as a call of the tool that it names; hooks and the result have that tool.
    /// - [`Mcp`](https://docs.rs/tool-dialects/latest/tool_dialects/struct.Mcp.html) lists all tools: the client decides what a model sees.
    ///
    /// A deferred tool runs as any other, whichever way a model calls it. Deferring protects nothing: if a
    /// caller must not find a tool, [`select`](Registry::select) the tools that it may use. A call with an
    /// unknown name is answered without the names of deferred tools. A registry with deferred tools can't
    /// have tools with the names `search_tools`, `call_tool`, `tool_search`, `tool_search_tool_bm25` and
    /// `tool_search_tool_regex`.
    ///
    /// ```
    /// use tool_dialects::{Anthropic, OpenAiChat};
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// /// The weather in the next days.
    /// #[tool]
    /// fn get_forecast(city: &str, days: u8) -> String {
    ///     format!("sunny in {city} for {days} days")
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![roll_die, get_forecast])
    ///     .defer(|tool| tool.name.starts_with("get_"))
    ///     .build()?;
    /// let anthropic = serde_json::json!(registry.render(&Anthropic::default()));
    /// assert_eq!(anthropic[1]["type"], "tool_search_tool_bm25_20251119");
    /// assert_eq!(anthropic[2]["defer_loading"], true);
    ///
    /// let chat = serde_json::json!(registry.render(&OpenAiChat::default()));
    /// assert_eq!(chat[1]["function"]["name"], "search_tools");
    /// assert_eq!(chat[2]["function"]["name"], "call_tool");
    /// let search = ToolCall::new("call_1", "search_tools", r#"{"query":"weather in a city"}"#);
    /// assert!(registry.call_blocking(search).content().contains("get_forecast"));
    /// let arguments = r#"{"name":"get_forecast","arguments":{"city":"Lisbon","days":3}}"#;
    /// let result = registry.call_blocking(ToolCall::new("call_2", "call_tool", arguments));
    /// assert_eq!(result.name(), "get_forecast");
    /// assert_eq!(result.content(), "sunny in Lisbon for 3 days");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[doc(alias("tool search"))]
    pub fn defer(
        mut self,
        is_deferred: impl Fn(&ToolEntry) -> bool + Send + Sync + 'static,
    ) -> Self {
        let is_deferred = Guarded::new(is_deferred);
        self.policy
            .defer
            .push(Arc::new(move |tool| is_deferred(tool)));
        self
    }

    /// Defers the tools with these names; see [`defer`](RegistryBuilder::defer).
    pub fn defer_tools<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
        self.defer(move |tool| names.iter().any(|name| tool.name == **name))
    }

    /// Defers the tools of these [groups](RegistryBuilder::group); see [`defer`](RegistryBuilder::defer).
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_dialects::OpenAiResponses;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Lists the open orders of a customer.
    /// #[tool]
    /// fn list_orders(customer: u32) -> Vec<u32> {
    ///     vec![customer]
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .group("crm", tools![list_orders])
    ///     .describe_group("crm", "Customers and their orders.")
    ///     .defer_groups(["crm"])
    ///     .build()?;
    /// let tools = json!(registry.render(&OpenAiResponses::default()));
    /// assert_eq!(tools[0], json!({"type": "tool_search"}));
    /// assert_eq!(tools[1]["type"], "namespace");
    /// assert_eq!(tools[1]["description"], "Customers and their orders.");
    /// assert_eq!(tools[1]["tools"][0]["defer_loading"], true);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn defer_groups<'n>(self, names: impl IntoIterator<Item = &'n str>) -> Self {
        let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
        self.defer(move |tool| names.iter().any(|name| tool.group() == Some(name)))
    }

    /// Adds the methods of a value as tools. The prefix is prepended to their names, so that one
    /// registry can hold several values of the same type. The prefix without trailing `_` and `-`
    /// is the name of their group; with an empty prefix they have no group.
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

    /// Adds the methods of a value that the application keeps using; see
    /// [`toolset`](RegistryBuilder::toolset).
    pub fn shared_toolset<T: Toolset>(self, prefix: &str, value: Arc<T>) -> Self {
        let value: Shared = Arc::new(Guarded::new(value));
        let group = prefix.trim_end_matches(['_', '-']);
        let group: Option<Arc<str>> = (!group.is_empty()).then(|| group.into());
        let tools = T::TOOLS.iter().copied().flatten().map(|tool| {
            let mut tool = LiveTool {
                receiver: Some(value.clone()),
                group: group.clone(),
                ..ToolEntry::from_static(tool.get()).into_live()
            };
            if !prefix.is_empty() {
                tool.spec.name = format!("{prefix}{}", tool.spec.name).into();
            }
            ToolEntry::from_live(tool)
        });
        self.tools(tools)
    }

    /// Builds the registry.
    ///
    /// # Errors
    ///
    /// Returns an error that lists every problem: two tools have the same name, a prefixed name is
    /// not valid for every provider, a [context value](RegistryBuilder::context) or a runtime is
    /// missing, or the tools together exceed a limit of a [target](crate::rules::Target) of this
    /// build.
    pub fn build(self) -> Result<Registry, RegistryError> {
        if let Some(problem) = self.unlisted {
            return Err(RegistryError::of_linked_tools(problem));
        }
        let mut policy = self.policy;
        policy.runtime = policy.runtime.or_else(Policy::default_runtime);
        if let (Some(store), Some(limit)) = (self.results, policy.output_cap) {
            policy.context.insert(Spill { store, limit });
        }
        let mut tools = self.tools;
        tools.extend(policy.own_tools());
        let snapshot = Snapshot::new(tools, self.hosted, &policy)?;
        Ok(Registry::from_parts(snapshot, policy))
    }

    /// Builds a registry of tools whose context values or runtime may be missing, to list, document and check them.
    /// A call of such a tool fails with [`Unavailable`](crate::ToolErrorKind::Unavailable).
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// struct Prices(u32);
    ///
    /// /// The price of some articles.
    /// #[tool]
    /// fn get_price(articles: u32, #[param(context)] prices: &Prices) -> u32 {
    ///     articles * prices.0
    /// }
    ///
    /// let builder = Registry::builder().tools(tools![get_price]);
    /// assert!(builder.clone().build().is_err());
    /// let registry = builder.build_without_context()?;
    /// assert_eq!(registry.specs()[0].name, "get_price");
    /// let result = registry.call_blocking(ToolCall::new("call_1", "get_price", r#"{"articles":3}"#));
    /// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Unavailable);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`build`](RegistryBuilder::build), except for missing context values and runtimes.
    pub fn build_without_context(mut self) -> Result<Registry, RegistryError> {
        self.policy.is_incomplete = true;
        self.build()
    }
}

/// Context.
impl RegistryBuilder {
    /// Sets a context value, which tools borrow by its type with `#[param(context)]`. Replaces an
    /// earlier value of the same type.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// struct Prices(u32);
    ///
    /// /// The price of some articles.
    /// #[tool]
    /// fn get_price(articles: u32, #[param(context)] prices: &Prices) -> u32 {
    ///     articles * prices.0
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![get_price]).context(Prices(5)).build()?;
    /// let call = ToolCall::new("call_1", "get_price", r#"{"articles":3}"#);
    /// assert_eq!(registry.call_blocking(call).content(), "15");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[doc(alias("deps", "dependency injection", "state"))]
    pub fn context<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.policy.context.insert(value);
        self
    }

    /// Declares that every call has a context value of this type, set with
    /// [`ToolCall::with`](crate::ToolCall::with). A call without one fails with
    /// [`Unavailable`](crate::ToolErrorKind::Unavailable) if its tool needs the value.
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
        self.policy.per_call.push(Need::of::<T>());
        self
    }

    /// Sets the runtime for timeouts and blocking tools. With the feature `tokio`, the default is
    /// tokio.
    pub fn runtime(mut self, runtime: impl Runtime) -> Self {
        self.policy.runtime = Some(Arc::new(Guarded::new(runtime)));
        self
    }
}

/// Limits.
impl RegistryBuilder {
    /// Accepts the most frequent errors of models: a quoted number, boolean, array or object, a single
    /// value instead of a list (but not instead of a list of lists), and `""` or `"null"` for no value,
    /// where no text is expected. [`ToolResult::coercions`] lists the converted values. Does not apply to
    /// the arguments of a `DynamicTool`.
    ///
    /// A call of a name with extra text around it, such as `functions.get_weather` or
    /// `get_weather<|channel|>commentary`, runs the tool `get_weather`.
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

    /// Sets the timeout of tools without their own (`#[tool(timeout = "30s")]`). It starts when the
    /// tool starts; hooks and waiting for a permit do not count.
    ///
    /// Timeouts apply to async and `blocking` tools. A plain sync tool cannot be stopped. The thread
    /// of a `blocking` tool keeps running after the timeout; see
    /// [`CallContext::is_cancelled`](crate::CallContext::is_cancelled).
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use tool_core::Registry;
    ///
    /// let registry = Registry::builder().linked().timeout(Duration::from_secs(30)).build()?;
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.policy.timeout = Some(timeout);
        self
    }

    /// Limits concurrently running tools. Further calls wait for a permit in order of arrival, and
    /// can be [cancelled](crate::ToolCall::cancel_with) while they wait. A limit of 0 counts as 1.
    ///
    /// Two kinds of tools can block all others forever:
    ///
    /// - A tool that calls the registry directly needs a second permit while it holds one. If such
    ///   tools hold all permits, none can continue. Make nested calls through the
    ///   [`CallContext`](crate::CallContext::call): they run under the permit of their parent, one at
    ///   a time.
    /// - A blocking tool holds its permit until its thread ends, which may be long after its timeout. So
    ///   let it check [`CallContext::is_cancelled`](crate::CallContext::is_cancelled) and never wait
    ///   without a time limit.
    ///
    /// ```no_run
    /// use tool_core::Registry;
    ///
    /// let registry = Registry::builder().linked().concurrency(8).build()?;
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[cfg(feature = "tokio")]
    pub fn concurrency(mut self, limit: usize) -> Self {
        let limit = limit.clamp(1, tokio::sync::Semaphore::MAX_PERMITS);
        self.policy.semaphore = Some(Arc::new(tokio::sync::Semaphore::new(limit)));
        self
    }

    /// Limits the text of every result to this many bytes. A longer text is truncated at a character
    /// boundary, and a note, which does not count, says how much is missing.
    ///
    /// A truncated result is text and no longer [structured](ToolResult::structured). Rendered tools
    /// therefore have no output schema, which [`Mcp`](https://docs.rs/tool-dialects/latest/tool_dialects/struct.Mcp.html) would include. The
    /// [`after`](RegistryBuilder::after) hooks see the whole text; their result is truncated.
    ///
    /// Of a result with [parts](ToolResult::parts), the text parts are limited together. Images, audio and files
    /// are never truncated; [`media_cap`](RegistryBuilder::media_cap) limits them.
    ///
    /// Frees the memory of truncated text. The operator's messages of an error are kept up to 64 KiB or the
    /// cap, and a source that displays more is replaced by its messages.
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
    /// assert_eq!(result.content(), "1234\n[truncated: 5 of 9 bytes omitted]");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn output_cap(mut self, bytes: usize) -> Self {
        self.policy.output_cap = Some(bytes);
        self
    }

    /// Limits the text of every result like [`output_cap`](RegistryBuilder::output_cap), and keeps in a store what is cut. The
    /// model gets the start, which ends with a line if one ends near, with the size of the text and a handle. It reads on by
    /// the tool `read_result`, which the registry offers from then on: from a line or a byte on, or where a text is found. So
    /// no tool of the registry can have this name.
    ///
    /// - A handle belongs to a [`ResultScope`](crate::registry::ResultScope). In another scope it is unknown. Without a scope
    ///   nothing is kept, and the text is truncated, because nobody could tell whose it is. An `Agent` of `tool-agent` and a
    ///   `Server` of `tool-mcp` attach scopes by themselves.
    /// - The store decides how long it keeps a result. If it fails, the text is truncated, and the log says why.
    /// - The [`after`](RegistryBuilder::after) hooks come first, so that nothing that they remove is kept.
    /// - The text parts of a result are kept as one text, one a line. Pictures and other parts stay in the result.
    /// - The text of an error is kept if the tool failed. What a registry says itself, such as about arguments, is truncated.
    /// - A [nested call](crate::CallContext#nested-calls) gets the whole result, because a tool reads it.
    /// - The parts that `read_result` returns have the same limit, and are not kept again. A
    ///   [selection](Registry::select) has it too, and no rule [defers](RegistryBuilder::defer) it.
    ///
    /// ```
    /// use tool_core::registry::{MemoryResults, ResultScope};
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Reads the log.
    /// #[tool(read_only)]
    /// fn read_log() -> String {
    ///     (1..=500).map(|number| format!("request {number}\n")).collect()
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![read_log])
    ///     .spill(MemoryResults::new(), 1000)
    ///     .build()?;
    /// let scope = ResultScope::new("chat 7");
    /// let result = registry.call_blocking(ToolCall::new("call_1", "read_log", "").with(scope.clone()));
    /// let (handle, bytes) = result.kept().unwrap();
    /// assert_eq!(bytes, 5892);
    ///
    /// let search = serde_json::json!({"handle": handle, "search": "request 404"});
    /// let found = registry.call_blocking(ToolCall::new("call_2", "read_result", search).with(scope));
    /// assert!(found.content().starts_with("line 404, byte 4728: request 404\n"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn spill(mut self, store: impl ResultStore + 'static, limit: usize) -> Self {
        self.results = Some(Arc::new(store));
        self.output_cap(limit)
    }

    /// Limits the images, audio and files of every result to this many bytes together. A note replaces each
    /// one that does not fit, because a part of it would be of no use.
    ///
    /// Without a limit here, the provider's limit applies: a dialect leaves out parts that its provider is
    /// known to reject; see [`Dialect::omitted`](crate::dialect::Dialect::omitted).
    ///
    /// ```
    /// use tool_core::content::Image;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Takes a picture.
    /// #[tool]
    /// fn take_picture() -> Image {
    ///     Image::jpeg([0; 5000])
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![take_picture]).media_cap(4000).build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "take_picture", ""));
    /// assert_eq!(
    ///     result.parts()[0].as_text().unwrap(),
    ///     "[image/jpeg image, 5000 bytes, omitted: a result may have 4000 bytes of media]"
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn media_cap(mut self, bytes: usize) -> Self {
        self.policy.media_cap = Some(bytes);
        self
    }
}

/// Telemetry.
impl RegistryBuilder {
    /// Records the arguments and the result of each call in its span, as the attributes
    /// `gen_ai.tool.call.arguments` and `gen_ai.tool.call.result`, each limited to this many bytes. They
    /// may be personal, so nothing is recorded by default.
    ///
    /// The arguments are recorded as the model sent them. A value with
    /// [`#[param(secret)]`](macro@crate::tool#secrets) is `[secret]`, and the arguments of an unknown tool
    /// are not recorded. Only the result of a successful call is.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Signs in.
    /// #[tool]
    /// fn sign_in(user: &str, #[param(secret)] password: &str) -> bool {
    ///     user.len() < password.len()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![sign_in]).trace_content(4096).build()?;
    /// // The span of this call has `gen_ai.tool.call.arguments={"user":"ada","password":"[secret]"}`.
    /// registry.call_blocking(ToolCall::new("1", "sign_in", r#"{"user":"ada","password":"hunter2"}"#));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    #[cfg(feature = "tracing")]
    pub fn trace_content(mut self, bytes: usize) -> Self {
        self.policy.telemetry.content = Some(bytes);
        self
    }

    /// Sets a closure that makes the trace of a caller the parent of a call's span. The closure runs for
    /// each call that has a [`TraceContext`](crate::call::TraceContext) and is not nested in another call
    /// here, before anything else happens in the span. Without it, the parent is the span in which the call
    /// is made.
    ///
    /// This crate can't do it itself, because traces of OpenTelemetry exist in the application only. With
    /// `tracing-opentelemetry`:
    ///
    /// ```ignore
    /// use std::collections::HashMap;
    /// use opentelemetry::propagation::TextMapPropagator;
    /// use opentelemetry_sdk::propagation::TraceContextPropagator;
    /// use tracing_opentelemetry::OpenTelemetrySpanExt;
    ///
    /// let registry = Registry::builder().linked().trace_parent(|span, trace| {
    ///     let headers = trace.headers().map(|(name, value)| (name.to_owned(), value.to_owned()));
    ///     let headers: HashMap<_, _> = headers.collect();
    ///     // Fails if the span is not sampled by the layer; nothing is to be done then.
    ///     let _ = span.set_parent(TraceContextPropagator::new().extract(&headers));
    /// });
    /// ```
    #[cfg(feature = "tracing")]
    pub fn trace_parent(
        mut self,
        set_parent: impl Fn(&tracing::Span, &TraceContext) + Send + Sync + 'static,
    ) -> Self {
        let set_parent = Guarded::new(set_parent);
        self.policy.telemetry.trace_parent =
            Some(Arc::new(move |span, trace| set_parent(span, trace)));
        self
    }

    /// Adds a function that sees each call when it has ended: the tool, whether it failed, and how long it
    /// took. It runs on the thread of the call and should return quickly. Its panics are caught. Several
    /// functions run in order.
    ///
    /// Use it for metrics: the recipe `metrics` of the cookbook records a histogram of OpenTelemetry. A call of an unknown
    /// tool is not observed, because the model made up its name.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let failures = Arc::new(Mutex::new(Vec::new()));
    /// let sink = failures.clone();
    /// let registry = Registry::builder()
    ///     .tools(tools![add])
    ///     .observe(move |record| sink.lock().unwrap().extend(record.error))
    ///     .build()?;
    /// registry.call_blocking(ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#));
    /// registry.call_blocking(ToolCall::new("call_2", "add", r#"{"a":2}"#));
    /// assert_eq!(*failures.lock().unwrap(), [ToolErrorKind::InvalidArguments]);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn observe(self, observer: impl Fn(&CallRecord<'_>) + Send + Sync + 'static) -> Self {
        self.observe_with(OfCalls(observer))
    }

    /// Adds an [`Observer`], which sees calls, and the requests and runs of the `Agent` of `tool-agent` that has the
    /// registry. Several observers run in order.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_core::hooks::{CallRecord, Observer, RequestRecord, RunRecord};
    ///
    /// /// Prints what an operator reads.
    /// struct Lines;
    ///
    /// impl Observer for Lines {
    ///     fn call(&self, record: &CallRecord<'_>) {
    ///         println!("{} took {:?}", record.tool, record.duration);
    ///     }
    ///
    ///     fn request(&self, record: &RequestRecord<'_>) {
    ///         println!("{} took {:?}, with {} retries", record.provider, record.duration, record.retries);
    ///     }
    ///
    ///     fn run(&self, record: &RunRecord<'_>) {
    ///         println!("{:?} after {} requests", record.outcome, record.requests);
    ///     }
    /// }
    ///
    /// let registry = Registry::builder().observe_with(Lines).build()?;
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn observe_with(mut self, observer: impl Observer + 'static) -> Self {
        let observers = self.policy.observers.get_or_insert_default();
        Arc::make_mut(observers).push(Arc::new(Guarded::new(observer)));
        self
    }
}

/// Hooks.
impl RegistryBuilder {
    /// Adds a hook that runs before every call and allows it, denies it, changes its arguments or
    /// answers in the tool's place. Several hooks run in order, and each sees the changes of the ones
    /// before it. Timeouts and concurrency limits do not apply to hooks; a
    /// [token](crate::ToolCall::cancel_with) cancels them too.
    ///
    /// The call is validated first, so a hook never sees a call that cannot run. It sees the arguments as
    /// the tool will get them: `100` for `100.0`, the declared spelling of an enum value, the name of a
    /// property for its alias, and nothing for an ignored `null`. Defaults are not filled in, and an alias
    /// of an enum value stays as it is. If a hook changes the arguments, they are validated again.
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
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
    ///     .before(async |hook| match hook.tool.annotations.destructive {
    ///         Some(true) if !ask_the_user(&hook.call).await => Gate::deny("the user said no"),
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
        F: Fn(HookCall) -> D + Send + Sync + 'static,
        D: HookFuture<Gate> + Send + 'static,
    {
        let hook = Guarded::new(hook);
        self.policy
            .before
            .push(Arc::new(move |call| Box::pin(hook(call))));
        self
    }

    /// Adds a hook that runs after every call and returns the result, changed or not. It sees the
    /// call too, with its arguments and context values. Several hooks run in order. Neither timeouts
    /// nor cancellation tokens apply to them.
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
    ///     .after(async |_, result| {
    ///         let redacted = result.content().replace("4711", "****");
    ///         result.with_content(redacted)
    ///     })
    ///     .build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "look_up", ""));
    /// assert_eq!(result.content(), "Ada, born in 1815, PIN ****");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn after<F, R>(mut self, hook: F) -> Self
    where
        F: Fn(HookCall, ToolResult) -> R + Send + Sync + 'static,
        R: HookFuture<ToolResult> + Send + 'static,
    {
        let hook = Guarded::new(hook);
        self.policy
            .after
            .push(Arc::new(move |call, result| Box::pin(hook(call, result))));
        self
    }

    /// Replaces the text of errors for the model with the text that this closure returns, if any. The
    /// reference is kept.
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
        map: impl Fn(&ToolError) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        let map = Guarded::new(map);
        self.policy.map_error = Some(Arc::new(move |error| map(error)));
        self
    }
}
