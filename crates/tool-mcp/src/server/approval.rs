//! What a store keeps of a held call: [`Approval`], and [`ApprovalLimits`].

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tool_core::hooks::{Decision, Hold, WaitingCall};

/// A held call that waits for a decision, or that has one.
///
/// It has no secrets: the arguments of the [`hold`](Approval::hold) have `"[secret]"` in the place of each, and the key
/// is a digest that depends on the [`state_key`](crate::Server::state_key) of the server. A store keeps it as JSON.
///
/// ```
/// use tool_mcp::server::approvals::Approval;
///
/// fn row(approval: &Approval) -> String {
///     let hold = &approval.hold;
///     format!("{}: {}({}), {}", approval.requester, hold.tool(), hold.arguments(), hold.reason())
/// }
/// # let _ = row;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approval {
    /// The id that the client is told. It is random.
    pub id: String,
    /// Identifies the call by its user, its tool, its arguments and the reason of the hold. A store has at
    /// most one approval with a key.
    pub key: String,
    /// The [`UserId`](crate::server::UserId) of the call.
    pub requester: String,
    /// The tool that the client called: its name, or `resource NAME` or `prompt NAME` for the function of one.
    pub tool: String,
    /// The subject of the decision: the tool, its arguments and the reason.
    pub hold: Hold,
    /// When the call was held, in milliseconds since the start of 1970 (UTC).
    pub asked_ms: u64,
    /// The decision. `None` while the call waits.
    pub verdict: Option<Verdict>,
}

impl Approval {
    /// Returns about how many bytes of the approval its requester controls.
    pub fn bytes(&self) -> usize {
        let hold = &self.hold;
        let texts = [
            &*self.requester,
            &*self.tool,
            hold.tool(),
            hold.raw_arguments(),
            hold.reason(),
            hold.key().unwrap_or_default(),
        ];
        texts.map(str::len).iter().sum::<usize>() + 256
    }

    /// Returns the entry in the list of those who decide.
    pub(super) fn entry(&self) -> WaitingCall {
        let (id, owner) = (self.id.clone(), Some(&*self.requester));
        let mut entry = WaitingCall::new(id, owner, &self.hold, self.asked_ms);
        if !self.is_of_tool() {
            // A tool may have the name of the function of a resource.
            entry.name.clone_from(&self.tool);
        }
        entry
    }

    /// Returns `true` if the client called a tool. No name of a tool has a space.
    pub(super) fn is_of_tool(&self) -> bool {
        !self.tool.contains(' ')
    }
}

/// A decision, and the user who made it.
///
/// ```
/// use tool_core::hooks::Decision;
/// use tool_mcp::server::approvals::Verdict;
///
/// let verdict = Verdict::new(Decision::deny("it is refunded already"), "lead-3");
/// assert_eq!(verdict.by, "lead-3");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// The decision.
    pub decision: Decision,
    /// The id of the user who decided.
    pub by: String,
}

impl Verdict {
    /// Creates a verdict of a user, as a store does that keeps its parts. It does not decide anything;
    /// [`Approvals`](crate::server::approvals::Approvals) do. A verdict that the rules forbid has no effect.
    pub fn new(decision: Decision, by: impl Into<String>) -> Verdict {
        let by = by.into();
        Verdict { decision, by }
    }
}

/// The limits of the held calls in a [store](crate::server::store::Store). At a limit, a further held call is told to try
/// again later; no approval is removed for it.
///
/// ```
/// use std::time::Duration;
///
/// use tool_core::Registry;
/// use tool_mcp::server::approvals::{ApprovalLimits, Approvals};
/// use tool_mcp::server::store::MemoryStore;
///
/// let mut limits = ApprovalLimits::default();
/// limits.kept_for = Duration::from_secs(7 * 24 * 60 * 60);
/// let approvals = Approvals::new(&Registry::new(), MemoryStore::default()).limits(limits);
/// # let _ = approvals;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApprovalLimits {
    /// The most approvals. The default is 10,000.
    pub approvals: usize,
    /// The most approvals of one requester. The default is 100.
    pub approvals_per_user: usize,
    /// The most [bytes](Approval::bytes) of all approvals. The default is 64 MiB.
    pub bytes: usize,
    /// The most [bytes](Approval::bytes) of the approvals of one requester. The default is 1 MiB.
    pub bytes_per_user: usize,
    /// How long an approval counts after its call was held, with or without a decision. The default is a day. A call after
    /// that waits again.
    pub kept_for: Duration,
}

impl Default for ApprovalLimits {
    fn default() -> ApprovalLimits {
        ApprovalLimits {
            approvals: 10_000,
            approvals_per_user: 100,
            bytes: 64 << 20,
            bytes_per_user: 1 << 20,
            kept_for: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// How much the approvals of all or of a requester take.
#[derive(Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) approvals: usize,
    pub(super) bytes: usize,
}

impl ApprovalLimits {
    /// Returns the earliest time of asking that counts at a time, both in milliseconds since 1970.
    pub(super) fn first_ms(&self, now_ms: u64) -> u64 {
        let kept_for = u64::try_from(self.kept_for.as_millis());
        now_ms.saturating_sub(kept_for.unwrap_or(u64::MAX))
    }

    /// Returns `true` if there is room for another approval.
    pub(super) fn have_room(&self, approval: &Approval, all: Usage, of_requester: Usage) -> bool {
        let fits = |usage: Usage, approvals: usize, bytes: usize| {
            usage.approvals < approvals && usage.bytes.saturating_add(approval.bytes()) <= bytes
        };
        fits(all, self.approvals, self.bytes)
            && fits(of_requester, self.approvals_per_user, self.bytes_per_user)
    }
}
