//! [`Sent`]: the messages of a run as requests repeat them.

use std::borrow::Cow;
use std::fmt;
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

    /// Looks at the messages that are new, and prepares those that the provider would reject.
    pub(crate) fn prepare(&mut self, dialect: &(impl Dialect + ?Sized)) {
        let (all, sent) = (&self.state.messages, &mut self.sent);
        for at in sent.looked_at..all.len() {
            if let Cow::Owned(message) = dialect.repeat(&all[at]) {
                let messages = sent.messages.get_or_insert_with(|| Arc::clone(all));
                Arc::make_mut(messages)[at] = Arc::new(message);
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
