//! [`End`]: how a response ended, in the same words for all providers.

use std::fmt;

use crate::provider::turn::Turn;

/// How a response ended; [`Turn::end`] returns it.
///
/// It is made of the provider's reason to stop and of what the response holds: each dialect has a table of the
/// reasons that it knows (rule `….ends` in [`rules`](crate::rules)), and a reason that is not in it is
/// [`Unknown`](End::Unknown), so that nothing is taken for an answer that is none. Calls expect results however the
/// response ended: a limit may cut it off behind them.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Anthropic, Dialect, End, OpenAiChat};
///
/// let cut = json!({"content": [{"type": "text", "text": "Once upon"}], "stop_reason": "max_tokens"});
/// assert_eq!(Anthropic::default().read(&cut)?.end(), End::Length);
/// let cut = json!({"choices": [{"message": {"content": "Once upon"}, "finish_reason": "length"}]});
/// assert_eq!(OpenAiChat::default().read(&cut)?.end(), End::Length);
/// # Ok::<(), tool_core::dialect::ResponseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum End {
    /// The model answered, and the answer is complete.
    Answered,
    /// The model waits for the results of [calls](Turn::calls), or for what is [unanswered](Turn::unanswered).
    Calls,
    /// A limit of tokens cut the response off. The text may be a part of the answer.
    Length,
    /// The model refused to answer. The text may say why.
    Refused,
    /// A filter of the provider stopped the prompt or the response.
    Filtered,
    /// The model wrote a call that the provider could not read, or announced calls and made none. It may succeed if it
    /// is asked again.
    Malformed,
    /// The provider paused in the middle of the turn; see [`Turn::is_paused`].
    Paused,
    /// The provider failed, or stopped for a reason of its own.
    Failed,
    /// The model ended its turn and said nothing. That is an answer after the results of calls only, at
    /// the providers that are known to do so: Anthropic, Amazon Bedrock and Gemini.
    Silent,
    /// The response holds no text, although its reason to stop is that of an answer.
    Empty,
    /// The provider's reason to stop, which the dialect does not know.
    Unknown(String),
}

/// Writes a clause, such as "the limit of tokens cut the response off".
impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            End::Answered => "the model answered",
            End::Calls => "the model waits for the results of calls",
            End::Length => "a limit of tokens cut the response off",
            End::Refused => "the model refused to answer",
            End::Filtered => "a filter of the provider stopped the response",
            End::Malformed => "the model wrote a call that the provider could not read",
            End::Paused => "the provider paused in the middle of the response",
            End::Failed => "the provider failed in the middle of the response",
            End::Silent => "the model ended its turn without an answer",
            End::Empty => "the response is empty",
            End::Unknown(reason) => {
                return write!(f, "the response stopped for the unknown reason {reason:?}");
            }
        })
    }
}

/// What a provider's reason to stop means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Answered,
    /// The same, at a provider whose models end a turn without a word after the results of calls.
    MaySilent,
    /// The same, at a sequence of the request. It may be in the middle of a call.
    Sequence,
    Calls,
    Length,
    Refused,
    Filtered,
    Malformed,
    /// The same, but the calls that the response holds are whole.
    Misread,
    Paused,
    Failed,
}

/// The reasons to stop of a dialect.
pub(crate) type Reasons = &'static [(&'static str, Reason)];

impl Reason {
    /// Returns `true` if the last call of the response may be incomplete.
    pub(crate) fn cuts(self) -> bool {
        matches!(
            self,
            Reason::Sequence
                | Reason::Length
                | Reason::Refused
                | Reason::Filtered
                | Reason::Malformed
                | Reason::Failed
        )
    }
}

impl Turn {
    /// Returns how the response ended.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{Dialect, End, OpenAiChat};
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
