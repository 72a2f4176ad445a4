//! [`Tap`]: a transport that hands progress to the calls, and bounds what a server can send. [`ServerLines`]: messages
//! as lines.

// The protocol deprecates logging, but servers still do it.
#![expect(deprecated)]

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetExtensions, GetMeta, JsonRpcMessage, LoggingMessageNotificationParam,
    ProgressToken, RequestId, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tool_core::CallContext;
use tool_core::call::Progress;
use tool_core::dialect::write::repair_json;

use super::secrets::{Secrets, shorten};
use crate::lines::{Line, Lines, Outline};
use crate::lock;

/// Requests of a server that are not answered yet. Further ones are dropped.
const MAX_PEER_REQUESTS: usize = 64;

/// Progress reports that wait for their call. Further ones are dropped.
const MAX_EVENTS: usize = 256;

/// The predicate for a message beyond the maximum size.
pub(super) const TOO_LARGE: &str = "is too large";

/// The longest message of a progress report. A longer one is truncated.
const MAX_PROGRESS: usize = 4096;

/// Resources that have changed since the application was told. Further ones are dropped.
const MAX_UPDATED: usize = 1000;

/// The tools of a server have changed.
pub(super) const TOOLS: u8 = 1;

/// The resources, their templates or the prompts of a server have changed.
pub(super) const OFFERS: u8 = 2;

/// The most bytes of a message that can't be read which are kept for an error.
const MAX_UNREADABLE: usize = 1024;

/// The requests of a connection that wait for their results.
#[derive(Default)]
pub(super) struct InFlight {
    requests: Mutex<Requests>,
    /// Notified when the server says that something has changed, which `stale` or `updated` has then.
    pub(super) list_changed: Notify,
    /// The lists that have changed.
    stale: AtomicU8,
    /// The resources that have changed.
    updated: Mutex<BTreeSet<String>>,
    /// The start of the first message that could not be read.
    unreadable: Mutex<Option<String>>,
    /// The requests that wait until the user has signed in.
    signing_in: AtomicUsize,
}

/// Stops the clocks of a connection while a user signs in.
#[cfg(feature = "client-http")]
pub(super) struct SigningIn(Arc<InFlight>);

#[cfg(feature = "client-http")]
impl Drop for SigningIn {
    fn drop(&mut self) {
        self.0.signing_in.fetch_sub(1, Ordering::Relaxed);
    }
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
    /// Set if the result contained an invalid Unicode escape.
    pub(super) is_repaired: AtomicBool,
    problem: Mutex<Option<String>>,
    /// How many questions the server asked so far.
    asked: AtomicUsize,
    sent: Mutex<Sent>,
}

/// The message of a request.
#[derive(Default)]
struct Sent {
    /// Its id and its token for progress, once it is sent.
    id: Option<(RequestId, Option<ProgressToken>)>,
    /// Set once nobody waits for the result, which may be before the message is sent.
    is_over: bool,
}

#[cfg(feature = "submodel")]
pub(super) type ProgressListener = Box<dyn Fn(Progress) + Send + Sync>;

/// An event before a result arrives.
pub(super) enum Event {
    Progress(Progress),
    /// [`Request::problem`] is known.
    Unreadable,
}

/// A message of a server.
pub(super) struct Received {
    pub(super) message: RxJsonRpcMessage<RoleClient>,
    /// The message as JSON, if it was repaired.
    #[cfg_attr(not(feature = "client-http"), expect(dead_code))]
    pub(super) repaired: Option<String>,
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
            is_repaired: AtomicBool::new(false),
            problem: Mutex::default(),
            asked: AtomicUsize::new(0),
            sent: Mutex::default(),
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

    /// Ends the request, whose result can't be read.
    pub(super) fn fail(&self, problem: &str) {
        *lock(&self.problem) = Some(problem.to_owned());
        // If there is no room, other events wake the request.
        let _ = self.events.try_send(Event::Unreadable);
    }

    /// Returns why the result can't be read, as a predicate.
    pub(super) fn problem(&self) -> Option<String> {
        lock(&self.problem).clone()
    }

    /// Returns the number of a question.
    pub(super) fn next_question(&self) -> usize {
        self.asked.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn is_asking(&self) -> bool {
        self.questions.load(Ordering::Relaxed) > 0
    }
}

impl InFlight {
    fn add(&self, id: RequestId, token: Option<ProgressToken>, request: &Arc<Request>) {
        let mut requests = lock(&self.requests);
        let mut sent = lock(&request.sent);
        if sent.is_over {
            return;
        }
        if let Some(token) = &token {
            requests.by_token.insert(token.clone(), request.clone());
        }
        requests.by_id.insert(id.clone(), request.clone());
        sent.id = Some((id, token));
    }

    #[cfg(feature = "client-http")]
    pub(super) fn sign_in(self: &Arc<Self>) -> SigningIn {
        self.signing_in.fetch_add(1, Ordering::Relaxed);
        SigningIn(self.clone())
    }

    pub(super) fn is_signing_in(&self) -> bool {
        self.signing_in.load(Ordering::Relaxed) > 0
    }

    /// Awaits a future, `None` if it takes too long. A person who signs in needs more time than a server.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        let mut future = std::pin::pin!(future);
        loop {
            match timeout(limit, &mut future).await {
                Ok(done) => return Some(done),
                Err(_) if self.is_signing_in() => {}
                Err(_) => return None,
            }
        }
    }

    /// Forgets a request. Returns its id, if its message is sent.
    pub(super) fn remove(&self, request: &Request) -> Option<RequestId> {
        let mut requests = lock(&self.requests);
        let mut sent = lock(&request.sent);
        sent.is_over = true;
        let (id, token) = sent.id.take()?;
        requests.by_id.remove(&id);
        if let Some(token) = token {
            requests.by_token.remove(&token);
        }
        Some(id)
    }

    /// Returns the call with this id.
    pub(super) fn get(&self, id: &RequestId) -> Option<Arc<Request>> {
        lock(&self.requests).by_id.get(id).cloned()
    }

    /// Reads a message, and replaces invalid Unicode escapes. The error completes a sentence that starts with `the message`.
    pub(super) fn read(&self, json: &[u8]) -> Result<Received, String> {
        let error = match serde_json::from_slice(json) {
            Ok(message) => {
                return Ok(Received {
                    message,
                    repaired: None,
                });
            }
            Err(error) => error,
        };
        if let Some(json) = repair_json(json)
            && let Ok(message) = serde_json::from_str(&json)
        {
            if let JsonRpcMessage::Response(response) = &message
                && let Some(request) = self.get(&response.id)
            {
                request.is_repaired.store(true, Ordering::Relaxed);
            }
            return Ok(Received {
                message,
                repaired: Some(json),
            });
        }
        lock(&self.unreadable).get_or_insert_with(|| {
            String::from_utf8_lossy(&json[..json.len().min(MAX_UNREADABLE)]).into_owned()
        });
        Err(match error.classify() {
            // Such an error may quote the message.
            Category::Data if Outline::of(json).has_outcome() => {
                "can't be read: it is no message of the protocol".into()
            }
            Category::Data => "can't be read: it has neither a result nor an error".into(),
            _ => format!("can't be read: {error}"),
        })
    }

    /// Returns the start of the first message that could not be read.
    pub(super) fn unreadable(&self, secrets: &Secrets) -> Option<String> {
        let message = secrets.redact(lock(&self.unreadable).clone()?);
        Some(shorten(&message, 60).into_owned())
    }

    /// Ends the call of a response that can't be read, if its id is known.
    pub(super) fn fail(&self, outline: &Outline, problem: &str) {
        let request = outline.response_id().and_then(|id| self.get(id));
        match request {
            Some(request) => request.fail(problem),
            None => tracing::debug!(problem, "dropped a message of an MCP server"),
        }
    }

    /// Notes that lists have changed.
    pub(super) fn mark(&self, lists: u8) {
        self.stale.fetch_or(lists, Ordering::AcqRel);
        self.list_changed.notify_one();
    }

    /// Takes the lists that have changed.
    pub(super) fn take_stale(&self) -> u8 {
        self.stale.swap(0, Ordering::AcqRel)
    }

    /// Takes the resources that have changed.
    pub(super) fn take_updated(&self) -> BTreeSet<String> {
        std::mem::take(&mut lock(&self.updated))
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
    fn passes(&self, message: &RxJsonRpcMessage<RoleClient>, on_log: &OnLog) -> bool {
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
                    self.mark(TOOLS);
                    false
                }
                ServerNotification::ResourceListChangedNotification(_)
                | ServerNotification::PromptListChangedNotification(_) => {
                    self.mark(OFFERS);
                    false
                }
                ServerNotification::ResourceUpdatedNotification(updated) => {
                    let mut all = lock(&self.updated);
                    if all.len() < MAX_UPDATED {
                        all.insert(updated.params.uri.clone());
                    }
                    drop(all);
                    self.list_changed.notify_one();
                    false
                }
                ServerNotification::LoggingMessageNotification(message) => {
                    on_log(&message.params);
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
        ClientRequest::CallToolRequest(_)
        | ClientRequest::ListToolsRequest(_)
        | ClientRequest::ReadResourceRequest(_)
        | ClientRequest::GetPromptRequest(_)
        | ClientRequest::GetTaskRequest(_) => request.extensions().get(),
        _ => None,
    }
}

/// A transport that notes what is sent and received, in order.
pub(super) struct Tap<T> {
    inner: T,
    in_flight: Arc<InFlight>,
    on_log: Box<OnLog>,
}

/// Gets the messages of the log of a server.
type OnLog = dyn Fn(&LoggingMessageNotificationParam) + Send + Sync;

impl<T> Tap<T> {
    pub(super) fn new(
        inner: T,
        in_flight: Arc<InFlight>,
        on_log: impl Fn(&LoggingMessageNotificationParam) + Send + Sync + 'static,
    ) -> Tap<T> {
        Tap {
            inner,
            in_flight,
            on_log: Box::new(on_log),
        }
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
            if self.in_flight.passes(&message, &*self.on_log) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), T::Error>> + Send {
        self.inner.close()
    }
}

/// Time limit for the rest of a message that spans several lines.
const REST: Duration = Duration::from_secs(2);

/// Messages as lines. Repairs unreadable messages where possible, and ends the calls of all others.
pub(super) struct ServerLines<R, W> {
    lines: Lines<R, W>,
    in_flight: Arc<InFlight>,
    max: usize,
    /// The start of a message that has several lines.
    partial: Option<(Vec<u8>, Outline)>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> ServerLines<R, W> {
    pub(super) fn new(input: R, output: W, in_flight: Arc<InFlight>, max: usize) -> Self {
        ServerLines {
            lines: Lines::new(input, output, max),
            in_flight,
            max,
            partial: None,
        }
    }

    /// Reads a line, which may be the end of a message.
    fn read(&mut self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
        // JSON may start with a byte order mark (RFC 8259, section 8.1).
        let trimmed = line
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(line)
            .trim_ascii();
        if trimmed.is_empty() {
            return None;
        }
        let problem = match self.in_flight.read(trimmed) {
            Ok(received) => {
                self.drop_partial();
                return Some(received.message);
            }
            Err(problem) => problem,
        };
        if let Some((mut text, mut outline)) = self.partial.take() {
            outline.push(line);
            if text.len() + line.len() > self.max {
                self.in_flight.fail(&outline, TOO_LARGE);
                return None;
            }
            text.extend_from_slice(line);
            if !outline.has_ended() {
                self.partial = Some((text, outline));
                return None;
            }
            return match self.in_flight.read(&text) {
                Ok(received) => Some(received.message),
                Err(problem) => {
                    self.in_flight.fail(&outline, &problem);
                    None
                }
            };
        }
        let outline = Outline::of(line);
        if trimmed.starts_with(b"{") && outline.continues() {
            self.partial = Some((line.to_vec(), outline));
        } else {
            self.in_flight.fail(&outline, &problem);
        }
        None
    }

    /// Ends the call of a message whose rest is missing.
    fn drop_partial(&mut self) {
        if let Some((_, outline)) = self.partial.take() {
            self.in_flight.fail(&outline, "can't be read: it is cut");
        }
    }
}

impl<R, W> Transport<RoleClient> for ServerLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.lines.send(&message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = if self.partial.is_some() {
                match timeout(REST, self.lines.next()).await {
                    Ok(line) => line,
                    Err(_) => {
                        self.drop_partial();
                        continue;
                    }
                }
            } else {
                self.lines.next().await
            };
            match line {
                Ok(Some(Line::Whole(line))) => {
                    let message = self.read(&line);
                    self.lines.reuse(line);
                    if message.is_some() {
                        return message;
                    }
                }
                Ok(Some(Line::TooLong(outline))) => self.in_flight.fail(&outline, TOO_LARGE),
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!(%error, "can't read the messages of an MCP server");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await;
        Ok(())
    }
}

/// Stops the clocks of calls while the user is asked.
pub(super) struct Waiting(Vec<Arc<Request>>);

impl Waiting {
    pub(super) fn new(requests: Vec<Arc<Request>>) -> Waiting {
        for request in &requests {
            request.questions.fetch_add(1, Ordering::Relaxed);
        }
        Waiting(requests)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        for request in &self.0 {
            request.questions.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question may end a call while its message is on the way.
    #[test]
    fn a_request_that_is_over_is_forgotten_whenever_it_is_sent() {
        let in_flight = InFlight::default();
        let id = RequestId::Number(1);
        for is_sent_first in [true, false] {
            let (request, _) = Request::new(None);
            if is_sent_first {
                in_flight.add(id.clone(), None, &request);
                assert!(in_flight.get(&id).is_some());
            }
            assert_eq!(
                in_flight.remove(&request),
                is_sent_first.then(|| id.clone())
            );
            if !is_sent_first {
                in_flight.add(id.clone(), None, &request);
            }
            assert!(in_flight.get(&id).is_none());
            assert_eq!(in_flight.remove(&request), None);
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_ends_its_call_and_no_other() {
        let lines = [
            r#"{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"result":[[+1]], "id":1}"#,
        ];
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":{}1{}}}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        for line in lines.into_iter().chain([&*deep]) {
            let in_flight = Arc::new(InFlight::default());
            let mut server = ServerLines::new(
                tokio::io::empty(),
                tokio::io::sink(),
                in_flight.clone(),
                9999,
            );
            let mut requests: Vec<_> = (0..2).map(|_| Request::new(None)).collect();
            for (id, (request, _)) in (0..).zip(&requests) {
                in_flight.add(RequestId::Number(id), None, request);
            }
            assert!(server.read(format!("{line}\n").as_bytes()).is_none());
            assert!(requests[0].1.try_recv().is_err(), "{line}");
            let ended = requests[1].1.try_recv();
            assert!(matches!(ended, Ok(Event::Unreadable)), "{line}");
            let problem = requests[1].0.problem().unwrap();
            assert!(problem.starts_with("can't be read: "), "{problem}");
        }
    }

    #[test]
    fn a_message_may_have_several_lines_and_noise_around_it() {
        let in_flight = Arc::new(InFlight::default());
        let mut server = ServerLines::new(tokio::io::empty(), tokio::io::sink(), in_flight, 9999);
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"a": [1, {"b": "\n{"}], "c": {}}});
        let pretty = serde_json::to_string_pretty(&message).unwrap();
        let whole = message.to_string();
        let texts = [
            format!("starting…\n{{\"jsonrpc\":\n\n{{}}\n{whole}\n"),
            format!("starting…\n\n{pretty}\n"),
            format!("{{\n{whole}\n"),
        ];
        for text in texts {
            let mut read = Vec::new();
            for line in text.split_inclusive('\n') {
                read.extend(server.read(line.as_bytes()));
            }
            assert_eq!(read.len(), 1, "{text}");
            assert_eq!(serde_json::to_value(&read[0]).unwrap(), message);
        }
    }
}
