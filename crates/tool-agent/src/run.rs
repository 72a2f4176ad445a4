//! A run as a value. It is a conversation with a model that you can save after every step and continue later, in
//! another process.
//!
//! A [`Run`] is a state machine that does no I/O. [`next`](Run::next) returns the next step, and your program reports
//! the result:
//!
//! - [`Request`](Step::Request): ask the model, then [`respond`](Run::respond).
//! - [`Call`](Step::Call): mark the calls as [started](Run::start), run them, and [`finish`](Run::finish) each.
//! - [`Running`](Step::Running): wait for a call that you started, and [`finish`](Run::finish) it.
//! - [`Wait`](Step::Wait): ask a person and [`decide`](Run::decide), or stop.
//! - [`Done`](Step::Done): show the answer. Continue the conversation with [`push`](Run::push), or answer an
//!   [unanswered](RunOutcome::Unanswered) request with [`answer`](Run::answer).
//!
//! ```text
//!   push ─► Request ─────────── respond ──────────► has calls? ──no──► Done: Answered
//!              ▲                                        │ yes           │ push
//!              │                                        ▼               ▼
//!              │                           ┌───────►  Call           Request
//!              │                           │            │ start
//!              │                           │            ▼
//!              │                     decide│          Running ── finish: held ──► Wait
//!              │                           │            │ finish                  │
//!              │                           └────────────┼─────────────────────────┘
//!              └──────── all have results ──────────────┘
//! ```
//!
//! A limit, a cancellation or a tool with `ends_run` leads to `Done` instead of the next `Request`.
//!
//! You can [acknowledge](Run::acknowledge) calls of tools with `background` and finish them later, at any step; see the
//! [guide](crate::guide::background). Otherwise they are like all other calls.
//!
//! [`Agent`](crate::Agent) does all of this. Write the loop yourself if you need control over every step:
//!
//! ```
//! use serde_json::json;
//! use tool_agent::run::{Run, RunOutcome, Step};
//! use tool_agent::dialects::OpenAiChat;
//! use tool_core::dialect::Dialect;
//! use tool_core::{Registry, tool, tools};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # let mut responses = vec![
//! #     json!({"choices": [{"message": {"role": "assistant", "content": "It is 5."}}]}),
//! #     json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
//! #         {"id": "call_1", "type": "function",
//! #          "function": {"name": "add", "arguments": "{\"a\":2,\"b\":3}"}},
//! #     ]}}]}),
//! # ];
//! # let mut send = |_request| responses.pop().unwrap();
//! let registry = Registry::builder().tools(tools![add]).build()?;
//! let dialect = OpenAiChat::default();
//! let mut run = Run::new("conversation-1");
//! run.push(dialect.user_message("What is 2 + 3?"))?;
//! let outcome = loop {
//!     match run.next() {
//!         Step::Request(messages) => {
//!             let tools = registry.render(&dialect);
//!             // By your HTTP client.
//!             let response = send(json!({"model": "…", "messages": messages, "tools": tools}));
//!             run.respond(&dialect, &registry, dialect.read(&response)?)?;
//!         }
//!         Step::Call(calls) => {
//!             run.start(&calls)?;
//!             for call in calls {
//!                 run.finish(&dialect, registry.call_blocking(call))?;
//!             }
//!         }
//!         Step::Done(outcome) => break outcome,
//!         Step::Wait(_) | Step::Running => unreachable!("no call is held"),
//!     }
//! };
//! assert_eq!(outcome, RunOutcome::Answered("It is 5.".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Saving
//!
//! A run is `Serialize` and `Deserialize`. Saving it as a whole after every step gets more expensive with every round.
//! So each change is also an [`Increment`]: append the [unsaved](Run::unsaved) increments to a [`Journal`], [mark them
//! as saved](Run::mark_saved) once that succeeds, and rebuild the run with [`Run::replay`]. On one machine, use
//! `SqliteJournal` (feature `sqlite`); [`FileJournal`] is a journal without a database. To survive a crash at any
//! point, save the increments of [`start`](Run::start) before the calls run, and the increments of
//! [`finish`](Run::finish) before the next step.
//!
//! # Whose run it is
//!
//! If your program has several users, give each run an [owner](RunBuilder::owner). The owner is saved with the run and
//! never changes. Every call runs with the owner's context values ([`Agent::contexts`](crate::Agent::contexts)),
//! whoever continues the run. Decisions on the calls go through [`Agent::decide`](crate::Agent::decide), which asks a
//! policy ([`Agent::may_decide`](crate::Agent::may_decide)). If you write your own loop, both are up to you.
//!
//! # Inbox
//!
//! A journal keeps a [head](RunHead) of each run, with the owner, the time of the last save, and the calls that wait
//! for a decision. So you can list waiting calls ([`Journal::waiting`]) and a user's conversations ([`Journal::runs`])
//! without loading runs, and remove runs by [id](Journal::remove) or [age](Journal::remove_before). To decide, load the
//! run by [`Pending::run`], decide, save it and continue it.
//!
//! # After an interruption
//!
//! [`resume`](Run::resume) handles calls that had started and have no result. If the tool is `read_only` or
//! `idempotent`, the call runs again, even in the background, with the same [idempotency
//! key](tool_core::CallContext::idempotency_key). Any other call may have had an effect, so the model gets a result of
//! the kind [`Interrupted`](tool_core::ToolErrorKind::Interrupted), which tells it so.
//!
//! # Order
//!
//! Consecutive `read_only` calls are one step, so that they can run concurrently. Every other call is its own step, in
//! the order of the response. `#[tool(parallel)]` changes that for one tool, and [`RunSettings::parallel`] for all
//! calls of a run. Annotations of another server's tools count only after `DynamicToolBuilder::trust_annotations`. A
//! call that waits for a decision does not block the others.

// First, because the page of `Run` has its methods in this order.
mod builder;
mod calls;
mod messages;
mod step;

mod background;
mod change;
mod decide;
mod effect;
mod error;
mod file_journal;
mod head;
mod increment;
mod info;
mod journal;
mod keep_tools;
mod parts;
mod pending;
mod portable;
mod round;
mod saving;
mod sent;
mod settings;
#[cfg(all(feature = "sqlite", not(target_family = "wasm")))]
pub(crate) mod sqlite_journal;
mod state;
mod tools;
mod translate;

use std::hash::{BuildHasher, RandomState};
use std::ops::{Add, Range};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

pub use self::builder::RunBuilder;
pub(crate) use self::calls::{changed_call, position_of};
use self::change::Change;
pub use self::decide::DecideError;
pub use self::error::RunError;
pub(crate) use self::error::listed;
pub use self::file_journal::FileJournal;
pub use self::head::{Page, RunHead, RunState};
pub use self::increment::Increment;
pub use self::info::RunInfo;
pub use self::journal::{Journal, JournalError, MemoryJournal};
#[cfg(feature = "tracing")]
pub(crate) use self::parts::Part;
pub use self::pending::Pending;
pub use self::portable::PortableCall;
pub use self::round::Round;
use self::round::Tally;
pub use self::saving::ReplayError;
pub(crate) use self::saving::WithoutIncrements;
use self::sent::Sent;
pub(crate) use self::sent::ServerId;
pub use self::settings::RunSettings;
#[cfg(all(feature = "sqlite", not(target_family = "wasm")))]
pub use self::sqlite_journal::SqliteJournal;
pub(crate) use self::state::At;
use self::state::{PROGRAM, SavedRun, State, VERSION};
pub use self::step::{NoAnswer, RunOutcome, Step};
use self::tools::RunTools;
pub use self::translate::{Loss, LossKind};
use tool_core::dialect::{Dialect, RequestOptions, Usage};

/// A conversation with a model: its messages, calls and results, and its next step.
///
/// See the [module](self) for an example.
///
/// ```
/// use serde_json::json;
/// use tool_agent::run::{Run, Step};
///
/// let mut run = Run::new("conversation-1");
/// run.push(json!({"role": "user", "content": "What is 2 + 3?"}))?;
/// assert!(matches!(run.next(), Step::Request(messages) if messages.len() == 1));
///
/// // It can be saved and continued elsewhere.
/// let saved = serde_json::to_string(&run).unwrap();
/// let run: Run = serde_json::from_str(&saved).unwrap();
/// assert_eq!(run.id(), "conversation-1");
/// # Ok::<(), tool_agent::run::RunError>(())
/// ```
#[doc(alias("conversation", "thread", "message history", "memory"))]
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "SavedRun<Value>")]
pub struct Run {
    state: State,
    sent: Sent,
    /// The open calls of the last round.
    tally: Tally,
    unsaved: Vec<Increment>,
    /// Set while an agent without a journal drives the run.
    drops_increments: bool,
}

/// Reads runs.
impl Run {
    fn created(info: RunInfo, settings: RunSettings, options: Option<RequestOptions>) -> Run {
        let mut run = Run::empty();
        run.record(Change::Created {
            version: VERSION,
            program: PROGRAM.into(),
            info,
            settings,
            options: options.map(Box::new),
        });
        run
    }

    fn empty() -> Run {
        Run::of(State::default())
    }

    fn of(state: State) -> Run {
        Run {
            state,
            sent: Sent::default(),
            tally: Tally::default(),
            unsaved: Vec::new(),
            drops_increments: false,
        }
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        self.state.info.id()
    }

    /// Returns the run's id, owner and data.
    pub fn info(&self) -> &RunInfo {
        &self.state.info
    }

    /// Checks that the messages of the run have the format of a dialect, if the run has a dialect.
    pub(crate) fn check_dialect(&self, dialect: &(impl Dialect + ?Sized)) -> Result<(), RunError> {
        let given = dialect.provider();
        match self.state.info.dialect() {
            Some(own) if own != given => Err(RunError::OtherDialect {
                run: self.id().into(),
                own: own.into(),
                given: given.into(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that the messages of the run have the format of a dialect. The first dialect becomes the run's.
    pub(crate) fn bind(&mut self, dialect: &(impl Dialect + ?Sized)) -> Result<(), RunError> {
        self.check_dialect(dialect)?;
        let given = dialect.provider();
        if self.state.info.dialect().is_some() {
            return Ok(());
        }
        match self.unsaved.first_mut().map(|first| &mut *first.change) {
            Some(Change::Created { info, .. }) => {
                info.set_dialect(given);
                self.state.info.set_dialect(given);
            }
            _ => self.record(Change::Dialect(given.into())),
        }
        Ok(())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.is_cancelled
    }

    /// Returns `true` if the model has made a call since the last message of the user.
    pub(crate) fn has_called(&self) -> bool {
        self.state.spent.calls > 0
    }

    /// Returns the `traceparent` of the span that last drove the run.
    #[cfg(feature = "tracing")]
    pub(crate) fn trace(&self) -> Option<&str> {
        self.state.trace.as_deref()
    }

    #[cfg(feature = "tracing")]
    pub(crate) fn set_trace(&mut self, traceparent: &str) {
        if self.trace() != Some(traceparent) {
            self.record(Change::Traced(traceparent.to_owned()));
        }
    }

    /// Returns `true` if a call of the run has a result.
    pub(crate) fn has_results(&self) -> bool {
        let calls = self.state.rounds.iter().flat_map(|round| &round.calls);
        calls.into_iter().any(|call| call.result().is_some())
    }

    /// Returns the messages of the conversation, in the provider's format, as the provider sent them. A request
    /// [repeats](Dialect::repeat) them in the form returned by [`Step::Request`].
    pub fn messages(&self) -> &[Arc<Value>] {
        &self.state.messages
    }

    /// Returns the indices of [messages](Run::messages) that gave the model results of calls in the
    /// [background](Run::acknowledge), after its turn. Most look like messages of the user, who did not write them.
    pub fn background_messages(&self) -> &[usize] {
        &self.state.told
    }

    /// Returns the messages in the form for the next request.
    pub(crate) fn sent(&self) -> &Arc<Vec<Arc<Value>>> {
        self.sent.all(&self.state.messages)
    }

    /// Returns a part of the messages in the form for the next request.
    pub(crate) fn sent_part(&self, part: &Range<usize>) -> &[Arc<Value>] {
        self.sent.part(&self.state.messages, part)
    }

    /// Brings new messages into the form for the next request.
    pub(crate) fn prepare(&mut self, dialect: &(impl Dialect + ?Sized)) {
        let changes = RunTools::messages(self.state.tools.as_deref());
        self.sent.prepare(&self.state.messages, changes, dialect);
    }

    /// Brings all messages into the form for a request to this server.
    pub(crate) fn prepare_for(&mut self, server: &ServerId, dialect: &(impl Dialect + ?Sized)) {
        if self.sent.go_to(server) {
            self.forget_tools();
        }
        self.prepare(dialect);
    }

    /// Returns `true` if the messages were brought into the form for this server last.
    pub(crate) fn is_for(&self, server: &ServerId) -> bool {
        self.sent.is_for(server)
    }

    /// Returns the rounds, in order. The last one may have calls without results.
    pub fn rounds(&self) -> &[Round] {
        &self.state.rounds
    }

    /// Returns the texts of the user, each with the number of rounds before it.
    pub(crate) fn said(&self) -> &[(usize, String)] {
        &self.state.said
    }

    /// Returns the total usage of all rounds.
    pub fn usage(&self) -> Usage {
        let usages = self.state.rounds.iter().filter_map(|round| round.usage);
        usages.fold(Usage::default(), Add::add)
    }

    /// Returns the usage since the last message of the user, if the provider reports it.
    #[cfg(feature = "conversations")]
    pub(crate) fn usage_of_turn(&self) -> Option<Usage> {
        let before = self.said().last().map_or(0, |(rounds, _)| *rounds);
        let rounds = self.state.rounds.iter().skip(before);
        rounds.filter_map(|round| round.usage).reduce(Add::add)
    }

    /// Returns the fields that the next request needs in addition to messages and tools; see
    /// [`Turn::continuation`](tool_core::dialect::Turn::continuation).
    pub fn continuation(&self) -> &Map<String, Value> {
        &self.state.continuation
    }
}

/// Changes settings.
impl Run {
    /// Returns the settings.
    pub fn settings(&self) -> &RunSettings {
        &self.state.settings
    }

    /// Replaces the settings. If a run ended at a limit and the new limit is higher, it continues.
    pub fn set_settings(&mut self, settings: RunSettings) {
        self.record(Change::Settings(settings));
    }

    /// Returns the run's own request settings, if any.
    pub fn request_options(&self) -> Option<&RequestOptions> {
        self.state.options.as_deref()
    }

    /// Sets the run's own request settings, which replace the [agent's](crate::Agent::request_options). Pass `None` to
    /// use the agent's again. They are saved with the run, so another process sends the same requests, whatever its
    /// agent's settings. If they have no type of answers, the agent's type applies.
    ///
    /// A type of answers is saved as its schema. Another process needs the type itself: drive the run with
    /// [`Agent::answer`](crate::Agent::answer), or with an agent of that [type](crate::Agent::answer_type). If its
    /// schema differs, the agent returns [`AgentError::AnswerType`](crate::AgentError::AnswerType).
    ///
    /// ```
    /// use tool_agent::run::Run;
    /// use tool_core::dialect::{RequestOptions, ToolChoice};
    ///
    /// let options = RequestOptions::new().choice(ToolChoice::Required).parallel(false);
    /// let mut run = Run::builder("conversation-1").request_options(options).build();
    /// let saved = serde_json::to_string(&run).unwrap();
    /// assert!(saved.contains("required"));
    ///
    /// run.set_request_options(None);
    /// assert!(run.request_options().is_none());
    /// ```
    pub fn set_request_options(&mut self, options: Option<RequestOptions>) {
        self.record(Change::Options(options.map(Box::new)));
    }
}

/// Returns a unique id for a new run, with 32 hexadecimal digits. It is not secret, so check the owner of a run.
///
/// ```
/// use tool_agent::run::{Run, random_id};
///
/// let run = Run::builder(random_id()).owner("user-7").build();
/// assert_ne!(run.id(), random_id());
/// ```
pub fn random_id() -> String {
    let number = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", number(), number())
}
