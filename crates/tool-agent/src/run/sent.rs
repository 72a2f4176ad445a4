//! [`Sent`]: the messages of a run as requests repeat them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tool_core::dialect::Dialect;

use super::Run;

/// The messages as requests [repeat](Dialect::repeat) them. It is not saved: the messages of a run stay as the provider
/// sent them.
#[derive(Clone, Default)]
pub(super) struct Sent {
    /// How many messages have been looked at.
    looked_at: usize,
    /// All messages, if one is sent in another form.
    messages: Option<Arc<Vec<Arc<Value>>>>,
    /// The messages of the run before which another one is sent.
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
    /// Returns the messages as the next request repeats them.
    pub(crate) fn sent(&self) -> &Arc<Vec<Arc<Value>>> {
        self.sent.messages.as_ref().unwrap_or(&self.state.messages)
    }

    /// Returns these messages of the run as the next request repeats them.
    pub(crate) fn sent_part(&self, part: &Range<usize>) -> &[Arc<Value>] {
        let gaps_until = |end: usize| self.sent.gaps.iter().filter(|gap| **gap <= end).count();
        let start = part.start + gaps_until(part.start);
        // What stands before the message after the part is not in it.
        let end = part.end + gaps_until(part.end.saturating_sub(1));
        self.sent().get(start..end).unwrap_or_default()
    }

    /// Looks at the messages that are new, and prepares those that the provider would reject.
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
