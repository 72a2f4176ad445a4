//! [`MemoryInbox`]: approvals in memory.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;
use tool_core::runtime::BoxFuture;

use super::{Approval, Inbox, InboxError, Verdict};
use crate::lock;

/// An [`Inbox`] in memory, with limits. Clones share the approvals, which end with the process.
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::server::approvals::{Approvals, InboxLimits, MemoryInbox};
///
/// let inbox = MemoryInbox::new(InboxLimits::default());
/// // A clone shares the approvals: one for the server, and one for a page.
/// let approvals = Approvals::new(&Registry::new(), inbox.clone());
/// assert!(inbox.waiting().is_empty());
/// # let _ = approvals;
/// ```
#[derive(Clone, Default)]
pub struct MemoryInbox {
    limits: InboxLimits,
    approvals: Arc<Mutex<Entries>>,
}

/// The limits of a [`MemoryInbox`]. At a limit, a further held call is told to try again later; no approval is removed
/// for it.
///
/// ```
/// use tool_mcp::server::approvals::{InboxLimits, MemoryInbox};
///
/// let mut limits = InboxLimits::default();
/// limits.approvals_per_user = 10;
/// let inbox = MemoryInbox::new(limits);
/// # let _ = inbox;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InboxLimits {
    /// The most approvals. The default is 10,000.
    pub approvals: usize,
    /// The most approvals of one requester. The default is 100.
    pub approvals_per_user: usize,
    /// The most bytes of all approvals. The default is 64 MiB.
    pub bytes: usize,
    /// The most bytes of the approvals of one requester. The default is 1 MiB.
    pub bytes_per_user: usize,
}

impl Default for InboxLimits {
    fn default() -> InboxLimits {
        InboxLimits {
            approvals: 10_000,
            approvals_per_user: 100,
            bytes: 64 << 20,
            bytes_per_user: 1 << 20,
        }
    }
}

#[derive(Default)]
struct Entries {
    by_id: HashMap<String, Entry>,
    ids: HashMap<String, String>,
    /// The times and ids, the earliest first.
    order: BTreeSet<(u64, String)>,
    all: Usage,
    users: HashMap<String, Usage>,
}

struct Entry {
    approval: Approval,
    bytes: usize,
    /// Ends when the approval is decided on or removed.
    waiting: Option<watch::Sender<()>>,
}

/// How much the approvals of an inbox or of a user take.
#[derive(Clone, Copy, Default)]
struct Usage {
    approvals: usize,
    bytes: usize,
}

impl MemoryInbox {
    /// Creates an empty inbox.
    pub fn new(limits: InboxLimits) -> MemoryInbox {
        MemoryInbox {
            limits,
            approvals: Arc::default(),
        }
    }

    /// Returns the approvals without a decision, the earliest first. The list has the approvals of all
    /// users, so show a user only those that [`Approvals::may`](super::Approvals::may) allows.
    pub fn waiting(&self) -> Vec<Approval> {
        let entries = lock(&self.approvals);
        let ordered = entries.order.iter();
        let ordered = ordered.filter_map(|(_, id)| entries.by_id.get(id));
        let waiting = ordered.filter(|entry| entry.approval.verdict.is_none());
        waiting.map(|entry| entry.approval.clone()).collect()
    }
}

impl Inbox for MemoryInbox {
    fn put(&self, approval: Approval) -> BoxFuture<Result<Approval, InboxError>> {
        Box::pin(ready(lock(&self.approvals).put(approval, &self.limits)))
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Option<Approval>, InboxError>> {
        let entries = lock(&self.approvals);
        let found = entries.by_id.get(id).map(|entry| entry.approval.clone());
        Box::pin(ready(Ok(found)))
    }

    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, InboxError>> {
        let mut entries = lock(&self.approvals);
        let entry = entries.by_id.get_mut(id);
        let entry = entry.filter(|entry| entry.approval.verdict.is_none());
        let is_new = entry.map(|entry| {
            entry.approval.verdict = Some(verdict);
            entry.waiting = None;
        });
        Box::pin(ready(Ok(is_new.is_some())))
    }

    fn remove(&self, id: &str) -> BoxFuture<Result<bool, InboxError>> {
        Box::pin(ready(Ok(lock(&self.approvals).remove(id))))
    }

    fn remove_before(&self, ms: u64) -> BoxFuture<Result<usize, InboxError>> {
        let mut entries = lock(&self.approvals);
        let mut removed = 0;
        while let Some((asked, id)) = entries.order.first()
            && *asked < ms
        {
            let id = id.clone();
            entries.remove(&id);
            removed += 1;
        }
        Box::pin(ready(Ok(removed)))
    }

    fn changed(&self, id: &str) -> BoxFuture<()> {
        let entries = lock(&self.approvals);
        let waiting = entries
            .by_id
            .get(id)
            .and_then(|entry| entry.waiting.as_ref());
        let receiver = waiting.map(watch::Sender::subscribe);
        Box::pin(async move {
            if let Some(mut receiver) = receiver {
                // Nothing is ever sent: the sender is dropped.
                let _ = receiver.changed().await;
            }
        })
    }
}

impl Entries {
    fn put(&mut self, approval: Approval, limits: &InboxLimits) -> Result<Approval, InboxError> {
        let found = self.ids.get(&approval.key);
        if let Some(found) = found.and_then(|id| self.by_id.get(id)) {
            return Ok(found.approval.clone());
        }
        let bytes = size(&approval);
        let of_user = self.users.get(&approval.requester);
        let of_user = of_user.copied().unwrap_or_default();
        let is_full = self.all.approvals >= limits.approvals
            || of_user.approvals >= limits.approvals_per_user
            || self.all.bytes.saturating_add(bytes) > limits.bytes
            || of_user.bytes.saturating_add(bytes) > limits.bytes_per_user;
        if is_full || self.by_id.contains_key(&approval.id) {
            return Err(InboxError::Full);
        }
        let user = self.users.entry(approval.requester.clone()).or_default();
        for usage in [user, &mut self.all] {
            usage.approvals += 1;
            usage.bytes += bytes;
        }
        self.ids.insert(approval.key.clone(), approval.id.clone());
        self.order.insert((approval.asked_ms, approval.id.clone()));
        let entry = Entry {
            waiting: approval.verdict.is_none().then(|| watch::Sender::new(())),
            approval: approval.clone(),
            bytes,
        };
        self.by_id.insert(approval.id.clone(), entry);
        Ok(approval)
    }

    fn remove(&mut self, id: &str) -> bool {
        let Some(Entry {
            approval, bytes, ..
        }) = self.by_id.remove(id)
        else {
            return false;
        };
        self.ids.remove(&approval.key);
        self.order.remove(&(approval.asked_ms, approval.id));
        let user = self.users.get_mut(&approval.requester);
        for usage in [user, Some(&mut self.all)].into_iter().flatten() {
            usage.approvals -= 1;
            usage.bytes -= bytes;
        }
        if self
            .users
            .get(&approval.requester)
            .is_some_and(|usage| usage.approvals == 0)
        {
            self.users.remove(&approval.requester);
        }
        true
    }
}

/// Returns about how many bytes of an approval its requester controls.
fn size(approval: &Approval) -> usize {
    let hold = &approval.hold;
    let texts = [
        &*approval.requester,
        &*approval.tool,
        hold.tool(),
        hold.raw_arguments(),
        hold.reason(),
        hold.key().unwrap_or_default(),
    ];
    texts.map(str::len).iter().sum::<usize>() + 256
}

impl fmt::Debug for MemoryInbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryInbox")
            .field("limits", &self.limits)
            .field("approvals", &lock(&self.approvals).all.approvals)
            .finish()
    }
}
