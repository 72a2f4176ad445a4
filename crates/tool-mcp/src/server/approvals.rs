//! Held calls that wait for somebody else.
//!
//! A hook [holds](tool_core::hooks::Gate::hold) a call if a second person has to see it. With
//! [`Server::on_hold`](crate::Server::on_hold), such a call waits in a [store](super::store::Store):
//!
//! 1. The result of the call says that it waits for an approval, with the id of the approval. Nothing was run.
//! 2. Somebody decides, in a page or a program of the application: [`Approvals`] is an [`Inbox`]. Its policy says who may.
//!    Nobody decides on their own call.
//! 3. The client makes the same call again: as the same user, of the same tool, with the same arguments. It
//!    runs, or its result has the reason why it was denied. That uses the decision up, so the next call
//!    waits again.
//!
//! Where a call is a [task](crate::Server::tasks), the task waits, and ends after the decision.
//!
//! # Restarts
//!
//! [`MemoryStore`](super::store::MemoryStore) forgets held calls and decisions when the process ends: the client makes its call
//! again, and it waits anew. To keep them, also through `kill -9`, use `SqliteStore` (feature `sqlite`) or a store of your own,
//! and set [`Server::state_key`](crate::Server::state_key): a call finds its approval by a digest with this key. Without it each
//! process has a random key, and nothing finds the approvals of an earlier one, which end by their age.
//!
//! ```
//! use tool_core::hooks::{Decision, Gate, Inbox, InboxError};
//! use tool_core::{Registry, tool, tools};
//! use tool_mcp::Server;
//! use tool_mcp::server::UserId;
//! use tool_mcp::server::approvals::Approvals;
//! use tool_mcp::server::store::MemoryStore;
//!
//! /// Refunds an order.
//! #[tool]
//! fn refund(order: u64) -> String {
//!     format!("refunded order {order}")
//! }
//!
//! # fn main() -> Result<(), tool_core::RegistryError> {
//! let registry = Registry::builder()
//!     .tools(tools![refund])
//!     .before(async |_| Gate::hold("it costs money"))
//!     .build()?;
//! let approvals = Approvals::new(&registry, MemoryStore::default())
//!     .may_decide(async |request| request.user.starts_with("lead-"));
//! let server = Server::new(registry)
//!     .identity(|request, call| {
//!         let token = request.bearer().ok_or("a token is missing")?;
//!         // Look the token up.
//!         Ok(call.with(UserId::new(token)))
//!     })
//!     .on_hold(approvals.clone());
//! # let _ = server;
//!
//! // In the page of a lead.
//! async fn allow_all(inbox: &impl Inbox, user: &str) -> Result<(), InboxError> {
//!     for call in inbox.waiting(user, 100).await? {
//!         println!("{:?}: {}({}), because {}", call.owner, call.name, call.arguments, call.reason);
//!         inbox.decide(&call.id, Decision::Allow, user).await?;
//!     }
//!     Ok(())
//! }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! # allow_all(&approvals, "lead-3").await.unwrap();
//! # });
//! # Ok(())
//! # }
//! ```

mod held;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::{FutureExt, Stream, stream};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout;
use tool_core::Registry;
use tool_core::hooks::{
    Decision, DecisionDenied, DecisionPolicy, DecisionRequest, Hold, Inbox, InboxError, WaitingCall,
};
use tool_core::runtime::BoxFuture;

pub(super) use self::held::{Found, HeldCall, Missing, log};
pub use super::approval::{Approval, ApprovalLimits, Verdict};
use super::request::LOCAL;
use super::store::{Notice, Store, StoreError};
use crate::lock;

/// How many notices a waiting task may be behind. One that is further behind looks at the store.
const LATE: usize = 256;

/// How often a waiting task looks at the store without a notice, because a process may end between a decision and its
/// notice.
const LOOK: Duration = Duration::from_secs(30);

/// How many approvals are read at once.
const PAGE: usize = 100;

type Clock = dyn Fn() -> SystemTime + Send + Sync;

/// The held calls in a [store](Store), and the rule of who may decide on them: an [`Inbox`]. Clones share them.
///
/// Three rules always hold: a decider has a name, nobody decides on their own call, and `local` decides on
/// nothing, because it is the user of any stream without [`identity`](crate::Server::identity). On top of
/// them, [`may_decide`](Approvals::may_decide) has to allow the decision. The rules are applied to the
/// decision, and again right before the call starts, so a decision does not outlive the role of the person
/// who made it.
///
/// ```
/// use tool_core::Registry;
/// use tool_mcp::Server;
/// use tool_mcp::server::approvals::Approvals;
/// use tool_mcp::server::store::MemoryStore;
///
/// let registry = Registry::new();
/// let store = MemoryStore::default();
/// let approvals = Approvals::new(&registry, store.clone())
///     .may_decide(async |request| request.user.starts_with("lead-"));
/// let server = Server::new(registry).store(store).on_hold(approvals.clone());
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct Approvals {
    registry: Registry,
    /// The functions of resources and prompts, which may have the names of tools.
    offers: Arc<Mutex<Option<Registry>>>,
    store: Arc<dyn Store>,
    /// Without one, nobody decides.
    policy: Option<DecisionPolicy>,
    limits: ApprovalLimits,
    clock: Arc<Clock>,
    /// The ids of approvals that have changed. `None` means that any may have.
    changed: Arc<broadcast::Sender<Option<String>>>,
}

impl Approvals {
    /// Creates approvals of calls of these tools. Nobody may decide, and no call waits, until you set
    /// [`may_decide`](Approvals::may_decide).
    pub fn new(registry: &Registry, store: impl Store) -> Approvals {
        let changed = Arc::new(broadcast::Sender::new(LATE));
        let weak = Arc::downgrade(&changed);
        store.listen(Box::new(move |notice| {
            let Some(changed) = weak.upgrade() else {
                return false;
            };
            let id = match notice {
                Notice::Held(id) => Some(id.clone()),
                Notice::Missed => None,
                _ => return true,
            };
            // Fails if nobody waits.
            let _ = changed.send(id);
            true
        }));
        Approvals {
            registry: registry.clone(),
            offers: Arc::default(),
            store: Arc::new(store),
            policy: None,
            limits: ApprovalLimits::default(),
            clock: Arc::new(SystemTime::now),
            changed,
        }
    }

    /// Sets who may decide: the closure gets the user who decides, the requester as the owner, the tool and
    /// the hold. The tool is the function if the call reads a resource or gets a prompt. A tool may have
    /// the same name as that function, so decide by the tags of the tool, or give each a unique name. The
    /// closure is not asked about the requester. If it panics, the decision is denied.
    pub fn may_decide<F>(
        mut self,
        allows: impl Fn(DecisionRequest) -> F + Send + Sync + 'static,
    ) -> Approvals
    where
        F: Future<Output = bool> + Send + 'static,
    {
        self.policy = Some(DecisionPolicy::new(allows));
        self
    }

    /// Sets the limits of held calls. Give all servers with the same store the same ones.
    pub fn limits(mut self, limits: ApprovalLimits) -> Approvals {
        self.limits = limits;
        self
    }

    /// Sets the clock, for tests. The default is the system's clock.
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Approvals {
        self.clock = Arc::new(now);
        self
    }

    /// Returns a stream with an item at once, and one after each change of the held calls, at any process that shares the
    /// store. Several quick changes may be one item.
    pub fn changes(&self) -> impl Stream<Item = ()> + Send + Unpin + use<> {
        let state = (self.changed.subscribe(), true);
        let items = stream::unfold(state, async |(mut changed, is_first)| {
            if !is_first && matches!(changed.recv().await, Err(RecvError::Closed)) {
                return None;
            }
            while changed.try_recv().is_ok() {}
            Some(((), (changed, false)))
        });
        Box::pin(items)
    }

    async fn may(&self, approval: &Approval, user: &str) -> Result<(), DecisionDenied> {
        let offers = lock(&self.offers).clone();
        // A tool may have the name of the function of a resource.
        let registry = match offers {
            _ if approval.is_of_tool() => self.registry.clone(),
            Some(offers) => offers,
            None => Registry::new(),
        };
        self.check(&registry, &approval.requester, &approval.hold, user)
            .await
    }

    /// Sets the functions of resources and prompts.
    pub(super) fn set_offers(&self, offers: &Registry) {
        *lock(&self.offers) = Some(offers.clone());
    }

    async fn check(
        &self,
        registry: &Registry,
        requester: &str,
        hold: &Hold,
        user: &str,
    ) -> Result<(), DecisionDenied> {
        if user == LOCAL {
            return Err(DecisionDenied::Policy);
        }
        let mut request = DecisionRequest::new(user, hold.clone());
        request.owner = Some(requester.to_owned());
        request.tool = registry.get(hold.tool());
        let policy = self.policy.clone().unwrap_or_default();
        policy.check(request).await
    }

    /// Tells all processes that an approval has changed.
    fn publish(&self, id: &str) {
        self.store.publish(Notice::Held(id.to_owned()));
    }

    /// Uses an approval up. Returns `true` if no other call did.
    async fn use_up(&self, id: &str) -> Result<bool, StoreError> {
        let is_used = caught(|| self.store.use_up(id)).await?;
        if is_used {
            self.publish(id);
        }
        Ok(is_used)
    }

    /// Returns `true` if an approval does not count any more.
    fn is_over(&self, approval: &Approval) -> bool {
        approval.asked_ms < self.first_ms()
    }

    fn now_ms(&self) -> u64 {
        let now = (self.clock)().duration_since(UNIX_EPOCH);
        u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the time before which no approval counts.
    fn first_ms(&self) -> u64 {
        self.limits.first_ms(self.now_ms())
    }
}

impl Inbox for Approvals {
    fn waiting(&self, user: &str, limit: usize) -> BoxFuture<Result<Vec<WaitingCall>, InboxError>> {
        let (own, user) = (self.clone(), user.to_owned());
        Box::pin(async move {
            let mut found = Vec::new();
            let mut last: Option<Approval> = None;
            while found.len() < limit {
                let page = caught(|| own.store.waiting(last.as_ref(), PAGE)).await;
                let page = page.map_err(failed)?;
                for approval in &page {
                    if found.len() < limit
                        && !own.is_over(approval)
                        && own.may(approval, &user).await.is_ok()
                    {
                        found.push(approval.entry());
                    }
                }
                last = page.into_iter().last();
                if last.is_none() {
                    break;
                }
            }
            Ok(found)
        })
    }

    /// Decides on a call. It runs when its client makes it again, or at once if it is a task.
    fn decide(
        &self,
        id: &str,
        decision: Decision,
        user: &str,
    ) -> BoxFuture<Result<(), InboxError>> {
        let (own, id, user) = (self.clone(), id.to_owned(), user.to_owned());
        Box::pin(async move {
            let approval = caught(|| own.store.held(&id)).await.map_err(failed)?;
            let approval = approval.filter(|approval| approval.id == id && !own.is_over(approval));
            let approval = approval.ok_or(InboxError::Unknown)?;
            own.may(&approval, &user).await?;
            let verdict = Verdict::new(decision, user);
            let is_new = caught(|| own.store.decide(&id, verdict)).await;
            if !is_new.map_err(failed)? {
                return Err(InboxError::Decided);
            }
            own.publish(&id);
            Ok(())
        })
    }
}

fn failed(error: StoreError) -> InboxError {
    InboxError::Failed(error.into())
}

/// Waits for changes of an approval.
pub(super) struct Changed(broadcast::Receiver<Option<String>>);

impl Changed {
    /// Waits until the approval with this id may have changed since the last time.
    pub(super) async fn wait(&mut self, id: &str) {
        let change = async {
            while let Ok(Some(other)) = self.0.recv().await
                && other != id
            {}
        };
        let _ = timeout(LOOK, change).await;
    }
}

/// Runs a method of a store. A panic is an error.
async fn caught<T>(
    method: impl FnOnce() -> BoxFuture<Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let running = async { method().await };
    match AssertUnwindSafe(running).catch_unwind().await {
        Ok(result) => result,
        // The panic hook has reported it.
        Err(_) => Err(StoreError::failed("it panicked")),
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("policy", &self.policy)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
