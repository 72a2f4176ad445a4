//! [`CallContext`]: what a tool can access besides its arguments.

use std::any::{Any, TypeId};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock, Weak};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::cancellation::CancellationToken;
use crate::call::elicit::{Elicit, ElicitError, Elicited, Elicitor, NestedElicitor};
use crate::call::extensions::{CallExtensions, ParentCall, get_value};
use crate::call::head::CallHead;
use crate::call::hold::{Decision, Hold};
use crate::call::progress::Progress;
use crate::call::result::{ToolResult, run_blocking};
use crate::call::tool_call::ToolCall;
use crate::call::type_map::{TypeMap, near_miss};
use crate::runtime::BoxFuture;

/// The call being executed: its id, the application's context values, its cancellation token and a
/// way to report progress.
///
/// A parameter of type `&CallContext` is hidden from the model. So is a parameter with
/// `#[param(context)]`, which borrows the context value of its type: the call's
/// ([`ToolCall::with`](crate::ToolCall::with)) if there is one, else the registry's
/// ([`RegistryBuilder::context`](crate::RegistryBuilder::context)). Neither is part of the schema.
/// An argument with the name of such a parameter is rejected as unknown.
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
/// # Nested calls
///
/// A tool calls other tools of its registry with [`call`](CallContext::call) or
/// [`call_blocking`](CallContext::call_blocking).
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
/// async fn roll_dice(call: &CallContext) -> String {
///     let first = call.call(ToolCall::new("a", "roll_die", "")).await;
///     let second = call.call(ToolCall::new("b", "roll_die", "")).await;
///     format!("{} and {}", first.content(), second.content())
/// }
///
/// let registry = Registry::builder().tools(tools![roll_die, roll_dice]).build()?;
/// let call = ToolCall::new("call_1", "roll_dice", "");
/// assert_eq!(registry.call_blocking(call).content(), "4 and 4");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
///
/// To call the tools of another registry, pass it as a context value. Attach it to the call: a
/// registry that contains itself is never dropped. Such a call is like any other: it inherits
/// neither context values nor the token, and if the registry limits concurrency, it counts anew and
/// waits for a permit. [`Registry::call_within`](crate::Registry::call_within) makes it a part of this call.
///
/// Calls can be nested 32 deep. A deeper one fails with
/// [`Unavailable`](crate::ToolErrorKind::Unavailable), instead of overflowing the stack.
#[doc(alias("RunContext", "ToolContext"))]
pub struct CallContext {
    pub(crate) head: CallHead,
    extensions: Option<Box<CallExtensions>>,
    /// The registry that runs the call.
    host: Arc<dyn Host>,
    /// The token of the call, created on first use and cancelled on drop.
    token: OnceLock<CancellationToken>,
    /// How deep the call is nested in other calls, at least 1.
    pub(crate) depth: u32,
    /// Set if dropping the context must not cancel the token.
    is_kept: bool,
}

/// A registry, as its calls see it.
pub(crate) trait Host: Send + Sync {
    /// Returns the context values of the registry.
    fn values(&self) -> &TypeMap;

    /// Runs another call.
    fn call(self: Arc<Self>, call: ToolCall) -> BoxFuture<ToolResult>;

    /// Returns the registry, for [`Registry::of`](crate::Registry::of).
    fn registry(self: Arc<Self>) -> Box<dyn Any>;

    /// Returns the deferred tools that match a query, as text for the model.
    fn search_deferred(&self, query: &str, limit: usize) -> String;
}

impl CallContext {
    #[inline]
    pub(crate) fn new(
        head: CallHead,
        extensions: Option<Box<CallExtensions>>,
        host: Arc<dyn Host>,
        depth: u32,
    ) -> CallContext {
        CallContext {
            head,
            extensions,
            host,
            token: OnceLock::new(),
            depth,
            is_kept: false,
        }
    }

    /// Returns the provider's id of the call.
    pub fn call_id(&self) -> &str {
        &self.head.id
    }

    /// Returns the name of the tool.
    pub fn tool_name(&self) -> &str {
        &self.head.name
    }

    /// Returns a key that identifies the work of this call, for systems that do a request with the
    /// same key only once. A call that a `Run` of the crate `tool-agent` repeats after an interruption has
    /// the same key again. `None` outside of a run, unless
    /// [`ToolCall::idempotency_key`](crate::ToolCall::idempotency_key) set one.
    pub fn idempotency_key(&self) -> Option<&str> {
        self.extensions.as_ref()?.idempotency_key.as_deref()
    }

    /// Returns the decided holds of this call, each with the decision and the name of the person who made
    /// it, in order. Only the application makes decisions, so a tool can require one:
    ///
    /// ```
    /// use tool_core::hooks::{Decision, Gate};
    /// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
    ///
    /// /// Publishes the draft.
    /// #[tool]
    /// fn publish(call: &CallContext) -> Result<String, String> {
    ///     let mut decisions = call.decisions();
    ///     let approval = decisions.find(|(_, decision, _)| **decision == Decision::Allow);
    ///     let (_, _, by) = approval.ok_or("nobody approved this")?;
    ///     Ok(format!("published; {by} approved it"))
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![publish])
    ///     .before(async |_| Gate::hold("everybody will see it"))
    ///     .build()?;
    /// let call = ToolCall::new("call_1", "publish", "{}");
    /// let held = registry.call_blocking(call.clone());
    /// let hold = held.error().unwrap().hold().unwrap().clone();
    /// let result = registry.call_blocking(call.decided_by(hold, Decision::Allow, "Ada"));
    /// assert_eq!(result.content(), "published; Ada approved it");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn decisions(&self) -> impl Iterator<Item = (&Hold, &Decision, &str)> {
        let extensions = self.extensions.iter();
        extensions.flat_map(|extensions| extensions.decided.iter())
    }

    /// Returns the registry that runs the call.
    pub(crate) fn registry(&self) -> Box<dyn Any> {
        Arc::clone(&self.host).registry()
    }

    /// Returns the context value of this type: the call's if there is one, else the registry's.
    ///
    /// ```
    /// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
    ///
    /// struct User(&'static str);
    ///
    /// /// Greets the user, if there is one.
    /// #[tool]
    /// fn greet(call: &CallContext) -> String {
    ///     let name = call.get::<User>().map_or("stranger", |user| user.0);
    ///     format!("Hello, {name}!")
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![greet]).build()?;
    /// let call = ToolCall::new("call_1", "greet", "");
    /// assert_eq!(registry.call_blocking(call.clone()).content(), "Hello, stranger!");
    /// assert_eq!(registry.call_blocking(call.with(User("Ada"))).content(), "Hello, Ada!");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        get_value(self.extensions.as_deref(), self.host.values())
    }

    /// Returns the type of a context value that was probably meant for this type; see [`near_miss`].
    #[cold]
    pub(crate) fn near_miss(&self, type_name: &str) -> Option<String> {
        let extensions = self.extensions.as_deref().into_iter();
        let types = extensions.flat_map(|extensions| extensions.values.type_names());
        near_miss(type_name, types.chain(self.host.values().type_names()))
    }

    /// Returns `true` if there is a context value of this type, or if it is the context itself.
    pub(crate) fn has(&self, id: TypeId) -> bool {
        let extensions = self.extensions.as_deref();
        id == TypeId::of::<CallContext>()
            || extensions.is_some_and(|extensions| extensions.values.contains(id))
            || self.host.values().contains(id)
    }

    /// Returns `true` if the call was cancelled, timed out, or its future was dropped. A blocking
    /// tool should check this regularly, because nothing else can stop it.
    ///
    /// ```
    /// use tool_core::{CallContext, tool};
    ///
    /// /// Counts the prime numbers up to a limit.
    /// #[tool(blocking)]
    /// fn count_primes(limit: u64, call: &CallContext) -> u64 {
    ///     let is_prime = |number: u64| (2..number).all(|divisor| number % divisor != 0);
    ///     (2..=limit)
    ///         .take_while(|_| !call.is_cancelled())
    ///         .filter(|number| is_prime(*number))
    ///         .count() as u64
    /// }
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.cancellation().is_cancelled()
    }

    /// Returns the token of this call, which can be cloned and passed on to other work. It is
    /// cancelled when the token passed to [`ToolCall::cancel_with`](crate::ToolCall::cancel_with)
    /// is cancelled, when the call times out, and when its future is dropped early.
    pub fn cancellation(&self) -> &CancellationToken {
        self.token.get_or_init(|| {
            let extensions = self.extensions.as_ref();
            match extensions.and_then(|extensions| extensions.cancellation.as_ref()) {
                Some(token) => token.child(),
                None => CancellationToken::new(),
            }
        })
    }

    /// Calls another tool of the same registry, as a part of this call.
    ///
    /// The nested call has the context values of this call and is cancelled with it, unless it
    /// brings its own. Progress is not passed on. If the registry limits
    /// [concurrency](crate::RegistryBuilder), nested calls run under the permit of this call, one
    /// at a time. A clone of the context that outlives the call has no permit: its calls wait for
    /// their own.
    ///
    /// ```
    /// use tool_core::{CallContext, Registry, ToolCall, tool, tools};
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// async fn double(number: i64, call: &CallContext) -> Result<i64, String> {
    ///     let arguments = format!(r#"{{"a":{number},"b":{number}}}"#);
    ///     let result = call.call(ToolCall::new("inner", "add", arguments)).await;
    ///     result.value().map_err(|error| error.to_string())
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![add, double]).build()?;
    /// let call = ToolCall::new("call_1", "double", r#"{"number":21}"#);
    /// assert_eq!(registry.call_blocking(call).content(), "42");
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn call(&self, call: ToolCall) -> impl Future<Output = ToolResult> + Send + use<> {
        Arc::clone(&self.host).call(self.nested(call))
    }

    /// Calls another tool like [`call`](CallContext::call), and blocks the thread until it ends.
    /// For tools that are not async.
    pub fn call_blocking(&self, call: ToolCall) -> ToolResult {
        run_blocking(call, |call| self.call(call))
    }

    pub(crate) fn search_deferred(&self, query: &str, limit: usize) -> String {
        self.host.search_deferred(query, limit)
    }

    /// Attaches to a nested call what it inherits.
    pub(crate) fn nested(&self, mut call: ToolCall) -> ToolCall {
        let nesting = self
            .extensions
            .as_ref()
            .and_then(|own| own.nesting.as_ref());
        if let Some(nesting) = nesting {
            call = call.at(nesting.next());
        }
        let extensions = call.extensions.get_or_insert_default();
        extensions.parent = Some(ParentCall {
            depth: self.depth,
            permit: self.extensions.as_ref().and_then(|own| own.permit.clone()),
        });
        if let Some(own) = &self.extensions {
            extensions.values.inherit(&own.values);
            let starts = own.starts.iter().cloned();
            extensions.starts.splice(0..0, starts);
            if let (Some(elicitor), None) = (&own.elicitor, &extensions.elicitor) {
                extensions.elicitor = Some(Arc::new(NestedElicitor {
                    outer: elicitor.clone(),
                    call_id: call.id.clone(),
                }));
            }
        }
        extensions
            .cancellation
            .get_or_insert_with(|| self.cancellation().clone());
        call
    }

    /// Passes progress to the closure set with
    /// [`ToolCall::on_progress`](crate::ToolCall::on_progress). Does nothing if there is none, or if
    /// the call [is cancelled](CallContext::is_cancelled): it has its result by then, and protocols
    /// such as MCP allow no progress after it.
    ///
    /// ```
    /// use tool_core::call::Progress;
    /// use tool_core::{CallContext, tool};
    ///
    /// /// Copies files.
    /// #[tool]
    /// fn copy(files: Vec<String>, call: &CallContext) -> usize {
    ///     for (done, _file) in files.iter().enumerate() {
    ///         call.report(&Progress::of(done as f64, files.len() as f64));
    ///     }
    ///     files.len()
    /// }
    /// ```
    pub fn report(&self, progress: &Progress) {
        let extensions = self.extensions.as_ref();
        let sink = extensions.and_then(|extensions| extensions.progress.as_ref());
        if let Some(sink) = sink.filter(|_| !self.is_cancelled()) {
            sink.send(progress);
        }
    }

    /// Asks the user a question; see [`elicit`](crate::call::elicit) for an example. `key` identifies the question
    /// within the call.
    ///
    /// With some protocols the future never resolves: the call ends with the question, and is made again
    /// with the answer. So effects before a question must be harmless to
    /// [repeat](crate::call::elicit#a-tool-may-run-again), or be [kept](CallContext::keep).
    ///
    /// ```
    /// use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
    /// use tool_core::{CallContext, tool};
    ///
    /// /// Empties the bin.
    /// #[tool(destructive)]
    /// async fn empty_bin(call: &CallContext) -> Result<String, ElicitError> {
    ///     let question = Elicit::confirm("Delete everything in the bin?");
    ///     Ok(match call.elicit("sure", question).await? {
    ///         Elicited::Accepted(()) => "the bin is empty".into(),
    ///         _ => "the user wants to keep what is in the bin".into(),
    ///     })
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the user can't be asked, if the question got lost, or if the answer does not match
    /// it.
    pub fn elicit<T>(
        &self,
        key: &str,
        question: Elicit<T>,
    ) -> impl Future<Output = Result<Elicited<T>, ElicitError>> + Send + use<T> {
        question.ask(self.elicitor().cloned(), key.to_owned())
    }

    /// Keeps a value for a later run of this call, after the user has answered a
    /// [question](CallContext::elicit). It may pass through the client: it can't be changed there, but read,
    /// so keep no secrets. Does nothing if the call is never run again.
    ///
    /// ```
    /// use tool_core::call::elicit::{Elicit, ElicitError};
    /// use tool_core::{CallContext, tool};
    ///
    /// /// Orders a pizza.
    /// #[tool]
    /// async fn order(call: &CallContext) -> Result<String, ElicitError> {
    ///     let order: u32 = match call.kept("order") {
    ///         Some(order) => order,
    ///         None => {
    ///             // Asks the shop to reserve it, once.
    ///             let order = 7;
    ///             call.keep("order", &order);
    ///             order
    ///         }
    ///     };
    ///     let answer = call.elicit("pay", Elicit::confirm("Pay 9 €?")).await?;
    ///     Ok(format!("order {order}: {answer:?}"))
    /// }
    /// # let _ = order;
    /// ```
    pub fn keep(&self, key: &str, value: &(impl Serialize + ?Sized)) {
        if let Some(elicitor) = self.elicitor()
            && let Ok(json) = serde_json::to_string(value)
        {
            elicitor.keep(key, json);
        }
    }

    /// Returns what an earlier run of this call [kept](CallContext::keep) with this key, if it is a `T`.
    pub fn kept<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_str(&self.elicitor()?.kept(key)?).ok()
    }

    fn elicitor(&self) -> Option<&Arc<dyn Elicitor>> {
        self.extensions.as_ref()?.elicitor.as_ref()
    }

    /// Sets the permit under which calls made through the context run.
    pub(crate) fn set_permit(&mut self, permit: Weak<dyn Any + Send + Sync>) {
        self.extensions.get_or_insert_default().permit = Some(permit);
    }

    /// Marks the call as completed, so that dropping the context does not cancel its token.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.is_kept = true;
    }
}

impl Clone for CallContext {
    /// Clones the context for work that continues elsewhere. The clone shares the token.
    fn clone(&self) -> CallContext {
        CallContext {
            head: self.head.clone(),
            extensions: self.extensions.clone(),
            host: self.host.clone(),
            token: OnceLock::from(self.cancellation().clone()),
            depth: self.depth,
            is_kept: true,
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

impl Drop for CallContext {
    #[inline]
    fn drop(&mut self) {
        if let (Some(token), false) = (self.token.get(), self.is_kept) {
            token.cancel();
        }
    }
}
