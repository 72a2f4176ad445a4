//! [`Agent`]: drives runs.

mod background;
mod compaction;
mod error;
mod events;
mod prices;
mod steps;
mod telemetry;
#[cfg(feature = "dynamic")]
mod tool;

use std::error::Error;
use std::fmt;
use std::future::{Future, pending, ready};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
#[cfg(feature = "tracing")]
use tool_core::call::TraceContext;
use tool_core::call::{CallPosition, CancellationToken};
use tool_core::dialect::{
    Dialect, RequestOptions, ResponseError, StreamEvent, ToolChoice, Turn, TypedAnswer, Usage,
};
use tool_core::hooks::{Decision, DecisionPolicy, DecisionRequest, Hold};
use tool_core::runtime::{BoxFuture, NoRuntime, block_on};
use tool_core::{DecodeOwned, Registry, ToolCall, ToolError, ToolResult, ToolType};

use self::background::{Background, Ended};
use self::events::{Caller, EventQueue, EventSink, Listener};
#[cfg(feature = "tracing")]
use self::telemetry::TraceLinks;
use self::telemetry::{Chat, Invocation, Summary};
use crate::guarded::{Guarded, answered, caught, finished};
use crate::model::{Model, ModelError, ModelErrorKind, Request, Response};
#[cfg(feature = "tower")]
use crate::model::{ModelService, Retry, ServiceModel};
use crate::run::{
    At, DecideError, Increment, Journal, JournalError, Run, RunError, RunInfo, RunOutcome, Step,
    WithoutIncrements, position_of, random_id,
};

pub use self::background::BackgroundCalls;
pub use self::compaction::Compaction;
pub use self::error::{AgentError, Typed, Unfinished, UnfinishedReason};
pub use self::events::{Event, Events, PartialArguments};
pub use self::prices::Prices;
pub use self::steps::{PreparedCall, Steps};

/// A registry, a dialect and a model, which together drive [runs](Run).
///
/// Clones are cheap and share everything. See the [front page](crate) for an example.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_core::dialect::OpenAiChat;
///
/// // In place of a provider, which `HttpModel` (feature `http`) asks.
/// let model = ScriptedModel::new([
///     json!({"choices": [{"message": {"role": "assistant", "content": "Hello!"}}]}),
/// ]);
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
/// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone)]
pub struct Agent {
    registry: Registry,
    dialect: Arc<dyn Dialect>,
    model: Arc<dyn Model>,
    /// Kept here, because layers around the model have no name.
    model_name: Option<Arc<str>>,
    journal: Option<Arc<dyn Journal>>,
    prepare: Option<Prepare>,
    contexts: Option<Contexts>,
    policy: DecisionPolicy,
    call_service: Option<CallService>,
    cancellation: Option<CancellationToken>,
    max_duration: Option<Duration>,
    options: RequestOptions,
    prices: Option<Prices>,
    compaction: Option<Compaction>,
    open_calls: OpenCalls,
    /// Where calls in the background stay when a run rests.
    background: Option<BackgroundCalls>,
    listener: Option<Listener>,
    #[cfg(feature = "tracing")]
    trace_links: Option<TraceLinks>,
    /// The most bytes of messages that a span has.
    #[cfg(feature = "tracing")]
    trace_content: Option<usize>,
}

/// What [`Agent::reply`] does with calls of the last response that have no result, such as after a crash.
///
/// ```
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::{Agent, OpenCalls};
/// use tool_core::Registry;
/// use tool_core::dialect::OpenAiChat;
///
/// // A new message of the user drops what still waits for a decision.
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
///     .open_calls(OpenCalls::Cancel);
/// # let _ = agent;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenCalls {
    /// Runs them, or [resumes](Run::resume) what had started. If calls wait for decisions, or something is
    /// [unanswered](RunOutcome::Unanswered), it returns them.
    #[default]
    Finish,
    /// Cancels them, also those that wait for decisions. A response with something unanswered is given up.
    Cancel,
}

/// How far a run is driven.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Answer,
    /// The results of the calls of the last response.
    Results,
}

/// A function that is applied to every call before it runs.
type Prepare = Arc<dyn Fn(ToolCall) -> ToolCall + Send + Sync>;
/// Attaches the context values of the owner to a call.
type Contexts =
    Arc<dyn Fn(RunInfo, ToolCall) -> BoxFuture<Result<ToolCall, ContextError>> + Send + Sync>;
/// An error of the application.
type ContextError = Box<dyn Error + Send + Sync>;
/// Runs calls in place of the registry.
pub(crate) type CallService = Arc<dyn Fn(ToolCall) -> BoxFuture<ToolResult> + Send + Sync>;

impl Agent {
    /// Creates an agent.
    pub fn new(
        registry: Registry,
        dialect: impl Dialect + 'static,
        model: impl Model + 'static,
    ) -> Agent {
        Agent {
            registry,
            dialect: Arc::new(dialect),
            model_name: model.name().map(Arc::from),
            model: Arc::new(model),
            journal: None,
            prepare: None,
            contexts: None,
            policy: DecisionPolicy::default(),
            call_service: None,
            cancellation: None,
            max_duration: None,
            options: RequestOptions::new(),
            prices: None,
            compaction: None,
            open_calls: OpenCalls::default(),
            background: None,
            listener: None,
            #[cfg(feature = "tracing")]
            trace_links: None,
            #[cfg(feature = "tracing")]
            trace_content: None,
        }
    }

    /// Sets which tools the model may or must call. Once it has made a call that
    /// [`Required`](ToolChoice::Required) or [`Tool`](ToolChoice::Tool) asks for, the choice is
    /// [`Auto`](ToolChoice::Auto) until the next message of the user, so that the model can answer.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_agent::Agent;
    /// use tool_core::dialect::{Anthropic, ToolChoice};
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
    ///     .tool_choice(ToolChoice::Required)
    ///     .parallel(false)
    ///     .cached();
    /// # let _ = agent;
    /// ```
    pub fn tool_choice(self, choice: ToolChoice) -> Self {
        self.change_request(|options| options.choice(choice))
    }

    /// Allows the model only the tools with these names; see [`RequestOptions::only`]. The registry still
    /// runs a call of another tool.
    pub fn only<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        self.change_request(|options| options.only(names))
    }

    /// Allows or forbids several calls in one response. By default, the provider decides.
    /// [`RunSettings::parallel`](crate::run::RunSettings::parallel) says whether such calls run
    /// concurrently.
    pub fn parallel(self, is_allowed: bool) -> Self {
        self.change_request(|options| options.parallel(is_allowed))
    }

    /// Lets the provider cache the tools; see [`RequestOptions::cached`].
    pub fn cached(self) -> Self {
        self.change_request(RequestOptions::cached)
    }

    /// Asks for answers of a type; see [`RequestOptions::answer`]. Read the text of an answer with
    /// [`TypedAnswer::parse`]. [`Agent::answer`] does both.
    pub fn answer_type<T: ToolType + ?Sized>(self) -> Self {
        self.change_request(RequestOptions::answer::<T>)
    }

    /// Replaces the settings of requests. A run may have [its own](Run::set_request_options).
    pub fn request_options(self, options: RequestOptions) -> Self {
        self.change_request(|_| options)
    }

    fn change_request(mut self, change: impl FnOnce(RequestOptions) -> RequestOptions) -> Self {
        self.options = change(self.options);
        self
    }

    /// Sets the prices of the model, for [`RunSettings::max_micros`](crate::run::RunSettings::max_micros).
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// Replaces old messages of a run by a summary when it gets long, before the next request. A call is never split from
    /// its result, and a prompt of the system stays. The [journal](Agent::journal) keeps the messages.
    ///
    /// ```
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Compaction};
    /// use tool_core::Registry;
    /// use tool_core::dialect::Anthropic;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
    ///     .compact(Compaction::at_tokens(100_000));
    /// # let _ = agent;
    /// ```
    pub fn compact(mut self, policy: Compaction) -> Self {
        self.compaction = Some(policy);
        self
    }

    /// Sets what [`reply`](Agent::reply) does with calls that have no result.
    pub fn open_calls(mut self, open_calls: OpenCalls) -> Self {
        self.open_calls = open_calls;
        self
    }

    /// Lets [`run`](Agent::run) and the like return when the model ends its turn, while calls of tools with
    /// [`background`](tool_core::ToolSpec::is_background) still run. They stay in the [`BackgroundCalls`], where they go on
    /// while something waits for them, and end when it is dropped. Without this, a run waits for them.
    pub fn leave_background(mut self, calls: &BackgroundCalls) -> Self {
        self.background = Some(calls.clone());
        self
    }

    /// Calls a function with each event of its runs, whichever method drives them. It should return quickly.
    ///
    /// ```
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Event};
    /// use tool_core::Registry;
    /// use tool_core::dialect::OpenAiChat;
    ///
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
    ///     .on_event(|event| {
    ///         if let Event::Text(piece) = event {
    ///             print!("{piece}");
    ///         }
    ///     });
    /// # let _ = agent;
    /// ```
    pub fn on_event(mut self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Links the spans of a run that is driven several times, such as before and after a decision, or by another process
    /// after a crash: each run saves the trace of the `invoke_agent` span that drives it, and the next one gets a link to
    /// it. `trace_of` returns the trace of a span, and `link` adds a link from a span to an earlier trace.
    ///
    /// Traces of OpenTelemetry exist in the application only, so this crate can't do it. With `tracing-opentelemetry`:
    ///
    /// ```ignore
    /// use std::collections::HashMap;
    /// use opentelemetry::propagation::TextMapPropagator;
    /// use opentelemetry::trace::TraceContextExt;
    /// use opentelemetry_sdk::propagation::TraceContextPropagator;
    /// use tool_core::call::TraceContext;
    /// use tracing_opentelemetry::OpenTelemetrySpanExt;
    ///
    /// let agent = agent.trace_links(
    ///     |span| {
    ///         let mut headers = HashMap::new();
    ///         TraceContextPropagator::new().inject_context(&span.context(), &mut headers);
    ///         TraceContext::new(headers.remove("traceparent")?)
    ///     },
    ///     |span, earlier| {
    ///         let headers = earlier.headers().map(|(name, value)| (name.to_owned(), value.to_owned()));
    ///         let headers: HashMap<_, _> = headers.collect();
    ///         let earlier = TraceContextPropagator::new().extract(&headers);
    ///         span.add_link(earlier.span().span_context().clone());
    ///     },
    /// );
    /// ```
    ///
    /// If a closure panics, the run goes on without the link. Tracestate and baggage are not saved.
    #[cfg(feature = "tracing")]
    pub fn trace_links(
        mut self,
        trace_of: impl Fn(&tracing::Span) -> Option<TraceContext> + Send + Sync + 'static,
        link: impl Fn(&tracing::Span, &TraceContext) + Send + Sync + 'static,
    ) -> Self {
        self.trace_links = Some(TraceLinks {
            trace_of: Arc::new(trace_of),
            link: Arc::new(link),
        });
        self
    }

    /// Records the messages of each request and of its response in the `chat` span, as the attributes
    /// `gen_ai.input.messages` and `gen_ai.output.messages`, each limited to this many bytes. Of a conversation that is
    /// longer, the oldest messages are left out. Messages may be personal, so that none are recorded by default.
    ///
    /// Arguments and results are a part of the messages. [`RegistryBuilder::trace_content`] records them in the spans of
    /// the calls, too.
    ///
    /// [`RegistryBuilder::trace_content`]: tool_core::RegistryBuilder::trace_content
    ///
    /// # Secrets
    ///
    /// Arguments are those of [`Registry::shown`], and a result with a [secret](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#secrets) is not
    /// shown. What the run knows as a secret is `[secret]` in every other string too, such as an answer that repeats it;
    /// see [`Secrets`](tool_core::call::Secrets). What it can't know is recorded as it is: a secret that a user writes, or
    /// that is in the prompt of the system, before a call has it as an argument; one that a tool returns without the mark;
    /// one shorter than four characters; the arguments of a tool that is called by a tool. A prompt that the model adds to
    /// requests, as `HttpModel::system` does, is not recorded.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_core::dialect::Anthropic;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// let agent = agent.trace_content(16_384);
    /// # let _ = agent;
    /// ```
    #[cfg(feature = "tracing")]
    pub fn trace_content(mut self, bytes: usize) -> Self {
        self.trace_content = Some(bytes);
        self
    }

    /// Saves every step of its runs before the next one; see [`run`](crate::run#saving).
    ///
    /// ```no_run
    /// use tool_agent::Agent;
    /// use tool_agent::run::FileJournal;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_core::dialect::OpenAiChat;
    ///
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
    ///     .journal(FileJournal::new("runs"));
    /// # let _ = agent;
    /// ```
    pub fn journal(mut self, journal: impl Journal + 'static) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// Stops with [`RunOutcome::OutOfTime`] after this time: the request to the model is dropped, and
    /// running calls are cancelled. The time counts for one call of [`run`](Agent::run), which can be
    /// called again to go on. Needs the timers of the registry's [`Runtime`](tool_core::runtime::Runtime).
    pub fn max_duration(mut self, time: Duration) -> Self {
        self.max_duration = Some(time);
        self
    }

    /// Ends its runs with [`RunOutcome::Cancelled`] as soon as the token is cancelled. The request to
    /// the model is dropped. Running calls are cancelled, and the run keeps the results so far. As
    /// always, a sync tool and an `after` hook run to their end.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::model::Request;
    /// use tool_core::dialect::Anthropic;
    /// use tool_agent::run::{Run, RunOutcome};
    /// use tool_core::call::{CallPosition, CancellationToken};
    /// use tool_core::Registry;
    ///
    /// let silent = |_: Request| std::future::pending();
    /// let stop = CancellationToken::new();
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), silent).cancel_with(&stop);
    /// let thread = std::thread::spawn(move || agent.run_blocking(&mut Run::new("run-1")).unwrap());
    /// stop.cancel();
    /// assert_eq!(thread.join().unwrap(), RunOutcome::Cancelled);
    /// ```
    pub fn cancel_with(mut self, token: &CancellationToken) -> Self {
        self.cancellation = Some(token.clone());
        self
    }

    /// Applies a function to every call before it runs, such as to add a token that cancels this call alone, or the
    /// user of a program that has one. What the function adds belongs to whoever drives the run: with several
    /// users, give the runs an [owner](crate::run::RunBuilder::owner) and use [`contexts`](Agent::contexts), whose values
    /// come last. A call that is repeated after a decision or an interruption passes through the function
    /// again. If the function panics, the call ends as if its tool had panicked.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_agent::Agent;
    /// use tool_core::dialect::Anthropic;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// struct Folder(&'static str);
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]))
    ///     .each_call(|call| call.with(Folder("/home/ada")));
    /// # let _ = agent;
    /// ```
    pub fn each_call(
        mut self,
        prepare: impl Fn(ToolCall) -> ToolCall + Send + Sync + 'static,
    ) -> Self {
        let prepare = Guarded(Some(prepare));
        self.prepare = Some(Arc::new(move |call| match &prepare.0 {
            Some(prepare) => prepare(call),
            None => call,
        }));
        self
    }

    /// Attaches the context values of each call from the [owner](RunInfo::owner) of its run, whoever continues the
    /// run. A run with an owner needs this. Other runs pass through it too, without an owner.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::run::RunInfo;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::dialect::Anthropic;
    /// use tool_core::{Registry, ToolCall};
    ///
    /// /// A user with the rights that the tools check.
    /// struct User {
    ///     id: String,
    ///     is_admin: bool,
    /// }
    ///
    /// async fn find_user(id: &str) -> Result<User, std::io::Error> {
    ///     // From the database.
    ///     Ok(User { id: id.into(), is_admin: false })
    /// }
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// let agent = agent.contexts(|run: RunInfo, call| async move {
    ///     let owner = run.owner().ok_or("the run has no owner")?;
    ///     Ok::<ToolCall, _>(call.with(find_user(owner).await?))
    /// });
    /// # let _ = agent;
    /// ```
    ///
    /// If the closure returns an error or panics, the calls do not start, the run stays as it was, and the agent
    /// returns [`AgentError::Context`].
    pub fn contexts<F>(
        mut self,
        contexts: impl Fn(RunInfo, ToolCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolCall, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.contexts = Some(Arc::new(move |run, call| Box::pin(contexts(run, call))));
        self
    }

    /// Sets who may [decide](Agent::decide) on held calls: the closure returns `true` if
    /// [`user`](DecisionRequest::user) may. It is asked for each decision, and again before the call starts: a call whose
    /// decision is no longer allowed waits again. [`DecisionPolicy`] lists the rules that hold in any case.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_core::dialect::Anthropic;
    ///
    /// async fn is_lead(user: &str) -> bool {
    ///     // From the database.
    ///     user == "user-3"
    /// }
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// // Owners confirm their calls, and leads decide on those of others.
    /// let agent = agent.may_decide(async |request| {
    ///     request.is_owner() || is_lead(&request.user).await
    /// });
    /// # let _ = agent;
    /// ```
    pub fn may_decide<F>(
        mut self,
        allows: impl Fn(DecisionRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = bool> + Send + 'static,
    {
        self.policy = DecisionPolicy::new(allows);
        self
    }

    /// Runs calls through a tower service in place of the [registry](Agent::registry), such as the registry
    /// in layers. An error of a layer becomes an error result.
    #[cfg(feature = "tower")]
    pub fn call_service<S>(mut self, service: S) -> Self
    where
        S: tower_service::Service<ToolCall, Response = ToolResult> + Clone + Send + Sync + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        S::Future: Send,
    {
        self.call_service = Some(Arc::new(move |call| {
            let mut service = service.clone();
            Box::pin(async move {
                let own = call.clone();
                let ready = std::future::poll_fn(|cx| service.poll_ready(cx))
                    .await
                    .map_err(Into::into);
                let result = match ready {
                    Ok(()) => service.call(call).await.map_err(Into::into),
                    Err(error) => Err(error),
                };
                result.unwrap_or_else(|error: Box<dyn Error + Send + Sync>| {
                    ToolResult::failed(&own, error)
                })
            })
        }));
        self
    }

    /// Returns the agent that an evaluation asks: it saves nothing, and with `calls` it answers calls by that function,
    /// without any code of the application.
    #[cfg(feature = "eval")]
    pub(crate) fn evaluated(mut self, calls: Option<CallService>) -> Agent {
        self.journal = None;
        self.listener = None;
        if let Some(calls) = calls {
            self.call_service = Some(calls);
            self.prepare = None;
            self.contexts = None;
        }
        self
    }

    /// Replaces the tools.
    #[cfg(feature = "eval")]
    pub(crate) fn with_registry(mut self, registry: Registry) -> Agent {
        self.registry = registry;
        self
    }

    /// Replaces the model by another, which may ask it.
    #[cfg(feature = "eval")]
    pub(crate) fn map_model<M: Model + 'static>(
        mut self,
        change: impl FnOnce(Arc<dyn Model>) -> M,
    ) -> Agent {
        self.model = Arc::new(change(self.model));
        self
    }

    /// Returns `true` if the model has prices.
    #[cfg(feature = "eval")]
    pub(crate) fn has_prices(&self) -> bool {
        self.prices.is_some()
    }

    /// Repeats requests to the model that fail, as [`Retry`] says. A response that breaks off after its
    /// stream has started is not requested again.
    ///
    /// ```
    /// use tool_core::Registry;
    /// use tool_agent::Agent;
    /// use tool_agent::model::Retry;
    /// use tool_core::dialect::Anthropic;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), ScriptedModel::new([]));
    /// let agent = agent.retry(Retry::new(3));
    /// # let _ = agent;
    /// ```
    #[cfg(feature = "tower")]
    pub fn retry(mut self, policy: Retry) -> Self {
        let service = ModelService::shared(self.model);
        self.model = Arc::new(ServiceModel::new(tower::retry::Retry::new(policy, service)));
        self
    }

    /// Returns the registry. Tools may be added and removed during a run.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> &dyn Dialect {
        &*self.dialect
    }

    /// Asks the model one question and returns its answer. For a conversation, use a [`Run`].
    ///
    /// ```
    /// use tool_agent::{Agent, AgentError};
    ///
    /// async fn translate(agent: &Agent, word: &str) -> Result<String, AgentError> {
    ///     agent.ask(&format!("Translate to Portuguese, one word: {word}")).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run). If there is no answer, or if calls have run before an error, it is
    /// [`AgentError::Unfinished`], which has the run.
    pub async fn ask(&self, question: &str) -> Result<String, AgentError> {
        let mut run = Run::new(random_id());
        run.push(self.dialect.user_message(question))?;
        let answered = self.run(&mut run).await;
        Unfinished::check(answered, run).map(|(answer, _)| answer)
    }

    /// Asks the model one question and returns its answer as a value of a type; see
    /// [`answer`](Agent::answer). If the answer does not match the schema, the model gets the violations
    /// and one chance to correct it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_core::dialect::Anthropic;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::{Registry, ToolType};
    ///
    /// #[derive(ToolType)]
    /// struct Sum {
    ///     total: i64,
    /// }
    ///
    /// let model = ScriptedModel::new([json!({"role": "assistant", "content": [
    ///     {"type": "text", "text": "{\"total\":5}"},
    /// ]})]);
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), model);
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let sum: Sum = agent.ask_for("What is 2 + 3?").await?;
    /// assert_eq!(sum.total, 5);
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Agent::ask), and [`AgentError::Answer`] if the second answer does
    /// not match the schema either.
    pub async fn ask_for<T>(&self, question: &str) -> Result<T, AgentError>
    where
        T: ToolType + DecodeOwned,
    {
        let mut run = Run::new(random_id());
        run.push(self.dialect.user_message(question))?;
        match self.answer(&mut run).await {
            Ok(Typed::Answered(value)) => Ok(value),
            Ok(Typed::Ended(outcome)) => {
                Err(Unfinished::error(UnfinishedReason::Ended(outcome), run))
            }
            Err(error) => Err(Unfinished::of_error(error, run)),
        }
    }

    /// Drives a run like [`run`](Agent::run), and returns its answer as a value of a type. If the answer does not match
    /// the schema, the model gets the violations and one chance to correct it. Call it again after a
    /// [decision](Agent::decide).
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::Run;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, Typed};
    /// use tool_core::Registry;
    /// use tool_core::dialect::OpenAiChat;
    ///
    /// let saying = |text: &str| json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
    /// let model = ScriptedModel::new([saying(r#"{"answer":5}"#), saying(r#"{"answer":7}"#)]);
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    /// let mut run = Run::new("conversation-1");
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// for (question, sum) in [("What is 2 + 3?", 5), ("And plus 2?", 7)] {
    ///     run.push(agent.dialect().user_message(question))?;
    ///     assert_eq!(agent.answer::<i64>(&mut run).await?, Typed::Answered(sum));
    /// }
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run), and [`AgentError::Answer`] if the second answer does not match the schema
    /// either.
    pub async fn answer<T>(&self, run: &mut Run) -> Result<Typed<T>, AgentError>
    where
        T: ToolType + DecodeOwned,
    {
        let agent = self.clone().answer_type::<T>();
        let first = match agent.run(run).await? {
            RunOutcome::Answered(text) => text,
            outcome => return Ok(Typed::Ended(outcome)),
        };
        let error = match TypedAnswer::parse(&first) {
            Ok(answer) => return Ok(Typed::Answered(answer)),
            Err(error) => error,
        };
        run.push(self.dialect.user_message(&error.to_string()))?;
        match agent.run(run).await? {
            RunOutcome::Answered(text) => {
                let answer = TypedAnswer::parse(&text).map_err(AgentError::Answer);
                answer.map(Typed::Answered)
            }
            outcome => Ok(Typed::Ended(outcome)),
        }
    }

    /// Adds a message of the user to a run, and drives it: what the handler of a chat calls, in any state of the run.
    ///
    /// Calls that an interruption has left without results come first, as [`open_calls`](Agent::open_calls) says. If some
    /// of them wait for decisions, the outcome is [`RunOutcome::Waiting`], and the message is not added. So is it with
    /// [`RunOutcome::Unanswered`].
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_agent::run::{Run, RunOutcome};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::Registry;
    /// use tool_core::dialect::OpenAiChat;
    ///
    /// let model = ScriptedModel::new([
    ///     json!({"choices": [{"message": {"role": "assistant", "content": "Hello!"}}]}),
    /// ]);
    /// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let id = "conversation-1";
    /// let mut run = agent.load(id).await?.unwrap_or_else(|| Run::new(id));
    /// let outcome = agent.reply(&mut run, "Hello?").await?;
    /// assert_eq!(outcome, RunOutcome::Answered("Hello!".into()));
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run).
    pub async fn reply(&self, run: &mut Run, text: &str) -> Result<RunOutcome, AgentError> {
        self.reply_with(run, text.to_owned(), None).await
    }

    /// Replies like [`reply`](Agent::reply), and returns what happens as a stream.
    pub fn reply_events<'a>(&'a self, run: &'a mut Run, text: &str) -> Events<'a> {
        let queue = EventQueue::default();
        let replying = self.reply_with(run, text.to_owned(), Some(queue.clone()));
        Events::new(queue, replying)
    }

    async fn reply_with(
        &self,
        run: &mut Run,
        text: String,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        let invocation = Invocation::new(self, run);
        // On the heap, because the futures of callers contain it.
        let driving = Box::pin(self.reply_in(&invocation, run, text, queue));
        invocation.run(driving).await
    }

    async fn reply_in(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        text: String,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        self.check(run)?;
        let mut background = Background::of(self, run);
        match self.open_calls {
            OpenCalls::Finish => {
                let outcome = self
                    .drive(
                        invocation,
                        run,
                        &mut background,
                        queue.clone(),
                        Goal::Results,
                    )
                    .await?;
                if let Some(outcome) = outcome {
                    return Ok(outcome);
                }
                if !run.unanswered().is_empty() {
                    return self.drive_in(invocation, run, background, queue).await;
                }
            }
            OpenCalls::Cancel if run.open_round().is_some() || !run.unanswered().is_empty() => {
                background.resume(run, self)?;
                run.cancel_response(self.dialect())?;
            }
            OpenCalls::Cancel => {}
        }
        run.push(self.dialect.user_message(&text))?;
        invocation.save_in(run);
        self.save(run).await?;
        EventSink::new(queue.clone(), self.listener.clone()).push(Event::Message(text));
        self.drive_in(invocation, run, background, queue).await
    }

    /// Runs [`ask`](Agent::ask) on this thread, for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Agent::ask).
    pub fn ask_blocking(&self, question: &str) -> Result<String, AgentError> {
        block_on(self.ask(question)).map_err(AgentError::NoRuntime)?
    }

    /// Runs [`run`](Agent::run) on this thread, for programs without an async runtime.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`run`](Agent::run).
    pub fn run_blocking(&self, run: &mut Run) -> Result<RunOutcome, AgentError> {
        block_on(self.run(run)).map_err(AgentError::NoRuntime)?
    }

    /// Sends requests and runs calls until the run is done or waits for a decision. Calls in the background are waited for,
    /// and the model gets their results, unless they are [left](Agent::leave_background): an answer is complete, and
    /// nothing runs after it.
    ///
    /// Dropping the future stops the run. What is known by then is in it; another call of this method
    /// goes on, and [resumes](Run::resume) what was interrupted.
    ///
    /// ```
    /// use tool_agent::run::RunOutcome;
    /// use tool_agent::{Agent, AgentError};
    ///
    /// async fn go_on(agent: &Agent, id: &str) -> Result<Option<RunOutcome>, AgentError> {
    ///     let Some(mut run) = agent.load(id).await? else { return Ok(None) };
    ///     agent.run(&mut run).await.map(Some)
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails, if the dialect can't read the response, or if the run can't
    /// be saved. The run is then as after the last complete step and can go on.
    pub async fn run(&self, run: &mut Run) -> Result<RunOutcome, AgentError> {
        self.drive_to_end(run, None).await
    }

    /// Drives a run like [`run`](Agent::run), and returns what happens as a stream.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use serde_json::json;
    /// use tool_core::Registry;
    /// use tool_agent::{Agent, Event};
    /// use tool_core::dialect::Anthropic;
    /// use tool_agent::run::Run;
    /// use tool_agent::testing::ScriptedModel;
    ///
    /// let model = ScriptedModel::new([
    ///     json!({"role": "assistant", "content": [{"type": "text", "text": "Hello!"}]}),
    /// ]);
    /// let agent = Agent::new(Registry::new(), Anthropic::default(), model);
    /// let mut run = Run::new("conversation-1");
    /// run.push(agent.dialect().user_message("Hello?"))?;
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let mut events = agent.events(&mut run);
    /// while let Some(event) = events.next().await {
    ///     match event? {
    ///         Event::Text(text) => print!("{text}"),
    ///         Event::Call { call, shown } => println!("calls {} with {shown}", call.name),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events<'a>(&'a self, run: &'a mut Run) -> Events<'a> {
        let queue = EventQueue::default();
        Events::new(queue.clone(), self.drive_to_end(run, Some(queue)))
    }

    /// Decides on a [pending](Run::pending) call in the name of a user, and saves the run. The call starts when the run
    /// goes on, with the rights of the [owner](crate::run::RunBuilder::owner) of the run.
    ///
    /// `fingerprint` belongs to the [`Pending`](crate::run::Pending) that the user has seen, so that a decision can't apply to another call
    /// or to other arguments.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::{Run, RunOutcome};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, AgentError};
    /// use tool_core::dialect::OpenAiChat;
    /// use tool_core::hooks::{Decision, Gate};
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Pays an invoice.
    /// #[tool(destructive)]
    /// fn pay(invoice: u32) -> String {
    ///     format!("{invoice} is paid")
    /// }
    ///
    /// let registry = Registry::builder()
    ///     .tools(tools![pay])
    ///     .before(async |_| Gate::hold("it costs money"))
    ///     .build()?;
    /// let call = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
    ///     {"id": "call_1", "type": "function", "function": {"name": "pay", "arguments": "{\"invoice\":17}"}},
    /// ]}}]});
    /// let answer = json!({"choices": [{"message": {"role": "assistant", "content": "Paid."}}]});
    /// let agent = Agent::new(registry, OpenAiChat::default(), ScriptedModel::new([call, answer]))
    ///     .contexts(async |_, call| Ok(call))
    ///     .may_decide(async |request| request.user.starts_with("lead-"));
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let mut run = Run::builder("run-1").owner("ada").build();
    /// agent.reply(&mut run, "Pay 17.").await?;
    /// let fingerprint = run.pending()[0].fingerprint().to_owned();
    /// for user in ["ada", "bob"] {
    ///     let decided = agent.decide(&mut run, &fingerprint, Decision::Allow, user).await;
    ///     assert!(matches!(decided, Err(AgentError::Decide(_))));
    /// }
    /// agent.decide(&mut run, &fingerprint, Decision::Allow, "lead-eve").await?;
    /// assert_eq!(agent.run(&mut run).await?, RunOutcome::Answered("Paid.".into()));
    /// # Ok::<(), AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Decide`] if the [policy](Agent::may_decide) does not let the user decide, if no such call
    /// waits, if changed arguments are invalid, or if a call that the [provider](ToolCall::hosted_by) runs should do more
    /// than be allowed or denied: the run is then as before. Other errors are those of [`save`](Agent::save).
    pub async fn decide(
        &self,
        run: &mut Run,
        fingerprint: &str,
        decision: Decision,
        user: impl Into<String>,
    ) -> Result<(), AgentError> {
        self.decide_on(run, fingerprint, decision, user.into())
            .await?;
        self.save(run).await
    }

    /// Decides on a pending call, and saves nothing.
    async fn decide_on(
        &self,
        run: &mut Run,
        fingerprint: &str,
        decision: Decision,
        user: String,
    ) -> Result<(), AgentError> {
        run.bind(self.dialect())?;
        let pending = run.pending_with(fingerprint)?;
        let request = self.decision_request(run, pending.hold(), &user);
        let checked = self.policy.check(request).await;
        checked.map_err(DecideError::Denied)?;
        run.decide_pending(&self.registry, &pending, decision, user)?;
        Ok(())
    }

    fn decision_request(&self, run: &Run, hold: &Hold, user: &str) -> DecisionRequest {
        let mut request = DecisionRequest::new(user, hold.clone());
        request.owner = run.info().owner().map(str::to_owned);
        // A tool of the provider has no entry here, whatever its name.
        if hold.server().is_none() {
            request.tool = self.registry.get(hold.tool());
        }
        request
    }

    /// Returns the calls that were decided by somebody who may no longer decide, with the index of the decision.
    async fn forbidden<'c>(&self, run: &Run, calls: &'c [ToolCall]) -> Vec<(&'c ToolCall, usize)> {
        let mut forbidden = Vec::new();
        for call in calls {
            for (index, (hold, by)) in run.deciders(call).iter().enumerate() {
                // Nobody did: it has expired.
                if by.is_empty() {
                    continue;
                }
                let request = self.decision_request(run, hold, by);
                if self.policy.check(request).await.is_err() {
                    forbidden.push((call, index));
                    break;
                }
            }
        }
        forbidden
    }

    /// Attaches what the application adds to a call. If that fails for this call alone, the error is its result.
    async fn prepared(
        &self,
        run: &RunInfo,
        call: &ToolCall,
    ) -> Result<Result<ToolCall, ToolError>, AgentError> {
        let mut own = match &self.prepare {
            Some(prepare) => caught(&call.name, || prepare(call.clone())),
            None => Ok(call.clone()),
        };
        // Last, so that nothing replaces the values of the owner.
        if let (Some(contexts), Ok(attaching)) = (&self.contexts, &own) {
            let attaching = || contexts(run.clone(), attaching.clone());
            let attached = answered(&call.name, attaching).await;
            own = Ok(attached.map_err(|error| AgentError::Context {
                run: run.id().into(),
                tool: call.name.clone(),
                error,
            })?);
        }
        Ok(own.map(|own| own.with(run.clone())))
    }

    /// Checks that the agent can run calls in the name of the owner, and count what they cost.
    fn check(&self, run: &Run) -> Result<(), AgentError> {
        if self.prices.is_none() && run.settings().max_micros != u64::MAX {
            return Err(AgentError::NoPrices(run.id().into()));
        }
        if run.info().owner().is_some() && self.contexts.is_none() {
            return Err(AgentError::NoContexts(run.id().into()));
        }
        Ok(())
    }

    /// Loads a run from the [journal](Agent::journal). Returns `None` if it has no such run.
    ///
    /// ```
    /// use tool_agent::run::Run;
    /// use tool_agent::{Agent, AgentError};
    ///
    /// /// Returns the conversation with this id, or a new one.
    /// async fn open(agent: &Agent, id: &str) -> Result<Run, AgentError> {
    ///     Ok(agent.load(id).await?.unwrap_or_else(|| Run::new(id)))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the run can't be loaded, or if it has another dialect.
    pub async fn load(&self, id: &str) -> Result<Option<Run>, AgentError> {
        let Some(journal) = &self.journal else {
            return Ok(None);
        };
        let loaded = journal.load(id).await;
        let increments = loaded.map_err(|error| error.of_run("load", id))?;
        if increments.is_empty() {
            return Ok(None);
        }
        let run = Run::replay(increments);
        let mut run = run.map_err(|error| error.of_run(id))?;
        if run.id() != id {
            let problem = format!("the journal has the run {:?} in place of {id:?}", run.id());
            return Err(JournalError::failed(problem).into());
        }
        run.bind(self.dialect())?;
        Ok(Some(run))
    }

    /// Saves what changed in a run, if there is a [journal](Agent::journal). [`run`](Agent::run) does
    /// this after every step; it is needed after [`Run::push`] and [`Run::decide`] if the run does not
    /// go on at once.
    ///
    /// # Errors
    ///
    /// Returns the error of the journal. What is not saved stays in the run, for the next attempt. A run of another
    /// dialect is an error too.
    pub async fn save(&self, run: &mut Run) -> Result<(), AgentError> {
        run.bind(self.dialect())?;
        let Some(last) = run.unsaved().last().map(Increment::number) else {
            return Ok(());
        };
        if let Some(journal) = &self.journal {
            let saved = journal.append(run.head(), run.unsaved().to_vec()).await;
            saved.map_err(|error| error.of_run("save", run.id()))?;
        }
        run.mark_saved(last);
        Ok(())
    }

    async fn drive_to_end(
        &self,
        run: &mut Run,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        let invocation = Invocation::new(self, run);
        let background = Background::of(self, run);
        let driving = Box::pin(self.drive_in(&invocation, run, background, queue));
        invocation.run(driving).await
    }

    async fn drive_in(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        mut background: Background,
        queue: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        loop {
            let driving = self.drive(
                invocation,
                run,
                &mut background,
                queue.clone(),
                Goal::Answer,
            );
            if let Some(outcome) = driving.await? {
                return Ok(outcome);
            }
        }
    }

    /// Drives a run. Returns `None` if the goal is reached before the run has an outcome.
    async fn drive(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        background: &mut Background,
        queue: Option<EventQueue>,
        goal: Goal,
    ) -> Result<Option<RunOutcome>, AgentError> {
        self.check(run)?;
        let events = EventSink::new(queue, self.listener.clone());
        let emit = |event: Event| events.push(event);
        let dialect = &*self.dialect;
        let token = self.cancellation.as_ref();
        // Cancels the calls when the time is over, too.
        let stop = token.map_or_else(CancellationToken::default, CancellationToken::child);
        // Nobody saves them.
        let mut run = WithoutIncrements::new(run, self.journal.is_none());
        let run = &mut *run;
        let mut time = TimeLimit {
            timer: pin!(self.out_of_time().fuse()),
            is_over: false,
        };
        let mut running = FuturesUnordered::new();
        let interrupted = background.resume(run, self)?;
        interrupted.into_iter().map(Event::Result).for_each(emit);
        invocation.save_in(run);
        loop {
            // So that new calls start before the next request, and what is held at once is known.
            background.meanwhile(ready(())).await;
            while let Some(result) = background.take(run) {
                self.finish(run, result, &events)?;
            }
            if token.is_some_and(CancellationToken::is_cancelled) {
                run.cancel(dialect)?;
            }
            if time.is_over {
                stop.cancel();
            }
            if time.is_over || run.is_cancelled() {
                background.cancel();
            }
            self.save(run).await?;
            if goal == Goal::Results && run.open_round().is_none() {
                return Ok(None);
            }
            match run.next() {
                Step::Request(_) | Step::Call(_)
                    if time.is_over && running.is_empty() && background.is_empty() =>
                {
                    return Ok(Some(RunOutcome::OutOfTime));
                }
                Step::Request(_) if !time.is_over => {
                    let responding = self.respond(invocation, run, &events);
                    let responding = background.meanwhile(until_cancelled(token, responding));
                    if let Some(responded) = time.within(responding).await?.flatten() {
                        responded?;
                    }
                }
                Step::Call(calls) if !time.is_over => {
                    let preparing = until_cancelled(token, async {
                        let mut prepared = Vec::with_capacity(calls.len());
                        for call in &calls {
                            prepared.push(self.prepared(run.info(), call).await?);
                        }
                        // Last, right before the calls start.
                        let forbidden = self.forbidden(run, &calls).await;
                        Ok::<_, AgentError>((prepared, forbidden))
                    });
                    let Some(prepared) = time.within(preparing).await?.flatten() else {
                        continue;
                    };
                    let (prepared, forbidden) = prepared?;
                    if revoke(run, forbidden, &emit) {
                        continue;
                    }
                    let mut starting = Starting::new(run, &calls)?;
                    let denied = starting.run.acknowledge(dialect, &self.registry, &calls)?;
                    self.save(starting.run).await?;
                    starting.calls.clear();
                    drop(starting);
                    invocation.count_calls(calls.len());
                    for (call, prepared) in calls.into_iter().zip(prepared) {
                        let is_denied = |result: &&ToolResult| result.position() == call.position();
                        if let Some(result) = denied.iter().find(is_denied) {
                            emit(Event::Result(result.clone()));
                            continue;
                        }
                        let position = call.position().filter(|_| run.is_in_background(&call));
                        let position = position.cloned();
                        if events.is_read() {
                            let shown = self.registry.shown(&call);
                            let call = call.clone();
                            emit(Event::Call { call, shown });
                        }
                        let Some(position) = position else {
                            running.push(self.call(call, prepared, &stop, events.clone()));
                            continue;
                        };
                        emit(Event::Acknowledged(position.clone()));
                        let stop = background.stop();
                        let calling = self.call(call, prepared, &stop, events.clone());
                        background.push(position, calling.boxed());
                    }
                }
                Step::Running
                    if background.is_left()
                        && run.open_round().is_none()
                        && !run.is_cancelled() =>
                {
                    return Ok(run.outcome());
                }
                Step::Wait(pending) if background.is_left() || background.is_empty() => {
                    return Ok(Some(RunOutcome::Waiting(pending)));
                }
                Step::Request(_) | Step::Call(_) | Step::Running | Step::Wait(_) => {
                    // Once it is cancelled, what is left are the results.
                    let token = token.filter(|token| !token.is_cancelled());
                    let ended = background.or_ended(&mut running);
                    let ended = until_cancelled(token, ended);
                    match time.within(ended).await?.flatten() {
                        Some(Ended::Other(result)) => self.finish(run, result, &events)?,
                        // The caller started calls without running them.
                        Some(Ended::Nothing) => {
                            background.resume(run, self)?;
                        }
                        Some(Ended::Here) | None => {}
                    }
                }
                Step::Done(outcome) => return Ok(Some(outcome)),
            }
        }
    }

    /// Does what [`Step::Request`] asks for: adds the response of the model to a run, or replaces old messages by a summary.
    async fn respond(
        &self,
        invocation: &Invocation<'_>,
        run: &mut Run,
        events: &EventSink,
    ) -> Result<(), AgentError> {
        let dialect = self.dialect();
        if let Some(old) = self.old_messages(run) {
            // Boxed, because it is large and rare.
            let summarising = Box::pin(self.summarise(invocation, run, old.clone()));
            if let Some(summary) = summarising.await? {
                let micros = self.micros(run, summary.usage);
                run.compact(old, summary.message, summary.usage, micros);
                return Ok(());
            }
        }
        let Step::Request(messages) = run.next() else {
            return Err(RunError::NotRequested.into());
        };
        let messages = Arc::clone(messages);
        let mut options = self.options_of(run)?.background();
        if run.has_called() {
            options = options.without_required_choice();
        }
        let has_answer = options.has_answer();
        let tools = self.registry.request(dialect).options(options).build();
        let tools = tools.map_err(AgentError::Request)?;
        let request = Request::of(messages, tools);
        let mut request = request.continued(run.continuation().clone());
        request.prefers_stream = events.is_read();
        let asking = self.response(invocation, request, run, events, None);
        let (mut turn, shows_text) = asking.await?;
        if has_answer {
            turn.accept_answer(|results| dialect.results(results));
        }
        let micros = self.micros(run, turn.usage);
        run.respond_at(dialect, &self.registry, turn, micros)?;
        if events.is_read() {
            emit_response(run, shows_text, &|event| events.push(event));
        }
        Ok(())
    }

    /// Returns the settings of the requests of a run.
    fn options_of(&self, run: &Run) -> Result<RequestOptions, AgentError> {
        let Some(own) = run.request_options() else {
            return Ok(self.options.clone());
        };
        let options = own.clone().with_answer_of(&self.options);
        options.map_err(|error| AgentError::AnswerType {
            run: run.id().into(),
            error,
        })
    }

    /// Takes the result of a call.
    fn finish(
        &self,
        run: &mut Run,
        result: ToolResult,
        events: &EventSink,
    ) -> Result<(), AgentError> {
        if !events.is_read() {
            return Ok(run.finish(self.dialect(), result)?);
        }
        let position = result.position().cloned();
        let shown = result.clone();
        run.finish(self.dialect(), result)?;
        events.push(match run.pending_at(position.as_ref()) {
            Some(pending) => Event::Held(pending),
            None => Event::Result(shown),
        });
        Ok(())
    }

    /// Returns what a response cost. One of unknown usage reaches any limit.
    fn micros(&self, run: &Run, usage: Option<Usage>) -> u64 {
        match (self.prices, usage) {
            (Some(prices), Some(usage)) => prices.micros(usage),
            (Some(_), None) if run.settings().max_micros != u64::MAX => u64::MAX,
            _ => 0,
        }
    }

    /// Asks the model for the response of this round, or for a summary. Returns it, and `true` if its text has yet to be shown.
    async fn response(
        &self,
        invocation: &Invocation<'_>,
        request: Request,
        run: &Run,
        events: &EventSink,
        summary: Option<&Summary<'_>>,
    ) -> Result<(Turn, bool), AgentError> {
        let chat = Chat::new(self, invocation, run, &request, summary);
        let reading = self.read_response(request, run.rounds().len(), events, &chat);
        // Boxed, because it is large, and a part of every future that drives a run.
        chat.run(Box::pin(reading)).await
    }

    async fn read_response(
        &self,
        request: Request,
        round: usize,
        events: &EventSink,
        chat: &Chat<'_>,
    ) -> Result<(Turn, bool), AgentError> {
        let mut stream = match self.model.ask(request).await.map_err(AgentError::Model)? {
            Response::Whole(response) => {
                let turn = self.dialect.read(&response);
                let turn = turn.map_err(|error| self.unreadable(error))?;
                chat.finish(&turn, &response);
                return Ok((turn, true));
            }
            Response::Stream(stream) => stream,
        };
        let mut is_first = true;
        let mut reader = self.dialect.stream();
        let mut calls = Vec::new();
        while let Some(event) = stream.next().await {
            let event = event.map_err(AgentError::Model)?;
            if std::mem::take(&mut is_first) {
                chat.first_chunk();
            }
            let read = reader.json(&event);
            for event in read.map_err(|error| self.unreadable(error))? {
                if events.is_read()
                    && let Some(event) = self.shown(event, round, &mut calls)
                {
                    events.push(event);
                }
            }
        }
        match reader.finish() {
            Ok((turn, response)) => {
                chat.finish(&turn, &response);
                Ok((turn, false))
            }
            // The end of a connection may look like the end of the response.
            Err(error) if error.is_incomplete() => {
                let error = ModelError::new(ModelErrorKind::Connection, error.to_string());
                let target = self.model_name.as_deref().unwrap_or("the model");
                Err(AgentError::Model(error.with_target(target)))
            }
            Err(error) => Err(self.unreadable(error)),
        }
    }

    /// Returns the error of a response that the dialect can't read.
    fn unreadable(&self, error: ResponseError) -> AgentError {
        AgentError::Response(match &self.model_name {
            Some(name) => {
                ResponseError::new(format!("the response of {name} can't be read: {error}"))
            }
            None => error,
        })
    }

    /// Returns the event for a part of a streamed response. `calls` holds the arguments so far.
    fn shown(
        &self,
        event: StreamEvent,
        round: usize,
        calls: &mut Vec<PartialArguments>,
    ) -> Option<Event> {
        let position = |index| position_of(round, index);
        Some(match event {
            StreamEvent::Text(text) => Event::Text(text),
            StreamEvent::Reasoning(text) => Event::Reasoning(text),
            StreamEvent::Usage(usage) => Event::Usage(usage),
            StreamEvent::CallStarted { index, name, .. } => {
                let reader = self.registry.arguments(&name);
                let arguments = PartialArguments(reader.map(|reader| Arc::new(Mutex::new(reader))));
                if index == calls.len() {
                    calls.push(arguments);
                }
                Event::CallStarted {
                    position: position(index),
                    name,
                }
            }
            StreamEvent::Arguments { index, piece } => {
                let arguments = calls.get(index)?;
                arguments.push(&piece);
                Event::Arguments {
                    position: position(index),
                    piece,
                    arguments: arguments.clone(),
                }
            }
            StreamEvent::Freeform { index, piece } => {
                let arguments = calls.get(index)?;
                arguments.push_freeform(&piece);
                Event::Arguments {
                    position: position(index),
                    piece,
                    arguments: arguments.clone(),
                }
            }
            // Calls run once the response is whole, which also has the reason why the model stopped.
            _ => return None,
        })
    }

    /// Completes when the time is over, or with an error if there are no timers.
    async fn out_of_time(&self) -> Result<(), AgentError> {
        let Some(time) = self.max_duration else {
            return pending().await;
        };
        let runtime = self.registry.runtime().ok_or(NoRuntime);
        let sleep = runtime.and_then(|runtime| runtime.sleep(time));
        sleep.map_err(AgentError::NoRuntime)?.await;
        Ok(())
    }

    /// Runs one call, cancelled by the token of the run and by its own.
    fn call(
        &self,
        unprepared: ToolCall,
        prepared: Result<ToolCall, ToolError>,
        stop: &CancellationToken,
        events: EventSink,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        let registry = self.registry.clone();
        let service = self.call_service.clone();
        let stop = stop.clone();
        async move {
            let mut call = match prepared {
                Ok(call) => call,
                Err(error) => return registry.fail(unprepared, error),
            };
            if events.is_read()
                && let Some(position) = call.position().cloned()
            {
                call = with_progress(call, events.clone(), position.clone());
                call = call.with(Caller { events, position });
            }
            let own = call.cancellation().cloned();
            let both = if own.is_some() { stop.child() } else { stop };
            let call = call.cancel_with(&both);
            let running: BoxFuture<ToolResult> = match &service {
                None => Box::pin(registry.call(call)),
                Some(service) => match caught(&unprepared.name, || service(call)) {
                    Ok(running) => running,
                    Err(error) => return registry.fail(unprepared, error),
                },
            };
            // Layers are code of the application.
            let running = pin!(finished(&unprepared.name, running));
            let finished = match own {
                None => running.await,
                Some(own) => match select(own.cancelled(), running).await {
                    Either::Left(((), running)) => {
                        both.cancel();
                        running.await
                    }
                    Either::Right((finished, _)) => finished,
                },
            };
            match finished {
                // A layer may return the result of another call.
                Ok(result) => result.for_call(&unprepared),
                Err(error) => registry.fail(unprepared.clone(), error),
            }
        }
    }
}

/// Takes decisions back, so that their calls wait again. Returns `true` if there are some.
fn revoke(run: &mut Run, forbidden: Vec<(&ToolCall, usize)>, emit: &dyn Fn(Event)) -> bool {
    let is_any = !forbidden.is_empty();
    for (call, decision) in forbidden {
        run.revoke(call, decision);
        let pending = run.pending_at(call.position());
        pending.into_iter().map(Event::Held).for_each(emit);
    }
    is_any
}

/// Emits the events of the last response.
fn emit_response(run: &Run, shows_text: bool, emit: &dyn Fn(Event)) {
    let Some(round) = run.rounds().last() else {
        return;
    };
    if shows_text && !round.text().is_empty() {
        emit(Event::Text(round.text().to_owned()));
    }
    emit(Event::Response {
        usage: round.usage(),
        stop_reason: round.stop_reason().map(str::to_owned),
    });
}

/// Adds the progress of a call to the events.
fn with_progress(call: ToolCall, events: EventSink, position: CallPosition) -> ToolCall {
    call.on_progress(move |progress| {
        events.push(Event::Progress {
            position: position.clone(),
            progress: progress.clone(),
        });
    })
}

/// The time that a run may be driven.
struct TimeLimit<F> {
    /// Completes when the time is over.
    timer: F,
    is_over: bool,
}

impl<F: Future<Output = Result<(), AgentError>> + Unpin> TimeLimit<F> {
    /// Waits for a future, or returns `None` when the time is over.
    async fn within<T>(
        &mut self,
        running: impl Future<Output = T>,
    ) -> Result<Option<T>, AgentError> {
        match select(pin!(running), &mut self.timer).await {
            Either::Left((value, _)) => Ok(Some(value)),
            Either::Right((ended, _)) => {
                ended?;
                self.is_over = true;
                Ok(None)
            }
        }
    }
}

/// Waits for the future, or returns `None` when the token is cancelled, if there is one.
async fn until_cancelled<T>(
    token: Option<&CancellationToken>,
    running: impl Future<Output = T>,
) -> Option<T> {
    let Some(token) = token else {
        return Some(running.await);
    };
    match select(token.cancelled(), pin!(running)).await {
        Either::Left(_) => None,
        Either::Right((value, _)) => Some(value),
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("registry", &self.registry)
            .field("provider", &self.dialect.provider())
            .finish_non_exhaustive()
    }
}

/// Calls that are marked as started and do not run yet. If the mark can't be saved, they never run: it is taken
/// back when this is dropped, so that they are not taken for interrupted ones.
struct Starting<'r> {
    run: &'r mut Run,
    /// Their places. Empty once they are saved.
    calls: Vec<At>,
}

impl<'r> Starting<'r> {
    fn new(run: &'r mut Run, calls: &[ToolCall]) -> Result<Starting<'r>, RunError> {
        let calls = run.start_calls(calls)?;
        Ok(Starting { run, calls })
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        self.run.take_back(std::mem::take(&mut self.calls));
    }
}
