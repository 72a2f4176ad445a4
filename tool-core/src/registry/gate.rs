//! Gates: what an application does before and after every call.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::call::context::Values;
use crate::call::{Arguments, ToolCall, ToolResult};
use crate::runtime::BoxFuture;
use crate::tool::ToolEntry;

/// A call before its tool, as [`RegistryBuilder::before`](crate::RegistryBuilder::before) shows it.
#[derive(Clone)]
pub struct PendingCall {
    /// The tool, with its annotations.
    pub tool: ToolEntry,
    /// The call as the model made it. Whether the arguments fit is not known yet, nor in which
    /// spelling the tool will take them; see [`before`](crate::RegistryBuilder::before).
    pub call: ToolCall,
    pub(super) registry: Values,
}

impl PendingCall {
    /// The value of this type: the call's own, else the registry's.
    pub fn get<T: std::any::Any + Send + Sync>(&self) -> Option<&T> {
        let given = self.call.given.as_ref();
        let own = given.and_then(|given| given.values.get());
        own.or_else(|| self.registry.get())
    }
}

impl fmt::Debug for PendingCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingCall")
            .field("tool", &self.tool)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

/// What becomes of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gate {
    /// It goes on.
    Allow,
    /// It ends here. The model reads the reason.
    Deny(String),
    /// It goes on with these arguments.
    Change(Arguments),
}

impl Gate {
    /// It ends here. The model reads the reason.
    pub fn deny(reason: impl Into<String>) -> Gate {
        Gate::Deny(reason.into())
    }

    /// It goes on with these arguments.
    pub fn change(arguments: impl Into<Arguments>) -> Gate {
        Gate::Change(arguments.into())
    }
}

pub(super) type BeforeHook = Arc<dyn Fn(PendingCall) -> BoxFuture<Gate> + Send + Sync>;
pub(super) type AfterHook =
    Arc<dyn Fn(ToolEntry, ToolResult) -> BoxFuture<ToolResult> + Send + Sync>;

pub(super) fn before<F, D>(hook: F) -> BeforeHook
where
    F: Fn(PendingCall) -> D + Send + Sync + 'static,
    D: Future<Output = Gate> + Send + 'static,
{
    Arc::new(move |pending| Box::pin(hook(pending)))
}

pub(super) fn after<F, R>(hook: F) -> AfterHook
where
    F: Fn(ToolEntry, ToolResult) -> R + Send + Sync + 'static,
    R: Future<Output = ToolResult> + Send + 'static,
{
    Arc::new(move |tool, result| Box::pin(hook(tool, result)))
}
