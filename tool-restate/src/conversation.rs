//! [`Conversation`]: a run that is driven by Restate.
//!
//! Each step works on a copy of the run and saves its increments, and replay applies them: it calls neither the dialect nor
//! the registry nor hooks, so that they may differ between attempts. Nothing outside of a step is random, because Restate
//! compares what an attempt does with what an earlier one did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_agent::run::{
    Increment, Pending, PortableCall, Run, RunError, RunOutcome, RunSettings, Step,
};
use tool_agent::{Agent, AgentError, Event};
use tool_core::{ToolCall, ToolResult};

use crate::cancel::{Cancellable, NEVER};
use crate::definition::handlers;
use crate::lock;
use crate::stream::Hub;
use crate::tools::{Sent, interrupted};
use crate::version::version_of;
use crate::waiting::{Decide, News, Waiting};

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
    /// One for each call, or `None` if the call does not run.
    targets: Vec<Option<Target>>,
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
        let mut waiting = Waiting::default();
        let turn = self.turn(&ctx, &mut state, &mut waiting, message.text);
        let ended = match turn.await {
            Ok(outcome) => Ok(outcome),
            Err(Stop::Failed(error)) => {
                // The next message resumes them.
                waiting.cancel(&ctx);
                // Not if that is what failed.
                let _ = self.take(&ctx, &mut state, &mut waiting).await;
                Err(error)
            }
            // Restate has cancelled the calls.
            Err(Stop::Cancelled) => match self.cancel(&ctx, &mut state, waiting.news).await {
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
        let step = Cancellable::default();
        let asking = step.doing(async move {
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
        let asking = ctx.run(move || asking).name("respond");
        Ok(step.or_cancelled(asking, ctx.signal(NEVER)).await?)
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
    async fn turn<'c>(
        &self,
        ctx: &ObjectContext<'c>,
        state: &mut State,
        waiting: &mut Waiting<'c>,
        text: String,
    ) -> Result<RunOutcome, Stop> {
        if state.run.in_background().next().is_some() {
            self.resume(ctx, state).await?;
        }
        self.drive(ctx, state, waiting, true).await?;
        step!(ctx, state, "push", |run| {
            // Before a message is in the format of another provider.
            drop(self.agent.steps(&run).map_err(handler_error)?);
            let message = self.agent.dialect().user_message(&text);
            run.push(message).map_err(terminal)?;
        });
        loop {
            if let Some(outcome) = self.drive(ctx, state, waiting, false).await? {
                return Ok(outcome);
            }
        }
    }

    /// Drives the run until it has an outcome, or until the calls of its last response have results. Calls in the
    /// background go on in the meantime.
    async fn drive<'c>(
        &self,
        ctx: &ObjectContext<'c>,
        state: &mut State,
        waiting: &mut Waiting<'c>,
        calls_only: bool,
    ) -> Result<Option<RunOutcome>, Stop> {
        loop {
            self.take(ctx, state, waiting).await?;
            waiting.decisions(ctx, &state.run.pending(), self.approval_timeout);
            match state.run.next() {
                Step::Request(_) | Step::Done(_) if calls_only => return Ok(None),
                // What is left are calls in the background.
                Step::Running | Step::Wait(_) if calls_only && state.run.outcome().is_some() => {
                    return Ok(None);
                }
                Step::Request(_) => {
                    state.save(ctx, self.hub.as_ref());
                    let target = RequestTarget::object(&self.name, ctx.key(), "respond");
                    let asking = ctx.request::<_, Json<Vec<Increment>>>(target, Json(state.parts));
                    let increments = waiting.response(asking.call()).await?;
                    state.apply(increments)?;
                }
                Step::Call(calls) => {
                    let targets = self.start(ctx, state, &calls).await?;
                    let mut running = Vec::new();
                    for (call, target) in calls.into_iter().zip(targets) {
                        let Some(Target { service, version }) = target else {
                            continue;
                        };
                        let target = RequestTarget::service(service, "call");
                        let sent = PortableCall::new(state.run.info(), &call);
                        let in_background = state.run.is_in_background(&call);
                        let sent = Json(Sent {
                            call: sent,
                            version,
                        });
                        let calling = ctx.request::<_, Json<ToolResult>>(target, sent).call();
                        running.push((call, in_background, calling));
                    }
                    for (call, in_background, calling) in running {
                        if in_background {
                            waiting.background(call, calling).await?;
                        } else {
                            waiting.call(call, calling);
                        }
                    }
                    waiting.results().await?;
                }
                // An earlier message left them.
                Step::Running if !waiting.has_calls() => self.resume(ctx, state).await?,
                Step::Running | Step::Wait(_) => {
                    state.save(ctx, self.hub.as_ref());
                    waiting.next().await?;
                }
                Step::Done(outcome) => return Ok(Some(outcome)),
            }
        }
    }

    /// Marks calls as started, and returns where they run.
    async fn start(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        calls: &[ToolCall],
    ) -> Result<Vec<Option<Target>>, Stop> {
        let mut run = state.run.clone();
        let ready = calls.to_vec();
        let starting = ctx.run(move || async move {
            let steps = self.agent.steps(&run).map_err(handler_error)?;
            let started = steps.start(&mut run, ready.clone());
            let started = started.await.map_err(handler_error)?;
            let started = steps.acknowledge(&mut run, started);
            let started = started.map_err(handler_error)?;
            let target = |call: &ToolCall| {
                let runs = started.iter().any(|run| run.position() == call.position());
                runs.then(|| Target {
                    service: (self.route)(&call.name).unwrap_or_else(|| self.tools.clone()),
                    version: version_of(self.agent.registry(), call),
                })
            };
            Ok(Json(Started {
                targets: ready.iter().map(target).collect(),
                increments: run.unsaved().to_vec(),
            }))
        });
        let Json(Started {
            increments,
            targets,
        }) = starting.name("start").await?;
        state.apply(increments)?;
        Ok(targets)
    }

    /// Adds what came to the run, in one step.
    async fn take(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        waiting: &mut Waiting<'_>,
    ) -> Result<(), Stop> {
        if waiting.news.is_empty() {
            return Ok(());
        }
        let news = waiting.news.clone();
        step!(ctx, state, "take", |run| {
            self.add(&mut run, news).await?;
        });
        waiting.news.clear();
        Ok(())
    }

    /// Adds what came to a copy of the run.
    async fn add(&self, run: &mut Run, news: Vec<News>) -> Result<(), HandlerError> {
        let steps = self.agent.steps(run).map_err(handler_error)?;
        for news in news {
            match news {
                News::Result(call, result) => {
                    let result = result.map(|result| result.for_call(&call));
                    let result = result.unwrap_or_else(|| interrupted(&call));
                    steps.finish(run, result).map_err(handler_error)?;
                }
                News::Decision(Decide {
                    fingerprint,
                    decision,
                    user,
                }) => {
                    let deciding = steps.decide(run, &fingerprint, decision, user);
                    // Who may not decide, or came too late, changes nothing.
                    if let Err(error) = deciding.await {
                        tracing::warn!(run = run.id(), %error, "a decision is refused");
                    }
                }
                News::TimeOver(fingerprint) => {
                    let pending = run.pending();
                    let mut waits = pending.iter().map(Pending::fingerprint);
                    if waits.any(|waits| waits == fingerprint) {
                        let expired = steps.expire(run, &fingerprint, "nobody decided in time");
                        expired.map_err(handler_error)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Decides on the calls that an earlier message left: they run again, or are interrupted.
    async fn resume(&self, ctx: &ObjectContext<'_>, state: &mut State) -> Result<(), Stop> {
        step!(ctx, state, "resume", |run| {
            let (dialect, registry) = (self.agent.dialect(), self.agent.registry());
            run.resume(dialect, registry).map_err(terminal)?;
        });
        Ok(())
    }

    /// Ends what still runs or waits, after what came. A step, because results of cancelled calls have random references.
    async fn cancel(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        news: Vec<News>,
    ) -> Result<(), Stop> {
        step!(ctx, state, "cancel", |run| {
            self.add(&mut run, news).await?;
            let (dialect, registry) = (self.agent.dialect(), self.agent.registry());
            run.resume(dialect, registry).map_err(terminal)?;
            run.cancel(dialect).map_err(terminal)?;
        });
        Ok(())
    }
}
