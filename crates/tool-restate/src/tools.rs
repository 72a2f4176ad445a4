//! [`ToolService`]: tools for agents in other processes.

use std::error::Error;
use std::time::Duration;

use restate_sdk::endpoint::ServiceOptions;
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::{ModelError, ModelErrorKind};
use tool_agent::run::{PortableCall, RunInfo};
use tool_agent::{Agent, AgentError};
use tool_core::call::CancellationToken;
use tool_core::{Registry, ToolCall, ToolError, ToolResult};

use crate::cancel::{Cancellable, INACTIVITY, NEVER};
use crate::definition::{handlers, named};
use crate::once::{Once, Start};
use crate::serving::Serving;
use crate::version::version_of;

/// Maximum number of bytes of a result. If the value of a step exceeds 32 MiB, Restate retries the step forever.
const MAX_RESULT: usize = 8 << 20;

/// A call for a service, and the agent's version of the tool.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sent {
    pub(crate) call: PortableCall,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
}

/// Tools that run in this process, for [`Agents`](crate::Agents) in other processes.
///
/// The service is private, so that nobody can send a call with forged decisions to the ingress; Restate calls it only
/// for an agent. Also set the [identity key](ToolService::identity_key) of your Restate, so that nobody else can use
/// the port of this process.
///
/// ```no_run
/// use tokio::net::TcpListener;
/// use tool_core::{Registry, tool, tools};
/// use tool_restate::ToolService;
///
/// struct Account(String);
///
/// /// Pays an invoice.
/// #[tool(destructive)]
/// fn pay(invoice: u32, #[param(context)] account: &Account) -> String {
///     format!("paid {invoice} from {}", account.0)
/// }
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let registry = Registry::builder().tools(tools![pay]).context_per_call::<Account>().build()?;
/// ToolService::new("payments", registry)
///     .contexts(async |run, call| {
///         let owner = run.owner().ok_or("the run has no owner")?;
///         Ok(call.with(Account(owner.to_owned())))
///     })
///     .serve(TcpListener::bind("127.0.0.1:9081").await?)
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct ToolService {
    name: String,
    pub(crate) tools: Tools,
    serving: Serving,
}

/// The tools of a service, and its running calls.
#[derive(Clone)]
pub(crate) struct Tools {
    /// Prepares and runs calls, and never asks a model.
    agent: Agent,
    once: Once,
}

impl ToolService {
    /// Creates a service with this name, for use in [`Agents::route`](crate::Agents::route).
    pub fn new(name: impl Into<String>, registry: Registry) -> ToolService {
        ToolService {
            name: name.into(),
            tools: Tools::new(without_model(registry)),
            serving: Serving::default(),
        }
    }

    /// Attaches context values to each call, made from the owner of its run. If the closure fails, it is retried before
    /// the tool runs.
    pub fn contexts<F>(
        mut self,
        contexts: impl Fn(RunInfo, ToolCall) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolCall, Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        self.tools.agent = self.tools.agent.contexts(contexts);
        self
    }

    /// Accepts only requests signed with this key of your Restate, such as `publickeyv1_…`.
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.serving.identity_keys.push(key.into());
        self
    }

    /// Sets how long running calls may take after the signal to [end](ToolService::serve). Ten seconds by default.
    /// Longer calls are interrupted. Let your service manager wait longer than this.
    pub fn grace_period(mut self, time: Duration) -> Self {
        self.serving.grace_period = time;
        self
    }

    /// Serves the tools until Ctrl-C or `SIGTERM`. Then it accepts no new requests and waits for running calls, for at
    /// most the [grace period](ToolService::grace_period). Restate needs HTTP/2 without TLS, or a proxy that speaks it.
    ///
    /// # Errors
    ///
    /// Returns an error if an identity key is malformed, or if tools need [context values](Registry::contexts_per_call) and
    /// there are no [`contexts`](ToolService::contexts).
    ///
    /// # Panics
    ///
    /// Panics if Restate rejects the name.
    pub async fn serve(self, listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.tools
            .check(&self.name, "ToolService::contexts", |_| true)?;
        let tools = self.tools.definition(&self.name);
        self.serving.serve([tools], listener).await
    }
}

/// Returns an agent that only runs calls.
fn without_model(registry: Registry) -> Agent {
    let model = async |_| {
        let problem = "a service of tools asks no model";
        Err(ModelError::new(ModelErrorKind::Other, problem))
    };
    Agent::new(registry, OpenAiChat::default(), model)
}

impl Tools {
    pub(crate) fn new(agent: Agent) -> Tools {
        Tools {
            agent,
            once: Once::default(),
        }
    }

    /// Checks that all context values for the tools of this process get attached.
    pub(crate) fn check(
        &self,
        service: &str,
        remedy: &str,
        runs_here: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let missing = self.agent.missing_contexts().into_iter();
        let missing = missing.filter(|(tool, _)| runs_here(tool));
        let missing: Vec<_> = missing
            .map(|(tool, type_name)| format!("the tool {tool:?} needs a {type_name}"))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!(
            "the service {service:?} has no context values for its calls: {}; attach them with `{remedy}`",
            missing.join(", ")
        ))
    }

    pub(crate) fn definition(self, name: &str) -> ServiceDefinition {
        let options = ServiceOptions::new().ingress_private(true);
        named(name, self, options.inactivity_timeout(INACTIVITY))
    }
}

/// Returns the result for a call that may have run.
pub(crate) fn interrupted(call: &ToolCall) -> ToolResult {
    ToolResult::failed(call, ToolError::interrupted(&call.name))
}

handlers!(Tools { "call" => call, "ping" => ping });

#[restate_sdk::service]
impl Tools {
    /// Does nothing: who can call it knows that the service is registered.
    #[handler]
    async fn ping(&self, _ctx: Context<'_>, _none: Json<()>) -> HandlerResult<()> {
        Ok(())
    }

    /// Runs a call.
    #[handler]
    async fn call(&self, ctx: Context<'_>, sent: Json<Sent>) -> HandlerResult<Json<ToolResult>> {
        let Json(Sent { call, version }) = sent;
        let run = call.run().clone();
        let call = call.into_call();
        let starting = {
            let (run, call) = (run.clone(), call.clone());
            ctx.run(move || async move {
                let registry = self.agent.registry();
                let own = version_of(registry, &call);
                if own.is_some() && version.is_some() && own != version {
                    tracing::warn!(tool = %call.name, run = run.id(), "the agent has another version of the tool");
                    return Ok(Json(None));
                }
                let tool = registry.resolve(&mut call.clone());
                let is_repeatable = tool.is_none_or(|tool| tool.is_repeatable());
                let start = Start::new(is_repeatable)?;
                self.once
                    .prepare(start, self.agent.prepare(&run, call).await?);
                Ok(Json(Some(start)))
            })
        };
        let Json(start) = starting.name("start").await?;
        let Some(start) = start else {
            let problem = format!(
                "the tool {:?} is being updated and did not run; call it again later",
                call.name
            );
            return Ok(Json(ToolResult::failed(&call, problem)));
        };
        let step = Cancellable::default();
        let running = step.doing(self.result(run, call, start));
        let calling = ctx.run(move || async move { Ok(Json(running.await?)) });
        let calling = step.or_cancelled(calling.name("call"), ctx.signal(NEVER));
        match calling.await {
            Ok(result) => {
                self.once.forget(start);
                Ok(result)
            }
            Err(error) => {
                // The only possible error is that the invocation was cancelled.
                self.once.cancel(start);
                Err(error.into())
            }
        }
    }
}

impl Tools {
    /// Returns the result of a call. Runs it if this process prepared it, or the tool may be repeated.
    async fn result(
        &self,
        run: RunInfo,
        call: ToolCall,
        start: Start,
    ) -> Result<ToolResult, AgentError> {
        let result = if start.is_repeatable {
            let prepared = match self.once.take(start) {
                Some(prepared) => prepared,
                None => self.agent.prepare(&run, call.clone()).await?,
            };
            // Dropping the attempt drops and thereby cancels it.
            let running = self
                .agent
                .call_prepared(prepared, &CancellationToken::new());
            running.await
        } else {
            let agent = self.agent.clone();
            let run = |prepared, stop| async move { agent.call_prepared(prepared, &stop).await };
            let result = self.once.result(start, run).await;
            result.unwrap_or_else(|| interrupted(&call))
        };
        Ok(limited(&call, result))
    }
}

/// Replaces a result that is too large for Restate.
fn limited(call: &ToolCall, result: ToolResult) -> ToolResult {
    let size = serde_json::to_vec(&result).map_or(usize::MAX, |json| json.len());
    if size <= MAX_RESULT {
        return result;
    }
    let problem =
        format!("the result has {size} bytes, and at most {MAX_RESULT} can be kept; ask for less");
    ToolResult::failed(call, problem)
}
