//! [`Start`]: the last check before a tool runs.

use std::sync::Arc;

use super::boundary::{Caught, catch};
use crate::runtime::BoxFuture;
use crate::spec::ToolSpec;

/// A tool that is about to run, as a closure of [`Start`] sees it.
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
    pub tool: ToolSpec,
    /// `true` if a tool makes the call, through its [`CallContext`](crate::CallContext).
    pub is_nested: bool,
}

pub(crate) type StartCheck = Arc<dyn Fn(Start) -> BoxFuture<Result<(), String>> + Send + Sync>;

/// Runs the checks in order. Returns the reason of the first that fails, or the text of a panic as an error of the
/// outer result.
pub(crate) async fn check_start(
    checks: &[StartCheck],
    tool: &ToolSpec,
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
