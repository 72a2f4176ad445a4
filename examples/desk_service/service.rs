//! The web service: the page, its events, and what a person does on it.
//!
//! The token of a user is a cookie of the page, or the bearer token of an MCP client. Other web sites that are open in
//! the same browser must not act here, nor read. Every request must name this service as its `Host`, which a rebound DNS
//! name does not, and a request that changes something must come from the page's own `Origin`.

use std::collections::HashMap;
use std::error::Error;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tool_agent::conversations::{Conversation, ConversationError, Conversations};
use tool_agent::run::{Journal, Page, Run, SqliteJournal, random_id};
use tool_core::content::Content;
use tool_core::hooks::{Decision, Inbox};
use tool_mcp::Server;
use tool_mcp::server::UserId;
use tool_mcp::server::approvals::Approvals;
use tool_mcp::server::http::{Auth, AuthError, HttpConfig};
use tracing::Instrument;

use crate::users::{User, Users};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// What the recorded model can answer.
const SUGGESTIONS: [&str; 3] = [
    "Order 1042 arrived broken. Please refund it, and show me how sales are going.",
    "Refund the oak desk of order 1041 too: 50 euros for the scratch.",
    "Lower the price of the office chair of order 1043 to 179 euros.",
];

pub(crate) struct Desk {
    pub(crate) conversations: Conversations,
    /// The held calls of MCP clients.
    pub(crate) approvals: Approvals,
    pub(crate) journal: SqliteJournal,
    pub(crate) users: Users,
    pub(crate) port: u16,
    /// By the name of the user.
    pub(crate) lists: Lists,
}

/// What each user sees besides a conversation, of those whose pages are open.
pub(crate) type Lists = Mutex<HashMap<String, watch::Sender<Arc<Value>>>>;

type Shared = State<Arc<Desk>>;

/// A response that refuses a request.
type Refusal = (StatusCode, String);

impl Desk {
    /// Opens a conversation of a user. Others are unknown, also to those who decide on their calls.
    async fn open(&self, user: &User, run: &str) -> Result<Conversation, Refusal> {
        let found = self.conversations.open_as(&user.name, run).await;
        let found = found.map_err(refusal)?;
        found.ok_or_else(|| (StatusCode::NOT_FOUND, "no such conversation".into()))
    }

    /// Returns the calls that wait for decisions, in conversations and of MCP clients.
    fn inbox(&self) -> (Conversations, Approvals) {
        (self.conversations.clone(), self.approvals.clone())
    }

    /// Returns what a user sees besides a conversation, and then each change. However many pages a user has, the journal is
    /// read once for a change.
    fn follow_lists(self: &Arc<Self>, user: &User) -> impl Stream<Item = Arc<Value>> + use<> {
        let mut open = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let lists = open.entry(user.name.clone()).or_insert_with(|| {
            let (lists, _) = watch::channel(Arc::default());
            tokio::spawn(Arc::clone(self).keep_lists(user.clone(), lists.clone()));
            lists
        });
        let lists = lists.subscribe();
        drop(open);
        let first = stream::once(Arc::clone(self).read_lists(user.clone()));
        let later = stream::unfold(lists, async |mut lists| {
            lists.changed().await.ok()?;
            let changed = Arc::clone(&lists.borrow_and_update());
            Some((changed, lists))
        });
        first.filter_map(ready).chain(later)
    }

    /// Reads the lists of a user after each change, as long as a page of the user is open.
    async fn keep_lists(self: Arc<Self>, user: User, lists: watch::Sender<Arc<Value>>) {
        let of_clients = self.approvals.changes();
        let mut changes = stream::select(self.conversations.changes(), of_clients);
        loop {
            let is_changed = tokio::select! {
                next = changes.next() => next.is_some(),
                () = lists.closed() => false,
            };
            if is_changed {
                let read = Arc::clone(&self).read_lists(user.clone()).await;
                read.map(|read| lists.send_replace(read));
                continue;
            }
            let mut open = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
            // Another page may have been opened.
            if lists.receiver_count() == 0 {
                open.remove(&user.name);
                return;
            }
        }
    }

    /// Reads the lists of a user on another thread, because SQLite blocks its thread.
    async fn read_lists(self: Arc<Self>, user: User) -> Option<Arc<Value>> {
        let runtime = Handle::current();
        let reading = move || runtime.block_on(self.lists_of(&user));
        let read = tokio::task::spawn_blocking(move || reading().ok()).await;
        Some(Arc::new(read.ok()??))
    }

    async fn lists_of(&self, user: &User) -> Result<Value, Box<dyn Error>> {
        let runs = self.journal.runs(Some(&user.name), Page::new(50)).await?;
        let runs = runs.iter().map(|head| {
            json!({"id": head.id, "saved_ms": head.saved_ms, "waits": !head.waiting.is_empty()})
        });
        let mut inbox = self.inbox().waiting(&user.name, 100).await?;
        // An own confirmation is in the conversation.
        inbox.retain(|call| call.owner.as_ref() != Some(&user.name));
        let runs: Value = runs.collect();
        let lists = json!({"type": "lists", "user": user.name, "decides": user.decides,
            "suggestions": SUGGESTIONS, "runs": runs, "inbox": inbox});
        Ok(lists)
    }

    /// Returns the user of a request of the page, unless another web site makes it.
    fn user(&self, request: &Request) -> Result<Option<User>, Refusal> {
        let header = |name: &str| {
            let value = request.headers().get(name);
            value.map(|value| value.to_str().unwrap_or_default())
        };
        let host = header("host").unwrap_or_default();
        let is_page = if matches!(*request.method(), Method::GET | Method::HEAD) {
            // A link from another site may open the page.
            let site = header("sec-fetch-site").unwrap_or("none");
            matches!(site, "same-origin" | "none") || request.uri().path() == "/"
        } else {
            header("origin") == Some(&format!("http://{host}"))
        };
        let hosts = ["127.0.0.1", "[::1]", "localhost"].map(|own| format!("{own}:{}", self.port));
        if !is_page || !hosts.iter().any(|own| own == host) {
            return Err((StatusCode::FORBIDDEN, "another web site asks".into()));
        }
        let mut cookies = header("cookie").unwrap_or_default().split("; ");
        let token = cookies.find_map(|cookie| cookie.strip_prefix("token="));
        let user = token.and_then(|token| self.users.with_token(token));
        Ok(user.cloned())
    }
}

/// Returns the routes: the page, what a person does on it, and the server of the same tools.
pub(crate) fn router(desk: Desk, server: Server) -> Router {
    let desk = Arc::new(desk);
    let file = |media_type: &'static str, text: &'static str| {
        get(async move || ([(header::CONTENT_TYPE, media_type)], text))
    };
    Router::new()
        .route("/events", get(events))
        .route("/events/{run}", get(events))
        .route("/parts/{run}/{key}/{index}", get(part))
        .route("/inbox", post(decide))
        .route("/runs", post(create))
        .route("/runs/{run}", post(act))
        .route("/", file("text/html", include_str!("page.html")))
        .route("/page.css", file("text/css", include_str!("page.css")))
        .route("/page.js", file("text/javascript", include_str!("page.js")))
        .route("/icon.svg", file("image/svg+xml", include_str!("icon.svg")))
        .route("/sign-in", post(sign_in))
        .layer(DefaultBodyLimit::max(64 * 1024))
        .layer(middleware::from_fn_with_state(Arc::clone(&desk), check))
        .with_state(Arc::clone(&desk))
        .merge(mcp(desk, server))
        .layer(middleware::from_fn(traced))
}

/// Serves the tools over MCP, to each user those that the user may call. A held call waits in the inbox, and runs when its
/// client makes it again.
fn mcp(desk: Arc<Desk>, server: Server) -> Router {
    let (known, named, seen) = (desk.users.clone(), desk.users.clone(), desk.users.clone());
    let config = HttpConfig::default().auth(Auth::bearer(move |token| {
        let user = known.with_token(&token).map(|user| UserId::new(&user.name));
        async move { user.ok_or(AuthError::InvalidToken) }
    }));
    let server = server.name("desk_service", "1");
    let server = server.on_hold(desk.approvals.clone());
    let server = server.ui("draw_sales", "ui://desk/sales", include_str!("sales.html"));
    let server = server.identity(move |request, call| {
        let id: Option<&UserId> = request.extension();
        let user = named.named(id.map_or("", UserId::as_str));
        Ok(call.with(user.ok_or("the user is unknown")?.clone()))
    });
    let server = server.visible(move |request, tool| {
        let id: Option<&UserId> = request.extension();
        let user = seen.named(id.map_or("", UserId::as_str));
        user.is_some_and(|user| user.may_call(tool))
    });
    server.router(config)
}

/// Starts the span of a request, in which its conversation goes on. No path has a token.
async fn traced(request: Request, next: Next) -> Response {
    let name = format!("{} {}", request.method(), request.uri().path());
    let span = tracing::info_span!("request", "otel.name" = name, "otel.kind" = "server");
    next.run(request).instrument(span).await
}

/// Rejects a request of another web site, and one without a user.
async fn check(State(desk): Shared, mut request: Request, next: Next) -> Response {
    let files = ["/", "/page.css", "/page.js", "/icon.svg", "/sign-in"];
    let is_open = files.contains(&request.uri().path());
    let response = match desk.user(&request) {
        Ok(None) if !is_open => (StatusCode::UNAUTHORIZED, "sign in first").into_response(),
        Ok(user) => {
            user.map(|user| request.extensions_mut().insert(user));
            next.run(request).await
        }
        Err(refusal) => refusal.into_response(),
    };
    (HEADERS, response).into_response()
}

/// Keeps a token in a cookie that scripts can't read. An empty one signs out.
async fn sign_in(State(desk): Shared, Json(token): Json<String>) -> Response {
    if !token.is_empty() && desk.users.with_token(&token).is_none() {
        return (StatusCode::UNAUTHORIZED, "the token is wrong").into_response();
    }
    let cookie = format!("token={token}; Path=/; HttpOnly; SameSite=Strict");
    [(header::SET_COOKIE, cookie)].into_response()
}

/// Sends everything first, and then what changes, so that a page that connects again needs nothing from before.
async fn events(
    State(desk): Shared,
    Extension(user): Extension<User>,
    run: Option<Path<String>>,
) -> Result<Response, Refusal> {
    let updates = match run {
        Some(Path(run)) => desk.open(&user, &run).await?.follow().left_stream(),
        None => stream::pending().right_stream(),
    };
    let updates = updates.map(|update| Event::default().json_data(&*update));
    let lists = desk.follow_lists(&user);
    let lists = lists.map(|lists| Event::default().json_data(&*lists));
    let events = Sse::new(stream::select(updates, lists.boxed()));
    Ok(events.keep_alive(KeepAlive::default()).into_response())
}

/// Returns a picture in the result of a call.
async fn part(
    State(desk): Shared,
    Extension(user): Extension<User>,
    Path((run, key, index)): Path<(String, String, usize)>,
) -> Result<Response, Refusal> {
    let transcript = desk.open(&user, &run).await?.transcript();
    let call = transcript.call(&key);
    if let Some(Content::Image(image)) = call.and_then(|call| call.parts.get(index)) {
        let media_type = image.media_type().unwrap_or_default().to_owned();
        let bytes = image.bytes().unwrap_or_default().to_owned();
        return Ok(([(header::CONTENT_TYPE, media_type)], bytes).into_response());
    }
    Err((StatusCode::NOT_FOUND, "no such picture".into()))
}

/// Creates a conversation, and returns its id.
async fn create(State(desk): Shared, Extension(user): Extension<User>) -> Result<String, Refusal> {
    // No two are equal, however fast a user clicks.
    let id = random_id();
    let run = Run::builder(&id).owner(user.name).build();
    desk.conversations.create(run).await.map_err(refusal)?;
    Ok(id)
}

/// An action of a user in their own conversation.
#[derive(Deserialize)]
#[serde(tag = "do", content = "with", rename_all = "snake_case")]
enum Action {
    Say(String),
    Retry,
    Stop,
    #[serde(untagged)]
    Decide(Choice),
}

/// A decision on a call. The first string identifies what the person has seen: a fingerprint in a conversation, an id in the
/// inbox.
#[derive(Deserialize)]
#[serde(tag = "do", content = "with", rename_all = "snake_case")]
enum Choice {
    Allow(String),
    Deny(String, String),
    Change(String, String),
}

impl Choice {
    fn decision(self) -> (String, Decision) {
        match self {
            Choice::Allow(seen) => (seen, Decision::Allow),
            Choice::Deny(seen, reason) => (seen, Decision::deny(reason)),
            Choice::Change(seen, arguments) => (seen, Decision::change(arguments)),
        }
    }
}

async fn act(
    State(desk): Shared,
    Extension(user): Extension<User>,
    Path(run): Path<String>,
    Json(action): Json<Action>,
) -> Result<(), Refusal> {
    let conversation = desk.open(&user, &run).await?;
    let done = match action {
        Action::Say(text) if text.trim().is_empty() => Ok(()),
        Action::Say(text) => conversation.reply(text).await,
        Action::Retry => conversation.retry(),
        Action::Stop => conversation.stop().await,
        Action::Decide(choice) => {
            let (fingerprint, decision) = choice.decision();
            let deciding = conversation.decide(&fingerprint, decision, &user.name);
            deciding.await
        }
    };
    done.map_err(refusal)
}

/// Decides on a call of somebody else.
async fn decide(
    State(desk): Shared,
    Extension(user): Extension<User>,
    Json(choice): Json<Choice>,
) -> Result<(), Refusal> {
    let (id, decision) = choice.decision();
    let decided = desk.inbox().decide(&id, decision, &user.name).await;
    decided.map_err(|error| refused(error.status(), error.to_string()))
}

fn refusal(error: ConversationError) -> Refusal {
    refused(error.status(), error.publish())
}

fn refused(status: u16, reason: String) -> Refusal {
    let status = StatusCode::from_u16(status);
    (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), reason)
}
