//! [`End`]: how a response ended, in the same words for all providers.

use std::fmt;

/// How a response ended; [`Turn::end`](crate::dialect::Turn::end) returns it.
///
/// It is made of the provider's reason to stop and of what the response holds: each dialect has a table of the
/// reasons that it knows (rule `….ends` in [`rules`](crate::rules)), and a reason that is not in it is
/// [`Unknown`](End::Unknown), so that nothing is taken for an answer that is none. Calls expect results however the
/// response ended: a limit may cut it off behind them.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Dialect, End};
/// use tool_dialects::{Anthropic, OpenAiChat};
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
    /// The model waits for the results of [calls](crate::dialect::Turn::calls), or for answers to
    /// [unanswered](crate::dialect::Turn::unanswered) items.
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
    /// The provider paused in the middle of the turn; see [`Turn::is_paused`](crate::dialect::Turn::is_paused).
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

/// The meaning of a provider's reason to stop. [`Turn::end`](crate::dialect::Turn::end) returns an [`End`], which also depends
/// on the content of the response.
///
/// ```
/// use tool_core::dialect::write::Reason;
/// use tool_core::dialect::{End, Turn};
///
/// let mut turn = Turn::new(Vec::new());
/// turn.reason = Some(Reason::MaySilent);
/// assert_eq!(turn.end(), End::Silent);
/// assert!(Reason::Length.cuts() && !Reason::Calls.cuts());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The model answered, and the answer is complete.
    Answered,
    /// The same, at a provider whose models end a turn without a word after the results of calls.
    MaySilent,
    /// The same, at a sequence of the request. It may be in the middle of a call.
    Sequence,
    /// The model waits for the results of calls.
    Calls,
    /// A limit of tokens cut the response off.
    Length,
    /// The model refused to answer.
    Refused,
    /// A filter stopped the response.
    Filtered,
    /// The provider could not read a call of the model.
    Malformed,
    /// The same, but the calls that the response holds are whole.
    Misread,
    /// The provider paused in the middle of the turn.
    Paused,
    /// The provider failed.
    Failed,
}

impl Reason {
    /// Returns `true` if the last call of the response may be incomplete.
    pub fn cuts(self) -> bool {
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
