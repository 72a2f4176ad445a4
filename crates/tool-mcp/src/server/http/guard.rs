//! Checks each request before `rmcp` handles it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::header::{
    AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, HeaderName, ORIGIN, RETRY_AFTER,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::{Stream, StreamExt, stream};
use http_body::{Frame, SizeHint};
use rmcp::ServerHandler;
use serde::de::IgnoredAny;
use serde_json::json;

use super::auth::{Auth, lacks_scopes};
use super::body::BodyText;
use super::message::{PROTOCOL_VERSION, SESSION_ID};
use super::ruling::{Ruling, is_call};
use super::service::Service;
use super::sessions::{Current, Outcome};
use crate::server::core::Core;
use crate::server::refused::{Refused, seconds};

/// The service behind the checks.
pub(super) struct Guard<H> {
    pub(super) service: Service<H>,
    pub(super) auth: Option<Auth>,
    /// `true` if there are sessions.
    pub(super) sessions: bool,
}

impl<H: ServerHandler> Guard<H> {
    fn core(&self) -> &Arc<Core> {
        &self.service.handler.core
    }

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
        let (mut parts, body) = request.into_parts();
        // Even without sessions, so that a refused client learns nothing, not even the list of tools.
        let user = match self.core().http_user(&parts) {
            Ok(user) => user,
            Err(refusal) => {
                let code = refusal.code.0;
                return json_error(StatusCode::FORBIDDEN, code, &refusal.message);
            }
        };
        if !self.sessions {
            // Without sessions, it has no meaning. A call must not take it for one.
            parts.headers.remove(SESSION_ID);
        }
        let is_get = parts.method == Method::GET;
        let is_delete = parts.method == Method::DELETE;
        let text = BodyText::default();
        parts.extensions.insert(text.clone());
        let has_limits = self.core().options.has_limits();
        let ruling = has_limits.then(Ruling::default);
        if let Some(ruling) = &ruling {
            parts.extensions.insert(ruling.clone());
        }
        // `rmcp` looks a tool up before there is a context.
        let visible = self.core().options.visible.as_ref();
        let head = visible.map(|_| Box::new(parts.clone()));
        let current = Current::new(user, head);
        let answered = self.service.answer(parts, body, text.clone(), current);
        let (response, outcome) = answered.await;
        let status = response.status();
        let content_type = response.headers().get(CONTENT_TYPE);
        let is_stream = content_type.is_some_and(|value| value == "text/event-stream");
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
            Outcome::Rejected(status, text) => {
                return (status, [(CONNECTION, "close")], text).into_response();
            }
        }
        if is_delete && status.is_success() {
            return StatusCode::NO_CONTENT.into_response();
        }
        if status == StatusCode::OK && is_get {
            return self.until_closing(response);
        }
        let response = if status == StatusCode::OK && is_stream {
            // A session answers before the call has started.
            let ruling = ruling.as_ref().filter(|_| text.get().is_some_and(is_call));
            gathered(response, ruling).await
        } else {
            response
        };
        let refused = ruling.and_then(|ruling| ruling.refused());
        if let Some(refused) = refused.and_then(|refused| self.refused(&refused)) {
            return refused;
        }
        match text.get() {
            // The status for a body that is not a message. A wrong content type is rejected before the body is read.
            Some(text) if status == StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                if serde_json::from_slice::<IgnoredAny>(text).is_ok() {
                    let problem = "the body is not a JSON-RPC message";
                    json_error(StatusCode::BAD_REQUEST, -32600, problem)
                } else {
                    json_error(StatusCode::BAD_REQUEST, -32700, "the body is not JSON")
                }
            }
            _ => response,
        }
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
        let mut closing = self.core().closing.subscribe();
        response.map(|body| {
            let closed = async move {
                let _ = closing.wait_for(|closing| *closing).await;
            };
            Body::from_stream(kept_alive(body.into_data_stream()).take_until(Box::pin(closed)))
        })
    }
}

/// How long the start of a stream waits for the rest: longer than a call in a session of `rmcp` that does not wait.
const GATHERING: Duration = Duration::from_millis(5);

/// Waits for the events that a stream has at once, and sends them in one piece: in a session, a response is
/// a first event without data, the result, and the end, each of which would be a separate write. Waits for
/// a ruling, too.
async fn gathered(response: Response, ruling: Option<&Ruling>) -> Response {
    let (parts, mut body) = response.into_parts();
    let mut start = Pieces::default();
    let mut sleep = None;
    let result = poll_fn(|cx| {
        loop {
            if start.bytes > GATHERED {
                return Poll::Ready(Ok(false));
            }
            match Pin::new(&mut body).poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(Ok(true)),
                // Trailers are not kept: a stream of events has none.
                Poll::Ready(Some(Ok(frame))) => start.extend(frame.into_data()),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(error)),
                Poll::Pending if ruling.is_some_and(|ruling| ruling.poll(cx).is_pending()) => {
                    return Poll::Pending;
                }
                Poll::Pending => {
                    let sleep =
                        sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(GATHERING)));
                    ready!(sleep.as_mut().poll(cx));
                    return Poll::Ready(Ok(false));
                }
            }
        }
    })
    .await;
    let body = match result {
        Ok(true) => Body::new(start),
        Ok(false) => {
            let start = stream::iter(start.rest.into_iter().map(Ok));
            Body::from_stream(start.chain(kept_alive(body.into_data_stream())))
        }
        Err(error) => {
            let start = start.rest.into_iter().map(Ok);
            Body::from_stream(stream::iter(start.chain([Err(error)])))
        }
    };
    Response::from_parts(parts, body)
}

/// The longest time in which a stream sends nothing, because proxies end idle connections. With the
/// interval of `rmcp`, each response of a session would have a timer.
const PING: Duration = Duration::from_secs(15);

/// Adds comments to a stream of events that has none for a while.
fn kept_alive(events: BodyDataStream) -> impl Stream<Item = Result<Bytes, axum::Error>> {
    stream::unfold(events, async |mut events| {
        let next = tokio::time::timeout(PING, events.next()).await;
        let next = next.unwrap_or(Some(Ok(Bytes::from_static(b":\n\n"))));
        Some((next?, events))
    })
}

/// The most bytes of a stream that wait.
const GATHERED: usize = 1 << 20;

/// A body whose pieces are there.
#[derive(Default)]
struct Pieces {
    rest: VecDeque<Bytes>,
    bytes: usize,
}

impl Extend<Bytes> for Pieces {
    fn extend<I: IntoIterator<Item = Bytes>>(&mut self, pieces: I) {
        for piece in pieces {
            self.bytes += piece.len();
            self.rest.push_back(piece);
        }
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.rest.pop_front();
        self.bytes -= piece.as_ref().map_or(0, Bytes::len);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes as u64)
    }
}

/// Returns `true` if a header that decides occurs twice, because other programs may read the second.
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
    let bracket = host.iter().rposition(|byte| *byte == b']');
    let rest = &host[bracket.map_or(0, |at| at + 1)..];
    let colon = rest.iter().position(|byte| *byte == b':');
    // Nothing stands between an address in brackets and its port.
    let has_more = bracket.is_some() && colon.unwrap_or(rest.len()) > 0;
    let port = colon.map_or(&[][..], |colon| &rest[colon + 1..]);
    let port = std::str::from_utf8(port).unwrap_or("-");
    host.contains(&b'@') || has_more || !(port.is_empty() || is_port(port))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_waits_is_kept_alive() {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<Bytes>();
        let events = stream::unfold(receiver, async |mut receiver| {
            Some((Ok::<_, Infallible>(receiver.recv().await?), receiver))
        });
        let response = gathered(Response::new(Body::from_stream(events)), None).await;
        let body = response.into_body().into_data_stream();
        let mut pieces = std::pin::pin!(body.map(Result::unwrap));
        assert_eq!(pieces.next().await.unwrap(), ":\n\n");
        sender.send("data: 1\n\n".into()).unwrap();
        assert_eq!(pieces.next().await.unwrap(), "data: 1\n\n");
        assert_eq!(pieces.next().await.unwrap(), ":\n\n");
        drop(sender);
        assert_eq!(pieces.next().await, None);
    }
}
