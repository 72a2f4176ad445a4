//! [`DecisionPolicy`]: who may decide on a held call.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::call::boundary::{Caught, Guarded, catch};
use crate::call::hold::Hold;
use crate::runtime::BoxFuture;
use crate::tool::ToolEntry;

/// A decision that somebody wants to make on a held call, as a [`DecisionPolicy`] sees it.
///
/// ```
/// use tool_core::hooks::DecisionPolicy;
///
/// // Leads decide on destructive calls, and everybody on the others.
/// let policy = DecisionPolicy::new(async |request| {
///     let tool = request.tool.as_ref();
///     let is_harmless = tool.is_some_and(|tool| tool.annotations.destructive == Some(false));
///     is_harmless || request.user.starts_with("lead-")
/// });
/// # let _ = policy;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DecisionRequest {
    /// The id of the user who decides.
    pub user: String,
    /// The id of the user whose call it is; `None` in a program with one user.
    pub owner: Option<String>,
    /// The tool; `None` if the registry no longer has it, or if the provider [runs](Hold::server) it. [`Hold::tool`] is
    /// its name.
    pub tool: Option<ToolEntry>,
    /// The subject of the decision.
    pub hold: Hold,
}

impl DecisionRequest {
    /// Creates a request of a user, on a call without an owner and of an unknown tool.
    pub fn new(user: impl Into<String>, hold: Hold) -> DecisionRequest {
        DecisionRequest {
            user: user.into(),
            owner: None,
            tool: None,
            hold,
        }
    }

    /// Returns `true` if the user decides on their own call. Blanks at the ends of the ids don't count.
    pub fn is_owner(&self) -> bool {
        self.owner.as_deref().map(str::trim) == Some(self.user.trim())
    }
}

/// Decides who may decide on held calls. Two rules always hold: the decider has a name, and nobody decides
/// on a [hold](crate::hooks::Gate::hold) of their own call. On top of them the closure has to return
/// `true`.
///
/// Without a closure, nobody decides on a [hold](crate::hooks::Gate::hold), because it needs somebody else
/// and nothing tells who that is. The owner may [confirm](crate::hooks::Gate::confirm) a call, and anybody
/// may confirm one without an owner.
///
/// ```
/// use tool_core::hooks::{DecisionDenied, DecisionPolicy, DecisionRequest, Gate};
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Deletes a note.
/// #[tool(destructive)]
/// fn delete_note(id: u32) {
///     println!("note {id} is deleted");
/// }
///
/// let registry = Registry::builder()
///     .tools(tools![delete_note])
///     .before(async |_| Gate::hold("it deletes something"))
///     .build()?;
/// let call = ToolCall::new("call_1", "delete_note", r#"{"id":7}"#);
/// let result = registry.call_blocking(call);
/// let hold = result.error().unwrap().hold().unwrap();
///
/// let policy = DecisionPolicy::new(async |request| {
///     request.is_owner() || request.user.starts_with("lead-")
/// });
/// let decides = async |user: &str| {
///     let mut request = DecisionRequest::new(user, hold.clone());
///     request.owner = Some("lead-ada".into());
///     policy.check(request).await
/// };
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(decides("lead-grace").await, Ok(()));
/// assert_eq!(decides("lead-ada").await, Err(DecisionDenied::Owner));
/// assert_eq!(decides("edsger").await, Err(DecisionDenied::Policy));
/// # });
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Default)]
pub struct DecisionPolicy {
    allows: Option<Arc<Allows>>,
}

type Allows = dyn Fn(DecisionRequest) -> BoxFuture<bool> + Send + Sync;

impl DecisionPolicy {
    /// Creates a policy. The closure looks up the roles of the user, for example. If it panics, the decision is
    /// denied.
    pub fn new<F>(allows: impl Fn(DecisionRequest) -> F + Send + Sync + 'static) -> DecisionPolicy
    where
        F: Future<Output = bool> + Send + 'static,
    {
        let allows = Guarded::new(allows);
        DecisionPolicy {
            allows: Some(Arc::new(move |request| match allows.get() {
                Some(allows) => Box::pin(allows(request)),
                None => Box::pin(std::future::ready(false)),
            })),
        }
    }

    /// Checks a decision.
    ///
    /// # Errors
    ///
    /// Returns the reason why the user may not decide.
    pub async fn check(&self, request: DecisionRequest) -> Result<(), DecisionDenied> {
        if request.user.trim().is_empty() {
            return Err(DecisionDenied::Unnamed);
        }
        if request.is_owner() && !request.hold.is_confirmation() {
            return Err(DecisionDenied::Owner);
        }
        let Some(allows) = &self.allows else {
            let is_own = request.owner.is_none() || request.is_owner();
            if is_own && request.hold.is_confirmation() {
                return Ok(());
            }
            return Err(DecisionDenied::NoPolicy);
        };
        let allowed = match catch(|| allows(request)) {
            Ok(allowed) => Caught::new(allowed).await,
            Err(panic) => Err(panic),
        };
        match allowed {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(DecisionDenied::Policy),
        }
    }
}

impl fmt::Debug for DecisionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecisionPolicy")
            .field("has_closure", &self.allows.is_some())
            .finish_non_exhaustive()
    }
}

/// The reason why somebody may not decide on a held call; see [`DecisionPolicy::check`].
///
/// ```
/// use tool_core::hooks::DecisionDenied;
///
/// // What the page of the approver shows.
/// let message = DecisionDenied::Owner.to_string();
/// assert_eq!(message, "the call is the user's own; somebody else must decide on it");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DecisionDenied {
    /// The decision has no name of a user.
    Unnamed,
    /// The call is the user's own, and [`Gate::hold`](crate::hooks::Gate::hold) asks for somebody else.
    Owner,
    /// Somebody else has to decide, and there is no closure that says who may.
    NoPolicy,
    /// The closure does not let this user decide on this call.
    Policy,
}

impl fmt::Display for DecisionDenied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecisionDenied::Unnamed => "a decision needs the name of the user who makes it",
            DecisionDenied::Owner => "the call is the user's own; somebody else must decide on it",
            DecisionDenied::NoPolicy => {
                "no policy says who may decide on the call; set one, such as with `Agent::may_decide`"
            }
            DecisionDenied::Policy => "the policy does not let this user decide on the call",
        })
    }
}

impl Error for DecisionDenied {}
