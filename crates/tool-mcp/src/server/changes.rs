//! [`Changes`]: notices to clients that tools, resources or prompts have changed.

use std::sync::{Arc, Mutex, Weak};

use super::store::{Notice, Store};
use crate::lock;

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
    /// Each server listens to its store.
    stores: Arc<Mutex<Vec<Weak<dyn Store>>>>,
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

    /// Adds the store of a server.
    pub(super) fn add(&self, store: &Arc<dyn Store>) {
        lock(&self.stores).push(Arc::downgrade(store));
    }

    fn publish(&self, notice: &Notice) {
        // Not under the lock, because the closures of the application are asked what is visible.
        let stores = {
            let mut stores = lock(&self.stores);
            stores.retain(|store| store.strong_count() > 0);
            stores.clone()
        };
        for store in stores.iter().filter_map(Weak::upgrade) {
            store.publish(notice.clone());
        }
    }
}

impl std::fmt::Debug for Changes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changes").finish_non_exhaustive()
    }
}
