//! Streams of responses in sessions: a client that has lost its connection gets the rest of a stream, once.
//!
//! The session manager of `rmcp` repeats the event that the client names, and drops a response that it sends while the client
//! is away.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures_util::{FutureExt, Stream, StreamExt};
use rmcp::model::{ContentBlock, JsonRpcMessage, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId};

use crate::lock;

/// The most streams of a session that go on without a connection. An older one is given up.
const MAX_ABANDONED: usize = 16;

/// The most events of a stream that are kept. The last one is the response.
const MAX_EVENTS: usize = 256;

/// How long a stream is kept after its end, because a connection that takes a response may be dead.
const KEPT: Duration = Duration::from_secs(60);

/// The most streams of a session that are kept after their end. A connection takes one response at a time.
const MAX_ENDED_OF_SESSION: usize = 8;

/// The most bytes of all streams that have ended. Older ones are given up.
const MAX_ENDED_BYTES: usize = 16 << 20;

/// The most streams that have ended.
const MAX_ENDED: usize = 1000;

/// About the memory of a tool in a list, without its schemas.
const TOOL_BYTES: usize = 1024;

type Source = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// The streams that can be resumed. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Streams(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    /// With their numbers in the session.
    by_session: HashMap<SessionId, BTreeMap<u64, Log>>,
    /// In the order of their ends.
    ended: VecDeque<Ended>,
    ended_bytes: usize,
}

/// A stream that has ended, and may be given up by now.
struct Ended {
    session: SessionId,
    number: u64,
    at: Instant,
}

impl All {
    /// Returns `true` if a stream is not given up yet.
    fn has(&self, ended: &Ended) -> bool {
        let logs = self.by_session.get(&ended.session);
        logs.is_some_and(|logs| logs.contains_key(&ended.number))
    }

    fn remove(&mut self, session: &SessionId, number: u64) {
        if let Some(logs) = self.by_session.get_mut(session) {
            let removed = logs.remove(&number);
            self.ended_bytes -= removed.map_or(0, |log| log.ended_bytes());
            if logs.is_empty() {
                self.by_session.remove(session);
            }
        }
    }
}

/// A stream: its number in the session, and its events.
#[derive(Clone)]
struct Log {
    number: u64,
    /// When it has ended, and the bytes of its events.
    ended: Option<(Instant, usize)>,
    state: Arc<Mutex<State>>,
}

impl Log {
    fn ended_bytes(&self) -> usize {
        self.ended.map_or(0, |(_, bytes)| bytes)
    }
}

struct State {
    /// The last events.
    events: VecDeque<ServerSseMessage>,
    /// The index of the first of them.
    first: usize,
    /// Where the next ones come from. `None` after the end.
    source: Option<Source>,
    /// The number of the reader that gets them: the last one.
    reader: u64,
    is_abandoned: bool,
    /// Set once it is in the list of ended streams.
    has_ended: bool,
    waker: Option<Waker>,
}

impl State {
    /// Returns about the bytes of the events.
    fn bytes(&self) -> usize {
        let messages = self
            .events
            .iter()
            .filter_map(|event| event.message.as_deref());
        messages.map(bytes_of).sum()
    }

    /// Returns the event with an index, once it is there; `None` after the end.
    fn poll_event(&mut self, index: usize, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        loop {
            let at = index.max(self.first) - self.first;
            if let Some(event) = self.events.get(at) {
                return Poll::Ready(Some(event.clone()));
            }
            let Some(source) = &mut self.source else {
                return Poll::Ready(None);
            };
            match source.as_mut().poll_next(cx) {
                Poll::Ready(Some(event)) => {
                    if self.events.len() >= MAX_EVENTS {
                        self.events.pop_front();
                        self.first += 1;
                    }
                    self.events.push_back(event);
                }
                Poll::Ready(None) => self.source = None,
                Poll::Pending => {
                    self.waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
            }
        }
    }

    fn next_index(&self) -> usize {
        self.first + self.events.len()
    }
}

/// Counts what is written.
struct Count(usize);
impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns about the size of a message in bytes. An estimate, because writing a response once more to
/// measure it would double its cost.
fn bytes_of(message: &ServerJsonRpcMessage) -> usize {
    if let JsonRpcMessage::Response(response) = message {
        match &response.result {
            // Shares its schemas with all other lists.
            ServerResult::ListToolsResult(list) => return list.tools.len() * TOOL_BYTES,
            ServerResult::CallToolResult(result) if result.structured_content.is_none() => {
                let texts = result.content.iter().map(|block| match block {
                    ContentBlock::Text(text) => Some(text.text.len()),
                    _ => None,
                });
                if let Some(bytes) = texts.sum() {
                    return bytes;
                }
            }
            _ => {}
        }
    }
    let mut count = Count(0);
    // A message that can't be written is not sent either.
    let _ = serde_json::to_writer(&mut count, message);
    count.0
}

impl Streams {
    /// Passes a new stream of a session on, such that it can be resumed.
    pub(super) fn start<S: Stream<Item = ServerSseMessage> + Send + Sync + 'static>(
        &self,
        session: &SessionId,
        source: S,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static + use<S> {
        let mut source: Source = Box::pin(source);
        // The session has sent it before it returned the stream.
        let first = source.next().now_or_never().flatten();
        let position = first
            .as_ref()
            .and_then(|event| Position::of(event.event_id.as_deref()?));
        let log = Log {
            number: position.as_ref().map_or(0, |position| position.stream),
            ended: None,
            state: Arc::new(Mutex::new(State {
                events: first.into_iter().collect(),
                first: position.as_ref().map_or(0, |position| position.index),
                source: Some(source),
                reader: 0,
                is_abandoned: false,
                has_ended: false,
                waker: None,
            })),
        };
        if position.is_some() {
            let all = &mut lock(&self.0).by_session;
            let logs = all.entry(session.clone()).or_default();
            logs.insert(log.number, log.clone());
        }
        let next = position.map_or(0, |position| position.index);
        self.read(session.clone(), log, 0, next)
    }

    /// Passes on the rest of a stream, after the event with an id. Returns `None` if there is no such stream any more.
    pub(super) fn resume(
        &self,
        session: &SessionId,
        last: &Position,
    ) -> Option<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static + use<>> {
        let log = {
            let all = lock(&self.0);
            all.by_session.get(session)?.get(&last.stream)?.clone()
        };
        let reader = {
            let mut state = lock(&log.state);
            if last.index >= state.next_index() {
                return None;
            }
            state.reader += 1;
            state.is_abandoned = false;
            // Ends the reader before.
            if let Some(waker) = state.waker.take() {
                waker.wake();
            }
            state.reader
        };
        Some(self.read(session.clone(), log, reader, last.index + 1))
    }

    /// Forgets the streams of a session that has ended.
    pub(super) fn end(&self, session: &SessionId) {
        let ended = {
            let mut all = lock(&self.0);
            let ended = all.by_session.remove(session);
            let logs = ended.iter().flat_map(BTreeMap::values);
            all.ended_bytes -= logs.map(Log::ended_bytes).sum::<usize>();
            ended
        };
        // Without the lock.
        drop(ended);
    }

    fn read(
        &self,
        session: SessionId,
        log: Log,
        reader: u64,
        next: usize,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static + use<> {
        let mut reading = Reading {
            streams: self.clone(),
            session,
            log,
            reader,
            next,
            has_ended: false,
        };
        futures_util::stream::poll_fn(move |cx| reading.poll(cx))
    }

    /// Keeps a stream that has ended, for a while.
    fn keep(&self, session: SessionId, log: &Log) {
        let bytes = {
            let mut state = lock(&log.state);
            if std::mem::replace(&mut state.has_ended, true) {
                return;
            }
            state.bytes()
        };
        let at = Instant::now();
        let mut all = lock(&self.0);
        let all = &mut *all;
        let Some(logs) = all.by_session.get_mut(&session) else {
            return;
        };
        let Some(kept) = logs.get_mut(&log.number) else {
            return;
        };
        kept.ended = Some((at, bytes));
        all.ended_bytes += bytes;
        let ended = logs.values().filter(|log| log.ended.is_some());
        if ended.clone().count() > MAX_ENDED_OF_SESSION
            && let Some(first) = ended.min_by_key(|log| log.ended)
        {
            let number = first.number;
            all.ended_bytes -= first.ended_bytes();
            logs.remove(&number);
        }
        all.ended.push_back(Ended {
            session,
            number: log.number,
            at,
        });
        while let Some(first) = all.ended.front()
            && (all.ended_bytes > MAX_ENDED_BYTES
                || all.ended.len() > MAX_ENDED
                || first.at.elapsed() > KEPT
                || !all.has(first))
            && let Some(first) = all.ended.pop_front()
        {
            all.remove(&first.session, first.number);
        }
    }

    /// Lets a stream go on without a reader, so that its response is kept.
    fn abandon(&self, session: SessionId, log: Log, reader: u64) {
        let oldest = {
            let all = lock(&self.0);
            let Some(logs) = all.by_session.get(&session) else {
                return;
            };
            lock(&log.state).is_abandoned = true;
            let mut abandoned = logs.values().filter(|log| lock(&log.state).is_abandoned);
            let oldest = abandoned.next().map(|log| log.number);
            oldest.filter(|_| abandoned.count() >= MAX_ABANDONED)
        };
        if let Some(oldest) = oldest {
            lock(&self.0).remove(&session, oldest);
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let streams = self.clone();
        // Without the log itself, which the session or the limit ends.
        let (number, state) = (log.number, Arc::downgrade(&log.state));
        drop(log);
        runtime.spawn(async move {
            let is_over = poll_fn(|cx| {
                let Some(state) = state.upgrade() else {
                    return Poll::Ready(false);
                };
                let mut state = lock(&state);
                loop {
                    if state.reader != reader {
                        return Poll::Ready(false);
                    }
                    let next = state.next_index();
                    match state.poll_event(next, cx) {
                        Poll::Ready(Some(_)) => {}
                        Poll::Ready(None) => return Poll::Ready(true),
                        Poll::Pending => return Poll::Pending,
                    }
                }
            });
            if is_over.await
                && let Some(state) = state.upgrade()
            {
                let log = Log {
                    number,
                    ended: None,
                    state,
                };
                streams.keep(session, &log);
            }
        });
    }
}

/// A connection that a stream is sent to.
struct Reading {
    streams: Streams,
    session: SessionId,
    log: Log,
    reader: u64,
    next: usize,
    has_ended: bool,
}

impl Reading {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let mut state = lock(&self.log.state);
        if state.reader != self.reader {
            return Poll::Ready(None);
        }
        let polled = state.poll_event(self.next, cx);
        match &polled {
            Poll::Ready(Some(_)) => self.next = self.next.max(state.first) + 1,
            Poll::Ready(None) => self.has_ended = true,
            Poll::Pending => {}
        }
        polled
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        if lock(&self.log.state).reader != self.reader {
            return;
        }
        if self.has_ended {
            self.streams.keep(self.session.clone(), &self.log);
        } else {
            self.streams
                .abandon(self.session.clone(), self.log.clone(), self.reader);
        }
    }
}

/// The place of an event: its index, and the number of its stream in the session.
pub(super) struct Position {
    pub(super) index: usize,
    stream: u64,
}

impl Position {
    /// Reads the id of an event of a response, as `rmcp` writes it.
    pub(super) fn of(id: &str) -> Option<Position> {
        let (index, stream) = id.split_once('/')?;
        Some(Position {
            index: index.parse().ok()?,
            stream: stream.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use rmcp::transport::streamable_http_server::session::ServerSseMessage;
    use tokio::sync::mpsc;

    fn event(index: usize) -> ServerSseMessage {
        ServerSseMessage::priming(format!("{index}/7"), Duration::ZERO)
    }

    fn source(
        mut receiver: mpsc::UnboundedReceiver<ServerSseMessage>,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        stream::poll_fn(move |cx| receiver.poll_recv(cx))
    }

    async fn ids(stream: impl Stream<Item = ServerSseMessage>) -> Vec<String> {
        stream.map(|event| event.event_id.unwrap()).collect().await
    }

    #[tokio::test]
    async fn what_comes_while_the_client_is_away_is_kept_and_nothing_is_repeated() {
        let streams = Streams::default();
        let session: SessionId = "s".into();
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(event(0)).unwrap();
        let mut first = Box::pin(streams.start(&session, source(receiver)));
        assert_eq!(first.next().await.unwrap().event_id.unwrap(), "0/7");
        sender.send(event(1)).unwrap();
        assert_eq!(first.next().await.unwrap().event_id.unwrap(), "1/7");
        drop(first);
        sender.send(event(2)).unwrap();
        drop(sender);
        let last = |id| Position::of(id).unwrap();
        // The client has not seen the event that was handed to its connection.
        let rest = streams.resume(&session, &last("0/7")).unwrap();
        assert_eq!(ids(rest).await, ["1/7", "2/7"]);
        // That connection may be dead, too.
        let again = streams.resume(&session, &last("1/7")).unwrap();
        assert_eq!(ids(again).await, ["2/7"]);
        assert_eq!(lock(&streams.0).ended.len(), 1);
        streams.end(&session);
        assert!(streams.resume(&session, &last("0/7")).is_none());
    }

    #[tokio::test]
    async fn a_stream_has_one_reader() {
        let streams = Streams::default();
        let session: SessionId = "s".into();
        let (sender, receiver) = mpsc::unbounded_channel();
        sender.send(event(0)).unwrap();
        let first = streams.start(&session, source(receiver));
        let waiting = tokio::spawn(ids(first));
        tokio::task::yield_now().await;
        let position = Position::of("0/7").unwrap();
        let second = streams.resume(&session, &position).unwrap();
        assert_eq!(waiting.await.unwrap(), ["0/7"]);
        sender.send(event(1)).unwrap();
        drop(sender);
        assert_eq!(ids(second).await, ["1/7"]);
        for unknown in ["2/7", "9/7", "0/8"] {
            let position = Position::of(unknown).unwrap();
            assert!(streams.resume(&session, &position).is_none(), "{unknown}");
        }
    }

    #[tokio::test]
    async fn abandoned_streams_and_their_events_are_bounded() {
        let streams = Streams::default();
        let session: SessionId = "s".into();
        let mut senders = Vec::new();
        for number in 0..2 * MAX_ABANDONED {
            let (sender, receiver) = mpsc::unbounded_channel();
            let id = format!("0/{number}");
            sender
                .send(ServerSseMessage::priming(id, Duration::ZERO))
                .unwrap();
            drop(streams.start(&session, source(receiver)));
            senders.push(sender);
        }
        assert!(lock(&streams.0).by_session[&session].len() <= MAX_ABANDONED);
        let last = senders.pop().unwrap();
        let number = 2 * MAX_ABANDONED - 1;
        for index in 1..=3 * MAX_EVENTS {
            let id = format!("{index}/{number}");
            last.send(ServerSseMessage::priming(id, Duration::ZERO))
                .unwrap();
        }
        drop(last);
        let position = Position::of(&format!("0/{number}")).unwrap();
        // All of them come before the client is back.
        while lock(&streams.0).ended.is_empty() {
            tokio::task::yield_now().await;
        }
        let rest = ids(streams.resume(&session, &position).unwrap()).await;
        assert_eq!(rest.len(), MAX_EVENTS);
        // With the response, which is the last.
        assert_eq!(
            rest.last().unwrap(),
            &format!("{}/{number}", 3 * MAX_EVENTS)
        );
        streams.end(&session);
        assert!(lock(&streams.0).by_session.is_empty());
    }

    #[tokio::test]
    async fn ended_streams_are_bounded() {
        let streams = Streams::default();
        let session: SessionId = "s".into();
        let text = "x".repeat(MAX_ENDED_BYTES / 4);
        for number in 0..6 {
            let error = rmcp::ErrorData::internal_error(text.clone(), None);
            let message = rmcp::model::ServerJsonRpcMessage::error(error, None);
            let first = ServerSseMessage::priming(format!("0/{number}"), Duration::ZERO);
            let last = ServerSseMessage::new(format!("1/{number}"), message);
            let stream = streams.start(&session, stream::iter([first, last]));
            assert_eq!(ids(stream).await.len(), 2);
        }
        let kept = |number: usize| {
            let position = Position::of(&format!("0/{number}")).unwrap();
            streams.resume(&session, &position).is_some()
        };
        assert!(!kept(0) && !kept(1) && kept(5));
        assert!(lock(&streams.0).ended_bytes <= MAX_ENDED_BYTES);
        streams.end(&session);
        assert_eq!(lock(&streams.0).ended_bytes, 0);
        for number in 0..2 * MAX_ENDED {
            let session: SessionId = format!("{number}").into();
            let first = ServerSseMessage::priming("0/7", Duration::ZERO);
            ids(streams.start(&session, stream::iter([first]))).await;
        }
        assert!(lock(&streams.0).ended.len() <= MAX_ENDED);
        assert!(lock(&streams.0).by_session.len() <= MAX_ENDED);
    }

    #[tokio::test]
    async fn a_session_keeps_the_streams_that_ended_last() {
        let streams = Streams::default();
        let session: SessionId = "s".into();
        let (sender, receiver) = mpsc::unbounded_channel();
        let first =
            |number: usize| ServerSseMessage::priming(format!("0/{number}"), Duration::ZERO);
        sender.send(first(0)).unwrap();
        // It starts before the others, and ends after them.
        let long = streams.start(&session, source(receiver));
        for number in 1..=2 * MAX_ENDED_OF_SESSION {
            ids(streams.start(&session, stream::iter([first(number)]))).await;
        }
        drop(sender);
        ids(long).await;
        let all = lock(&streams.0);
        let kept: Vec<_> = all.by_session[&session].keys().copied().collect();
        assert_eq!(kept, [0, 10, 11, 12, 13, 14, 15, 16]);
        assert_eq!(all.ended.len(), MAX_ENDED_OF_SESSION);
    }
}
