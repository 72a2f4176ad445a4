//! Held calls in memory.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use crate::server::approval::{Approval, ApprovalLimits, Usage, Verdict};
use crate::server::store::StoreError;

#[derive(Default)]
pub(super) struct Held {
    by_id: HashMap<String, Approval>,
    ids: HashMap<String, String>,
    /// The times and ids, the earliest first.
    order: BTreeSet<(u64, String)>,
    all: Usage,
    requesters: HashMap<String, Usage>,
}

impl Held {
    pub(super) fn hold(
        &mut self,
        approval: Approval,
        limits: &ApprovalLimits,
    ) -> Result<Approval, StoreError> {
        let first = limits.first_ms(approval.asked_ms);
        while let Some((asked, id)) = self.order.first()
            && *asked < first
        {
            let id = id.clone();
            self.use_up(&id);
        }
        let found = self.ids.get(&approval.key);
        if let Some(found) = found.and_then(|id| self.by_id.get(id)) {
            return Ok(found.clone());
        }
        let of_requester = self.requesters.get(&approval.requester);
        let of_requester = of_requester.copied().unwrap_or_default();
        if !limits.have_room(&approval, self.all, of_requester) {
            return Err(StoreError::Full);
        }
        self.count(&approval, |usage, bytes| {
            usage.approvals += 1;
            usage.bytes += bytes;
        });
        self.ids.insert(approval.key.clone(), approval.id.clone());
        self.order.insert((approval.asked_ms, approval.id.clone()));
        self.by_id.insert(approval.id.clone(), approval.clone());
        Ok(approval)
    }

    pub(super) fn get(&self, id: &str) -> Option<Approval> {
        self.by_id.get(id).cloned()
    }

    pub(super) fn waiting(&self, after: Option<&Approval>, limit: usize) -> Vec<Approval> {
        let after = after.map(|after| (after.asked_ms, after.id.clone()));
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        let later = self.order.range((after, Bound::Unbounded));
        let waiting = later.filter_map(|(_, id)| self.by_id.get(id));
        let waiting = waiting.filter(|approval| approval.verdict.is_none());
        waiting.take(limit).cloned().collect()
    }

    pub(super) fn decide(&mut self, id: &str, verdict: Verdict) -> bool {
        let approval = self.by_id.get_mut(id);
        let approval = approval.filter(|approval| approval.verdict.is_none());
        let decided = approval.map(|approval| approval.verdict = Some(verdict));
        decided.is_some()
    }

    pub(super) fn use_up(&mut self, id: &str) -> bool {
        let Some(approval) = self.by_id.remove(id) else {
            return false;
        };
        self.count(&approval, |usage, bytes| {
            usage.approvals -= 1;
            usage.bytes -= bytes;
        });
        self.ids.remove(&approval.key);
        self.order.remove(&(approval.asked_ms, approval.id));
        true
    }

    fn count(&mut self, approval: &Approval, change: impl Fn(&mut Usage, usize)) {
        let bytes = approval.bytes();
        change(&mut self.all, bytes);
        let requester = self.requesters.entry(approval.requester.clone());
        let usage = requester.or_default();
        change(usage, bytes);
        if usage.approvals == 0 {
            self.requesters.remove(&approval.requester);
        }
    }
}
