//! Calls of a run, from the start to the result.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::change::Change;
use super::round::{CallState, RunCall};
use super::state::At;
use super::{Run, RunError, RunOutcome, Step};
use tool_core::call::{Arguments, CallPosition};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, ToolEntry, ToolError, ToolResult};

/// Starts, finishes and cancels calls.
impl Run {
    /// Marks calls of [`Step::Call`] as started. Save the run before the calls run. Otherwise, after an interruption, a
    /// call without a saved mark is started again.
    ///
    /// # Errors
    ///
    /// Returns an error if a call is not ready, or its [position](ToolCall::position) is missing or wrong. No call is
    /// marked then.
    pub fn start(&mut self, calls: &[ToolCall]) -> Result<(), RunError> {
        self.start_calls(calls)?;
        Ok(())
    }

    /// Marks calls as started, and returns their positions.
    pub(crate) fn start_calls(&mut self, calls: &[ToolCall]) -> Result<Vec<At>, RunError> {
        let mut started = BTreeSet::new();
        for call in calls {
            let at = self.find(call.position(), |call| {
                matches!(call.state, CallState::Ready) && !call.is_wait
            });
            if !at.is_some_and(|at| started.insert(at)) {
                return Err(RunError::NotReady(call.id.clone()));
            }
        }
        let started: Vec<_> = started.into_iter().collect();
        self.record_of(&started, Change::Started);
        Ok(started)
    }

    /// Removes the mark of calls that did not run.
    pub(crate) fn take_back(&mut self, mut started: Vec<At>) {
        started.retain(|at| matches!(self.call_at(*at).state, CallState::Started));
        self.record_of(&started, Change::Repeated);
    }

    /// Adds the result of a call. With the last one, the results of the response are added to the messages. If a hook
    /// [held](tool_core::hooks::Gate::hold) the call, it becomes [pending](Run::pending) instead.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no started call with the result's [position](ToolResult::position). A call returned
    /// by [`Step::Call`] passes its position to its result. If you made the result for another call, use
    /// [`ToolResult::for_call`]. Also returns an error if the run has another dialect.
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
            // Nobody decides on calls of a cancelled run.
            Some(_) if self.state.is_cancelled => {
                self.cancel_call(at);
            }
            Some(hold) => {
                let hold = hold.clone();
                self.record_in(at.0, Change::Held(at.1, hold));
            }
            None => self.end(at, result),
        }
        self.refuse_after_failures();
        self.close(dialect);
        Ok(())
    }

    /// Ends the calls of the last response that have not started, if a tool has failed too often.
    fn refuse_after_failures(&mut self) {
        let Some(tool) = self.failing_tool() else {
            return;
        };
        let reason = format!("calls of {tool} failed too often");
        let last = self.last_round();
        let calls = self.open_round().into_iter().flat_map(|round| &round.calls);
        let left = calls.enumerate().filter(|(_, call)| {
            matches!(call.state, CallState::Ready) && call.acknowledged.is_none()
        });
        let left: Vec<_> = left.map(|(index, _)| (last, index)).collect();
        for at in left {
            self.fail(at, |tool| ToolError::denied(tool, &reason));
        }
    }

    /// Returns the tool that has failed too often in a row.
    pub(super) fn failing_tool(&self) -> Option<&str> {
        let limit = self.state.settings.max_failures;
        let mut failures = self.state.failures.iter();
        let failing = failures.find(|(_, count)| **count >= limit);
        failing.map(|(tool, _)| &**tool)
    }

    /// Handles the calls that had started when the run was interrupted. If the tool is `read_only` or `idempotent`, the
    /// call runs again. Otherwise it ends with an error of the kind
    /// [`Interrupted`](tool_core::ToolErrorKind::Interrupted). Call this once after [`replay`](Run::replay) or
    /// deserialization, when no call is running any more. Returns the results of the ended calls.
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

    /// Resumes the run, except for calls that run in this process.
    pub(crate) fn resume_others(
        &mut self,
        dialect: &(impl Dialect + ?Sized),
        registry: &Registry,
        runs_here: impl Fn(&CallPosition) -> bool,
    ) -> Result<Vec<ToolResult>, RunError> {
        self.bind(dialect)?;
        self.prepare(dialect);
        let started = self
            .open_calls()
            .filter(|at| self.call_at(*at).is_started() && !runs_here(&position_of(at.0, at.1)));
        let (again, ended): (Vec<_>, Vec<_>) = started.partition(|at| {
            let call = &self.call_at(*at).call;
            // For a call that the provider runs, the registry only checks decisions.
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

    /// Cancels the run. Calls that have not started or that wait for a decision end with an error. Cancel running calls
    /// yourself: the run is [done](Step::Done) once they have results, even in the background. A response with an
    /// [unanswered](RunOutcome::Unanswered) request is removed from the messages, because no request could repeat it;
    /// its [round](Run::rounds) stays.
    ///
    /// # Errors
    ///
    /// Returns an error if the run has another dialect.
    pub fn cancel(&mut self, dialect: &(impl Dialect + ?Sized)) -> Result<(), RunError> {
        self.bind(dialect)?;
        if let Step::Done(
            RunOutcome::Answered(_)
            | RunOutcome::NoAnswer(_)
            | RunOutcome::Ended(_)
            | RunOutcome::Cancelled,
        ) = self.next()
        {
            return Ok(());
        }
        let open: Vec<_> = self.open_calls().collect();
        self.cancel_calls(dialect, open);
        Ok(())
    }

    /// Cancels the last response, but no calls in the background.
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

    /// Ends a call with an error made from the name of its tool.
    pub(super) fn fail(&mut self, at: At, error: impl FnOnce(&str) -> ToolError) -> ToolResult {
        let call = self.positioned(at);
        let result = ToolResult::failed(&call, error(&call.name));
        self.end(at, result.clone());
        result
    }

    /// Records the result of a call.
    fn end(&mut self, at: At, result: ToolResult) {
        self.record_in(at.0, Change::Ended(at.1, Arc::new(result)));
    }

    /// Records a change of calls, once for each of their rounds.
    fn record_of(&mut self, calls: &[At], change: fn(Vec<usize>) -> Change) {
        for calls in calls.chunk_by(|(round, _), (next, _)| round == next) {
            let indices = calls.iter().map(|(_, index)| *index).collect();
            self.record_in(calls[0].0, change(indices));
        }
    }

    pub(super) fn last_round(&self) -> usize {
        self.state.rounds.len().saturating_sub(1)
    }

    /// Returns a call of this run.
    pub(super) fn call_at(&self, (round, index): At) -> &RunCall {
        &self.state.rounds[round].calls[index]
    }

    /// Returns the positions of the calls that may lack a result: the background calls and the last response's.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = At> {
        let last = self.last_round();
        let calls = self.open_round().into_iter().flat_map(|round| &round.calls);
        let calls = calls.enumerate();
        let calls = calls.filter(|(_, call)| call.acknowledged.is_none());
        let of_round = calls.map(move |(index, _)| (last, index));
        self.state.background.iter().copied().chain(of_round)
    }

    /// Returns the position of a call in this state, if it has no result.
    pub(super) fn find(
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

    /// Returns a call with its position attached.
    pub(super) fn positioned(&self, at: At) -> ToolCall {
        let call = ToolCall::clone(&self.call_at(at).call);
        call.at(position_of(at.0, at.1))
    }

    /// Returns a call with position, key and decisions attached.
    pub(super) fn prepared(&self, at: At) -> ToolCall {
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
}

/// Returns the position of a call in a round.
pub(crate) fn position_of(round: usize, index: usize) -> CallPosition {
    let number = |index| u32::try_from(index).unwrap_or(u32::MAX);
    CallPosition::new(number(round), number(index))
}

/// Returns a call with the arguments to which a decision changed it. For a call through `call_tool`, these are the
/// inner tool's arguments.
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

/// Returns the tool that a call runs. Tries the call's name first, because that is usually the tool, and resolving
/// would copy the call.
pub(super) fn tool_of(registry: &Registry, call: &ToolCall) -> Option<ToolEntry> {
    if call.server().is_some() {
        return None;
    }
    let named = registry.get(&call.name);
    named.or_else(|| registry.resolve(&mut call.clone()))
}
