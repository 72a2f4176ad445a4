//! [`Conversation`]: a run that is driven by Restate.
//!
//! Each step works on a copy of the run and saves its increments, and replay applies them: it calls neither the dialect nor
//! the registry nor hooks, so that they may differ between attempts. Nothing outside of a step is random, because Restate
//! compares what an attempt does with what an earlier one did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use restate_sdk::context::{DurableFuture, DurableFuturesUnordered, RequestTarget};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_agent::run::{Increment, PortableCall, Run, RunError, RunOutcome, RunSettings, Step};
use tool_agent::{Agent, AgentError, Event};
use tool_core::hooks::Decision;
use tool_core::{ToolCall, ToolResult};

use crate::definition::handlers;
use crate::lock;
use crate::stream::Hub;
use crate::tools::{Sent, interrupted};
use crate::version::version_of;

/// The number of parts that are saved.
const PARTS: &str = "parts";
/// The invocation that drives the run.
const DRIVER: &str = "driver";

/// A message of the user.
///
/// ```
/// use tool_restate::Message;
///
/// let message = Message::new("Pay invoice 17.").owner("user-7").key("form-4711");
/// # let _ = message;
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[must_use]
pub struct Message {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    meta: Value,
    #[serde(skip)]
    pub(crate) key: Option<String>,
}

impl Message {
    /// Creates a message with this text.
    pub fn new(text: impl Into<String>) -> Message {
        Message {
            text: text.into(),
            owner: None,
            meta: Value::Null,
            key: None,
        }
    }

    /// Sets whose conversation it is. The first message of a conversation decides, and a message in the name of another user
    /// is refused. Whoever can send to the ingress says who they are, so only your own programs may.
    pub fn owner(mut self, user: impl Into<String>) -> Self {
        self.owner = Some(user.into());
        self
    }

    /// Sets data of the application, which the first message of a conversation saves.
    pub fn meta(mut self, meta: impl Into<Value>) -> Self {
        self.meta = meta.into();
        self
    }

    /// Sets a key by which Restate takes a message once, although it may be sent again after a connection broke.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// A decision on a call that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Decide {
    /// The [fingerprint](tool_agent::run::Pending::fingerprint) of what the user has seen.
    pub fingerprint: String,
    /// What the user decided.
    pub decision: Decision,
    /// The id of the user, by which [`Agent::may_decide`] decides. Only your own programs may say it.
    pub user: String,
}

/// Finds the service that runs a tool.
pub(crate) type Route = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The conversations of an agent.
pub(crate) struct Conversation {
    pub(crate) agent: Agent,
    pub(crate) name: String,
    /// The service of the tools of this process.
    pub(crate) tools: String,
    pub(crate) route: Route,
    pub(crate) settings: RunSettings,
    pub(crate) approval_timeout: Duration,
    /// Where the text goes while the model writes it.
    pub(crate) hub: Option<Arc<Hub>>,
}

/// What is saved of a run, from a part on.
#[derive(Serialize, Deserialize)]
pub(crate) struct Saved {
    /// The number of parts.
    pub(crate) parts: u64,
    pub(crate) increments: Vec<Increment>,
}

/// A run, and what of it is saved.
struct State {
    run: Run,
    parts: u64,
    unsaved: Vec<Increment>,
}

/// Why a message has no outcome.
enum Stop {
    Cancelled,
    Failed(TerminalError),
}

impl From<TerminalError> for Stop {
    fn from(error: TerminalError) -> Stop {
        if error.code() == 409 && error.message() == "cancelled" {
            return Stop::Cancelled;
        }
        Stop::Failed(error)
    }
}

/// Calls that have started, and where they run. Saved, because the next deployment may have other routes and tools.
#[derive(Serialize, Deserialize)]
struct Started {
    increments: Vec<Increment>,
    targets: Vec<Target>,
}

/// The service that runs a call, and the version of the tool.
#[derive(Serialize, Deserialize)]
struct Target {
    service: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// Returns the key of a part of the state. The SDK wants keys that live as long as the invocation, so each is made once for
/// the process.
fn part_key(part: u64) -> &'static str {
    static KEYS: Mutex<Option<HashMap<u64, &'static str>>> = Mutex::new(None);
    let mut keys = lock(&KEYS);
    let keys = keys.get_or_insert_default();
    keys.entry(part)
        .or_insert_with(|| Box::leak(format!("part-{part:06}").into_boxed_str()))
}

/// Reads the parts of a run from one to another. A macro, because an async function that is generic over contexts is not `Send` for the
/// compiler (rust-lang/rust#100013).
macro_rules! increments {
    ($ctx:expr, $from:expr, $parts:expr) => {{
        let mut all: Vec<Increment> = Vec::new();
        for part in $from..$parts {
            let saved = $ctx.get::<Json<Vec<Increment>>>(part_key(part)).await?;
            all.extend(saved.map(Json::into_inner).unwrap_or_default());
        }
        all
    }};
}

/// Reads the number of parts and all that is saved.
macro_rules! saved {
    ($ctx:expr) => {{
        let parts = $ctx.get::<u64>(PARTS).await?.unwrap_or(0);
        (parts, increments!($ctx, 0, parts))
    }};
}

fn terminal(error: impl std::error::Error) -> TerminalError {
    TerminalError::new(error.to_string())
}

/// Returns how Restate has to treat an error of the agent.
fn handler_error(error: AgentError) -> HandlerError {
    match error {
        AgentError::Model(error) if error.is_retryable() => HandlerError::from(error.to_string()),
        // The database of the application is down.
        AgentError::Context { .. } => HandlerError::from(error.to_string()),
        AgentError::Decide(error) => TerminalError::new_with_code(403, error.to_string()).into(),
        AgentError::Run(error @ RunError::OtherDialect { .. }) => {
            TerminalError::new_with_code(409, error.to_string()).into()
        }
        error => terminal(error).into(),
    }
}

impl State {
    /// Repeats what a step did.
    fn apply(&mut self, increments: Vec<Increment>) -> Result<(), Stop> {
        self.unsaved.extend(increments.iter().cloned());
        self.run
            .apply(increments)
            .map_err(|error| Stop::Failed(terminal(error)))
    }

    /// Saves what is new, in a key of its own: one key for all would be written anew each round.
    fn save(&mut self, ctx: &ObjectContext<'_>, hub: Option<&Arc<Hub>>) {
        if self.unsaved.is_empty() {
            return;
        }
        ctx.set(
            part_key(self.parts),
            Json(std::mem::take(&mut self.unsaved)),
        );
        self.parts += 1;
        ctx.set(PARTS, self.parts);
        if let Some(hub) = hub {
            hub.saved(ctx.key(), self.parts);
        }
    }
}

/// Returns what a step did to its copy of a run.
fn new_in(run: &Run) -> Json<Vec<Increment>> {
    Json(run.unsaved().to_vec())
}

/// Changes a copy of the run in a step of this name, and repeats on the run what the step saved. A macro, for the reason of
/// `increments`.
macro_rules! step {
    ($ctx:expr, $state:expr, $name:literal, |$run:ident| $change:block) => {{
        let mut $run = $state.run.clone();
        let changing = $ctx.run(move || async move {
            $change
            Ok(new_in(&$run))
        });
        let Json(increments) = changing.name($name).await?;
        $state.apply(increments)?;
    }};
}

handlers!(Conversation {
    "send" => send,
    "respond" => respond,
    "decide" => decide,
    "stop" => stop,
    "state" => state,
});

#[restate_sdk::object]
impl Conversation {
    /// Adds a message of the user, and drives the run until it is done. A second message waits for the first.
    #[handler]
    async fn send(
        &self,
        ctx: ObjectContext<'_>,
        message: Json<Message>,
    ) -> HandlerResult<Json<RunOutcome>> {
        let Json(message) = message;
        let (parts, saved) = saved!(ctx);
        let mut state = if saved.is_empty() {
            self.create(&ctx, &message).await?
        } else {
            State {
                run: Run::replay(saved).map_err(terminal)?,
                parts,
                unsaved: Vec::new(),
            }
        };
        if state.run.info().owner() != message.owner.as_deref() {
            let problem = format!("the conversation {:?} is another user's", ctx.key());
            return Err(TerminalError::new_with_code(403, problem).into());
        }
        ctx.set(DRIVER, ctx.invocation_id().to_owned());
        let turn = self.turn(&ctx, &mut state, message.text).await;
        let ended = match turn {
            Ok(outcome) => Ok(outcome),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Cancelled) => match self.cancel(&ctx, &mut state).await {
                Ok(()) => Ok(RunOutcome::Cancelled),
                Err(Stop::Failed(error)) => Err(error),
                Err(Stop::Cancelled) => Err(TerminalError::new_with_code(409, "cancelled")),
            },
        };
        state.save(&ctx, self.hub.as_ref());
        ctx.clear(DRIVER);
        Ok(Json(ended?))
    }

    /// Asks the model for the next response of a run. An invocation of its own, so that it can be cancelled at any time.
    #[handler]
    async fn respond(
        &self,
        ctx: SharedObjectContext<'_>,
        parts: Json<u64>,
    ) -> HandlerResult<Json<Vec<Increment>>> {
        let Json(parts) = parts;
        let mut run = Run::replay(increments!(ctx, 0, parts)).map_err(terminal)?;
        let asking = ctx.run(move || async move {
            let mut steps = self.agent.steps(&run).map_err(handler_error)?;
            let hub = self.hub.as_ref();
            let asking = hub.map(|hub| hub.ask(run.id(), parts)).transpose()?;
            if let Some(asking) = &asking {
                let write = asking.writer();
                steps = steps.on_event(move |event| {
                    if let Event::Text(piece) = event {
                        write(piece);
                    }
                });
            }
            steps.respond(&mut run).await.map_err(handler_error)?;
            if let Some(asking) = asking {
                asking.complete();
            }
            Ok(new_in(&run))
        });
        Ok(asking.name("respond").await?)
    }

    /// Decides on a call that waits.
    #[handler]
    async fn decide(
        &self,
        ctx: SharedObjectContext<'_>,
        decide: Json<Decide>,
    ) -> HandlerResult<()> {
        let Json(decide) = decide;
        let driver = ctx.get::<String>(DRIVER).await?;
        let Some(driver) = driver else {
            let problem = format!("nothing waits in the conversation {:?}", ctx.key());
            return Err(TerminalError::new_with_code(409, problem).into());
        };
        let (_, saved) = saved!(ctx);
        let mut run = Run::replay(saved).map_err(terminal)?;
        let Decide {
            fingerprint,
            decision,
            user,
        } = decide.clone();
        // Only to tell the user: whoever drives the run decides again.
        let checking = ctx.run(move || async move {
            let steps = self.agent.steps(&run).map_err(handler_error)?;
            let deciding = steps.decide(&mut run, &fingerprint, decision, user);
            deciding.await.map_err(handler_error)
        });
        checking.name("check").await?;
        let signal = ctx.invocation_handle(driver).signal(&*decide.fingerprint);
        signal.resolve(Json(decide));
        Ok(())
    }

    /// Cancels what a message has started. Does nothing if the conversation is at rest.
    #[handler]
    async fn stop(&self, ctx: SharedObjectContext<'_>, _none: Json<()>) -> HandlerResult<()> {
        if let Some(driver) = ctx.get::<String>(DRIVER).await? {
            ctx.invocation_handle(driver).cancel();
        }
        Ok(())
    }

    /// Returns what is saved of the run, from a part on.
    #[handler]
    async fn state(
        &self,
        ctx: SharedObjectContext<'_>,
        from: Json<u64>,
    ) -> HandlerResult<Json<Saved>> {
        let Json(from) = from;
        let parts = ctx.get::<u64>(PARTS).await?.unwrap_or(0);
        let increments = increments!(ctx, from, parts);
        Ok(Json(Saved { parts, increments }))
    }
}

impl Conversation {
    /// Creates the run, in a step: the settings may be others in the next attempt.
    async fn create(
        &self,
        ctx: &ObjectContext<'_>,
        message: &Message,
    ) -> Result<State, TerminalError> {
        let (id, settings) = (ctx.key().to_owned(), self.settings);
        let (owner, meta) = (message.owner.clone(), message.meta.clone());
        let creating = ctx.run(move || async move {
            let mut run = Run::builder(id).settings(settings).meta(meta);
            if let Some(owner) = owner {
                run = run.owner(owner);
            }
            Ok(new_in(&run.build()))
        });
        let Json(increments) = creating.name("create").await?;
        Ok(State {
            run: Run::replay(increments.iter().cloned()).map_err(terminal)?,
            parts: 0,
            unsaved: increments,
        })
    }

    /// Adds the message and drives the run, after what an earlier message left.
    async fn turn(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        text: String,
    ) -> Result<RunOutcome, Stop> {
        if matches!(state.run.next(), Step::Running) {
            step!(ctx, state, "resume", |run| {
                run.resume(self.agent.dialect(), self.agent.registry())
                    .map_err(terminal)?;
            });
        }
        self.drive(ctx, state, true).await?;
        step!(ctx, state, "push", |run| {
            // Before a message is in the format of another provider.
            drop(self.agent.steps(&run).map_err(handler_error)?);
            let message = self.agent.dialect().user_message(&text);
            run.push(message).map_err(terminal)?;
        });
        loop {
            if let Some(outcome) = self.drive(ctx, state, false).await? {
                return Ok(outcome);
            }
        }
    }

    /// Drives the run until it has an outcome, or until its calls have results.
    async fn drive(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        calls_only: bool,
    ) -> Result<Option<RunOutcome>, Stop> {
        loop {
            match state.run.next() {
                Step::Request(_) | Step::Done(_) if calls_only => return Ok(None),
                Step::Request(_) => {
                    state.save(ctx, self.hub.as_ref());
                    let target = RequestTarget::object(&self.name, ctx.key(), "respond");
                    let asking = ctx.request::<_, Json<Vec<Increment>>>(target, Json(state.parts));
                    let Json(increments) = asking.call().await?;
                    state.apply(increments)?;
                }
                Step::Call(calls) => {
                    let mut run = state.run.clone();
                    let ready = calls.clone();
                    let starting = ctx.run(move || async move {
                        let steps = self.agent.steps(&run).map_err(handler_error)?;
                        let started = steps.start(&mut run, ready).await.map_err(handler_error)?;
                        let target = |call: &ToolCall| Target {
                            service: (self.route)(&call.name).unwrap_or_else(|| self.tools.clone()),
                            version: version_of(self.agent.registry(), call),
                        };
                        Ok(Json(Started {
                            targets: started.iter().map(target).collect(),
                            increments: run.unsaved().to_vec(),
                        }))
                    });
                    let Json(Started {
                        increments,
                        targets,
                    }) = starting.name("start").await?;
                    state.apply(increments)?;
                    let mut running = DurableFuturesUnordered::new();
                    for (call, Target { service, version }) in calls.iter().zip(targets) {
                        let target = RequestTarget::service(service, "call");
                        let call = PortableCall::new(state.run.info(), call);
                        let sent = Json(Sent { call, version });
                        running.push(ctx.request::<_, Json<ToolResult>>(target, sent).call());
                    }
                    if running.is_empty() {
                        continue;
                    }
                    let mut results = Vec::new();
                    while let Some((index, result)) = running.next().await? {
                        match result.map_err(Stop::from) {
                            Ok(Json(result)) => results.push((index, Some(result))),
                            Err(Stop::Cancelled) => return Err(Stop::Cancelled),
                            // An operator killed the call, or its service is gone.
                            Err(Stop::Failed(_)) => results.push((index, None)),
                        }
                    }
                    step!(ctx, state, "finish", |run| {
                        let steps = self.agent.steps(&run).map_err(handler_error)?;
                        for (index, result) in results {
                            let call = &calls[index];
                            let result = result.map(|result| result.for_call(call));
                            let result = result.unwrap_or_else(|| interrupted(call));
                            steps.finish(&mut run, result).map_err(handler_error)?;
                        }
                    });
                }
                Step::Wait(pending) => {
                    state.save(ctx, self.hub.as_ref());
                    let fingerprints: Vec<_> = pending
                        .iter()
                        .map(|pending| pending.fingerprint())
                        .collect();
                    let decided = self.wait(ctx, &fingerprints).await?;
                    let first = fingerprints[0].to_owned();
                    step!(ctx, state, "decide", |run| {
                        let steps = self.agent.steps(&run).map_err(handler_error)?;
                        match decided {
                            Some(Decide {
                                fingerprint,
                                decision,
                                user,
                            }) => {
                                let deciding = steps.decide(&mut run, &fingerprint, decision, user);
                                // Who may not decide, or came too late, changes nothing.
                                if let Err(error) = deciding.await {
                                    tracing::warn!(run = run.id(), %error, "a decision is refused");
                                }
                            }
                            None => steps
                                .expire(&mut run, &first, "nobody decided in time")
                                .map_err(handler_error)?,
                        }
                    });
                }
                Step::Done(outcome) => return Ok(Some(outcome)),
                Step::Running => {
                    let problem = "calls have started and have no results";
                    return Err(Stop::Failed(TerminalError::new(problem)));
                }
            }
        }
    }

    /// Waits for a decision on one of these calls. `None` if nobody makes one in time.
    async fn wait(
        &self,
        ctx: &ObjectContext<'_>,
        fingerprints: &[&str],
    ) -> Result<Option<Decide>, Stop> {
        type Waiting<'w> = std::pin::Pin<
            Box<
                dyn DurableFuture<Output = Result<Option<Json<Decide>>, TerminalError>> + Send + 'w,
            >,
        >;
        let mut waiting: DurableFuturesUnordered<Waiting<'_>> = DurableFuturesUnordered::new();
        for fingerprint in fingerprints {
            let signal = ctx.signal::<Json<Decide>>(fingerprint);
            waiting.push(Box::pin(signal.map_ok(Some)));
        }
        let sleeping = ctx.sleep(self.approval_timeout);
        waiting.push(Box::pin(sleeping.map_ok(|()| None)));
        let decided = waiting.next().await?.map(|(_, decided)| decided);
        let decided = decided.transpose()?.flatten();
        Ok(decided.map(Json::into_inner))
    }

    /// Ends what still runs or waits. A step, because results of cancelled calls have random references.
    async fn cancel(&self, ctx: &ObjectContext<'_>, state: &mut State) -> Result<(), Stop> {
        step!(ctx, state, "cancel", |run| {
            let (dialect, registry) = (self.agent.dialect(), self.agent.registry());
            run.resume(dialect, registry).map_err(terminal)?;
            run.cancel(dialect).map_err(terminal)?;
        });
        Ok(())
    }
}
