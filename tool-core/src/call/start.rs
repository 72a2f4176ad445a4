//! [`ToolCall::start_with`]: the last check before a tool runs.

use std::future::Future;
use std::sync::Arc;

use super::ToolCall;
use super::boundary::{Caught, Guarded, catch};
use crate::runtime::BoxFuture;
use crate::tool::ToolEntry;

/// A tool that is about to run, as a closure of [`ToolCall::start_with`] sees it.
///
/// ```
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// let registry = Registry::builder().tools(tools![roll_die]).build()?;
/// let call = ToolCall::new("call_1", "roll_die", "").start_with(async |start| {
///     let allowed = start.tool.annotations.read_only == Some(true) && !start.is_nested;
///     if allowed { Ok(()) } else { Err("only lookups are allowed now".to_owned()) }
/// });
/// assert!(registry.call_blocking(call).content().ends_with("only lookups are allowed now"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Start {
    /// The tool.
    pub tool: ToolEntry,
    /// `true` if a tool makes the call, through its [`CallContext`](crate::CallContext).
    pub is_nested: bool,
}

pub(crate) type StartCheck = Arc<dyn Fn(Start) -> BoxFuture<Result<(), String>> + Send + Sync>;

/// Runs the checks in order. Returns the reason of the first that fails, or the text of a panic as an error of the
/// outer result.
pub(crate) async fn check_start(
    checks: &[StartCheck],
    tool: &ToolEntry,
    is_nested: bool,
) -> Result<Result<(), String>, String> {
    for check in checks {
        let start = Start {
            tool: tool.clone(),
            is_nested,
        };
        let checked = Caught::new(catch(|| check(start))?).await?;
        if checked.is_err() {
            return Ok(checked);
        }
    }
    Ok(Ok(()))
}

impl ToolCall {
    /// Asks a closure right before the tool runs: after the arguments were validated, after all `before` hooks, and
    /// once there is a permit. It is asked for the calls that the tool makes through its
    /// [`CallContext`](crate::CallContext), too. If it returns a reason, the tool does not run, and the call ends with the
    /// error [`Denied`](crate::ToolErrorKind::Denied) and that reason. If it panics, the tool does not run either.
    ///
    /// A call that somebody denied or answered does not start, so the closure is not asked. Several closures are asked
    /// in order.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// static LEFT: AtomicU32 = AtomicU32::new(1);
    ///
    /// let registry = Registry::builder().tools(tools![roll_die]).build()?;
    /// let call = ToolCall::new("call_1", "roll_die", "").start_with(async |_| {
    ///     let used = LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    ///     used.map(|_| ()).map_err(|_| "no throw is left".to_owned())
    /// });
    /// assert_eq!(registry.call_blocking(call.clone()).content(), "4");
    /// assert!(registry.call_blocking(call).content().ends_with("no throw is left"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn start_with<F>(mut self, check: impl Fn(Start) -> F + Send + Sync + 'static) -> ToolCall
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let check = Guarded::new(check);
        self.extensions_mut()
            .starts
            .push(Arc::new(move |start| Box::pin(check(start))));
        self
    }
}
