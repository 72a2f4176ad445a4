//! [`Sent`]: the messages of a run in the form for requests.

use std::borrow::Cow;
use std::fmt;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use tool_core::dialect::{Dialect, ToolRequest};

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
    /// The number of messages that change tools among them.
    changes: usize,
    /// The server whose rules they follow, if an agent knows it.
    server: Option<ServerId>,
    /// The last tools of the run, with the request in which they were sent.
    tools: Option<(Arc<ToolRequest>, Arc<ToolRequest>)>,
}

/// Tells the servers of agents apart, because several have the same format and other rules.
#[derive(Clone, Default)]
pub(crate) struct ServerId(Arc<()>);

impl PartialEq for ServerId {
    fn eq(&self, other: &ServerId) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent")
            .field("looked_at", &self.looked_at)
            .finish_non_exhaustive()
    }
}

/// `saved` are the messages of the run.
impl Sent {
    /// Returns all messages.
    pub(super) fn all<'s>(&'s self, saved: &'s Arc<Vec<Arc<Value>>>) -> &'s Arc<Vec<Arc<Value>>> {
        self.messages.as_ref().unwrap_or(saved)
    }

    /// Returns a part of the messages.
    pub(super) fn part<'s>(
        &'s self,
        saved: &'s Arc<Vec<Arc<Value>>>,
        part: &Range<usize>,
    ) -> &'s [Arc<Value>] {
        let gaps_until = |end: usize| self.gaps.iter().filter(|gap| **gap <= end).count();
        let start = part.start + gaps_until(part.start);
        // Excludes an additional message between the part and the next message.
        let end = part.end + gaps_until(part.end.saturating_sub(1));
        self.all(saved).get(start..end).unwrap_or_default()
    }

    /// Starts anew, because messages were removed.
    pub(super) fn clear(&mut self) {
        let server = mem::take(self).server;
        self.server = server;
    }

    /// Returns the request that was sent for these tools last.
    pub(super) fn request_of(&self, tools: &Arc<ToolRequest>) -> Option<Arc<ToolRequest>> {
        let last = self.tools.as_ref();
        let last = last.filter(|(last, _)| Arc::ptr_eq(last, tools));
        last.map(|(_, sent)| Arc::clone(sent))
    }

    /// Returns the last tools of the run.
    pub(super) fn tools(&self) -> Option<&str> {
        self.tools.as_ref().map(|(last, _)| last.tools().as_str())
    }

    /// Remembers the tools of the run, and the request in which they are sent.
    pub(super) fn keep(&mut self, tools: Arc<ToolRequest>, sent: Arc<ToolRequest>) {
        self.tools = Some((tools, sent));
    }

    /// Returns `true` if the messages follow the rules of this server.
    pub(super) fn is_for(&self, server: &ServerId) -> bool {
        self.server.as_ref() == Some(server)
    }

    /// Starts anew if the messages follow the rules of another server. Returns `true` if they followed those of
    /// an earlier server before.
    pub(super) fn go_to(&mut self, server: &ServerId) -> bool {
        if self.is_for(server) {
            return false;
        }
        let before = mem::take(self);
        self.server = Some(server.clone());
        before.server.is_some()
    }

    /// Checks new messages, and converts those that the provider would reject. `changes` are messages that change tools,
    /// with their places.
    pub(super) fn prepare(
        &mut self,
        saved: &Arc<Vec<Arc<Value>>>,
        changes: &[(usize, Arc<Value>)],
        dialect: &(impl Dialect + ?Sized),
    ) {
        for at in self.looked_at..=saved.len() {
            while let Some((_, change)) =
                changes.get(self.changes).filter(|(place, _)| *place == at)
            {
                let messages = self.messages.get_or_insert_with(|| Arc::clone(saved));
                Arc::make_mut(messages).insert(at + self.gaps.len(), Arc::clone(change));
                self.gaps.push(at);
                self.changes += 1;
            }
            let Some(message) = saved.get(at) else {
                break;
            };
            let before = at.checked_sub(1).map(|before| &saved[before]);
            if let Some(between) = before.and_then(|before| dialect.between(before, message)) {
                let messages = self.messages.get_or_insert_with(|| Arc::clone(saved));
                Arc::make_mut(messages).insert(at + self.gaps.len(), Arc::new(between));
                self.gaps.push(at);
            }
            if let Cow::Owned(message) = dialect.repeat(message) {
                let messages = self.messages.get_or_insert_with(|| Arc::clone(saved));
                Arc::make_mut(messages)[at + self.gaps.len()] = Arc::new(message);
            }
        }
        self.looked_at = saved.len();
    }

    /// Adds messages that were added to the run.
    pub(super) fn extend(&mut self, new: &[Arc<Value>]) {
        if let Some(messages) = &mut self.messages {
            Arc::make_mut(messages).extend_from_slice(new);
        }
    }
}
