//! The checks of each call before its tool runs: the scopes of its token, and the rates of its user.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tool_core::{ToolCall, ToolEntry, ToolSpec};

use super::Core;
use super::call::{named, ruled};
use super::request::{Request, Token, UserId};

pub(super) type Scopes = dyn Fn(&ToolSpec) -> Vec<String> + Send + Sync;

/// The caller of a call, and the checks that it must pass.
#[derive(Clone)]
pub(super) struct Admission {
    core: Arc<Core>,
    user: Option<String>,
    token: Option<Token>,
}

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

    fn reason(&self) -> String {
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

impl Admission {
    /// Returns what calls must pass; `None` if that is nothing.
    pub(super) fn new(
        core: &Arc<Core>,
        user: Option<&str>,
        token: Option<&Token>,
    ) -> Option<Admission> {
        let is_needed = core.options.has_limits();
        is_needed.then(|| Admission {
            core: core.clone(),
            user: user.map(ToOwned::to_owned),
            token: token.cloned(),
        })
    }

    /// Checks a call of a tool, and counts it.
    pub(super) fn admit(&self, tool: &ToolSpec) -> Result<(), Refused> {
        let options = &self.core.options;
        if let Some(scopes) = &options.scopes {
            let needed = catch_unwind(AssertUnwindSafe(|| scopes(tool)));
            let needed = needed.map_err(|_| Refused::Unchecked)?;
            let has = |scope: &String| self.token.as_ref().is_some_and(|token| token.has(scope));
            if !needed.iter().all(has) {
                return Err(Refused::Scopes(needed));
            }
        }
        if let Some(rates) = &options.rates {
            let counted = rates.count(self.user.as_deref(), tool);
            counted.map_err(|wait| wait.map_or(Refused::Unchecked, Refused::Rate))?;
        }
        Ok(())
    }

    /// Lets the tool of a call make only calls that pass, too.
    pub(super) fn guard(self, call: ToolCall) -> ToolCall {
        call.start_with(move |start| {
            let admitted = if start.is_nested {
                self.admit(&start.tool)
            } else {
                // It was checked, and counted, before everything else.
                Ok(())
            };
            std::future::ready(admitted.map_err(|refused| refused.reason()))
        })
    }
}

impl Core {
    /// Checks whether the user of a request may call a function, and counts it as a call. Returns the user. The error is
    /// the status of an HTTP response too if that `waits` for it.
    pub(super) fn admit(
        self: &Arc<Self>,
        function: &ToolEntry,
        context: &RequestContext<RoleServer>,
        waits: bool,
    ) -> Result<Option<UserId>, ErrorData> {
        let seen = Request::new(context);
        let call = self.identify(&seen, ToolCall::new(context.id.to_string(), "", ""))?;
        let user = named(&call);
        let who = user.map(UserId::as_str);
        if let Some(admission) = Admission::new(self, who, call.get::<Token>()) {
            let admitted = admission.admit(function);
            let admitted = if waits {
                ruled(&seen, admitted)
            } else {
                admitted
            };
            admitted.map_err(|refused| {
                ErrorData::invalid_request(refused.message(&function.name), None)
            })?;
        }
        Ok(user.cloned())
    }
}
