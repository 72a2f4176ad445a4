//! Calls tools of a registry.

use std::future::Future;
use std::sync::Arc;

use super::Registry;
use super::dispatch::{self, CallPath};
use super::resolve::resolve;
use super::snapshot::Snapshot;
use crate::call::context::CallContext;
use crate::call::error::ToolError;
use crate::call::{ToolCall, ToolResult, run_blocking};
use crate::provider::dialect::Turn;
use crate::runtime::join_all;
use crate::tool::ToolEntry;

/// Calls tools.
impl Registry {
    /// Runs one call. Always returns one result: invalid arguments, an unknown name and a panic
    /// become errors that the model can act on. Only a value that panics when it is dropped while
    /// another panic unwinds aborts the process, as everywhere in Rust.
    ///
    /// Works with any async runtime, and without one for sync tools. A blocking tool or a tool with
    /// a timeout needs a [`Runtime`](crate::runtime::Runtime). Dropping the future cancels the call. A tool
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
                Err(snapshot) => match resolve(&snapshot, &mut call, inner.policy.is_lenient) {
                    Some(tool) => tool,
                    None if call.server().is_some() => return dispatch::hosted(&inner, call),
                    None => return dispatch::unknown_tool(&inner, call, &snapshot),
                },
            };
            if !tool.admits(call.is_from_app()) {
                return dispatch::unknown_tool(&inner, call, &inner.snapshot());
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
    /// user, is cancelled with it, and counts towards the depth of nesting. Hooks, limits and the other
    /// context values come from this registry.
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
        run_blocking(call, |call| self.call(call))
    }

    /// Ends a call with an error, without running it: for code that handles calls before the registry
    /// does, such as a layer. The error is logged, and passes
    /// [`map_errors`](crate::RegistryBuilder::map_errors). Hooks don't see the call.
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
                match resolve(&snapshot, &mut call, self.0.policy.is_lenient) {
                    Some(tool) => (tool, call),
                    None => return Err(snapshot.unknown_tool(&call.name)),
                }
            }
        };
        if !tool.admits(call.is_from_app()) {
            return Err(self.0.snapshot().unknown_tool(&call.name));
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
            Err(snapshot) => resolve(&snapshot, call, self.0.policy.is_lenient),
        };
        found.filter(|tool| tool.admits(call.is_from_app()))
    }

    /// Makes calls of the [unanswered](Turn::unanswered) items in a response, where a tool of the registry
    /// [provides](macro@crate::tool#trained-tools) the provider's tool. They follow the other calls of the
    /// turn. A `Run` of the crate `tool-agent` does this.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::{openai, OpenAiResponses};
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
        let snapshot = self.0.snapshot();
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

    /// Returns the tool with this name, or the snapshot that lacks it.
    #[inline]
    pub(super) fn find(&self, name: &str) -> Result<ToolEntry, Arc<Snapshot>> {
        if self.0.selection.is_some()
            && let Some(tool) = self.0.selected(name)
        {
            return Ok(tool);
        }
        let current = self.0.snapshot();
        match current.get(name) {
            Some(tool) => Ok(tool.clone()),
            None => Err(Arc::clone(&current)),
        }
    }
}
