//! [`ToolCall`]: a call made by a model. The submodules hold its arguments, context, errors and
//! result.

pub(crate) mod approval;
mod arguments;
pub(crate) mod boundary;
pub(crate) mod context;
pub mod elicit;
pub(crate) mod error;
pub(crate) mod extra;
mod head;
pub(crate) mod hold;
pub(crate) mod origin;
mod position;
pub(crate) mod result;
mod secrets;
mod start;
mod trace_context;
pub(crate) mod truncate;

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use self::elicit::Elicitor;
use self::origin::Origin;
use crate::call::context::{CallExtensions, ProgressSink};
use crate::call::error::ToolError;
use crate::runtime::{HAS_THREADS, NoRuntime, block_on};

pub use arguments::Arguments;
pub use context::{CancellationToken, Cancelled, Progress};
pub use error::{Reference, Transient};
pub(crate) use extra::{AppValue, Extra};
pub(crate) use head::{CALL_TOOL, CallHead, WireId};
pub(crate) use hold::{Answer, AnswerOutput, Decided, Decision, Hold};
pub use position::CallPosition;
pub(crate) use result::ToolResult;
pub use secrets::Secrets;
pub use start::Start;
pub(crate) use start::{StartCheck, check_start};
pub use trace_context::TraceContext;

/// A call made by a model.
///
/// Equality compares what the model sent and ignores what the application attached. With the feature
/// `serde`, serde saves what is compared.
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

    /// Marks a call that an app made, a page that a host shows, and not a model. It reaches tools that are
    /// [for apps](crate::ToolSpec::is_for_apps), and those for models alone are unknown to it.
    pub fn from_app(self) -> ToolCall {
        self.with(FromApp)
    }

    pub(crate) fn is_from_app(&self) -> bool {
        self.get::<FromApp>().is_some()
    }

    /// Sets who asks the user, when a tool calls [`CallContext::elicit`](crate::CallContext::elicit).
    /// Nested calls ask the same.
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

    /// Marks a call whose arguments may be incomplete, because the model's response ended before
    /// they did. It is not run, and its result tells the model to repeat it. Dialects do this; code
    /// that reads a response by other means should too, since `{}` may be what is left of longer
    /// arguments.
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
    /// use tool_core::dialect::{Anthropic, Dialect};
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

    /// Runs the call on this thread.
    pub(crate) fn block_on<F: Future<Output = ToolResult>>(
        self,
        run: impl FnOnce(ToolCall) -> F,
    ) -> ToolResult {
        let head = (!HAS_THREADS).then(|| self.head());
        block_on(run(self)).unwrap_or_else(|_| {
            let head = head.expect("this platform has no threads");
            let error = ToolError::unavailable(&head.call.name, NoRuntime.to_string());
            ToolResult::of_error(head, error)
        })
    }

    pub(crate) fn extensions_mut(&mut self) -> &mut CallExtensions {
        self.extensions.get_or_insert_default()
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
