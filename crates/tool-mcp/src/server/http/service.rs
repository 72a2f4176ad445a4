//! [`Service`]: answers requests by `rmcp`, except calls that it need not read.
//!
//! # What it is for
//!
//! `rmcp` reads a message by trying one kind of request after the other on a copy of it. Then it writes the message as JSON
//! again, to compare it with the head. Nearly all messages are calls, and for these it is a third of the cost of a request.
//! So a call with nothing unusual is read here, in one pass, as on lines (`read_call`). By instructions, a call without a session
//! takes 0.67 of a plain server's with it, and 1.03 without; in a session 0.96 and 1.16.
//!
//! `rmcp` has no place for another reader, so such a call goes an odd way. The way is hidden in this file: a request goes in at
//! [`Service::answer`], and a response comes out. Only [`Sessions`] has a part in it, too.
//!
//! # The way of a request
//!
//! 1. [`Way::of`] looks at the head, which says whether the body may be such a call.
//! 2. `rmcp` gets the request with a body that nobody has read. It checks the head first (host, origin, accepted and sent
//!    types), so these checks are not repeated here, and a request that fails them costs no reading.
//! 3. `rmcp` polls the body. Now [`Reader`] reads it, within its limits of size and time. If it is no such call, `rmcp` gets
//!    the text as it came, and all goes on as if this file did not exist.
//! 4. If it is one, the call is put aside in [`Current`], which belongs to the task of the request, because a body returns
//!    nothing but bytes. Then there are two ways:
//!    - **In a session**, `rmcp` gets a `ping` in its place ([`STAND_IN`]). It finds the session, and hands the `ping` to
//!      [`Sessions`], which exchanges it for the call. The session answers, and `rmcp` passes the answer on.
//!    - **Without a session**, nothing stands between the reader of `rmcp` and its comparison of the message with the head. A
//!      stand-in would need all the metadata of the call to pass it, and cost nearly as much. So `rmcp` gets an empty body and
//!      ends with an error, which is thrown away. [`Service::call`] makes the call as `rmcp` would: with a transport for one
//!      message, the version of the head, and the head itself in the extensions.
//!
//! # What must hold
//!
//! - [`Way`] lets only calls pass for which `rmcp` would find nothing wrong: the version, the method and the name of the head are
//!   those of the body, no header is repeated or sends a parameter, and the required metadata is there. Its tests name each
//!   case. In any doubt `rmcp` reads the message, so that clients get its errors.
//! - A call with a token for progress is answered by a stream, so `rmcp` reads it.
//! - [`status_of`] has the statuses of `rmcp` for errors of a call (`jsonrpc_http_status` in its `tower.rs`).
//! - A new version of `rmcp` may check more. `tests/attackers.rs` and the conformance suite send what it rejects, so look there
//!   first.

use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use rmcp::ServerHandler;
use rmcp::model::{
    ClientCapabilities, ClientJsonRpcMessage, ErrorCode, GetExtensions, Implementation,
    InitializeRequestParams, JsonRpcMessage, ProtocolVersion,
};
use rmcp::service::{RoleServer, serve_directly_with_ct};
use rmcp::transport::OneshotTransport;
use rmcp::transport::streamable_http_server::StreamableHttpService;

use super::body::{BodyText, collect};
use super::message::Way;
use super::sessions::{Current, Outcome, Sessions, in_current, in_request};
use crate::server::handler::Handler;

/// The message that `rmcp` reads in place of a call of a session. The session gets the call.
const STAND_IN: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;

/// The service of `rmcp`, and the calls that it need not read.
pub(super) struct Service<H> {
    pub(super) handler: Handler<H>,
    pub(super) rmcp: StreamableHttpService<Handler<H>, Sessions>,
    pub(super) max_body_bytes: usize,
    pub(super) body_timeout: Duration,
}

impl<H: ServerHandler> Service<H> {
    /// Answers a request, and returns its outcome for its session. `text` gets the body.
    pub(super) async fn answer(
        &self,
        parts: Parts,
        body: Body,
        text: BodyText,
        current: Current,
    ) -> (Response, Outcome) {
        let way = Way::of(&parts.headers, &self.handler.core);
        let of_call = matches!(way, Way::Alone(_)).then(|| parts.clone());
        let reader = Reader {
            limit: self.max_body_bytes,
            timeout: self.body_timeout,
            way,
            text,
        };
        let request = Request::from_parts(parts, reader.body(body));
        let handling = Box::pin(self.rmcp.handle(request));
        let (response, outcome, call) = in_request(current, handling).await;
        let response = match (of_call, call) {
            (Some(parts), Some(call)) => self.call(parts, *call).await,
            _ => response.map(Body::new),
        };
        (response, outcome)
    }

    /// Makes a call without a session, as `rmcp` does after it has read one.
    async fn call(&self, parts: Parts, mut call: ClientJsonRpcMessage) -> Response {
        if let ClientJsonRpcMessage::Request(call) = &mut call {
            call.request.extensions_mut().insert(parts);
        }
        let (can, name) = (ClientCapabilities::default(), Implementation::default());
        let client = InitializeRequestParams::new(can, name)
            .with_protocol_version(ProtocolVersion::V_2026_07_28);
        let (transport, mut messages) = OneshotTransport::<RoleServer>::new(call);
        // A call ends with the server, and with the connection of its client.
        let ends = self.rmcp.config.cancellation_token.child_token();
        let handler = self.handler.clone();
        let running = serve_directly_with_ct(handler, transport, Some(client), ends.clone());
        let _ended = ends.drop_guard();
        tokio::spawn(running.waiting());
        // The client gets nothing else, because `rmcp` reads a call with a token for progress, and
        // questions are in the result.
        while let Some(message) = messages.recv().await {
            let status = match &message {
                JsonRpcMessage::Response(_) => StatusCode::OK,
                JsonRpcMessage::Error(error) => status_of(error.error.code),
                _ => continue,
            };
            return match serde_json::to_string(&message) {
                Ok(json) => (status, [(CONTENT_TYPE, "application/json")], json).into_response(),
                Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            };
        }
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
}

/// How the body of a request is read, within [`in_request`](super::sessions::in_request).
struct Reader {
    limit: usize,
    timeout: Duration,
    way: Way,
    text: BodyText,
}

impl Reader {
    /// Returns a body for `rmcp`, which is read once that polls it.
    fn body(self, body: Body) -> Body {
        Body::from_stream(stream::once(self.read(body)))
    }

    async fn read(self, body: Body) -> io::Result<Bytes> {
        // Announced.
        if body.size_hint().lower() > self.limit as u64 {
            return too_large();
        }
        let reading = collect(body, self.limit);
        let message = match tokio::time::timeout(self.timeout, reading).await {
            Ok(Ok(Some(message))) => message,
            Ok(Ok(None)) => return too_large(),
            Ok(Err(_)) => return rejected(StatusCode::BAD_REQUEST, "the body is incomplete"),
            Err(_) => return rejected(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
        };
        let message = self.text.0.get_or_init(|| message).clone();
        let Some(call) = self.way.read(&message) else {
            return Ok(message);
        };
        in_current(|current| current.call.set(Some(Box::new(call))));
        Ok(match self.way {
            Way::Session => Bytes::from_static(STAND_IN),
            // `rmcp` ends here.
            _ => Bytes::new(),
        })
    }
}

fn too_large() -> io::Result<Bytes> {
    rejected(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large")
}

fn rejected(status: StatusCode, text: &'static str) -> io::Result<Bytes> {
    in_current(|current| current.outcome.set(Outcome::Rejected(status, text)));
    Err(io::Error::other(text))
}

/// Returns the status of an error of a call.
fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
