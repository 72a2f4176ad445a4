//! Parts of a conversation, for summaries.

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::Run;
use super::change::Change;
use super::{Round, background::PREAMBLE, effect::is_of_user};
use tool_core::dialect::Usage;

/// A part of a conversation that makes sense alone.
pub(crate) enum Part<'r> {
    /// A message of the application, in the provider's format.
    Message(&'r Value),
    /// Results of background calls, and the words that precede them.
    Told(#[cfg_attr(not(feature = "tracing"), expect(dead_code))] &'static str),
    /// A response, with the index of its round.
    Response(usize, &'r Round),
}

impl Run {
    /// Returns the parts of the conversation with their messages, latest first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (Range<usize>, Part<'_>)> {
        let closed = self.state.rounds.iter().enumerate().rev();
        let mut closed = closed.skip_while(|(_, round)| round.turn.is_some());
        let mut next = self.state.messages.len();
        let parts = self.state.parts.iter().rev().map(move |&start| {
            let range = start..next;
            let messages = self.state.messages.get(range.clone()).unwrap_or_default();
            next = start;
            let is_pushed = |message: &Arc<Value>| {
                let role = message["role"].as_str();
                is_of_user(message) || matches!(role, Some("system" | "developer"))
            };
            // If a response was removed from the messages, its part starts where the next one does.
            let is_response = self.state.responses.contains(&start);
            let part = match messages.first() {
                Some(_) if self.state.told.contains(&start) => Some(Part::Told(PREAMBLE)),
                Some(message) if !is_response || is_pushed(message) => Some(Part::Message(message)),
                _ => closed.next().map(|(at, round)| Part::Response(at, round)),
            };
            (range, part)
        });
        parts.filter_map(|(range, part)| Some((range, part?)))
    }

    /// Returns the parts of the conversation that start before a message, latest first.
    #[cfg(feature = "tracing")]
    pub(crate) fn parts_before(&self, end: usize) -> impl Iterator<Item = Part<'_>> {
        let before = self.parts().filter(move |(range, _)| range.start < end);
        before.map(|(_, part)| part)
    }

    /// Returns the messages that a summary may replace so that a number of parts stays. They follow the system prompt
    /// and end at the start of a part. Returns `None` if they are too few, or there is nothing new since the last
    /// summary.
    pub(crate) fn old_messages(&self, kept_parts: usize) -> Option<Range<usize>> {
        let is_prompt = |message: &Value| {
            let role = message["role"].as_str().unwrap_or_default();
            matches!(role, "system" | "developer")
        };
        let messages = self.state.messages.iter();
        let start = messages.take_while(|message| is_prompt(message)).count();
        let index = self.state.parts.len().checked_sub(kept_parts.max(1))?;
        let end = self.start_of_late_calls(*self.state.parts.get(index)?);
        let has_news = self.state.rounds.len() > self.state.compacted_at;
        (has_news && end >= start + 2).then_some(start..end)
    }

    /// Replaces old messages by a summary, and counts its usage and cost.
    pub(crate) fn compact(
        &mut self,
        old: Range<usize>,
        summary: Value,
        usage: Option<Usage>,
        micros: u64,
    ) {
        self.record(Change::Compacted {
            old,
            summary: Arc::new(summary),
            usage,
            micros,
        });
    }
}
