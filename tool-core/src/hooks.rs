//! Closures that run around every call of a registry: they decide, change, and record.
//!
//! A [`before`](crate::RegistryBuilder::before) hook sees each call before its tool runs and returns a
//! [`Gate`]: it allows, changes, answers, fails or [holds](Gate::hold) the call. A held call waits for the
//! [`Decision`] of a person, and a [`DecisionPolicy`] says who that may be. An [`Inbox`] lists what waits. So does a call for which its provider asks for an
//! approval ([`ApprovalRequest`]). An [`after`](crate::RegistryBuilder::after) hook sees the result and may change it. An
//! [observer](crate::RegistryBuilder::observe) sees a [`CallRecord`] of each call and changes nothing; an [`Observer`]
//! also sees the requests and runs of an agent.

mod decision_policy;
mod inbox;
pub(crate) mod observe;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::call::context::Host;
use crate::call::extensions::get_value;
use crate::call::{Arguments, ToolCall, ToolResult};
use crate::output::IntoOutput;
use crate::runtime::BoxFuture;
use crate::tool::ToolEntry;

pub use self::decision_policy::{DecisionDenied, DecisionPolicy, DecisionRequest};
pub use self::inbox::{Inbox, InboxError, WaitingCall};
pub use self::observe::{CallRecord, Observer, RequestRecord, RunRecord};
pub use crate::call::approval::ApprovalRequest;
pub use crate::call::hold::{Answer, Decision, Hold};

pub(crate) type BeforeHook = Arc<dyn Fn(HookCall) -> BoxFuture<Gate> + Send + Sync>;
pub(crate) type AfterHook =
    Arc<dyn Fn(HookCall, ToolResult) -> BoxFuture<ToolResult> + Send + Sync>;

/// The return type of the closure of a [`before`](crate::RegistryBuilder::before) or an
/// [`after`](crate::RegistryBuilder::after) hook, and of closures of an agent: a future of a `T`. Every such future
/// implements it.
///
/// ```
/// use tool_core::hooks::{Gate, HookCall, HookFuture};
/// use tool_core::{Registry, RegistryBuilder};
///
/// fn guarded<F>(guard: impl Fn(HookCall) -> F + Send + Sync + 'static) -> RegistryBuilder
/// where
///     F: HookFuture<Gate> + Send + 'static,
/// {
///     Registry::builder().before(guard)
/// }
///
/// assert!(guarded(async |_| Gate::Allow).build()?.has_before_hooks());
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this closure returns `{Self}`, but has to return a future of `{T}`",
    label = "not a future of `{T}`",
    note = "write `async` before the closure, such as `async |hook| …`, and return a `{T}` from it"
)]
pub trait HookFuture<T>: Future<Output = T> {}

#[diagnostic::do_not_recommend]
impl<T, F: Future<Output = T>> HookFuture<T> for F {}

/// A call, as the hooks of a registry see it; see
/// [`RegistryBuilder::before`](crate::RegistryBuilder::before) and
/// [`after`](crate::RegistryBuilder::after).
///
/// ```
/// use tool_core::hooks::{Gate, HookCall};
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Deletes a note.
/// #[tool(destructive)]
/// fn delete_note(id: u32) -> u32 {
///     id
/// }
///
/// struct User(&'static str);
///
/// async fn only_admins(hook: HookCall) -> Gate {
///     let is_admin = hook.get::<User>().is_some_and(|user| user.0 == "admin");
///     match hook.tool.annotations.destructive {
///         Some(true) if !is_admin => Gate::deny("only admins delete notes"),
///         _ => Gate::Allow,
///     }
/// }
///
/// let registry = Registry::builder().tools(tools![delete_note]).before(only_admins).build()?;
/// let call = ToolCall::new("call_1", "delete_note", r#"{"id":7}"#);
/// assert!(registry.call_blocking(call.clone().with(User("guest"))).is_error());
/// assert_eq!(registry.call_blocking(call.with(User("admin"))).content(), "7");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone)]
pub struct HookCall {
    /// The tool, with its annotations.
    pub tool: ToolEntry,
    /// The call. The arguments are JSON text, as the tool gets them. In an `after` hook they are as
    /// the model sent them if they are invalid.
    pub call: ToolCall,
    pub(crate) host: Arc<dyn Host>,
}

impl HookCall {
    /// Returns the context value of this type: the call's if there is one, else the registry's.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        let extensions = self.call.extensions.as_deref();
        get_value(extensions, self.host.values())
    }
}

impl fmt::Debug for HookCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookCall")
            .field("tool", &self.tool)
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

/// The verdict of a `before` hook.
///
/// ```
/// use tool_core::hooks::{Gate, HookCall};
///
/// async fn guard(hook: HookCall) -> Gate {
///     match &*hook.tool.name {
///         "delete_all" => Gate::deny("nobody may delete everything"),
///         "send_message" => Gate::confirm("others will read it"),
///         "pay" => Gate::hold("a colleague has to agree"),
///         _ => Gate::Allow,
///     }
/// }
///
/// let builder = tool_core::Registry::builder().before(guard);
/// # let _ = builder;
/// ```
#[doc(alias("human in the loop", "approval", "guardrail"))]
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Gate {
    /// Runs the call.
    Allow,
    /// Rejects the call. The model sees the reason.
    Deny(String),
    /// Runs the call with these arguments.
    Change(Arguments),
    /// Does not run the tool: the call ends with this output.
    Answer(Answer),
    /// Does not run the tool until somebody other than the owner decides on the call.
    Hold(String),
    /// Does not run the tool until its owner, or somebody else, decides on the call.
    Confirm(String),
}

impl Gate {
    /// Rejects the call. The model sees the reason.
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Rolls a die.
    /// #[tool]
    /// fn roll_die() -> u8 {
    ///     4
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![roll_die])
    ///     .before(async |_| Gate::deny("no games at work"))
    ///     .build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "roll_die", ""));
    /// assert!(result.content().ends_with("no games at work"));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn deny(reason: impl Into<String>) -> Gate {
        Gate::Deny(reason.into())
    }

    /// Holds the call until somebody decides on it. They see the reason. If the call has an owner, as in a
    /// `Run` of a user, the owner may not decide; see [`DecisionPolicy`].
    ///
    /// A `Run` of the crate `tool-agent` keeps the call for hours or days, even in another process, goes on
    /// with the other calls, and then waits. A call without a run ends with an error of the kind
    /// [`Held`](crate::ToolErrorKind::Held); call it again with the [decision](crate::ToolCall::decided).
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// Pays an invoice.
    /// #[tool]
    /// fn pay(invoice: u32) -> u32 {
    ///     invoice
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![pay])
    ///     .before(async |_| Gate::hold("it costs money"))
    ///     .build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "pay", r#"{"invoice":7}"#));
    /// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Held);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn hold(reason: impl Into<String>) -> Gate {
        Gate::Hold(reason.into())
    }

    /// Holds the call like [`hold`](Gate::hold), until its owner confirms it. Others may decide too if a
    /// [`DecisionPolicy`] lets them.
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Sends a message.
    /// #[tool]
    /// fn send_message(to: &str) -> String {
    ///     format!("sent to {to}")
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![send_message])
    ///     .before(async |_| Gate::confirm("others will read it"))
    ///     .build()?;
    /// let call = ToolCall::new("call_1", "send_message", r#"{"to":"Grace"}"#);
    /// let result = registry.call_blocking(call);
    /// assert!(result.error().unwrap().hold().unwrap().is_confirmation());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn confirm(reason: impl Into<String>) -> Gate {
        Gate::Confirm(reason.into())
    }

    /// Runs the call with these arguments, which are validated too.
    ///
    /// ```
    /// use tool_core::hooks::Gate;
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// Echoes a word.
    /// #[tool]
    /// fn echo(word: &str) -> String {
    ///     word.into()
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![echo])
    ///     .before(async |_| Gate::change(r#"{"word":"changed"}"#))
    ///     .build()?;
    /// let result = registry.call_blocking(ToolCall::new("call_1", "echo", r#"{"word":"as sent"}"#));
    /// assert_eq!(result.content(), "changed");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn change(arguments: impl Into<Arguments>) -> Gate {
        Gate::Change(arguments.into())
    }

    /// Ends the call with this output, in place of the tool's: from a cache, or from a tool that
    /// runs in the user's browser. The output is converted like a tool's; see [`IntoOutput`]. It must match
    /// the tool's output schema; otherwise the call ends with the error
    /// [`InvalidResult`](crate::ToolErrorKind::InvalidResult). Later `before` hooks do not run; `after`
    /// hooks do.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::{Arc, Mutex};
    /// use serde_json::Value;
    /// use tool_core::hooks::{Gate, HookCall};
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// /// The population of a city.
    /// #[tool(read_only)]
    /// fn get_population(city: &str) -> u32 {
    ///     println!("looking up {city}");
    ///     545_923
    /// }
    ///
    /// fn key(hook: &HookCall) -> String {
    ///     format!("{} {:?}", hook.call.name, hook.call.arguments.to_object())
    /// }
    ///
    /// let cache: Arc<Mutex<HashMap<String, Value>>> = Arc::default();
    /// let (reading, writing) = (cache.clone(), cache.clone());
    /// let registry = Registry::builder()
    ///     .tools(tools![get_population])
    ///     .before(move |hook| {
    ///         let cached = reading.lock().unwrap().get(&key(&hook)).cloned();
    ///         async { cached.map_or(Gate::Allow, Gate::answer) }
    ///     })
    ///     .after(move |hook, result| {
    ///         if let Some(output) = result.structured() {
    ///             writing.lock().unwrap().insert(key(&hook), output);
    ///         }
    ///         async { result }
    ///     })
    ///     .build()?;
    /// for _ in 0..2 {
    ///     let call = ToolCall::new("call_1", "get_population", r#"{"city":"Lisbon"}"#);
    ///     assert_eq!(registry.call_blocking(call).content(), "545923");
    /// }
    /// assert_eq!(cache.lock().unwrap().len(), 1);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn answer<Kind>(output: impl IntoOutput<Kind>) -> Gate {
        Gate::Answer(Answer::new(output))
    }

    /// Ends the call with the error [`Failed`](crate::ToolErrorKind::Failed), as if the tool had
    /// returned it. The model sees the message.
    pub fn fail(message: impl Into<String>) -> Gate {
        Gate::Answer(Answer::failed(message.into()))
    }
}
