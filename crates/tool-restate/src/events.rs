//! [`Event`]: an event for a conversation, and [`Progress`]: its state between events.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use tool_agent::run::{Increment, Run, Step};
use tool_core::hooks::Decision;
use tool_core::{ToolCall, ToolResult};

use crate::message::Message;

/// A decision on a waiting call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// The [fingerprint](tool_agent::run::Pending::fingerprint) of the call, as the user has seen it.
    pub fingerprint: String,
    /// The decision.
    pub decision: Decision,
    /// The id of the user, which [`Agent::may_decide`](tool_agent::Agent::may_decide) checks. Only your own programs
    /// may set it, because nothing else verifies it.
    pub user: String,
}

/// An event for a conversation.
#[derive(Serialize, Deserialize)]
pub(crate) enum Event {
    /// A message of the user, and the invocation that waits for the reply.
    Message(Message, String),
    News(News),
    /// The increments of the run in a journal.
    Import(Vec<Increment>),
    /// Stops the work on the message with this number.
    Stop(u64),
    /// An operator killed what drove the conversation.
    Killed,
    /// Continues a conversation that paused for other events.
    Next,
}

/// An event that is not part of the run yet.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum News {
    /// The result of a call. `None` if an operator ended the call, or its service no longer exists.
    Result {
        call: ToolCall,
        result: Option<ToolResult>,
        /// The invocation of a background call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        invocation: Option<String>,
    },
    Decision(Decide),
    /// Nobody decided in time on the call with this fingerprint.
    TimeOver(String),
}

/// Which conversation is removed.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Removal {
    /// One with this owner.
    Of(Option<String>),
    /// One that was last saved before this time.
    Before(u64),
}

/// The state of a conversation between events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// Idle: the last message has its reply.
    #[default]
    Resting,
    /// Waiting for results or decisions.
    Waiting,
    /// [`Event::Next`] is on its way.
    Left,
    /// [`Event::Stop`] is on its way.
    Stopping,
}

/// The state of a conversation in addition to its run.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    pub(crate) phase: Phase,
    /// The invocation that waits for the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waiter: Option<String>,
    /// The messages that wait for the reply to another, each with the invocation that waits for its own.
    #[serde(skip_serializing_if = "VecDeque::is_empty")]
    pub(crate) messages: VecDeque<(String, String)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) news: Vec<News>,
    /// The invocations of the background calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) background: Vec<String>,
    /// The fingerprints of the calls with a running time limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) timed: Vec<String>,
}

impl Progress {
    /// Handles an event of a run whose last message has the number `turn`. Returns `true` if the run has to continue or
    /// stop now.
    pub(crate) fn hear(&mut self, event: Event, run: &Run, turn: u64) -> bool {
        match event {
            Event::Message(message, waiter) => {
                self.messages.push_back((message.text, waiter));
                self.phase == Phase::Resting
            }
            Event::News(news) => {
                match &news {
                    News::Result { invocation, .. } => {
                        self.background
                            .retain(|open| Some(open) != invocation.as_ref());
                    }
                    News::TimeOver(fingerprint) => self.timed.retain(|timed| timed != fingerprint),
                    News::Decision(_) => {}
                }
                self.news.push(news);
                match self.phase {
                    // If the last message failed, the run waits for the next one.
                    Phase::Resting => run.outcome().is_some(),
                    phase => phase == Phase::Waiting,
                }
            }
            Event::Next => match self.phase {
                Phase::Resting => !self.messages.is_empty(),
                phase => phase == Phase::Left,
            },
            // The stop may arrive after the next message.
            Event::Stop(stopped) => stopped == turn && self.is_busy(run),
            Event::Import(_) => true,
            Event::Killed => self.is_busy(run),
        }
    }

    /// Returns `true` if there is something to stop.
    fn is_busy(&self, run: &Run) -> bool {
        self.phase != Phase::Resting
            || is_open(run)
            || matches!(run.next(), Step::Running | Step::Call(_))
    }
}

/// Returns `true` if a background call has no result, or a call waits for a decision.
pub(crate) fn is_open(run: &Run) -> bool {
    run.in_background().next().is_some() || !run.pending().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_for_one_message_and_for_what_goes_on() {
        let run = Run::new("run-1");
        let mut progress = Progress {
            phase: Phase::Waiting,
            ..Progress::default()
        };
        assert!(!progress.hear(Event::Stop(1), &run, 2));
        assert!(progress.hear(Event::Stop(2), &run, 2));
        progress.phase = Phase::Resting;
        assert!(!progress.hear(Event::Stop(2), &run, 2));
    }

    #[test]
    fn what_came_waits_for_the_event_that_is_on_its_way() {
        let run = Run::new("run-1");
        for (phase, goes_on) in [
            (Phase::Waiting, true),
            (Phase::Left, false),
            (Phase::Stopping, false),
            // The run has no outcome, because its message failed.
            (Phase::Resting, false),
        ] {
            let mut progress = Progress {
                phase,
                timed: vec!["one".to_owned()],
                ..Progress::default()
            };
            let news = News::TimeOver("one".to_owned());
            assert_eq!(
                progress.hear(Event::News(news), &run, 1),
                goes_on,
                "{phase:?}"
            );
            assert_eq!((progress.news.len(), progress.timed.len()), (1, 0));
        }
    }
}
