//! [`CallContext`]: what a tool can have besides the arguments that a model sends.

mod cancellation;
mod progress;
mod values;

use std::any::{Any, TypeId, type_name};
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::call::CallHead;

pub use cancellation::{CancellationToken, Cancelled};
pub use progress::Progress;
pub(crate) use progress::ProgressSink;
pub(crate) use values::Values;

/// The call that a tool was made for: its id, the values that the application gave it, a way to
/// notice that nobody waits for it any more, and a way to tell how far it is.
///
/// A parameter of the type `&CallContext` is no parameter for the model, and neither is one with
/// `#[param(context)]`, which borrows a value of its type: of the call
/// ([`ToolCall::with`](crate::ToolCall::with)) if it brings one, else of the registry
/// ([`RegistryBuilder::context`](crate::RegistryBuilder::context)). Neither stands in the schema,
/// and a call that has an argument of that name is refused, since the key is unknown.
///
/// ```
/// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
///
/// struct Tenant(&'static str);
/// struct Notes(Vec<&'static str>);
///
/// /// Counts the notes of the user.
/// #[tool]
/// fn count_notes(#[param(context)] notes: &Notes, call: &CallContext) -> String {
///     let tenant = call.get::<Tenant>().map_or("nobody", |tenant| tenant.0);
///     format!("{tenant} has {} notes", notes.0.len())
/// }
///
/// let registry = Registry::builder()
///     .tools(tools![count_notes])
///     .context(Notes(vec!["milk", "bread"]))
///     .build()?;
/// let call = ToolCall::new("call_1", "count_notes", "{}").with(Tenant("Ada"));
/// assert_eq!(registry.call_blocking(call).content(), "Ada has 2 notes");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
///
/// # Calls inside of calls
///
/// A tool that makes calls of its own gets the registry as it gets any other value, best with the
/// call: a registry that holds itself is never dropped. What the call was given is handed on by
/// hand. A registry with a limit (`RegistryBuilder::concurrency`) is a trap for such tools.
///
/// ```
/// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
///
/// /// Rolls a die.
/// #[tool]
/// fn roll_die() -> u8 {
///     4
/// }
///
/// /// Rolls two dice.
/// #[tool]
/// async fn roll_dice(#[param(context)] registry: &Registry, call: &CallContext) -> String {
///     let inner = |id| ToolCall::new(id, "roll_die", "").cancel_with(call.cancellation());
///     let rolled = registry.call_all([inner("a"), inner("b")]).await;
///     format!("{} and {}", rolled[0].content(), rolled[1].content())
/// }
///
/// let registry = Registry::builder()
///     .tools(tools![roll_die, roll_dice])
///     .context_per_call::<Registry>()
///     .build()?;
/// let call = ToolCall::new("call_1", "roll_dice", "").with(registry.clone());
/// assert_eq!(registry.call_blocking(call).content(), "4 and 4");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
pub struct CallContext {
    pub(crate) head: CallHead,
    pub(crate) given: Option<Box<CallExtensions>>,
    /// What the registry was given.
    registry: Values,
    own: OwnToken,
}

/// What an application gives a call on its way.
#[derive(Clone, Default)]
pub(crate) struct CallExtensions {
    pub(crate) values: Values,
    pub(crate) cancellation: Option<CancellationToken>,
    pub(crate) progress: Option<ProgressSink>,
}

impl CallContext {
    #[inline]
    pub(crate) fn new(
        head: CallHead,
        given: Option<Box<CallExtensions>>,
        registry: Values,
    ) -> CallContext {
        CallContext {
            head,
            given,
            registry,
            own: OwnToken::default(),
        }
    }

    /// The provider's id of the call.
    pub fn call_id(&self) -> &str {
        &self.head.id
    }

    /// The name that the model called.
    pub fn tool_name(&self) -> &str {
        &self.head.name
    }

    /// The value of this type: the call's own, else the registry's.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        let given = self.given.as_ref();
        let own = given.and_then(|given| given.values.get());
        own.or_else(|| self.registry.get())
    }

    /// Whether the call was cancelled, ran out of time, or is waited for by nobody. A tool that
    /// blocks a thread looks now and then, since nothing else can stop it.
    pub fn is_cancelled(&self) -> bool {
        self.cancellation().is_cancelled()
    }

    /// The token of this call, to keep and to hand on to what the tool starts. It is cancelled
    /// when the token that the call was given is cancelled, when the call runs out of time, and
    /// when its future is dropped before its end.
    pub fn cancellation(&self) -> &CancellationToken {
        self.own.token.get_or_init(|| {
            let given = self.given.as_ref();
            match given.and_then(|given| given.cancellation.as_ref()) {
                Some(token) => token.child(),
                None => CancellationToken::new(),
            }
        })
    }

    /// Tells whoever made the call how far it is; see
    /// [`ToolCall::on_progress`](crate::ToolCall::on_progress). Nothing happens when nobody asked,
    /// nor once the call [is cancelled](CallContext::is_cancelled): it has its result by then, and
    /// protocols such as MCP allow no progress after it.
    pub fn report(&self, progress: &Progress) {
        let given = self.given.as_ref();
        let sink = given.and_then(|given| given.progress.as_ref());
        if let Some(sink) = sink.filter(|_| !self.is_cancelled()) {
            sink.tell(progress);
        }
    }

    /// The call came to its own end: its token stays as it is.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.own.is_kept = true;
    }
}

impl Clone for CallContext {
    /// For what goes on beside the call. The clone has the same token.
    fn clone(&self) -> CallContext {
        CallContext {
            head: self.head.clone(),
            given: self.given.clone(),
            registry: self.registry.clone(),
            own: OwnToken {
                token: OnceLock::from(self.cancellation().clone()),
                is_kept: true,
            },
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallContext")
            .field("call_id", &self.call_id())
            .field("tool_name", &self.tool_name())
            .finish_non_exhaustive()
    }
}

/// The token of one call, made when it is asked for.
#[derive(Default)]
struct OwnToken {
    token: OnceLock<CancellationToken>,
    /// Whether it outlives this.
    is_kept: bool,
}

impl Drop for OwnToken {
    fn drop(&mut self) {
        if let (Some(token), false) = (self.token.get(), self.is_kept) {
            token.cancel();
        }
    }
}

/// A type that a tool borrows from the application.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Need {
    id: fn() -> TypeId,
    name: fn() -> &'static str,
}

impl Need {
    /// The need of a `#[param(context)]` of this type.
    pub const fn of<T: Any + Send + Sync>() -> Need {
        Need {
            id: TypeId::of::<T>,
            name: type_name::<T>,
        }
    }

    pub(crate) fn id(self) -> TypeId {
        (self.id)()
    }

    /// The path of the type.
    pub(crate) fn name(self) -> &'static str {
        (self.name)()
    }
}

impl fmt::Debug for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A context of this type, shared.
pub(crate) type Shared = Arc<dyn Any + Send + Sync>;
