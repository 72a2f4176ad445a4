//! [`Tap`]: a transport that hands progress to the calls, and bounds what a server can send.

use std::collections::{HashMap, HashSet};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetExtensions, GetMeta, JsonRpcMessage, ProgressToken, RequestId,
    ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::{Notify, mpsc};
use tool_core::CallContext;
use tool_core::call::Progress;

use super::secrets::shorten;
use crate::lock;

/// Requests of a server that are not answered yet. Further ones are dropped.
const MAX_PEER_REQUESTS: usize = 64;

/// Progress reports that wait for their call. Further ones are dropped.
const MAX_EVENTS: usize = 256;

/// The longest message of a progress report. A longer one is truncated.
const MAX_PROGRESS: usize = 4096;

/// The requests of a connection that wait for their results.
#[derive(Default)]
pub(super) struct InFlight {
    requests: Mutex<Requests>,
    /// Notified when the server says that its tools have changed.
    pub(super) list_changed: Notify,
}

#[derive(Default)]
struct Requests {
    by_id: HashMap<RequestId, Arc<Request>>,
    by_token: HashMap<ProgressToken, Arc<Request>>,
    /// Requests of the server that have no answer yet.
    from_peer: HashSet<RequestId>,
}

/// A request that waits for its result. It travels with the message, as an extension.
pub(super) struct Request {
    /// The call that makes the request, if there is one.
    pub(super) call: Option<CallContext>,
    /// Gets the progress in place of the call.
    #[cfg(feature = "submodel")]
    pub(super) on_progress: Option<ProgressListener>,
    events: mpsc::Sender<Event>,
    /// The questions to the user that keep the request waiting.
    pub(super) questions: AtomicUsize,
}

#[cfg(feature = "submodel")]
pub(super) type ProgressListener = Box<dyn Fn(Progress) + Send + Sync>;

/// What happens before a result arrives.
pub(super) enum Event {
    Progress(Progress),
    /// The result exceeded the maximum size of a message, and was dropped.
    TooLarge,
}

impl Request {
    pub(super) fn new(call: Option<CallContext>) -> (Arc<Request>, mpsc::Receiver<Event>) {
        let (request, events) = Request::unshared(call);
        (Arc::new(request), events)
    }

    /// Creates a request that is not a call, whose progress goes to a closure.
    #[cfg(feature = "submodel")]
    pub(super) fn with_progress(
        listener: ProgressListener,
    ) -> (Arc<Request>, mpsc::Receiver<Event>) {
        let (mut request, events) = Request::unshared(None);
        request.on_progress = Some(listener);
        (Arc::new(request), events)
    }

    fn unshared(call: Option<CallContext>) -> (Request, mpsc::Receiver<Event>) {
        let (events, receiver) = mpsc::channel(MAX_EVENTS);
        let request = Request {
            call,
            #[cfg(feature = "submodel")]
            on_progress: None,
            events,
            questions: AtomicUsize::new(0),
        };
        (request, receiver)
    }

    /// Passes progress on.
    pub(super) fn report(&self, progress: Progress) {
        #[cfg(feature = "submodel")]
        if let Some(listener) = &self.on_progress {
            return listener(progress);
        }
        if let Some(call) = &self.call {
            call.report(&progress);
        }
    }

    pub(super) fn is_asking(&self) -> bool {
        self.questions.load(Ordering::Relaxed) > 0
    }
}

impl InFlight {
    fn add(&self, id: RequestId, token: Option<ProgressToken>, request: &Arc<Request>) {
        let mut requests = lock(&self.requests);
        if let Some(token) = token {
            requests.by_token.insert(token, request.clone());
        }
        requests.by_id.insert(id, request.clone());
    }

    pub(super) fn remove(&self, id: &RequestId, token: &ProgressToken) {
        let mut requests = lock(&self.requests);
        requests.by_id.remove(id);
        requests.by_token.remove(token);
    }

    /// Returns the call with this id.
    pub(super) fn get(&self, id: &RequestId) -> Option<Arc<Request>> {
        lock(&self.requests).by_id.get(id).cloned()
    }

    /// Returns the calls that are running.
    pub(super) fn calls(&self) -> Vec<Arc<Request>> {
        let requests = lock(&self.requests);
        let calls = requests
            .by_id
            .values()
            .filter(|request| request.call.is_some());
        calls.cloned().collect()
    }

    /// Notes a message before it is sent.
    fn note_sent(&self, message: &TxJsonRpcMessage<RoleClient>) {
        match message {
            JsonRpcMessage::Request(sent) => {
                if let Some(request) = extension(&sent.request) {
                    let token = sent.request.get_meta().get_progress_token();
                    self.add(sent.id.clone(), token, request);
                }
            }
            JsonRpcMessage::Response(sent) => {
                lock(&self.requests).from_peer.remove(&sent.id);
            }
            JsonRpcMessage::Error(sent) => {
                if let Some(id) = &sent.id {
                    lock(&self.requests).from_peer.remove(id);
                }
            }
            JsonRpcMessage::Notification(_) => {}
        }
    }

    /// Returns `true` if `rmcp` has to see the message. It starts a task for every notification, and
    /// logs its content.
    fn passes(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Request(received) => {
                let mut requests = lock(&self.requests);
                requests.from_peer.len() < MAX_PEER_REQUESTS
                    && requests.from_peer.insert(received.id.clone())
            }
            JsonRpcMessage::Notification(received) => match &received.notification {
                ServerNotification::ProgressNotification(progress) => {
                    let progress = &progress.params;
                    let request = lock(&self.requests)
                        .by_token
                        .get(&progress.progress_token)
                        .cloned();
                    if let Some(request) = request {
                        let mut report = Progress::new(progress.progress);
                        report.total = progress.total;
                        let message = progress.message.as_deref();
                        report.message =
                            message.map(|text| shorten(text, MAX_PROGRESS).into_owned());
                        let _ = request.events.try_send(Event::Progress(report));
                    }
                    false
                }
                ServerNotification::ToolListChangedNotification(_) => {
                    self.list_changed.notify_one();
                    false
                }
                ServerNotification::CancelledNotification(cancelled) => {
                    if let Some(id) = &cancelled.params.request_id {
                        lock(&self.requests).from_peer.remove(id);
                    }
                    true
                }
                ServerNotification::SubscriptionsAcknowledgedNotification(_) => true,
                _ => false,
            },
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
        }
    }
}

/// Returns what a request carries along.
fn extension(request: &ClientRequest) -> Option<&Arc<Request>> {
    match request {
        ClientRequest::CallToolRequest(_) | ClientRequest::ListToolsRequest(_) => {
            request.extensions().get()
        }
        _ => None,
    }
}

/// A transport that notes what is sent and received, in order.
pub(super) struct Tap<T> {
    inner: T,
    in_flight: Arc<InFlight>,
}

impl<T> Tap<T> {
    pub(super) fn new(inner: T, in_flight: Arc<InFlight>) -> Tap<T> {
        Tap { inner, in_flight }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Tap<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.in_flight.note_sent(&message);
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            if self.in_flight.passes(&message) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

/// How much of the start and of the end of a long line is kept, to find out whose result it is.
const KEPT: usize = 256;

/// A reader that finds lines longer than the maximum, which `rmcp` drops, and ends their calls.
pub(super) struct LineWatch<R> {
    inner: R,
    in_flight: Arc<InFlight>,
    max: usize,
    length: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl<R> LineWatch<R> {
    pub(super) fn new(inner: R, in_flight: Arc<InFlight>, max: usize) -> LineWatch<R> {
        LineWatch {
            inner,
            in_flight,
            max,
            length: 0,
            head: Vec::new(),
            tail: Vec::new(),
        }
    }

    fn watch(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let missing = KEPT.saturating_sub(self.head.len()).min(piece.len());
            self.head.extend_from_slice(&piece[..missing]);
            let last = &piece[piece.len().saturating_sub(KEPT)..];
            self.tail.extend_from_slice(last);
            let surplus = self.tail.len().saturating_sub(KEPT);
            self.tail.drain(..surplus);
            self.length += piece.len();
            if piece.ends_with(b"\n") {
                if self.length > self.max {
                    self.end_call();
                }
                self.length = 0;
                self.head.clear();
                self.tail.clear();
            }
        }
    }

    fn end_call(&self) {
        let id = id_in(&self.head, &self.tail);
        if let Some(request) = id.and_then(|id| self.in_flight.get(&RequestId::Number(id))) {
            let _ = request.events.try_send(Event::TooLarge);
        }
    }
}

/// Finds the id of a JSON-RPC response in its start or its end.
fn id_in(head: &[u8], tail: &[u8]) -> Option<i64> {
    let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
    let number = |text: &str| {
        let text = text.trim_start().strip_prefix(':')?.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit())?;
        text[..end].parse().ok()
    };
    let before = head.find("\"result\"").unwrap_or(head.len());
    let first = head[..before].split_once("\"id\"");
    let last = || tail.rsplit_once("\"id\"");
    number(first.or_else(last)?.1)
}

impl<R: AsyncRead + Unpin> AsyncRead for LineWatch<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(context, buffer))?;
        this.watch(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_response_is_at_its_start_or_its_end() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"#,
                r#""id":9}}"#,
                Some(7),
            ),
            (r#"{"jsonrpc":"2.0", "id" : 7, "result":{"#, "}}\n", Some(7)),
            (
                r#"{"result":{"id":8,"#,
                "\"id\":9}],\"jsonrpc\":\"2.0\",\"id\":7}\n",
                Some(7),
            ),
            (r#"{"result":{"#, "xxx", None),
            (r#"{"jsonrpc":"2.0","id":"seven","result":{"#, "", None),
        ];
        for (head, tail, id) in cases {
            assert_eq!(id_in(head.as_bytes(), tail.as_bytes()), id, "{head}");
        }
    }

    #[test]
    fn a_long_line_ends_its_call_and_no_other() {
        let in_flight = Arc::new(InFlight::default());
        let mut watch = LineWatch::new((), in_flight.clone(), 1000);
        let requests: Vec<_> = (0..2).map(|_| Request::new(None)).collect();
        for (id, (request, _)) in (0..).zip(&requests) {
            in_flight.add(RequestId::Number(id), None, request);
        }
        watch.watch(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n");
        watch.watch(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"");
        for _ in 0..100 {
            watch.watch(&[b'x'; 99]);
        }
        watch.watch(b"\"}\n");
        let [(_, mut first), (_, mut second)] = requests.try_into().ok().unwrap();
        assert!(first.try_recv().is_err());
        assert!(matches!(second.try_recv(), Ok(Event::TooLarge)));
        assert!(watch.head.capacity() + watch.tail.capacity() < 4096);
    }
}
