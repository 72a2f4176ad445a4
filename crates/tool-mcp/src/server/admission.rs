//! The checks of each call before its tool runs: the scopes of its token, and the rates of its user.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::service::{RequestContext, RoleServer};
use tool_core::{ToolCall, ToolEntry, ToolSpec};

use super::core::Core;
#[cfg(feature = "server-http")]
use super::http::ruling::Ruling;
use super::refused::Refused;
use super::request::{Request, Token, UserId, named};

/// The caller of a call, and the checks that it must pass.
#[derive(Clone)]
pub(super) struct Admission {
    core: Arc<Core>,
    user: Option<String>,
    token: Option<Token>,
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

/// Tells the HTTP response of a request whether its call is admitted.
pub(super) fn ruled(request: &Request<'_>, admitted: Result<(), Refused>) -> Result<(), Refused> {
    #[cfg(feature = "server-http")]
    if let Some(ruling) = request.extension::<Ruling>() {
        ruling.set(admitted.clone());
    }
    let _ = request;
    admitted
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
