//! The routes: the page, what it follows, and what a person does on it.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use futures_util::{Stream, StreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_agent::conversations::{Conversation, ConversationError, Conversations};
use tool_agent::run::{FileJournal, Journal, Page, Run};
use tool_core::Registry;
use tool_core::hooks::{Decision, Inbox, InboxError};
use tool_mcp::Server;
use tool_mcp::server::UserId;
use tool_mcp::server::approvals::Approvals;
use tool_mcp::server::http::{Auth, AuthError, HttpConfig};

use crate::tools::User;
use crate::users::Users;

#[derive(Clone)]
pub struct Service {
    pub conversations: Conversations,
    /// The held calls of MCP clients.
    pub approvals: Approvals,
    pub journal: FileJournal,
    pub users: Users,
}

/// A response that refuses a request.
type Refusal = (StatusCode, String);

pub fn router(service: Service, registry: Registry) -> Router {
    let mcp = mcp(&service, registry);
    Router::new()
        .route("/lists", get(lists))
        .route("/inbox", post(decide))
        .route("/conversations", post(create))
        .route("/conversations/{id}", get(follow).post(act))
        // The routes above need a user. The page has nothing of one.
        .layer(from_fn_with_state(service.clone(), sign_in))
        .route("/", get(async || Html(include_str!("page.html"))))
        .with_state(service)
        .merge(mcp)
}

/// Serves the same tools to MCP clients, with the token of a user. A call that needs a decision waits in the same inbox, and
/// runs when its client makes it again.
fn mcp(service: &Service, registry: Registry) -> Router {
    let (users, known) = (service.users.clone(), service.users.clone());
    let auth = Auth::bearer(move |token| {
        let user = known.user_with_token(&token);
        let id = user.map(|user| UserId::new(&user.name));
        async move { id.ok_or(AuthError::InvalidToken) }
    });
    let server = Server::new(registry).name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let server = server.identity(move |request, call| {
        let id = request.extension::<UserId>().map_or("", UserId::as_str);
        let user = users.named(id).ok_or("the user is unknown")?;
        Ok(call.with(user.clone()))
    });
    let server = server.on_hold(service.approvals.clone());
    server.router(HttpConfig::default().auth(auth))
}

async fn sign_in(State(service): State<Service>, mut request: Request, next: Next) -> Response {
    let Some(user) = service.users.user_of(request.headers()).cloned() else {
        return (
            StatusCode::UNAUTHORIZED,
            "open the address that the program wrote",
        )
            .into_response();
    };
    request.extensions_mut().insert(user);
    next.run(request).await
}

impl Service {
    /// Opens a conversation of its owner.
    async fn open(&self, user: &User, id: &str) -> Result<Conversation, Refusal> {
        let found = self.conversations.open_as(&user.name, id).await;
        let found = found.map_err(refusal)?;
        found.ok_or_else(|| (StatusCode::NOT_FOUND, "no such conversation".into()))
    }

    /// Returns the calls that wait for decisions, in conversations and of MCP clients.
    fn inbox(&self) -> (Conversations, Approvals) {
        (self.conversations.clone(), self.approvals.clone())
    }

    /// Returns the conversations of a user, and the calls on which the user decides. `None` if they can't be read.
    async fn lists_of(&self, user: &User) -> Option<Value> {
        let own = self.journal.runs(Some(&user.name), Page::new(20)).await;
        let own = own.ok()?;
        let own = own.iter();
        let own: Vec<_> = own
            .map(|head| json!({"id": head.id, "saved_ms": head.saved_ms}))
            .collect();
        let mut inbox = self.inbox().waiting(&user.name, 100).await.ok()?;
        // The calls of one's own are in the conversation.
        inbox.retain(|call| call.owner.as_ref() != Some(&user.name));
        Some(json!({"user": user.name, "conversations": own, "inbox": inbox}))
    }
}

/// Sends the lists of a user, and again when they change.
async fn lists(State(service): State<Service>, Extension(user): Extension<User>) -> Response {
    let shared = Arc::new((service, user));
    let of_clients = shared.0.approvals.changes();
    let changes = stream::select(shared.0.conversations.changes(), of_clients);
    events(changes.filter_map(move |()| {
        let shared = Arc::clone(&shared);
        // A journal that fails once may work at the next change.
        async move { shared.0.lists_of(&shared.1).await }
    }))
}

/// Sends a conversation, and then each change. A page that connects again gets all of it again, so it needs nothing of
/// before.
async fn follow(
    State(service): State<Service>,
    Extension(user): Extension<User>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let conversation = service.open(&user, &id).await?;
    Ok(events(conversation.follow()))
}

fn events<T: Serialize>(items: impl Stream<Item = T> + Send + 'static) -> Response {
    let events = items.map(|item| Event::default().json_data(item));
    Sse::new(events)
        .keep_alive(KeepAlive::default())
        .into_response()
}

async fn create(
    State(service): State<Service>,
    Extension(user): Extension<User>,
) -> Result<String, Refusal> {
    let run = Run::unique().owner(user.name).build();
    let conversation = service.conversations.create(run).await.map_err(refusal)?;
    Ok(conversation.info().id().to_owned())
}

/// What a person does in a conversation.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Action {
    Say { text: String },
    Retry,
    Stop,
}

async fn act(
    State(service): State<Service>,
    Extension(user): Extension<User>,
    Path(id): Path<String>,
    Json(action): Json<Action>,
) -> Result<(), Refusal> {
    let conversation = service.open(&user, &id).await?;
    let done = match action {
        Action::Say { text } => conversation.reply(text).await,
        Action::Retry => conversation.retry(),
        Action::Stop => conversation.stop().await,
    };
    done.map_err(refusal)
}

/// A decision on a call. The id names what the person has seen.
#[derive(Deserialize)]
struct Decided {
    id: String,
    /// The reason to deny the call.
    deny: Option<String>,
}

async fn decide(
    State(service): State<Service>,
    Extension(user): Extension<User>,
    Json(decided): Json<Decided>,
) -> Result<(), Refusal> {
    let decision = decided.deny.map_or(Decision::Allow, Decision::Deny);
    let inbox = service.inbox();
    let deciding = inbox.decide(&decided.id, decision, &user.name);
    deciding.await.map_err(|error: InboxError| {
        let status = StatusCode::from_u16(error.status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, error.to_string())
    })
}

fn refusal(error: ConversationError) -> Refusal {
    let status = StatusCode::from_u16(error.status());
    (
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        error.publish(),
    )
}
