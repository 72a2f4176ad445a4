//! Questions to the user, in each version of the protocol.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::Peer;
use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientResult, ElicitRequest as WireRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequests, InputResponses, RequestId, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::Notify;
use tool_core::call::elicit::{ElicitError, ElicitMode, ElicitRequest, Elicited, Elicitor};
use tool_core::hooks::{Decision, Hold};
use tool_core::runtime::BoxFuture;

use super::request::has_connection;
use super::state::{State, digest};
use super::tasks::TaskContext;
use crate::lock;

/// How the user of a call is asked.
enum Way {
    /// By a request to the client, which is answered within the call.
    Peer(Box<Peer<RoleServer>>),
    /// By the result of the call, which is made again.
    Result,
    /// By the state of the task.
    Task(TaskContext),
    /// Not at all, for this reason.
    None(&'static str),
}

/// Asks the user of one call.
pub(super) struct Asker {
    way: Way,
    forms: bool,
    urls: bool,
    /// Set once a tool asked and the client lacks the capability, since protocol version 2026-07-28.
    lacks_capability: AtomicBool,
    notes: Mutex<Notes>,
    /// Notified when a question must end the call.
    suspend: Notify,
}

#[derive(Default)]
struct Notes {
    /// The questions that end the call.
    pending: InputRequests,
    answers: BTreeMap<String, ElicitResult>,
    kept: BTreeMap<String, String>,
}

impl Asker {
    /// Creates the asker of a call within its request. `is_modern` is `true` since protocol version
    /// 2026-07-28.
    pub(super) fn new(context: &RequestContext<RoleServer>, is_modern: bool) -> Asker {
        let way = if is_modern {
            Way::Result
        } else if has_connection(context) {
            Way::Peer(Box::new(context.peer.clone()))
        } else {
            Way::None("the client has no session")
        };
        Asker::with_way(way, context.client_capabilities())
    }

    /// Returns the task of the call, if it is one.
    pub(super) fn task(&self) -> Option<&TaskContext> {
        match &self.way {
            Way::Task(task) => Some(task),
            _ => None,
        }
    }

    /// Creates the asker of a call that is a task.
    pub(super) fn of_task(task: TaskContext, capabilities: Option<ClientCapabilities>) -> Asker {
        Asker::with_way(Way::Task(task), capabilities)
    }

    fn with_way(way: Way, capabilities: Option<ClientCapabilities>) -> Asker {
        let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
        let (forms, urls) = match elicitation {
            // A client that names no mode means forms (2025-11-25, `client/elicitation`, "Capabilities").
            Some(modes) => (
                modes.form.is_some() || modes.url.is_none(),
                modes.url.is_some(),
            ),
            None => (false, false),
        };
        Asker {
            way,
            forms,
            urls,
            lacks_capability: AtomicBool::new(false),
            notes: Mutex::default(),
            suspend: Notify::new(),
        }
    }

    /// Adds the data that the client sends with a call that is made again. Ignores answers to questions
    /// that were not asked.
    pub(super) fn resume(&self, state: State, responses: Option<InputResponses>) {
        let mut notes = lock(&self.notes);
        notes.answers = state.answers;
        notes.kept = state.kept;
        for (key, response) in responses.unwrap_or_default() {
            if state.asked.contains(&key)
                && let Ok(answer) = serde_json::from_value(response)
            {
                notes.answers.insert(key, answer);
            }
        }
    }

    /// Resolves when a question ends the call.
    pub(super) async fn suspended(&self) {
        self.suspend.notified().await;
    }

    /// Returns the questions that end the call, and the state for the next call.
    pub(super) fn take_questions(&self) -> (InputRequests, State) {
        let mut notes = lock(&self.notes);
        let pending = std::mem::take(&mut notes.pending);
        let state = State {
            asked: pending.keys().cloned().collect(),
            answers: std::mem::take(&mut notes.answers),
            kept: std::mem::take(&mut notes.kept),
            ..State::default()
        };
        (pending, state)
    }

    /// Returns `true` if a tool asked and the client lacks the capability.
    pub(super) fn lacks_capability(&self) -> bool {
        self.lacks_capability.load(Ordering::Relaxed)
    }

    /// Asks whether to run a call that a hook holds.
    pub(super) async fn decide(self: &Arc<Self>, hold: &Hold) -> Result<Decision, ElicitError> {
        let message = format!(
            "Allow {}? {}\nArguments: {}",
            hold.tool(),
            hold.reason(),
            hold.arguments()
        );
        let question = tool_core::call::elicit::Elicit::confirm(message);
        // The arguments are part of the key, because an answer is for these arguments alone.
        let key = format!(
            "tool-core/hold/{}",
            digest(&[hold.reason(), hold.raw_arguments()])
        );
        let answer = self.elicit(&key, question.request().clone()).await?;
        Ok(match answer {
            Elicited::Accepted(_) => Decision::Allow,
            Elicited::Declined => Decision::deny("the user declined"),
            Elicited::Dismissed => Decision::deny("the user closed the question"),
        })
    }

    /// Checks that the client can ask in this way.
    fn check_mode(&self, mode: &ElicitMode) -> Result<(), ElicitError> {
        if let Way::None(reason) = self.way {
            return Err(ElicitError::unsupported(reason));
        }
        let (supported, what) = match mode {
            ElicitMode::Form(_) => (self.forms, "the client does not ask its user"),
            _ => (self.urls, "the client does not open pages"),
        };
        if supported {
            return Ok(());
        }
        // Older versions of the protocol have no error for this.
        if matches!(self.way, Way::Result | Way::Task(_)) {
            self.lacks_capability.store(true, Ordering::Relaxed);
        }
        Err(ElicitError::unsupported(what))
    }
}

/// Asks on behalf of tools. Kept apart from [`Asker`] for `self: Arc`.
pub(super) struct ToolElicitor(pub(super) Arc<Asker>);

impl Elicitor for ToolElicitor {
    fn elicit(
        &self,
        key: &str,
        request: ElicitRequest,
    ) -> BoxFuture<Result<Elicited, ElicitError>> {
        let (asker, key) = (self.0.clone(), key.to_owned());
        Box::pin(async move { asker.elicit(&key, request).await })
    }

    fn keep(&self, key: &str, json: String) {
        lock(&self.0.notes).kept.insert(key.to_owned(), json);
    }

    fn kept(&self, key: &str) -> Option<String> {
        lock(&self.0.notes).kept.get(key).cloned()
    }
}

impl Asker {
    async fn elicit(&self, key: &str, request: ElicitRequest) -> Result<Elicited, ElicitError> {
        let earlier = lock(&self.notes).answers.get(key).cloned();
        if let Some(answer) = earlier {
            return read(answer);
        }
        self.check_mode(&request.mode)?;
        let params = params(request)?;
        let answer = match &self.way {
            Way::Peer(peer) => ask_peer(peer, params).await?,
            Way::Task(task) => {
                let request = InputRequest::Elicitation(WireRequest::new(params));
                let answer = task.ask(key, request).await;
                let answer = answer.ok_or_else(|| ElicitError::failed("the task was cancelled"))?;
                serde_json::from_value(answer).map_err(ElicitError::invalid)?
            }
            Way::Result => {
                let request = InputRequest::Elicitation(WireRequest::new(params));
                lock(&self.notes).pending.insert(key.to_owned(), request);
                self.suspend.notify_one();
                // The call is dropped.
                std::future::pending().await
            }
            Way::None(reason) => return Err(ElicitError::unsupported(*reason)),
        };
        lock(&self.notes)
            .answers
            .insert(key.to_owned(), answer.clone());
        read(answer)
    }
}

fn params(request: ElicitRequest) -> Result<ElicitRequestParams, ElicitError> {
    let ElicitRequest { message, mode, .. } = request;
    Ok(match mode {
        ElicitMode::Form(schema) => {
            let schema = serde_json::from_str::<ElicitationSchema>(&schema).map_err(|error| {
                ElicitError::unsupported(format!("the form has parts that MCP has not: {error}"))
            })?;
            ElicitRequestParams::FormElicitationParams {
                meta: None,
                message,
                requested_schema: schema,
            }
        }
        ElicitMode::Url(url) => ElicitRequestParams::UrlElicitationParams {
            meta: None,
            message,
            elicitation_id: url.clone(),
            url,
        },
        _ => return Err(ElicitError::unsupported("MCP has no such question")),
    })
}

fn read(answer: ElicitResult) -> Result<Elicited, ElicitError> {
    Ok(match answer.action {
        ElicitationAction::Accept => Elicited::Accepted(match answer.content {
            Some(content) if content.is_object() => content,
            Some(Value::Null) | None => Value::Object(serde_json::Map::new()),
            Some(_) => return Err(ElicitError::invalid("expected an object")),
        }),
        ElicitationAction::Decline => Elicited::Declined,
        _ => Elicited::Dismissed,
    })
}

/// Makes a request to the client. It is cancelled if the future is dropped.
async fn ask_peer(
    peer: &Peer<RoleServer>,
    params: ElicitRequestParams,
) -> Result<ElicitResult, ElicitError> {
    let request = ServerRequest::ElicitRequest(WireRequest::new(params));
    let handle = peer
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .map_err(ElicitError::failed)?;
    let mut guard = CancelOnDrop(Some((peer.clone(), handle.id.clone())));
    let answer = handle.await_response().await;
    guard.0 = None;
    match answer.map_err(ElicitError::failed)? {
        ClientResult::ElicitResult(answer) => Ok(answer),
        _ => Err(ElicitError::failed(
            "the client sent another kind of answer",
        )),
    }
}

struct CancelOnDrop(Option<(Peer<RoleServer>, RequestId)>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some((peer, id)), Ok(runtime)) =
            (self.0.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(async move {
            let reason = "the call that asked has ended".to_owned();
            let cancelled = CancelledNotificationParam::new(Some(id), Some(reason));
            let _ = peer.notify_cancelled(cancelled).await;
        });
    }
}
