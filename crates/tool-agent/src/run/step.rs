//! [`Step`]: the next step of a run, and [`RunOutcome`]: its outcome.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::round::{CallState, RunCall, Tally};
use super::{Pending, Round, Run};
use tool_core::dialect::{End, Unanswered};
use tool_core::{ToolCall, ToolResult};

/// The next step of a [`Run`].
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
    /// Get a response of the model to these messages. They are in the provider's format, as a request
    /// [repeats](tool_core::dialect::Dialect::repeat) them. After loading a run, call [`Run::resume`] first, which
    /// prepares them.
    Request(&'r Arc<Vec<Arc<Value>>>),
    /// Get the results of these calls, which may run concurrently.
    Call(Vec<ToolCall>),
    /// Wait for results of started calls, including background calls.
    Running,
    /// Get decisions on these calls. Nothing else is left except to wait for background calls.
    Wait(Vec<Pending>),
    /// Nothing is left. You can add the next [message](Run::push) of the user.
    Done(RunOutcome),
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

/// The outcome of a run.
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
    /// The model answered with this text. It is empty if the answer is a picture or a file, or if the provider is known
    /// to end a turn [without a word](End::Silent) after results of calls.
    Answered(String),
    /// The last response ended the turn of the model, but is not an answer: it is empty, cut off, filtered or refused.
    /// [`Agent::ask_again`](crate::Agent::ask_again) repeats the request if that may help. Otherwise, continue with the
    /// next message of the user.
    NoAnswer(Box<NoAnswer>),
    /// A call of a tool with
    /// [`#[tool(ends_run)]`](https://docs.rs/tool-core/latest/tool_core/attr.tool.html#keys-of-tool) succeeded, and the
    /// other calls of the response have results. [`ToolResult::value`] returns its value. If there are several, it is
    /// the first in the response.
    Ended(Box<ToolResult>),
    /// The response contains a request that no tool answers, such as a command for the program's shell. The calls of
    /// the response have results. Add the answers in the provider's form with [`Run::answer`], or give the response up
    /// with [`Run::cancel`]. Without either, the provider would reject the next request.
    Unanswered(Vec<Unanswered>),
    /// The [limit](super::RunSettings::max_rounds) on rounds was reached while the model still called tools.
    OutOfRounds,
    /// The [limit](super::RunSettings::max_calls) on calls was reached.
    OutOfCalls,
    /// The [limit](super::RunSettings::max_tokens) on tokens was reached while the model still called tools.
    OutOfTokens,
    /// The [limit](super::RunSettings::max_micros) on cost was reached while the model still called tools.
    OutOfMoney,
    /// Calls of this tool [failed](super::RunSettings::max_failures) too often in a row.
    OutOfFailures(String),
    /// The [time limit](crate::Agent::max_duration) was reached.
    OutOfTime,
    /// The run was [cancelled](Run::cancel).
    Cancelled,
    /// These calls wait for [decisions](Run::decide). An [`Agent`](crate::Agent) stops here. Once the decisions are
    /// made, drive the run again.
    Waiting(Vec<Pending>),
}

/// A response that is not an answer; see [`RunOutcome::NoAnswer`]. `Display` writes a sentence without the response's
/// text.
///
/// ```
/// use tool_agent::Agent;
/// use tool_agent::run::{Run, RunOutcome};
/// use tool_agent::testing::ScriptedModel;
/// use tool_core::Registry;
/// use tool_agent::dialects::OpenAiChat;
/// use tool_core::dialect::End;
///
/// let model = ScriptedModel::default().say("");
/// let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
/// let mut run = Run::new("conversation-1");
/// run.push(agent.dialect().user_message("Tell a story."))?;
/// let RunOutcome::NoAnswer(none) = agent.run_blocking(&mut run)? else { panic!() };
/// assert_eq!((&none.end, &*none.text), (&End::Empty, ""));
/// assert_eq!(none.to_string(), "the response is empty");
/// # Ok::<(), tool_agent::AgentError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NoAnswer {
    /// How the response ended.
    pub end: End,
    /// The text of the response, such as the start of an answer that was cut off. Often empty.
    pub text: String,
    /// The provider's explanation, such as the reason for a filter.
    pub explanation: Option<String>,
}

impl NoAnswer {
    /// Returns a message to the model for the repeated request, if one may help.
    pub(crate) fn to_model(&self) -> Option<String> {
        Some(match &self.end {
            End::Malformed => {
                let what = self.explanation.as_deref();
                let what = what.map_or_else(String::new, |what| format!(": {what}"));
                format!(
                    "Your last response could not be read, and nothing of it ran{what}\nIf you need a tool, call it \
                     again, with a JSON object as the arguments. Otherwise, answer."
                )
            }
            End::Empty | End::Silent => {
                "Your last response was empty. Answer, or call a tool.".into()
            }
            End::Length if self.text.is_empty() => {
                "Your last response was cut off before the answer. Answer in fewer words.".into()
            }
            End::Length => {
                "Your last response was cut off. Go on exactly where it ended, and repeat nothing."
                    .into()
            }
            End::Paused => "Go on.".into(),
            _ => return None,
        })
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.end.fmt(f)?;
        match &self.explanation {
            Some(explanation) => write!(f, ": {explanation}"),
            None => Ok(()),
        }
    }
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
            RunOutcome::NoAnswer(_) => "no_answer",
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

/// Computes the next step.
impl Run {
    /// Returns the next step. Doesn't change the state.
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

    /// Returns how the last turn of the model ended, even while background calls have no result. `None` while the turn
    /// continues.
    pub fn outcome(&self) -> Option<RunOutcome> {
        match self.foreground() {
            Step::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Returns the next step without regard to background calls.
    pub(super) fn foreground(&self) -> Step<'_> {
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
            return Step::Done(self.outcome_of(round));
        }
        let (spent, limits) = (self.state.spent, self.state.settings);
        if let Some(tool) = self.failing_tool() {
            return Step::Done(RunOutcome::OutOfFailures(tool.to_owned()));
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
            Step::Request(self.sent())
        }
    }

    /// Returns the outcome of the turn that ended with this round.
    fn outcome_of(&self, round: &Round) -> RunOutcome {
        let text = self.text_of_turn();
        // If the provider takes the results later, a response of only such calls ends the turn as well.
        if let End::Answered | End::Calls = round.end() {
            return RunOutcome::Answered(text);
        }
        RunOutcome::NoAnswer(Box::new(NoAnswer {
            end: round.end().clone(),
            text,
            explanation: round.explanation.clone(),
        }))
    }

    /// Returns the text of the last round, preceded by the texts that it continues.
    fn text_of_turn(&self) -> String {
        let rounds = &self.state.rounds;
        let before = rounds.iter().rev().skip(1);
        let before = before.take_while(|round| round.is_continued).count();
        let texts = &rounds[rounds.len().saturating_sub(before + 1)..];
        texts.iter().map(|round| &*round.text).collect()
    }

    /// Returns the next step of a round with calls.
    fn next_of<'r>(&'r self, round: &'r Round) -> Step<'r> {
        match self.tally {
            Tally { ready: 1.., .. } => {}
            Tally { started: 1.., .. } => return Step::Running,
            _ => return self.waiting(),
        }
        let last = self.last_round();
        let calls = round.calls.iter().enumerate().skip(self.tally.first);
        // A call that waits for background calls doesn't block the others.
        let mut calls = calls.filter(|(_, call)| call.answer().is_none() && !call.is_waiting());
        let mut ready = Vec::new();
        let mut is_running = false;
        // A held call doesn't block the others.
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

    /// Returns the next step if only background calls may be left.
    fn when_done(&self, outcome: RunOutcome) -> Step<'_> {
        match self.waiting() {
            Step::Running if !self.runs_in_background() => Step::Done(outcome),
            step => step,
        }
    }

    /// Returns the step for calls that wait for decisions or are running.
    fn waiting(&self) -> Step<'_> {
        let pending = self.pending();
        if pending.is_empty() {
            Step::Running
        } else {
            Step::Wait(pending)
        }
    }
}
