//! [`Round`]: a response of the model, with the state of its calls.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use tool_core::dialect::{End, Unanswered, Usage};
use tool_core::hooks::{Decision, Hold};
use tool_core::{ToolCall, ToolResult};

/// One response of the model with its calls.
///
/// ```
/// use tool_agent::run::Run;
///
/// /// Prints the model's text and calls.
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
    pub(super) calls: Vec<RunCall>,
    pub(super) text: String,
    pub(super) usage: Option<Usage>,
    pub(super) stop_reason: Option<String>,
    /// `None` if the calls or the text show it, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<End>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) explanation: Option<String>,
    /// Set if the next response continues its text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_continued: bool,
    pub(super) is_paused: bool,
    /// Requests that still need an answer of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) unanswered: Vec<Unanswered>,
    /// Set if the model waits for the next request although it made no calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_answered: bool,
    #[serde(default)]
    pub(super) micros: u64,
    /// The messages that repeat the response, kept until all calls have results.
    pub(super) turn: Option<Vec<Arc<Value>>>,
}

impl Round {
    /// Returns the calls of the response, with their known results. For a background call, that is the result of the
    /// tool and not the acknowledgement.
    pub fn calls(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&ToolCall, Option<&ToolResult>)> + ExactSizeIterator {
        self.calls.iter().map(|call| (&*call.call, call.result()))
    }

    /// Returns the decisions on the call at this index of [`calls`](Round::calls). Each has the arguments and reason of
    /// the hold, the decision, and the name of the person.
    pub fn decisions(&self, index: usize) -> impl Iterator<Item = (&Hold, &Decision, &str)> {
        let call = self.calls.get(index);
        let decisions = call.into_iter().flat_map(|call| &call.decisions);
        decisions.map(|decided| (&decided.hold, &decided.decision, &*decided.by))
    }

    /// Returns the text of the response.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the usage of the response, if the provider reports it.
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns the cost of the response, in millionths of the currency of [`Agent::prices`](crate::Agent::prices).
    pub fn micros(&self) -> u64 {
        self.micros
    }

    /// Returns the result that ends the run.
    pub(super) fn ended(&self) -> Option<&ToolResult> {
        let ending = self.calls.iter().filter(|call| call.ends_run);
        let mut results = ending.filter_map(RunCall::result);
        results.find(|result| !result.is_error())
    }

    /// Returns the requests of the response that are not calls and still have no [answer](super::Run::answer).
    pub fn unanswered(&self) -> &[Unanswered] {
        &self.unanswered
    }

    /// Returns how the response ended. Some models are [known](End::Silent) to end without a word after results; that
    /// counts as [answered](End::Answered).
    pub fn end(&self) -> &End {
        match &self.end {
            Some(end) => end,
            None if self.calls.is_empty() => &End::Answered,
            None => &End::Calls,
        }
    }

    /// Returns the reason why the model stopped, in the provider's words. [`end`](Round::end) is the same for all
    /// providers.
    pub fn stop_reason(&self) -> Option<&str> {
        self.stop_reason.as_deref()
    }
}

impl fmt::Debug for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round")
            .field("calls", &self.calls)
            .field("text", &self.text)
            .field("usage", &self.usage)
            .field("stop_reason", &self.stop_reason)
            .field("end", self.end())
            .field("is_paused", &self.is_paused)
            .field("unanswered", &self.unanswered)
            .finish_non_exhaustive()
    }
}

/// A call and its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunCall {
    /// Shared with the increment, like the results below.
    pub(super) call: Arc<ToolCall>,
    pub(super) is_parallel: bool,
    /// Set if the run ends when the call succeeds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) ends_run: bool,
    /// Set for a call of `wait_for_results`, which the run answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_wait: bool,
    pub(super) decisions: Vec<Decided>,
    pub(super) state: CallState,
    /// The model's acknowledgement in place of the result, if the call runs in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) acknowledged: Option<Arc<ToolResult>>,
}

/// A decision on a hold, and who made it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Decided {
    pub(super) hold: Hold,
    pub(super) decision: Decision,
    pub(super) by: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum CallState {
    Ready,
    Started,
    Held(Hold),
    Ended(Arc<ToolResult>),
}

impl RunCall {
    /// Returns `true` if the provider takes the result later, without an acknowledgement.
    pub(super) fn is_late(&self) -> bool {
        self.acknowledged.is_some() && self.call.takes_late_result()
    }

    pub(super) fn is_started(&self) -> bool {
        matches!(self.state, CallState::Started)
    }

    /// Returns `true` for a call that waits for background calls.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_wait && matches!(self.state, CallState::Ready)
    }

    /// Returns the result or acknowledgement that the model gets for the call.
    pub(super) fn answer(&self) -> Option<&ToolResult> {
        self.acknowledged.as_deref().or(self.result())
    }

    pub(super) fn result(&self) -> Option<&ToolResult> {
        match &self.state {
            CallState::Ended(result) => Some(result),
            _ => None,
        }
    }
}

/// The numbers of calls of a round that have no answer, by state. A run keeps them for its last round, because looking at
/// all calls for each result would take a time that grows with the square of their number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) ready: usize,
    pub(super) started: usize,
    pub(super) held: usize,
    /// The calls that wait for background calls.
    pub(super) waiting: usize,
    /// All calls before this index have an answer.
    pub(super) first: usize,
}

impl Tally {
    pub(super) fn of(round: &Round) -> Tally {
        let mut tally = Tally::default();
        for call in &round.calls {
            tally.add(call);
        }
        tally.skip_answered(&round.calls);
        tally
    }

    pub(super) fn skip_answered(&mut self, calls: &[RunCall]) {
        let left = calls.get(self.first..).unwrap_or_default();
        let answered = left.iter().take_while(|call| call.answer().is_some());
        self.first += answered.count();
    }

    pub(super) fn add(&mut self, call: &RunCall) {
        if let Some(count) = self.of_state(call) {
            *count += 1;
        }
    }

    /// Takes out a call before its state changes.
    pub(super) fn remove(&mut self, call: &RunCall) {
        if let Some(count) = self.of_state(call) {
            *count -= 1;
        }
    }

    /// Returns the number of which a call is a part. `None` if it has an answer.
    fn of_state(&mut self, call: &RunCall) -> Option<&mut usize> {
        match call.state {
            _ if call.answer().is_some() => None,
            CallState::Ready if call.is_wait => Some(&mut self.waiting),
            CallState::Ready => Some(&mut self.ready),
            CallState::Started => Some(&mut self.started),
            CallState::Held(_) => Some(&mut self.held),
            CallState::Ended(_) => None,
        }
    }

    /// Returns `true` if each call has an answer, or waits for background calls.
    pub(super) fn is_answered(self) -> bool {
        self.ready + self.started + self.held == 0
    }
}
