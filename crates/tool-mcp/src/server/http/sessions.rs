//! Sessions of clients before protocol version 2026-07-28: their owners and their number.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::request::Parts;
use futures_util::{Stream, StreamExt, stream};
use rmcp::model::{
    ClientJsonRpcMessage, GetExtensions, JsonRpcMessage, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use super::streams::{Position, Streams};
use crate::lock;
use crate::server::request::UserId;

tokio::task_local! {
    /// The HTTP request that `rmcp` handles.
    static CURRENT: Current;
}

/// The state of an HTTP request. It is swapped at each poll, so large parts are in a box.
pub(super) struct Current {
    user: Option<UserId>,
    /// Kept if tools are not visible to all.
    head: Option<Box<Parts>>,
    /// The call that was read in place of `rmcp`.
    pub(super) call: Cell<Option<Box<ClientJsonRpcMessage>>>,
    pub(super) outcome: Cell<Outcome>,
}

impl Current {
    pub(super) fn new(user: Option<UserId>, head: Option<Box<Parts>>) -> Current {
        Current {
            user,
            head,
            call: Cell::default(),
            outcome: Cell::new(Outcome::Passed),
        }
    }
}

/// The outcome of a request for its session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    /// There are too many sessions.
    Full,
    /// The user has too many sessions.
    UserFull,
    /// The session does not exist, or belongs to another user.
    Unknown,
    /// The body was not read to its end.
    Rejected(StatusCode, &'static str),
}

/// Runs what handles a request. Returns also the call that no session has got.
pub(super) async fn in_request<T>(
    current: Current,
    handling: impl Future<Output = T>,
) -> (T, Outcome, Option<Box<ClientJsonRpcMessage>>) {
    let handling = async {
        let handled = handling.await;
        CURRENT.with(|current| (handled, current.outcome.get(), current.call.take()))
    };
    CURRENT.scope(current, handling).await
}

/// Changes what is known of the HTTP request that this task handles.
pub(super) fn in_current(change: impl FnOnce(&Current)) {
    let _ = CURRENT.try_with(change);
}

/// Returns the call of the HTTP request, with the extensions that `rmcp` has attached to the message that
/// stands for it. Returns any other message as it is.
fn call_of(message: ClientJsonRpcMessage) -> ClientJsonRpcMessage {
    let call = CURRENT.try_with(|current| current.call.take());
    match (call.ok().flatten().map(|call| *call), message) {
        (
            Some(ClientJsonRpcMessage::Request(mut call)),
            ClientJsonRpcMessage::Request(mut stand_in),
        ) => {
            let attached = std::mem::take(stand_in.request.extensions_mut());
            call.request.extensions_mut().extend(attached);
            ClientJsonRpcMessage::Request(call)
        }
        (_, message) => message,
    }
}

/// Passes the head of the HTTP request that this task handles to a closure, and returns its value.
pub(in crate::server) fn with_head<T>(read: impl FnOnce(&Parts) -> T) -> Option<T> {
    let current = CURRENT.try_with(|current| current.head.as_deref().map(read));
    current.ok().flatten()
}

/// The sessions of a server.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    streams: Streams,
    slots: Arc<Semaphore>,
    most_per_user: usize,
    owners: Mutex<HashMap<SessionId, Owner>>,
}

struct Owner {
    user: Option<UserId>,
    _slot: OwnedSemaphorePermit,
}

impl Sessions {
    pub(super) fn new(most: usize, most_per_user: usize, idle: Duration) -> Sessions {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = Some(idle);
        Sessions {
            inner,
            streams: Streams::default(),
            slots: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            most_per_user,
            owners: Mutex::default(),
        }
    }

    /// Returns `true` if the user may not have another session.
    fn is_full_for(&self, user: Option<&UserId>) -> bool {
        let owners = lock(&self.owners);
        let own = |owner: &&Owner| owner.user.as_ref() == user;
        user.is_some() && owners.values().filter(own).count() >= self.most_per_user
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
            in_current(|current| current.outcome.set(Outcome::Full));
            return Err(SessionsError::Full);
        };
        let user = CURRENT.try_with(|current| current.user.clone());
        let user = user.ok().flatten();
        if self.is_full_for(user.as_ref()) {
            in_current(|current| current.outcome.set(Outcome::UserFull));
            return Err(SessionsError::Full);
        }
        let (id, transport) = self.inner.create_session().await?;
        let owner = Owner { user, _slot: slot };
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
        self.streams.end(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let stream = self.inner.create_stream(id, call_of(message)).await?;
        Ok(self.streams.start(id, stream))
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
        let stream = self.inner.create_standalone_stream(id).await?;
        // Without an id, because that would be the id of the first notice.
        let first = stream::iter([ServerSseMessage::retry(RETRY)]);
        Ok(first.chain(Unread::pump(stream)))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        if let Some(last) = Position::of(&last_event_id) {
            let stream = self.streams.resume(id, &last);
            return Ok(stream.ok_or(SessionsError::Ended)?.left_stream());
        }
        // `rmcp` repeats the event that it is told.
        let next = last_event_id.parse::<usize>().ok();
        let next = next.and_then(|last| last.checked_add(1));
        let next = next.ok_or(SessionsError::Ended)?.to_string();
        Ok(Unread::pump(self.inner.resume(id, next).await?).right_stream())
    }
}

/// How long clients wait before they connect again.
const RETRY: Duration = Duration::from_secs(3);

/// The maximum number of messages of a stream that wait for its client. `rmcp` waits before it sends more.
const UNREAD: usize = 256;

/// The messages of a stream that its client has not read.
///
/// A session of `rmcp` waits for a client that does not read its notices, and its calls wait with it. So
/// they are taken at once, and a notice that something has changed replaces an earlier one that says the
/// same.
#[derive(Default)]
struct Unread {
    queue: Mutex<Queue>,
    /// Notified when a message arrives, or at the end.
    arrived: Notify,
    /// Notified when there is room.
    taken: Notify,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<ServerSseMessage>,
    has_ended: bool,
}

impl Unread {
    fn pump(
        stream: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let unread = Arc::new(Unread::default());
        let task = tokio::spawn({
            let unread = unread.clone();
            async move {
                let mut stream = std::pin::pin!(stream);
                while let Some(message) = stream.next().await {
                    unread.push(message).await;
                }
                lock(&unread.queue).has_ended = true;
                unread.arrived.notify_one();
            }
        });
        let pump = Pump { unread, task };
        stream::unfold(pump, async |pump| {
            let message = pump.unread.pop().await?;
            Some((message, pump))
        })
    }

    async fn push(&self, message: ServerSseMessage) {
        let mut message = Some(message);
        loop {
            let taken = self.taken.notified();
            if self.try_push(&mut message) {
                self.arrived.notify_one();
                return;
            }
            taken.await;
        }
    }

    /// Returns `false` if there is no room.
    fn try_push(&self, message: &mut Option<ServerSseMessage>) -> bool {
        let mut queue = lock(&self.queue);
        if let Some(change) = message.as_ref().and_then(change) {
            let change = Some(change);
            queue.messages.retain(|other| self::change(other) != change);
        }
        let has_room = queue.messages.len() < UNREAD;
        if has_room {
            queue.messages.extend(message.take());
        }
        has_room
    }

    /// Returns the next message, and `None` at the end.
    async fn pop(&self) -> Option<ServerSseMessage> {
        loop {
            {
                let mut queue = lock(&self.queue);
                if let Some(message) = queue.messages.pop_front() {
                    self.taken.notify_one();
                    return Some(message);
                }
                if queue.has_ended {
                    return None;
                }
            }
            self.arrived.notified().await;
        }
    }
}

/// Returns the changed thing that a notice names: a method, and the URI of a resource.
fn change(message: &ServerSseMessage) -> Option<(&str, &str)> {
    let Some(JsonRpcMessage::Notification(notice)) = message.message.as_deref() else {
        return None;
    };
    match &notice.notification {
        ServerNotification::ToolListChangedNotification(_) => Some(("tools", "")),
        ServerNotification::ResourceListChangedNotification(_) => Some(("resources", "")),
        ServerNotification::PromptListChangedNotification(_) => Some(("prompts", "")),
        ServerNotification::ResourceUpdatedNotification(updated) => {
            Some(("resource", &updated.params.uri))
        }
        _ => None,
    }
}

/// The task that takes the messages, which ends with the stream.
struct Pump {
    unread: Arc<Unread>,
    task: JoinHandle<()>,
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The error of a session.
#[derive(Debug)]
pub(super) enum SessionsError {
    Full,
    /// There is no stream with the event.
    Ended,
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
            SessionsError::Ended => f.write_str("there is no stream with this event any more"),
            SessionsError::Inner(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SessionsError {}

#[cfg(test)]
mod tests {
    use rmcp::model::{ServerNotification, ToolListChangedNotification};

    use super::*;

    #[tokio::test]
    async fn of_many_changes_one_waits_and_all_else_is_kept() {
        let change = || {
            let change = ToolListChangedNotification::default();
            let change = ServerNotification::ToolListChangedNotification(change);
            ServerSseMessage::from_message(ServerJsonRpcMessage::notification(change))
        };
        let unread = Unread::default();
        for _ in 0..3 {
            for _ in 0..1000 {
                unread.push(change()).await;
            }
            unread.push(ServerSseMessage::retry(Duration::ZERO)).await;
        }
        assert_eq!(lock(&unread.queue).messages.len(), 4);
        for _ in 4..UNREAD {
            unread.push(ServerSseMessage::retry(Duration::ZERO)).await;
        }
        let mut one_more = Some(ServerSseMessage::retry(Duration::ZERO));
        assert!(!unread.try_push(&mut one_more) && one_more.is_some());
        assert!(unread.pop().await.is_some());
        assert!(unread.try_push(&mut one_more));
    }
}
