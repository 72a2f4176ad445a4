//! [`Inbox`]: held calls that wait for people, wherever they wait.

use std::error::Error;
use std::fmt;

use super::DecisionDenied;
use crate::call::hold::{Decision, Hold};
use crate::runtime::BoxFuture;

/// A held call that waits for a decision, as an [`Inbox`] lists it. It has no secrets, so a page may show it.
///
/// ```
/// use tool_core::hooks::WaitingCall;
///
/// fn row(call: &WaitingCall) -> String {
///     let owner = call.owner.as_deref().unwrap_or("somebody");
///     format!("{}({}) for {owner}: {}", call.name, call.arguments, call.reason)
/// }
/// # let _ = row;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitingCall {
    /// Identifies everything that the person sees, for [`Inbox::decide`].
    pub id: String,
    /// The id of the user whose call it is; `None` in a program with one user.
    pub owner: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// The provider's server that runs the tool, if it does not run in your program.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub server: Option<String>,
    /// The arguments in the form for a person; see [`Hold::arguments`].
    pub arguments: String,
    /// The reason given by the hook or the provider.
    pub reason: String,
    /// `true` if the owner may [confirm](crate::hooks::Gate::confirm) the call.
    pub is_confirmation: bool,
    /// The time since which the call waits, in milliseconds since the start of 1970 (UTC).
    pub since_ms: u64,
}

impl WaitingCall {
    /// Creates the entry of a hold.
    ///
    /// ```
    /// use tool_core::hooks::{Hold, WaitingCall};
    ///
    /// fn entry(number: u64, owner: &str, hold: &Hold) -> WaitingCall {
    ///     WaitingCall::new(number.to_string(), Some(owner), hold, 0)
    /// }
    /// # let _ = entry;
    /// ```
    pub fn new(id: String, owner: Option<&str>, hold: &Hold, since_ms: u64) -> WaitingCall {
        WaitingCall {
            id,
            owner: owner.map(str::to_owned),
            name: hold.tool().to_owned(),
            server: hold.server().map(str::to_owned),
            arguments: hold.arguments().to_owned(),
            reason: hold.reason().to_owned(),
            is_confirmation: hold.is_confirmation(),
            since_ms,
        }
    }
}

/// The held calls that wait somewhere. `Conversations` of `tool-agent` and `Approvals` of `tool-mcp` are inboxes. A pair of
/// inboxes is one too, so a service lists the calls of its conversations and of its MCP clients together.
///
/// ```
/// use tool_core::hooks::{Decision, Inbox, InboxError};
///
/// /// Returns the text of a page for a user who decides on the calls of others.
/// async fn page(inbox: &impl Inbox, user: &str) -> Result<String, InboxError> {
///     let waiting = inbox.waiting(user, 100).await?;
///     let of_others = waiting.iter().filter(|call| call.owner.as_deref() != Some(user));
///     Ok(of_others.map(|call| format!("{}: {}({})\n", call.id, call.name, call.arguments)).collect())
/// }
///
/// /// Does what the user clicked, and returns the status of an HTTP response.
/// async fn allow(inbox: &impl Inbox, user: &str, id: &str) -> u16 {
///     match inbox.decide(id, Decision::Allow, user).await {
///         Ok(()) => 200,
///         Err(error) => error.status(),
///     }
/// }
/// ```
#[doc(alias("approvals", "human in the loop"))]
pub trait Inbox: Send + Sync {
    /// Returns the calls on which a user may decide, the earliest first, at most `limit`. They include the user's own calls
    /// that the user may [confirm](crate::hooks::Gate::confirm).
    ///
    /// # Errors
    ///
    /// Returns [`InboxError::Failed`] if they can't be read.
    fn waiting(&self, user: &str, limit: usize) -> BoxFuture<Result<Vec<WaitingCall>, InboxError>>;

    /// Decides on the call with this [id](WaitingCall::id), in the name of a user.
    ///
    /// # Errors
    ///
    /// Returns an error if no such call waits, if the user may not decide on it, or if the decision does not fit the call.
    /// The future does nothing until it is polled.
    fn decide(&self, id: &str, decision: Decision, user: &str)
    -> BoxFuture<Result<(), InboxError>>;
}

/// Lists the calls of both, by time. A decision is for the one that knows the id.
impl<A: Inbox, B: Inbox> Inbox for (A, B) {
    fn waiting(&self, user: &str, limit: usize) -> BoxFuture<Result<Vec<WaitingCall>, InboxError>> {
        let (first, second) = (self.0.waiting(user, limit), self.1.waiting(user, limit));
        Box::pin(async move {
            let mut all = first.await?;
            all.extend(second.await?);
            all.sort_by_key(|call| call.since_ms);
            all.truncate(limit);
            Ok(all)
        })
    }

    fn decide(
        &self,
        id: &str,
        decision: Decision,
        user: &str,
    ) -> BoxFuture<Result<(), InboxError>> {
        let first = self.0.decide(id, decision.clone(), user);
        let second = self.1.decide(id, decision, user);
        Box::pin(async move {
            match first.await {
                Err(InboxError::Unknown) => second.await,
                decided => decided,
            }
        })
    }
}

/// The error of an [`Inbox`]. Its message is for the user: it has nothing of the cause of a failure, which is the
/// [source](Error::source).
///
/// ```
/// use tool_core::hooks::{DecisionDenied, InboxError};
///
/// assert_eq!(InboxError::Denied(DecisionDenied::Owner).status(), 403);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum InboxError {
    /// No such call waits: it was never there, has run, or is too old.
    Unknown,
    /// Somebody has decided before.
    Decided,
    /// The user may not decide.
    Denied(DecisionDenied),
    /// The decision does not fit the call, such as with invalid arguments. The call still waits.
    Invalid(Box<dyn Error + Send + Sync>),
    /// The call can't be read or written.
    Failed(Box<dyn Error + Send + Sync>),
}

impl InboxError {
    /// Returns a status for an HTTP response: 404, 409, 403, 422 or 500, in the order of the variants.
    ///
    /// ```
    /// use tool_core::hooks::InboxError;
    ///
    /// assert_eq!(InboxError::Decided.status(), 409);
    /// ```
    pub fn status(&self) -> u16 {
        match self {
            InboxError::Unknown => 404,
            InboxError::Decided => 409,
            InboxError::Denied(_) => 403,
            InboxError::Invalid(_) => 422,
            InboxError::Failed(_) => 500,
        }
    }
}

impl fmt::Display for InboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InboxError::Unknown => f.write_str("no such call waits for a decision"),
            InboxError::Decided => f.write_str("somebody has decided on this call before"),
            InboxError::Denied(denied) => denied.fmt(f),
            InboxError::Invalid(error) => error.fmt(f),
            InboxError::Failed(_) => {
                f.write_str("the calls that wait can't be read or written; try again later")
            }
        }
    }
}

impl Error for InboxError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            InboxError::Denied(denied) => Some(denied),
            // Its message is displayed.
            InboxError::Invalid(error) => error.source(),
            InboxError::Failed(error) => Some(&**error),
            InboxError::Unknown | InboxError::Decided => None,
        }
    }
}

impl From<DecisionDenied> for InboxError {
    fn from(denied: DecisionDenied) -> InboxError {
        InboxError::Denied(denied)
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::runtime;

    /// Knows calls by their ids, with the times since which they wait.
    #[derive(Clone)]
    struct Calls(Arc<Mutex<Vec<(&'static str, u64)>>>);

    fn calls<const N: usize>(calls: [(&'static str, u64); N]) -> Calls {
        Calls(Arc::new(Mutex::new(calls.to_vec())))
    }

    fn block_on<T>(future: BoxFuture<T>) -> T {
        runtime::block_on(future).unwrap()
    }

    impl Inbox for Calls {
        fn waiting(
            &self,
            _: &str,
            limit: usize,
        ) -> BoxFuture<Result<Vec<WaitingCall>, InboxError>> {
            let hold = Hold::new("pay", &[], "{}", "it costs money".into(), (1, false));
            let calls = self.0.lock().unwrap();
            let all = calls
                .iter()
                .map(|(id, ms)| WaitingCall::new((*id).into(), None, &hold, *ms));
            Box::pin(ready(Ok(all.take(limit).collect())))
        }

        fn decide(&self, id: &str, _: Decision, _: &str) -> BoxFuture<Result<(), InboxError>> {
            let (calls, id) = (self.0.clone(), id.to_owned());
            Box::pin(async move {
                let mut calls = calls.lock().unwrap();
                let at = calls.iter().position(|(other, _)| *other == id);
                calls.remove(at.ok_or(InboxError::Unknown)?);
                Ok(())
            })
        }
    }

    #[test]
    fn a_pair_is_one_list_and_asks_the_inbox_that_knows_the_call() {
        let both = (calls([("a", 1), ("c", 3)]), calls([("b", 2), ("d", 4)]));
        let ids = |limit| {
            let waiting = block_on(both.waiting("ada", limit)).unwrap();
            let ids = waiting.into_iter().map(|call| call.id);
            ids.collect::<Vec<_>>()
        };
        assert_eq!(ids(3), ["a", "b", "c"]);
        for id in ["b", "c"] {
            block_on(both.decide(id, Decision::Allow, "ada")).unwrap();
        }
        assert_eq!(ids(3), ["a", "d"]);
        let unknown = block_on(both.decide("b", Decision::Allow, "ada"));
        assert_eq!(unknown.unwrap_err().status(), 404);
    }
}
