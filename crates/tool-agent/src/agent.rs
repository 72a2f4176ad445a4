//! [`Agent`]: drives runs.

// First, because the page of `Agent` has its methods in this order.
mod ask;

mod background;
mod compaction;
mod drive;
mod error;
mod events;
mod fallback;
mod prices;
mod published;
mod settings;
mod steps;
mod summary;
mod telemetry;
#[cfg(feature = "dynamic")]
mod tool;

use std::fmt;
use std::sync::{Arc, Once};
use std::time::Duration;

use tool_core::call::CancellationToken;
use tool_core::dialect::{Dialect, RequestOptions};
use tool_core::hooks::{Decision, DecisionDenied, DecisionPolicy, DecisionRequest, Hold};
use tool_core::runtime::BoxFuture;
use tool_core::{Registry, ToolCall, ToolError, ToolResult};

use self::error::ContextError;
use self::events::{EventSink, Listener};
use self::fallback::Speaker;
#[cfg(feature = "tracing")]
use self::telemetry::TraceLinks;
use self::telemetry::{Invocation, Observed};
use crate::guarded::{answered, caught, started};
use crate::run::{DecideError, Increment, Journal, JournalError, Pending, Run, RunInfo};
#[cfg(feature = "conversations")]
use crate::run::{Page, RunHead, RunState};

pub use self::background::BackgroundCalls;
pub use self::compaction::Compaction;
pub use self::error::{AgentError, Typed, Unfinished, UnfinishedReason};
pub use self::events::{Event, Events, PartialArguments};
pub use self::fallback::Fallback;
pub use self::prices::Prices;
pub use self::steps::{PreparedCall, Steps};

/// Drives [runs](Run) with a registry, a dialect and a model.
///
/// Clones are cheap and share everything. See the [front page](crate) for an example.
///
/// ```
/// use tool_agent::Agent;
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// // This stands in for a provider, which `HttpModel` (feature `http`) would ask.
/// let model = ScriptedModel::default().say("Hello!");
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
/// assert_eq!(agent.ask_blocking("Hello?")?, "Hello!");
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone)]
pub struct Agent {
    registry: Registry,
    first: Speaker,
    fallback: Option<Fallback>,
    journal: Option<Arc<dyn Journal>>,
    prepare: Option<Prepare>,
    contexts: Option<Contexts>,
    /// The system prompt of a run.
    system: Option<PerRun<String>>,
    /// The tools of a run.
    tools: Option<PerRun<Registry>>,
    policy: DecisionPolicy,
    call_service: Option<CallService>,
    cancellation: Option<CancellationToken>,
    max_duration: Option<Duration>,
    options: RequestOptions,
    prices: Option<Prices>,
    compaction: Option<Compaction>,
    open_calls: OpenCalls,
    /// Maximum number of repeated requests for each message of the user.
    asks_again: u32,
    /// Keeps calls in the background while a run rests.
    background: Option<BackgroundCalls>,
    listener: Option<Listener>,
    #[cfg(feature = "tracing")]
    trace_links: Option<TraceLinks>,
    /// Maximum number of bytes of messages in a span.
    #[cfg(feature = "tracing")]
    trace_content: Option<usize>,
}

/// How [`Agent::reply`] treats calls of the last response without a result, such as after a crash.
///
/// ```
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::{Agent, OpenCalls};
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// // A new message of the user drops the calls that still wait for a decision.
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]))
///     .open_calls(OpenCalls::Cancel);
/// # let _ = agent;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenCalls {
    /// Runs the calls, and [resumes](Run::resume) those that had started. If calls wait for decisions, or a request of
    /// the response is [unanswered](crate::run::RunOutcome::Unanswered), returns that outcome.
    #[default]
    Finish,
    /// Cancels the calls, including calls that wait for decisions. Gives up a response with an unanswered request.
    Cancel,
}

/// The point up to which a run is driven.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    Answer,
    /// Until the calls of the last response have results.
    Results,
}

/// A function applied to every call before it runs.
type Prepare = Arc<dyn Fn(ToolCall) -> ToolCall + Send + Sync>;
/// Attaches the context values of the owner to a call.
type Contexts =
    Arc<dyn Fn(RunInfo, ToolCall) -> BoxFuture<Result<ToolCall, ContextError>> + Send + Sync>;
/// Returns a part of the agent for a run.
type PerRun<T> = Arc<dyn Fn(RunInfo) -> BoxFuture<Result<T, ContextError>> + Send + Sync>;
/// Runs calls in place of the registry.
type CallService = Arc<dyn Fn(ToolCall) -> BoxFuture<ToolResult> + Send + Sync>;

impl Agent {
    /// Returns the registry. You can add and remove tools during a run.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Returns the dialect of new runs.
    pub fn dialect(&self) -> &dyn Dialect {
        &*self.first.dialect
    }

    /// Returns the dialect in which a run goes on: that of its messages, if it is the dialect of one of the agent's
    /// [models](Agent::fallback), and else the agent's own. Use it for messages that you push to a run.
    ///
    /// ```
    /// use tool_agent::run::Run;
    /// use tool_agent::{Agent, AgentError};
    ///
    /// fn greet(agent: &Agent, run: &mut Run) -> Result<(), AgentError> {
    ///     let message = agent.dialect_of(run).user_message("Hello!");
    ///     Ok(run.push(message)?)
    /// }
    /// ```
    pub fn dialect_of(&self, run: &Run) -> &dyn Dialect {
        &*self.speaker_of(run).dialect
    }

    /// Returns the model that was asked last. Of a loaded run, the format of its messages shows it.
    fn speaker_of(&self, run: &Run) -> &Speaker {
        let others = self.fallback.iter().flat_map(|fallback| &fallback.others);
        let all = || std::iter::once(&self.first).chain(others.clone());
        let speaks = |speaker: &&Speaker| run.info().dialect() == Some(speaker.dialect.provider());
        let asked = all().find(|speaker| run.is_for(&speaker.server));
        asked.or_else(|| all().find(speaks)).unwrap_or(&self.first)
    }

    /// Returns the parts that spans and records describe.
    fn observed<'a>(&'a self, speaker: &'a Speaker) -> Observed<'a> {
        Observed {
            registry: &self.registry,
            provider: speaker.dialect.telemetry_name(),
            model: speaker.name.as_deref(),
            #[cfg(feature = "tracing")]
            links: self.trace_links.as_ref(),
            #[cfg(feature = "tracing")]
            content: self.trace_content,
        }
    }

    /// Decides on a [pending](Run::pending) call in the name of a user, and saves the run. The call starts when the run
    /// continues, with the rights of the run's [owner](crate::run::RunBuilder::owner).
    ///
    /// Pass the `fingerprint` of the [`Pending`](crate::run::Pending) that the user has seen, so that the decision
    /// can't apply to another call or to other arguments.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::{Run, RunOutcome};
    /// use tool_agent::testing::ScriptedModel;
    /// use tool_agent::{Agent, AgentError};
    /// use tool_agent::dialects::OpenAiChat;
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
    /// let model = ScriptedModel::default().call("pay", json!({"invoice": 17})).say("Paid.");
    /// let agent = Agent::new(registry, OpenAiChat::default(), model)
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
    /// Returns [`AgentError::Decide`] if the [policy](Agent::may_decide) does not let the user decide, no such call
    /// waits, or changed arguments are invalid. A call that the [provider](ToolCall::hosted_by) runs can only be allowed
    /// or denied, so any other decision is an error too. The run is then unchanged. Other errors come from
    /// [`save`](Agent::save).
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

    /// Decides on a pending call without saving the run.
    async fn decide_on(
        &self,
        run: &mut Run,
        fingerprint: &str,
        decision: Decision,
        user: String,
    ) -> Result<(), AgentError> {
        run.bind(self.dialect_of(run))?;
        let pending = self.check_decision(run, fingerprint, &user).await?;
        run.decide_pending(&self.registry, &pending, decision, user)?;
        Ok(())
    }

    /// Returns the pending call with this fingerprint if a user may decide on it.
    pub(crate) async fn check_decision(
        &self,
        run: &Run,
        fingerprint: &str,
        user: &str,
    ) -> Result<Pending, DecideError> {
        let pending = run.pending_with(fingerprint)?;
        let request = self.decision_request(run.info().owner(), pending.hold(), user);
        let checked = self.policy.check(request).await;
        checked.map_err(DecideError::Denied)?;
        Ok(pending)
    }

    /// Returns `true` if a user may decide on a call.
    #[cfg(feature = "conversations")]
    pub(crate) async fn may(&self, pending: &Pending, user: &str) -> bool {
        let request = self.decision_request(pending.owner(), pending.hold(), user);
        self.policy.check(request).await.is_ok()
    }

    fn decision_request(&self, owner: Option<&str>, hold: &Hold, user: &str) -> DecisionRequest {
        let mut request = DecisionRequest::new(user, hold.clone());
        request.owner = owner.map(str::to_owned);
        // Tools of the provider are not in the registry, even if a name is the same.
        if hold.server().is_none() {
            request.tool = self.registry.get(hold.tool());
        }
        request
    }

    /// Returns the calls with a decision by a person who may no longer decide, and the index of the decision.
    async fn forbidden<'c>(&self, run: &Run, calls: &'c [ToolCall]) -> Vec<(&'c ToolCall, usize)> {
        let mut forbidden = Vec::new();
        for call in calls {
            for (index, (hold, by)) in run.deciders(call).iter().enumerate() {
                // The hold expired, so no person decided.
                if by.is_empty() {
                    continue;
                }
                let request = self.decision_request(run.info().owner(), hold, by);
                let Err(denied) = self.policy.check(request).await else {
                    continue;
                };
                // A program may decide by `Run::decide`, which does not ask a policy.
                if denied != DecisionDenied::NoPolicy || run.info().owner().is_some() {
                    forbidden.push((call, index));
                    break;
                }
            }
        }
        forbidden
    }

    /// Returns the tools that a run has now.
    async fn tools_of(&self, run: &RunInfo) -> Result<Registry, AgentError> {
        let own = part_of("the tools", self.tools.as_ref(), run).await?;
        Ok(own.unwrap_or_else(|| self.registry.clone()))
    }

    /// Attaches the values of the application to a call. If that fails for this call alone, the error is its result.
    async fn prepared(
        &self,
        run: &RunInfo,
        call: &ToolCall,
    ) -> Result<Result<ToolCall, ToolError>, AgentError> {
        let mut own = match &self.prepare {
            Some(prepare) => caught(&call.name, || prepare(call.clone())),
            None => Ok(call.clone()),
        };
        // Comes last, so that nothing replaces the owner's values.
        if let (Some(contexts), Ok(attaching)) = (&self.contexts, &own) {
            let attaching = || contexts(run.clone(), attaching.clone());
            let attached = answered(&call.name, attaching).await;
            own = Ok(attached.map_err(|error| AgentError::Context {
                run: run.id().into(),
                tool: call.name.clone(),
                error,
            })?);
        }
        // `tools_with` may return another registry, and that one may have a store.
        let may_keep = self.tools.is_some() || self.registry.result_store().is_some();
        Ok(own.map(|own| {
            let own = own.with(run.clone());
            if may_keep {
                own.with(run.result_scope())
            } else {
                own
            }
        }))
    }

    /// Checks that the agent can run calls in the owner's name, and knows their cost.
    fn check(&self, run: &Run) -> Result<(), AgentError> {
        if self.prices.is_none() && run.settings().max_micros != u64::MAX {
            return Err(AgentError::NoPrices(run.id().into()));
        }
        if run.info().owner().is_some() && self.contexts.is_none() {
            return Err(AgentError::NoContexts(run.id().into()));
        }
        // This program saves conversations and attaches a user to each call.
        self.warn_without_owners(self.journal.is_some() && self.prepare.is_some());
        Ok(())
    }

    /// Checks also that each tool gets the values that it needs for each call, before the model is asked for one.
    fn check_driving(&self, run: &Run) -> Result<(), AgentError> {
        self.check(run)?;
        let missing = self.missing_contexts();
        // A service may attach them.
        if missing.is_empty() || self.call_service.is_some() {
            return Ok(());
        }
        let run = run.id().into();
        Err(AgentError::MissingContexts { run, missing })
    }

    #[cfg(feature = "conversations")]
    pub(crate) fn has_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// Warns once if runs have no owner although there may be several users; `is_shared` tells why.
    pub(crate) fn warn_without_owners(&self, is_shared: bool) {
        static WARNED: Once = Once::new();
        if is_shared && self.contexts.is_none() {
            WARNED.call_once(|| {
                #[cfg(feature = "tracing")]
                tracing::warn!(
                    target: "tool_agent",
                    "runs have no owner, so that calls have the rights of whoever continues a run; with several users, create \
                     runs with `Run::builder(id).owner(user)`, and attach the rights of the owner with `Agent::contexts`"
                );
            });
        }
    }

    /// Loads a run from the [journal](Agent::journal). Returns `None` if the journal does not contain it.
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
    /// Returns an error if the run can't be loaded. A run of another dialect is returned, for [`Run::translate`].
    pub async fn load(&self, id: &str) -> Result<Option<Run>, AgentError> {
        let Some(journal) = &self.journal else {
            return Ok(None);
        };
        let loaded = journaled(|| journal.load(id)).await;
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
        if run.info().dialect().is_none() {
            run.bind(self.dialect())?;
        }
        Ok(Some(run))
    }

    /// Removes a run from the [journal](Agent::journal), and its long results from the
    /// [store](tool_core::RegistryBuilder::spill) of the registry. Does nothing if the journal does not contain it.
    ///
    /// ```
    /// use tool_agent::{Agent, AgentError};
    ///
    /// /// A user deletes a conversation.
    /// async fn delete(agent: &Agent, user: &str, id: &str) -> Result<(), AgentError> {
    ///     match agent.load(id).await? {
    ///         Some(run) if run.info().owner() == Some(user) => agent.remove(id).await,
    ///         _ => Ok(()),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the run can't be loaded, because its owner is part of the scope of its results. Also if the run or some of
    /// its results may still exist: remove it again then.
    pub async fn remove(&self, id: &str) -> Result<(), AgentError> {
        let (Some(run), Some(journal)) = (self.load(id).await?, &self.journal) else {
            return Ok(());
        };
        if let Some(store) = self.registry.result_store() {
            let removed = store.remove(&run.info().result_scope()).await;
            removed.map_err(|error| JournalError::Failed(error).of_run("remove", id))?;
        }
        let removed = journaled(|| journal.remove(id)).await;
        Ok(removed.map_err(|error| error.of_run("remove", id))?)
    }

    /// Returns the heads of runs in a state.
    #[cfg(feature = "conversations")]
    pub(crate) async fn in_state(
        &self,
        state: RunState,
        page: Page,
    ) -> Result<Vec<RunHead>, AgentError> {
        let Some(journal) = &self.journal else {
            return Ok(Vec::new());
        };
        Ok(journaled(|| journal.in_state(state, page)).await?)
    }

    /// Saves the changes of a run, if there is a [journal](Agent::journal). [`run`](Agent::run) does this after every
    /// step. Call it yourself after [`Run::push`] and [`Run::decide`] if the run does not continue at once.
    ///
    /// # Errors
    ///
    /// Returns the error of the journal. Unsaved changes stay in the run for the next attempt. A run with another
    /// dialect is an error too.
    pub async fn save(&self, run: &mut Run) -> Result<(), AgentError> {
        run.bind(self.dialect_of(run))?;
        let Some(last) = run.unsaved().last().map(Increment::number) else {
            return Ok(());
        };
        if let Some(journal) = &self.journal {
            let appending = || journal.append(run.head(), run.unsaved().to_vec());
            let saved = journaled(appending).await;
            saved.map_err(|error| error.of_run("save", run.id()))?;
        }
        run.mark_saved(last);
        Ok(())
    }
}

/// Waits for the journal. A panic becomes an error.
async fn journaled<T>(
    start: impl FnOnce() -> BoxFuture<Result<T, JournalError>>,
) -> Result<T, JournalError> {
    let done = started("the journal", start).await;
    done.unwrap_or_else(|panic| Err(JournalError::failed(panic)))
}

/// Asks the application for a part of the agent that differs by run.
async fn part_of<T>(
    part: &'static str,
    make: Option<&PerRun<T>>,
    run: &RunInfo,
) -> Result<Option<T>, AgentError> {
    let Some(make) = make else {
        return Ok(None);
    };
    let answer = answered(part, || make(run.clone())).await;
    answer.map(Some).map_err(|error| AgentError::Setup {
        run: run.id().into(),
        part,
        error,
    })
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("registry", &self.registry)
            .field("provider", &self.dialect().provider())
            .finish_non_exhaustive()
    }
}
