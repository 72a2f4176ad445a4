//! [`Agents`]: an agent whose conversations run on Restate.

use std::error::Error;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{Either, select};
use restate_sdk::endpoint::{HandlerOptions, ServiceOptions};
use tokio::net::TcpListener;
use tool_agent::Agent;
use tool_agent::run::RunSettings;

use crate::cancel::INACTIVITY;
use crate::conversation::{Conversation, Route};
use crate::definition::named;
use crate::serving::Serving;
use crate::stream::Hub;
use crate::tools::Tools;

/// An agent whose conversations run on Restate. Any number of processes may serve it.
///
/// Settings of the agent that make sense only in one process are ignored: its journal, its time limit, its cancellation
/// token, and its background calls. Its tools run in this process, unless [`route`](Agents::route) sends them to a
/// [`ToolService`](crate::ToolService).
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
    serving: Serving,
    streams: Option<(TcpListener, String)>,
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
            serving: Serving::default(),
            streams: None,
        }
    }

    /// Sets the name of the service, so that several agents can share one Restate.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the [`ToolService`](crate::ToolService) that runs a tool. If the closure returns `None`, the tool runs in
    /// this process.
    pub fn route(mut self, route: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.route = Arc::new(route);
        self
    }

    /// Sets the settings of new conversations.
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets how long a call waits for a decision before it is denied. One day by default.
    pub fn approval_timeout(mut self, time: Duration) -> Self {
        self.approval_timeout = time;
        self
    }

    /// Accepts only requests signed with this key of your Restate, such as `publickeyv1_…`.
    pub fn identity_key(mut self, key: impl Into<String>) -> Self {
        self.serving.identity_keys.push(key.into());
        self
    }

    /// Sets how long running calls may take after the signal to [end](Agents::serve). Ten seconds by default. Longer
    /// calls are interrupted. Let your service manager wait longer than this.
    pub fn grace_period(mut self, time: Duration) -> Self {
        self.serving.grace_period = time;
        self
    }

    /// Serves the text that models are writing in this process, for [`Client::stream`](crate::Client::stream). Each
    /// agent needs its own listener. Clients must reach it directly, not through a balancer. A program with the token can
    /// read all conversations of the agent, as with the ingress. So give it only to programs that may reach the
    /// ingress, and make it at least 16 random bytes. The listener speaks HTTP without TLS, so keep it within your
    /// network.
    ///
    /// With this, requests to the model are streamed. A process keeps the text of each response until it is complete,
    /// up to 1 MiB, and serves at most 1,000 clients.
    pub fn streams(mut self, listener: TcpListener, token: impl Into<String>) -> Self {
        self.streams = Some((listener, token.into()));
        self
    }

    /// Serves the conversations until Ctrl-C or `SIGTERM`. Then it accepts no new requests and waits for running calls
    /// and requests to the model, for at most the [grace period](Agents::grace_period). Another process continues the
    /// conversations. Restate needs HTTP/2 without TLS, or a proxy that speaks it.
    ///
    /// # Errors
    ///
    /// Returns an error if an identity key is malformed, or the token for streams is too short. Also if tools in this
    /// process need [context values](Agent::missing_contexts) that nothing attaches.
    ///
    /// # Panics
    ///
    /// Panics if Restate rejects the name.
    pub async fn serve(self, listener: TcpListener) -> Result<(), Box<dyn Error + Send + Sync>> {
        let tools = format!("{}-tools", self.name);
        let own = Tools::new(self.agent.clone());
        own.check(&self.name, "Agent::contexts", |tool| {
            (self.route)(tool).is_none()
        })?;
        let own = own.definition(&tools);
        let (clients, hub) = match self.streams {
            Some((clients, token)) => (Some(clients), Some(Hub::new(&self.name, &token)?)),
            None => (None, None),
        };
        let conversation = Conversation {
            agent: self.agent,
            name: self.name.clone(),
            tools,
            route: self.route,
            settings: self.settings,
            approval_timeout: self.approval_timeout,
            hub: hub.clone(),
            found: Mutex::default(),
        };
        // Not kept: these read the whole run, or repeat data from the journal of `drive`.
        let brief = || HandlerOptions::new().journal_retention(Duration::ZERO);
        let options = ServiceOptions::new()
            .handler(
                "respond",
                brief().ingress_private(true).inactivity_timeout(INACTIVITY),
            )
            // A suspended handler has to be called again for the reply, which usually comes within a minute.
            .handler("send", brief().inactivity_timeout(Duration::from_secs(60)))
            .handler("tell", brief().ingress_private(true))
            .handler("drive", HandlerOptions::new().ingress_private(true))
            // About ten seconds: a node of a cluster that starts does not know for a moment what is registered.
            .handler(
                "find",
                brief()
                    .ingress_private(true)
                    .retry_policy_initial_interval(Duration::from_millis(200))
                    .retry_policy_exponentiation_factor(2.0)
                    .retry_policy_max_interval(Duration::from_secs(2))
                    .retry_policy_max_attempts(8)
                    .retry_policy_kill_on_max_attempts(),
            )
            .handler("background", brief().ingress_private(true))
            .handler("decide", brief())
            .handler("stop", brief())
            .handler("import", brief())
            .handler("remove", brief())
            .handler("clear", brief().ingress_private(true))
            .handler("state", brief());
        let services = [named(&self.name, conversation, options), own];
        let serving = self.serving.serve(services, listener);
        let (Some(hub), Some(clients)) = (hub, clients) else {
            return serving.await;
        };
        match select(pin!(serving), pin!(hub.serve(clients))).await {
            Either::Left((ended, _)) => ended,
            Either::Right((ended, _)) => Ok(ended?),
        }
    }
}
