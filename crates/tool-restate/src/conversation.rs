//! [`Conversation`]: drives a run on Restate.
//!
//! Each step works on a copy of the run and saves its increments, which a replay applies. A replay calls neither the
//! dialect nor the registry nor hooks, so these may differ between attempts. Nothing outside of a step is random,
//! because Restate compares each attempt with an earlier one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use restate_sdk::context::{CallFuture, DurableFuturesUnordered, Request, RequestTarget};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use tool_agent::run::{
    DecideError, Increment, Pending, PortableCall, Run, RunError, RunHead, RunOutcome, RunSettings,
    Step,
};
use tool_agent::{Agent, AgentError};
use tool_core::{ToolCall, ToolResult};

use crate::cancel::{Cancellable, NEVER};
use crate::definition::handlers;
use crate::events::{Decide, Event, News, Phase, Progress, Removal, is_open};
use crate::lists::HEAD;
use crate::lock;
use crate::message::{Message, Reply, Saved};
use crate::stream::Hub;
use crate::tools::{Sent, interrupted};
use crate::version::version_of;

/// The number of saved parts.
const PARTS: &str = "parts";
/// The invocation that drives or last drove the run.
const DRIVER: &str = "driver";
/// The state kept between events.
const PROGRESS: &str = "progress";
/// The signal that carries the reply to a message.
const REPLY: &str = "reply";

/// Returns the service that runs a tool.
pub(crate) type Route = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The conversations of an agent.
pub(crate) struct Conversation {
    pub(crate) agent: Agent,
    pub(crate) name: String,
    /// The service with the tools of this process.
    pub(crate) tools: String,
    pub(crate) route: Route,
    pub(crate) settings: RunSettings,
    pub(crate) approval_timeout: Duration,
    /// Receives the text while the model is writing it.
    pub(crate) hub: Option<Arc<Hub>>,
    /// The services that were registered when this process looked.
    pub(crate) found: Mutex<HashSet<String>>,
}

/// The invocation that drives a run, and the number of the last message.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Driver {
    invocation: String,
    turn: u64,
}

/// A run with its saved and unsaved parts.
struct State {
    run: Run,
    parts: u64,
    unsaved: Vec<Increment>,
    progress: Progress,
    has_progress: bool,
    /// When it was saved last.
    saved_ms: u64,
    /// Its row in lists.
    listed: Option<RunHead>,
}

/// The reason why a turn has no outcome.
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

/// Started calls, and the services that run them. Saved, because the next deployment may have other routes and tools.
#[derive(Serialize, Deserialize)]
struct Started {
    increments: Vec<Increment>,
    /// One for each call, `None` if the call must not run.
    targets: Vec<Option<Target>>,
}

/// The service that runs a call, and the version of the tool.
#[derive(Serialize, Deserialize)]
struct Target {
    service: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// `true` if the service may not be registered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_new: bool,
}

/// Returns the key of a part of the state. The SDK needs keys that outlive the invocation, so each is created once per
/// process.
fn part_key(part: u64) -> &'static str {
    static KEYS: Mutex<Option<HashMap<u64, &'static str>>> = Mutex::new(None);
    let mut keys = lock(&KEYS);
    let keys = keys.get_or_insert_default();
    keys.entry(part)
        .or_insert_with(|| Box::leak(format!("part-{part:06}").into_boxed_str()))
}

/// Reads a range of the parts of a run. A macro, because the compiler does not find an async function that is generic
/// over contexts to be `Send` (rust-lang/rust#100013).
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

/// Reads the number of parts and all parts.
macro_rules! saved {
    ($ctx:expr) => {{
        let parts = $ctx.get::<u64>(PARTS).await?.unwrap_or(0);
        (parts, increments!($ctx, 0, parts))
    }};
}

fn terminal(error: impl std::error::Error) -> TerminalError {
    TerminalError::new(error.to_string())
}

/// Returns the error for a run that does not fit.
fn refused(error: impl std::error::Error) -> TerminalError {
    TerminalError::new_with_code(409, error.to_string())
}

/// Converts an error of the agent for Restate, which retries some of them.
fn handler_error(error: AgentError) -> HandlerError {
    match error {
        AgentError::Model(error) if error.is_retryable() => HandlerError::from(error.to_string()),
        // For instance, the application's database is down.
        AgentError::Context { .. } | AgentError::Setup { .. } => HandlerError::from(error.to_string()),
        AgentError::Decide(error @ DecideError::Outdated(_)) => refused(error).into(),
        AgentError::Decide(error) => TerminalError::new_with_code(403, error.to_string()).into(),
        AgentError::Run(error @ RunError::OtherDialect { .. }) => {
            TerminalError::new_with_code(409, error.to_string()).into()
        }
        error => terminal(error).into(),
    }
}

impl State {
    /// Applies the saved increments of a step.
    fn apply(&mut self, increments: Vec<Increment>) -> Result<(), Stop> {
        self.unsaved.extend(increments.iter().cloned());
        self.run
            .apply(increments)
            .map_err(|error| Stop::Failed(terminal(error)))
    }

    /// Saves the state for the next event.
    fn keep(self, ctx: &ObjectContext<'_>) {
        if self.progress != Progress::default() {
            ctx.set(PROGRESS, Json(self.progress));
        } else if self.has_progress {
            ctx.clear(PROGRESS);
        }
    }

    /// Changes what lists show of the run.
    fn list(&mut self, ctx: &ObjectContext<'_>) {
        let mut head = self.run.head();
        // The clock may be read in a step alone.
        head.saved_ms = self.saved_ms;
        if self.listed.as_ref() != Some(&head) {
            ctx.set(HEAD, Json(head.clone()));
            self.listed = Some(head);
        }
    }

    /// Saves new increments under their own key, because one key for all would be rewritten each round.
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
        self.list(ctx);
        if let Some(hub) = hub {
            hub.saved(ctx.key(), self.parts);
        }
    }
}

/// Returns the increments that a step added to its copy of a run.
fn new_in(run: &Run) -> Json<Vec<Increment>> {
    Json(run.unsaved().to_vec())
}

/// Changes a copy of the run in a step of this name, and applies the saved increments to the run. A macro for the same
/// reason as `increments`.
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
    "tell" => tell,
    "drive" => drive,
    "find" => find,
    "background" => background,
    "respond" => respond,
    "decide" => decide,
    "stop" => stop,
    "import" => import,
    "remove" => remove,
    "clear" => clear,
    "state" => state,
});

#[restate_sdk::object]
impl Conversation {
    /// Passes a message of the user to the conversation, and waits for the reply.
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

    /// Tells the conversation an event. If an operator killed the invocation that drove it, this also says so, because a killed
    /// invocation can't.
    #[handler]
    async fn tell(&self, ctx: SharedObjectContext<'_>, event: Json<Event>) -> HandlerResult<()> {
        let waiter = match &event.0 {
            Event::Message(_, waiter) => Some(waiter.clone()),
            _ => None,
        };
        let target = RequestTarget::object(&self.name, ctx.key(), "drive");
        let driven = ctx.request::<_, ()>(target, event).call().await;
        if driven.as_ref().is_err_and(was_killed) {
            if let Some(waiter) = waiter {
                reply(&ctx, waiter, Err(killed(ctx.key())));
            }
            self.telling(&ctx, ctx.key(), Event::Killed).send();
        }
        Ok(driven?)
    }

    /// Fails if a service is not registered. This is a separate invocation, because the server repeats an invocation that
    /// calls such a service, and it repeats this one only a few times.
    #[handler]
    async fn find(&self, ctx: SharedObjectContext<'_>, service: Json<String>) -> HandlerResult<()> {
        let target = RequestTarget::service(service.into_inner(), "ping");
        ctx.request::<_, ()>(target, Json(())).send();
        Ok(())
    }

    /// Handles an event: drives the run until it waits for others. Events come one by one.
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

    /// Waits for the result of a background call, and passes it to the conversation.
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
            // Either the call itself failed, or this invocation was cancelled.
            result: result.ok().map(Json::into_inner),
            invocation: Some(ctx.invocation_id().to_owned()),
        };
        self.telling(&ctx, ctx.key(), Event::News(news)).send();
        Ok(())
    }

    /// Asks the model for the next response of a run. This is a separate invocation, so that it can be cancelled at any
    /// time.
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

    /// Decides on a waiting call.
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
        // Only to tell the user at once. The invocation that drives the run checks the decision again.
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

    /// Cancels the work on a message. Does nothing if the conversation is idle.
    #[handler]
    async fn stop(&self, ctx: SharedObjectContext<'_>, _none: Json<()>) -> HandlerResult<()> {
        Ok(self.stop_turn(&ctx).await?)
    }

    /// Creates the conversation from the increments of its run in a journal. Returns `false` if it is there already.
    ///
    /// Every program that reaches the ingress can send a run. So a run with a call that is ready is rejected, because perhaps
    /// nobody allowed that call.
    #[handler]
    async fn import(
        &self,
        ctx: SharedObjectContext<'_>,
        increments: Json<Vec<Increment>>,
    ) -> HandlerResult<Json<bool>> {
        let Json(increments) = increments;
        if ctx.get::<u64>(PARTS).await?.is_some() {
            return Ok(Json(false));
        }
        let mut run = Run::replay(increments.clone()).map_err(refused)?;
        let key = ctx.key();
        let checking = ctx.run(move || async move {
            drop(self.agent.steps(&run).map_err(handler_error)?);
            run.resume(self.agent.dialect_of(&run), self.agent.registry())
                .map_err(refused)?;
            let problem = match run.next() {
                _ if run.id() != key => format!("is not the conversation {key:?}"),
                Step::Wait(_) | Step::Done(_) => return Ok(()),
                _ => "is in the middle of a turn; continue or cancel it where it is".to_owned(),
            };
            let problem = format!("the run {:?} {problem}", run.id());
            Err(TerminalError::new_with_code(409, problem).into())
        });
        checking.name("check").await?;
        let event = Event::Import(increments);
        self.telling(&ctx, ctx.key(), event).call().await?;
        Ok(Json(true))
    }

    /// Removes the conversation, and returns `true` if it was there. Stops its work.
    #[handler]
    async fn remove(
        &self,
        ctx: SharedObjectContext<'_>,
        removal: Json<Removal>,
    ) -> HandlerResult<Json<bool>> {
        let Some(Json(head)) = ctx.get::<Json<RunHead>>(HEAD).await? else {
            return Ok(Json(false));
        };
        match removal.into_inner() {
            Removal::Of(owner) if owner != head.owner => {
                return Err(not_the_owner(ctx.key()).into());
            }
            Removal::Before(time) if head.saved_ms >= time => return Ok(Json(false)),
            _ => {}
        }
        self.stop_turn(&ctx).await?;
        let target = RequestTarget::object(&self.name, ctx.key(), "clear");
        let clearing = ctx.request::<_, Json<bool>>(target, Json(head.owner));
        Ok(clearing.call().await?)
    }

    /// Forgets all of a conversation with this owner.
    #[handler]
    async fn clear(
        &self,
        ctx: ObjectContext<'_>,
        owner: Json<Option<String>>,
    ) -> HandlerResult<Json<bool>> {
        let Json(owner) = owner;
        let head = ctx.get::<Json<RunHead>>(HEAD).await?;
        if head.is_none_or(|Json(head)| head.owner != owner) {
            return Ok(Json(false));
        }
        let progress = ctx.get::<Json<Progress>>(PROGRESS).await?;
        let progress = progress.map(Json::into_inner).unwrap_or_default();
        for invocation in progress.background {
            ctx.invocation_handle(invocation).cancel();
        }
        // Messages that came after the stop.
        let waiting = progress.messages.into_iter().map(|(_, waiter)| waiter);
        for waiter in progress.waiter.into_iter().chain(waiting) {
            let problem = format!("the conversation {:?} was removed", ctx.key());
            reply(
                &ctx,
                waiter,
                Err(TerminalError::new_with_code(409, problem)),
            );
        }
        ctx.clear_all();
        Ok(Json(true))
    }

    /// Returns the saved parts of the run, starting at one of them.
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

/// Returns the time in milliseconds since the start of 1970.
fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

/// The error for another user.
fn not_the_owner(id: &str) -> TerminalError {
    let problem = format!("the conversation {id:?} is another user's");
    TerminalError::new_with_code(403, problem)
}

/// Returns `true` if an operator killed the invocation that failed so.
fn was_killed(error: &TerminalError) -> bool {
    error.code() == 409 && error.message() == "killed"
}

/// The error for the clients of an invocation that was killed.
fn killed(id: &str) -> TerminalError {
    let problem = format!(
        "an operator killed the invocation that drove the conversation {id:?}; send the next message to go on"
    );
    TerminalError::new(problem)
}

/// Replies to a message.
fn reply<'c>(ctx: &impl ContextClient<'c>, waiter: String, reply: Result<Reply, TerminalError>) {
    let signal = ctx.invocation_handle(waiter).signal(REPLY);
    match reply {
        Ok(reply) => signal.resolve(Json(reply)),
        Err(error) => signal.reject(error),
    }
}

impl Conversation {
    /// Returns a request that sends an event to a conversation.
    fn telling<'c>(
        &self,
        ctx: &impl ContextClient<'c>,
        id: &str,
        event: Event,
    ) -> Request<'c, Json<Event>> {
        let target = RequestTarget::object(&self.name, id, "tell");
        ctx.request(target, Json(event))
    }

    /// Cancels what a message has started. Does nothing if the conversation is at rest.
    async fn stop_turn(&self, ctx: &SharedObjectContext<'_>) -> Result<(), TerminalError> {
        let driver = ctx.get::<Json<Driver>>(DRIVER).await?;
        let Some(Json(Driver { invocation, turn })) = driver else {
            return Ok(());
        };
        ctx.invocation_handle(invocation).cancel();
        let stopping = self.telling(ctx, ctx.key(), Event::Stop(turn));
        stopping.call().await
    }

    /// Creates the run in a step, because the next attempt may have other settings. Also returns the time.
    async fn create(
        &self,
        ctx: &ObjectContext<'_>,
        message: &Message,
    ) -> Result<(Vec<Increment>, u64), TerminalError> {
        let (id, settings) = (ctx.key().to_owned(), self.settings);
        let (owner, meta) = (message.owner.clone(), message.meta.clone());
        let creating = ctx.run(move || async move {
            let mut run = Run::builder(id).settings(settings).meta(meta);
            if let Some(owner) = owner {
                run = run.owner(owner);
            }
            Ok(Json((run.build().unsaved().to_vec(), now_ms())))
        });
        Ok(creating.name("create").await?.into_inner())
    }

    /// Reads the saved run, handles an event, and saves the result.
    async fn hear(&self, ctx: &ObjectContext<'_>, event: Event) -> Result<(), TerminalError> {
        let (parts, mut saved) = saved!(ctx);
        match &event {
            Event::Import(_) if !saved.is_empty() => return Ok(()),
            Event::Message(..) | Event::Import(_) => {}
            // The conversation was removed in the meantime.
            _ if saved.is_empty() => return Ok(()),
            _ => {}
        }
        let listed = ctx.get::<Json<RunHead>>(HEAD).await?.map(Json::into_inner);
        let mut saved_ms = listed.as_ref().map_or(0, |head| head.saved_ms);
        let driver = ctx.get::<Json<Driver>>(DRIVER).await?;
        let mut turn = driver.map_or(0, |Json(driver)| driver.turn);
        let progress = ctx.get::<Json<Progress>>(PROGRESS).await?;
        let has_progress = progress.is_some();
        let mut unsaved = Vec::new();
        if let Event::Message(message, _) = &event
            && saved.is_empty()
        {
            (unsaved, saved_ms) = self.create(ctx, message).await?;
            saved.clone_from(&unsaved);
        }
        let is_imported = matches!(event, Event::Import(_));
        if let Event::Import(increments) = &event {
            unsaved.clone_from(increments);
            saved.clone_from(increments);
        }
        let mut state = State {
            run: Run::replay(saved).map_err(terminal)?,
            parts,
            unsaved,
            progress: progress.map(Json::into_inner).unwrap_or_default(),
            has_progress,
            saved_ms,
            listed,
        };
        let phase = state.progress.phase;
        let is_killed = matches!(event, Event::Killed);
        let is_stop = is_killed || matches!(event, Event::Stop(_));
        if let Event::Message(message, _) = &event
            && state.run.info().owner() != message.owner.as_deref()
        {
            return Err(not_the_owner(ctx.key()));
        }
        if state.progress.hear(event, &state.run, turn) {
            let message = (phase == Phase::Resting && !is_stop)
                .then(|| state.progress.messages.pop_front())
                .flatten();
            turn += u64::from(message.is_some());
            let invocation = ctx.invocation_id().to_owned();
            ctx.set(DRIVER, Json(Driver { invocation, turn }));
            let driving = if is_stop {
                let cancelled = self.cancel(ctx, &mut state).await;
                if is_killed {
                    cancelled.and(Err(Stop::Failed(killed(ctx.key()))))
                } else {
                    cancelled
                }
            } else if is_imported {
                self.take_over(ctx, &mut state).await
            } else {
                self.turn(ctx, &mut state, message).await
            };
            self.settle(ctx, &mut state, driving, turn);
        }
        if !state.unsaved.is_empty() {
            let reading = ctx.run(|| async { Ok(now_ms()) });
            state.saved_ms = reading.name("saved").await?;
        }
        state.save(ctx, self.hub.as_ref());
        state.keep(ctx);
        Ok(())
    }

    /// Replies to the message if the turn of the model is over. Sends the conversation its own next event, if any.
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
                // First come results that are already on their way.
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

    /// Drives the run until the turn of the model is over, or it waits for background calls or decisions. A message is
    /// added after the rest of an earlier one was handled.
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
                    // Checked before a message in another provider's format is added.
                    drop(self.agent.steps(&run).map_err(handler_error)?);
                    let message = self.agent.dialect_of(&run).user_message(&text);
                    run.push(message).map_err(terminal)?;
                });
                continue;
            }
            match state.run.next() {
                // Handles events that arrived while the model was asked.
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
                Step::Call(calls) => {
                    // What was allowed does not wait any longer.
                    state.list(ctx);
                    self.call(ctx, state, calls).await?;
                }
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

    /// Makes sure that each held call is denied after some time without a decision.
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

    /// Starts calls, and waits for the results of all foreground calls.
    async fn call(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
        calls: Vec<ToolCall>,
    ) -> Result<(), Stop> {
        let targets = self.start(ctx, state, &calls).await?;
        // Should an operator kill this invocation, the run says which calls may have had their effect.
        state.save(ctx, self.hub.as_ref());
        let mut lost = HashMap::new();
        for target in targets.iter().flatten().filter(|target| target.is_new) {
            if !lost.contains_key(&target.service) {
                let problem = self.find_service(ctx, &target.service).await?;
                lost.insert(target.service.clone(), problem);
            }
        }
        let mut running = DurableFuturesUnordered::new();
        let (mut foreground, mut background) = (Vec::new(), Vec::new());
        for (call, target) in calls.into_iter().zip(targets) {
            let Some(Target {
                service, version, ..
            }) = target
            else {
                continue;
            };
            if let Some(Some(problem)) = lost.get(&service) {
                let problem = format!("the tool {:?} did not run: {problem}", call.name);
                tracing::error!(run = state.run.id(), problem);
                state.progress.news.push(News::Result {
                    result: Some(ToolResult::failed(&call, problem)),
                    call,
                    invocation: None,
                });
                continue;
            }
            let sent = Sent {
                call: PortableCall::new(state.run.info(), &call),
                version,
            };
            if state.run.is_in_background(&call) {
                let target = RequestTarget::object(&self.name, ctx.key(), "background");
                let aside = Json(Aside { service, sent });
                // Nobody waits for it. It is cancelled with this invocation.
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
                // The call itself failed. An error of this invocation would return in the line above.
                result: result.ok().map(Json::into_inner),
                invocation: None,
            });
        }
        Ok(())
    }

    /// Continues a run that another program began.
    async fn take_over(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
    ) -> Result<Option<RunOutcome>, Stop> {
        step!(ctx, state, "resume", |run| {
            run.resume(self.agent.dialect_of(&run), self.agent.registry())
                .map_err(terminal)?;
        });
        self.turn(ctx, state, None).await
    }

    /// Looks whether a service is registered, and returns what to say if it is not.
    async fn find_service(
        &self,
        ctx: &ObjectContext<'_>,
        service: &str,
    ) -> Result<Option<String>, Stop> {
        let target = RequestTarget::object(&self.name, ctx.key(), "find");
        let finding = ctx.request::<_, ()>(target, Json(service.to_owned()));
        let unknown = format!("{service}/ping was not found");
        match finding.call().await.map_err(Stop::from) {
            Ok(()) => {}
            // What the server says of the last try.
            Err(Stop::Failed(error)) if error.message().contains(&unknown) => {
                let problem = format!("its service {service:?} is not registered");
                return Ok(Some(problem));
            }
            // The agents were away. The call is tried again until they are back.
            Err(Stop::Failed(_)) => return Ok(None),
            Err(cancelled) => return Err(cancelled),
        }
        lock(&self.found).insert(service.to_owned());
        Ok(None)
    }

    /// Marks calls as started, and returns their services.
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
                runs.then(|| {
                    let version = version_of(self.agent.registry(), call);
                    // A tool that is gone here does not run elsewhere, though a worker may still have it.
                    let routed = version.as_ref().and_then(|_| (self.route)(&call.name));
                    let is_found = |service| lock(&self.found).contains(service);
                    Target {
                        is_new: routed.as_ref().is_some_and(|service| !is_found(service)),
                        service: routed.unwrap_or_else(|| self.tools.clone()),
                        version,
                    }
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

    /// Adds the news to the run, in one step.
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

    /// Adds the news to a copy of the run.
    async fn add(&self, run: &mut Run, news: Vec<News>) -> Result<(), HandlerError> {
        let steps = self.agent.steps(run).map_err(handler_error)?;
        for news in news {
            match news {
                News::Result { call, result, .. } => {
                    let result = result.map(|result| result.for_call(&call));
                    let result = result.unwrap_or_else(|| interrupted(&call));
                    match steps.finish(run, result) {
                        // The call was cancelled meanwhile.
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
                    // A decision that is not allowed or too late changes nothing.
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

    /// Adds the news, and then ends everything that runs or waits. This is a step, because results of cancelled calls
    /// contain random references.
    async fn cancel(
        &self,
        ctx: &ObjectContext<'_>,
        state: &mut State,
    ) -> Result<Option<RunOutcome>, Stop> {
        // Calls that were cancelled with the driving invocation have no result.
        let news = state.progress.news.iter();
        let news = news.filter(|news| !matches!(news, News::Result { result: None, .. }));
        let news: Vec<_> = news.cloned().collect();
        step!(ctx, state, "cancel", |run| {
            self.add(&mut run, news).await?;
            let (dialect, registry) = (self.agent.dialect_of(&run), self.agent.registry());
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
