//! [`Agent`]: drives runs.

mod events;

use std::error::Error;
use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use serde::de::DeserializeOwned;
use tool_core::call::CancellationToken;
use tool_core::dialect::{
    AnswerError, Dialect, RequestError, RequestOptions, ResponseError, StreamEvent, ToolChoice,
    Turn, TypedAnswer,
};
use tool_core::hooks::{Decision, DecisionPolicy, DecisionRequest, Hold};
use tool_core::runtime::{BoxFuture, NoRuntime, block_on};
use tool_core::{Registry, ToolCall, ToolError, ToolResult, ToolType};

use self::events::EventQueue;
use crate::model::{Model, ModelError, ModelErrorKind, Request, Response};
#[cfg(feature = "tower")]
use crate::model::{ModelService, Retry, ServiceModel};
use crate::run::{
    DecideError, Increment, Journal, JournalError, ReplayError, Run, RunError, RunInfo, RunOutcome,
    Step, position_of, random_id,
};

pub use self::events::{Event, Events, PartialArguments};

/// A registry, a dialect and a model, which together drive [runs](Run).
///
/// Clones are cheap and share everything. See the [front page](crate) for an example.
#[derive(Clone)]
pub struct Agent {
    registry: Registry,
    dialect: Arc<dyn Dialect>,
    model: Arc<dyn Model>,
    journal: Option<Arc<dyn Journal>>,
    prepare: Option<Prepare>,
    contexts: Option<Contexts>,
    policy: DecisionPolicy,
    call_service: Option<CallService>,
    cancellation: Option<CancellationToken>,
    max_duration: Option<Duration>,
    options: RequestOptions,
}

/// A function that is applied to every call before it runs.
type Prepare = Arc<dyn Fn(ToolCall) -> ToolCall + Send + Sync>;
/// Attaches the context values of the owner to a call.
type Contexts =
    Arc<dyn Fn(RunInfo, ToolCall) -> BoxFuture<Result<ToolCall, ContextError>> + Send + Sync>;
/// An error of the application.
type ContextError = Box<dyn Error + Send + Sync>;
/// Runs calls in place of the registry.
type CallService = Arc<dyn Fn(ToolCall) -> BoxFuture<ToolResult> + Send + Sync>;

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
            model: Arc::new(model),
            journal: None,
            prepare: None,
            contexts: None,
            policy: DecisionPolicy::default(),
            call_service: None,
            cancellation: None,
            max_duration: None,
            options: RequestOptions::new(),
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
    /// [`TypedAnswer::parse`].
    pub fn answer<T: ToolType + ?Sized>(self) -> Self {
        self.change_request(RequestOptions::answer::<T>)
    }

    /// Replaces the settings of requests.
    pub fn request_options(self, options: RequestOptions) -> Self {
        self.change_request(|_| options)
    }

    fn change_request(mut self, change: impl FnOnce(RequestOptions) -> RequestOptions) -> Self {
        self.options = change(self.options);
        self
    }

    /// Saves every step of its runs before the next one; see [`run`](crate::run#saving).
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
    /// use tool_core::call::CancellationToken;
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

    /// Runs calls through a tower service in place of the [registry](Registry), such as the registry
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
                let ready = poll_fn(|cx| service.poll_ready(cx))
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
    /// use serde::Deserialize;
    /// use serde_json::json;
    /// use tool_agent::Agent;
    /// use tool_core::dialect::Anthropic;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_core::{Registry, ToolType};
    ///
    /// #[derive(Deserialize, ToolType)]
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
        T: ToolType + DeserializeOwned,
    {
        let agent = self.clone().answer::<T>();
        let mut run = Run::new(random_id());
        run.push(self.dialect.user_message(question))?;
        let answered = agent.run(&mut run).await;
        let (first, mut run) = Unfinished::check(answered, run)?;
        let error = match TypedAnswer::parse(&first) {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        run.push(self.dialect.user_message(&error.to_string()))?;
        let answered = agent.run(&mut run).await;
        let (second, run) = Unfinished::check(answered, run)?;
        let parsed = TypedAnswer::parse(&second).map_err(AgentError::Answer);
        parsed.map_err(|error| Unfinished::of_error(error, run))
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

    /// Sends requests and runs calls until the run is done or waits for a decision.
    ///
    /// Dropping the future stops the run. What is known by then is in it; another call of this method
    /// goes on, and [resumes](Run::resume) what was interrupted.
    ///
    /// # Errors
    ///
    /// Returns an error if a request fails, if the dialect can't read the response, or if the run can't
    /// be saved. The run is then as after the last complete step and can go on.
    pub async fn run(&self, run: &mut Run) -> Result<RunOutcome, AgentError> {
        self.drive(run, None).await
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
    ///         Event::Call(call) => println!("calls {}", call.name),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok::<(), tool_agent::AgentError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn events<'a>(&'a self, run: &'a mut Run) -> Events<'a> {
        let queue = EventQueue::default();
        Events::new(queue.clone(), self.drive(run, Some(queue)))
    }

    /// Decides on a [pending](Run::pending) call in the name of a user, and saves the run. The call starts when the run
    /// goes on, with the rights of the [owner](crate::run::RunBuilder::owner) of the run.
    ///
    /// `fingerprint` belongs to the [`Pending`](crate::run::Pending) that the user has seen, so that a decision can't apply to another call
    /// or to other arguments.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Decide`] if the [policy](Agent::may_decide) does not let the user decide, if no such call
    /// waits, or if changed arguments are invalid: the run is then as before. Other errors are those of
    /// [`save`](Agent::save).
    pub async fn decide(
        &self,
        run: &mut Run,
        fingerprint: &str,
        decision: Decision,
        user: impl Into<String>,
    ) -> Result<(), AgentError> {
        let user = user.into();
        run.bind(self.dialect())?;
        let pending = run.pending_with(fingerprint)?;
        let request = self.decision_request(run, pending.hold(), &user);
        let checked = self.policy.check(request).await;
        checked.map_err(DecideError::Denied)?;
        run.decide_pending(&self.registry, &pending, decision, user)?;
        self.save(run).await
    }

    fn decision_request(&self, run: &Run, hold: &Hold, user: &str) -> DecisionRequest {
        let mut request = DecisionRequest::new(user, hold.clone());
        request.owner = run.info().owner().map(str::to_owned);
        request.tool = self.registry.get(hold.tool());
        request
    }

    /// Returns the calls that were decided by somebody who may no longer decide, with the index of the decision.
    async fn forbidden<'c>(&self, run: &Run, calls: &'c [ToolCall]) -> Vec<(&'c ToolCall, usize)> {
        let mut forbidden = Vec::new();
        for call in calls {
            for (index, (hold, by)) in run.deciders(call).iter().enumerate() {
                let request = self.decision_request(run, hold, by);
                if self.policy.check(request).await.is_err() {
                    forbidden.push((call, index));
                    break;
                }
            }
        }
        forbidden
    }

    /// Attaches what the application adds to calls. An error of one call is its result.
    async fn prepared(
        &self,
        run: &RunInfo,
        calls: &[ToolCall],
    ) -> Result<Vec<Result<ToolCall, ToolError>>, AgentError> {
        let mut prepared = Vec::with_capacity(calls.len());
        for call in calls {
            let mut own = match &self.prepare {
                Some(prepare) => caught(call, || prepare(call.clone())),
                None => Ok(call.clone()),
            };
            // Last, so that nothing replaces the values of the owner.
            if let (Some(contexts), Ok(attaching)) = (&self.contexts, &own) {
                let attaching = caught(call, || contexts(run.clone(), attaching.clone()));
                let attached = match attaching {
                    Ok(attaching) => finished(call, attaching).await,
                    Err(panic) => Err(panic),
                };
                let attached = attached.unwrap_or_else(|panic| Err(panic.into()));
                own = Ok(attached.map_err(|error| AgentError::Context {
                    run: run.id().into(),
                    tool: call.name.clone(),
                    error,
                })?);
            }
            prepared.push(own.map(|own| own.with(run.clone())));
        }
        Ok(prepared)
    }

    /// Checks that the agent can run calls in the name of the owner.
    fn check_owner(&self, run: &Run) -> Result<(), AgentError> {
        if run.info().owner().is_some() && self.contexts.is_none() {
            return Err(AgentError::NoContexts(run.id().into()));
        }
        Ok(())
    }

    /// Loads a run from the [journal](Agent::journal). Returns `None` if it has no such run.
    ///
    /// # Errors
    ///
    /// Returns an error if the run can't be loaded, or if it has another dialect.
    pub async fn load(&self, id: &str) -> Result<Option<Run>, AgentError> {
        let Some(journal) = &self.journal else {
            return Ok(None);
        };
        let increments = journal.load(id).await?;
        if increments.is_empty() {
            return Ok(None);
        }
        let mut run = Run::replay(increments)?;
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
            journal.append(run.head(), run.unsaved().to_vec()).await?;
        }
        run.mark_saved(last);
        Ok(())
    }

    async fn drive(
        &self,
        run: &mut Run,
        events: Option<EventQueue>,
    ) -> Result<RunOutcome, AgentError> {
        let emit = |event: Event| {
            if let Some(events) = &events {
                events.push(event);
            }
        };
        self.check_owner(run)?;
        let dialect = &*self.dialect;
        let token = self.cancellation.clone().unwrap_or_default();
        // Cancels the calls when the time is over, too.
        let stop = token.child();
        let mut out_of_time = pin!(self.out_of_time().fuse());
        let mut is_out_of_time = false;
        let mut running = FuturesUnordered::new();
        let interrupted = run.resume(dialect, &self.registry)?;
        interrupted.into_iter().map(Event::Result).for_each(emit);
        loop {
            if token.is_cancelled() {
                run.cancel(dialect)?;
            }
            self.save(run).await?;
            match run.next() {
                Step::Request(_) | Step::Call(_) if is_out_of_time && running.is_empty() => {
                    return Ok(RunOutcome::OutOfTime);
                }
                Step::Request(messages) => {
                    let messages = Arc::clone(messages);
                    let mut options = self.options.clone();
                    if run.has_called() {
                        options = options.without_required_choice();
                    }
                    let tools = self.registry.request(dialect).options(options).build();
                    let tools = tools.map_err(AgentError::Request)?;
                    let request = Request::of(messages, tools);
                    let mut request = request.continued(run.continuation().clone());
                    request.prefers_stream = events.is_some();
                    let asking = until_cancelled(
                        &token,
                        self.response(request, run.rounds().len(), events.as_ref()),
                    );
                    let (mut turn, shows_text) = match select(pin!(asking), &mut out_of_time).await
                    {
                        Either::Left((Some(response), _)) => response?,
                        Either::Left((None, _)) => continue,
                        Either::Right((ended, _)) => {
                            ended?;
                            is_out_of_time = true;
                            continue;
                        }
                    };
                    if self.options.has_answer() {
                        turn.accept_answer(|results| dialect.results(results));
                    }
                    run.respond(dialect, &self.registry, turn)?;
                    emit_response(run, shows_text, &emit);
                }
                Step::Call(calls) if !is_out_of_time => {
                    let preparing = until_cancelled(&token, async {
                        let prepared = self.prepared(run.info(), &calls).await?;
                        // Last, right before the calls start.
                        let forbidden = self.forbidden(run, &calls).await;
                        Ok::<_, AgentError>((prepared, forbidden))
                    });
                    let (prepared, forbidden) =
                        match select(pin!(preparing), &mut out_of_time).await {
                            Either::Left((Some(prepared), _)) => prepared?,
                            Either::Left((None, _)) => continue,
                            Either::Right((ended, _)) => {
                                ended?;
                                is_out_of_time = true;
                                continue;
                            }
                        };
                    if !forbidden.is_empty() {
                        for (call, decision) in forbidden {
                            run.revoke(call, decision);
                            let pending = run.pending_at(call.position());
                            pending.into_iter().map(Event::Held).for_each(emit);
                        }
                        continue;
                    }
                    let mut starting = Starting::new(run, &calls)?;
                    self.save(starting.run).await?;
                    starting.calls.clear();
                    drop(starting);
                    for (call, prepared) in calls.into_iter().zip(prepared) {
                        emit(Event::Call(call.clone()));
                        running.push(self.call(call, prepared, &stop, events.clone()));
                    }
                }
                Step::Call(_) | Step::Running => {
                    let result = match select(running.next(), &mut out_of_time).await {
                        Either::Left((result, _)) => result,
                        Either::Right((ended, _)) => {
                            ended?;
                            is_out_of_time = true;
                            stop.cancel();
                            continue;
                        }
                    };
                    let Some(result) = result else {
                        // The caller started calls without running them.
                        run.resume(dialect, &self.registry)?;
                        continue;
                    };
                    run.finish(dialect, result.clone())?;
                    match run.pending_at(result.position()) {
                        Some(pending) => emit(Event::Held(pending)),
                        None => emit(Event::Result(result)),
                    }
                }
                Step::Wait(pending) => return Ok(RunOutcome::Waiting(pending)),
                Step::Done(outcome) => return Ok(outcome),
            }
        }
    }

    /// Asks the model for the response of this round. Returns it, and `true` if its text has yet to be shown.
    async fn response(
        &self,
        request: Request,
        round: usize,
        events: Option<&EventQueue>,
    ) -> Result<(Turn, bool), AgentError> {
        let mut stream = match self.model.ask(request).await.map_err(AgentError::Model)? {
            Response::Whole(response) => return Ok((self.dialect.read(&response)?, true)),
            Response::Stream(stream) => stream,
        };
        let mut reader = self.dialect.stream();
        let mut calls = Vec::new();
        while let Some(event) = stream.next().await {
            let event = event.map_err(AgentError::Model)?;
            for event in reader.event(&event)? {
                if let Some(events) = events
                    && let Some(event) = self.shown(event, round, &mut calls)
                {
                    events.push(event);
                }
            }
        }
        match reader.finish() {
            Ok((turn, _)) => Ok((turn, false)),
            // The end of a connection may look like the end of the response.
            Err(error) if error.is_incomplete() => {
                let error = ModelError::new(ModelErrorKind::Connection, error.to_string());
                Err(AgentError::Model(error))
            }
            Err(error) => Err(error.into()),
        }
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
        events: Option<EventQueue>,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        let registry = self.registry.clone();
        let service = self.call_service.clone();
        let stop = stop.clone();
        async move {
            let mut call = match prepared {
                Ok(call) => call,
                Err(error) => return registry.fail(unprepared, error),
            };
            if let Some(events) = events {
                call = with_progress(call, events);
            }
            let own = call.cancellation().cloned();
            let both = if own.is_some() { stop.child() } else { stop };
            let call = call.cancel_with(&both);
            let running: BoxFuture<ToolResult> = match &service {
                None => Box::pin(registry.call(call)),
                Some(service) => match caught(&unprepared, || service(call)) {
                    Ok(running) => running,
                    Err(error) => return registry.fail(unprepared, error),
                },
            };
            // Layers are code of the application.
            let running = pin!(finished(&unprepared, running));
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

/// A value of the application. A panic in its `Drop` is caught.
struct Guarded<T>(Option<T>);

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        let dropped = catch_unwind(AssertUnwindSafe(|| self.0 = None));
        // The payload may panic too when it is dropped.
        let _ = dropped.map_err(|payload| ToolError::of_panic("", payload));
    }
}

/// Runs code of the application that belongs to a call. If it panics, returns the error of the call.
fn caught<T>(call: &ToolCall, run: impl FnOnce() -> T) -> Result<T, ToolError> {
    let caught = catch_unwind(AssertUnwindSafe(run));
    caught.map_err(|payload| ToolError::of_panic(&call.name, payload))
}

/// Waits for a future of the application, or returns the error of a panic.
async fn finished<T>(call: &ToolCall, running: BoxFuture<T>) -> Result<T, ToolError> {
    let mut running = Some(running);
    poll_fn(|context| {
        let mut result = None;
        let polled = caught(call, || {
            if let Some(future) = &mut running
                && let Poll::Ready(ready) = future.as_mut().poll(context)
            {
                result = Some(ready);
                // In here, because it may panic too. The result is kept then.
                running = None;
            }
        });
        match (result, polled) {
            (Some(result), _) => Poll::Ready(Ok(result)),
            (None, Ok(())) => Poll::Pending,
            (None, Err(error)) => {
                let _ = caught(call, || running = None);
                Poll::Ready(Err(error))
            }
        }
    })
    .await
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
fn with_progress(call: ToolCall, events: EventQueue) -> ToolCall {
    let Some(position) = call.position().cloned() else {
        return call;
    };
    call.on_progress(move |progress| {
        events.push(Event::Progress {
            position: position.clone(),
            progress: progress.clone(),
        });
    })
}

/// Waits for the future, or returns `None` when the token is cancelled.
async fn until_cancelled<T>(
    token: &CancellationToken,
    running: impl Future<Output = T>,
) -> Option<T> {
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

/// The error of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentError {
    /// The settings of the request don't fit the tools.
    Request(RequestError),
    /// The request failed.
    Model(ModelError),
    /// The dialect can't read the response.
    Response(ResponseError),
    /// The run was changed from outside.
    Run(RunError),
    /// The run can't be saved or loaded.
    Journal(JournalError),
    /// The increments in the journal do not make a run.
    Replay(ReplayError),
    /// There are no timers for [`Agent::max_duration`], or a blocking method has to wait on a platform
    /// without threads.
    NoRuntime(NoRuntime),
    /// The answer does not match the schema of the type that [`Agent::ask_for`] asked for.
    Answer(AnswerError),
    /// The decision was not made.
    Decide(DecideError),
    /// The run with this id has an owner, and the agent has no [`contexts`](Agent::contexts).
    NoContexts(String),
    /// The closure of [`Agent::contexts`] failed.
    Context {
        /// The id of the run.
        run: String,
        /// The name of the tool that was called.
        tool: String,
        /// The error of the closure.
        error: Box<dyn Error + Send + Sync>,
    },
    /// The run of [`Agent::ask`] or [`Agent::ask_for`] has no answer yet.
    Unfinished(Box<Unfinished>),
}

/// A run that has no answer yet; see [`AgentError::Unfinished`]. Drive it with [`Agent::run`], or save it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Unfinished {
    /// The run.
    pub run: Run,
    /// The reason why it has no answer.
    pub reason: UnfinishedReason,
}

/// The reason why a run has no answer yet.
#[derive(Debug)]
#[non_exhaustive]
pub enum UnfinishedReason {
    /// The run ended at a limit, was cancelled, or waits.
    Ended(RunOutcome),
    /// An error came after calls had run, which must not be lost.
    Failed(AgentError),
}

impl Unfinished {
    /// Returns the answer of a run, and the run.
    fn check(ended: Result<RunOutcome, AgentError>, run: Run) -> Result<(String, Run), AgentError> {
        match ended {
            Ok(RunOutcome::Answered(text)) => Ok((text, run)),
            Ok(outcome) => Err(Unfinished::new(UnfinishedReason::Ended(outcome), run)),
            Err(error) => Err(Unfinished::of_error(error, run)),
        }
    }

    /// Adds the run to an error, unless nothing is lost with it.
    fn of_error(error: AgentError, run: Run) -> AgentError {
        if run.has_results() {
            return Unfinished::new(UnfinishedReason::Failed(error), run);
        }
        error
    }

    fn new(reason: UnfinishedReason, run: Run) -> AgentError {
        AgentError::Unfinished(Box::new(Unfinished { run, reason }))
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::Model(error) => {
                write!(f, "the request to the model failed: {error}")
            }
            AgentError::Request(error) => error.fmt(f),
            AgentError::Answer(error) => error.fmt(f),
            AgentError::Response(error) => error.fmt(f),
            AgentError::Run(error) => error.fmt(f),
            AgentError::Journal(error) => error.fmt(f),
            AgentError::Replay(error) => {
                write!(f, "the run can't be loaded: {error}")
            }
            AgentError::NoRuntime(error) => error.fmt(f),
            AgentError::Decide(error) => error.fmt(f),
            AgentError::NoContexts(run) => {
                write!(
                    f,
                    "the run {run:?} has an owner; say with `Agent::contexts` how its calls get the rights of the owner"
                )
            }
            AgentError::Context { run, tool, error } => {
                write!(
                    f,
                    "the call of {tool} in the run {run:?} did not start, because its context values are missing: {error}"
                )
            }
            AgentError::Unfinished(unfinished) => match &unfinished.reason {
                UnfinishedReason::Ended(RunOutcome::Waiting(_)) => {
                    f.write_str("the run waits for a decision; drive it with `run`")
                }
                UnfinishedReason::Ended(RunOutcome::Cancelled) => {
                    f.write_str("the run was cancelled before the model answered")
                }
                UnfinishedReason::Ended(_) => {
                    f.write_str("the run reached a limit before the model answered")
                }
                UnfinishedReason::Failed(error) => write!(f, "calls have run, and then {error}"),
            },
        }
    }
}

impl Error for AgentError {
    /// Returns the source of the wrapped error, because the wrapped error is displayed already.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AgentError::Model(error) => error.source(),
            AgentError::Run(error) => error.source(),
            AgentError::Journal(error) => error.source(),
            AgentError::Decide(error) => error.source(),
            AgentError::Context { error, .. } => error.source(),
            AgentError::Unfinished(unfinished) => match &unfinished.reason {
                UnfinishedReason::Failed(error) => error.source(),
                UnfinishedReason::Ended(_) => None,
            },
            AgentError::Request(_)
            | AgentError::Answer(_)
            | AgentError::Response(_)
            | AgentError::Replay(_)
            | AgentError::NoRuntime(_)
            | AgentError::NoContexts(_) => None,
        }
    }
}

impl From<ResponseError> for AgentError {
    fn from(error: ResponseError) -> AgentError {
        AgentError::Response(error)
    }
}

impl From<RunError> for AgentError {
    fn from(error: RunError) -> AgentError {
        AgentError::Run(error)
    }
}

impl From<DecideError> for AgentError {
    fn from(error: DecideError) -> AgentError {
        AgentError::Decide(error)
    }
}

impl From<JournalError> for AgentError {
    fn from(error: JournalError) -> AgentError {
        AgentError::Journal(error)
    }
}

impl From<ReplayError> for AgentError {
    fn from(error: ReplayError) -> AgentError {
        AgentError::Replay(error)
    }
}

/// Calls that are marked as started and do not run yet. If the mark can't be saved, they never run: it is taken
/// back when this is dropped, so that they are not taken for interrupted ones.
struct Starting<'r> {
    run: &'r mut Run,
    /// Their positions. Empty once they are saved.
    calls: Vec<usize>,
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
