//! Conversations that go on while their users come and go. In a chat service, they sit between the routes and an
//! [`Agent`].

mod inbox;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::future::{Either, select};
use futures_util::{Stream, StreamExt, stream};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{OwnedMutexGuard, broadcast, oneshot, watch};
use tool_core::call::CancellationToken;
use tool_core::dialect::{Unanswered, Usage};
use tool_core::hooks::Decision;

use crate::guarded::finished;
use crate::run::{DecideError, JournalError, Page, Run, RunInfo, RunOutcome, RunState, Step};
use crate::transcript::{Change, Entry, Transcript};
use crate::{Agent, AgentError, BackgroundCalls, Event};

/// Maximum number of updates that a follower may be behind. One that is further behind gets everything again.
const LATE: usize = 256;

/// Maximum number of interrupted conversations that continue at once.
const RESUMED_AT_ONCE: usize = 8;

/// Number of interrupted conversations that are read at once.
const RESUMED_PAGE: usize = 256;

/// The conversations of a service, driven in tasks of tokio. They are an [`Inbox`](tool_core::hooks::Inbox) of the calls that
/// wait for a decision. The id of a call in it is its [fingerprint](crate::run::Pending::fingerprint), a space and the id of
/// its run.
///
/// The agent's [journal](Agent::journal) keeps them. A conversation is in memory only while somebody follows or drives
/// it. Your application decides who may open a conversation, by its [owner](RunInfo::owner). The agent's
/// [policy](Agent::may_decide) rules who may decide on calls. Only one process at a time may drive a conversation. If another
/// process continued it, the error is [`JournalError::Conflict`], and the conversation is loaded again.
///
/// Calls in the background continue while a conversation rests, and keep it in memory. When one ends, the conversation
/// continues with its result.
///
/// ```
/// use futures_util::StreamExt;
/// use tool_agent::conversations::Conversations;
/// use tool_agent::run::{MemoryJournal, Run, RunInfo};
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::Agent;
/// use tool_agent::dialects::OpenAiChat;
/// use tool_core::{Registry, ToolCall};
///
/// let model = ScriptedModel::default().say("Hello!");
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model)
///     .journal(MemoryJournal::default())
///     .contexts(|_: RunInfo, call| async move { Ok::<ToolCall, _>(call) });
/// let conversations = Conversations::new(agent)?;
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let conversation = conversations.create(Run::builder("run-1").owner("user-7").build()).await?;
/// // Shows the conversation on a page, by server-sent events.
/// let mut updates = conversation.follow();
/// conversation.reply("Hello?").await?;
/// let mut entries = Vec::new();
/// while let Some(update) = updates.next().await {
///     update.apply(&mut entries);
///     if entries.len() == 2 && update.status().is_some_and(|status| !status.is_busy) {
///         break;
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias("chat service", "session"))]
#[derive(Clone)]
pub struct Conversations(Arc<Shared>);

struct Shared {
    agent: Agent,
    /// The conversations that are being followed, driven or loaded.
    open: Mutex<HashMap<String, Slot>>,
    /// Counts changes to the lists of the journal.
    changes: watch::Sender<u64>,
}

/// A conversation that may be open. It is locked while it is loaded or created, so that this happens only once.
type Slot = Arc<tokio::sync::Mutex<Weak<Inner>>>;

/// An open conversation. Clones share it.
///
/// ```
/// use tool_agent::conversations::{ConversationError, Conversations};
/// use tool_agent::run::Run;
///
/// /// A route for a message of a user.
/// async fn post(conversations: &Conversations, text: String) -> Result<(), ConversationError> {
///     let run = Run::builder("conversation-1").owner("user-7").build();
///     let conversation = conversations.create(run).await?;
///     // Returns at once. Pages that follow the conversation get the answer.
///     conversation.reply(text).await
/// }
/// ```
#[derive(Clone)]
pub struct Conversation {
    inner: Arc<Inner>,
    shared: Arc<Shared>,
}

struct Inner {
    info: RunInfo,
    /// Locked while the agent drives the run.
    run: Arc<tokio::sync::Mutex<Run>>,
    shown: Mutex<(Transcript, Status)>,
    updates: broadcast::Sender<Arc<Update>>,
    /// Stops the agent.
    stop: Mutex<CancellationToken>,
    /// The calls that continue while the conversation rests.
    background: BackgroundCalls,
    /// Ends the task that waits for background calls.
    rest: Mutex<CancellationToken>,
}

/// A change to a conversation, for its [followers](Conversation::follow). In JSON it has the `type` `all`, `status`, or
/// one of a [`Change`].
///
/// ```
/// use serde_json::json;
/// use tool_agent::conversations::Update;
/// use tool_agent::transcript::Change;
///
/// let progress = Some("half done".to_owned());
/// let update = Update::Change(Change::Progress { key: "call-0-0".into(), progress });
/// let sent = json!({"type": "progress", "key": "call-0-0", "progress": "half done"});
/// assert_eq!(json!(update), sent);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Update {
    /// The whole conversation, in place of everything before.
    All {
        /// The entries, in order.
        entries: Vec<Entry>,
        /// The overall state of the conversation.
        status: Status,
    },
    /// The overall state. All changes to the entries before it were sent.
    Status {
        /// The overall state of the conversation.
        status: Status,
    },
    /// A change to the entries.
    #[serde(untagged)]
    Change(Change),
}

/// The overall state of a conversation.
///
/// ```
/// use tool_agent::conversations::Status;
///
/// fn footer(status: &Status) -> &str {
///     match &status.problem {
///         _ if status.is_busy => "writing …",
///         Some(problem) => problem,
///         None => "",
///     }
/// }
///
/// assert_eq!(footer(&Status::default()), "");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// `true` while the agent drives the conversation.
    pub is_busy: bool,
    /// `true` if the last request has no response. [`Conversation::retry`] repeats it.
    pub can_retry: bool,
    /// The reason why the model has not answered, as a sentence for the user. The log has the cause of an error
    /// under the reference in the sentence; see [`AgentError::publish`].
    pub problem: Option<String>,
    /// The tokens of the responses since the last message of the user. `None` while the agent drives the conversation, and
    /// if the provider does not report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// An error of an operation on a conversation.
///
/// ```
/// use tool_agent::conversations::ConversationError;
///
/// /// Returns the parts of an HTTP response.
/// fn response(error: &ConversationError) -> (u16, String) {
///     (error.status(), error.publish())
/// }
///
/// assert_eq!(response(&ConversationError::Busy).0, 409);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ConversationError {
    /// The agent is driving the conversation.
    Busy,
    /// Calls wait for decisions.
    Waiting,
    /// The last response contains an [unanswered](RunOutcome::Unanswered) request. [`answer`](Conversation::answer)
    /// answers it, [`stop`](Conversation::stop) gives it up.
    Unanswered,
    /// The agent has no [journal](Agent::journal), so a conversation would be lost once nobody follows it.
    NoJournal,
    /// The agent failed.
    Agent(AgentError),
}

impl Conversations {
    /// Creates the conversations of an agent.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::NoJournal`] if the agent has no [journal](Agent::journal).
    pub fn new(agent: Agent) -> Result<Conversations, ConversationError> {
        if !agent.has_journal() {
            return Err(ConversationError::NoJournal);
        }
        // Conversations usually belong to several users.
        agent.warn_without_owners(true);
        Ok(Conversations(Arc::new(Shared {
            agent,
            open: Mutex::default(),
            changes: watch::Sender::new(0),
        })))
    }

    /// Returns a stream with an item at once, and one after each change to the lists of conversations and of waiting
    /// calls. Several quick changes may be one item.
    pub fn changes(&self) -> impl Stream<Item = ()> + Send + Unpin + use<> {
        let mut changes = self.0.changes.subscribe();
        changes.mark_changed();
        stream::unfold(changes, async |mut changes| {
            changes.changed().await.ok()?;
            Some(((), changes))
        })
        .boxed()
    }

    /// Saves a new run, and opens it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Agent::save`]. If a run with this id exists, that is a conflict.
    pub async fn create(&self, mut run: Run) -> Result<Conversation, ConversationError> {
        let slot = self.slot(run.id());
        let mut slot = slot.lock().await;
        self.0.agent.save(&mut run).await?;
        self.0.changed();
        Ok(self.open_run(&mut slot, run))
    }

    /// Opens a conversation without checking its owner. If it was interrupted, such as by a crash, it continues.
    /// Returns `None` if the journal does not contain it. The journal must not wait for the conversation that it is
    /// loading.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Agent::load`].
    pub async fn open(&self, id: &str) -> Result<Option<Conversation>, ConversationError> {
        self.open_if(id, |_| true).await
    }

    /// Opens a conversation like [`open`](Conversations::open) if this user [owns](RunInfo::owner) it. Otherwise
    /// returns `None`, and nothing continues.
    ///
    /// ```
    /// use tool_agent::conversations::{ConversationError, Conversations, Status};
    ///
    /// /// The route of a page, where `user` has signed in and `id` comes from the address.
    /// async fn page(all: &Conversations, user: &str, id: &str) -> Result<Option<String>, ConversationError> {
    ///     let conversation = all.open_as(user, id).await?;
    ///     Ok(conversation.map(|conversation| format!("{:?}", conversation.transcript())))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Agent::load`].
    pub async fn open_as(
        &self,
        user: &str,
        id: &str,
    ) -> Result<Option<Conversation>, ConversationError> {
        let user = user.trim();
        let is_owner = |run: &RunInfo| !user.is_empty() && run.owner().map(str::trim) == Some(user);
        self.open_if(id, is_owner).await
    }

    /// Continues the conversations that were [interrupted](crate::run::Journal::unfinished), such as by a crash or a
    /// deployment. Call it when the service starts. At most eight of them run at a time, and the future completes when all
    /// rest, so spawn it. Returns the conversations that can't be opened, with the reasons.
    ///
    /// Only one process at a time may drive a conversation. With several processes, one of them should resume all.
    ///
    /// ```
    /// use tool_agent::conversations::{ConversationError, Conversations};
    ///
    /// async fn start(conversations: Conversations) -> Result<(), ConversationError> {
    ///     for (id, error) in conversations.resume_all().await? {
    ///         eprintln!("the conversation {id} does not continue: {error}");
    ///     }
    ///     Ok(())
    /// }
    /// # let _ = start;
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the error of the journal if it can't list the conversations.
    pub async fn resume_all(&self) -> Result<Vec<(String, ConversationError)>, ConversationError> {
        let mut ids = Vec::new();
        let mut page = Page::new(RESUMED_PAGE);
        loop {
            let heads = self.0.agent.in_state(RunState::Unfinished, page).await?;
            let Some(last) = heads.last() else { break };
            page = Page::new(RESUMED_PAGE).after(last);
            ids.extend(heads.into_iter().map(|head| head.id));
        }
        let resumed = stream::iter(ids).map(|id| async move {
            match self.open(&id).await {
                Ok(conversation) => {
                    if let Some(conversation) = conversation {
                        conversation.rested().await;
                    }
                    None
                }
                Err(error) => Some((id, error)),
            }
        });
        let failed = resumed.buffer_unordered(RESUMED_AT_ONCE);
        Ok(failed.filter_map(std::future::ready).collect().await)
    }

    async fn open_if(
        &self,
        id: &str,
        is_allowed: impl Fn(&RunInfo) -> bool,
    ) -> Result<Option<Conversation>, ConversationError> {
        let slot = self.slot(id);
        let mut slot = slot.lock().await;
        if let Some(inner) = slot.upgrade() {
            let shared = Arc::clone(&self.0);
            let opened = Conversation { inner, shared };
            return Ok(Some(opened).filter(|opened| is_allowed(opened.info())));
        }
        let run = self.0.agent.load(id).await?;
        let Some(run) = run.filter(|run| is_allowed(run.info())) else {
            return Ok(None);
        };
        let conversation = self.open_run(&mut slot, run);
        conversation.retry()?;
        Ok(Some(conversation))
    }

    /// Returns the slot of a conversation. Also removes slots whose conversations are closed.
    fn slot(&self, id: &str) -> Slot {
        let mut open = lock(&self.0.open);
        if let Some(slot) = open.get(id) {
            return Arc::clone(slot);
        }
        // A slot with other references is in use.
        let is_open = |slot: &mut Slot| {
            Arc::get_mut(slot).is_none_or(|inner| inner.get_mut().strong_count() > 0)
        };
        open.retain(|_, slot| is_open(slot));
        Arc::clone(open.entry(id.to_owned()).or_default())
    }

    fn open_run(&self, slot: &mut Weak<Inner>, run: Run) -> Conversation {
        let transcript = Transcript::new(self.0.agent.registry(), &run);
        let inner = Arc::new(Inner {
            info: run.info().clone(),
            shown: Mutex::new((transcript, Status::of(&run, None))),
            run: Arc::new(tokio::sync::Mutex::new(run)),
            updates: broadcast::Sender::new(LATE),
            stop: Mutex::default(),
            background: BackgroundCalls::new(),
            rest: Mutex::default(),
        });
        *slot = Arc::downgrade(&inner);
        let shared = Arc::clone(&self.0);
        Conversation { inner, shared }
    }
}

impl Conversation {
    /// Returns the conversation's id, owner and data.
    pub fn info(&self) -> &RunInfo {
        &self.inner.info
    }

    /// Returns the conversation as a person sees it now.
    pub fn transcript(&self) -> Transcript {
        lock(&self.inner.shown).0.clone()
    }

    /// Returns the overall state of the conversation.
    ///
    /// ```
    /// use tool_agent::conversations::Conversation;
    ///
    /// fn title(conversation: &Conversation) -> &str {
    ///     if conversation.status().is_busy { "writing …" } else { "" }
    /// }
    /// ```
    pub fn status(&self) -> Status {
        lock(&self.inner.shown).1.clone()
    }

    /// Returns a stream with the whole conversation, followed by each change. The stream keeps the conversation open.
    pub fn follow(&self) -> impl Stream<Item = Arc<Update>> + Send + Unpin + use<> {
        let shown = lock(&self.inner.shown);
        let updates = self.inner.updates.subscribe();
        let first = Arc::new(all(&shown));
        drop(shown);
        let inner = Arc::clone(&self.inner);
        let later = stream::unfold((updates, inner), async |(mut updates, inner)| {
            let update = match updates.recv().await {
                Ok(update) => update,
                Err(broadcast::error::RecvError::Closed) => return None,
                Err(broadcast::error::RecvError::Lagged(_)) => {
                    let shown = lock(&inner.shown);
                    updates = inner.updates.subscribe();
                    Arc::new(all(&shown))
                }
            };
            Some((update, (updates, inner)))
        });
        stream::iter([first]).chain(later).boxed()
    }

    /// Adds a message of the user like [`Agent::reply`], and returns once it is saved. The conversation continues even
    /// if the future is dropped.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Busy`], [`ConversationError::Waiting`] or [`ConversationError::Unanswered`] if
    /// something else has to happen first. The message is not saved then.
    pub async fn reply(&self, text: impl Into<String>) -> Result<(), ConversationError> {
        let run = self.idle()?;
        if run.has_held_response() {
            return Err(ConversationError::Waiting);
        }
        let is_asked = !run.unanswered().is_empty();
        match self.drive(run, Some(text.into())).await {
            Ok(saved) => Ok(saved?),
            Err(_) if is_asked => Err(ConversationError::Unanswered),
            // The runtime is shutting down, or earlier calls wait for decisions.
            Err(_) => Err(ConversationError::Waiting),
        }
    }

    /// Decides on a pending call in the name of a user like [`Agent::decide`]. The conversation then continues with the
    /// rights of its owner. Waits while other calls are running.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Agent::decide`].
    pub async fn decide(
        &self,
        fingerprint: &str,
        decision: Decision,
        user: &str,
    ) -> Result<(), ConversationError> {
        let decisions = vec![(fingerprint.to_owned(), decision)];
        let decided = self.decide_all(decisions, user).await.pop();
        decided.map_or(Err(ConversationError::Busy), |(_, decided)| decided)
    }

    /// Decides on several pending calls, by their fingerprints, before the conversation continues. So the allowed calls run at
    /// the same time. Returns the result of each decision after its fingerprint, or nothing if the runtime is shutting down.
    pub(crate) async fn decide_all(
        &self,
        decisions: Vec<(String, Decision)>,
        user: &str,
    ) -> Vec<(String, Result<(), ConversationError>)> {
        // Nothing to wait for.
        if decisions.is_empty() {
            return Vec::new();
        }
        let (own, user) = (self.clone(), user.to_owned());
        let deciding = async move {
            let mut run = Arc::clone(&own.inner.run).lock_owned().await;
            let agent = &own.shared.agent;
            let mut all = Vec::new();
            for (fingerprint, decision) in decisions {
                let deciding = agent.decide(&mut run, &fingerprint, decision, &*user);
                let decided = caught(deciding).await;
                let decided = own.shared.mend(&mut run, decided).await;
                all.push((fingerprint, decided.map_err(ConversationError::from)));
            }
            if all.iter().any(|(_, decided)| decided.is_ok()) {
                drop(own.drive(run, None));
            }
            all
        };
        // Spawned, so that the calls run even if this future is dropped after a decision.
        let decided = tokio::spawn(in_this_span(deciding)).await;
        decided.unwrap_or_default()
    }

    /// Returns the requests of the last response that are not calls and still have no answer; see
    /// [`RunOutcome::Unanswered`].
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Busy`] while the agent drives the conversation.
    pub fn unanswered(&self) -> Result<Vec<Unanswered>, ConversationError> {
        Ok(self.idle()?.unanswered().to_vec())
    }

    /// Answers [unanswered](Conversation::unanswered) requests in the provider's form, like [`Run::answer`]. Returns
    /// when the answers are saved. The conversation continues even if the future is dropped.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::conversations::{Conversation, ConversationError};
    ///
    /// /// Tells an OpenAI model that this program runs no commands.
    /// async fn refuse(conversation: &Conversation) -> Result<(), ConversationError> {
    ///     let asked = conversation.unanswered()?;
    ///     let outcome = json!({"type": "exit", "exit_code": 1});
    ///     let answers = asked.iter().map(|asked| {
    ///         json!({"type": "shell_call_output", "call_id": asked.id, "output": [
    ///             {"stdout": "", "stderr": "no shell", "outcome": outcome},
    ///         ]})
    ///     });
    ///     conversation.answer(answers).await
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Busy`] while the agent drives the conversation, and the errors of [`Run::answer`]
    /// and [`Agent::save`]. If the journal fails, the answers are kept, and [`retry`](Conversation::retry) continues
    /// with them.
    pub async fn answer(
        &self,
        answers: impl IntoIterator<Item = Value>,
    ) -> Result<(), ConversationError> {
        let mut run = self.idle()?;
        run.answer(answers).map_err(AgentError::from)?;
        let own = self.clone();
        let answering = async move {
            let agent = &own.shared.agent;
            let saved = caught(agent.save(&mut run)).await;
            if let Err(error) = own.shared.mend(&mut run, saved).await {
                let status = Status::of(&run, Some(error.publish()));
                own.show(run, status);
                return Err(error.into());
            }
            drop(own.drive(run, None));
            Ok(())
        };
        let answered = tokio::spawn(in_this_span(answering)).await;
        answered.unwrap_or(Err(ConversationError::Busy))
    }

    /// Continues after an error. Does nothing if the conversation is complete.
    ///
    /// # Errors
    ///
    /// Returns [`ConversationError::Busy`] while the agent drives the conversation.
    pub fn retry(&self) -> Result<(), ConversationError> {
        let run = self.idle()?;
        // Background calls that this process does not have were interrupted.
        let is_interrupted =
            matches!(run.next(), Step::Running) && self.inner.background.is_empty();
        if is_interrupted || Status::of(&run, None).can_retry {
            drop(self.drive(run, None));
        }
        Ok(())
    }

    /// Stops the agent. Cancels calls that wait for decisions, and gives up [unanswered](RunOutcome::Unanswered)
    /// requests.
    ///
    /// # Errors
    ///
    /// Returns errors of the journal.
    pub async fn stop(&self) -> Result<(), ConversationError> {
        lock(&self.inner.stop).cancel();
        let Ok(mut run) = self.idle() else {
            return Ok(());
        };
        let agent = &self.shared.agent;
        let dialect = agent.dialect_of(&run);
        run.cancel(dialect).map_err(AgentError::from)?;
        let saved = agent.save(&mut run).await;
        let saved = self.shared.mend(&mut run, saved).await;
        let status = Status::of(&run, None);
        self.show(run, status);
        self.shared.changed();
        self.inner.background.cancel();
        Ok(saved?)
    }

    /// Waits until nothing drives the conversation.
    pub(crate) async fn rested(&self) {
        drop(self.inner.run.lock().await);
    }

    /// Returns the run, unless the agent is driving it.
    fn idle(&self) -> Result<OwnedMutexGuard<Run>, ConversationError> {
        let run = Arc::clone(&self.inner.run).try_lock_owned();
        run.map_err(|_| ConversationError::Busy)
    }

    /// Adds a message, if any, and drives the run until it is done or waits. The receiver gets a value once the message
    /// is saved, or an error.
    fn drive(
        &self,
        mut run: OwnedMutexGuard<Run>,
        text: Option<String>,
    ) -> oneshot::Receiver<Result<(), AgentError>> {
        let own = self.clone();
        let stop = CancellationToken::new();
        lock(&self.inner.stop).clone_from(&stop);
        let rest = CancellationToken::new();
        std::mem::replace(&mut *lock(&self.inner.rest), rest.clone()).cancel();
        let busy = Status {
            is_busy: true,
            ..Status::default()
        };
        self.show(&*run, busy);
        self.shared.changed();
        let (saved, is_saved) = oneshot::channel();
        let driving = async move {
            let mut saved = text.is_some().then_some(saved);
            let agent = own.shared.agent.clone().cancel_with(&stop);
            let agent = agent.leave_background(&own.inner.background);
            let ended = caught(async {
                let mut events = match &text {
                    Some(text) => agent.reply_events(&mut run, text),
                    None => agent.events(&mut run),
                };
                while let Some(event) = events.next().await {
                    let event = event?;
                    // A follower that comes after `reply` has the message.
                    own.apply(&event);
                    if matches!(event, Event::Message(_)) {
                        // Fails if nobody is waiting for it.
                        saved.take().map(|saved| saved.send(Ok(())));
                    }
                }
                Ok(())
            })
            .await;
            let ended = own.shared.mend(&mut run, ended).await;
            let problem = ended.as_ref().err().map(AgentError::publish);
            let has_ended = ended.is_ok();
            let status = Status::of(&run, problem);
            own.show(run, status);
            own.shared.changed();
            if let (Some(saved), Err(error)) = (saved, ended) {
                let _ = saved.send(Err(error));
            }
            // After an error with a result left, the same error would follow at once.
            if has_ended || !own.inner.background.has_ended() {
                own.rest(&rest).await;
            }
        };
        tokio::spawn(in_this_span(driving));
        is_saved
    }

    /// Waits for a background call, if any, and drives the run with its result.
    async fn rest(&self, rest: &CancellationToken) {
        let ended = async {
            self.inner.background.ended().await?;
            Some(Arc::clone(&self.inner.run).lock_owned().await)
        };
        // If this is cancelled, another task drives the run and has its calls.
        if let Either::Left((Some(run), _)) = select(pin!(ended), pin!(rest.cancelled())).await {
            drop(self.drive(run, None));
        }
    }

    fn apply(&self, event: &Event) {
        let mut shown = lock(&self.inner.shown);
        if let Some(change) = shown.0.apply(event) {
            // Fails if there are no followers.
            let _ = self.inner.updates.send(Arc::new(Update::Change(change)));
        }
    }

    /// Shows the run as it is, because no event tells of undone changes. A guard is released first, so that whoever hears
    /// of the end can reply at once.
    fn show(&self, run: impl Deref<Target = Run>, status: Status) {
        let mut shown = lock(&self.inner.shown);
        let transcript = Transcript::new(self.shared.agent.registry(), &run);
        drop(run);
        let old = std::mem::replace(&mut *shown, (transcript, status));
        let send = |update| drop(self.inner.updates.send(Arc::new(update)));
        let (before, after) = (old.0.entries(), shown.0.entries());
        let mut pairs = before.iter().zip(after);
        if before.len() > after.len() || !pairs.all(|(old, new)| old.key == new.key) {
            return send(all(&shown));
        }
        for (index, entry) in after.iter().enumerate() {
            if before.get(index) != Some(entry) {
                let entry = entry.clone();
                send(Update::Change(Change::Entry { entry }));
            }
        }
        let status = shown.1.clone();
        send(Update::Status { status });
    }
}

impl Shared {
    fn changed(&self) {
        self.changes
            .send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Loads the run again if another program continued it. After other errors, the run can continue as it is.
    async fn mend(&self, run: &mut Run, ended: Result<(), AgentError>) -> Result<(), AgentError> {
        if let Err(AgentError::Journal(JournalError::Conflict(_))) = ended
            && let Some(loaded) = self.agent.load(run.id()).await?
        {
            *run = loaded;
        }
        ended
    }
}

impl Update {
    /// Makes the change to the entries of a follower.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use futures_util::{Stream, StreamExt};
    /// use tool_agent::conversations::Update;
    ///
    /// /// Draws a conversation each time it changes.
    /// async fn draw(mut updates: impl Stream<Item = Arc<Update>> + Unpin) {
    ///     let mut entries = Vec::new();
    ///     while let Some(update) = updates.next().await {
    ///         update.apply(&mut entries);
    ///         println!("{entries:?}");
    ///     }
    /// }
    /// ```
    pub fn apply(&self, entries: &mut Vec<Entry>) {
        match self {
            Update::All { entries: all, .. } => entries.clone_from(all),
            Update::Status { .. } => {}
            Update::Change(change) => change.apply(entries),
        }
    }

    /// Returns the overall state of the conversation, if it is in this update.
    pub fn status(&self) -> Option<&Status> {
        match self {
            Update::All { status, .. } | Update::Status { status } => Some(status),
            Update::Change(_) => None,
        }
    }
}

impl Status {
    fn of(run: &Run, problem: Option<String>) -> Status {
        let next = run.next();
        let ended = match &next {
            Step::Done(RunOutcome::Answered(_) | RunOutcome::Ended(_)) => None,
            Step::Done(outcome) => Some(crate::Unfinished::describe(outcome)),
            _ => None,
        };
        let can_retry = match next {
            Step::Request(messages) => !messages.is_empty(),
            // At the end of a turn, only background calls are running.
            Step::Running => run.outcome().is_none(),
            Step::Call(_) => true,
            _ => false,
        };
        Status {
            is_busy: false,
            can_retry,
            problem: problem.or(ended),
            usage: run.usage_of_turn(),
        }
    }
}

impl fmt::Debug for Conversations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversations")
            .field("agent", &self.0.agent)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation")
            .field("info", &self.inner.info)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for ConversationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConversationError::Busy => f.write_str("the conversation goes on; wait until it rests"),
            ConversationError::Waiting => {
                f.write_str("calls wait for decisions; decide on them first")
            }
            ConversationError::Unanswered => f.write_str(
                "the last response asks for something that has no answer; answer it, or stop the conversation to give it up",
            ),
            ConversationError::NoJournal => f.write_str(
                "the agent of conversations has no journal, which keeps them; add one by `Agent::journal`",
            ),
            ConversationError::Agent(error) => error.fmt(f),
        }
    }
}

impl ConversationError {
    /// Returns a status for an HTTP response: 409 if something else has to happen first, 403 or 422 if a decision is
    /// not allowed or does not fit the call, 500 for other errors.
    ///
    /// ```
    /// use tool_agent::conversations::ConversationError;
    ///
    /// assert_eq!(ConversationError::Waiting.status(), 409);
    /// ```
    pub fn status(&self) -> u16 {
        match self {
            ConversationError::Busy
            | ConversationError::Waiting
            | ConversationError::Unanswered
            | ConversationError::Agent(AgentError::Journal(JournalError::Conflict(_))) => 409,
            ConversationError::Agent(AgentError::Decide(error)) => match error {
                DecideError::Denied(_) => 403,
                DecideError::Invalid(_) | DecideError::Hosted(_) => 422,
                _ => 409,
            },
            ConversationError::NoJournal | ConversationError::Agent(_) => 500,
        }
    }

    /// Returns a sentence for the user, like [`AgentError::publish`].
    ///
    /// ```
    /// use tool_agent::conversations::ConversationError;
    ///
    /// assert_eq!(ConversationError::Busy.publish(), "the conversation goes on; wait until it rests");
    /// ```
    pub fn publish(&self) -> String {
        match self {
            ConversationError::Agent(error) => error.publish(),
            own => own.to_string(),
        }
    }
}

impl Error for ConversationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ConversationError::Agent(error) => error.source(),
            ConversationError::Busy
            | ConversationError::Waiting
            | ConversationError::Unanswered
            | ConversationError::NoJournal => None,
        }
    }
}

impl From<AgentError> for ConversationError {
    fn from(error: AgentError) -> ConversationError {
        ConversationError::Agent(error)
    }
}

fn all((transcript, status): &(Transcript, Status)) -> Update {
    Update::All {
        entries: transcript.entries().to_vec(),
        status: status.clone(),
    }
}

/// Waits for the agent. A panic becomes an error, so that the waiting task can still show the end.
async fn caught(
    doing: impl Future<Output = Result<(), AgentError>> + Send,
) -> Result<(), AgentError> {
    let done = finished("the agent", Box::pin(doing)).await;
    done.unwrap_or_else(|panic| Err(AgentError::of_panic(panic)))
}

/// Keeps the span of the request that started this.
pub(crate) fn in_this_span<T>(running: impl Future<Output = T>) -> impl Future<Output = T> {
    #[cfg(feature = "tracing")]
    let running = tracing::Instrument::in_current_span(running);
    running
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
