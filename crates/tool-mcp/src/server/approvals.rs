//! Held calls that wait for somebody else: [`Approvals`] and the [`Inbox`] that keeps them.
//!
//! A hook [holds](tool_core::hooks::Gate::hold) a call if a second person has to see it. With
//! [`Server::on_hold`](crate::Server::on_hold), such a call waits in an inbox:
//!
//! 1. The result of the call says that it waits for an approval, with the id of the approval. Nothing was run.
//! 2. Somebody [decides](Approvals::decide), in a page or a program of the application. The policy of
//!    [`Approvals`] says who may. Nobody decides on their own call.
//! 3. The client makes the same call again: as the same user, of the same tool, with the same arguments. It
//!    runs, or its result has the reason why it was denied. That uses the decision up, so the next call
//!    waits again.
//!
//! Where a call is a [task](crate::Server::tasks), the task waits, and ends after the decision.
//!
//! ```
//! use tool_core::hooks::{Decision, Gate};
//! use tool_core::{Registry, tool, tools};
//! use tool_mcp::Server;
//! use tool_mcp::server::UserId;
//! use tool_mcp::server::approvals::{Approvals, DecideError, MemoryInbox};
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
//! let inbox = MemoryInbox::default();
//! let approvals = Approvals::new(&registry, inbox.clone())
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
//! async fn allow_all(
//!     inbox: &MemoryInbox,
//!     approvals: &Approvals,
//!     user: &str,
//! ) -> Result<(), DecideError> {
//!     for approval in inbox.waiting() {
//!         if approvals.may(&approval, user).await.is_ok() {
//!             let (who, what) = (&approval.requester, &approval.hold);
//!             println!("{who}: {}({}), because {}", what.tool(), what.arguments(), what.reason());
//!             approvals.decide(&approval.id, Decision::Allow, user).await?;
//!         }
//!     }
//!     Ok(())
//! }
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! # allow_all(&inbox, &approvals, "lead-3").await.unwrap();
//! # });
//! # Ok(())
//! # }
//! ```

mod held;
mod memory;

use std::error::Error;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tool_core::Registry;
use tool_core::hooks::{Decision, DecisionDenied, DecisionPolicy, DecisionRequest, Hold};
use tool_core::runtime::BoxFuture;

pub(super) use self::held::{Found, HeldCall, log};
pub use self::memory::{InboxLimits, MemoryInbox};
use super::request::LOCAL;
use crate::lock;

/// A held call that waits for a decision, or that has one.
///
/// It has no secrets: the arguments of the [`hold`](Approval::hold) have `"[secret]"` in the place of each, and the key
/// is a digest that depends on the [`state_key`](crate::Server::state_key) of the server. A store keeps it as JSON.
///
/// ```
/// use tool_mcp::server::approvals::{Approval, MemoryInbox};
///
/// fn row(approval: &Approval) -> String {
///     let hold = &approval.hold;
///     format!("{}: {}({}), {}", approval.requester, hold.tool(), hold.arguments(), hold.reason())
/// }
///
/// let inbox = MemoryInbox::default();
/// let rows: Vec<_> = inbox.waiting().iter().map(row).collect();
/// assert!(rows.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Approval {
    /// The id that the client is told. It is random.
    pub id: String,
    /// Identifies the call by its user, its tool, its arguments and the reason of the hold. An inbox has at
    /// most one approval with a key.
    pub key: String,
    /// The [`UserId`](super::UserId) of the call.
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
    /// Returns `true` if the client called a tool. No name of a tool has a space.
    fn is_of_tool(&self) -> bool {
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
    /// [`Approvals::decide`] does. A verdict that the rules forbid has no effect.
    pub fn new(decision: Decision, by: impl Into<String>) -> Verdict {
        let by = by.into();
        Verdict { decision, by }
    }
}

/// A store of [approvals](Approval), which [`Approvals`] uses. [`MemoryInbox`] is one.
///
/// Implement it for your own store if approvals have to outlive the process, or if a server has several
/// processes. Set a [`state_key`](crate::Server::state_key) too, because an approval is found again only
/// with the same key. Each method must be atomic. In SQL, with an approval as JSON in the column
/// `approval`:
///
/// | method | statements |
/// |---|---|
/// | `put` | `insert into approvals (id, key, asked_ms, approval) values (?, ?, ?, ?) on conflict (key) do nothing`, then `select … where key = ?` |
/// | `get` | `select … where id = ?` |
/// | `decide` | `update approvals set verdict = ? where id = ? and verdict is null` |
/// | `remove` | `delete from approvals where id = ?` |
/// | `remove_before` | `delete from approvals where asked_ms < ?` |
///
/// A store with limits returns [`InboxError::Full`] from `put`. It should limit the approvals of each requester.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::future::ready;
/// use std::sync::{Arc, Mutex};
///
/// use tool_core::runtime::BoxFuture;
/// use tool_mcp::server::approvals::{Approval, Inbox, InboxError, Verdict};
///
/// /// Keeps approvals as JSON by their keys, as a database would.
/// #[derive(Clone, Default)]
/// struct Table(Arc<Mutex<BTreeMap<String, String>>>);
///
/// impl Table {
///     /// Changes the rows in one step.
///     fn step<T: Send + 'static>(
///         &self,
///         step: impl FnOnce(&mut BTreeMap<String, String>) -> serde_json::Result<T>,
///     ) -> BoxFuture<Result<T, InboxError>> {
///         Box::pin(ready(step(&mut self.0.lock().unwrap()).map_err(InboxError::failed)))
///     }
/// }
///
/// /// Returns the approval with an id.
/// fn find(rows: &BTreeMap<String, String>, id: &str) -> serde_json::Result<Option<Approval>> {
///     for row in rows.values() {
///         let approval: Approval = serde_json::from_str(row)?;
///         if approval.id == id {
///             return Ok(Some(approval));
///         }
///     }
///     Ok(None)
/// }
///
/// impl Inbox for Table {
///     fn put(&self, approval: Approval) -> BoxFuture<Result<Approval, InboxError>> {
///         self.step(|rows| {
///             if let Some(row) = rows.get(&approval.key) {
///                 return serde_json::from_str(row);
///             }
///             rows.insert(approval.key.clone(), serde_json::to_string(&approval)?);
///             Ok(approval)
///         })
///     }
///
///     fn get(&self, id: &str) -> BoxFuture<Result<Option<Approval>, InboxError>> {
///         self.step(|rows| find(rows, id))
///     }
///
///     fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, InboxError>> {
///         self.step(|rows| match find(rows, id)? {
///             Some(mut approval) if approval.verdict.is_none() => {
///                 approval.verdict = Some(verdict);
///                 rows.insert(approval.key.clone(), serde_json::to_string(&approval)?);
///                 Ok(true)
///             }
///             _ => Ok(false),
///         })
///     }
///
///     fn remove(&self, id: &str) -> BoxFuture<Result<bool, InboxError>> {
///         self.step(|rows| {
///             let found = find(rows, id)?;
///             Ok(found.is_some_and(|approval| rows.remove(&approval.key).is_some()))
///         })
///     }
///
///     fn remove_before(&self, ms: u64) -> BoxFuture<Result<usize, InboxError>> {
///         self.step(|rows| {
///             let before = rows.len();
///             rows.retain(|_, row| {
///                 let approval = serde_json::from_str::<Approval>(row);
///                 approval.is_ok_and(|approval| approval.asked_ms >= ms)
///             });
///             Ok(before - rows.len())
///         })
///     }
/// }
/// # let _ = Table::default();
/// ```
pub trait Inbox: Send + Sync + 'static {
    /// Adds an approval and returns it. If there is one with its key, returns that one and changes nothing.
    ///
    /// # Errors
    ///
    /// Returns [`InboxError::Full`] if there is no room, and another error if the store fails.
    fn put(&self, approval: Approval) -> BoxFuture<Result<Approval, InboxError>>;

    /// Returns the approval with an id.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn get(&self, id: &str) -> BoxFuture<Result<Option<Approval>, InboxError>>;

    /// Saves the verdict of an approval that has none. Returns `false`, and changes nothing, if it has one or does not
    /// exist. [`Approvals::decide`] calls this once it has asked its policy.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, InboxError>>;

    /// Removes an approval. Returns `true` if it did: of several concurrent calls, one gets `true`. A held
    /// call runs only after it gets `true`, so a decision counts once.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn remove(&self, id: &str) -> BoxFuture<Result<bool, InboxError>>;

    /// Removes the approvals with an [`asked_ms`](Approval::asked_ms) before this. Returns how many. It is called when the
    /// inbox is [full](InboxError::Full); a store without limits calls it by itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    fn remove_before(&self, ms: u64) -> BoxFuture<Result<usize, InboxError>>;

    /// Completes when the approval with this id has a verdict or is removed, or earlier: tasks wait for this, and then
    /// look again. The default completes after a second.
    fn changed(&self, id: &str) -> BoxFuture<()> {
        let _ = id;
        Box::pin(tokio::time::sleep(Duration::from_secs(1)))
    }
}

impl<I: Inbox + ?Sized> Inbox for Arc<I> {
    fn put(&self, approval: Approval) -> BoxFuture<Result<Approval, InboxError>> {
        (**self).put(approval)
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Option<Approval>, InboxError>> {
        (**self).get(id)
    }

    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, InboxError>> {
        (**self).decide(id, verdict)
    }

    fn remove(&self, id: &str) -> BoxFuture<Result<bool, InboxError>> {
        (**self).remove(id)
    }

    fn remove_before(&self, ms: u64) -> BoxFuture<Result<usize, InboxError>> {
        (**self).remove_before(ms)
    }

    fn changed(&self, id: &str) -> BoxFuture<()> {
        (**self).changed(id)
    }
}

/// The error of an [`Inbox`].
///
/// ```
/// use tool_mcp::server::approvals::InboxError;
///
/// // In an inbox of your own, on top of a database.
/// let error = InboxError::failed("the connection is closed");
/// assert!(error.to_string().contains("the connection is closed"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum InboxError {
    /// There is no room for another approval, or for another one of its requester.
    Full,
    /// The store failed. The client does not see the reason.
    Failed(Box<dyn Error + Send + Sync>),
}

impl InboxError {
    /// Creates the error of a store that failed.
    pub fn failed(reason: impl Into<Box<dyn Error + Send + Sync>>) -> InboxError {
        InboxError::Failed(reason.into())
    }
}

impl fmt::Display for InboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InboxError::Full => f.write_str("too many calls wait for approval"),
            InboxError::Failed(error) => write!(f, "the inbox failed: {error}"),
        }
    }
}

impl Error for InboxError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            InboxError::Full => None,
            InboxError::Failed(error) => Some(&**error),
        }
    }
}

type Clock = dyn Fn() -> SystemTime + Send + Sync;

/// An [inbox](Inbox), and the rule of who may decide on the calls in it. Clones share the inbox.
///
/// Three rules always hold: a decider has a name, nobody decides on their own call, and `local` decides on
/// nothing, because it is the user of any stream without [`identity`](crate::Server::identity). On top of
/// them, [`may_decide`](Approvals::may_decide) has to allow the decision. The rules are applied to the
/// decision, and again right before the call starts, so a decision does not outlive the role of the person
/// who made it.
///
/// ```
/// use std::time::Duration;
/// use tool_core::Registry;
/// use tool_mcp::Server;
/// use tool_mcp::server::approvals::{Approvals, MemoryInbox};
///
/// let registry = Registry::new();
/// let approvals = Approvals::new(&registry, MemoryInbox::default())
///     .may_decide(async |request| request.user.starts_with("lead-"))
///     .kept_for(Duration::from_secs(24 * 60 * 60));
/// let server = Server::new(registry).on_hold(approvals.clone());
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct Approvals {
    registry: Registry,
    /// The functions of resources and prompts, which may have the names of tools.
    offers: Arc<Mutex<Option<Registry>>>,
    inbox: Arc<dyn Inbox>,
    policy: DecisionPolicy,
    kept_for: Duration,
    clock: Arc<Clock>,
}

impl Approvals {
    /// Creates approvals of calls of these tools. Nobody may decide until you set
    /// [`may_decide`](Approvals::may_decide).
    pub fn new(registry: &Registry, inbox: impl Inbox) -> Approvals {
        Approvals {
            registry: registry.clone(),
            offers: Arc::default(),
            inbox: Arc::new(inbox),
            policy: DecisionPolicy::default(),
            kept_for: Duration::from_secs(24 * 3600),
            clock: Arc::new(SystemTime::now),
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
        self.policy = DecisionPolicy::new(allows);
        self
    }

    /// Sets how long an approval counts after its call was held, with or without a decision. The default is
    /// a day. A call after that waits again.
    pub fn kept_for(mut self, time: Duration) -> Approvals {
        self.kept_for = time;
        self
    }

    /// Sets the clock, for tests. The default is the system's clock.
    pub fn clock(mut self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Approvals {
        self.clock = Arc::new(now);
        self
    }

    /// Checks whether a user may decide on an approval. A page should show a user only these, and the user's own.
    ///
    /// # Errors
    ///
    /// Returns the reason why the user may not decide.
    pub async fn may(&self, approval: &Approval, user: &str) -> Result<(), DecisionDenied> {
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
        self.policy.check(request).await
    }

    /// Decides on the approval with an id, in the name of a user. The call runs when its client makes it again, or at once
    /// if it is a task.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such approval, if it has a decision or is too old, if the user may not decide, or if
    /// the inbox fails.
    pub async fn decide(
        &self,
        id: &str,
        decision: Decision,
        user: &str,
    ) -> Result<(), DecideError> {
        let approval = caught(|| self.inbox.get(id)).await?;
        let approval = approval.filter(|approval| approval.id == id && !self.is_over(approval));
        let Some(approval) = approval else {
            return Err(DecideError::Unknown);
        };
        self.may(&approval, user).await?;
        let verdict = Verdict::new(decision, user);
        if caught(|| self.inbox.decide(id, verdict)).await? {
            Ok(())
        } else {
            Err(DecideError::Decided)
        }
    }

    /// Returns `true` if an approval does not count any more.
    fn is_over(&self, approval: &Approval) -> bool {
        approval.asked_ms < self.first_ms()
    }

    fn now_ms(&self) -> u64 {
        let now = (self.clock)().duration_since(UNIX_EPOCH);
        millis(now.unwrap_or_default())
    }

    /// Returns the time before which no approval counts.
    fn first_ms(&self) -> u64 {
        self.now_ms().saturating_sub(millis(self.kept_for))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Runs a method of an inbox. A panic is an error.
async fn caught<T>(
    method: impl FnOnce() -> BoxFuture<Result<T, InboxError>>,
) -> Result<T, InboxError> {
    let running = async { method().await };
    match AssertUnwindSafe(running).catch_unwind().await {
        Ok(result) => result,
        // The panic hook has reported it.
        Err(_) => Err(InboxError::failed("it panicked")),
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals")
            .field("policy", &self.policy)
            .field("kept_for", &self.kept_for)
            .finish_non_exhaustive()
    }
}

/// The error of [`Approvals::decide`].
///
/// ```
/// use tool_core::hooks::Decision;
/// use tool_mcp::server::approvals::{Approvals, DecideError};
///
/// /// What the page of the approver shows.
/// async fn allow(approvals: &Approvals, id: &str, user: &str) -> String {
///     match approvals.decide(id, Decision::Allow, user).await {
///         Ok(()) => "done".into(),
///         Err(DecideError::Unknown) => "it has expired; the client has to ask again".into(),
///         Err(DecideError::Decided) => "somebody else was faster".into(),
///         Err(error) => error.to_string(),
///     }
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum DecideError {
    /// There is no such approval: it was never there, is used up, or is too old.
    Unknown,
    /// Somebody has decided before.
    Decided,
    /// The user may not decide.
    Denied(DecisionDenied),
    /// The inbox failed.
    Inbox(InboxError),
}

impl From<DecisionDenied> for DecideError {
    fn from(denied: DecisionDenied) -> DecideError {
        DecideError::Denied(denied)
    }
}

impl From<InboxError> for DecideError {
    fn from(error: InboxError) -> DecideError {
        DecideError::Inbox(error)
    }
}

impl fmt::Display for DecideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecideError::Unknown => f.write_str("no call waits for an approval with this id"),
            DecideError::Decided => f.write_str("somebody has decided on this call before"),
            DecideError::Denied(denied) => denied.fmt(f),
            DecideError::Inbox(error) => error.fmt(f),
        }
    }
}

impl Error for DecideError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            DecideError::Denied(denied) => Some(denied),
            DecideError::Inbox(error) => Some(error),
            DecideError::Unknown | DecideError::Decided => None,
        }
    }
}
