//! [`RegistryBuilder`]: a registry of chosen tools.

use std::sync::{Arc, RwLock};

use super::{LINKED, Registry, RegistryError, Snapshot};
use crate::tool::ToolEntry;

/// Collects the tools of a [`Registry`].
#[derive(Clone, Default)]
pub struct RegistryBuilder {
    tools: Vec<ToolEntry>,
    is_lenient: bool,
}

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

    /// Forgives what models get wrong most: a number, a truth value, an array or an object that
    /// comes in quotes, and one value where a list is wanted. Each case is told by
    /// [`ToolResult::coercions`](crate::ToolResult::coercions).
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
        self.is_lenient = true;
        self
    }

    /// The registry.
    ///
    /// # Errors
    ///
    /// When two tools have one name.
    pub fn build(self) -> Result<Registry, RegistryError> {
        let snapshot = Snapshot::new(self.tools)?;
        Ok(Registry {
            current: Arc::new(RwLock::new(Arc::new(snapshot))),
            is_lenient: self.is_lenient,
        })
    }
}
