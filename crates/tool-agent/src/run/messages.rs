//! The messages of a run: the user's, the model's, and the results of calls.

use std::sync::Arc;

use serde_json::Value;

use super::calls::tool_of;
use super::change::{Change, ResponseChange};
use super::round::{Round, RunCall};
use super::{Run, RunError, Step};
use tool_core::dialect::{Dialect, End, Turn, Unanswered};
use tool_core::{Registry, ToolError};

/// Adds messages.
impl Run {
    /// Adds a message in the provider's format, such as a system prompt or the user's next question. The limits in the
    /// settings start anew.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::Run;
    /// use tool_agent::dialects::Anthropic;
    /// use tool_core::dialect::Dialect;
    ///
    /// let mut run = Run::new("conversation-1");
    /// run.push(Anthropic::default().user_message("Hello!"))?;
    /// assert_eq!(*run.messages()[0], json!({"role": "user", "content": "Hello!"}));
    /// # Ok::<(), tool_agent::run::RunError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the message is not an object. Also while calls of the last response have no result, and
    /// while a request is [unanswered](super::RunOutcome::Unanswered), because providers reject a message between a
    /// call and its result.
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

    /// Returns unanswered requests of the last response other than calls.
    pub(crate) fn unanswered(&self) -> &[Unanswered] {
        let last = self.state.rounds.last();
        last.map_or(&[], |round| &round.unanswered)
    }

    /// Answers [unanswered](super::RunOutcome::Unanswered) requests, with messages or items in the provider's form. The
    /// run then continues with the next request. The answers come from your program, and nothing checks them.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_agent::run::{Run, RunOutcome, Step};
    /// use tool_core::Registry;
    /// use tool_agent::dialects::OpenAiResponses;
    /// use tool_core::dialect::Dialect;
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
    /// Returns an error if nothing is unanswered, calls of the response have no results yet, or the answers lack an id
    /// of an unanswered request. The run is then unchanged.
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

    /// Adds the model's response to the messages of [`Step::Request`], as the dialect [read](Dialect::read) it. The
    /// registry tells which of its calls may run concurrently.
    ///
    /// # Errors
    ///
    /// Returns an error if the run did not request a response or has another dialect.
    pub fn respond(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        registry: &Registry,
        turn: Turn,
    ) -> Result<(), RunError> {
        self.respond_at(dialect, registry, turn, 0)
    }

    /// Adds a response with its cost.
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
        let end = self.end_of(&turn);
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
            end,
            explanation: turn.explanation,
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

    /// Returns how a response ended, or `None` if its calls or its text show that.
    fn end_of(&self, turn: &Turn) -> Option<End> {
        match turn.end() {
            End::Answered if turn.calls.is_empty() => None,
            End::Calls if !turn.calls.is_empty() => None,
            // After results, a model may have nothing left to say.
            End::Silent if self.asks_about_results() => None,
            end => Some(end),
        }
    }

    /// Returns `true` if the last messages are results of calls, including background calls.
    fn asks_about_results(&self) -> bool {
        let last = self.state.rounds.last();
        let last = last.filter(|_| self.state.spent.rounds > 0);
        let is_told =
            || self.state.told.last().map(|told| told + 1) == Some(self.state.messages.len());
        last.is_some_and(|round| !round.calls.is_empty() || *round.end() == End::Calls || is_told())
    }

    /// Asks the model again with this message, because the last response is no answer. The limits keep counting.
    pub(crate) fn ask_again(&mut self, message: Value, continues: bool) {
        self.record(Change::AskedAgain {
            message: Arc::new(message),
            continues,
        });
    }

    /// Returns how often the model was asked again since the last message of the user.
    pub(crate) fn asked_again(&self) -> u32 {
        self.state.spent.asked_again
    }

    /// Denies the calls of the last response.
    pub(crate) fn deny_calls(&mut self, dialect: &(impl Dialect + ?Sized), reason: &str) {
        let last = self.last_round();
        let round = self.open_round().into_iter();
        let calls = round.flat_map(|round| round.calls.iter().enumerate());
        let open = calls.filter(|(_, call)| call.answer().is_none());
        for index in open.map(|(index, _)| index).collect::<Vec<_>>() {
            self.fail((last, index), |tool| ToolError::denied(tool, reason));
        }
        self.close(dialect);
    }

    /// Adds the turn and its results to the messages, once all calls have results. Gives the turn up if the run is
    /// cancelled and a request is unanswered. At the end of the model's turn, adds ended background calls.
    pub(super) fn close(&mut self, dialect: &(impl Dialect + ?Sized)) {
        while self.answer_wait(dialect) {}
        if let Some(round) = self.open_round() {
            if !self.tally.is_answered() || self.tally.waiting > 0 {
                return;
            }
            let calls = round.calls.iter().filter(|call| !call.is_late());
            let results: Vec<_> = calls.filter_map(RunCall::answer).collect();
            let messages = match results[..] {
                // Avoids a copy, because most responses have one call.
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
        self.prepare(dialect);
    }

    /// Returns the last round, if its results are not yet in the messages.
    pub(crate) fn open_round(&self) -> Option<&Round> {
        self.state
            .rounds
            .last()
            .filter(|round| round.turn.is_some())
    }
}

/// Returns `true` if the value contains a string equal to this text.
pub(super) fn contains(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string == text,
        Value::Array(items) => items.iter().any(|item| contains(item, text)),
        Value::Object(members) => members.values().any(|member| contains(member, text)),
        _ => false,
    }
}
