//! One call, while it is held.

use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};
use tool_core::hooks::{Decision, Hold};
use tool_core::{Registry, ToolCall};

use super::{Approval, Approvals, Changed, caught};
use crate::server::request::UserId;
use crate::server::state::{Binding, random};
use crate::server::store::StoreError;
use crate::{hex, lock};

/// How often an approval that does not count is replaced before the store counts as broken.
const TRIES: u32 = 4;

/// The parts of a call that may be held, for waiting for its approvals.
pub(in crate::server) struct HeldCall {
    approvals: Approvals,
    registry: Registry,
    requester: String,
    tool: String,
    /// A digest of the user, the tool and the arguments.
    call: [u8; 32],
    /// The approvals with decisions that are attached to the call.
    attached: Mutex<Vec<(Approval, Hold)>>,
    /// The approvals that are used up.
    used: Mutex<Vec<Approval>>,
}

/// What is missing, so that a held call can't wait.
#[derive(Clone, Copy)]
pub(in crate::server) enum Missing {
    /// The server has no approvals.
    Approvals,
    /// Nobody may decide.
    Policy,
    /// The call has no user.
    User,
}

impl Missing {
    /// Returns what the developer of the server sets up.
    pub(in crate::server) fn advice(self) -> &'static str {
        match self {
            Missing::Approvals => {
                "`Server::on_hold` lets held calls wait for somebody who may approve them"
            }
            Missing::Policy => "`Approvals::may_decide` says who may approve calls",
            Missing::User => {
                "a call needs a user, so that nobody approves their own, and `Server::identity` attaches one"
            }
        }
    }
}

/// The state of a hold in the store.
pub(in crate::server) enum Found {
    /// The call, with a decision.
    Decided(Box<ToolCall>),
    /// The id of the approval that the call waits for.
    Waiting(String),
}

impl HeldCall {
    /// `secret` keeps readers of the store from guessing secret arguments.
    pub(in crate::server) fn new(
        approvals: &Approvals,
        registry: &Registry,
        user: &UserId,
        tool: &str,
        binding: &Binding,
        secret: &[u8],
    ) -> Result<Arc<HeldCall>, Missing> {
        if approvals.policy.is_none() {
            return Err(Missing::Policy);
        }
        let mut hash = Sha256::new();
        hash.update(b"tool-mcp approval 1");
        hash.update((secret.len() as u64).to_be_bytes());
        hash.update(secret);
        hash.update(binding.digest());
        Ok(Arc::new(HeldCall {
            approvals: approvals.clone(),
            registry: registry.clone(),
            requester: user.as_str().to_owned(),
            tool: tool.to_owned(),
            call: hash.finalize().into(),
            attached: Mutex::default(),
            used: Mutex::default(),
        }))
    }

    /// Lets the call start only if each decision that is attached to it still counts. They are used up then.
    pub(in crate::server) fn guard(self: &Arc<Self>, call: ToolCall) -> ToolCall {
        let held = self.clone();
        call.start_with(move |_| {
            let held = held.clone();
            async move { held.use_up().await }
        })
    }

    async fn use_up(&self) -> Result<(), String> {
        let attached = std::mem::take(&mut *lock(&self.attached));
        for (approval, hold) in attached {
            self.use_one(&approval, &hold).await?;
            lock(&self.used).push(approval);
        }
        Ok(())
    }

    /// Uses a decision up. Returns the reason if it does not count.
    async fn use_one(&self, approval: &Approval, hold: &Hold) -> Result<(), String> {
        let id = &approval.id;
        match self.approvals.use_up(id).await {
            Ok(true) => {}
            Ok(false) => return Err(format!("the approval {id} was used by another call")),
            Err(error) => {
                log(&error);
                return Err(format!("the approval {id} can't be checked at the moment"));
            }
        }
        // The call may have waited since it was found.
        if self.approvals.is_over(approval) {
            return Err(format!("the approval {id} is too old"));
        }
        let by = approval.verdict.as_ref().map_or("", |verdict| &*verdict.by);
        let checked = self
            .approvals
            .check(&self.registry, &self.requester, hold, by)
            .await;
        checked
            .map_err(|denied| format!("the decision on the approval {id} does not count: {denied}"))
    }

    /// Looks for a decision on a hold. Without one, the call waits for it from now on.
    pub(in crate::server) async fn find(
        &self,
        call: ToolCall,
        hold: &Hold,
    ) -> Result<Found, StoreError> {
        let key = self.key(hold)?;
        for _ in 0..TRIES {
            let found = self.put(self.approval(&key, hold)).await?;
            // Even if the store mixes up its entries, a decision on another call must not count for this
            // one.
            if found.key != key || found.requester != self.requester {
                return Err(StoreError::failed(
                    "it returned the approval of another call",
                ));
            }
            if self.approvals.is_over(&found) {
                self.approvals.use_up(&found.id).await?;
                continue;
            }
            let Some(verdict) = found.verdict.clone() else {
                return Ok(Found::Waiting(found.id));
            };
            if matches!(verdict.decision, Decision::Deny(_) | Decision::Answer(_)) {
                // The tool does not start, so nothing else uses it up.
                if let Err(reason) = self.use_one(&found, hold).await {
                    tracing::debug!(reason, "a decision was ignored");
                    continue;
                }
            } else {
                self.attach(found, hold)?;
            }
            let call = call.decided_by(hold.clone(), verdict.decision, verdict.by);
            return Ok(Found::Decided(Box::new(call)));
        }
        Err(StoreError::failed("it keeps approvals that were removed"))
    }

    /// Notes a decision that is used up when the tool starts.
    fn attach(&self, approval: Approval, hold: &Hold) -> Result<(), StoreError> {
        let mut attached = lock(&self.attached);
        if attached.iter().any(|(other, _)| other.id == approval.id) {
            return Err(StoreError::failed("a decision had no effect on its hold"));
        }
        attached.push((approval, hold.clone()));
        Ok(())
    }

    async fn put(&self, approval: Approval) -> Result<Approval, StoreError> {
        let id = approval.id.clone();
        let Approvals { store, limits, .. } = &self.approvals;
        let found = caught(|| store.hold(approval, limits)).await?;
        if found.id == id {
            self.approvals.publish(&id);
        }
        Ok(found)
    }

    /// Returns a receiver of changes from now on.
    pub(in crate::server) fn changed(&self) -> Changed {
        Changed(self.approvals.changed.subscribe())
    }

    /// Uses up the decisions of a call that has ended without a start of its tool.
    pub(in crate::server) async fn end(&self) {
        let attached = std::mem::take(&mut *lock(&self.attached));
        for (approval, _) in attached {
            if let Err(error) = self.approvals.use_up(&approval.id).await {
                log(&error);
            }
        }
    }

    /// Makes the decisions count again, because the tool has only asked its user a question, and will run again from
    /// its start.
    pub(in crate::server) async fn suspend(&self) {
        let used = std::mem::take(&mut *lock(&self.used));
        for approval in used {
            if let Err(error) = self.put(approval).await {
                log(&error);
            }
        }
    }

    fn approval(&self, key: &str, hold: &Hold) -> Approval {
        Approval {
            id: hex(&random::<16>()),
            key: key.to_owned(),
            requester: self.requester.clone(),
            tool: self.tool.clone(),
            hold: hold.without_secrets(),
            asked_ms: self.approvals.now_ms(),
            verdict: None,
        }
    }

    /// Returns the key of a hold of this call.
    fn key(&self, hold: &Hold) -> Result<String, StoreError> {
        let mut hash = Sha256::new();
        hash.update(self.call);
        // The digest includes the secrets. Its secret key keeps them from being guessed.
        hash.update(serde_json::to_vec(hold).map_err(StoreError::failed)?);
        Ok(hex(&hash.finalize()))
    }
}

/// Logs why a store failed.
pub(in crate::server) fn log(error: &StoreError) {
    tracing::warn!(%error, "the store of held calls failed");
}
