//! [`Sent`]: the messages of a run in the form for requests.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tool_core::dialect::Dialect;

use super::Run;

/// The messages in the form in which requests [repeat](Dialect::repeat) them. This is not saved: the messages of a run
/// stay as the provider sent them.
#[derive(Clone, Default)]
pub(super) struct Sent {
    /// The number of messages checked so far.
    looked_at: usize,
    /// All messages, if at least one is sent in another form.
    messages: Option<Arc<Vec<Arc<Value>>>>,
    /// The indices of messages before which an additional message is sent.
    gaps: Vec<usize>,
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent")
            .field("looked_at", &self.looked_at)
            .finish_non_exhaustive()
    }
}

impl Run {
    /// Returns the messages in the form for the next request.
    pub(crate) fn sent(&self) -> &Arc<Vec<Arc<Value>>> {
        self.sent.messages.as_ref().unwrap_or(&self.state.messages)
    }

    /// Returns a part of the messages in the form for the next request.
    pub(crate) fn sent_part(&self, part: &Range<usize>) -> &[Arc<Value>] {
        let gaps_until = |end: usize| self.sent.gaps.iter().filter(|gap| **gap <= end).count();
        let start = part.start + gaps_until(part.start);
        // Excludes an additional message between the part and the next message.
        let end = part.end + gaps_until(part.end.saturating_sub(1));
        self.sent().get(start..end).unwrap_or_default()
    }

    /// Checks new messages, and converts those that the provider would reject.
    pub(crate) fn prepare(&mut self, dialect: &(impl Dialect + ?Sized)) {
        let (all, sent) = (&self.state.messages, &mut self.sent);
        for at in sent.looked_at..all.len() {
            let message = &all[at];
            let before = at.checked_sub(1).map(|before| &all[before]);
            if let Some(between) = before.and_then(|before| dialect.between(before, message)) {
                let messages = sent.messages.get_or_insert_with(|| Arc::clone(all));
                Arc::make_mut(messages).insert(at + sent.gaps.len(), Arc::new(between));
                sent.gaps.push(at);
            }
            if let Cow::Owned(message) = dialect.repeat(message) {
                let messages = sent.messages.get_or_insert_with(|| Arc::clone(all));
                Arc::make_mut(messages)[at + sent.gaps.len()] = Arc::new(message);
            }
        }
        sent.looked_at = all.len();
    }

    /// Adds messages.
    pub(super) fn add_messages(&mut self, new: impl IntoIterator<Item = Arc<Value>>) {
        let messages = Arc::make_mut(&mut self.state.messages);
        let start = messages.len();
        messages.extend(new);
        if let Some(sent) = &mut self.sent.messages {
            Arc::make_mut(sent).extend_from_slice(&messages[start..]);
        }
    }
}
