//! What each request passes before `rmcp` handles it.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderName, ORIGIN, RETRY_AFTER,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use http_body::Frame;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::time::Sleep;

use super::auth::{Auth, lacks_scopes};
use super::ruling::{Ruling, is_call};
use super::sessions::{Outcome, Sessions, in_request};
use crate::lock;
use crate::server::Core;
use crate::server::admission::{Refused, seconds};
use crate::server::handler::Handler;
use crate::server::lines::arguments_in;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The service of `rmcp` behind the checks.
pub(super) struct Guard<H> {
    pub(super) core: Arc<Core>,
    pub(super) service: StreamableHttpService<Handler<H>, Sessions>,
    pub(super) auth: Option<Auth>,
    pub(super) max_body_bytes: usize,
    pub(super) body_timeout: Duration,
    /// `true` if there are sessions.
    pub(super) sessions: bool,
}

impl<H: ServerHandler> Guard<H> {
    pub(super) async fn handle(&self, mut request: Request) -> Response {
        if is_ambiguous(request.headers()) {
            return (StatusCode::BAD_REQUEST, "a header is repeated").into_response();
        }
        if is_malformed(request.headers(), &HOST) {
            return (StatusCode::BAD_REQUEST, "the host is malformed").into_response();
        }
        if is_malformed(request.headers(), &ORIGIN) {
            return (StatusCode::FORBIDDEN, "the origin is malformed").into_response();
        }
        if let Some(auth) = &self.auth {
            match auth.check(request.headers()).await {
                Ok(token) => {
                    let extensions = request.extensions_mut();
                    extensions.insert(token.user().clone());
                    extensions.insert(token);
                }
                Err(response) => return response,
            }
        }
        let (parts, body) = request.into_parts();
        // Also without sessions: who is refused learns nothing, such as the list of tools.
        let user = match self.core.http_user(&parts) {
            Ok(user) => user,
            Err(refusal) => {
                let code = refusal.code.0;
                return json_error(StatusCode::FORBIDDEN, code, &refusal.message);
            }
        };
        let reading = Arc::new(Mutex::new(Reading::default()));
        let body = LimitedBody {
            inner: body,
            sleep: None,
            limit: self.max_body_bytes,
            timeout: self.body_timeout,
            reading: reading.clone(),
        };
        let mut parts = parts;
        parts.extensions.insert(BodyText(reading.clone()));
        let has_limits = self.core.options.has_limits();
        let ruling = has_limits.then(Ruling::default);
        if let Some(ruling) = &ruling {
            parts.extensions.insert(ruling.clone());
        }
        // `rmcp` looks a tool up before there is a context.
        let visible = self.core.options.visible.as_ref();
        let head = visible.map(|_| Box::new(parts.clone()));
        let is_get = parts.method == Method::GET;
        let is_delete = parts.method == Method::DELETE;
        let mut request = Request::from_parts(parts, body);
        if !self.sessions {
            // Without sessions, it has no meaning. A call must not take it for one.
            request.headers_mut().remove(SESSION_ID);
        }
        let (response, outcome) =
            in_request(user, head, Box::pin(self.service.handle(request))).await;
        let status = response.status();
        let content_type = response.headers().get(CONTENT_TYPE);
        let is_stream = content_type.is_some_and(|value| value == "text/event-stream");
        let response = response.map(Body::new);
        match outcome {
            Outcome::Passed => {}
            Outcome::Full => {
                return overloaded(StatusCode::SERVICE_UNAVAILABLE, "too many sessions");
            }
            Outcome::UserFull => {
                return overloaded(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many sessions of the user",
                );
            }
            Outcome::Unknown => return (StatusCode::NOT_FOUND, "unknown session").into_response(),
        }
        if is_delete && status.is_success() {
            return StatusCode::NO_CONTENT.into_response();
        }
        if status == StatusCode::OK && is_get {
            return self.until_closing(response);
        }
        let response = if status == StatusCode::OK && is_stream {
            // A session answers before the call has started.
            let ruling = ruling.as_ref().filter(|_| lock(&reading).is_call());
            gathered(response, ruling).await
        } else {
            response
        };
        let refused = ruling.and_then(|ruling| ruling.refused());
        if let Some(refused) = refused.and_then(|refused| self.refused(&refused)) {
            return refused;
        }
        if status == StatusCode::OK {
            return response;
        }
        let reading = lock(&reading);
        reading.rejection(status).unwrap_or(response)
    }

    /// Returns the response to a call that may not run.
    fn refused(&self, refused: &Refused) -> Option<Response> {
        match refused {
            Refused::Scopes(scopes) => Some(lacks_scopes(self.auth.as_ref(), &scopes.join(" "))),
            Refused::Rate(wait) => {
                let retry = [(RETRY_AFTER, seconds(*wait).to_string())];
                let text = "too many calls of the tool";
                Some((StatusCode::TOO_MANY_REQUESTS, retry, text).into_response())
            }
            // The result says so.
            Refused::Unchecked => None,
        }
    }

    /// Ends a stream of notifications when the server closes.
    fn until_closing(&self, response: Response) -> Response {
        let mut closing = self.core.closing.subscribe();
        response.map(|body| {
            let closed = async move {
                let _ = closing.wait_for(|closing| *closing).await;
            };
            Body::from_stream(body.into_data_stream().take_until(Box::pin(closed)))
        })
    }
}

/// How long the start of a stream waits for the rest: longer than a call in a session of `rmcp` that does not wait.
const GATHERING: Duration = Duration::from_millis(5);

/// Waits for what a stream of events has at once, and sends that in one piece: in a session, a response is a first
/// event without data, the result, and the end, each of which would be a write of its own. Waits for a ruling, too.
async fn gathered(response: Response, ruling: Option<&Ruling>) -> Response {
    let (parts, mut body) = response.into_parts();
    let mut start = Vec::new();
    let mut sleep = None;
    let (is_complete, next) = poll_fn(|cx| {
        loop {
            match Pin::new(&mut body).poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready((true, None)),
                Poll::Ready(Some(frame)) => match frame.map(Frame::into_data) {
                    Ok(Ok(data)) if start.len() + data.len() <= GATHERED => {
                        start.extend_from_slice(&data);
                    }
                    Ok(Ok(data)) => return Poll::Ready((false, Some(Ok(data)))),
                    // Trailers, which a stream of events has not.
                    Ok(Err(_)) => {}
                    Err(error) => return Poll::Ready((false, Some(Err(error)))),
                },
                Poll::Pending if ruling.is_some_and(|ruling| ruling.poll(cx).is_pending()) => {
                    return Poll::Pending;
                }
                Poll::Pending => {
                    let sleep =
                        sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(GATHERING)));
                    ready!(sleep.as_mut().poll(cx));
                    return Poll::Ready((false, None));
                }
            }
        }
    })
    .await;
    let body = if is_complete {
        Body::from(start)
    } else {
        let start = [Some(Ok(Bytes::from(start))), next].into_iter().flatten();
        Body::from_stream(stream::iter(start).chain(body.into_data_stream()))
    };
    Response::from_parts(parts, body)
}

/// The most bytes of a stream that wait.
const GATHERED: usize = 64 * 1024;

/// Returns `true` if a header that decides occurs twice: others may read the second.
fn is_ambiguous(headers: &HeaderMap) -> bool {
    // None is repeated.
    if headers.len() == headers.keys_len() {
        return false;
    }
    [
        HOST,
        ORIGIN,
        AUTHORIZATION,
        CONTENT_TYPE,
        SESSION_ID,
        PROTOCOL_VERSION,
    ]
    .iter()
    .any(|name| headers.get_all(name).iter().nth(1).is_some())
}

/// Returns `true` for a host or an origin with a user or with a port that is not a number, which `rmcp` ignores.
fn is_malformed(headers: &HeaderMap, name: &HeaderName) -> bool {
    let Some(host) = headers.get(name) else {
        return false;
    };
    let host = host.as_bytes();
    let colon = host.iter().position(|byte| *byte == b':');
    let scheme = colon.filter(|at| host[*at..].starts_with(b"://"));
    let host = &host[scheme.map_or(0, |at| at + 3)..];
    let address = host.iter().rposition(|byte| *byte == b']').unwrap_or(0);
    let port = host[address..].iter().position(|byte| *byte == b':');
    let port = port.map_or(&[][..], |colon| &host[address + colon + 1..]);
    let port = std::str::from_utf8(port).unwrap_or("-");
    host.contains(&b'@') || !(port.is_empty() || is_port(port))
}

fn is_port(port: &str) -> bool {
    // A sign is no digit.
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

/// Returns the response of a server that is full.
fn overloaded(status: StatusCode, text: &'static str) -> Response {
    (status, [(RETRY_AFTER, "5")], text).into_response()
}

/// Returns a response with an error of JSON-RPC.
fn json_error(status: StatusCode, code: i32, message: &str) -> Response {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    (
        status,
        [(CONTENT_TYPE, "application/json")],
        error.to_string(),
    )
        .into_response()
}

/// The body of a request, once the call in it was read.
#[derive(Clone)]
pub(in crate::server) struct BodyText(Arc<Mutex<Reading>>);

impl BodyText {
    /// Returns the arguments of the call, which `rmcp` reads as numbers of 64 bits.
    pub(in crate::server) fn arguments(&self) -> Option<String> {
        let reading = lock(&self.0);
        arguments_in(&[&*reading.first, &*reading.rest].concat())
    }
}

/// How far a body was read.
#[derive(Default)]
struct Reading {
    /// The first part. Shares memory with what the service gets.
    first: Bytes,
    /// The rest. Copied, since a million parts of one byte each must cost little.
    rest: Vec<u8>,
    end: Option<End>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Complete,
    TooLarge,
    TimedOut,
    Broken,
}

impl Reading {
    /// Returns `true` if the message calls a function.
    fn is_call(&self) -> bool {
        is_call(&[&*self.first, &*self.rest].concat())
    }

    /// Returns the response for a request that the service rejected because of its body.
    fn rejection(&self, status: StatusCode) -> Option<Response> {
        let close = [(CONNECTION, "close")];
        Some(match self.end? {
            End::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                close,
                "the body is too large",
            )
                .into_response(),
            End::TimedOut => {
                (StatusCode::REQUEST_TIMEOUT, close, "the body took too long").into_response()
            }
            End::Broken => {
                (StatusCode::BAD_REQUEST, close, "the body is incomplete").into_response()
            }
            // The status for a body that is not a message. A wrong content type is rejected before the body
            // is read.
            End::Complete if status == StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                let text = [&*self.first, &*self.rest].concat();
                if serde_json::from_slice::<IgnoredAny>(&text).is_ok() {
                    json_error(
                        StatusCode::BAD_REQUEST,
                        -32600,
                        "the body is not a JSON-RPC message",
                    )
                } else {
                    json_error(StatusCode::BAD_REQUEST, -32700, "the body is not JSON")
                }
            }
            End::Complete => return None,
        })
    }
}

/// A body that ends early if it is too long or takes too long.
struct LimitedBody {
    inner: Body,
    /// From the first wait on.
    sleep: Option<Pin<Box<Sleep>>>,
    /// The bytes that may follow.
    limit: usize,
    timeout: Duration,
    reading: Arc<Mutex<Reading>>,
}

impl LimitedBody {
    fn end(&self, end: End) -> Option<Result<Frame<Bytes>, axum::Error>> {
        let mut reading = lock(&self.reading);
        reading.end.get_or_insert(end);
        (end != End::Complete).then(|| Err(axum::Error::new("the body ended early")))
    }
}

impl HttpBody for LimitedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        // Announced.
        if this.inner.size_hint().lower() > this.limit as u64 {
            return Poll::Ready(this.end(End::TooLarge));
        }
        let frame = match Pin::new(&mut this.inner).poll_frame(cx) {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                let timeout = this.timeout;
                let sleep = this
                    .sleep
                    .get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
                ready!(sleep.as_mut().poll(cx));
                return Poll::Ready(this.end(End::TimedOut));
            }
        };
        let frame = match frame {
            None => return Poll::Ready(this.end(End::Complete)),
            Some(Err(_)) => return Poll::Ready(this.end(End::Broken)),
            Some(Ok(frame)) => frame,
        };
        if let Some(data) = frame.data_ref() {
            if data.len() > this.limit {
                return Poll::Ready(this.end(End::TooLarge));
            }
            this.limit -= data.len();
            let mut reading = lock(&this.reading);
            if reading.first.is_empty() {
                reading.first = data.clone();
            } else {
                reading.rest.extend_from_slice(data);
            }
        }
        Poll::Ready(Some(Ok(frame)))
    }
}
