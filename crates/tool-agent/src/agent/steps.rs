//! [`Steps`]: the single steps of an [`Agent`], for other drivers.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

use super::drive::revoke;
use super::events::{Event, EventSink};
use super::telemetry::Invocation;
use super::{Agent, AgentError};
use crate::run::{Run, RunInfo, RunOutcome};
use tool_core::call::CancellationToken;
use tool_core::hooks::Decision;
use tool_core::{Registry, ToolCall, ToolError, ToolResult};

/// The single steps of an [`Agent`]. Use them to drive runs by other means than [`Agent::run`], such as an engine for
/// durable execution. [`Agent::run`] performs the same steps, so a run gets the same messages either way.
///
/// Each method changes the run and saves nothing. Save the [unsaved](Run::unsaved) increments yourself, and
/// [apply](Run::apply) them in another process.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::run::{Run, RunOutcome, Step};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::call::CancellationToken;
/// use tool_agent::dialects::OpenAiChat;
/// use tool_core::{Registry, tool, tools};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let model = ScriptedModel::default()
///     .call("add", json!({"a": 2, "b": 3}))
///     .say("It is 5.");
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let agent = Agent::new(registry, OpenAiChat::default(), model);
/// let mut run = Run::new("conversation-1");
/// run.push(agent.dialect().user_message("What is 2 + 3?"))?;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let steps = agent.steps(&run)?;
/// let stop = CancellationToken::new();
/// let outcome = loop {
///     // An engine performs each step in a process that may die, and saves its increments.
///     match run.next() {
///         Step::Request(_) => steps.respond(&mut run).await?,
///         Step::Call(calls) => {
///             for call in steps.start(&mut run, calls).await? {
///                 let prepared = steps.prepare(run.info(), call).await?;
///                 let result = steps.call(prepared, &stop).await;
///                 steps.finish(&mut run, result)?;
///             }
///         }
///         Step::Done(outcome) => break outcome,
///         Step::Wait(_) | Step::Running => unreachable!("no call is held"),
///     }
/// };
/// steps.end(&outcome);
/// assert_eq!(outcome, RunOutcome::Answered("It is 5.".into()));
/// # Ok::<(), tool_agent::AgentError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Steps<'a> {
    agent: &'a Agent,
    invocation: Invocation<'a>,
    events: EventSink,
}

/// A call with the application's values attached; see [`Steps::prepare`].
///
/// ```
/// use tool_agent::run::RunInfo;
/// use tool_agent::{AgentError, PreparedCall, Steps};
/// use tool_core::ToolCall;
///
/// async fn prepare(steps: &Steps<'_>, run: &RunInfo, call: ToolCall) -> Result<PreparedCall, AgentError> {
///     steps.prepare(run, call).await
/// }
/// # let _ = prepare;
/// ```
pub struct PreparedCall {
    /// The tools of its run.
    pub(super) registry: Registry,
    pub(super) call: ToolCall,
    /// The prepared call, or the error with which it ends.
    pub(super) prepared: Result<ToolCall, ToolError>,
}

impl Agent {
    /// Returns the single steps of this agent, to drive a run by other means than [`run`](Agent::run). Your driver is
    /// responsible for the [journal](Agent::journal), the [time limit](Agent::max_duration) and
    /// [cancellation](Agent::cancel_with).
    ///
    /// # Errors
    ///
    /// Returns an error if the agent can't drive the run: [`AgentError::NoContexts`], [`AgentError::NoPrices`], or
    /// [`RunError::OtherDialect`](crate::run::RunError::OtherDialect).
    pub fn steps(&self, run: &Run) -> Result<Steps<'_>, AgentError> {
        self.check(run)?;
        run.check_dialect(self.dialect_of(run))?;
        Ok(Steps {
            agent: self,
            invocation: Invocation::of_steps(self.observed(self.speaker_of(run)), run),
            events: EventSink::new(None, self.listener.clone()),
        })
    }

    /// Attaches the application's values to a call: [`each_call`](Agent::each_call), and the owner's by
    /// [`contexts`](Agent::contexts). The call does not run yet. Use this in a process that runs calls of runs which
    /// other processes drive.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Context`] if the owner's values can't be created, and [`AgentError::Setup`] if the
    /// [tools](Agent::tools_with) of the run can't.
    pub async fn prepare(&self, run: &RunInfo, call: ToolCall) -> Result<PreparedCall, AgentError> {
        Ok(PreparedCall {
            registry: self.tools_of(run).await?,
            prepared: self.prepared(run, &call).await?,
            call,
        })
    }

    /// Runs a call like [`Steps::call`], without events.
    pub fn call_prepared(
        &self,
        call: PreparedCall,
        stop: &CancellationToken,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        self.call(call, stop, EventSink::default())
    }

    /// Returns the context values that are needed but never attached, because the agent has neither
    /// [`contexts`](Agent::contexts) nor [`each_call`](Agent::each_call). Each is a tool's name and the path of the
    /// type. Calls of these tools would fail. A [`RunInfo`] is always attached.
    ///
    /// ```
    /// use tool_agent::Agent;
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::dialects::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// struct User(String);
    ///
    /// /// Returns the person who asks.
    /// #[tool(read_only)]
    /// fn whoami(#[param(context)] user: &User) -> String {
    ///     user.0.clone()
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![whoami]).context_per_call::<User>().build()?;
    /// let agent = Agent::new(registry, OpenAiChat::default(), ScriptedModel::new([]));
    /// assert_eq!(agent.missing_contexts()[0].0, "whoami");
    ///
    /// let agent = agent.each_call(|call| call.with(User("Ada".to_owned())));
    /// assert!(agent.missing_contexts().is_empty());
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn missing_contexts(&self) -> Vec<(String, &'static str)> {
        if self.contexts.is_some() || self.prepare.is_some() {
            return Vec::new();
        }
        let mut missing = self.registry.contexts_per_call();
        missing.retain(|(_, name)| *name != type_name::<RunInfo>());
        missing
    }
}

impl Steps<'_> {
    /// Calls a function with each event of these steps. The function of [`Agent::on_event`] comes first. Responses are
    /// requested as streams.
    pub fn on_event(mut self, listener: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.events.listen(Arc::new(listener));
        self
    }

    /// Performs [`Step::Request`](crate::run::Step::Request): adds the model's response to a run. If the run has to be
    /// [shortened](Agent::compact) first, only does that, and [`next`](Run::next) requests again.
    ///
    /// # Errors
    ///
    /// Returns an error if the run does not need a response, the request fails, or the dialect can't read the response.
    /// The run is then unchanged.
    pub async fn respond(&self, run: &mut Run) -> Result<(), AgentError> {
        let responding = self.agent.respond(&self.invocation, run, &self.events);
        self.invocation.step(responding).await
    }

    /// Marks calls of [`Step::Call`](crate::run::Step::Call) as started, and returns them. If a person who decided on a
    /// call [may no longer decide](Agent::may_decide), that call waits again, and none starts.
    ///
    /// Save the run before the calls run. Otherwise another process, which does not see the mark, would start them
    /// again.
    ///
    /// # Errors
    ///
    /// Returns an error if a call is not ready. The run is then unchanged.
    pub async fn start(
        &self,
        run: &mut Run,
        calls: Vec<ToolCall>,
    ) -> Result<Vec<ToolCall>, AgentError> {
        let checking = self.agent.forbidden(run, &calls);
        let forbidden = self.invocation.step(checking).await;
        if revoke(run, forbidden, &|event| self.events.push(event)) {
            return Ok(Vec::new());
        }
        run.start(&calls)?;
        self.invocation.count_calls(calls.len());
        Ok(calls)
    }

    /// Lets the model continue while started calls of tools with `background` run, like [`Run::acknowledge`]. Returns
    /// the calls to run, without those that exceed a limit and have ended. [`Run::is_in_background`] tells you for
    /// which of them the result may come at any later step. If you don't call this method, the run waits for them as
    /// for other calls.
    ///
    /// Do it in the same step as [`start`](Steps::start), and save the run before the calls run.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Run::acknowledge`].
    pub fn acknowledge(
        &self,
        run: &mut Run,
        mut calls: Vec<ToolCall>,
    ) -> Result<Vec<ToolCall>, AgentError> {
        let ended = run.acknowledge(self.agent.dialect_of(run), &self.agent.registry, &calls)?;
        calls.retain(|call| {
            ended
                .iter()
                .all(|result| result.position() != call.position())
        });
        for call in calls.iter().filter(|call| run.is_in_background(call)) {
            let position = call.position().cloned();
            position
                .into_iter()
                .map(Event::Acknowledged)
                .for_each(|event| self.events.push(event));
        }
        ended
            .into_iter()
            .map(Event::Result)
            .for_each(|event| self.events.push(event));
        Ok(calls)
    }

    /// Attaches the application's values to a call: [`each_call`](Agent::each_call), and the owner's by
    /// [`contexts`](Agent::contexts). The call does not run yet.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Context`] if the owner's values can't be created, and [`AgentError::Setup`] if the
    /// [tools](Agent::tools_with) of the run can't.
    pub async fn prepare(&self, run: &RunInfo, call: ToolCall) -> Result<PreparedCall, AgentError> {
        let preparing = self.agent.prepare(run, call);
        self.invocation.step(preparing).await
    }

    /// Runs a call, until it ends or the token is cancelled. You may run the future in a task. Dropping it ends the
    /// call.
    pub fn call(
        &self,
        call: PreparedCall,
        stop: &CancellationToken,
    ) -> impl Future<Output = ToolResult> + Send + use<> {
        if self.events.is_read() {
            let shown = self.agent.registry.shown(&call.call);
            let call = call.call.clone();
            self.events.push(Event::Call { call, shown });
        }
        let events = self.events.clone();
        self.agent.call(call, stop, events)
    }

    /// Adds the result of a call like [`Run::finish`]. If the call may have run in a process that is gone, create the
    /// result with [`ToolError::interrupted`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Run::finish`].
    pub fn finish(&self, run: &mut Run, result: ToolResult) -> Result<(), AgentError> {
        self.agent.finish(run, result, &self.events)
    }

    /// Decides on a call like [`Agent::decide`], without saving the run.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Decide`] like [`Agent::decide`]. The run is then unchanged.
    pub async fn decide(
        &self,
        run: &mut Run,
        fingerprint: &str,
        decision: Decision,
        user: impl Into<String>,
    ) -> Result<(), AgentError> {
        let deciding = self
            .agent
            .decide_on(run, fingerprint, decision, user.into());
        self.invocation.step(deciding).await
    }

    /// Denies a call because nobody decided in time. The model sees the reason. This needs no permission, because it
    /// grants nothing.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Decide`] if no such call waits. The run is then unchanged.
    pub fn expire(&self, run: &mut Run, fingerprint: &str, reason: &str) -> Result<(), AgentError> {
        let pending = run.pending_with(fingerprint)?;
        let decision = Decision::deny(reason);
        run.decide_pending(&self.agent.registry, &pending, decision, String::new())?;
        Ok(())
    }

    /// Records how the run ended, for logs and [observers](tool_core::RegistryBuilder::observe_with). Don't call it if
    /// another process continues the run.
    pub fn end(self, outcome: &RunOutcome) {
        self.invocation.end(&Ok(outcome.clone()));
    }
}

impl fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steps")
            .field("agent", self.agent)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PreparedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedCall")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
