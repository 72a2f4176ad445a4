//! [`ToolCall`]: a call, as a model made it, with what the application attaches.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::Value;

use crate::call::approval::ApprovalRequest;
use crate::call::arguments::Arguments;
use crate::call::boundary::Guarded;
use crate::call::cancellation::CancellationToken;
use crate::call::elicit::Elicitor;
use crate::call::extensions::CallExtensions;
use crate::call::head::{CallHead, WireId};
use crate::call::hold::{Decision, Hold};
use crate::call::origin::{Origin, ResultHead, origin};
use crate::call::position::CallPosition;
use crate::call::progress::{Progress, ProgressSink};
use crate::call::start::Start;
#[cfg(feature = "tracing")]
use crate::call::trace_context::TraceContext;
use crate::visible;

/// A call made by a model.
///
/// Equality compares the data that the model sent and ignores the application's attachments. With the
/// feature `serde`, serde saves the compared data.
///
/// ```
/// use tool_core::ToolCall;
///
/// // A dialect reads calls from a response. In a test, write one by hand.
/// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
/// assert_eq!(call.arguments.to_object().unwrap()["city"], "Lisbon");
/// ```
#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ToolCall {
    /// The provider's id of the call. The result carries it too.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as text or as JSON.
    pub arguments: Arguments,
    pub(crate) wire_id: WireId,
    /// Set when the model's response ended before the arguments were complete.
    pub(crate) is_truncated: bool,
    /// Set if the model called `call_tool` with the name of this tool. A saved call is as the model sent it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) is_wrapped: bool,
    /// Boxed, because most calls have none and all are moved.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub(crate) origin: Option<Box<Origin>>,
    /// Boxed for the same reason.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) extensions: Option<Box<CallExtensions>>,
}

/// Marks a call of an app.
struct FromApp;

/// The error for a call whose arguments were truncated.
pub(crate) const TRUNCATED: &str =
    "the response was truncated before the arguments ended; repeat the call in a shorter response";

impl ToolCall {
    /// Returns a copy with empty arguments.
    pub(crate) fn without_arguments(&self) -> ToolCall {
        ToolCall {
            id: self.id.clone(),
            name: self.name.clone(),
            arguments: Arguments::Text(String::new()),
            wire_id: self.wire_id,
            is_truncated: self.is_truncated,
            is_wrapped: self.is_wrapped,
            origin: self.origin.clone(),
            extensions: self.extensions.clone(),
        }
    }

    /// Creates a call of the tool `name`. The arguments are JSON text (`&str`, `String`) or a
    /// value (`Value`, `Map`).
    ///
    /// ```
    /// use tool_core::ToolCall;
    ///
    /// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
    /// assert_eq!(call.parse_error(), None);
    /// let broken = ToolCall::new("call_2", "get_forecast", r#"{"city":"Lis"#);
    /// assert!(broken.parse_error().is_some());
    /// ```
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<Arguments>,
    ) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            wire_id: WireId::Text,
            is_truncated: false,
            is_wrapped: false,
            origin: None,
            extensions: None,
        }
    }

    /// Returns the form in which the provider sent the call.
    pub fn wire_id(&self) -> WireId {
        self.wire_id
    }

    /// Sets the form in which the provider sent the call, for your own [`Dialect`](crate::dialect::Dialect). The result has
    /// the same.
    pub fn with_wire_id(mut self, wire_id: WireId) -> ToolCall {
        self.wire_id = wire_id;
        self
    }

    /// Attaches a context value, which the model can neither see nor forge: the current user, the
    /// tenant, a connection. Replaces an earlier value of the same type. A tool reads it from its
    /// [`CallContext`](crate::CallContext).
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, tool, tools};
    ///
    /// struct User(String);
    ///
    /// /// Greets the user.
    /// #[tool]
    /// fn greet(#[param(context)] user: &User) -> String {
    ///     format!("Hello, {}!", user.0)
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![greet]).context_per_call::<User>().build()?;
    /// let call = ToolCall::new("call_1", "greet", "{}").with(User("Ada".into()));
    /// assert_eq!(registry.call_blocking(call).content(), "Hello, Ada!");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> ToolCall {
        self.extensions_mut().values.insert(value);
        self
    }

    /// Returns the context value of this type that is attached to this call.
    ///
    /// ```
    /// use tool_core::ToolCall;
    ///
    /// let call = ToolCall::new("call_1", "count_notes", "{}").with(7_u32);
    /// assert_eq!(call.get::<u32>(), Some(&7));
    /// ```
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.extensions.as_ref()?.values.get()
    }

    /// Marks a call as made by an app, a page that a host shows, instead of a model. It reaches tools that
    /// are [for apps](crate::ToolSpec::is_for_apps), but not tools for models alone.
    pub fn from_app(self) -> ToolCall {
        self.with(FromApp)
    }

    pub(crate) fn is_from_app(&self) -> bool {
        self.get::<FromApp>().is_some()
    }

    /// Sets the way to ask the user when a tool calls [`CallContext::elicit`](crate::CallContext::elicit).
    /// Nested calls use it, too.
    pub fn elicit_with(mut self, elicitor: Arc<dyn Elicitor>) -> ToolCall {
        self.extensions_mut().elicitor = Some(elicitor);
        self
    }

    /// Ends the call with an error when the token is cancelled. Replaces an earlier token.
    ///
    /// ```
    /// use tool_core::call::CancellationToken;
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// Never finishes.
    /// #[tool]
    /// async fn wait() {
    ///     std::future::pending::<()>().await;
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![wait]).build()?;
    /// let token = CancellationToken::new();
    /// token.cancel();
    /// let result = registry.call_blocking(ToolCall::new("call_1", "wait", "").cancel_with(&token));
    /// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Cancelled);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn cancel_with(mut self, token: &CancellationToken) -> ToolCall {
        self.extensions_mut().cancellation = Some(token.clone());
        self
    }

    /// Returns the token that cancels the call, if there is one.
    pub fn cancellation(&self) -> Option<&CancellationToken> {
        self.extensions.as_ref()?.cancellation.as_ref()
    }

    /// Calls this closure for each progress report of the tool, after the closures that were added
    /// before; see [`CallContext::report`](crate::CallContext::report). The closure runs on the tool's
    /// thread and should return quickly.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use tool_core::call::Progress;
    /// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
    ///
    /// /// Counts to three.
    /// #[tool]
    /// fn count(call: &CallContext) {
    ///     for done in 1..=3 {
    ///         call.report(&Progress::of(f64::from(done), 3.0));
    ///     }
    /// }
    ///
    /// let reports = Arc::new(Mutex::new(Vec::new()));
    /// let sink = reports.clone();
    /// let call = ToolCall::new("call_1", "count", "")
    ///     .on_progress(move |progress| sink.lock().unwrap().push(progress.done));
    /// Registry::builder().tools(tools![count]).build()?.call_blocking(call);
    /// assert_eq!(*reports.lock().unwrap(), [1.0, 2.0, 3.0]);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn on_progress(mut self, callback: impl Fn(&Progress) + Send + Sync + 'static) -> ToolCall {
        let extensions = self.extensions_mut();
        extensions.progress = Some(match extensions.progress.take() {
            None => ProgressSink::new(callback),
            Some(earlier) => {
                let callback = ProgressSink::new(callback);
                ProgressSink::new(move |progress| {
                    earlier.send(progress);
                    callback.send(progress);
                })
            }
        });
        self
    }

    /// Marks a call whose arguments may be incomplete, because the model's response ended before they did.
    /// It is not run, and its result tells the model to repeat it. Dialects do this; code that reads a
    /// response by other means should too, because `{}` may be the rest of longer arguments.
    ///
    /// ```
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// Deletes notes: those older than some days, or all.
    /// #[tool(destructive)]
    /// fn delete_notes(older_than_days: Option<u32>) {
    ///     unreachable!("{older_than_days:?}")
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![delete_notes]).build()?;
    /// let call = ToolCall::new("call_1", "delete_notes", "{}").truncated();
    /// let result = registry.call_blocking(call);
    /// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::MalformedJson);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn truncated(mut self) -> ToolCall {
        self.is_truncated = true;
        self
    }

    /// Returns `true` if the call is [marked](ToolCall::truncated) as truncated.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Returns why the arguments are not a JSON object, or `None` if they are. Free-form text is one, and
    /// so are missing arguments, `null` and empty text, unless the provider reports a
    /// [truncated response](crate::dialect::Turn::calls):
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Dialect;
    /// use tool_dialects::Anthropic;
    ///
    /// let response = json!({
    ///     "role": "assistant",
    ///     "content": [{"type": "tool_use", "id": "call_1", "name": "delete_notes", "input": {}}],
    ///     "stop_reason": "max_tokens",
    /// });
    /// let calls = Anthropic::default().read(&response)?.calls;
    /// assert!(calls[0].parse_error().unwrap().starts_with("the response was truncated"));
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    pub fn parse_error(&self) -> Option<String> {
        if self.is_truncated {
            return Some(TRUNCATED.into());
        }
        self.arguments.parse_error()
    }

    /// Returns the trace of the caller, unless the call is a part of another one here.
    #[cfg(feature = "tracing")]
    pub(crate) fn remote_trace(&self) -> Option<&TraceContext> {
        let extensions = self.extensions.as_ref()?;
        match extensions.parent {
            Some(_) => None,
            None => extensions.values.get(),
        }
    }

    pub(crate) fn extensions_mut(&mut self) -> &mut CallExtensions {
        self.extensions.get_or_insert_default()
    }

    /// Sets the position of the call in its conversation; see [`CallPosition`].
    pub fn at(mut self, position: CallPosition) -> ToolCall {
        self.origin.get_or_insert_default().position = Some(position);
        self
    }

    /// Sets the provider's JSON about the code that made the call. The result repeats it where the provider
    /// needs it. Dialects do this.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::ToolCall;
    ///
    /// let call = ToolCall::new("call_1", "get_forecast", r#"{"city":"Lisbon"}"#);
    /// assert!(!call.is_programmatic());
    /// let call = call.with_caller(json!({"type": "program", "caller_id": "call_0"}));
    /// assert!(call.is_programmatic());
    /// ```
    pub fn with_caller(mut self, caller: impl Into<Value>) -> ToolCall {
        self.origin.get_or_insert_default().caller = Some(caller.into());
        self
    }

    /// Sets the namespace in which the model called the tool. Dialects do this.
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> ToolCall {
        self.origin.get_or_insert_default().namespace = Some(namespace.into());
        self
    }

    /// Marks a call whose result may come in any later request. The provider needs nothing in its place
    /// until then. Dialects do this.
    ///
    /// ```
    /// use tool_core::ToolCall;
    ///
    /// let call = ToolCall::new("call_1", "build_project", "{}").with_late_result();
    /// assert!(call.takes_late_result());
    /// ```
    pub fn with_late_result(mut self) -> ToolCall {
        self.origin.get_or_insert_default().is_async = true;
        self
    }

    /// Returns `true` if the provider takes the result in any later request, and needs nothing in its place until then. The
    /// model goes on in the same response.
    pub fn takes_late_result(&self) -> bool {
        self.origin().is_some_and(|origin| origin.is_async)
    }

    /// Sets the item that answers the call, without what the result adds.
    pub fn with_answer(mut self, answer: Value) -> ToolCall {
        self.origin.get_or_insert_default().answer = Some(answer);
        self
    }

    fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// Returns the call for its result.
    pub(crate) fn head(&self) -> ResultHead {
        let mut origin = self.origin.clone();
        if let Some(origin) = &mut origin
            && !origin.approvals.is_empty()
        {
            origin.approvals = self.given_approvals();
        }
        ResultHead {
            call: CallHead {
                id: self.id.clone(),
                name: self.name.clone(),
                wire_id: self.wire_id,
                is_wrapped: self.is_wrapped,
            },
            origin,
        }
    }

    /// Adds an approval that the provider asks for. Dialects do this. Several are decided one after the other.
    pub fn with_approval(mut self, request: ApprovalRequest) -> ToolCall {
        let origin = self.origin.get_or_insert_default();
        origin.approvals.push(request);
        self
    }

    /// Marks a call of a tool that the provider runs, on this server, once it is [approved](ToolCall::with_approval).
    /// Dialects do this. The name becomes `server/name`, so that it is never the name of a tool here, and characters in it
    /// that show nothing are written as escapes.
    ///
    /// A registry runs nothing for it: the result only contains the decision. It can only be allowed or
    /// denied, and a call that asks for no approval is denied. Hooks don't see it.
    ///
    /// ```
    /// use tool_core::hooks::{ApprovalRequest, Decision};
    /// use tool_core::{Registry, ToolCall};
    ///
    /// let call = ToolCall::new("call_1", "close", r#"{"ticket":7}"#)
    ///     .hosted_by("tickets")
    ///     .with_approval(ApprovalRequest::new("the provider asks before it runs the tool"));
    /// let registry = Registry::new();
    /// let result = registry.call_blocking(call.clone());
    /// let hold = result.error().unwrap().hold().unwrap().clone();
    /// assert_eq!((hold.server(), hold.tool()), (Some("tickets"), "tickets/close"));
    /// assert_eq!(hold.arguments(), r#"{"ticket":7}"#);
    ///
    /// let result = registry.call_blocking(call.decided(hold, Decision::deny("it is still open")));
    /// assert!(result.content().ends_with("it is still open"));
    /// assert!(result.approved().is_empty());
    /// ```
    pub fn hosted_by(mut self, server: impl Into<String>) -> ToolCall {
        let server = server.into();
        self.name = visible::line(&format!("{server}/{}", self.name)).into_owned();
        self.origin.get_or_insert_default().server = Some(server);
        self
    }

    /// Returns the approvals that the provider asks for.
    pub fn approvals(&self) -> &[ApprovalRequest] {
        let origin = self.origin.as_deref();
        origin.map_or(&[], |origin| &origin.approvals)
    }

    /// Returns the approvals that decisions on this call give.
    pub(crate) fn given_approvals(&self) -> Vec<ApprovalRequest> {
        let decided = self.extensions.as_ref().map(|own| &own.decided);
        let given = self
            .approvals()
            .iter()
            .filter(|request| decided.is_some_and(|decided| decided.approves(request)));
        given.cloned().collect()
    }

    /// Attaches the decision on a hold of this call, which is then called again.
    /// A `Run` of the crate `tool-agent` does this for calls that wait longer than the process lives.
    ///
    /// The call is validated again, and all hooks run again. [`Decision::Allow`] applies if a hook
    /// holds the call with the same arguments; a call with others is held again.
    ///
    /// ```
    /// use tool_core::hooks::{Decision, Gate};
    /// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
    ///
    /// /// Deletes a note.
    /// #[tool(destructive)]
    /// fn delete_note(id: u32) -> String {
    ///     format!("note {id} is deleted")
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![delete_note])
    ///     .before(async |hook| match hook.tool.annotations.destructive {
    ///         Some(true) => Gate::hold("it deletes something"),
    ///         _ => Gate::Allow,
    ///     })
    ///     .build()?;
    /// let call = ToolCall::new("call_1", "delete_note", r#"{"id":7}"#);
    /// let result = registry.call_blocking(call.clone());
    /// let error = result.error().unwrap();
    /// assert_eq!(error.kind(), ToolErrorKind::Held);
    /// let hold = error.hold().unwrap().clone();
    /// assert_eq!(hold.arguments(), r#"{"id":7}"#);
    ///
    /// let result = registry.call_blocking(call.decided(hold, Decision::Allow));
    /// assert_eq!(result.content(), "note 7 is deleted");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn decided(self, hold: Hold, decision: Decision) -> ToolCall {
        self.decided_by(hold, decision, "")
    }

    /// Attaches a decision like [`decided`](ToolCall::decided), with the name of the person who made it.
    /// [`CallContext::decisions`](crate::CallContext::decisions) returns it. A `Run` of the crate
    /// `tool-agent` attaches the name that its `decide` was given.
    pub fn decided_by(mut self, hold: Hold, decision: Decision, by: impl Into<String>) -> ToolCall {
        self.extensions_mut().decided.add(hold, decision, by.into());
        self
    }

    /// Returns the decided holds of this call, each with the decision and the name of the person who made
    /// it, in order.
    pub fn decisions(&self) -> impl Iterator<Item = (&Hold, &Decision, &str)> {
        let extensions = self.extensions.iter();
        extensions.flat_map(|extensions| extensions.decided.iter())
    }

    /// Returns the [idempotency key](ToolCall::idempotency_key), if it is set.
    pub fn key(&self) -> Option<&str> {
        self.extensions.as_ref()?.idempotency_key.as_deref()
    }

    /// Sets the key that [`CallContext::idempotency_key`](crate::CallContext::idempotency_key)
    /// returns. A call that is repeated must have the same key, and no other call may have it.
    /// A `Run` of the crate `tool-agent` sets it.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> ToolCall {
        self.extensions_mut().idempotency_key = Some(key.into());
        self
    }

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

impl PartialEq for ToolCall {
    fn eq(&self, other: &ToolCall) -> bool {
        self.id == other.id
            && self.name == other.name
            && self.arguments == other.arguments
            && self.wire_id == other.wire_id
            && self.is_truncated == other.is_truncated
            && self.caller() == other.caller()
            && self.namespace() == other.namespace()
            && self.server() == other.server()
            && self.approvals() == other.approvals()
    }
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCall")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("arguments", &self.arguments)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

origin!(ToolCall);
