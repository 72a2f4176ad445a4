//! Sessions of clients before protocol version 2026-07-28: their owners and their number.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::Stream;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lock;
use crate::server::UserId;

tokio::task_local! {
    /// The HTTP request that `rmcp` handles.
    static CURRENT: Current;
}

struct Current {
    user: Option<UserId>,
    outcome: Cell<Outcome>,
}

/// What became of a request, as far as its session goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// There are too many sessions.
    Full,
    /// The session does not exist, or belongs to another user.
    Unknown,
}

/// Runs what handles a request of a user.
pub(super) async fn in_request<T>(
    user: Option<UserId>,
    handling: impl Future<Output = T>,
) -> (T, Outcome) {
    let current = Current {
        user,
        outcome: Cell::new(Outcome::Passed),
    };
    let handling = async {
        let handled = handling.await;
        (handled, CURRENT.with(|current| current.outcome.get()))
    };
    CURRENT.scope(current, handling).await
}

/// The sessions of a server.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    slots: Arc<Semaphore>,
    owners: Mutex<HashMap<SessionId, Owner>>,
}

struct Owner {
    user: Option<UserId>,
    _slot: OwnedSemaphorePermit,
}

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration) -> Sessions {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(idle);
        Sessions {
            inner,
            slots: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            owners: Mutex::default(),
        }
    }

    /// Returns `false` within a request of another user than the session's.
    fn is_visible(&self, id: &SessionId) -> bool {
        CURRENT
            .try_with(|current| {
                let owners = lock(&self.owners);
                let is_own = owners
                    .get(id)
                    .is_some_and(|owner| owner.user == current.user);
                if !is_own {
                    current.outcome.set(Outcome::Unknown);
                }
                is_own
            })
            // `rmcp` ends a session outside of a request.
            .unwrap_or(true)
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let Ok(slot) = self.slots.clone().try_acquire_owned() else {
            let _ = CURRENT.try_with(|current| current.outcome.set(Outcome::Full));
            return Err(SessionsError::Full);
        };
        let (id, transport) = self.inner.create_session().await?;
        let user = CURRENT.try_with(|current| current.user.clone());
        let owner = Owner {
            user: user.ok().flatten(),
            _slot: slot,
        };
        lock(&self.owners).insert(id.clone(), owner);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.is_visible(id) && self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        if !self.is_visible(id) {
            return Ok(());
        }
        lock(&self.owners).remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.create_stream(id, message).await?)
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.inner.resume(id, last_event_id).await?)
    }
}

/// The error of a session.
#[derive(Debug)]
pub(super) enum SessionsError {
    Full,
    Inner(LocalSessionManagerError),
}

impl From<LocalSessionManagerError> for SessionsError {
    fn from(error: LocalSessionManagerError) -> SessionsError {
        SessionsError::Inner(error)
    }
}

impl fmt::Display for SessionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionsError::Full => f.write_str("too many sessions"),
            SessionsError::Inner(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionsError {}
