//! The settings of an import.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::ClientLifecycleMode;
use tool_core::CallContext;
use tool_core::call::TraceContext;

use super::backoff::Backoff;
use super::capabilities::Capabilities;
use super::elicit::Answerer;

#[derive(Debug)]
pub(super) struct Settings {
    pub(super) name: String,
    pub(super) prefix: String,
    pub(super) tags: Vec<String>,
    pub(super) protocol: Protocol,
    pub(super) trusts_annotations: bool,
    pub(super) pins: Option<PathBuf>,
    pub(super) backoff: Option<Backoff>,
    pub(super) answerer: Answerer,
    pub(super) capabilities: Capabilities,
    pub(super) tracer: Tracer,
    pub(super) connect_timeout: Duration,
    pub(super) list_timeout: Duration,
    pub(super) call_timeout: Duration,
    pub(super) task_timeout: Duration,
    pub(super) grace: Duration,
    pub(super) max_tools: usize,
    pub(super) max_message: usize,
    pub(super) offers: bool,
    pub(super) apps: bool,
    /// The id of the gateway that imports the server.
    pub(super) gateway: Option<String>,
}

/// Returns the trace of the current call. Without a closure, that is the trace that the caller attached.
#[derive(Clone, Default)]
pub(super) struct Tracer(pub(super) Option<Arc<dyn Fn() -> Option<TraceContext> + Send + Sync>>);

impl Tracer {
    pub(super) fn current(&self, call: &CallContext) -> Option<TraceContext> {
        match &self.0 {
            Some(current) => current(),
            None => call.get().cloned(),
        }
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Tracer" } else { "None" })
    }
}

impl Settings {
    pub(super) fn new(name: String) -> Settings {
        Settings {
            name,
            prefix: String::new(),
            tags: Vec::new(),
            protocol: Protocol::default(),
            trusts_annotations: false,
            pins: None,
            backoff: None,
            answerer: Answerer::default(),
            capabilities: Capabilities::default(),
            tracer: Tracer::default(),
            connect_timeout: Duration::from_secs(60),
            list_timeout: Duration::from_secs(30),
            call_timeout: Duration::from_secs(120),
            task_timeout: Duration::from_secs(3600),
            grace: Duration::from_secs(2),
            max_tools: 1000,
            max_message: 16 << 20,
            offers: false,
            apps: false,
            gateway: None,
        }
    }
}

/// The version of the protocol that an import speaks.
///
/// ```
/// use tokio::process::Command;
/// use tool_mcp::Import;
/// use tool_mcp::Protocol;
///
/// // A server that answers the newest version with an error.
/// let builder = Import::command(Command::new("old-server")).protocol(Protocol::V2025_11_25);
/// # let _ = builder;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// Version 2026-07-28 if the server supports it, else the newest one that it supports. A server
    /// that does not answer to `server/discover` delays the connection by ten seconds.
    #[default]
    Newest,
    /// Version 2026-07-28 only.
    V2026_07_28,
    /// The versions that start with `initialize`: 2025-11-25, or an older one that the server chooses.
    V2025_11_25,
}

impl Protocol {
    /// Returns the ways to open a connection, each tried if the one before it failed.
    pub(super) fn modes(self, is_legacy: bool) -> Vec<ClientLifecycleMode> {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Protocol::V2025_11_25 => vec![ClientLifecycleMode::Initialize],
            Protocol::V2026_07_28 => vec![ClientLifecycleMode::Discover { preferred_versions }],
            // Some older servers end when the first request is not `initialize`.
            Protocol::Newest if is_legacy => vec![ClientLifecycleMode::Initialize],
            Protocol::Newest => vec![
                ClientLifecycleMode::Auto {
                    preferred_versions,
                    legacy_version: Some(ProtocolVersion::V_2025_11_25),
                },
                ClientLifecycleMode::Initialize,
            ],
        }
    }
}
