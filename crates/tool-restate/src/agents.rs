//! [`Agents`]: an agent whose conversations Restate drives.

use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
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

/// An agent whose conversations Restate drives, in any number of processes that serve the same.
///
/// Settings of the agent that belong to one process are not used: its journal, its time limit, its token, and where it leaves
/// calls in the background. Its tools run in this process, unless [`route`](Agents::route) names a [`ToolService`](crate::ToolService).
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
        self.serving.identity_keys.push(key.into());
        self
    }

    /// Sets how long calls may run after the signal to [end](Agents::serve). Ten seconds by default. What runs longer is interrupted, so
    /// let your service manager wait for longer than this.
    pub fn grace_period(mut self, time: Duration) -> Self {
        self.serving.grace_period = time;
        self
    }

    /// Serves the text that models write in this process, for [`Client::stream`](crate::Client::stream). Each agent needs a
    /// listener of its own, which clients reach directly and not by a balancer. Whoever has the token can read all
    /// conversations of the agent, like whoever reaches the ingress: give it to the same programs, and make it of at least
    /// 16 random bytes. The listener speaks HTTP without TLS, so keep it in your network.
    ///
    /// The model is then asked for streams. A process keeps the text of each response until it is complete, up to 1 MiB, and
    /// serves 1,000 clients.
    pub fn streams(mut self, listener: TcpListener, token: impl Into<String>) -> Self {
        self.streams = Some((listener, token.into()));
        self
    }

    /// Serves the conversations until Ctrl-C or `SIGTERM`. Then it accepts nothing new and waits for requests to the model and
    /// calls that run, for at most the [grace period](Agents::grace_period); another process goes on with the conversations.
    /// Restate needs HTTP/2 without TLS, or a proxy that speaks it.
    ///
    /// # Errors
    ///
    /// Returns an error if an identity key is malformed, if the token for streams is too short, or if tools of this process need
    /// [context values](Agent::missing_contexts) that nothing attaches.
    ///
    /// # Panics
    ///
    /// If Restate does not accept the name.
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
        };
        // These read the whole run, or repeat what is in the journal of `drive`.
        let brief = || HandlerOptions::new().journal_retention(Duration::ZERO);
        let options = ServiceOptions::new()
            .handler(
                "respond",
                brief().ingress_private(true).inactivity_timeout(INACTIVITY),
            )
            // What is suspended is called once more for the reply, which mostly comes within a minute.
            .handler("send", brief().inactivity_timeout(Duration::from_secs(60)))
            .handler("drive", HandlerOptions::new().ingress_private(true))
            .handler("background", brief().ingress_private(true))
            .handler("decide", brief())
            .handler("stop", brief())
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
