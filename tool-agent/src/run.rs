//! A run as a value: a conversation with a model that can be saved after every step and continued
//! later, in another process.
//!
//! A [`Run`] is a state machine that does no I/O. [`next`](Run::next) says what to do, and the program
//! gives back what happened:
//!
//! - [`Request`](Step::Request): ask the model, then [`respond`](Run::respond).
//! - [`Call`](Step::Call): mark the calls as [started](Run::start), run them, and [`finish`](Run::finish) each.
//! - [`Running`](Step::Running): wait for a call that you started, and [`finish`](Run::finish) it.
//! - [`Wait`](Step::Wait): ask a person and [`decide`](Run::decide), or stop.
//! - [`Done`](Step::Done): show the answer. [`push`](Run::push) goes on with the conversation, and
//!   [`answer`](Run::answer) with what is [unanswered](RunOutcome::Unanswered).
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
//! A driver that [acknowledges](Run::acknowledge) the calls of tools with `background` finishes them later, at any step; see
//! the [guide](crate::guide::background). For others, they are calls like all.
//!
//! [`Agent`](crate::Agent) does all of this. Write the loop yourself to have control over every
//! step:
//!
//! ```
//! use serde_json::json;
//! use tool_agent::run::{Run, RunOutcome, Step};
//! use tool_core::dialect::{Dialect, OpenAiChat};
//! use tool_core::{Registry, tool, tools};
//!
//! /// Adds two numbers.
//! #[tool(read_only)]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let registry = Registry::builder().tools(tools![add]).build()?;
//! let dialect = OpenAiChat::default();
//! let mut responses = vec![
//!     json!({"choices": [{"message": {"role": "assistant", "content": "It is 5."}}]}),
//!     json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
//!         {"id": "call_1", "type": "function",
//!          "function": {"name": "add", "arguments": "{\"a\":2,\"b\":3}"}},
//!     ]}}]}),
//! ];
//!
//! let mut run = Run::new("conversation-1");
//! run.push(json!({"role": "user", "content": "What is 2 + 3?"}))?;
//! let outcome = loop {
//!     match run.next() {
//!         Step::Request(_messages) => {
//!             let response = responses.pop().unwrap();
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
//! A run is `Serialize` and `Deserialize`. Saving the whole after every step costs more with every
//! round, so each change is also an [`Increment`]: append the [unsaved](Run::unsaved) increments
//! to a [`Journal`], [mark them as saved](Run::mark_saved) once that succeeds, and rebuild the run with
//! [`Run::replay`]. On one machine, use `SqliteJournal` (feature `sqlite`); [`FileJournal`] is a journal without a
//! database. To survive a crash at any point,
//! save the increments of [`start`](Run::start) before the calls run, and the increments of [`finish`](Run::finish)
//! before the next step.
//!
//! # Whose run it is
//!
//! In a program with several users, a run has an [owner](RunBuilder::owner). The owner is saved with the run and never
//! changes, and every call runs with the context values of the owner ([`Agent::contexts`](crate::Agent::contexts)),
//! whoever continues the run. Only [`Agent::decide`](crate::Agent::decide) decides on its calls, and asks a policy
//! ([`Agent::may_decide`](crate::Agent::may_decide)). In a loop of your own, both are up to you.
//!
//! # Inbox
//!
//! A journal keeps a [head](RunHead) of each run: whose it is, when it was saved, and what waits for a decision. So a
//! program lists what waits ([`Journal::waiting`]) and the conversations of a user ([`Journal::runs`]) without loading
//! them, and forgets them by [id](Journal::remove) or [age](Journal::remove_before). To decide, load the run by
//! [`Pending::run`], then save it and let it go on.
//!
//! # After an interruption
//!
//! [`resume`](Run::resume) decides on the calls that had started and have no result. Those of tools
//! that are `read_only` or `idempotent` run again, in the background too, with the same
//! [idempotency key](tool_core::CallContext::idempotency_key). The others may have had an effect, so the
//! model gets a result of the kind [`Interrupted`](tool_core::ToolErrorKind::Interrupted), which says so.
//!
//! # Order
//!
//! Calls that are next to each other and `read_only` are one step, to run concurrently. Every other call
//! is a step of its own, in the order of the response. `#[tool(parallel)]` changes that for one tool,
//! and [`RunSettings::parallel`] for all calls of a run. What another server claims about its tools counts
//! only after `DynamicToolBuilder::trust_annotations`. A call that waits for a decision holds up none of the others.

mod background;
mod file_journal;
mod head;
mod increment;
mod info;
mod journal;
mod pending;
mod portable;
#[cfg(all(feature = "sqlite", not(target_family = "wasm")))]
mod sqlite_journal;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::ops::{Add, Range};
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

pub use self::file_journal::FileJournal;
pub use self::head::{Page, RunHead};
pub(crate) use self::increment::WithoutIncrements;
use self::increment::{Change, ResponseChange};
pub use self::increment::{Increment, ReplayError};
pub use self::info::{RunBuilder, RunInfo};
pub use self::journal::{Journal, JournalError, MemoryJournal};
pub use self::pending::{DecideError, Pending};
pub use self::portable::PortableCall;
#[cfg(all(feature = "sqlite", not(target_family = "wasm")))]
pub use self::sqlite_journal::SqliteJournal;
use tool_core::call::{Arguments, CallPosition};
use tool_core::dialect::{Dialect, RequestOptions, Turn, Unanswered, Usage};
use tool_core::hooks::{Decision, DecisionDenied, Hold};
use tool_core::{Registry, ToolCall, ToolEntry, ToolError, ToolResult};

/// The version of the saved form.
const VERSION: u32 = 3;

/// The earliest version that can be read. Its runs have no owner and no dialect.
const FIRST_VERSION: u32 = 2;

/// A conversation with a model: its messages, calls and results, and what happens next.
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
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "SavedRun<Value>")]
pub struct Run {
    state: State,
    unsaved: Vec<Increment>,
    /// Set while an agent without a journal drives it.
    drops_increments: bool,
}

/// The part of a [`Run`] that is saved.
#[derive(Clone, Default, Serialize, Deserialize)]
struct State {
    #[serde(flatten)]
    info: RunInfo,
    settings: RunSettings,
    /// Those of its requests. Boxed, because most runs have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Box<RequestOptions>>,
    /// Shared with requests to the model.
    messages: Arc<Vec<Arc<Value>>>,
    rounds: Vec<Round>,
    /// The texts of the user, also those of messages that a summary replaced, with the number of rounds before each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    said: Vec<(usize, String)>,
    /// The number of changes so far.
    changes: u64,
    spent: Spent,
    is_cancelled: bool,
    /// The calls that failed in a row, by tool, since the last message of the user.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    failures: BTreeMap<String, u32>,
    /// The messages with which a part starts that can stand alone: a message of the user, or a response with the
    /// results of its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<usize>,
    /// Those of the parts that are responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    responses: Vec<usize>,
    /// Those of the parts that have results of calls in the background.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    told: Vec<usize>,
    /// The number of rounds when old messages were last replaced by a summary.
    #[serde(default, skip_serializing_if = "is_zero")]
    compacted_at: usize,
    /// The fields of the next request.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    continuation: Map<String, Value>,
    /// The `traceparent` of the span that drives it, or drove it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    /// The calls in the background whose results the model does not have yet, in the order of their starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    background: Vec<At>,
}

/// The place of a call: the index of its round, and its index in it.
pub(crate) type At = (usize, usize);

/// A saved run. Its version is checked before the rest is read.
#[derive(Serialize, Deserialize)]
struct SavedRun<S> {
    version: u32,
    #[serde(flatten)]
    state: S,
}

/// What was used since the last message of the user, and is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Spent {
    rounds: u32,
    calls: u32,
    tokens: u64,
    #[serde(default)]
    micros: u64,
}

// The signature is serde's.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The settings of a [`Run`]. The limits apply from one message of the user to the next.
///
/// ```
/// use serde_json::json;
/// use tool_agent::Agent;
/// use tool_agent::run::{Run, RunOutcome, RunSettings};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_core::dialect::OpenAiChat;
///
/// let call = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
///     {"id": "call_1", "type": "function", "function": {"name": "no_such_tool", "arguments": "{}"}},
/// ]}}]});
/// let answer = json!({"choices": [{"message": {"role": "assistant", "content": "I can't."}}]});
/// let model = ScriptedModel::new([call, answer]);
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
///
/// let mut settings = RunSettings::default();
/// settings.max_rounds = 1;
/// let mut run = Run::builder("run-1").settings(settings).build();
/// run.push(agent.dialect().user_message("Go."))?;
/// assert_eq!(agent.run_blocking(&mut run)?, RunOutcome::OutOfRounds);
///
/// // With a higher limit, the run goes on.
/// settings.max_rounds = 2;
/// run.set_settings(settings);
/// assert_eq!(agent.run_blocking(&mut run)?, RunOutcome::Answered("I can't.".into()));
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct RunSettings {
    /// The maximum number of requests to the model. 16 by default.
    pub max_rounds: u32,
    /// The maximum number of calls. Further calls of a response get an error, and then the run ends.
    pub max_calls: u32,
    /// The run ends before the next request once it used this many tokens, as the provider counts
    /// them.
    pub max_tokens: u64,
    /// The run ends before the next request once it cost this much, in millionths of the currency of
    /// [`Agent::prices`](crate::Agent::prices). Without prices, an agent refuses a run with this limit; a response of
    /// unknown usage reaches it.
    pub max_micros: u64,
    /// The run ends when calls of one tool failed this often in a row.
    pub max_failures: u32,
    /// `Some(true)` runs all calls of a response concurrently, `Some(false)` one after the other.
    pub parallel: Option<bool>,
    /// The maximum number of calls in the background that have no result. A further one is not run, and the model is told
    /// so. 16 by default.
    pub max_background: u32,
}

impl Default for RunSettings {
    fn default() -> RunSettings {
        RunSettings {
            max_rounds: 16,
            max_calls: u32::MAX,
            max_tokens: u64::MAX,
            max_micros: u64::MAX,
            max_failures: u32::MAX,
            parallel: None,
            max_background: 16,
        }
    }
}

/// One response of the model, with the calls in it.
///
/// ```
/// use tool_agent::run::Run;
///
/// /// Prints what the model said and did.
/// fn print(run: &Run) {
///     for round in run.rounds() {
///         println!("{}", round.text());
///         for (call, result) in round.calls() {
///             let result = result.map_or("no result yet".into(), |result| result.line());
///             println!("  {}: {result}", call.name);
///         }
///     }
/// }
///
/// print(&Run::new("conversation-1"));
/// ```
#[derive(Clone, Serialize, Deserialize)]
pub struct Round {
    calls: Vec<RunCall>,
    text: String,
    usage: Option<Usage>,
    stop_reason: Option<String>,
    is_paused: bool,
    /// What still expects an answer of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unanswered: Vec<Unanswered>,
    /// Set if the model waits for the next request although it made no calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_answered: bool,
    #[serde(default)]
    micros: u64,
    /// The messages that repeat it, kept until all calls have results.
    turn: Option<Vec<Arc<Value>>>,
}

/// A call and its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RunCall {
    /// Shared with the increment, as is what is below.
    call: Arc<ToolCall>,
    is_parallel: bool,
    /// Set if a success ends the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ends_run: bool,
    /// Set for a call of `wait_for_results`, which the run answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_wait: bool,
    decisions: Vec<Decided>,
    state: CallState,
    /// What the model got in place of the result, if the call runs in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    acknowledged: Option<Arc<ToolResult>>,
}

/// A decision on a hold, and who made it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Decided {
    hold: Hold,
    decision: Decision,
    by: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum CallState {
    Ready,
    Started,
    Held(Hold),
    Ended(Arc<ToolResult>),
}

/// A part of a conversation that can stand alone.
#[cfg(feature = "tracing")]
pub(crate) enum Part<'r> {
    /// A message of the application, in the provider's format.
    Message(&'r Value),
    /// Results of calls in the background, with what precedes them.
    Told(&'static str),
    Response(&'r Round),
}

/// What a [`Run`] needs next.
///
/// ```
/// use tool_agent::run::{Run, Step};
///
/// fn state(run: &Run) -> String {
///     match run.next() {
///         Step::Request(_) => "the model has to answer".into(),
///         Step::Call(calls) => format!("{} calls have to run", calls.len()),
///         Step::Running => "calls are running".into(),
///         Step::Wait(waiting) => format!("{} calls wait for decisions", waiting.len()),
///         Step::Done(outcome) => format!("done: {}", outcome.as_str()),
///     }
/// }
///
/// assert_eq!(state(&Run::new("conversation-1")), "the model has to answer");
/// ```
pub enum Step<'r> {
    /// A response of the model to these messages, which are in the provider's format.
    Request(&'r Arc<Vec<Arc<Value>>>),
    /// The results of these calls, which may run concurrently.
    Call(Vec<ToolCall>),
    /// The results of calls that have started, in the background too.
    Running,
    /// Decisions on these calls. There is nothing else to do, other than to wait for calls in the background.
    Wait(Vec<Pending>),
    /// Nothing, or the next [message](Run::push) of the user.
    Done(RunOutcome),
}

/// How a run ended.
///
/// ```
/// use tool_agent::run::RunOutcome;
///
/// fn reply(outcome: &RunOutcome) -> String {
///     match outcome {
///         RunOutcome::Answered(text) => text.clone(),
///         RunOutcome::Waiting(calls) => format!("please decide on {} calls", calls.len()),
///         RunOutcome::OutOfRounds => "it took too long; please ask for less".into(),
///         other => format!("the run ended: {}", other.as_str()),
///     }
/// }
///
/// assert_eq!(reply(&RunOutcome::Cancelled), "the run ended: cancelled");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum RunOutcome {
    /// The model called no more tools and answered with this text. The text may be empty or end
    /// mid-sentence if the provider filtered or truncated it; [`Round::stop_reason`] says so.
    Answered(String),
    /// A call of a tool with [`#[tool(ends_run)]`](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#keys-of-tool) succeeded, and the other calls of the
    /// response have results. [`ToolResult::value`] returns its value. Of several, it is the first in the response.
    Ended(Box<ToolResult>),
    /// The response asks for something that no tool answers, such as a command for the program's shell. The calls of the response have results. [`Run::answer`] adds the answers in the provider's form, and
    /// [`Run::cancel`] gives the response up: without either, the provider would reject the next request.
    Unanswered(Vec<Unanswered>),
    /// The [limit](RunSettings::max_rounds) of rounds was reached while the model still called tools.
    OutOfRounds,
    /// The [limit](RunSettings::max_calls) of calls was reached.
    OutOfCalls,
    /// The [limit](RunSettings::max_tokens) of tokens was reached while the model still called tools.
    OutOfTokens,
    /// The [limit](RunSettings::max_micros) of money was reached while the model still called tools.
    OutOfMoney,
    /// Calls of this tool [failed](RunSettings::max_failures) too often in a row.
    OutOfFailures(String),
    /// The [limit](crate::Agent::max_duration) of time was reached.
    OutOfTime,
    /// The run was [cancelled](Run::cancel).
    Cancelled,
    /// These calls wait for [decisions](Run::decide). An [`Agent`](crate::Agent) stops here; the
    /// run goes on once they are made.
    Waiting(Vec<Pending>),
}

impl RunOutcome {
    /// Returns the name of the outcome, for logs and metrics.
    ///
    /// ```
    /// use tool_agent::run::RunOutcome;
    ///
    /// assert_eq!(RunOutcome::OutOfTime.as_str(), "out_of_time");
    /// ```
    pub fn as_str(&self) -> &'static str {
        match self {
            RunOutcome::Answered(_) => "answered",
            RunOutcome::Ended(_) => "ended",
            RunOutcome::Unanswered(_) => "unanswered",
            RunOutcome::OutOfRounds => "out_of_rounds",
            RunOutcome::OutOfCalls => "out_of_calls",
            RunOutcome::OutOfTokens => "out_of_tokens",
            RunOutcome::OutOfMoney => "out_of_money",
            RunOutcome::OutOfFailures(_) => "out_of_failures",
            RunOutcome::OutOfTime => "out_of_time",
            RunOutcome::Cancelled => "cancelled",
            RunOutcome::Waiting(_) => "waiting",
        }
    }
}

/// The messages contain the arguments of calls, which may be secret.
impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("info", &self.info)
            .field("settings", &self.settings)
            .field("messages", &self.messages.len())
            .field("rounds", &self.rounds)
            .field("changes", &self.changes)
            .field("spent", &self.spent)
            .field("is_cancelled", &self.is_cancelled)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round")
            .field("calls", &self.calls)
            .field("text", &self.text)
            .field("usage", &self.usage)
            .field("stop_reason", &self.stop_reason)
            .field("is_paused", &self.is_paused)
            .field("unanswered", &self.unanswered)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Request(messages) => f
                .debug_struct("Request")
                .field("messages", &messages.len())
                .finish_non_exhaustive(),
            Step::Call(calls) => f.debug_tuple("Call").field(calls).finish(),
            Step::Running => f.write_str("Running"),
            Step::Wait(pending) => f.debug_tuple("Wait").field(pending).finish(),
            Step::Done(outcome) => f.debug_tuple("Done").field(outcome).finish(),
        }
    }
}

impl Run {
    /// Creates a run without an owner, for a program with one user. The id identifies it in a [`Journal`], and is
    /// part of the [idempotency keys](tool_core::CallContext::idempotency_key) of its calls, so it must be unique.
    pub fn new(id: impl Into<String>) -> Run {
        Run::builder(id).build()
    }

    /// Starts a run with an [owner](RunBuilder::owner), or with settings other than the default.
    pub fn builder(id: impl Into<String>) -> RunBuilder {
        RunBuilder::new(id.into())
    }

    fn created(info: RunInfo, settings: RunSettings, options: Option<RequestOptions>) -> Run {
        let mut run = Run::empty();
        run.record(Change::Created {
            version: VERSION,
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
            unsaved: Vec::new(),
            drops_increments: false,
        }
    }

    /// Rebuilds a run from all of its increments, in order.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::Run;
    ///
    /// let mut run = Run::new("conversation-1");
    /// run.push(json!({"role": "user", "content": "Hello!"}))?;
    /// let increments = run.unsaved().to_vec();
    /// assert_eq!(Run::replay(increments)?.messages(), run.messages());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there are none, if one is missing, or if they were saved by a newer version
    /// of this crate.
    pub fn replay(increments: impl IntoIterator<Item = Increment>) -> Result<Run, ReplayError> {
        let mut run = Run::empty();
        run.apply(increments)?;
        if run.state.changes == 0 {
            return Err(ReplayError::new("there are no increments"));
        }
        Ok(run)
    }

    /// Repeats increments that another process made of a run in this state, in order. They count as saved.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::Run;
    ///
    /// let mut run = Run::new("conversation-1");
    /// let mut copy = run.clone();
    /// copy.push(json!({"role": "user", "content": "Hello!"}))?;
    /// let new = copy.unsaved().iter().filter(|new| new.number() > 1).cloned();
    /// run.apply(new)?;
    /// assert_eq!(run.messages(), copy.messages());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if one is missing, if one does not fit the run, or if they were saved by a newer version of this
    /// crate. The run then has those before it.
    pub fn apply(
        &mut self,
        increments: impl IntoIterator<Item = Increment>,
    ) -> Result<(), ReplayError> {
        increments
            .into_iter()
            .try_for_each(|increment| self.apply_saved(increment))
    }

    /// Returns the increments that are not [marked as saved](Run::mark_saved), by number, to be appended to a
    /// [`Journal`]. An [`Agent`](crate::Agent) without a journal keeps none of the changes that it makes.
    ///
    /// ```
    /// use tool_agent::run::{Increment, Journal, JournalError, Run};
    ///
    /// async fn save(journal: &dyn Journal, run: &mut Run) -> Result<(), JournalError> {
    ///     if let Some(last) = run.unsaved().last().map(Increment::number) {
    ///         journal.append(run.head(), run.unsaved().to_vec()).await?;
    ///         run.mark_saved(last);
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn unsaved(&self) -> &[Increment] {
        &self.unsaved
    }

    /// Marks the increments up to this [number](Increment::number) as saved, which drops them. Call it after the
    /// journal has appended them: an increment that is marked too early is lost if the journal fails.
    pub fn mark_saved(&mut self, number: u64) {
        let saved = self
            .unsaved
            .partition_point(|increment| increment.number() <= number);
        self.unsaved.drain(..saved);
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        self.state.info.id()
    }

    /// Returns whose run it is.
    pub fn info(&self) -> &RunInfo {
        &self.state.info
    }

    /// Checks that the messages of the run are in the format of a dialect, if they have one.
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

    /// Checks that the messages of the run are in the format of a dialect. The first dialect is that of the run.
    pub(crate) fn bind(&mut self, dialect: &(impl Dialect + ?Sized)) -> Result<(), RunError> {
        self.check_dialect(dialect)?;
        let given = dialect.provider();
        if self.state.info.dialect().is_some() {
            return Ok(());
        }
        match self.unsaved.first_mut().map(Increment::change_mut) {
            Some(Change::Created { info, .. }) => {
                info.set_dialect(given);
                self.state.info.set_dialect(given);
            }
            _ => self.record(Change::Dialect(given.into())),
        }
        Ok(())
    }

    /// Returns the settings.
    pub fn settings(&self) -> &RunSettings {
        &self.state.settings
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.state.is_cancelled
    }

    /// Returns `true` if the model has made a call since the last message of the user.
    pub(crate) fn has_called(&self) -> bool {
        self.state.spent.calls > 0
    }

    /// Returns the `traceparent` of the span that drove it last.
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

    /// Replaces the settings. A run that ended at a limit goes on if the new one is higher.
    pub fn set_settings(&mut self, settings: RunSettings) {
        self.record(Change::Settings(settings));
    }

    /// Returns the settings of its requests, if it has its own.
    pub fn request_options(&self) -> Option<&RequestOptions> {
        self.state.options.as_deref()
    }

    /// Sets the settings of its requests, which take the place of the [agent's](crate::Agent::request_options). With `None`,
    /// they are the agent's. They are saved with the run, so that another process sends the same requests, whatever the
    /// settings of its agent. The agent's type of answers counts if these settings have none.
    ///
    /// A type of answers is saved as its schema. Another process has to know the type: it drives the run with
    /// [`Agent::answer`](crate::Agent::answer), or with an agent of that [type](crate::Agent::answer_type). If its schema
    /// differs, the agent returns [`AgentError::AnswerType`](crate::AgentError::AnswerType).
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

    /// Returns the messages of the next request, in the provider's format.
    pub fn messages(&self) -> &[Arc<Value>] {
        &self.state.messages
    }

    /// Returns the indices of the [messages](Run::messages) that give the model results of calls in the
    /// [background](Run::acknowledge), after its turn. Most look like messages of the user, who did not write them.
    pub fn background_messages(&self) -> &[usize] {
        &self.state.told
    }

    /// Returns the rounds, in order. The last one may have calls without results.
    pub fn rounds(&self) -> &[Round] {
        &self.state.rounds
    }

    /// Returns the texts of the user, with the number of rounds before each.
    pub(crate) fn said(&self) -> &[(usize, String)] {
        &self.state.said
    }

    /// Returns the sum of the usage of all rounds.
    pub fn usage(&self) -> Usage {
        let usages = self.state.rounds.iter().filter_map(|round| round.usage);
        usages.fold(Usage::default(), Add::add)
    }

    /// Adds a message in the provider's format, such as a system prompt or the user's next question.
    /// The limits of the settings apply anew.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::Run;
    /// use tool_core::dialect::{Anthropic, Dialect};
    ///
    /// let mut run = Run::new("conversation-1");
    /// run.push(Anthropic::default().user_message("Hello!"))?;
    /// assert_eq!(*run.messages()[0], json!({"role": "user", "content": "Hello!"}));
    /// # Ok::<(), tool_agent::run::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the message is not an object, while calls of the last response have no answer, and while something is
    /// [unanswered](RunOutcome::Unanswered): providers reject a message between a call and its result.
    pub fn push(&mut self, message: Value) -> Result<(), RunError> {
        if !message.is_object() {
            return Err(RunError::NotAMessage);
        }
        if self.open_round().is_some() {
            return Err(RunError::OpenCalls);
        }
        if !self.unanswered().is_empty() {
            return Err(RunError::Unanswered(self.unanswered().to_vec()));
        }
        self.record(Change::Message(Arc::new(message)));
        Ok(())
    }

    /// Returns what the last response asks for, and is no call and not answered yet.
    pub(crate) fn unanswered(&self) -> &[Unanswered] {
        let last = self.state.rounds.last();
        last.map_or(&[], |round| &round.unanswered)
    }

    /// Answers what is [unanswered](RunOutcome::Unanswered), with messages or items in the provider's form. The run goes on
    /// with the next request. The answers are data of your program, which nothing checks.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::{Run, RunOutcome, Step};
    /// use tool_core::Registry;
    /// use tool_core::dialect::{Dialect, OpenAiResponses};
    ///
    /// let dialect = OpenAiResponses::default();
    /// let mut run = Run::new("conversation-1");
    /// run.push(dialect.user_message("Is it up?"))?;
    /// let command = json!({"type": "shell_call", "id": "sh_1", "call_id": "call_1", "status": "completed",
    ///     "action": {"commands": ["uptime"]}});
    /// run.respond(&dialect, &Registry::new(), dialect.read(&json!({"output": [command]}))?)?;
    /// let Step::Done(RunOutcome::Unanswered(asked)) = run.next() else { panic!() };
    /// assert_eq!(asked[0].kind, "shell_call");
    ///
    /// run.answer([json!({"type": "shell_call_output", "call_id": "call_1", "output": [
    ///     {"stdout": "up 7 days", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
    /// ]})])?;
    /// assert!(matches!(run.next(), Step::Request(_)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if nothing is unanswered, if calls of the response have no results yet, or if an id of what is
    /// unanswered is nowhere in the answers. The run is then as before.
    pub fn answer(&mut self, answers: impl IntoIterator<Item = Value>) -> Result<(), RunError> {
        if self.open_round().is_some() {
            return Err(RunError::OpenCalls);
        }
        let answers: Vec<_> = answers.into_iter().map(Arc::new).collect();
        if self.unanswered().is_empty() {
            return Err(RunError::NothingAsked);
        }
        let has_answer = |asked: &Unanswered| match &asked.id {
            Some(id) => answers.iter().any(|answer| contains(answer, id)),
            None => !answers.is_empty(),
        };
        let left = self.unanswered().iter().filter(|asked| !has_answer(asked));
        let left: Vec<_> = left.cloned().collect();
        if !left.is_empty() {
            return Err(RunError::Unanswered(left));
        }
        self.record(Change::Answered(answers));
        Ok(())
    }

    /// Returns the fields that the next request needs besides messages and tools; see
    /// [`Turn::continuation`].
    pub fn continuation(&self) -> &Map<String, Value> {
        &self.state.continuation
    }

    /// Returns what the run needs next. Its state does not change.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::{Run, Step};
    ///
    /// let mut run = Run::new("conversation-1");
    /// run.push(json!({"role": "user", "content": "Hello!"}))?;
    /// let Step::Request(messages) = run.next() else { unreachable!() };
    /// assert_eq!(messages.len(), 1);
    /// # Ok::<(), tool_agent::run::RunError>(())
    /// ```
    pub fn next(&self) -> Step<'_> {
        let ready = self.state.background.iter();
        let ready = ready.filter(|at| matches!(self.call_at(**at).state, CallState::Ready));
        let ready: Vec<_> = ready.map(|at| self.prepared(*at)).collect();
        if !ready.is_empty() {
            return Step::Call(ready);
        }
        match self.foreground() {
            Step::Done(outcome) => self.when_done(outcome),
            step => step,
        }
    }

    /// Returns what the run needs next, apart from calls in the background.
    fn foreground(&self) -> Step<'_> {
        if let Some(round) = self.open_round() {
            return self.next_of(round);
        }
        if self.state.is_cancelled {
            return Step::Done(RunOutcome::Cancelled);
        }
        if !self.unanswered().is_empty() {
            return Step::Done(RunOutcome::Unanswered(self.unanswered().to_vec()));
        }
        if let Some(round) = self.state.rounds.last()
            && self.state.spent.rounds > 0
            && let Some(result) = round.ended()
        {
            return Step::Done(RunOutcome::Ended(Box::new(result.clone())));
        }
        if let Some(round) = self.state.rounds.last()
            && self.state.spent.rounds > 0
            && round.calls.iter().all(RunCall::is_late)
            && !round.is_paused
            && !round.is_answered
        {
            return Step::Done(RunOutcome::Answered(round.text.clone()));
        }
        let (spent, limits) = (self.state.spent, self.state.settings);
        let mut failures = self.state.failures.iter();
        if let Some((tool, _)) = failures.find(|(_, count)| **count >= limits.max_failures) {
            return Step::Done(RunOutcome::OutOfFailures(tool.clone()));
        }
        if spent.rounds >= limits.max_rounds {
            Step::Done(RunOutcome::OutOfRounds)
        } else if spent.calls >= limits.max_calls {
            Step::Done(RunOutcome::OutOfCalls)
        } else if spent.tokens >= limits.max_tokens {
            Step::Done(RunOutcome::OutOfTokens)
        } else if spent.micros >= limits.max_micros {
            Step::Done(RunOutcome::OutOfMoney)
        } else {
            Step::Request(&self.state.messages)
        }
    }

    /// Returns what a round with calls needs.
    fn next_of<'r>(&'r self, round: &'r Round) -> Step<'r> {
        let last = self.last_round();
        let calls = round.calls.iter().enumerate();
        // One that waits for the background holds up no other.
        let mut calls = calls.filter(|(_, call)| call.answer().is_none() && !call.is_waiting());
        let mut ready = Vec::new();
        let mut is_running = false;
        // A call that is held does not keep the others waiting.
        for (index, call) in calls.by_ref() {
            match &call.state {
                CallState::Ready if !is_running || call.is_parallel => {
                    if !ready.is_empty() && !call.is_parallel {
                        break;
                    }
                    ready.push(self.prepared((last, index)));
                    if !call.is_parallel {
                        break;
                    }
                }
                CallState::Ready => break,
                CallState::Started if call.is_parallel => is_running = true,
                CallState::Started => return Step::Running,
                CallState::Held(_) | CallState::Ended(_) => {}
            }
        }
        if !ready.is_empty() {
            Step::Call(ready)
        } else if is_running {
            Step::Running
        } else {
            self.waiting()
        }
    }

    fn last_round(&self) -> usize {
        self.state.rounds.len().saturating_sub(1)
    }

    /// Returns a call of this run.
    fn call_at(&self, (round, index): At) -> &RunCall {
        &self.state.rounds[round].calls[index]
    }

    /// Returns the places of the calls that may have no result: those in the background, and those of the last response.
    fn open_calls(&self) -> impl Iterator<Item = At> {
        let last = self.last_round();
        let calls = self.open_round().into_iter().flat_map(|round| &round.calls);
        let calls = calls.enumerate();
        let calls = calls.filter(|(_, call)| call.acknowledged.is_none());
        let of_round = calls.map(move |(index, _)| (last, index));
        self.state.background.iter().copied().chain(of_round)
    }

    /// Returns a call with its position.
    fn positioned(&self, at: At) -> ToolCall {
        let call = ToolCall::clone(&self.call_at(at).call);
        call.at(position_of(at.0, at.1))
    }

    /// Returns a call with its position, key and decisions.
    fn prepared(&self, at: At) -> ToolCall {
        let call = self.call_at(at);
        let mut numbers = [itoa::Buffer::new(), itoa::Buffer::new()];
        let [round, call_index] = &mut numbers;
        let parts = [self.id(), round.format(at.0 + 1), call_index.format(at.1)];
        let key = parts.join("/");
        let mut prepared = self.positioned(at).idempotency_key(key);
        for decided in &call.decisions {
            let (hold, decision) = (decided.hold.clone(), decided.decision.clone());
            prepared = prepared.decided_by(hold, decision, &*decided.by);
        }
        prepared
    }

    /// Returns the calls that wait for decisions.
    pub fn pending(&self) -> Vec<Pending> {
        let held = self
            .open_calls()
            .filter_map(|at| match &self.call_at(at).state {
                CallState::Held(hold) => {
                    Some(Pending::new(self, at.0 + 1, self.positioned(at), hold))
                }
                _ => None,
            });
        held.collect()
    }

    /// Takes the model's response to the messages of [`Step::Request`], as the dialect
    /// [read](Dialect::read) it. The registry knows which of its calls may run concurrently.
    ///
    /// # Errors
    ///
    /// Returns an error if the run did not request a response, or if it has another dialect.
    pub fn respond(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        registry: &Registry,
        turn: Turn,
    ) -> Result<(), RunError> {
        self.respond_at(dialect, registry, turn, 0)
    }

    /// Takes a response that cost this much.
    pub(crate) fn respond_at(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        registry: &Registry,
        turn: Turn,
        micros: u64,
    ) -> Result<(), RunError> {
        self.bind(dialect)?;
        if !matches!(self.next(), Step::Request(_)) {
            return Err(RunError::NotRequested);
        }
        let turn = registry.claim(turn);
        let (mut ending, mut waiting) = (Vec::new(), Vec::new());
        let calls = turn.calls.into_iter().enumerate();
        let calls: Vec<_> = calls
            .map(|(index, call)| {
                let tool = tool_of(registry, &call);
                if tool.as_ref().is_some_and(|tool| tool.ends_run()) {
                    ending.push(index);
                }
                if self.is_wait(registry, &call, tool.as_ref()) {
                    waiting.push(index);
                }
                let is_parallel = self.state.settings.parallel;
                let is_parallel =
                    is_parallel.unwrap_or_else(|| tool.is_none_or(|tool| tool.is_parallel()));
                (Arc::new(call), is_parallel)
            })
            .collect();
        let left = self.state.settings.max_calls
            - self.state.spent.calls.min(self.state.settings.max_calls);
        let excess = left as usize..calls.len();
        self.record(Change::Response(Box::new(ResponseChange {
            calls,
            ending,
            waiting,
            micros,
            text: turn.text,
            usage: turn.usage,
            stop_reason: turn.stop,
            is_paused: turn.is_paused,
            unanswered: turn.unanswered,
            continuation: turn.continuation,
            turn: turn.messages.into_iter().map(Arc::new).collect(),
        })));
        let limit = self.state.settings.max_calls;
        for index in excess {
            let reason = format!("the limit of {limit} calls is reached");
            self.fail((self.last_round(), index), |tool| {
                ToolError::denied(tool, &reason)
            });
        }
        self.close(dialect);
        Ok(())
    }

    /// Marks calls of [`Step::Call`] as started. Save the run before they run: what has not been saved
    /// as started, an interrupted run starts again.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the [positions](ToolCall::position) is not that of a call that is ready. No
    /// call is marked then.
    pub fn start(&mut self, calls: &[ToolCall]) -> Result<(), RunError> {
        self.start_calls(calls)?;
        Ok(())
    }

    /// Marks calls as started, and returns their places.
    pub(crate) fn start_calls(&mut self, calls: &[ToolCall]) -> Result<Vec<At>, RunError> {
        let mut started = Vec::with_capacity(calls.len());
        for call in calls {
            let at = self.find(call.position(), |call| {
                matches!(call.state, CallState::Ready) && !call.is_wait
            });
            match at {
                Some(at) if !started.contains(&at) => started.push(at),
                _ => return Err(RunError::NotReady(call.id.clone())),
            }
        }
        self.record_of(&started, Change::Started);
        Ok(started)
    }

    /// Makes a change of calls, for each round with some of them.
    fn record_of(&mut self, calls: &[At], change: fn(Vec<usize>) -> Change) {
        for calls in calls.chunk_by(|(round, _), (next, _)| round == next) {
            let indices = calls.iter().map(|(_, index)| *index).collect();
            self.record_in(calls[0].0, change(indices));
        }
    }

    /// Returns the place of the call with this position, if its result is not known and it is in this state.
    fn find(
        &self,
        position: Option<&CallPosition>,
        is_expected: impl Fn(&RunCall) -> bool,
    ) -> Option<At> {
        let position = position.filter(|position| !position.is_nested())?;
        let index = |number| usize::try_from(number).ok();
        let at = (index(position.round())?, index(position.index())?);
        let is_open = self.open_round().is_some() && at.0 == self.last_round()
            || self.state.background.contains(&at);
        let call = self.state.rounds.get(at.0)?.calls.get(at.1)?;
        (is_open && is_expected(call)).then_some(at)
    }

    /// Takes back that calls have started, because they did not run.
    pub(crate) fn take_back(&mut self, mut started: Vec<At>) {
        started.retain(|at| matches!(self.call_at(*at).state, CallState::Started));
        self.record_of(&started, Change::Repeated);
    }

    /// Takes the result of a call. With the last one, the results are added to the messages. A call that
    /// a hook [held](tool_core::hooks::Gate::hold) becomes [pending](Run::pending) instead.
    ///
    /// # Errors
    ///
    /// Returns an error if no call with the [position](ToolResult::position) of the result has started. The
    /// result of a call that [`Step::Call`] returned has its position; a result that was made for another call gets it
    /// from [`ToolResult::for_call`]. A run of another dialect is an error too.
    pub fn finish(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        result: ToolResult,
    ) -> Result<(), RunError> {
        self.bind(dialect)?;
        let found = self.find(result.position(), RunCall::is_started);
        let Some(at) = found else {
            return Err(RunError::NotStarted(result.call_id().into()));
        };
        match result.error().and_then(ToolError::hold) {
            // Nobody decides on a call of a cancelled run.
            Some(_) if self.state.is_cancelled => {
                self.cancel_call(at);
            }
            Some(hold) => {
                let hold = hold.clone();
                self.record_in(at.0, Change::Held(at.1, hold));
            }
            None => self.end(at, result),
        }
        self.close(dialect);
        Ok(())
    }

    /// Decides on a [pending](Run::pending) call of a run without an owner. `by` is saved with the decision: the name
    /// of who made it. [`Agent::decide`](crate::Agent::decide) decides in a run with an owner.
    ///
    /// `fingerprint` belongs to the [`Pending`] that the person has seen, so that a decision can't apply
    /// to another call or to other arguments. The registry validates the call as its tools are now.
    ///
    /// # Errors
    ///
    /// Returns an error if the run has an owner, if `by` is empty, if no pending call has this fingerprint, because it
    /// is decided already or never was held, if the arguments of [`Decision::Change`] are invalid, or if a call that the
    /// [provider](ToolCall::hosted_by) runs should do more than be allowed or denied. The run is then as before.
    pub fn decide(
        &mut self,
        registry: &Registry,
        fingerprint: &str,
        decision: Decision,
        by: impl Into<String>,
    ) -> Result<(), DecideError> {
        if self.info().owner().is_some() {
            return Err(DecideError::Owned);
        }
        let by = by.into();
        if by.trim().is_empty() {
            return Err(DecideError::Denied(DecisionDenied::Unnamed));
        }
        let pending = self.pending_with(fingerprint)?;
        self.decide_pending(registry, &pending, decision, by)
    }

    /// Returns the pending call at a position.
    pub(crate) fn pending_at(&self, position: Option<&CallPosition>) -> Option<Pending> {
        let mut pending = self.pending().into_iter();
        pending.find(|pending| pending.call().position() == position)
    }

    /// Returns the pending call with this fingerprint.
    pub(crate) fn pending_with(&self, fingerprint: &str) -> Result<Pending, DecideError> {
        let mut pending = self.pending().into_iter();
        let found = pending.find(|pending| pending.fingerprint() == fingerprint);
        found.ok_or(DecideError::NotPending)
    }

    /// Decides on a pending call of this run in the name of somebody who may.
    pub(crate) fn decide_pending(
        &mut self,
        registry: &Registry,
        pending: &Pending,
        decision: Decision,
        by: String,
    ) -> Result<(), DecideError> {
        let hold = pending.hold();
        if hold.server().is_some() && !matches!(decision, Decision::Allow | Decision::Deny(_)) {
            return Err(DecideError::Hosted(hold.tool().to_owned()));
        }
        let decision = hold.restored(decision);
        // The call of a tool in a call is validated by the tool.
        if let (Decision::Change(arguments), None) = (&decision, hold.key()) {
            let mut call = pending.call().clone();
            registry.resolve(&mut call);
            call.arguments = arguments.clone();
            let validated = registry.validate(&call);
            validated.map_err(|error| DecideError::Invalid(Box::new(error)))?;
        }
        let is_held = |call: &RunCall| matches!(call.state, CallState::Held(_));
        let at = self.find(pending.call().position(), is_held);
        let (round, index) = at.ok_or(DecideError::NotPending)?;
        self.record_in(round, Change::Decided(index, decision, by));
        Ok(())
    }

    /// Returns the holds of a ready call that were decided on, and who decided.
    pub(crate) fn deciders(&self, call: &ToolCall) -> Vec<(Hold, String)> {
        let is_ready = |call: &RunCall| matches!(call.state, CallState::Ready);
        let Some(at) = self.find(call.position(), is_ready) else {
            return Vec::new();
        };
        let decisions = self.call_at(at).decisions.iter();
        decisions
            .map(|decided| (decided.hold.clone(), decided.by.clone()))
            .collect()
    }

    /// Takes back a decision on a ready call, and what was decided later. The call waits again.
    pub(crate) fn revoke(&mut self, call: &ToolCall, decision: usize) {
        let is_ready = |call: &RunCall| matches!(call.state, CallState::Ready);
        if let Some((round, index)) = self.find(call.position(), is_ready) {
            self.record_in(round, Change::Revoked(index, decision));
        }
    }

    /// Decides on the calls that had started when the run was interrupted: calls of tools that are
    /// `read_only` or `idempotent` run again, the others end with an error of the kind
    /// [`Interrupted`](tool_core::ToolErrorKind::Interrupted). Call it once after [`replay`](Run::replay) or
    /// deserialization, when nothing runs any more. Returns the results of the calls that ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the run has another dialect.
    pub fn resume(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        registry: &Registry,
    ) -> Result<Vec<ToolResult>, RunError> {
        self.resume_others(dialect, registry, |_| false)
    }

    /// Resumes the run, apart from the calls that run in this process.
    pub(crate) fn resume_others(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        registry: &Registry,
        runs_here: impl Fn(&CallPosition) -> bool,
    ) -> Result<Vec<ToolResult>, RunError> {
        self.bind(dialect)?;
        let started = self
            .open_calls()
            .filter(|at| self.call_at(*at).is_started() && !runs_here(&position_of(at.0, at.1)));
        let (again, ended): (Vec<_>, Vec<_>) = started.partition(|at| {
            let call = &self.call_at(*at).call;
            // For a call that the provider runs, the registry only looks at decisions.
            call.server().is_some()
                || tool_of(registry, call).is_some_and(|tool| tool.is_repeatable())
        });
        let mut results = Vec::new();
        if self.state.is_cancelled {
            results.extend(again.into_iter().map(|at| self.cancel_call(at)));
        } else {
            self.record_of(&again, Change::Repeated);
        }
        let ended = ended.into_iter();
        results.extend(ended.map(|at| self.fail(at, ToolError::interrupted)));
        self.close(dialect);
        Ok(results)
    }

    /// Cancels the run. Calls that have not started, or that wait for a decision, end with an error.
    /// Those that run should be cancelled as well; the run is [done](Step::Done) when they have
    /// results, in the background too. A response with something [unanswered](RunOutcome::Unanswered) is taken out of the messages, because no request
    /// could repeat it; its [round](Run::rounds) stays.
    ///
    /// # Errors
    ///
    /// Returns an error if the run has another dialect.
    pub fn cancel(&mut self, dialect: &(impl Dialect + ?Sized)) -> Result<(), RunError> {
        self.bind(dialect)?;
        if let Step::Done(RunOutcome::Answered(_) | RunOutcome::Ended(_) | RunOutcome::Cancelled) =
            self.next()
        {
            return Ok(());
        }
        let open: Vec<_> = self.open_calls().collect();
        self.cancel_calls(dialect, open);
        Ok(())
    }

    /// Cancels the last response, and leaves the calls in the background.
    pub(crate) fn cancel_response(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
    ) -> Result<(), RunError> {
        self.bind(dialect)?;
        let last = self.last_round();
        let open = self.open_calls().filter(|at| at.0 == last);
        let open = open.filter(|at| self.call_at(*at).acknowledged.is_none());
        let open = open.collect();
        self.cancel_calls(dialect, open);
        Ok(())
    }

    fn cancel_calls(&mut self, dialect: &(impl Dialect + ?Sized), open: Vec<At>) {
        self.record(Change::Cancelled);
        for at in open {
            if matches!(
                self.call_at(at).state,
                CallState::Ready | CallState::Held(_)
            ) {
                self.cancel_call(at);
            }
        }
        self.close(dialect);
    }

    fn cancel_call(&mut self, at: At) -> ToolResult {
        self.fail(at, ToolError::cancelled)
    }

    /// Ends a call with an error, which is made of the name of its tool.
    fn fail(&mut self, at: At, error: impl FnOnce(&str) -> ToolError) -> ToolResult {
        let call = self.positioned(at);
        let result = ToolResult::failed(&call, error(&call.name));
        self.end(at, result.clone());
        result
    }

    /// Records the result of a call.
    fn end(&mut self, at: At, result: ToolResult) {
        self.record_in(at.0, Change::Ended(at.1, Arc::new(result)));
    }

    /// Adds the turn and its results to the messages, once all calls have results. Gives the turn up if the run is cancelled
    /// and something is unanswered. Tells the model what has ended in the background, when its turn is over.
    fn close(&mut self, dialect: &(impl Dialect + ?Sized)) {
        while self.answer_wait(dialect) {}
        if let Some(round) = self.open_round() {
            if round.calls.iter().any(|call| call.answer().is_none()) {
                return;
            }
            let calls = round.calls.iter().filter(|call| !call.is_late());
            let results: Vec<_> = calls.filter_map(RunCall::answer).collect();
            let messages = match results[..] {
                // Most responses have one call.
                [result] => dialect.results(std::slice::from_ref(result)),
                _ => dialect.results(&results.into_iter().cloned().collect::<Vec<_>>()),
            };
            let messages = messages.into_iter().map(Arc::new);
            self.record(Change::Closed(messages.collect()));
        }
        if self.state.is_cancelled && !self.unanswered().is_empty() {
            self.record(Change::GivenUp);
        }
        self.tell(dialect);
    }

    /// Returns the messages that a summary may replace, so that a number of parts is left: those after the prompt of the
    /// system, up to the start of a part. `None` if that is too little, or if nothing came since the last summary.
    pub(crate) fn old_messages(&self, kept_parts: usize) -> Option<Range<usize>> {
        let is_prompt = |message: &Value| {
            let role = message["role"].as_str().unwrap_or_default();
            matches!(role, "system" | "developer")
        };
        let messages = self.state.messages.iter();
        let start = messages.take_while(|message| is_prompt(message)).count();
        let index = self.state.parts.len().checked_sub(kept_parts.max(1))?;
        let end = self.start_of_late_calls(*self.state.parts.get(index)?);
        let has_news = self.state.rounds.len() > self.state.compacted_at;
        (has_news && end >= start + 2).then_some(start..end)
    }

    /// Returns the parts of the conversation that start before a message, from the last one on.
    #[cfg(feature = "tracing")]
    pub(crate) fn parts_before(&self, end: usize) -> impl Iterator<Item = Part<'_>> {
        let closed = self.state.rounds.iter().rev();
        let mut closed = closed.skip_while(|round| round.turn.is_some());
        let mut next = self.state.messages.len();
        let parts = self.state.parts.iter().rev().map(move |&start| {
            let messages = self.state.messages.get(start..next).unwrap_or_default();
            next = start;
            let is_pushed = |message: &Arc<Value>| {
                let role = message["role"].as_str();
                increment::is_of_user(message) || matches!(role, Some("system" | "developer"))
            };
            // A response without messages starts where the part after it does.
            let is_response = self.state.responses.contains(&start);
            let part = match messages.first() {
                _ if self.state.told.contains(&start) => Some(Part::Told(background::PREAMBLE)),
                Some(message) if !is_response || is_pushed(message) => Some(Part::Message(message)),
                _ => closed.next().map(Part::Response),
            };
            (start, part)
        });
        let before = parts.filter(move |(start, _)| *start < end);
        before.filter_map(|(_, part)| part)
    }

    /// Replaces old messages by a summary, which used and cost this much.
    pub(crate) fn compact(
        &mut self,
        old: Range<usize>,
        summary: Value,
        usage: Option<Usage>,
        micros: u64,
    ) {
        self.record(Change::Compacted {
            old,
            summary: Arc::new(summary),
            usage,
            micros,
        });
    }

    /// Returns the last round, if its results are not yet in the messages.
    pub(crate) fn open_round(&self) -> Option<&Round> {
        self.state
            .rounds
            .last()
            .filter(|round| round.turn.is_some())
    }
}

/// Returns the position of a call among the calls of a round.
pub(crate) fn position_of(round: usize, index: usize) -> CallPosition {
    let number = |index| u32::try_from(index).unwrap_or(u32::MAX);
    CallPosition::new(number(round), number(index))
}

/// Returns a call with the arguments to which a decision changed it. They are those of the tool, also if the model
/// called it by `call_tool`.
pub(crate) fn changed_call(
    registry: &Registry,
    call: &ToolCall,
    arguments: &Arguments,
) -> ToolCall {
    let mut changed = call.clone();
    registry.resolve(&mut changed);
    changed.arguments = arguments.clone();
    changed
}

/// Returns the tool that a call runs. Most calls name it, so that they need not be resolved in a copy.
fn tool_of(registry: &Registry, call: &ToolCall) -> Option<ToolEntry> {
    if call.server().is_some() {
        return None;
    }
    let named = registry.get(&call.name);
    named.or_else(|| registry.resolve(&mut call.clone()))
}

/// Returns `true` if a string in a value is this text.
fn contains(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string == text,
        Value::Array(items) => items.iter().any(|item| contains(item, text)),
        Value::Object(members) => members.values().any(|member| contains(member, text)),
        _ => false,
    }
}

/// Lists what is unanswered, for messages.
pub(crate) fn listed(asked: &[Unanswered]) -> String {
    const LISTED: usize = 5;
    let shown: Vec<_> = asked
        .iter()
        .take(LISTED)
        .map(Unanswered::to_string)
        .collect();
    let mut text = shown.join(", ");
    if asked.len() > LISTED {
        text += &format!(" and {} more", asked.len() - LISTED);
    }
    text
}

/// Returns an id for a run that is not saved.
pub(crate) fn random_id() -> String {
    let number = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", number(), number())
}

impl RunCall {
    /// Returns `true` if the provider takes the result later, and the model gets no acknowledgement.
    fn is_late(&self) -> bool {
        self.acknowledged.is_some() && self.call.takes_late_result()
    }

    fn is_started(&self) -> bool {
        matches!(self.state, CallState::Started)
    }

    /// Returns `true` for a call that waits for the background.
    fn is_waiting(&self) -> bool {
        self.is_wait && matches!(self.state, CallState::Ready)
    }

    /// Returns what the model gets for the call.
    fn answer(&self) -> Option<&ToolResult> {
        self.acknowledged.as_deref().or(self.result())
    }

    fn result(&self) -> Option<&ToolResult> {
        match &self.state {
            CallState::Ended(result) => Some(result),
            _ => None,
        }
    }
}

impl Round {
    /// Returns the calls of the response, with the results that are known. For a call in the background, it is that of
    /// the tool, and not the acknowledgement.
    pub fn calls(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&ToolCall, Option<&ToolResult>)> + ExactSizeIterator {
        self.calls.iter().map(|call| (&*call.call, call.result()))
    }

    /// Returns the decisions on the call at this index of [`calls`](Round::calls): the arguments and reason of
    /// each hold, what was decided, and who decided it.
    pub fn decisions(&self, index: usize) -> impl Iterator<Item = (&Hold, &Decision, &str)> {
        let call = self.calls.get(index);
        let decisions = call.into_iter().flat_map(|call| &call.decisions);
        decisions.map(|decided| (&decided.hold, &decided.decision, &*decided.by))
    }

    /// Returns the text of the response.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the response used, if the provider says so.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns what the response cost, in millionths of the currency of [`Agent::prices`](crate::Agent::prices).
    pub fn micros(&self) -> u64 {
        self.micros
    }

    /// Returns the result that ends the run.
    fn ended(&self) -> Option<&ToolResult> {
        let ending = self.calls.iter().filter(|call| call.ends_run);
        let mut results = ending.filter_map(RunCall::result);
        results.find(|result| !result.is_error())
    }

    /// Returns what the response asks for that is no call, as long as nothing [answers](Run::answer) it.
    pub fn unanswered(&self) -> &[Unanswered] {
        &self.unanswered
    }

    /// Returns why the model stopped, in the provider's words.
    pub fn stop_reason(&self) -> Option<&str> {
        self.stop_reason.as_deref()
    }
}

impl TryFrom<SavedRun<Value>> for Run {
    type Error = String;

    fn try_from(saved: SavedRun<Value>) -> Result<Run, String> {
        increment::check_version(saved.version)?;
        let state = serde_json::from_value(saved.state).map_err(|error| error.to_string())?;
        let mut run = Run::of(state);
        for (round, index) in run.state.background.clone() {
            run.call_mut(round, index)?;
        }
        Ok(run)
    }
}

impl Serialize for Run {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = SavedRun {
            version: VERSION,
            state: &self.state,
        };
        saved.serialize(serializer)
    }
}

/// The error of a step that does not fit the state of a [`Run`].
///
/// ```
/// use tool_agent::run::{Run, RunError};
/// use tool_core::ToolCall;
///
/// // A call that is in no response of the model.
/// let mut run = Run::new("conversation-1");
/// let error = run.start(&[ToolCall::new("call_1", "add", "{}")]).unwrap_err();
/// assert!(matches!(error, RunError::NotReady(id) if id == "call_1"));
/// ```
#[non_exhaustive]
pub enum RunError {
    /// A message was added that is not an object.
    NotAMessage,
    /// A message was added while calls have no results.
    OpenCalls,
    /// A message was added while this is [unanswered](RunOutcome::Unanswered), or answers were given that lack these ids.
    Unanswered(Vec<Unanswered>),
    /// Answers were given, and nothing is [unanswered](RunOutcome::Unanswered).
    NothingAsked,
    /// A response was given that was not requested.
    NotRequested,
    /// A call with this id was marked as started that is not ready.
    NotReady(String),
    /// A result was given for a call with this id, which has not started.
    NotStarted(String),
    /// The messages of the run are in the format of another dialect.
    OtherDialect {
        /// The id of the run.
        run: String,
        /// The provider of the run's dialect.
        own: String,
        /// The provider of the dialect that was given.
        given: String,
    },
}

/// The message and its sources, because `main` may return the error.
impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::error_text::write(self, f)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::NotAMessage => f.write_str(
                "the message is not an object in the provider's format; make one of a text with \
                 `Dialect::user_message`",
            ),
            RunError::OpenCalls => f.write_str(
                "calls of the last response have no results; finish or cancel them before the next \
                 message",
            ),
            RunError::Unanswered(asked) => write!(
                f,
                "the last response asks for {}, which has no answer; give it to `Run::answer`, or cancel the run",
                listed(asked)
            ),
            RunError::NothingAsked => {
                f.write_str("nothing is unanswered; add a message with `push`")
            }
            RunError::NotRequested => {
                f.write_str("the run did not request a response; do what `next` returns")
            }
            RunError::OtherDialect { run, own, given } => write!(
                f,
                "the run {run:?} has the messages of {own}, and can't go on with {given}; use the dialect of {own}, or \
                 start another run"
            ),
            RunError::NotReady(id) => write!(
                f,
                "the call {id:?} is not at the position of a call that is ready; start the calls that `next` returns"
            ),
            RunError::NotStarted(id) => write!(
                f,
                "the result of the call {id:?} is not at the position of a call that runs; make it of a call that \
                 `next` returned, or assign it with `ToolResult::for_call`"
            ),
        }
    }
}

impl Error for RunError {}
