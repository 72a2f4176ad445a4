//! [`Turn`]: what a dialect reads in a response.

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::call::ToolCall;
use crate::provider::end::{End, Reason};
use crate::provider::unanswered::{Offered, Unanswered};
use crate::provider::usage::Usage;

/// What a response says: the model's turn of the conversation.
///
/// [`Dialect::read`](crate::dialect::Dialect::read) returns it, and so does
/// [`StreamReader::finish`](crate::dialect::StreamReader::finish). `Debug` does not show the messages,
/// which contain the arguments of calls.
///
/// ```
/// use serde_json::json;
/// use tool_core::ToolCall;
/// use tool_core::dialect::Turn;
///
/// // In your own dialect:
/// let mut turn = Turn::new(vec![json!({"call": "list_alarms"})]);
/// turn.calls.push(ToolCall::new("only", "list_alarms", "{}"));
/// assert!(turn.text.is_empty() && !turn.is_paused);
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// The messages, or items, with which the next request repeats the response: unchanged, with its
    /// reasoning and signatures. [`Dialect::repeat`](crate::dialect::Dialect::repeat) replaces what the provider would
    /// reject in them.
    pub messages: Vec<Value>,
    /// The calls, in order.
    ///
    /// A response may be truncated in the middle of its last call, by a token limit or a filter. The
    /// arguments may look complete then, or absent. The tool is not run: the call gets a result that
    /// says so, as does [`parse_error`](ToolCall::parse_error).
    ///
    /// Last come the calls that the provider [runs](ToolCall::hosted_by) once somebody approves them. Their results are the
    /// decisions.
    pub calls: Vec<ToolCall>,
    /// What expects an answer of the application and is no call, in order. The next request must answer it, or leave out
    /// the turn. `tool-agent` ends a run with the outcome `Unanswered`.
    ///
    /// [`Registry::claim`](crate::Registry::claim) makes calls of what a tool [provides](macro@crate::tool#trained-tools).
    pub unanswered: Vec<Unanswered>,
    /// What of it can be a call.
    pub offered: Vec<Offered>,
    /// The text that the model wrote, without calls and reasoning. Includes a refusal.
    pub text: String,
    /// How many tokens the response used, if it says so.
    pub usage: Option<Usage>,
    /// The reason why the model stopped, in the provider's words. [`end`](Turn::end) returns what it means.
    pub stop: Option<String>,
    /// What the provider says about the reason, such as the explanation of a refusal or the call that it could not read.
    pub explanation: Option<String>,
    /// What the reason means. `None` if the dialect does not know it, or if there is none.
    pub reason: Option<Reason>,
    /// Set if the response has no text, but an image, audio or a file.
    pub has_output: bool,
    /// Set if the provider paused in the middle of its turn to run hosted tools. It continues when the
    /// next request repeats the turn.
    pub is_paused: bool,
    /// Fields that the next request needs besides its messages, until the model has answered: the
    /// container in which a program waits for the results of its calls, or the environment of an agent.
    pub continuation: Map<String, Value>,
}

impl Turn {
    /// Creates a turn that the next request repeats with these messages. Everything else is empty.
    pub fn new(messages: Vec<Value>) -> Turn {
        Turn {
            messages,
            ..Turn::default()
        }
    }

    /// Makes calls of what is offered and has a tool, behind the other calls: what an application has seen of them keeps
    /// its position. `find` returns the name of the tool. A call with the id of another one is not made.
    pub(crate) fn claim(
        mut self,
        find: impl Fn((&'static str, &'static str)) -> Option<String>,
    ) -> Turn {
        let mut ids: HashSet<_> = self.calls.iter().map(|call| call.id.clone()).collect();
        let mut claimed = HashSet::new();
        for mut offered in std::mem::take(&mut self.offered) {
            if let Some(name) = find(offered.tool)
                && ids.insert(offered.call.id.clone())
            {
                offered.call.name = name;
                self.calls.push(offered.call);
                claimed.insert(offered.asked);
            }
        }
        let mut position = 0..;
        self.unanswered
            .retain(|_| position.next().is_none_or(|at| !claimed.contains(&at)));
        self
    }

    /// Adds the calls of tools before those that only ask for approvals.
    pub fn with_calls(mut self, mut calls: Vec<ToolCall>) -> Turn {
        calls.append(&mut self.calls);
        self.calls = calls;
        self
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("messages", &self.messages.len())
            .field("calls", &self.calls)
            .field("unanswered", &self.unanswered)
            .field("text", &self.text)
            .field("usage", &self.usage)
            .field("stop", &self.stop)
            .field("end", &self.end())
            .field("is_paused", &self.is_paused)
            .finish_non_exhaustive()
    }
}

impl Turn {
    /// Returns how the response ended.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, End};
    /// use tool_dialects::OpenAiChat;
    ///
    /// let read = |message, reason: &str| {
    ///     let response = json!({"choices": [{"message": message, "finish_reason": reason}]});
    ///     OpenAiChat::default().read(&response).map(|turn| turn.end())
    /// };
    /// assert_eq!(read(json!({"content": "It is sunny."}), "stop")?, End::Answered);
    /// assert_eq!(read(json!({"content": ""}), "stop")?, End::Empty);
    /// assert_eq!(read(json!({"content": null}), "tool_calls")?, End::Malformed);
    /// assert_eq!(read(json!({"content": "It"}), "tired")?, End::Unknown("tired".into()));
    /// # Ok::<(), tool_core::dialect::ResponseError>(())
    /// ```
    pub fn end(&self) -> End {
        let reason = match (self.reason, self.stop.as_deref()) {
            (Some(reason), _) => reason,
            (None, None | Some("")) => Reason::Answered,
            (None, Some(_)) if self.has_calls() => Reason::Calls,
            (None, Some(reason)) => return End::Unknown(reason.to_owned()),
        };
        match reason {
            Reason::Length => End::Length,
            Reason::Refused => End::Refused,
            Reason::Filtered => End::Filtered,
            Reason::Failed => End::Failed,
            Reason::Malformed => End::Malformed,
            Reason::Paused => End::Paused,
            _ if self.has_calls() => End::Calls,
            Reason::Calls | Reason::Misread => End::Malformed,
            _ if self.has_output || !self.text.trim_ascii().is_empty() => End::Answered,
            Reason::MaySilent => End::Silent,
            Reason::Answered | Reason::Sequence => End::Empty,
        }
    }

    /// Sets what the reason to stop means, for your own [`Dialect`](crate::dialect::Dialect). The
    /// [end](Turn::end) still depends on what the turn holds: an answer without text is [`Empty`](End::Empty).
    ///
    /// ```
    /// use tool_core::dialect::{End, Turn};
    ///
    /// let mut turn = Turn::new(Vec::new()).with_end(End::Answered);
    /// assert_eq!(turn.end(), End::Empty);
    /// turn.text = "It is sunny.".into();
    /// assert_eq!(turn.end(), End::Answered);
    /// ```
    pub fn with_end(mut self, end: End) -> Turn {
        self.reason = Some(match end {
            End::Answered | End::Empty => Reason::Answered,
            End::Silent => Reason::MaySilent,
            End::Calls => Reason::Calls,
            End::Length => Reason::Length,
            End::Refused => Reason::Refused,
            End::Filtered => Reason::Filtered,
            End::Malformed => Reason::Malformed,
            End::Paused => Reason::Paused,
            End::Failed => Reason::Failed,
            End::Unknown(reason) => {
                self.stop = Some(reason);
                self.reason = None;
                return self;
            }
        });
        self
    }

    fn has_calls(&self) -> bool {
        !self.calls.is_empty() || !self.unanswered.is_empty()
    }
}
