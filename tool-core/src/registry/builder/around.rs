//! What stands around every call: gates before it, and hooks behind it.

use std::future::Future;
use std::sync::Arc;

use super::RegistryBuilder;
use crate::call::ToolResult;
use crate::call::error::ToolError;
use crate::registry::gate::{self, Gate, PendingCall};
use crate::tool::ToolEntry;

/// What stands around every call.
impl RegistryBuilder {
    /// The most bytes of text that a tool's result may have. What is longer is cut between two
    /// characters, and a note behind it says how much is missing. A cut result is text, and no
    /// longer [structured](ToolResult::structured); so no tool promises a provider the form of its
    /// results then, as [`Mcp`](crate::dialect::Mcp) would. The note itself does not count. Hooks
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
    /// each sees what the one before it made of the arguments. No time-out and no limit counts for
    /// the time that they take; a [token](crate::ToolCall::cancel_with) ends that too.
    ///
    /// A gate that decides by the arguments should deny what it can't read. They are not checked
    /// yet, and a tool may take a value that comes in another spelling: `100.0` for `100`, the value
    /// of an enum in another case, and in a [lenient](RegistryBuilder::lenient) registry `"100"`.
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
    /// asked in turn. No time-out counts for the time that they take, and no token ends it.
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
        map_message: impl Fn(&ToolError) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.policy.map_message = Some(Arc::new(map_message));
        self
    }
}
