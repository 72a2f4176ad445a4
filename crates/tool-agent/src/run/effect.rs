//! The effect of changes on a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Run;
use super::calls::position_of;
use super::change::{Change, ResponseChange, TranslatedChange};
use super::round::{CallState, Decided, Round, RunCall, Tally};
use super::sent::Sent;
use super::state::{At, Spent, State, check_version};
use super::tools::RunTools;
use tool_core::{ToolCall, ToolResult};

impl Run {
    pub(super) fn change(&mut self, change: Change) -> Result<(), String> {
        let is_created = matches!(change, Change::Created { .. });
        if is_created != (self.state.changes == 0) {
            return Err("a run is created once, and first".into());
        }
        match change {
            Change::Created {
                version,
                program,
                info,
                settings,
                options,
            } => {
                check_version(version, &program)?;
                self.state.info = info;
                self.state.settings = settings;
                self.state.options = options;
            }
            Change::Dialect(dialect) => self.state.info.set_dialect(&dialect),
            Change::Settings(settings) => self.state.settings = settings,
            Change::Options(options) => self.state.options = options,
            Change::Message(message) => {
                if let Some(text) = text_of_user(&message) {
                    self.state.said.push((self.state.rounds.len(), text));
                }
                self.state.parts.push(self.state.messages.len());
                self.add_messages([message]);
                self.state.failures.clear();
                self.state.spent = Spent::default();
                self.state.continuation.clear();
                self.state.is_cancelled = false;
            }
            Change::Response(change) => {
                let ResponseChange {
                    calls,
                    ending,
                    waiting,
                    micros,
                    text,
                    usage,
                    stop_reason,
                    end,
                    explanation,
                    is_paused,
                    unanswered,
                    turn,
                    continuation,
                } = *change;
                if let Some(tools) = &mut self.state.tools {
                    tools.respond();
                }
                self.state.continuation = continuation;
                self.state.spent.rounds = self.state.spent.rounds.saturating_add(1);
                let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
                self.state.spent.calls = self.state.spent.calls.saturating_add(count);
                self.state.spent.add(usage, micros);
                let mut turn = Some(turn);
                if calls.is_empty() {
                    self.state.start_response();
                    self.add_messages(turn.take().unwrap_or_default());
                }
                let calls = calls.into_iter().enumerate();
                let calls = calls.map(|(index, (call, is_parallel))| RunCall {
                    call,
                    is_parallel,
                    ends_run: ending.contains(&index),
                    is_wait: waiting.contains(&index),
                    decisions: Vec::new(),
                    state: CallState::Ready,
                    acknowledged: None,
                });
                self.state.rounds.push(Round {
                    calls: calls.collect(),
                    text,
                    usage,
                    stop_reason,
                    end,
                    explanation,
                    is_continued: false,
                    is_paused,
                    unanswered,
                    is_answered: false,
                    micros,
                    turn,
                });
                self.count_calls();
            }
            Change::InRound(round, change) => self.change_calls(round, *change)?,
            change @ (Change::Started(_)
            | Change::Repeated(_)
            | Change::Held(..)
            | Change::Decided(..)
            | Change::Revoked(..)
            | Change::Ended(..)
            | Change::Acknowledged(..)
            | Change::Waited(..)) => self.change_calls(self.last_round(), change)?,
            Change::Told(messages) => self.tell_messages(messages)?,
            Change::Closed(messages) => {
                let turn = self.current_round()?.turn.take().unwrap_or_default();
                self.state.start_response();
                self.add_messages(turn.into_iter().chain(messages));
            }
            Change::Answered(answers) => {
                self.take_unanswered()?.is_answered = true;
                self.add_messages(answers);
            }
            Change::AskedAgain { message, continues } => {
                let round = self.current_round()?;
                round.is_answered = true;
                round.is_continued = continues;
                self.state.spent.asked_again = self.state.spent.asked_again.saturating_add(1);
                self.state.parts.push(self.state.messages.len());
                self.add_messages([message]);
            }
            Change::GivenUp => {
                self.take_unanswered()?;
                // The start of the part stays, without messages.
                let start = self
                    .state
                    .responses
                    .last()
                    .ok_or("there is no response yet")?;
                Arc::make_mut(&mut self.state.messages).truncate(*start);
                self.sent.clear();
            }
            Change::Compacted {
                old,
                summary,
                usage,
                micros,
            } => {
                let messages = Arc::make_mut(&mut self.state.messages);
                if old.start >= old.end || old.end > messages.len() {
                    return Err(format!("there are no messages {old:?}"));
                }
                messages.splice(old.clone(), [summary]);
                self.state.tools = None;
                self.sent.clear();
                let shift = old.len() - 1;
                let State {
                    parts,
                    responses,
                    told,
                    ..
                } = &mut self.state;
                for parts in [parts, responses, told] {
                    parts.retain(|part| !old.contains(part));
                    for part in parts.iter_mut().filter(|part| **part >= old.end) {
                        *part -= shift;
                    }
                }
                let before = |part: &usize| *part < old.start;
                let at = self.state.parts.partition_point(before);
                self.state.parts.insert(at, old.start);
                self.state.compacted_at = self.state.rounds.len();
                self.state.spent.add(usage, micros);
            }
            Change::Translated(change) => self.move_to(*change),
            Change::Tools(change) => {
                RunTools::change(&mut self.state.tools, change, self.state.messages.len())?;
                self.sent.clear();
            }
            Change::Cancelled => self.state.is_cancelled = true,
            Change::Traced(trace) => self.state.trace = Some(trace),
        }
        self.state.changes += 1;
        Ok(())
    }

    /// Replaces the messages by those in another provider's format. Calls and results lose what only the old provider
    /// understands.
    fn move_to(&mut self, change: TranslatedChange) {
        let state = &mut self.state;
        state.info.set_dialect(&change.dialect);
        state.messages = Arc::new(change.messages);
        state.parts = change.parts;
        state.responses = change.responses;
        state.told = change.told;
        state.translated = state.rounds.len();
        state.continuation.clear();
        state.tools = None;
        if let Some(turn) = state
            .rounds
            .last_mut()
            .and_then(|round| round.turn.as_mut())
        {
            *turn = change.turn;
        }
        let ids: BTreeMap<_, _> = change.ids.into_iter().collect();
        for (round, calls) in state.rounds.iter_mut().enumerate() {
            for (index, call) in calls.calls.iter_mut().enumerate() {
                call.forget_provider((round, index), ids.get(&(round, index)));
            }
        }
        self.sent = Sent::default();
    }

    /// Applies a change to calls of a round.
    fn change_calls(&mut self, round: usize, change: Change) -> Result<(), String> {
        let set = |run: &mut Run, indices: &[usize], state: &CallState| {
            indices.iter().try_for_each(|&index| {
                run.change_call(round, index, |call| {
                    call.state = state.clone();
                    Ok(())
                })
            })
        };
        match change {
            Change::Started(indices) => set(self, &indices, &CallState::Started),
            Change::Repeated(indices) => set(self, &indices, &CallState::Ready),
            Change::Held(index, hold) => set(self, &[index], &CallState::Held(hold)),
            Change::Decided(index, decision, by) => self.change_call(round, index, |call| {
                let CallState::Held(hold) = &call.state else {
                    return Err(format!("call {index} is not held"));
                };
                let hold = hold.clone();
                call.decisions.push(Decided { hold, decision, by });
                call.state = CallState::Ready;
                Ok(())
            }),
            Change::Revoked(index, decision) => self.change_call(round, index, |call| {
                let mut revoked = call.decisions.drain(decision.min(call.decisions.len())..);
                let Some(first) = revoked.next() else {
                    return Err(format!("call {index} has no decision {decision}"));
                };
                drop(revoked);
                call.state = CallState::Held(first.hold);
                Ok(())
            }),
            Change::Ended(index, result) => {
                self.state.count_failure(&result);
                set(self, &[index], &CallState::Ended(result))
            }
            Change::Acknowledged(index, acknowledgement) => {
                self.change_call(round, index, |call| {
                    call.acknowledged = Some(acknowledgement);
                    Ok(())
                })?;
                self.state.background.push((round, index));
                Ok(())
            }
            Change::Waited(index, result, late) => {
                set(self, &[index], &CallState::Ended(result))?;
                let turn = self.state.rounds[round].turn.as_mut();
                turn.ok_or("the response is over")?.extend(late);
                self.forget_ended();
                Ok(())
            }
            _ => Err(format!("a change in round {round} is not one of calls")),
        }
    }

    /// Changes a call, and counts it in its new state.
    fn change_call(
        &mut self,
        round: usize,
        index: usize,
        change: impl FnOnce(&mut RunCall) -> Result<(), String>,
    ) -> Result<(), String> {
        let is_last = round == self.last_round();
        let missing = || format!("there is no call {index}");
        let round = self.state.rounds.get_mut(round).ok_or_else(missing)?;
        let call = round.calls.get_mut(index).ok_or_else(missing)?;
        if !is_last {
            return change(call);
        }
        self.tally.remove(call);
        let changed = change(call);
        self.tally.add(call);
        self.tally.skip_answered(&round.calls);
        changed
    }

    /// Counts the calls of the last round.
    pub(super) fn count_calls(&mut self) {
        self.tally = self.state.rounds.last().map(Tally::of).unwrap_or_default();
    }

    /// Adds messages about ended background calls.
    fn tell_messages(&mut self, messages: Vec<Arc<Value>>) -> Result<(), String> {
        self.current_round()?.is_answered = true;
        self.forget_ended();
        let start = self.state.messages.len();
        self.state.parts.push(start);
        self.state.told.extend(start..start + messages.len());
        self.add_messages(messages);
        Ok(())
    }

    /// Removes background calls from the open ones once the model gets their results.
    fn forget_ended(&mut self) {
        let rounds = &self.state.rounds;
        let is_open = |&(round, index): &At| {
            let call = rounds.get(round).and_then(|round| round.calls.get(index));
            call.is_some_and(|call| call.result().is_none())
        };
        self.state.background.retain(is_open);
    }

    /// Returns the round of the last response.
    fn current_round(&mut self) -> Result<&mut Round, &'static str> {
        let round = self.state.rounds.last_mut();
        round.ok_or("there is no response yet")
    }

    /// Returns the last round after removing its unanswered requests.
    fn take_unanswered(&mut self) -> Result<&mut Round, String> {
        let round = self.state.rounds.last_mut();
        let round = round.filter(|round| !round.unanswered.is_empty());
        let round = round.ok_or("nothing is unanswered")?;
        round.unanswered.clear();
        Ok(round)
    }

    fn add_messages(&mut self, new: impl IntoIterator<Item = Arc<Value>>) {
        let messages = Arc::make_mut(&mut self.state.messages);
        let start = messages.len();
        messages.extend(new);
        self.sent.extend(&messages[start..]);
    }
}

impl RunCall {
    /// Returns the call as one of a function with this id, without what only its provider understands.
    pub(super) fn plain(&self, at: At, id: Option<&String>) -> ToolCall {
        let call = &*self.call;
        let id = id.unwrap_or(&call.id);
        let plain = ToolCall::new(id, &call.name, call.arguments.clone());
        let plain = plain.at(position_of(at.0, at.1));
        if call.is_truncated() {
            plain.truncated()
        } else {
            plain
        }
    }

    /// Makes the call and its results [plain](RunCall::plain).
    pub(super) fn forget_provider(&mut self, at: At, id: Option<&String>) {
        let plain = self.plain(at, id);
        let of_plain = |result: &mut Arc<ToolResult>| {
            *result = Arc::new(ToolResult::clone(result).for_call(&plain));
        };
        if let CallState::Ended(result) = &mut self.state {
            of_plain(result);
        }
        self.acknowledged.as_mut().map(of_plain);
        self.call = Arc::new(plain);
    }
}

/// Returns the text of a user's message. Every provider has it as a string or as a list of parts.
fn text_of_user(message: &Value) -> Option<String> {
    if !is_of_user(message) {
        return None;
    }
    let content = message.get("content").or_else(|| message.get("parts"))?;
    if let Some(text) = content.as_str() {
        return Some(text.to_owned());
    }
    let texts = content.as_array()?.iter();
    let texts: Vec<_> = texts.filter_map(|part| part["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// Returns `true` for a message of the user, by its role or as a step of Gemini's Interactions API.
pub(super) fn is_of_user(message: &Value) -> bool {
    message["role"] == "user" || message["type"] == "user_input"
}
