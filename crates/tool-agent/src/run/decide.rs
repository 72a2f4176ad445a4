//! Decisions on calls that wait for them.

use std::error::Error;
use std::fmt;

use super::change::Change;
use super::round::{CallState, RunCall};
use super::{Pending, Run};
use tool_core::call::CallPosition;
use tool_core::hooks::{Decision, DecisionDenied, Hold};
use tool_core::{Registry, ToolCall, ToolError, ToolErrorKind};

/// Decides on calls.
impl Run {
    /// Decides on a [pending](Run::pending) call of a run without an owner. `by` is the name of the person, saved with
    /// the decision. In a run with an owner, use [`Agent::decide`](crate::Agent::decide).
    ///
    /// Pass the `fingerprint` of the [`Pending`] that the person has seen, so that the decision can't apply to another
    /// call or to other arguments. The registry validates the call with its current tools.
    ///
    /// This method asks no policy, so it is for programs with a single user. [`Agent::decide`](crate::Agent::decide)
    /// asks one.
    ///
    /// # Errors
    ///
    /// Returns an error if the run has an owner, if `by` is empty, or if no pending call has this fingerprint, because
    /// it is decided already or was never held. Also if the arguments of [`Decision::Change`] are invalid, or those
    /// of the call for [`Decision::Allow`], because the tool has changed since. A call that
    /// the [provider](ToolCall::hosted_by) runs can only be allowed or denied, so any other decision is an error too.
    /// The run is then unchanged.
    pub fn decide(
        &mut self,
        registry: &Registry,
        fingerprint: &str,
        decision: Decision,
        by: impl Into<String>,
    ) -> Result<(), DecideError> {
        if self.info().owner().is_some() {
            return Err(DecideError::Owned);
        }
        let by = by.into();
        if by.trim().is_empty() {
            return Err(DecideError::Denied(DecisionDenied::Unnamed));
        }
        let pending = self.pending_with(fingerprint)?;
        self.decide_pending(registry, &pending, decision, by)
    }

    /// Returns the pending call at a position.
    pub(crate) fn pending_at(&self, position: Option<&CallPosition>) -> Option<Pending> {
        let mut pending = self.pending().into_iter();
        pending.find(|pending| pending.call().position() == position)
    }

    /// Returns the pending call with this fingerprint.
    pub(crate) fn pending_with(&self, fingerprint: &str) -> Result<Pending, DecideError> {
        let mut pending = self.pending().into_iter();
        let found = pending.find(|pending| pending.fingerprint() == fingerprint);
        found.ok_or(DecideError::NotPending)
    }

    /// Decides on a pending call in the name of a person who is allowed to.
    pub(crate) fn decide_pending(
        &mut self,
        registry: &Registry,
        pending: &Pending,
        decision: Decision,
        by: String,
    ) -> Result<(), DecideError> {
        let hold = pending.hold();
        if hold.server().is_some() && !matches!(decision, Decision::Allow | Decision::Deny(_)) {
            return Err(DecideError::Hosted(hold.tool().to_owned()));
        }
        let decision = hold.restored(decision);
        // If the held call was made within a tool, the tool validates it.
        if let (Decision::Allow | Decision::Change(_), None) = (&decision, hold.key()) {
            let mut call = pending.call().clone();
            registry.resolve(&mut call);
            let is_changed = matches!(decision, Decision::Change(_));
            if let Decision::Change(arguments) = &decision {
                call.arguments = arguments.clone();
            }
            match registry.validate(&call) {
                Err(error) if is_changed => return Err(DecideError::Invalid(Box::new(error))),
                // They fitted when the call was held. A registry without the tool can't tell.
                Err(error) if error.kind() == ToolErrorKind::InvalidArguments => {
                    return Err(DecideError::Outdated(Box::new(error)));
                }
                _ => {}
            }
        }
        let is_held = |call: &RunCall| matches!(call.state, CallState::Held(_));
        let at = self.find(pending.call().position(), is_held);
        let (round, index) = at.ok_or(DecideError::NotPending)?;
        self.record_in(round, Change::Decided(index, decision, by));
        Ok(())
    }

    /// Returns the decided holds of a ready call, and who decided.
    pub(crate) fn deciders(&self, call: &ToolCall) -> Vec<(Hold, String)> {
        let is_ready = |call: &RunCall| matches!(call.state, CallState::Ready);
        let Some(at) = self.find(call.position(), is_ready) else {
            return Vec::new();
        };
        let decisions = self.call_at(at).decisions.iter();
        decisions
            .map(|decided| (decided.hold.clone(), decided.by.clone()))
            .collect()
    }

    /// Takes back a decision on a ready call, and all later ones. The call waits again.
    pub(crate) fn revoke(&mut self, call: &ToolCall, decision: usize) {
        let is_ready = |call: &RunCall| matches!(call.state, CallState::Ready);
        if let Some((round, index)) = self.find(call.position(), is_ready) {
            self.record_in(round, Change::Revoked(index, decision));
        }
    }
}

/// An error of a decision.
///
/// ```
/// use tool_agent::run::{DecideError, Run};
/// use tool_core::Registry;
/// use tool_core::hooks::Decision;
///
/// let mut run = Run::new("conversation-1");
/// let error = run.decide(&Registry::new(), "no such call", Decision::Allow, "ada").unwrap_err();
/// assert!(matches!(error, DecideError::NotPending));
/// ```
#[non_exhaustive]
pub enum DecideError {
    /// No call with this fingerprint waits for a decision, because it is decided already or was never held.
    NotPending,
    /// The new arguments are invalid.
    Invalid(Box<ToolError>),
    /// The schema of the tool has changed since the call, so that its arguments no longer fit. The call can be denied, or
    /// allowed with other arguments.
    Outdated(Box<ToolError>),
    /// The provider runs this tool, so its call can only be allowed or denied.
    Hosted(String),
    /// The run has an owner, so [`Agent::decide`](crate::Agent::decide) has to check who may decide.
    Owned,
    /// The user may not decide on this call.
    Denied(DecisionDenied),
}

/// Shows the message and its sources, because `main` may return the error.
impl fmt::Debug for DecideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::error_text::write(self, f)
    }
}

impl fmt::Display for DecideError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecideError::Denied(denied) => return denied.fmt(f),
            DecideError::Hosted(tool) => {
                return write!(
                    f,
                    "the provider runs {tool:?}, so that the call can only be allowed or denied"
                );
            }
            DecideError::Owned => "the run has an owner; decide with `Agent::decide`",
            DecideError::NotPending => {
                "no such call waits for a decision; it may be decided already, or have changed"
            }
            DecideError::Invalid(error) => {
                return write!(f, "the new arguments are not accepted: {error}");
            }
            DecideError::Outdated(error) => {
                return write!(
                    f,
                    "the tool has changed since the call, so deny the call or change its arguments: {error}"
                );
            }
        })
    }
}

impl Error for DecideError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            DecideError::Invalid(error) | DecideError::Outdated(error) => Some(error),
            DecideError::NotPending
            | DecideError::Owned
            | DecideError::Hosted(_)
            | DecideError::Denied(_) => None,
        }
    }
}
