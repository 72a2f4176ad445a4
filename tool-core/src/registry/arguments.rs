//! [`ArgumentsReader`]: checks the arguments of a call while the model writes them.

use std::fmt;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::dispatch::validate_call;
use super::{Inner, Registry, deferred};
use crate::call::boundary::catch;
use crate::call::error::ToolError;
use crate::call::{CALL_TOOL, ToolCall};
use crate::schema::not_json;
use crate::schema::validate::incremental::Incremental;
use crate::schema::violation::Violation;
use crate::tool::ToolEntry;

impl Registry {
    /// Returns a reader that checks the arguments of a call of this tool while they arrive, or `None` if
    /// there is no such tool. The reader keeps this tool, even if the registry changes.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6)] dice: u8, name: Option<String>) -> u8 {
    ///     # let _ = name;
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let mut arguments = registry.arguments("roll").unwrap();
    /// arguments.push(r#"{"dice": 2"#);
    /// arguments.push(r#"0, "na"#);
    /// let error = arguments.error().unwrap();
    /// assert_eq!(error.violations()[0].to_string(), "dice: 20 is above the maximum 6");
    ///
    /// let mut arguments = registry.arguments("roll").unwrap();
    /// arguments.push(r#"{"dice": 2, "name": "A"#);
    /// assert_eq!(arguments.values()["dice"], 2);
    /// arguments.push(r#"da"}"#);
    /// assert_eq!(arguments.finish().unwrap(), r#"{"dice": 2, "name": "Ada"}"#);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn arguments(&self, name: &str) -> Option<ArgumentsReader> {
        let tool = match self.get(name) {
            Some(tool) => tool,
            None => self.0.snapshot().built_in(name)?,
        };
        let is_lenient = self.0.policy.is_lenient;
        // The input of a trained tool may come with or without the key of its parameter.
        let is_known = !tool.is_dynamic() && tool.provided().is_none();
        let parameters = is_known.then(|| tool.properties());
        Some(ArgumentsReader {
            check: Incremental::new(parameters, is_lenient),
            inner: Arc::clone(&self.0),
            is_freeform: false,
            tool,
        })
    }
}

/// Checks the arguments of a call while they arrive in pieces; see [`Registry::arguments`].
///
/// Each parameter is validated once its value has ended, which the next comma or the closing brace shows. Two
/// errors show only at the end: a required parameter is missing, and one is given twice. The parameters of a
/// [dynamic tool](crate::dynamic::DynamicTool) or a [trained](macro@crate::tool#trained-tools) one are validated at
/// the end too, except that JSON errors and duplicate keys inside of a parameter show when it ends.
///
/// The verdict does not depend on how the text is split. It equals the verdict on the whole text. Each
/// byte is validated twice, so all pieces cost two validations.
///
/// The arguments that `call_tool` passes to a [deferred](crate::RegistryBuilder::defer) tool are validated when
/// they end.
///
/// ```
/// use tool_core::{Registry, tool, tools};
///
/// /// Sets the volume.
/// #[tool]
/// fn set_volume(#[param(range = 0..=10)] level: u8) -> u8 {
///     level
/// }
///
/// let registry = Registry::builder().tools(tools![set_volume]).build()?;
/// let mut reader = registry.arguments("set_volume").unwrap();
/// reader.push(r#"{"level":11"#);
/// assert!(reader.error().is_none());
/// reader.push(" }");
/// assert!(reader.error().is_some());
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub struct ArgumentsReader {
    inner: Arc<Inner>,
    tool: ToolEntry,
    check: Incremental,
    /// Set while the string of free-form arguments is open.
    is_freeform: bool,
}

impl ArgumentsReader {
    /// Adds a piece of the JSON text. Once there is an [error](ArgumentsReader::error), further pieces can only add
    /// violations to it.
    pub fn push(&mut self, piece: &str) {
        // Types may validate themselves with code of the application.
        if catch(|| self.check.push(piece)).is_err() {
            self.check.give_up();
        }
    }

    /// Adds a piece of [free-form](crate::call::Arguments::Freeform) text. For a tool of another kind it is a
    /// piece of the JSON text.
    ///
    /// ```
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Runs a query.
    /// #[tool(freeform)]
    /// fn run_sql(#[param(length = ..=20)] sql: &str) -> usize {
    ///     sql.len()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![run_sql]).build()?;
    /// let mut arguments = registry.arguments("run_sql").unwrap();
    /// arguments.push_freeform("SELECT \"a\"");
    /// arguments.push_freeform(" FROM b");
    /// assert_eq!(arguments.finish().unwrap(), r#"{"sql":"SELECT \"a\" FROM b"}"#);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn push_freeform(&mut self, piece: &str) {
        let Some(freeform) = self.tool.freeform() else {
            return self.push(piece);
        };
        let whole = freeform.arguments(piece);
        let empty = freeform.arguments("");
        // Both end with `"}`, and before the text they are alike.
        let head = empty.len() - 2;
        let from = if self.is_freeform { head } else { 0 };
        self.is_freeform = true;
        self.push(&whole[from..whole.len() - 2]);
    }

    /// Returns the violations so far, at most 20. There may be none although the arguments are rejected,
    /// if they are not JSON.
    pub fn violations(&self) -> &[Violation] {
        self.check.violations()
    }

    /// Returns the text so far.
    pub fn text(&self) -> &str {
        self.check.text()
    }

    /// Returns the values that are complete, such as for a form that fills while the model writes. Objects
    /// and arrays have their complete items; unions appear whole.
    ///
    /// It can be called for each piece. Beyond 4 kB, values are added once an eighth more of the text is complete, or all
    /// of it, so that a long text is parsed a few times alone.
    pub fn values(&mut self) -> Arc<Map<String, Value>> {
        self.check.values()
    }

    /// Returns the error for the violations so far, or `None` if a call with this text may still be accepted. A call
    /// with an error is rejected however it goes on, so the response can be cancelled and the call answered with it.
    pub fn error(&self) -> Option<ToolError> {
        if !self.check.is_rejected() {
            return None;
        }
        let violations = self.check.all_violations();
        let mut error = if violations.is_empty() {
            let text = self.check.text();
            let problem = match serde_json::from_str::<IgnoredAny>(text) {
                Err(error) if !error.is_eof() => not_json::why(text, &error),
                _ => "the text is not JSON".into(),
            };
            ToolError::malformed_json(&self.tool.name, &problem)
        } else {
            ToolError::invalid_arguments(&self.tool.name, violations.clone())
        };
        error.offer(self.tool.offered_example());
        Some(error)
    }

    /// Returns the whole text if a call with it is accepted. Validates and decodes it, because types may reject what
    /// their schemas allow.
    ///
    /// # Errors
    ///
    /// Returns the error of a call with this text, with all violations.
    pub fn finish(mut self) -> Result<String, ToolError> {
        if self.is_freeform {
            self.push("\"}");
        }
        let text = self.check.into_text();
        if deferred::is_call_tool(&self.tool) {
            let call = ToolCall::new("", CALL_TOOL, text.as_str());
            return Registry(self.inner).validate(&call).map(|_| text);
        }
        let call = ToolCall::new("", &*self.tool.name, text.as_str());
        match validate_call(&self.inner, &self.tool, call) {
            Ok(_) => Ok(text),
            Err(error) => Err(*error),
        }
    }
}

impl fmt::Debug for ArgumentsReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgumentsReader")
            .field("tool", &self.tool.name)
            .field("is_rejected", &self.check.is_rejected())
            .field("violations", &self.violations())
            .finish_non_exhaustive()
    }
}
