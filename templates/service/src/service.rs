//! The routes: the page, what it follows, and what a person does on it.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use futures_util::{Stream, StreamExt};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_agent::conversations::{Conversation, ConversationError, Conversations};
use tool_agent::run::{FileJournal, Journal, JournalError, Page, Run};
use tool_agent::transcript::ShownHold;
use tool_core::Registry;
use tool_core::hooks::Decision;
use tool_mcp::Server;
use tool_mcp::server::UserId;
use tool_mcp::server::http::{Auth, AuthError, HttpConfig};

use crate::tools::User;
use crate::users::Users;

#[derive(Clone)]
pub struct Service {
    pub conversations: Conversations,
    pub journal: FileJournal,
    pub users: Users,
}

/// A response that refuses a request.
type Refusal = (StatusCode, String);

pub fn router(service: Service, registry: Registry) -> Router {
    let mcp = mcp(service.users.clone(), registry);
    Router::new()
        .route("/lists", get(lists))
        .route("/conversations", post(create))
        .route("/conversations/{id}", get(follow).post(act))
        // The routes above need a user. The page has nothing of one.
        .layer(from_fn_with_state(service.clone(), sign_in))
        .route("/", get(async || Html(include_str!("page.html"))))
        .with_state(service)
        .merge(mcp)
}

/// Serves the same tools to MCP clients, with the token of a user. A call that needs a decision is refused there;
/// `Server::on_hold` lets it wait in an inbox.
fn mcp(users: Users, registry: Registry) -> Router {
    let known = users.clone();
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
    /// Opens a conversation of its owner. A lead opens those of others to decide on a call.
    async fn open(&self, user: &User, id: &str, decides: bool) -> Result<Conversation, Refusal> {
        let found = match decides && user.is_lead {
            true => self.conversations.open(id).await,
            false => self.conversations.open_as(&user.name, id).await,
        };
        let found = found.map_err(refusal)?;
        found.ok_or_else(|| (StatusCode::NOT_FOUND, "no such conversation".into()))
    }

    /// Returns the conversations of a user, and the calls on which the user decides.
    async fn lists_of(&self, user: &User) -> Result<Value, JournalError> {
        let own = self.journal.runs(Some(&user.name), Page::new(20)).await?;
        let own = own.iter();
        let own: Vec<_> = own
            .map(|head| json!({"id": head.id, "saved_ms": head.saved_ms}))
            .collect();
        let waiting = if user.is_lead {
            self.journal.waiting(Page::new(100)).await?
        } else {
            Vec::new()
        };
        let waiting = waiting.iter().flat_map(|head| &head.waiting);
        // The calls of one's own are in the conversation.
        let of_others = waiting.filter(|call| call.owner() != Some(&user.name));
        let inbox: Vec<_> = of_others.map(ShownHold::from).collect();
        Ok(json!({"user": user.name, "conversations": own, "inbox": inbox}))
    }
}

/// Sends the lists of a user, and again when they change.
async fn lists(State(service): State<Service>, Extension(user): Extension<User>) -> Response {
    let shared = Arc::new((service, user));
    let changes = shared.0.conversations.changes();
    events(changes.filter_map(move |()| {
        let shared = Arc::clone(&shared);
        // A journal that fails once may work at the next change.
        async move { shared.0.lists_of(&shared.1).await.ok() }
    }))
}

/// Sends a conversation, and then each change. A page that connects again gets all of it again, so it needs nothing of
/// before.
async fn follow(
    State(service): State<Service>,
    Extension(user): Extension<User>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let conversation = service.open(&user, &id, false).await?;
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

/// What a person does. The fingerprint names the call that the person has seen.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum Action {
    Say { text: String },
    Retry,
    Stop,
    Allow { fingerprint: String },
    Deny { fingerprint: String, reason: String },
}

async fn act(
    State(service): State<Service>,
    Extension(user): Extension<User>,
    Path(id): Path<String>,
    Json(action): Json<Action>,
) -> Result<(), Refusal> {
    let decides = matches!(action, Action::Allow { .. } | Action::Deny { .. });
    let conversation = service.open(&user, &id, decides).await?;
    let done = match action {
        Action::Say { text } => conversation.reply(text).await,
        Action::Retry => conversation.retry(),
        Action::Stop => conversation.stop().await,
        Action::Allow { fingerprint } => {
            conversation
                .decide(&fingerprint, Decision::Allow, &user.name)
                .await
        }
        Action::Deny {
            fingerprint,
            reason,
        } => {
            conversation
                .decide(&fingerprint, Decision::deny(reason), &user.name)
                .await
        }
    };
    done.map_err(refusal)
}

fn refusal(error: ConversationError) -> Refusal {
    let status = StatusCode::from_u16(error.status());
    (
        status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        error.publish(),
    )
}
