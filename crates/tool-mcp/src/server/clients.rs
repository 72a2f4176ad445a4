//! The clients of a server that are notified of changes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, Weak};

use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{RoleServer, SubscriptionSink};
use rmcp::{ErrorData, Peer};
use tokio::runtime::Handle;
use tool_core::Registry;
use tool_core::registry::ChangeListener;

use crate::change::Change;
use crate::lock;

/// The most resources that a session, or a subscription since version 2026-07-28, has subscribed to.
pub(super) const MAX_SUBSCRIPTIONS: usize = 1000;

/// A client that is notified of changes, for as long as its session or its subscription has it.
pub(super) struct Client {
    to: To,
    /// Changes may happen on a thread without a runtime.
    runtime: Handle,
    /// Whether it sees a resource, if not all clients see the same.
    sees: Option<Box<Sees>>,
    subscriptions: Mutex<BTreeSet<String>>,
    pending: Mutex<Pending>,
    /// The tools that it sees, if it does not see all, and the listener that notifies it of their changes.
    _selection: Option<(Registry, ChangeListener)>,
}

/// How a client is notified.
pub(super) enum To {
    /// A client before version 2026-07-28.
    Session(Peer<RoleServer>),
    Subscription(SubscriptionSink),
}

/// What a client sees.
pub(super) struct View {
    pub(super) tools: Registry,
    /// Whether it sees a resource.
    pub(super) sees: Box<Sees>,
}

type Sees = dyn Fn(&str) -> bool + Send + Sync;

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
    /// Creates a client, with what it sees if not all clients see the same.
    pub(super) fn new(to: To, subscriptions: BTreeSet<String>, view: Option<View>) -> Arc<Client> {
        let (selection, sees) = view.map(|view| (view.tools, view.sees)).unzip();
        Arc::new_cyclic(|client: &Weak<Client>| Client {
            to,
            runtime: Handle::current(),
            sees,
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
        })
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
    fn wants(&self, change: &Change) -> bool {
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
                let is_subscribed = lock(&self.subscriptions).contains(uri);
                is_subscribed && self.sees.as_ref().is_none_or(|sees| sees(uri))
            }
        }
    }

    /// Notifies the client of a change, once it has read the notice before. Any number of equal changes meanwhile are one
    /// notice.
    fn tell(self: Arc<Self>, change: Change) {
        if !self.wants(&change) {
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

/// The clients to notify of changes, since they have initialized or subscribed.
#[derive(Default)]
pub(super) struct Clients(Mutex<Vec<Weak<Client>>>);

impl Clients {
    pub(super) fn add(&self, client: &Arc<Client>) {
        let mut clients = lock(&self.0);
        // Only when the vector would grow, so that many connections cost little.
        if clients.len() == clients.capacity() {
            clients.retain(|client| client.strong_count() > 0);
        }
        clients.push(Arc::downgrade(client));
    }

    /// Returns the clients that are left. Dropping the last reference of one removes listeners of the registry, which must
    /// not happen under the lock.
    fn all(&self) -> Vec<Arc<Client>> {
        let mut clients = lock(&self.0);
        clients.retain(|client| client.strong_count() > 0);
        clients.iter().filter_map(Weak::upgrade).collect()
    }

    /// Notifies the clients of a change.
    pub(super) fn notify(&self, change: &Change) {
        for client in self.all() {
            client.tell(change.clone());
        }
    }

    /// Notifies each client that all resources to which it has subscribed may have changed.
    pub(super) fn notify_all_updated(&self) {
        for client in self.all() {
            let uris = lock(&client.subscriptions).clone();
            for uri in uris {
                client.clone().tell(Change::Updated(uri));
            }
        }
    }

    /// Notifies the clients of a change at another server. Returns `false` for a resource to which none has subscribed.
    #[cfg(feature = "client")]
    pub(super) fn pass_on(&self, change: &Change) -> bool {
        self.notify(change);
        match change {
            Change::Updated(uri) => {
                let clients = self.all();
                let mut clients = clients.iter();
                clients.any(|client| lock(&client.subscriptions).contains(uri))
            }
            _ => true,
        }
    }
}
