//! [`Hub`]: serves the text of models while they write it, to clients that follow conversations.
//!
//! Clients connect to all agents, because the engine chooses which of them asks the model. A connection reads from the
//! buffer of the response, so a slow client costs no memory.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::lock;
use crate::once::random;
use crate::serving::send_at_once;

/// Maximum number of bytes kept of a response. Clients get the rest with the state.
pub(crate) const MAX_TEXT: usize = 1 << 20;
/// Maximum number of clients of a process.
const MAX_CLIENTS: usize = 1_000;
/// Minimum number of bytes in a token.
const MIN_TOKEN: usize = 16;
/// Interval at which a connection shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// A request to the model. An agent may repeat it after another failed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) number: u64,
    /// The start time, in milliseconds since 1970. If there are two attempts at one response, the later one counts.
    pub(crate) started: u64,
    /// The number of parts of the run before the response.
    pub(crate) parts: u64,
}

/// A line of a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Note {
    /// The model is being asked.
    Asks(Attempt),
    /// The model wrote this.
    Text(String),
    /// The model has ended. `false` if the response is incomplete.
    Ended(bool),
    /// The run is about to be saved with this many parts.
    Saved(u64),
}

/// The current requests in the conversations of this process.
pub(crate) struct Hub {
    service: String,
    /// The hash of the token. Comparing hashes in variable time reveals nothing about the token.
    token: [u8; 32],
    live: Mutex<HashMap<String, Arc<watch::Sender<Live>>>>,
    clients: Arc<Semaphore>,
}

/// The current request in a conversation.
#[derive(Default)]
struct Live {
    saved: u64,
    asking: Option<(Attempt, Text)>,
    /// The last ended attempt, and whether its response is complete.
    ended: Option<(u64, bool)>,
}

#[derive(Default)]
struct Text {
    written: String,
    is_full: bool,
}

/// The entry of a conversation. Dropping the last holder removes it.
struct Topic {
    hub: Arc<Hub>,
    id: String,
    live: Option<Arc<watch::Sender<Live>>>,
}

/// An attempt in this process. Dropping this ends it.
pub(crate) struct Asking {
    topic: Topic,
    number: u64,
    is_complete: bool,
}

/// The position up to which a connection has sent.
#[derive(Default)]
struct Cursor {
    saved: u64,
    attempt: Option<u64>,
    bytes: usize,
}

impl Hub {
    /// Creates the hub of a service.
    ///
    /// # Errors
    ///
    /// Returns an error if the token is too short.
    pub(crate) fn new(service: &str, token: &str) -> Result<Arc<Hub>, String> {
        if token.len() < MIN_TOKEN {
            return Err(format!(
                "the token for streams has {} bytes; it needs at least {MIN_TOKEN} random ones",
                token.len()
            ));
        }
        Ok(Arc::new(Hub {
            service: service.to_owned(),
            token: Sha256::digest(token).into(),
            live: Mutex::default(),
            clients: Arc::new(Semaphore::new(MAX_CLIENTS)),
        }))
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<String, Arc<watch::Sender<Live>>>) -> T) -> T {
        act(&mut lock(&self.live))
    }

    fn topic(self: &Arc<Hub>, id: &str) -> Topic {
        let live = self.with(|live| Arc::clone(live.entry(id.to_owned()).or_default()));
        Topic {
            hub: Arc::clone(self),
            id: id.to_owned(),
            live: Some(live),
        }
    }

    /// Tells clients that parts of a run are saved.
    pub(crate) fn saved(&self, id: &str, parts: u64) {
        self.with(|live| {
            if let Some(live) = live.get(id) {
                live.send_modify(|live| live.saved = live.saved.max(parts));
            }
        });
    }

    /// Starts an attempt. It replaces an earlier one.
    pub(crate) fn ask(self: &Arc<Hub>, id: &str, parts: u64) -> Result<Asking, getrandom::Error> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let attempt = Attempt {
            number: random()?,
            started: now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX)),
            parts,
        };
        let topic = self.topic(id);
        topic.change(|live| live.asking = Some((attempt, Text::default())));
        Ok(Asking {
            topic,
            number: attempt.number,
            is_complete: false,
        })
    }

    /// Serves clients forever.
    pub(crate) async fn serve(self: Arc<Hub>, listener: TcpListener) -> std::io::Result<()> {
        send_at_once(&listener)?;
        let router = Router::new().route("/{service}/{id}", get(follow));
        axum::serve(listener, router.with_state(self)).await
    }
}

impl Topic {
    fn change(&self, change: impl FnOnce(&mut Live)) {
        if let Some(live) = &self.live {
            live.send_modify(change);
        }
    }
}

impl Drop for Topic {
    fn drop(&mut self) {
        let own = self.live.take();
        self.hub.with(|live| {
            // Dropped under the lock, so that exactly one holder finds itself the last.
            drop(own);
            if live
                .get(&self.id)
                .is_some_and(|live| Arc::strong_count(live) == 1)
            {
                live.remove(&self.id);
            }
        });
    }
}

impl Asking {
    /// Returns a function that receives the model's text.
    pub(crate) fn writer(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let live = self.topic.live.as_ref().map(Arc::downgrade);
        let number = self.number;
        move |piece| {
            let Some(live) = live.as_ref().and_then(std::sync::Weak::upgrade) else {
                return;
            };
            live.send_if_modified(|live| match &mut live.asking {
                Some((attempt, text)) if attempt.number == number => text.push(piece),
                _ => false,
            });
        }
    }

    /// Marks the response as complete.
    pub(crate) fn complete(mut self) {
        self.is_complete = true;
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let ended = (self.number, self.is_complete);
        self.topic.change(|live| {
            if live
                .asking
                .as_ref()
                .is_some_and(|(attempt, _)| attempt.number == ended.0)
            {
                live.asking = None;
                live.ended = Some(ended);
            }
        });
    }
}

impl Text {
    /// Adds a piece. Once a piece doesn't fit, adds no more. Returns `true` if it was added.
    fn push(&mut self, piece: &str) -> bool {
        self.is_full |= self.written.len() + piece.len() > MAX_TEXT;
        if !self.is_full {
            self.written.push_str(piece);
        }
        !self.is_full
    }
}

impl Cursor {
    /// Returns the notes since the last call.
    fn notes(&mut self, live: &Live) -> Vec<Note> {
        let mut notes = Vec::new();
        if live.saved > self.saved {
            self.saved = live.saved;
            notes.push(Note::Saved(live.saved));
        }
        match &live.asking {
            Some((attempt, text)) => {
                if self.attempt != Some(attempt.number) {
                    self.attempt = Some(attempt.number);
                    self.bytes = 0;
                    notes.push(Note::Asks(*attempt));
                }
                if text.written.len() > self.bytes {
                    notes.push(Note::Text(text.written[self.bytes..].to_owned()));
                    self.bytes = text.written.len();
                }
            }
            None => {
                if let Some(number) = self.attempt.take() {
                    notes.push(Note::Ended(live.ended == Some((number, true))));
                }
            }
        }
        notes
    }
}

/// Sends the notes of a conversation, each as a line of JSON.
async fn follow(
    State(hub): State<Arc<Hub>>,
    Path((service, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let given = headers
        .get(AUTHORIZATION)
        .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    if given.is_none_or(|given| Sha256::digest(given)[..] != hub.token) {
        return (StatusCode::UNAUTHORIZED, "the token is wrong").into_response();
    }
    if service != hub.service {
        let problem = format!(
            "the service of this agent is {:?}, not {service:?}; check `Client::service` and `Agents::name`",
            hub.service
        );
        return (StatusCode::NOT_FOUND, problem).into_response();
    }
    let Ok(permit) = Arc::clone(&hub.clients).try_acquire_owned() else {
        let problem = format!("{MAX_CLIENTS} clients follow conversations of this process");
        return (StatusCode::SERVICE_UNAVAILABLE, problem).into_response();
    };
    let topic = hub.topic(&id);
    let Some(changes) = topic.live.as_ref().map(|live| live.subscribe()) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let connection = Connection {
        _topic: topic,
        _permit: permit,
        changes,
        cursor: Cursor::default(),
    };
    let lines = stream::unfold(connection, |mut connection| async {
        let lines = connection.lines().await?;
        Some((Ok::<_, Infallible>(lines), connection))
    });
    Body::from_stream(lines).into_response()
}

/// A client that follows a conversation.
struct Connection {
    _topic: Topic,
    _permit: OwnedSemaphorePermit,
    changes: watch::Receiver<Live>,
    cursor: Cursor,
}

impl Connection {
    /// Returns the next lines. If there are none for a while, returns an empty one.
    async fn lines(&mut self) -> Option<Bytes> {
        loop {
            let notes = self.cursor.notes(&self.changes.borrow_and_update());
            let mut lines = String::new();
            for note in notes {
                lines += &serde_json::to_string(&note).ok()?;
                lines.push('\n');
            }
            if !lines.is_empty() {
                return Some(lines.into());
            }
            match tokio::time::timeout(HEARTBEAT, self.changes.changed()).await {
                Ok(changed) => changed.ok()?,
                Err(_) => return Some(Bytes::from_static(b"\n")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub() -> Arc<Hub> {
        Hub::new("conversations", "0123456789abcdef").unwrap()
    }

    #[test]
    fn a_short_token_is_refused() {
        let refused = Hub::new("conversations", "0123456789abcde").err().unwrap();
        assert!(refused.contains("15 bytes"), "{refused}");
        assert!(!refused.contains("0123"), "{refused}");
    }

    #[test]
    fn a_late_client_gets_the_text_so_far_and_then_the_rest() {
        let hub = hub();
        let asking = hub.ask("a", 3).unwrap();
        let write = asking.writer();
        write("one ");
        let topic = hub.topic("a");
        let changes = topic.live.as_ref().unwrap().subscribe();
        let mut cursor = Cursor::default();
        let notes = cursor.notes(&changes.borrow());
        assert!(matches!(notes[0], Note::Asks(Attempt { parts: 3, .. })));
        assert_eq!(notes[1..], [Note::Text("one ".into())]);
        write("two");
        assert_eq!(cursor.notes(&changes.borrow()), [Note::Text("two".into())]);
        asking.complete();
        assert_eq!(cursor.notes(&changes.borrow()), [Note::Ended(true)]);
        hub.saved("a", 4);
        assert_eq!(cursor.notes(&changes.borrow()), [Note::Saved(4)]);
        assert_eq!(cursor.notes(&changes.borrow()), []);
    }

    #[test]
    fn an_attempt_that_is_dropped_is_not_complete_and_writes_no_more() {
        let hub = hub();
        let topic = hub.topic("a");
        let changes = topic.live.as_ref().unwrap().subscribe();
        let mut cursor = Cursor::default();
        let first = hub.ask("a", 1).unwrap();
        let write = first.writer();
        assert_eq!(cursor.notes(&changes.borrow()).len(), 1);
        // When the first attempt is dropped, the engine has already asked again.
        let second = hub.ask("a", 1).unwrap();
        write("late");
        drop(first);
        second.writer()("new");
        let notes = cursor.notes(&changes.borrow());
        assert!(matches!(notes[0], Note::Asks(attempt) if attempt.number == second.number));
        assert_eq!(notes[1..], [Note::Text("new".into())]);
        drop(second);
        assert_eq!(cursor.notes(&changes.borrow()), [Note::Ended(false)]);
    }

    #[test]
    fn a_text_is_kept_up_to_a_limit_without_holes() {
        let mut text = Text::default();
        assert!(text.push(&"x".repeat(MAX_TEXT - 1)));
        assert!(!text.push("yy"));
        assert!(!text.push("z"));
        assert_eq!(text.written.len(), MAX_TEXT - 1);
    }

    #[test]
    fn nothing_is_kept_of_a_conversation_that_nobody_follows() {
        let hub = hub();
        hub.saved("a", 1);
        let asking = hub.ask("a", 1).unwrap();
        let write = asking.writer();
        let (one, two) = (hub.topic("a"), hub.topic("a"));
        drop(asking);
        write("late");
        drop(one);
        assert_eq!(hub.with(|live| live.len()), 1);
        drop(two);
        assert_eq!(hub.with(|live| live.len()), 0);
    }

    #[tokio::test]
    async fn a_client_too_many_is_refused_until_another_leaves() {
        let hub = hub();
        let ask = |token: &'static str, service: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, token.parse().unwrap());
            let path = Path((service.to_owned(), "a".to_owned()));
            follow(State(Arc::clone(&hub)), path, headers)
        };
        let token = "Bearer 0123456789abcdef";
        let mut clients = Vec::new();
        for _ in 0..MAX_CLIENTS {
            clients.push(ask(token, "conversations").await);
        }
        assert!(clients.iter().all(|client| client.status() == 200));
        assert_eq!(ask(token, "conversations").await.status(), 503);
        assert_eq!(ask("Bearer wrong", "conversations").await.status(), 401);
        assert_eq!(ask("0123456789abcdef", "conversations").await.status(), 401);
        assert_eq!(ask(token, "other").await.status(), 404);
        clients.pop();
        assert_eq!(ask(token, "conversations").await.status(), 200);
        drop(clients);
        assert_eq!(hub.with(|live| live.len()), 0);
    }
}
