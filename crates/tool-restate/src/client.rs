//! [`Client`]: sends messages and decisions to conversations.

use std::time::{Duration, Instant};

use reqwest::Url;
use restate_sdk::context::RequestTarget;
use restate_sdk::ingress::ReqwestClient;
use restate_sdk::serde::{Deserialize, Json};
use tool_agent::run::{Increment, Page, Run, RunHead};

use crate::error::ClientError;
use crate::events::{Decide, Removal};
use crate::lists::{Listed, Lists};
use crate::message::{Message, Reply, Saved};

/// Sends messages and decisions to the conversations of [`Agents`](crate::Agents), through the ingress of Restate.
///
/// ```no_run
/// use tool_core::hooks::Decision;
/// use tool_restate::{Client, ClientError, Decide, Message};
///
/// # async fn chat() -> Result<(), ClientError> {
/// let client = Client::new("http://localhost:8080")?;
/// let reply = client.send("conversation-1", Message::new("Pay 17.").owner("user-7")).await?;
/// println!("{:?}", reply.outcome);
///
/// // Meanwhile, in another process.
/// if let Some(run) = client.state("conversation-1").await? {
///     for pending in run.pending() {
///         let (fingerprint, user) = (pending.fingerprint().to_owned(), "lead-3".to_owned());
///         client.decide("conversation-1", Decide { fingerprint, decision: Decision::Allow, user }).await?;
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    ingress: ReqwestClient,
    pub(crate) service: String,
    /// The addresses of the agents, and their token.
    pub(crate) streams: Option<(Vec<Url>, String)>,
    lists: Option<Lists>,
}

/// How long a request is sent again to a server that does not know the service. A node of a cluster that starts does not know for
/// a moment what is registered, though it answers.
const UNKNOWN: Duration = Duration::from_secs(10);
/// How many conversations [`Client::remove_before`] reads at once.
const REMOVED_AT_ONCE: usize = 100;

impl Client {
    /// Creates a client of the service `conversations` at this ingress, such as `http://localhost:8080`.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Address`] if the address is malformed.
    pub fn new(ingress: &str) -> Result<Client, ClientError> {
        let address = |problem: String| ClientError::Address(format!("{ingress:?}: {problem}"));
        let uri = ingress
            .parse()
            .map_err(|error| address(format!("{error}")))?;
        let ingress = ReqwestClient::connect(uri).map_err(|error| address(error.to_string()))?;
        Ok(Client {
            ingress,
            service: "conversations".to_owned(),
            streams: None,
            lists: None,
        })
    }

    /// Sets the [name](crate::Agents::name) of the service.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.service = name.into();
        self
    }

    /// Sets the addresses at which agents serve [streams](crate::Agents::streams), such as `http://10.0.0.5:9090`, and
    /// the token. List all agents, because the engine chooses which of them asks the model. If one can't be reached,
    /// the client tries again every second.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Address`] if an address is malformed.
    pub fn streams<A: AsRef<str>>(
        mut self,
        agents: impl IntoIterator<Item = A>,
        token: impl Into<String>,
    ) -> Result<Self, ClientError> {
        let agents = agents.into_iter().map(|agent| url(agent.as_ref()));
        self.streams = Some((agents.collect::<Result<_, _>>()?, token.into()));
        Ok(self)
    }

    /// Sets the address of the server's administration, such as `http://localhost:9070`, for [`waiting`](Client::waiting),
    /// [`runs`](Client::runs) and [`remove_before`](Client::remove_before). Whoever reaches it can do everything, so set it only
    /// in your own programs.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Address`] if the address is malformed.
    pub fn admin(mut self, admin: &str) -> Result<Self, ClientError> {
        self.lists = Some(Lists::new(url(admin)?));
        Ok(self)
    }

    /// Sends a message, and waits until the model has ended its turn. Calls in the background may still be running
    /// then. When their results come, the conversation continues by itself, and you find the model's words in its
    /// [state](Client::state) and its [stream](Client::stream). A second message waits for the turn, but not for these
    /// calls.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Refused`] if the conversation belongs to another user, or the model failed permanently.
    /// If a connection breaks, the conversation goes on. Set a [key](Message::key) to be able to send the message
    /// again.
    pub async fn send(&self, id: &str, message: Message) -> Result<Reply, ClientError> {
        let key = message.key.clone();
        let Json(reply) = self.call(id, "send", key, message).await?;
        Ok(reply)
    }

    /// Decides on a waiting call.
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Refused`], with 409 if nothing waits or the tool has changed since the call, and with 403
    /// if the user may not decide or this call does not wait.
    pub async fn decide(&self, id: &str, decide: Decide) -> Result<(), ClientError> {
        self.call(id, "decide", None, decide).await
    }

    /// Cancels the work on the last message: the request to the model and all calls, including calls in the background.
    /// They also end in the processes that run them. Does nothing if the conversation is idle.
    ///
    /// # Errors
    ///
    /// Returns an error if the ingress can't be reached.
    pub async fn stop(&self, id: &str) -> Result<(), ClientError> {
        self.call(id, "stop", None, ()).await
    }

    /// Returns the run of a conversation as it was last saved. `None` if there is no such conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the ingress can't be reached, or a newer version saved the run.
    pub async fn state(&self, id: &str) -> Result<Option<Run>, ClientError> {
        let saved = self.saved(id, 0).await?.increments;
        if saved.is_empty() {
            return Ok(None);
        }
        let run = Run::replay(saved).map_err(|error| ClientError::Failed(error.into()))?;
        Ok(Some(run))
    }

    /// Returns the heads of conversations in which calls wait for decisions, the earliest first: an inbox. Your
    /// application decides who may see which of them.
    ///
    /// Each page makes the server read the heads of all conversations, so ask every few seconds at most.
    ///
    /// ```no_run
    /// use tool_agent::run::Page;
    /// use tool_restate::{Client, ClientError};
    ///
    /// # async fn show() -> Result<(), ClientError> {
    /// let client = Client::new("http://localhost:8080")?.admin("http://localhost:9070")?;
    /// for head in client.waiting(Page::new(20)).await? {
    ///     for pending in &head.waiting {
    ///         println!("{}: {} {}", head.id, pending.call().name, pending.arguments());
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Address`] if no [administration](Client::admin) is set, and an error if it can't be reached, or
    /// if the page has more than 64 MiB.
    pub async fn waiting(&self, page: Page) -> Result<Vec<RunHead>, ClientError> {
        self.heads(&Listed::Waiting, &page).await
    }

    /// Returns the heads of the conversations with an owner, the latest first. `None` stands for conversations without an owner.
    ///
    /// ```no_run
    /// use tool_agent::run::Page;
    /// use tool_restate::{Client, ClientError};
    ///
    /// # async fn titles(client: &Client) -> Result<Vec<String>, ClientError> {
    /// let heads = client.runs(Some("user-7"), Page::new(20)).await?;
    /// Ok(heads.into_iter().map(|head| head.id).collect())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`waiting`](Client::waiting).
    pub async fn runs(&self, owner: Option<&str>, page: Page) -> Result<Vec<RunHead>, ClientError> {
        self.heads(&Listed::Owner(owner), &page).await
    }

    /// Creates a conversation from its run in a [`Journal`](tool_agent::run::Journal). Returns `false`, and changes nothing,
    /// if the conversation is there already. Calls that wait for decisions go on waiting; calls that ran when their
    /// program ended are interrupted.
    ///
    /// ```no_run
    /// use tool_agent::run::Journal;
    /// use tool_restate::Client;
    ///
    /// # async fn one(journal: &dyn Journal, client: &Client) -> Result<(), Box<dyn std::error::Error>> {
    /// client.import("conversation-1", journal.load("conversation-1").await?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Refused`] with 409 if the run has another id or another provider, if it can't be read, or if it
    /// neither waits for decisions nor has ended: then continue or cancel it where it is.
    pub async fn import(&self, id: &str, increments: Vec<Increment>) -> Result<bool, ClientError> {
        let Json(is_new) = self.call(id, "import", None, increments).await?;
        Ok(is_new)
    }

    /// Removes a conversation of an owner, after it has [stopped](Client::stop) what goes on. Does nothing if there is no such
    /// conversation. The server keeps what its last messages did for as long as the
    /// [guide](crate::guide::operation#what-is-stored) says.
    ///
    /// ```no_run
    /// use tool_restate::{Client, ClientError};
    ///
    /// # async fn forget(client: &Client) -> Result<(), ClientError> {
    /// client.remove("conversation-1", Some("user-7")).await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`ClientError::Refused`] with 403 if the conversation is another user's, and an error if the ingress can't be
    /// reached.
    pub async fn remove(&self, id: &str, owner: Option<&str>) -> Result<(), ClientError> {
        let removal = Removal::Of(owner.map(str::to_owned));
        let Json(_) = self.removed(id, removal).await?;
        Ok(())
    }

    /// Removes the conversations that were last [saved](RunHead::saved_ms) before a time, also those that wait. Returns how many.
    ///
    /// ```no_run
    /// use std::time::{Duration, SystemTime, UNIX_EPOCH};
    /// use tool_restate::{Client, ClientError};
    ///
    /// # async fn forget(client: &Client, age: Duration) -> Result<usize, ClientError> {
    /// let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    /// let before = now.saturating_sub(age).as_millis();
    /// client.remove_before(before.try_into().unwrap_or(0)).await
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`waiting`](Client::waiting), and an error for a conversation that can't be removed. Others may
    /// be removed already then.
    pub async fn remove_before(&self, saved_ms: u64) -> Result<usize, ClientError> {
        let mut page = Page::new(REMOVED_AT_ONCE);
        let mut removed = 0;
        loop {
            let heads = self.heads(&Listed::Before(saved_ms), &page).await?;
            let Some(last) = heads.last() else {
                return Ok(removed);
            };
            page = Page::new(REMOVED_AT_ONCE).after(last);
            for head in &heads {
                let Json(is_removed) = self.removed(&head.id, Removal::Before(saved_ms)).await?;
                removed += usize::from(is_removed);
            }
        }
    }

    async fn removed(&self, id: &str, removal: Removal) -> Result<Json<bool>, ClientError> {
        self.call(id, "remove", None, removal).await
    }

    async fn heads(&self, listed: &Listed<'_>, page: &Page) -> Result<Vec<RunHead>, ClientError> {
        let Some(lists) = &self.lists else {
            let problem = "no administration is set; name it with `Client::admin`";
            return Err(ClientError::Address(problem.to_owned()));
        };
        lists.heads(&self.service, listed, page).await
    }

    /// Returns the saved parts of a run, starting at one of them.
    pub(crate) async fn saved(&self, id: &str, from: u64) -> Result<Saved, ClientError> {
        let Json(saved) = self.call(id, "state", None, from).await?;
        Ok(saved)
    }

    async fn call<Req, Res>(
        &self,
        id: &str,
        handler: &str,
        key: Option<String>,
        input: Req,
    ) -> Result<Res, ClientError>
    where
        Req: serde::Serialize + Clone,
        Res: Deserialize,
    {
        let called = async || {
            let target = RequestTarget::object(&self.service, id, handler);
            let mut request = self.ingress.request::<_, Res>(target, Json(input.clone()));
            if let Some(key) = &key {
                request = request.idempotency_key(key.clone());
            }
            request.call().await?.into_body()
        };
        let start = Instant::now();
        loop {
            match called().await.map_err(ClientError::from) {
                // What was not found has not started.
                Err(ClientError::Refused(404, _)) if start.elapsed() < UNKNOWN => {
                    tokio::time::sleep(UNKNOWN / 40).await;
                }
                // No handler of a conversation answers this. Restate does, the first for services that have no keys.
                Err(ClientError::Refused(status @ (400 | 404), reason)) => {
                    let service = &self.service;
                    let remedy = "check `Client::service` and `Agents::name`, and that the agents are registered";
                    return Err(ClientError::Refused(
                        status,
                        format!(
                            "the service {service:?} has no conversations; {remedy} ({reason})"
                        ),
                    ));
                }
                called => return called,
            }
        }
    }
}

/// Reads an address for HTTP.
fn url(address: &str) -> Result<Url, ClientError> {
    let problem = match Url::parse(address) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => return Ok(url),
        Ok(_) => "it starts with neither http:// nor https://".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(ClientError::Address(format!("{address:?}: {problem}")))
}
