//! [`Conversation`]: a run that is driven by Restate.
//!
//! Each step works on a copy of the run and saves its increments, and replay applies them: it calls neither the dialect nor
//! the registry nor hooks, so that they may differ between attempts. Nothing outside of a step is random, because Restate
//! compares what an attempt does with what an earlier one did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use restate_sdk::context::{CallFuture, DurableFuturesUnordered, Request, RequestTarget};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_agent::run::{
    Increment, Pending, PortableCall, Run, RunError, RunOutcome, RunSettings, Step,
};
use tool_agent::{Agent, AgentError};
use tool_core::{ToolCall, ToolResult};

use crate::cancel::{Cancellable, NEVER};
use crate::definition::handlers;
use crate::events::{Decide, Event, News, Phase, Progress, is_open};
use crate::lock;
use crate::stream::Hub;
use crate::tools::{Sent, interrupted};
use crate::version::version_of;

/// The number of parts that are saved.
const PARTS: &str = "parts";
/// The invocation that drives the run, or drove it last.
const DRIVER: &str = "driver";
/// What is kept from one event to the next.
const PROGRESS: &str = "progress";
/// The signal that has the reply to a message.
const REPLY: &str = "reply";

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
    pub(crate) text: String,
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

/// The reply to a message; see [`Client::send`](crate::Client::send).
///
/// ```
/// use tool_agent::run::RunOutcome;
/// use tool_restate::Reply;
///
/// fn show(reply: &Reply) -> String {
///     let text = match &reply.outcome {
///         RunOutcome::Answered(text) => text.clone(),
///         other => format!("the conversation ended: {}", other.as_str()),
///     };
///     match reply.in_background {
///         0 => text,
///         count => format!("{text} ({count} calls go on)"),
///     }
/// }
/// # let _ = show;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// How the turn of the model ended.
    pub outcome: RunOutcome,
    /// The number of calls in the background that have no result yet, also of those that wait for a decision. The conversation
    /// goes on by itself when the results come.
    pub in_background: usize,
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

/// The invocation that drives a run, and the number of the last message.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Driver {
    invocation: String,
    turn: u64,
}

/// A run, and what of it is saved.
struct State {
    run: Run,
    parts: u64,
    unsaved: Vec<Increment>,
    progress: Progress,
    has_progress: bool,
}

/// Why a turn of the model has no outcome.
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

/// A call in the background, and the service that runs it.
#[derive(Serialize, Deserialize)]
struct Aside {
    service: String,
    sent: Sent,
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

    /// Saves what is kept until the next event.
    fn keep(self, ctx: &ObjectContext<'_>) {
        if self.progress != Progress::default() {
            ctx.set(PROGRESS, Json(self.progress));
        } else if self.has_progress {
            ctx.clear(PROGRESS);
        }
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
    "drive" => drive,
    "background" => background,
    "respond" => respond,
    "decide" => decide,
    "stop" => stop,
    "state" => state,
});

#[restate_sdk::object]
impl Conversation {
    /// Tells the conversation a message of the user, and waits for the reply.
    #[handler]
    async fn send(
        &self,
        ctx: SharedObjectContext<'_>,
        message: Json<Message>,
    ) -> HandlerResult<Json<Reply>> {
        let Json(message) = message;
        let event = Event::Message(message, ctx.invocation_id().to_owned());
        self.telling(&ctx, ctx.key(), event).send();
        Ok(ctx.signal(REPLY).await?)
    }

    /// Takes an event, and drives the run until it waits for others, which come one by one.
    #[handler]
    async fn drive(&self, ctx: ObjectContext<'_>, event: Json<Event>) -> HandlerResult<()> {
        let Json(event) = event;
        let waiter = match &event {
            Event::Message(_, waiter) => Some(waiter.clone()),
            _ => None,
        };
        let heard = self.hear(&ctx, event).await;
        if let (Some(waiter), Err(error)) = (waiter, &heard) {
            reply(&ctx, waiter, Err(error.clone()));
        }
        Ok(heard?)
    }

    /// Waits for the result of a call in the background, and tells it the conversation.
    #[handler]
    async fn background(
        &self,
        ctx: SharedObjectContext<'_>,
        aside: Json<Aside>,
    ) -> HandlerResult<()> {
        let Json(Aside { service, sent }) = aside;
        let call = sent.call.call().clone();
        let target = RequestTarget::service(service, "call");
        let calling = ctx.request::<_, Json<ToolResult>>(target, Json(sent));
        let result = calling.call().await;
        let news = News::Result {
            call,
            // An error is that of the call, or this invocation is cancelled.
            result: result.ok().map(Json::into_inner),
            invocation: Some(ctx.invocation_id().to_owned()),
        };
        self.telling(&ctx, ctx.key(), Event::News(news)).send();
        Ok(())
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
                    if let tool_agent::Event::Text(piece) = event {
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
        let (_, saved) = saved!(ctx);
        let run = (!saved.is_empty()).then(|| Run::replay(saved));
        let run = run.transpose().map_err(terminal)?;
        let Some(mut run) = run.filter(|run| !run.pending().is_empty()) else {
            let problem = format!("nothing waits in the conversation {:?}", ctx.key());
            return Err(TerminalError::new_with_code(409, problem).into());
        };
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
        let event = Event::News(News::Decision(decide));
        self.telling(&ctx, ctx.key(), event).send();
        Ok(())
    }

    /// Cancels what a message has started. Does nothing if the conversation is at rest.
    #[handler]
    async fn stop(&self, ctx: SharedObjectContext<'_>, _none: Json<()>) -> HandlerResult<()> {
        let driver = ctx.get::<Json<Driver>>(DRIVER).await?;
        let Some(Json(Driver { invocation, turn })) = driver else {
            return Ok(());
        };
        ctx.invocation_handle(invocation).cancel();
        let stopping = self.telling(&ctx, ctx.key(), Event::Stop(turn));
        Ok(stopping.call().await?)
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

/// Replies to a message.
fn reply(ctx: &ObjectContext<'_>, waiter: String, reply: Result<Reply, TerminalError>) {
    let signal = ctx.invocation_handle(waiter).signal(REPLY);
    match reply {
        Ok(reply) => signal.resolve(Json(reply)),
        Err(error) => signal.reject(error),
    }
}

impl Conversation {
    /// Returns a request that tells a conversation an event.
    fn telling<'c>(
        &self,
        ctx: &impl ContextClient<'c>,
        id: &str,
        event: Event,
    ) -> Request<'c, Json<Event>> {
        let target = RequestTarget::object(&self.name, id, "drive");
        ctx.request(target, Json(event))
    }

    /// Creates the run, in a step: the settings may be others in the next attempt.
    async fn create(
        &self,
        ctx: &ObjectContext<'_>,
        message: &Message,
    ) -> Result<Vec<Increment>, TerminalError> {
        let (id, settings) = (ctx.key().to_owned(), self.settings);
        let (owner, meta) = (message.owner.clone(), message.meta.clone());
        let creating = ctx.run(move || async move {
            let mut run = Run::builder(id).settings(settings).meta(meta);
            if let Some(owner) = owner {
                run = run.owner(owner);
            }
            Ok(new_in(&run.build()))
        });
        Ok(creating.name("create").await?.into_inner())
    }

    /// Reads what is saved, takes an event, and saves what it led to.
    async fn hear(&self, ctx: &ObjectContext<'_>, event: Event) -> Result<(), TerminalError> {
        let (parts, mut saved) = saved!(ctx);
        let driver = ctx.get::<Json<Driver>>(DRIVER).await?;
        let mut turn = driver.map_or(0, |Json(driver)| driver.turn);
        let progress = ctx.get::<Json<Progress>>(PROGRESS).await?;
        let has_progress = progress.is_some();
        let mut unsaved = Vec::new();
        if let Event::Message(message, _) = &event
            && saved.is_empty()
        {
            unsaved = self.create(ctx, message).await?;
            saved.clone_from(&unsaved);
        }
        let mut state = State {
            run: Run::replay(saved).map_err(terminal)?,
            parts,
            unsaved,
            progress: progress.map(Json::into_inner).unwrap_or_default(),
            has_progress,
        };
        let phase = state.progress.phase;
        let is_stop = matches!(event, Event::Stop(_));
        if let Event::Message(message, _) = &event
            && state.run.info().owner() != message.owner.as_deref()
        {
            let problem = format!("the conversation {:?} is another user's", ctx.key());
            return Err(TerminalError::new_with_code(403, problem));
        }
        if state.progress.hear(event, &state.run, turn) {
            let message = (phase == Phase::Resting && !is_stop)
                .then(|| state.progress.messages.pop_front())
                .flatten();
            turn += u64::from(message.is_some());
            let invocation = ctx.invocation_id().to_owned();
            ctx.set(DRIVER, Json(Driver { invocation, turn }));
            let driving = if is_stop {
                self.cancel(ctx, &mut state).await
            } else {
                self.turn(ctx, &mut state, message).await
            };
            self.settle(ctx, &mut state, driving, turn);
        }
        state.save(ctx, self.hub.as_ref());
        state.keep(ctx);
        Ok(())
    }

    /// Replies to the message if the turn of the model is over, and tells the conversation what it tells itself.
    fn settle(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        driving: Result<Option<RunOutcome>, Stop>,
        turn: u64,
    ) {
        let replied = match driving {
            Ok(Some(outcome)) => Ok(Reply {
                outcome,
                in_background: state.run.in_background().count() + state.run.pending().len(),
            }),
            Err(Stop::Failed(error)) => Err(error),
            Ok(None) => {
                if state.progress.phase == Phase::Left {
                    self.telling(ctx, ctx.key(), Event::Next).send();
                }
                return;
            }
            Err(Stop::Cancelled) => {
                // Results that are on their way come before.
                state.progress.phase = Phase::Stopping;
                self.telling(ctx, ctx.key(), Event::Stop(turn)).send();
                return;
            }
        };
        state.progress.phase = Phase::Resting;
        match (state.progress.waiter.take(), replied) {
            (Some(waiter), replied) => reply(ctx, waiter, replied),
            (None, Ok(_)) => {}
            (None, Err(error)) => {
                tracing::error!(run = state.run.id(), %error, "a conversation can't go on with what came");
            }
        }
        if !state.progress.messages.is_empty() {
            self.telling(ctx, ctx.key(), Event::Next).send();
        }
    }

    /// Drives the run until the turn of the model is over, or until it waits for calls in the background or decisions. A
    /// message comes after what an earlier one left.
    async fn turn(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        message: Option<(String, String)>,
    ) -> Result<Option<RunOutcome>, Stop> {
        let mut message = message.map(|(text, waiter)| {
            state.progress.waiter = Some(waiter);
            text
        });
        let mut has_asked = false;
        loop {
            self.take(ctx, state).await?;
            self.limit_time(ctx, state);
            let is_over =
                state.run.outcome().is_some() || matches!(state.run.next(), Step::Request(_));
            if is_over && let Some(text) = message.take() {
                step!(ctx, state, "push", |run| {
                    // Before a message is in the format of another provider.
                    drop(self.agent.steps(&run).map_err(handler_error)?);
                    let message = self.agent.dialect().user_message(&text);
                    run.push(message).map_err(terminal)?;
                });
                continue;
            }
            match state.run.next() {
                // Takes what came while the model was asked.
                Step::Request(_) if has_asked && is_open(&state.run) => {
                    state.progress.phase = Phase::Left;
                    return Ok(None);
                }
                Step::Request(_) => {
                    has_asked = true;
                    state.save(ctx, self.hub.as_ref());
                    let target = RequestTarget::object(&self.name, ctx.key(), "respond");
                    let asking = ctx.request::<_, Json<Vec<Increment>>>(target, Json(state.parts));
                    let Json(increments) = asking.call().await?;
                    state.apply(increments)?;
                }
                Step::Call(calls) => self.call(ctx, state, calls).await?,
                Step::Running | Step::Wait(_) | Step::Done(_) => break,
            }
        }
        if let Some(text) = message {
            let waiter = state.progress.waiter.take().unwrap_or_default();
            state.progress.messages.push_front((text, waiter));
        }
        state.progress.phase = Phase::Waiting;
        Ok(state.run.outcome())
    }

    /// Has each call that nobody decides denied after a time.
    fn limit_time(&self, ctx: &ObjectContext<'_>, state: &mut State) {
        for pending in state.run.pending() {
            let fingerprint = pending.fingerprint().to_owned();
            if !state.progress.timed.contains(&fingerprint) {
                state.progress.timed.push(fingerprint.clone());
                let event = Event::News(News::TimeOver(fingerprint));
                let telling = self.telling(ctx, ctx.key(), event);
                telling.send_after(self.approval_timeout);
            }
        }
    }

    /// Starts calls, and waits for the results of all in the foreground.
    async fn call(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        calls: Vec<ToolCall>,
    ) -> Result<(), Stop> {
        let targets = self.start(ctx, state, &calls).await?;
        let mut running = DurableFuturesUnordered::new();
        let (mut foreground, mut background) = (Vec::new(), Vec::new());
        for (call, target) in calls.into_iter().zip(targets) {
            let Some(Target { service, version }) = target else {
                continue;
            };
            let sent = Sent {
                call: PortableCall::new(state.run.info(), &call),
                version,
            };
            if state.run.is_in_background(&call) {
                let target = RequestTarget::object(&self.name, ctx.key(), "background");
                let aside = Json(Aside { service, sent });
                // Nobody waits for it, and it is cancelled with this invocation.
                background.push(ctx.request::<_, ()>(target, aside).call());
            } else {
                let target = RequestTarget::service(service, "call");
                let calling = ctx.request::<_, Json<ToolResult>>(target, Json(sent));
                running.push(calling.call());
                foreground.push(call);
            }
        }
        for calling in background {
            let handle = calling.invocation_handle().await?;
            let invocation = handle.invocation_id().to_owned();
            state.progress.background.push(invocation);
        }
        while let Some((index, result)) = running.next().await? {
            state.progress.news.push(News::Result {
                call: foreground[index].clone(),
                // An error is that of the call: one that concerns this invocation comes from the line above.
                result: result.ok().map(Json::into_inner),
                invocation: None,
            });
        }
        Ok(())
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
    async fn take(&self, ctx: &ObjectContext<'_>, state: &mut State) -> Result<(), Stop> {
        if state.progress.news.is_empty() {
            return Ok(());
        }
        let news = state.progress.news.clone();
        step!(ctx, state, "take", |run| {
            self.add(&mut run, news).await?;
        });
        state.progress.news.clear();
        Ok(())
    }

    /// Adds what came to a copy of the run.
    async fn add(&self, run: &mut Run, news: Vec<News>) -> Result<(), HandlerError> {
        let steps = self.agent.steps(run).map_err(handler_error)?;
        for news in news {
            match news {
                News::Result { call, result, .. } => {
                    let result = result.map(|result| result.for_call(&call));
                    let result = result.unwrap_or_else(|| interrupted(&call));
                    match steps.finish(run, result) {
                        // It was cancelled in the meantime.
                        Err(AgentError::Run(RunError::NotStarted(_))) => {}
                        finished => finished.map_err(handler_error)?,
                    }
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

    /// Ends what still runs or waits, after what came. A step, because results of cancelled calls have random references.
    async fn cancel(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
    ) -> Result<Option<RunOutcome>, Stop> {
        // Calls that were cancelled with what drove the run have no result.
        let news = state.progress.news.iter();
        let news = news.filter(|news| !matches!(news, News::Result { result: None, .. }));
        let news: Vec<_> = news.cloned().collect();
        step!(ctx, state, "cancel", |run| {
            self.add(&mut run, news).await?;
            let (dialect, registry) = (self.agent.dialect(), self.agent.registry());
            run.resume(dialect, registry).map_err(terminal)?;
            run.cancel(dialect).map_err(terminal)?;
        });
        state.progress.news.clear();
        for invocation in state.progress.background.drain(..) {
            ctx.invocation_handle(invocation).cancel();
        }
        Ok(Some(RunOutcome::Cancelled))
    }
}
