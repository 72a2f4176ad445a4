//! [`Changes`]: notices to clients that tools, resources or prompts have changed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, Weak};

use rmcp::model::{RequestId, ResourceUpdatedNotificationParam};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, Peer};
use tokio::runtime::Handle;
use tool_core::Registry;
use tool_core::registry::ChangeListener;

use super::Core;
use super::store::{Notice, Store};
use crate::change::Change;
use crate::lock;

/// The most resources that a session, or a subscription since version 2026-07-28, has subscribed to.
const MAX_SUBSCRIPTIONS: usize = 1000;

/// The longest URI to subscribe to, in bytes. Clients keep the server busy with the memory of all of them.
const LONGEST: usize = 2048;

/// Tells the clients of a [`Server`](crate::Server) that resources or prompts have changed. Clones tell the same clients.
///
/// A server that was [given](crate::Server::changes) one announces that clients may subscribe to resources, and is notified
/// of changed lists. Changes of tools need no such value: clients are notified when the registry changes. If processes share a
/// [store](crate::Server::store), the clients of all of them are notified.
///
/// Each method returns at once, and may be called on any thread. Changes that a client has not been told yet are one
/// notice.
///
/// ```
/// use tool_core::{Registry, tool, tools};
/// use tool_mcp::Server;
/// use tool_mcp::server::Changes;
///
/// /// A note.
/// #[tool(unlinked)]
/// fn note(id: u64) -> String {
///     format!("note {id}")
/// }
///
/// let changes = Changes::new();
/// let server = Server::new(Registry::new())
///     .resource("notes://{id}", tools![note])
///     .changes(&changes);
/// // Later, when somebody has written to note 7:
/// changes.resource_updated("notes://7");
/// # let _ = server;
/// ```
#[derive(Clone, Default)]
pub struct Changes {
    servers: Arc<Mutex<Vec<Weak<Core>>>>,
}

impl Changes {
    /// Creates a value without servers.
    pub fn new() -> Changes {
        Changes::default()
    }

    /// Notifies the clients that have subscribed to a resource that its content has changed. Pass the URI
    /// of one resource, as clients read it, not a template.
    ///
    /// A client that can't [see](crate::Server::visible) the resource any more is not notified.
    pub fn resource_updated(&self, uri: &str) {
        self.publish(&Notice::Resource(uri.to_owned()));
    }

    /// Notifies all clients that the list of resources, or of their templates, has changed.
    pub fn resources_changed(&self) {
        self.publish(&Notice::Resources);
    }

    /// Notifies all clients that the list of prompts has changed.
    pub fn prompts_changed(&self) {
        self.publish(&Notice::Prompts);
    }

    pub(super) fn add(&self, core: &Arc<Core>) {
        lock(&self.servers).push(Arc::downgrade(core));
    }

    fn publish(&self, notice: &Notice) {
        // Not under the lock, because the closures of the application are asked what is visible.
        let servers = {
            let mut servers = lock(&self.servers);
            servers.retain(|server| server.strong_count() > 0);
            servers.clone()
        };
        let mut stores: Vec<Arc<dyn Store>> = Vec::new();
        for server in servers.iter().filter_map(Weak::upgrade) {
            let store = server.tasks.store();
            // Servers that share a store hear what one of them publishes.
            if !stores.iter().any(|other| Arc::ptr_eq(other, store)) {
                store.publish(notice.clone());
                stores.push(store.clone());
            }
        }
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}

/// A client that is notified of changes, for as long as its session or its subscription has it.
pub(super) struct Client {
    core: Weak<Core>,
    to: To,
    /// Changes may happen on a thread without a runtime.
    runtime: Handle,
    /// The client's request, if not all clients see the same.
    seen: Option<RequestContext<RoleServer>>,
    subscriptions: Mutex<BTreeSet<String>>,
    pending: Mutex<Pending>,
    /// The tools that it sees, if it does not see all, and the listener that notifies it of their changes.
    _selection: Option<(Registry, ChangeListener)>,
}

enum To {
    /// A client before version 2026-07-28.
    Session(Peer<RoleServer>),
    Subscription(SubscriptionSink),
}

/// Changes that a client has not been told yet.
#[derive(Default)]
struct Pending {
    tools: bool,
    resources: bool,
    prompts: bool,
    updated: BTreeSet<String>,
    is_sending: bool,
}

impl Pending {
    fn add(&mut self, change: Change) {
        match change {
            Change::Tools => self.tools = true,
            Change::Resources => self.resources = true,
            Change::Prompts => self.prompts = true,
            // No more than the client has subscribed to.
            Change::Updated(uri) => drop(self.updated.insert(uri)),
        }
    }

    fn next(&mut self) -> Option<Change> {
        let take = |flag: &mut bool, change| std::mem::take(flag).then_some(change);
        take(&mut self.tools, Change::Tools)
            .or_else(|| take(&mut self.resources, Change::Resources))
            .or_else(|| take(&mut self.prompts, Change::Prompts))
            .or_else(|| self.updated.pop_first().map(Change::Updated))
    }
}

impl Client {
    fn new(
        core: &Arc<Core>,
        to: To,
        context: &RequestContext<RoleServer>,
        subscriptions: BTreeSet<String>,
    ) -> Arc<Client> {
        let selection = core.selection(context);
        let seen = selection.is_some().then(|| context.clone());
        let client = Arc::new_cyclic(|client: &Weak<Client>| Client {
            core: Arc::downgrade(core),
            to,
            runtime: Handle::current(),
            seen,
            subscriptions: Mutex::new(subscriptions),
            pending: Mutex::default(),
            _selection: selection.map(|registry| {
                let client = client.clone();
                let listener = registry.on_change(move |_, _| {
                    if let Some(client) = client.upgrade() {
                        client.tell(Change::Tools);
                    }
                });
                (registry, listener)
            }),
        });
        let mut clients = lock(&core.clients);
        // Only when the vector would grow, so that many connections cost little.
        if clients.len() == clients.capacity() {
            clients.retain(|client| client.strong_count() > 0);
        }
        clients.push(Arc::downgrade(&client));
        client
    }

    /// Creates the client of a session.
    pub(super) fn of_session(
        core: &Arc<Core>,
        context: &RequestContext<RoleServer>,
    ) -> Arc<Client> {
        let to = To::Session(context.peer.clone());
        Client::new(core, to, context, BTreeSet::new())
    }

    /// Creates the client of a subscription since version 2026-07-28.
    pub(super) fn of_subscription(
        core: &Arc<Core>,
        subscription: &SubscriptionContext,
    ) -> Arc<Client> {
        let context = subscription.request_context();
        let uris = subscription.accepted().resource_subscriptions.iter();
        let uris = uris.flatten().take(MAX_SUBSCRIPTIONS);
        // The client is not told which of them it can't read, because it would learn which exist.
        let uris =
            uris.filter(|uri| matches!(core.may_subscribe(uri, context, false), Some(Ok(()))));
        let to = To::Subscription(subscription.sink().clone());
        Client::new(core, to, context, uris.cloned().collect())
    }

    /// Adds a subscription of a session.
    pub(super) fn subscribe(&self, uri: String) -> Result<(), ErrorData> {
        let mut subscriptions = lock(&self.subscriptions);
        if subscriptions.len() >= MAX_SUBSCRIPTIONS && !subscriptions.contains(&uri) {
            let problem = format!(
                "the session has subscribed to {MAX_SUBSCRIPTIONS} resources, which is the most; unsubscribe from one"
            );
            return Err(ErrorData::invalid_request(problem, None));
        }
        subscriptions.insert(uri);
        Ok(())
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        lock(&self.subscriptions).remove(uri);
        lock(&self.pending).updated.remove(uri);
    }

    /// Returns `true` if the client wants to know of a change, and may.
    fn wants(&self, core: &Core, change: &Change) -> bool {
        let accepted = match &self.to {
            To::Session(_) => None,
            To::Subscription(sink) => Some(sink.accepted()),
        };
        match change {
            Change::Tools => accepted.is_none_or(|all| all.tools_list_changed == Some(true)),
            Change::Resources => {
                accepted.is_none_or(|all| all.resources_list_changed == Some(true))
            }
            Change::Prompts => accepted.is_none_or(|all| all.prompts_list_changed == Some(true)),
            Change::Updated(uri) => {
                let is_visible = |context| core.function_of(uri, context).is_some();
                lock(&self.subscriptions).contains(uri) && self.seen.as_ref().is_none_or(is_visible)
            }
        }
    }

    /// Notifies the client of a change, once it has read the notice before. Any number of equal changes meanwhile are one
    /// notice.
    fn tell(self: Arc<Self>, change: Change) {
        let is_wanted = self
            .core
            .upgrade()
            .is_some_and(|core| self.wants(&core, &change));
        if !is_wanted {
            return;
        }
        {
            let mut pending = lock(&self.pending);
            pending.add(change);
            if std::mem::replace(&mut pending.is_sending, true) {
                return;
            }
        }
        self.runtime.clone().spawn(async move {
            loop {
                let next = {
                    let mut pending = lock(&self.pending);
                    let next = pending.next();
                    pending.is_sending = next.is_some();
                    next
                };
                // All is sent, or the client has left.
                let Some(change) = next else { return };
                if !self.send(change).await {
                    return;
                }
            }
        });
    }

    /// Returns `false` if the client has left.
    async fn send(&self, change: Change) -> bool {
        match &self.to {
            To::Session(peer) => match change {
                Change::Tools => peer.notify_tool_list_changed().await,
                Change::Resources => peer.notify_resource_list_changed().await,
                Change::Prompts => peer.notify_prompt_list_changed().await,
                Change::Updated(uri) => {
                    let params = ResourceUpdatedNotificationParam::new(uri);
                    peer.notify_resource_updated(params).await
                }
            }
            .is_ok(),
            To::Subscription(sink) => match change {
                Change::Tools => sink.notify_tool_list_changed().await,
                Change::Resources => sink.notify_resource_list_changed().await,
                Change::Prompts => sink.notify_prompt_list_changed().await,
                Change::Updated(uri) => sink.notify_resource_updated(uri).await,
            }
            .is_ok(),
        }
    }
}

impl Core {
    /// Notifies the clients of a change.
    pub(super) fn notify(&self, change: &Change) {
        // Not under the lock, because dropping the last reference of a client removes listeners of the
        // registry.
        let clients: Vec<_> = {
            let mut clients = lock(&self.clients);
            clients.retain(|client| client.strong_count() > 0);
            clients.iter().filter_map(Weak::upgrade).collect()
        };
        for client in clients {
            client.tell(change.clone());
        }
    }

    /// Does what a notice of this or another process asks for.
    pub(super) fn hear(&self, notice: &Notice) {
        // Without them, the server has not announced that it notifies of changes.
        let announced = self.options.changes.is_some();
        match notice {
            Notice::Task(id) => self.tasks.wake(Some(id)),
            Notice::Resources if announced => self.notify(&Change::Resources),
            Notice::Prompts if announced => self.notify(&Change::Prompts),
            Notice::Resource(uri) if announced => self.notify(&Change::Updated(uri.clone())),
            Notice::Missed => {
                self.tasks.wake(None);
                if announced {
                    self.notify(&Change::Resources);
                    self.notify(&Change::Prompts);
                    self.notify_all_updated();
                }
            }
            Notice::Resources | Notice::Prompts | Notice::Resource(_) => {}
        }
    }

    /// Notifies each client that all resources to which it has subscribed may have changed.
    fn notify_all_updated(&self) {
        let clients: Vec<_> = lock(&self.clients)
            .iter()
            .filter_map(Weak::upgrade)
            .collect();
        for client in clients {
            let uris = lock(&client.subscriptions).clone();
            for uri in uris {
                client.clone().tell(Change::Updated(uri));
            }
        }
    }

    /// Returns `true` if a client has subscribed to a resource.
    #[cfg(feature = "client")]
    pub(super) fn has_subscriber(&self, uri: &str) -> bool {
        let clients = lock(&self.clients);
        let mut clients = clients.iter().filter_map(Weak::upgrade);
        clients.any(|client| lock(&client.subscriptions).contains(uri))
    }

    /// Checks whether the user of a request may subscribe to a resource, which is counted as a read is. Returns `None` if
    /// the server has none with this URI that the request can see.
    pub(super) fn may_subscribe(
        self: &Arc<Self>,
        uri: &str,
        context: &RequestContext<RoleServer>,
        waits: bool,
    ) -> Option<Result<(), ErrorData>> {
        if uri.len() > LONGEST {
            let problem = format!("the URI has more than {LONGEST} bytes");
            return Some(Err(ErrorData::invalid_params(problem, None)));
        }
        let function = self.function_of(uri, context)?;
        Some(self.admit(&function, context, waits).map(drop))
    }
}

/// Returns the filter of a subscription with as many URIs as one may have.
pub(super) fn bounded(mut uris: Vec<String>) -> Vec<String> {
    uris.retain(|uri| uri.len() <= LONGEST);
    uris.truncate(MAX_SUBSCRIPTIONS);
    uris
}

/// A context for work that no client requested.
pub(super) fn no_request(peer: Peer<RoleServer>) -> RequestContext<RoleServer> {
    RequestContext::new(RequestId::Number(0), peer)
}
