//! The web service: the page, its events, and what a person does on it.
//!
//! Other web sites that are open in the same browser must not act here, nor read. Every request must
//! name this service as its `Host`, which a rebound DNS name does not. A request that changes something
//! must come from the page's own `Origin`, and carry a token that only the page's events contain.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tool_core::hooks::Decision;

use crate::chat::{Chat, Refusal};

/// The maximum size of a request.
const MAX_BODY: usize = 64 * 1024;

const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// The hosts and the token that a request must name.
pub(crate) struct Guard {
    hosts: [String; 2],
    token: String,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: String) -> Guard {
        let hosts = [address.to_string(), format!("localhost:{}", address.port())];
        Guard { hosts, token }
    }

    fn rejection(&self, request: &Request) -> Option<&'static str> {
        let header = |name: &str| {
            let value = request.headers().get(name);
            value.map(|value| value.to_str().unwrap_or_default())
        };
        let host = header("host").unwrap_or_default();
        if !self.hosts.iter().any(|own| own == host) {
            return Some("this service has another host name");
        }
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            // A link from another site may open the page.
            let site = header("sec-fetch-site").unwrap_or("none");
            let is_own = matches!(site, "same-origin" | "none") || request.uri().path() == "/";
            return (!is_own).then_some("another web site requests this");
        }
        if header("origin") != Some(&format!("http://{host}")) {
            return Some("another web site requests this");
        }
        if header("x-token") != Some(&self.token) {
            return Some("the token is wrong; load the page again");
        }
        None
    }
}

pub(crate) fn router(chat: Arc<Chat>, guard: Guard) -> Router {
    let file = |media_type: &'static str, text: &'static str| {
        get(async move || ([(header::CONTENT_TYPE, media_type)], text))
    };
    Router::new()
        .route(
            "/",
            file("text/html; charset=utf-8", include_str!("page.html")),
        )
        .route(
            "/page.css",
            file("text/css; charset=utf-8", include_str!("page.css")),
        )
        .route(
            "/page.js",
            file("text/javascript; charset=utf-8", include_str!("page.js")),
        )
        .route("/icon.svg", file("image/svg+xml", include_str!("icon.svg")))
        .route("/events", get(events))
        .route("/picture/{*key}", get(picture))
        .route("/say", post(say))
        .route("/decide", post(decide))
        .route("/retry", post(retry))
        .route("/stop", post(stop))
        .route("/restart", post(restart))
        .with_state(chat)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn_with_state(Arc::new(guard), check))
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.rejection(&request) {
        None => next.run(request).await,
        Some(reason) => (StatusCode::FORBIDDEN, reason).into_response(),
    };
    for (name, value) in HEADERS {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Sends everything first, so that a page that connects again needs nothing from before.
async fn events(
    State(chat): State<Arc<Chat>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (all, frames) = chat.view().subscribe();
    let first = stream::iter([all]);
    // A page that is too slow connects again.
    let later = stream::unfold(frames, async |mut frames: Receiver<Arc<str>>| {
        let frame = frames.recv().await.ok()?;
        Some((frame, frames))
    });
    let events = first
        .chain(later)
        .map(|frame| Ok(Event::default().data(frame)));
    Sse::new(events).keep_alive(KeepAlive::default())
}

async fn picture(State(chat): State<Arc<Chat>>, uri: Uri) -> Response {
    let Some(picture) = chat.view().picture(uri.path()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let media_type = picture.media_type().unwrap_or_default().to_owned();
    let bytes = picture.bytes().unwrap_or_default().to_owned();
    ([(header::CONTENT_TYPE, media_type)], bytes).into_response()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    text: String,
}

async fn say(State(chat): State<Arc<Chat>>, Json(said): Json<Said>) -> Result<(), Refusal> {
    complete(async move { chat.say(said.text).await }).await
}

/// A decision on what the person has seen, which the fingerprint identifies.
#[derive(Deserialize)]
struct Decided {
    fingerprint: String,
    #[serde(flatten)]
    choice: Choice,
}

#[derive(Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
enum Choice {
    Allow,
    Deny { reason: String },
    Change { arguments: String },
}

async fn decide(
    State(chat): State<Arc<Chat>>,
    Json(decided): Json<Decided>,
) -> Result<(), Refusal> {
    let decision = match decided.choice {
        Choice::Allow => Decision::Allow,
        Choice::Deny { reason } => Decision::deny(reason),
        Choice::Change { arguments } => Decision::change(arguments),
    };
    complete(async move { chat.decide(&decided.fingerprint, decision).await }).await
}

async fn retry(State(chat): State<Arc<Chat>>) -> Result<(), Refusal> {
    chat.retry()
}

async fn stop(State(chat): State<Arc<Chat>>) -> Result<(), Refusal> {
    complete(async move { chat.stop().await }).await
}

async fn restart(State(chat): State<Arc<Chat>>) -> Result<(), Refusal> {
    complete(async move { chat.restart().await }).await
}

/// Does something to its end, even if the page goes away meanwhile: what is half done is not saved.
async fn complete(
    work: impl Future<Output = Result<(), Refusal>> + Send + 'static,
) -> Result<(), Refusal> {
    let done = tokio::spawn(work).await;
    done.unwrap_or_else(|error| Err(Refusal::Failed(error.to_string())))
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Refusal::Conflict(text) => (StatusCode::CONFLICT, text),
            Refusal::Invalid(text) => (StatusCode::UNPROCESSABLE_ENTITY, text),
            Refusal::Failed(text) => (StatusCode::INTERNAL_SERVER_ERROR, text),
        }
        .into_response()
    }
}
