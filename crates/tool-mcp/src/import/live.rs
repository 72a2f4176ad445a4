//! [`Live`]: an open connection, as calls see it.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::ServerCapabilities;
use rmcp::service::Peer;

use super::transport::InFlight;

/// The parts of a connection that calls need.
pub(super) struct Live {
    pub(super) peer: Peer<RoleClient>,
    pub(super) in_flight: Arc<InFlight>,
    pub(super) protocol: String,
    /// The name and the version that the server states.
    pub(super) server: Option<(String, String)>,
    /// `true` for versions whose clients ask for notifications.
    pub(super) is_modern: bool,
    /// `true` if the server says when something changes.
    pub(super) notifies: bool,
    pub(super) capabilities: ServerCapabilities,
}
