//! [`RunError`]: an error of a step that does not fit the state of a run.

use std::error::Error;
use std::fmt;

use tool_core::dialect::Unanswered;

/// An error of a step that does not fit the state of a [`Run`](super::Run).
///
/// ```
/// use tool_agent::run::{Run, RunError};
/// use tool_core::ToolCall;
///
/// // The call is not part of any response of the model.
/// let mut run = Run::new("conversation-1");
/// let error = run.start(&[ToolCall::new("call_1", "add", "{}")]).unwrap_err();
/// assert!(matches!(error, RunError::NotReady(id) if id == "call_1"));
/// ```
#[non_exhaustive]
pub enum RunError {
    /// The added message is not an object.
    NotAMessage,
    /// A message was added although calls have no results.
    OpenCalls,
    /// A message was added although these requests are [unanswered](super::RunOutcome::Unanswered), or the answers lack
    /// their ids.
    Unanswered(Vec<Unanswered>),
    /// Answers were added although nothing is [unanswered](super::RunOutcome::Unanswered).
    NothingAsked,
    /// A response was added although none was requested.
    NotRequested,
    /// The call with this id was marked as started, but is not ready.
    NotReady(String),
    /// A result was added for the call with this id, which has not started.
    NotStarted(String),
    /// The messages of the run are in the format of another dialect. [`Run::translate`](super::Run::translate) moves it.
    OtherDialect {
        /// The id of the run.
        run: String,
        /// The provider of the run's dialect.
        own: String,
        /// The provider of the given dialect.
        given: String,
    },
    /// The dialect with this provider does not [write](tool_core::dialect::Dialect::write_message) turns of a model, so
    /// that no run can move to it.
    NoTurns(String),
}

/// Shows the message and its sources, because `main` may return the error.
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
                "the run {run:?} has the messages of {own}, not of {given}; use the dialect of {own}, or move the run with \
                 `Run::translate`"
            ),
            RunError::NoTurns(given) => write!(
                f,
                "a conversation can't go on with {given}, because its dialect writes no turns of a model; implement \
                 `Dialect::write_message`"
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

/// Lists unanswered requests in a message.
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
