//! Which changes a client is notified of.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::RequestId;
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, Peer};

use super::clients::{Client, MAX_SUBSCRIPTIONS, To, View};
use super::core::Core;

/// The longest URI to subscribe to, in bytes. Clients keep the server busy with the memory of all of them.
const LONGEST: usize = 2048;

impl Core {
    /// Adds the client of a session.
    pub(super) fn add_session(
        self: &Arc<Self>,
        context: &RequestContext<RoleServer>,
    ) -> Arc<Client> {
        let to = To::Session(context.peer.clone());
        self.add_client(to, BTreeSet::new(), context)
    }

    /// Adds the client of a subscription since version 2026-07-28.
    pub(super) fn add_subscription(
        self: &Arc<Self>,
        subscription: &SubscriptionContext,
    ) -> Arc<Client> {
        let context = subscription.request_context();
        let uris = subscription.accepted().resource_subscriptions.iter();
        let uris = uris.flatten().take(MAX_SUBSCRIPTIONS);
        // The client is not told which of them it can't read, because it would learn which exist.
        let uris =
            uris.filter(|uri| matches!(self.may_subscribe(uri, context, false), Some(Ok(()))));
        let to = To::Subscription(subscription.sink().clone());
        self.add_client(to, uris.cloned().collect(), context)
    }

    fn add_client(
        self: &Arc<Self>,
        to: To,
        subscriptions: BTreeSet<String>,
        context: &RequestContext<RoleServer>,
    ) -> Arc<Client> {
        let view = self.selection(context).map(|tools| {
            let (core, context) = (Arc::downgrade(self), context.clone());
            let sees = move |uri: &str| {
                let core = core.upgrade();
                core.is_some_and(|core| core.function_of(uri, &context).is_some())
            };
            let sees = Box::new(sees);
            View { tools, sees }
        });
        let client = Client::new(to, subscriptions, view);
        self.clients.add(&client);
        client
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
