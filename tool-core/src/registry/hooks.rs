//! Hooks: closures that run before and after every call.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::call::context::{TypeMap, get_value};
use crate::call::{Arguments, ToolCall, ToolResult};
use crate::runtime::BoxFuture;
use crate::tool::ToolEntry;

pub(super) type BeforeHook = Arc<dyn Fn(PendingCall) -> BoxFuture<Gate> + Send + Sync>;
pub(super) type AfterHook =
    Arc<dyn Fn(ToolEntry, ToolResult) -> BoxFuture<ToolResult> + Send + Sync>;

/// A call that is about to run, passed to the hooks of
/// [`RegistryBuilder::before`](crate::RegistryBuilder::before).
#[derive(Clone)]
pub struct PendingCall {
    /// The tool, with its annotations.
    pub tool: ToolEntry,
    /// The call as the model made it. The arguments are not validated yet; see
    /// [`before`](crate::RegistryBuilder::before).
    pub call: ToolCall,
    pub(super) registry: TypeMap,
}

impl PendingCall {
    /// Returns the context value of this type: the call's if there is one, else the registry's.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        get_value(self.call.extensions.as_deref(), &self.registry)
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

/// The verdict of a `before` hook.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gate {
    /// Runs the call.
    Allow,
    /// Rejects the call. The model sees the reason.
    Deny(String),
    /// Runs the call with these arguments.
    Change(Arguments),
}

impl Gate {
    /// Rejects the call. The model sees the reason.
    pub fn deny(reason: impl Into<String>) -> Gate {
        Gate::Deny(reason.into())
    }

    /// Runs the call with these arguments.
    pub fn change(arguments: impl Into<Arguments>) -> Gate {
        Gate::Change(arguments.into())
    }
}
