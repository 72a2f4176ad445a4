//! The reasons not to run a call.

use std::time::Duration;

/// The reason not to run a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// The token lacks some of these scopes.
    Scopes(Vec<String>),
    /// There were too many calls: how long to wait.
    Rate(Duration),
    /// The application failed to say what the tool needs.
    Unchecked,
}

impl Refused {
    /// Returns the message for the caller.
    pub(super) fn message(&self, tool: &str) -> String {
        format!("{tool} was not run: {}", self.reason())
    }

    pub(super) fn reason(&self) -> String {
        match self {
            Refused::Scopes(scopes) => {
                format!("the token needs the scopes {}", scopes.join(" "))
            }
            Refused::Rate(wait) => format!(
                "there were too many calls of it; make the same call again in {} s",
                seconds(*wait)
            ),
            Refused::Unchecked => "whether it may run can't be checked at the moment".into(),
        }
    }
}

/// Returns whole seconds, so many that the time is over then.
pub(super) fn seconds(wait: Duration) -> u64 {
    let rest = u64::from(wait.subsec_nanos() > 0);
    wait.as_secs().saturating_add(rest).max(1)
}
