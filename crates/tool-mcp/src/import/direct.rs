//! Calls of a program whose tools are known, without a registry.

use std::ffi::OsStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, PingRequest,
    ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio::time::{sleep, timeout};
use tool_core::runtime::BoxFuture;

use super::builder::ImportBuilder;
pub(crate) use super::call::AbortOnDrop;
use super::connection::{Connection, Opener, Source};
use super::environment;
use super::error::ImportError;
use super::live::Live;
use super::request::{RequestError, send};
use super::secrets::Secrets;
use super::settings::{Protocol, Settings};
use super::transport::{ProgressListener, Request};

/// A program that is started once for each connection.
pub(crate) struct Program {
    opener: Opener,
    settings: Settings,
    secrets: Secrets,
}

impl Program {
    /// Takes a command. The processes get only the variables that are set on it.
    pub(crate) fn new(command: Command) -> Program {
        // The version with `ping`.
        let import = ImportBuilder::of_command(command, environment::ESSENTIAL)
            .protocol(Protocol::V2025_11_25);
        Program {
            opener: Opener {
                source: import.source,
                is_legacy: AtomicBool::new(true),
            },
            settings: import.settings,
            secrets: import.secrets,
        }
    }

    /// Sets a variable of the processes.
    pub(crate) fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        if let Source::Command { command, .. } = &mut self.opener.source {
            command.get_mut().env(name, value);
        }
    }

    pub(crate) fn inherit_stderr(&mut self) {
        self.opener.source.inherit_stderr();
    }

    pub(crate) fn set_start_timeout(&mut self, time: Duration) {
        self.settings.connect_timeout = time;
    }

    pub(crate) fn set_max_message(&mut self, bytes: usize) {
        self.settings.max_message = bytes;
    }

    /// Starts a process and does the handshake.
    pub(crate) async fn start(&self) -> Result<Connected, ImportError> {
        let connection = self.opener.open(&self.settings, &self.secrets).await?;
        Ok(Connected {
            connection,
            grace: self.settings.grace,
        })
    }
}

/// A running process. Dropping it kills the process and its process group.
pub(crate) struct Connected {
    connection: Connection,
    grace: Duration,
}

/// Why there is no result.
pub(crate) enum CallFailure {
    /// The process has ended, or must be.
    Lost(String),
    /// The process can go on.
    Rejected(String),
}

impl Connected {
    /// Returns `true` until the process closes its side.
    pub(crate) fn is_open(&self) -> bool {
        !self.connection.live.peer.is_transport_closed()
    }

    /// Calls a tool. Dropping the future cancels the call.
    ///
    /// The process is lost if it ends, if it takes longer than `limit`, or if it does not answer a ping within
    /// `ping_interval`.
    pub(crate) async fn call(
        &mut self,
        tool: &'static str,
        arguments: Map<String, Value>,
        limit: Duration,
        ping_interval: Duration,
        listener: ProgressListener,
    ) -> Result<CallToolResult, CallFailure> {
        let live = self.connection.live.clone();
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let (carried, events) = Request::with_progress(listener);
        let too_long = || CallFailure::Lost(format!("it did not answer within {limit:?}"));
        let result = tokio::select! {
            biased;
            result = timeout(limit, send(&live, request, carried, events, limit)) => result,
            () = unresponsive(&live, ping_interval) => {
                return Err(CallFailure::Lost("it does not answer pings".into()));
            }
            reason = self.connection.lost() => return Err(CallFailure::Lost(reason)),
        };
        let rejected = |text: &str| Err(CallFailure::Rejected(text.into()));
        match result.map_err(|_| too_long())? {
            Ok(ServerResult::CallToolResult(result)) => Ok(result),
            Ok(_) => rejected("it answered with another result"),
            Err(RequestError::Unreadable(reason)) => rejected(&format!("its answer {reason}")),
            Err(RequestError::TimedOut(_)) => Err(too_long()),
            Err(RequestError::Service(ServiceError::McpError(error))) => {
                let text = format!("it rejected the request: {}", error.message);
                rejected(&super::secrets::shorten(&text, 1000))
            }
            // The connection is lost.
            Err(RequestError::NotSent | RequestError::Service(_)) => {
                Err(CallFailure::Lost(self.connection.lost().await))
            }
        }
    }

    /// Closes the connection and waits until the process has ended, which is killed if it takes long.
    pub(crate) async fn close(self) {
        self.connection.close(self.grace).await;
    }
}

/// Completes once a ping was not answered before the next was due.
async fn unresponsive(live: &Live, interval: Duration) {
    loop {
        sleep(interval).await;
        let peer = live.peer.clone();
        // Boxed, because rustc can't prove that the future of `rmcp` is `Send` for every lifetime.
        let ping: BoxFuture<_> = Box::pin(async move {
            let request = ClientRequest::PingRequest(PingRequest::default());
            let options = PeerRequestOptions::no_options();
            // Any answer will do. A lost connection is noticed elsewhere.
            if let Ok(handle) = peer.send_request_with_option(request, options).await {
                let _ = handle.rx.await;
            }
        });
        if timeout(interval, ping).await.is_err() {
            return;
        }
    }
}
