//! [`AgentError`]: an error of driving a run, and [`Unfinished`]: a run without an answer.

use std::error::Error;
use std::fmt;

use tool_core::ToolError;
use tool_core::dialect::{AnswerError, RequestError, ResponseError};
use tool_core::runtime::NoRuntime;

use crate::model::ModelError;
use crate::run::{DecideError, JournalError, ReplayError, Run, RunError, RunOutcome, listed};

/// An error of the application.
pub(super) type ContextError = Box<dyn Error + Send + Sync>;

/// The error of a run.
///
/// ```
/// use tool_agent::testing::ScriptedModel;
/// use tool_agent::{Agent, AgentError};
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
///
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), ScriptedModel::new([]));
/// match agent.ask_blocking("Hello?") {
///     Err(AgentError::Model(error)) if error.is_retryable() => println!("try again later"),
///     Err(AgentError::Model(error)) => println!("the request failed: {error}"),
///     other => unreachable!("{other:?}"),
/// }
/// ```
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
    /// The increments in the journal can't be applied.
    Replay(ReplayError),
    /// There are no timers for [`Agent::max_duration`](crate::Agent::max_duration), or a blocking method would wait on a platform without threads.
    NoRuntime(NoRuntime),
    /// The answer does not match the schema of [`Agent::ask_for`](crate::Agent::ask_for).
    Answer(AnswerError),
    /// The run was [saved](Run::set_request_options) with a type of answers. The agent has no such type, or one with
    /// another schema.
    AnswerType {
        /// The id of the run.
        run: String,
        /// The error in the settings.
        error: RequestError,
    },
    /// The closure of [`Compaction::summary_with`](crate::Compaction::summary_with) failed.
    Summary(Box<dyn Error + Send + Sync>),
    /// The run with this id has a cost limit, but the agent has no [prices](crate::Agent::prices).
    NoPrices(String),
    /// The decision was rejected.
    Decide(DecideError),
    /// The run with this id has an owner, but the agent has no [`contexts`](crate::Agent::contexts).
    NoContexts(String),
    /// Tools need context values for each call, but the agent has neither [`contexts`](crate::Agent::contexts) nor
    /// [`each_call`](crate::Agent::each_call).
    MissingContexts {
        /// The id of the run.
        run: String,
        /// The names of the tools, each with the path of a type; see
        /// [`Agent::missing_contexts`](crate::Agent::missing_contexts).
        missing: Vec<(String, &'static str)>,
    },
    /// The closure of [`Agent::system_with`](crate::Agent::system_with) or
    /// [`Agent::tools_with`](crate::Agent::tools_with) failed.
    Setup {
        /// The id of the run.
        run: String,
        /// "the system prompt" or "the tools".
        part: &'static str,
        /// The error of the closure.
        error: Box<dyn Error + Send + Sync>,
    },
    /// The closure of [`Agent::contexts`](crate::Agent::contexts) failed.
    Context {
        /// The id of the run.
        run: String,
        /// The name of the called tool.
        tool: String,
        /// The error of the closure.
        error: Box<dyn Error + Send + Sync>,
    },
    /// The run of [`Agent::ask`](crate::Agent::ask) or [`Agent::ask_for`](crate::Agent::ask_for) has no answer yet.
    Unfinished(Box<Unfinished>),
    /// Code of the application panicked, such as a model. [`ToolError::detail`] contains the message.
    Panicked(Box<ToolError>),
}

/// The answer of a run as a value, returned by [`Agent::answer`](crate::Agent::answer).
///
/// ```
/// use tool_agent::Typed;
/// use tool_agent::run::RunOutcome;
///
/// fn report(answer: Typed<i64>) -> String {
///     match answer {
///         Typed::Answered(sum) => format!("the sum is {sum}"),
///         Typed::Ended(RunOutcome::Waiting(calls)) => format!("{} calls wait", calls.len()),
///         Typed::Ended(outcome) => format!("no sum: {}", outcome.as_str()),
///         _ => "no sum".into(),
///     }
/// }
///
/// assert_eq!(report(Typed::Answered(5)), "the sum is 5");
/// assert_eq!(report(Typed::Ended(RunOutcome::OutOfTime)), "no sum: out_of_time");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Typed<T> {
    /// The answer.
    Answered(T),
    /// The run ended or waits without an answer.
    Ended(RunOutcome),
}

/// A run that has no answer yet; see [`AgentError::Unfinished`]. Drive it with [`Agent::run`](crate::Agent::run), or save it.
///
/// ```
/// use tool_agent::{Agent, AgentError};
///
/// async fn ask(agent: &Agent, question: &str) -> Result<Option<String>, AgentError> {
///     match agent.ask(question).await {
///         // Don't lose the run: a person may decide on its calls, and then it continues.
///         Err(AgentError::Unfinished(mut unfinished)) => {
///             agent.save(&mut unfinished.run).await?;
///             Ok(None)
///         }
///         answer => answer.map(Some),
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Unfinished {
    /// The run.
    pub run: Run,
    /// The reason why it has no answer.
    pub reason: UnfinishedReason,
}

/// The reason why a run has no answer yet.
///
/// ```
/// use tool_agent::run::RunOutcome;
/// use tool_agent::{Unfinished, UnfinishedReason};
///
/// fn explain(unfinished: &Unfinished) -> String {
///     match &unfinished.reason {
///         UnfinishedReason::Ended(RunOutcome::Waiting(_)) => "a call needs your approval".into(),
///         UnfinishedReason::Ended(outcome) => format!("it ended: {}", outcome.as_str()),
///         UnfinishedReason::Failed(error) => format!("it can go on later: {error}"),
///         _ => "it is not finished".into(),
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum UnfinishedReason {
    /// The run ended at a limit or with a response that is [no answer](RunOutcome::NoAnswer), was cancelled, or waits.
    Ended(RunOutcome),
    /// An error occurred after calls had run, so the run must not be lost.
    Failed(AgentError),
}

impl Unfinished {
    /// Returns the answer of a run, and the run.
    pub(super) fn check(
        ended: Result<RunOutcome, AgentError>,
        run: Run,
    ) -> Result<(String, Run), AgentError> {
        match ended {
            Ok(RunOutcome::Answered(text)) => Ok((text, run)),
            Ok(outcome) => Err(Unfinished::error(UnfinishedReason::Ended(outcome), run)),
            Err(error) => Err(Unfinished::of_error(error, run)),
        }
    }

    /// Describes why a run with this outcome has no answer.
    pub(crate) fn describe(outcome: &RunOutcome) -> String {
        match outcome {
            RunOutcome::NoAnswer(none) => none.to_string(),
            RunOutcome::Waiting(_) => "the run waits for a decision; drive it with `run`".into(),
            RunOutcome::Cancelled => "the run was cancelled before the model answered".into(),
            RunOutcome::Ended(result) => {
                format!(
                    "a call of {} ended the run before the model answered",
                    result.name()
                )
            }
            RunOutcome::Unanswered(asked) => format!(
                "the model asked for {}, which no tool of the program answers",
                listed(asked)
            ),
            RunOutcome::OutOfFailures(tool) => {
                format!("calls of {tool} failed too often before the model answered")
            }
            _ => "the run reached a limit before the model answered".into(),
        }
    }

    /// Adds the run to an error if calls of the run have results, which must not be lost.
    pub(super) fn of_error(error: AgentError, run: Run) -> AgentError {
        if run.has_results() {
            return Unfinished::error(UnfinishedReason::Failed(error), run);
        }
        error
    }

    pub(super) fn error(reason: UnfinishedReason, run: Run) -> AgentError {
        AgentError::Unfinished(Box::new(Unfinished { run, reason }))
    }
}

impl AgentError {
    /// Returns the kind of the error, for spans and metrics.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            AgentError::Request(_) => "invalid_request",
            AgentError::Model(error) => error.kind().as_str(),
            AgentError::Response(_) => "unreadable_response",
            AgentError::Run(_) => "invalid_step",
            AgentError::Journal(_) => "journal",
            AgentError::Replay(_) => "invalid_journal",
            AgentError::NoRuntime(_) => "no_runtime",
            AgentError::Answer(_) => "invalid_answer",
            AgentError::AnswerType { .. } => "answer_type",
            AgentError::Summary(_) => "summary",
            AgentError::NoPrices(_) => "no_prices",
            AgentError::Decide(_) => "not_decided",
            AgentError::NoContexts(_) => "no_contexts",
            AgentError::MissingContexts { .. } => "missing_contexts",
            AgentError::Setup { .. } => "setup",
            AgentError::Context { .. } => "context",
            AgentError::Unfinished(_) => "unfinished",
            AgentError::Panicked(_) => "panicked",
        }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::Model(error) if error.has_target() => error.fmt(f),
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
            AgentError::NoRuntime(_) if cfg!(not(target_family = "wasm")) => f.write_str(
                "`Agent::max_duration` needs timers: run the agent in a runtime of tokio that has them enabled",
            ),
            AgentError::NoRuntime(error) => error.fmt(f),
            AgentError::Decide(error) => error.fmt(f),
            AgentError::Panicked(error) => error.fmt(f),
            AgentError::AnswerType { run, error } => write!(f, "the run {run:?} can't go on: {error}"),
            AgentError::Summary(error) => write!(f, "old messages can't be summarised: {error}"),
            AgentError::NoPrices(run) => write!(
                f,
                "the run {run:?} has a limit of money; set the prices of the model with `Agent::prices`"
            ),
            AgentError::NoContexts(run) => {
                write!(
                    f,
                    "the run {run:?} has an owner; say with `Agent::contexts` how its calls get the rights of the owner"
                )
            }
            AgentError::MissingContexts { run, missing } => {
                write!(f, "the run {run:?} does not start, because nothing attaches ")?;
                for (at, (tool, context)) in missing.iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}the `{context}` of {tool}")?;
                }
                f.write_str(
                    "; attach values of the owner with `Agent::contexts`, and others with `Agent::each_call`",
                )
            }
            AgentError::Setup { run, part, error } => {
                write!(f, "the run {run:?} does not get {part}: {error}")
            }
            AgentError::Context { run, tool, error } => {
                write!(
                    f,
                    "the call of {tool} in the run {run:?} did not start, because its context values are missing: {error}"
                )
            }
            AgentError::Unfinished(unfinished) => match &unfinished.reason {
                UnfinishedReason::Ended(outcome) => f.write_str(&Unfinished::describe(outcome)),
                UnfinishedReason::Failed(error) => write!(f, "calls have run, and then {error}"),
            },
        }
    }
}

/// Shows the message and its sources, because `main` may return the error.
impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::error_text::write(self, f)
    }
}

impl Error for AgentError {
    /// Skips the wrapped error, because its message is already displayed.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            AgentError::Model(error) => error.source(),
            AgentError::Run(error) => error.source(),
            AgentError::Journal(error) => error.source(),
            AgentError::Decide(error) => error.source(),
            AgentError::Context { error, .. }
            | AgentError::Setup { error, .. }
            | AgentError::Summary(error) => error.source(),
            AgentError::Unfinished(unfinished) => match &unfinished.reason {
                UnfinishedReason::Failed(error) => error.source(),
                UnfinishedReason::Ended(_) => None,
            },
            AgentError::Request(_)
            | AgentError::Answer(_)
            | AgentError::Response(_)
            | AgentError::Replay(_)
            | AgentError::NoRuntime(_)
            | AgentError::AnswerType { .. }
            | AgentError::NoPrices(_)
            | AgentError::NoContexts(_)
            | AgentError::MissingContexts { .. }
            | AgentError::Panicked(_) => None,
        }
    }
}

impl AgentError {
    /// Wraps an error that describes a panic.
    pub(crate) fn of_panic(panic: ToolError) -> AgentError {
        AgentError::Panicked(Box::new(panic))
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
