//! [`Agents`]: an agent whose conversations Restate drives.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use restate_sdk::endpoint::{HandlerOptions, ServiceOptions};
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::run::{Run, RunInfo, RunSettings};
use tool_core::ToolCall;

use crate::conversation::{Conversation, Route};
use crate::definition::{named, serve};
use crate::tools::Tools;

/// An agent whose conversations Restate drives, in any number of processes that serve the same.
///
/// Settings of the agent that belong to one process are not used: its journal, its time limit and its token. Its tools run
/// in this process, unless [`route`](Agents::route) names a [`ToolService`](crate::ToolService).
///
/// ```no_run
/// use std::time::Duration;
/// use tokio::net::TcpListener;
/// use tool_agent::Agent;
/// use tool_restate::Agents;
///
/// # async fn serve(agent: Agent) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// Agents::new(agent)
///     .route(|tool| (tool == "pay").then(|| "payments".to_owned()))
///     .approval_timeout(Duration::from_secs(3 * 24 * 60 * 60))
///     .serve(TcpListener::bind("127.0.0.1:9080").await?)
///     .await
/// # }
/// ```
#[must_use]
pub struct Agents {
    agent: Agent,
    name: String,
    route: Route,
    settings: RunSettings,
    approval_timeout: Duration,
    identity_keys: Vec<String>,
}

impl Agents {
    /// Creates the service `conversations` of an agent.
    pub fn new(agent: Agent) -> Agents {
        Agents {
            agent,
            name: "conversations".to_owned(),
            route: Arc::new(|_| None),
            settings: RunSettings::default(),
            approval_timeout: Duration::from_secs(24 * 60 * 60),
            identity_keys: Vec::new(),
        }
    }

    /// Sets the name of the service, for several agents on one Restate.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets which [`ToolService`](crate::ToolService) runs a tool. `None` stands for this process.
    pub fn route(mut self, route: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.route = Arc::new(route);
        self
    }

    /// Sets the settings of new conversations.
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets how long a call waits for a decision, until it is denied. One day by default.
    pub fn approval_timeout(mut self, time: Duration) -> Self {
        self.approval_timeout = time;
        self
    }

    /// Accepts requests that are signed with this key of your Restate alone, such as `publickeyv1_…`.
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.identity_keys.push(key.into());
        self
    }

    /// Serves the conversations until Ctrl-C. Restate needs HTTP/2 without TLS, or a proxy that speaks it.
    ///
    /// # Errors
    ///
    /// Returns an error if an identity key is malformed.
    ///
    /// # Panics
    ///
    /// If Restate does not accept the name.
    pub async fn serve(self, listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
        let tools = format!("{}-tools", self.name);
        let agent = self.agent.clone();
        let contexts = move |run: RunInfo, call: ToolCall| attached(agent.clone(), run, call);
        let contexts = Arc::new(move |run, call| Box::pin(contexts(run, call)) as _);
        let own = Tools::new(self.agent.registry().clone(), contexts).definition(&tools);
        let conversation = Conversation {
            agent: self.agent,
            name: self.name.clone(),
            tools,
            route: self.route,
            settings: self.settings,
            approval_timeout: self.approval_timeout,
        };
        let private = HandlerOptions::new().ingress_private(true);
        let options = ServiceOptions::new().handler("respond", private);
        let services = [named(&self.name, conversation, options), own];
        serve(services, &self.identity_keys, listener).await
    }
}

/// Attaches what the agent adds to a call.
async fn attached(
    agent: Agent,
    info: RunInfo,
    call: ToolCall,
) -> Result<ToolCall, Box<dyn Error + Send + Sync>> {
    let mut run = Run::builder(info.id()).meta(info.meta().clone());
    if let Some(owner) = info.owner() {
        run = run.owner(owner);
    }
    let steps = agent.steps(&run.build())?;
    let prepared = steps.prepare(&info, call).await?;
    Ok(prepared.into_call()?)
}
