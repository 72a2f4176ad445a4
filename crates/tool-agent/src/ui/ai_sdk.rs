//! The UI message stream of the AI SDK, version 6 and 7, for its `useChat`.
//!
//! [`Request`] reads what `DefaultChatTransport` posts, and answers with a stream. [`resume`] continues one that broke,
//! and [`messages`] writes the conversation for the first load of a page.
//!
//! ```
//! use std::convert::Infallible;
//!
//! use axum::extract::{Path, State};
//! use axum::http::StatusCode;
//! use axum::response::sse::{Event, KeepAlive, Sse};
//! use axum::response::{IntoResponse, Response};
//! use axum::routing::{get, post};
//! use axum::{Extension, Json, Router};
//! use futures_util::{Stream, StreamExt};
//! use serde_json::Value;
//! use tool_agent::conversations::{ConversationError, Conversations};
//! use tool_agent::run::Run;
//! use tool_agent::ui::ai_sdk;
//!
//! /// Who has signed in, as your middleware knows.
//! #[derive(Clone)]
//! struct User(String);
//!
//! type Refusal = (StatusCode, String);
//!
//! fn refusal(error: ConversationError) -> Refusal {
//!     let status = StatusCode::from_u16(error.status());
//!     (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error.publish())
//! }
//!
//! fn stream(events: impl Stream<Item = String> + Send + 'static) -> Response {
//!     let events = events.map(|data| Ok::<_, Infallible>(Event::default().data(data)));
//!     ([ai_sdk::HEADER], Sse::new(events).keep_alive(KeepAlive::default())).into_response()
//! }
//!
//! /// What the user wrote or decided.
//! async fn chat(
//!     State(all): State<Conversations>,
//!     Extension(User(user)): Extension<User>,
//!     Json(request): Json<ai_sdk::Request>,
//! ) -> Result<Response, Refusal> {
//!     let conversation = match all.open_as(&user, request.id()).await.map_err(refusal)? {
//!         Some(conversation) => conversation,
//!         // The page began a new one. If the id is that of somebody else, this is a conflict.
//!         None => {
//!             let run = Run::builder(request.id()).owner(&user).build();
//!             all.create(run).await.map_err(refusal)?
//!         }
//!     };
//!     let events = request.answer(&conversation, &user).await.map_err(refusal)?;
//!     Ok(stream(events))
//! }
//!
//! /// The rest of an answer, for a page that was loaded again.
//! async fn resume(
//!     State(all): State<Conversations>,
//!     Extension(User(user)): Extension<User>,
//!     Path(id): Path<String>,
//! ) -> Result<Response, Refusal> {
//!     let conversation = all.open_as(&user, &id).await.map_err(refusal)?;
//!     let events = conversation.and_then(|conversation| ai_sdk::resume(&conversation));
//!     Ok(events.map_or_else(|| StatusCode::NO_CONTENT.into_response(), stream))
//! }
//!
//! /// The messages so far, for `useChat({ id, messages, resume: true })`.
//! async fn messages(
//!     State(all): State<Conversations>,
//!     Extension(User(user)): Extension<User>,
//!     Path(id): Path<String>,
//! ) -> Result<Json<Vec<Value>>, Refusal> {
//!     let conversation = all.open_as(&user, &id).await.map_err(refusal)?;
//!     let messages = conversation.map(|conversation| ai_sdk::messages(&conversation.transcript()));
//!     Ok(Json(messages.unwrap_or_default()))
//! }
//!
//! fn router(all: Conversations) -> Router {
//!     Router::new()
//!         .route("/api/chat", post(chat))
//!         .route("/api/chat/{id}", get(messages))
//!         .route("/api/chat/{id}/stream", get(resume))
//!         .with_state(all)
//! }
//! ```
//!
//! The page:
//!
//! ```ts
//! const { messages, sendMessage, addToolApprovalResponse } = useChat({
//!   id,
//!   messages: await (await fetch(`/api/chat/${id}`)).json(),
//!   resume: true,
//!   sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
//! });
//! ```
//!
//! | in the conversation | in the page |
//! |---|---|
//! | a text | a part `text` |
//! | the model's reasoning | a part `reasoning`, which is gone after a reload |
//! | a call | a part `tool-NAME`, whose input grows while the model writes it |
//! | a call that waits | `approval-requested`; `approval.descriptor` is the [`ShownHold`], and in version 7 `approval.requestReason` its reason |
//! | a denied call | `output-denied` |
//! | a result | `output`: the value if the result is an object or array in JSON, else its text; a part `file` for each picture, audio or file |
//! | progress of a call | `onData`, with the transient `data-progress` |
//! | the tokens of the turn, at its end | `metadata.usage` of the message, which is gone after a reload |
//! | an error | `error`, with the sentence of [`Status::problem`](crate::conversations::Status::problem) |
//!
//! `stop()` in the page ends its stream alone. Add a route with [`Conversation::stop`] to stop the agent.
//!
//! This protocol takes nothing back, and a stream has one message. So a page shows two things only after it is loaded
//! again: that a text is void, if the agent goes on with another model in the middle of it
//! ([`Event::FellBack`](crate::Event::FellBack)), and the result of a [call in the background](crate::guide::background) that
//! ends in a later turn.

use std::collections::{BTreeMap, HashMap};

use futures_util::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::content::Content;
use tool_core::hooks::Decision;

use super::turn::{Piece, SentCall, Turn};
use super::{Encoder, decide, encode, encode_after, reply};
use crate::conversations::{Conversation, ConversationError, Status};
use crate::transcript::{CallStatus, Shown, ShownCall, ShownHold, Transcript, Verdict};

/// The header of a response with a stream: its name and its value.
pub const HEADER: (&str, &str) = ("x-vercel-ai-ui-message-stream", "v1");

/// What a page posts: a text of the user, decisions on calls, or the wish for another try.
///
/// It is read from JSON, and then it has the kind of the last message. The messages before count for nothing.
///
/// ```
/// use serde_json::json;
/// use tool_agent::ui::ai_sdk::Request;
///
/// let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Hello?"}]});
/// let body = json!({"id": "chat-1", "trigger": "submit-message", "messages": [message]});
/// let request: Request = serde_json::from_value(body)?;
/// assert_eq!(request.id(), "chat-1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Posted")]
pub struct Request {
    id: String,
    action: Action,
}

#[derive(Clone, Debug)]
enum Action {
    Say(String),
    Retry,
    /// The page continues a message that has these calls.
    Continue(Vec<Part>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Posted {
    id: String,
    messages: Vec<Message>,
    trigger: Option<String>,
    message_id: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: String,
    role: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    r#type: String,
    text: Option<String>,
    tool_call_id: Option<String>,
    state: Option<String>,
    approval: Option<Approval>,
}

#[derive(Clone, Debug, Deserialize)]
struct Approval {
    id: String,
    approved: Option<bool>,
    reason: Option<String>,
}

impl TryFrom<Posted> for Request {
    type Error = &'static str;

    fn try_from(posted: Posted) -> Result<Request, &'static str> {
        let Posted { id, messages, .. } = posted;
        if posted.trigger.as_deref() == Some("regenerate-message") {
            let action = Action::Retry;
            return Ok(Request { id, action });
        }
        // An answer to a question need not be in the last message.
        let named = posted.message_id.and_then(|id| {
            let mut messages = messages.iter();
            messages.rposition(|message| message.id == id)
        });
        let index = named.or(messages.len().checked_sub(1));
        let message = index.and_then(|index| messages.into_iter().nth(index));
        let message = message.ok_or("`messages` is empty; send the message of the user")?;
        if message.role == "assistant" {
            let action = Action::Continue(message.parts);
            return Ok(Request { id, action });
        }
        if message.role != "user" {
            return Err("the last message is not by the user; send one with the role `user`");
        }
        if message.parts.iter().any(|part| part.r#type == "file") {
            return Err("this conversation takes text alone; send the message without files");
        }
        let texts = message.parts.into_iter().filter_map(|part| part.text);
        let text = texts.collect::<Vec<_>>().join("\n");
        if text.trim().is_empty() {
            return Err("the message of the user is empty; send a part with a text");
        }
        let action = Action::Say(text);
        Ok(Request { id, action })
    }
}

impl Request {
    /// Returns the id of the conversation, which the page has chosen. Open it by [`Conversations::open_as`], because
    /// it may be anybody's.
    ///
    /// [`Conversations::open_as`]: crate::conversations::Conversations::open_as
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Does what the page asks for in the name of a user, and returns the answer: the data of server-sent events, the
    /// last of which is `[DONE]`.
    ///
    /// A text is a [reply](Conversation::reply) once the conversation rests, a decision goes to
    /// [`decide`](Conversation::decide), and another try is a [retry](Conversation::retry). The conversation continues once all
    /// decisions are made. They are made even if the answer is dropped, and decisions on calls that do not wait any more count
    /// for nothing. If one is refused, the answer asks again and ends with the reason.
    ///
    /// ```
    /// use futures_util::Stream;
    /// use tool_agent::conversations::{ConversationError, Conversations};
    /// use tool_agent::ui::ai_sdk::Request;
    ///
    /// /// The route of a page; see the documentation of the module for the whole one.
    /// async fn chat(
    ///     all: &Conversations,
    ///     user: &str,
    ///     request: Request,
    /// ) -> Result<Option<impl Stream<Item = String> + use<>>, ConversationError> {
    ///     let Some(conversation) = all.open_as(user, request.id()).await? else {
    ///         return Ok(None);
    ///     };
    ///     Ok(Some(request.answer(&conversation, user).await?))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Conversation::reply`], except [`ConversationError::Busy`].
    pub async fn answer(
        self,
        conversation: &Conversation,
        user: &str,
    ) -> Result<impl Stream<Item = String> + Send + Unpin + use<>, ConversationError> {
        let mut encoder = Chunks::default();
        let events = match self.action {
            Action::Say(text) => {
                let (updates, turn) = reply(conversation, text).await?;
                encode(updates, turn, encoder)
            }
            Action::Retry => match conversation.retry() {
                // It goes on because it was opened.
                Ok(()) | Err(ConversationError::Busy) => {
                    encode(conversation.follow(), Turn::default(), encoder)
                }
                Err(error) => return Err(error),
            },
            Action::Continue(parts) => {
                let (own, user) = (conversation.clone(), user.to_owned());
                let deciding = async move {
                    let (calls, problem) = decide_all(&own, parts, &user).await;
                    encoder.problem = problem;
                    (Turn::continued(calls), encoder)
                };
                encode_after(conversation, deciding)
            }
        };
        Ok(events)
    }
}

/// Decides on the calls that wait. Returns what the page has of its calls, and the reason if a decision is refused.
async fn decide_all(
    conversation: &Conversation,
    parts: Vec<Part>,
    user: &str,
) -> (HashMap<String, SentCall>, Option<String>) {
    let mut calls = HashMap::new();
    let mut decisions = Vec::new();
    for part in parts {
        let Some(key) = part.tool_call_id else {
            continue;
        };
        let state = part.state.unwrap_or_default();
        let mut call = SentCall {
            is_complete: state != "input-streaming",
            has_ended: state.starts_with("output-"),
            ..SentCall::default()
        };
        if let Some(approval) = part.approval {
            if let Some(is_approved) = approval.approved {
                let decision = if is_approved {
                    Decision::Allow
                } else {
                    Decision::deny(approval.reason.unwrap_or_default())
                };
                decisions.push((approval.id.clone(), decision));
            }
            call.asked = Some(approval.id);
        }
        calls.insert(key, call);
    }
    let refused = decide(conversation, decisions, user).await;
    for call in calls.values_mut() {
        // The page takes a refused decision for an answer.
        let is_refused = |asked: &mut String| refused.iter().any(|(id, _)| id == asked);
        call.asked.take_if(is_refused);
    }
    let problem = refused.into_iter().next();
    (calls, problem.map(|(_, reason)| reason))
}

/// Continues the answer of a conversation for a page that was loaded again, or whose connection broke. Returns `None`
/// if the conversation rests, for which a server answers with the status 204.
///
/// The stream begins with the start of the turn.
///
/// ```
/// use tool_agent::conversations::Conversation;
/// use tool_agent::ui::ai_sdk;
///
/// fn status(conversation: &Conversation) -> u16 {
///     if ai_sdk::resume(conversation).is_some() { 200 } else { 204 }
/// }
/// ```
pub fn resume(
    conversation: &Conversation,
) -> Option<impl Stream<Item = String> + Send + Unpin + use<>> {
    let is_busy = conversation.status().is_busy;
    is_busy.then(|| encode(conversation.follow(), Turn::default(), Chunks::default()))
}

/// Writes a conversation as the messages of a page, for its first load.
///
/// ```
/// use serde_json::{Value, json};
/// use tool_agent::conversations::Conversation;
/// use tool_agent::ui::ai_sdk;
///
/// fn page(conversation: &Conversation) -> Value {
///     json!({"id": conversation.info().id(), "messages": ai_sdk::messages(&conversation.transcript())})
/// }
/// ```
pub fn messages(transcript: &Transcript) -> Vec<Value> {
    let mut messages: Vec<(String, &str, Vec<Value>)> = Vec::new();
    let mut number = 0;
    let mut response = None;
    for entry in transcript.entries() {
        if let Shown::User { text } = &entry.shown {
            number += 1;
            let parts = vec![json!({"type": "text", "text": text})];
            messages.push((entry.key.clone(), "user", parts));
            continue;
        }
        if messages.last().is_none_or(|(_, role, _)| *role == "user") {
            messages.push((message_id(number), "assistant", Vec::new()));
        }
        let Some((_, _, parts)) = messages.last_mut() else {
            continue;
        };
        let own = crate::transcript::round_of(&entry.key);
        if response != own {
            response = own;
            parts.push(json!({"type": "step-start"}));
        }
        match &entry.shown {
            Shown::Call(call) => {
                parts.push(tool_part(&entry.key, call));
                parts.extend(files(call));
            }
            Shown::Model { text } => {
                parts.push(json!({"type": "text", "text": text, "state": "done"}));
            }
            Shown::User { .. } => {}
        }
    }
    let messages = messages.into_iter();
    let messages =
        messages.map(|(id, role, parts)| json!({"id": id, "role": role, "parts": parts}));
    messages.collect()
}

/// Returns the id of the message with the turn after this number of messages of the user.
fn message_id(number: usize) -> String {
    format!("turn-{number}")
}

fn tool_part(key: &str, call: &ShownCall) -> Value {
    let kind = format!("tool-{}", call.name);
    let mut part = json!({"type": kind, "toolCallId": key});
    if call.status == CallStatus::Writing {
        part["state"] = json!("input-streaming");
        part["rawInput"] = json!(call.arguments);
        return part;
    }
    part["input"] = value_of(&call.arguments);
    let result = call.result.as_deref().unwrap_or_default();
    let is_approved = call
        .decisions
        .last()
        .is_some_and(|last| last.verdict != Verdict::Denied);
    if is_approved {
        part["approval"] = json!({"id": key, "approved": true});
    }
    let state = match call.status {
        CallStatus::Waiting => {
            if let Some(hold) = &call.hold {
                let reason = &hold.reason;
                part["approval"] =
                    json!({"id": hold.fingerprint, "descriptor": hold, "requestReason": reason});
            }
            "approval-requested"
        }
        CallStatus::Done => {
            part["output"] = value_of(result);
            "output-available"
        }
        CallStatus::Denied => {
            part["approval"] = json!({"id": key, "approved": false, "reason": result});
            "output-denied"
        }
        CallStatus::Failed => {
            part["errorText"] = json!(result);
            "output-error"
        }
        // The page has no decision to show on a call that runs.
        CallStatus::Running | CallStatus::Writing => {
            part.as_object_mut().map(|part| part.remove("approval"));
            "input-available"
        }
    };
    part["state"] = json!(state);
    part
}

/// Returns the object or array that a text has in JSON, or the text.
fn value_of(text: &str) -> Value {
    let value = serde_json::from_str(text).ok();
    let value = value.filter(|value: &Value| value.is_object() || value.is_array());
    value.unwrap_or_else(|| text.into())
}

/// Returns a part, and also a chunk, for each part of a result that is not text.
fn files(call: &ShownCall) -> impl Iterator<Item = Value> {
    let media = call.parts.iter().filter_map(Content::media);
    media.map(|media| {
        let media_type = media.media_type().unwrap_or("application/octet-stream");
        json!({"type": "file", "mediaType": media_type, "url": media.data_url()})
    })
}

/// Writes the chunks of the stream.
#[derive(Default)]
struct Chunks {
    /// The kind and id of the part that is open, a text or the reasoning.
    open: Option<(&'static str, String)>,
    is_in_step: bool,
    /// The reason why a decision was refused.
    problem: Option<String>,
}

impl Encoder for Chunks {
    fn write(&mut self, piece: Piece<'_>, out: &mut Vec<String>) {
        let mut send = |chunk: Value| out.push(chunk.to_string());
        match piece {
            Piece::Start(number) => {
                send(json!({"type": "start", "messageId": message_id(number)}));
            }
            // This protocol replaces nothing.
            Piece::All(_) => {}
            Piece::Response => {
                self.end_step(&mut send);
                self.is_in_step = true;
                send(json!({"type": "start-step"}));
            }
            Piece::Text { key, piece, is_new } => {
                self.piece("text", key, piece, is_new, &mut send);
            }
            Piece::Reasoning { key, piece } => {
                self.piece("reasoning", key, piece, false, &mut send);
            }
            Piece::CallStarted { key, call } => {
                self.close(&mut send);
                send(json!({"type": "tool-input-start", "toolCallId": key, "toolName": call.name}));
            }
            Piece::Arguments { key, piece } => {
                send(
                    json!({"type": "tool-input-delta", "toolCallId": key, "inputTextDelta": piece}),
                );
            }
            Piece::Call { key, call, .. } => {
                let input = value_of(&call.arguments);
                send(json!({"type": "tool-input-available", "toolCallId": key,
                    "toolName": call.name, "input": input}));
            }
            Piece::Held { key, hold } => {
                send(json!({"type": "tool-approval-request", "toolCallId": key,
                    "approvalId": hold.fingerprint, "reason": hold.reason,
                    "approvalDescriptor": hold}));
            }
            Piece::Progress { key, progress } => {
                send(json!({"type": "data-progress", "transient": true,
                    "data": {"toolCallId": key, "message": progress}}));
            }
            Piece::Result {
                key,
                call,
                is_asked,
            } => end_call(key, call, is_asked, &mut send),
            Piece::End { status, holds } => self.end(status, holds, &mut send),
        }
        if let Piece::End { .. } = piece {
            out.push("[DONE]".into());
        }
    }
}

impl Chunks {
    /// Writes a piece of a text or of the reasoning.
    fn piece(
        &mut self,
        kind: &'static str,
        id: &str,
        piece: &str,
        is_new: bool,
        send: &mut impl FnMut(Value),
    ) {
        let is_open = |(open, open_id): &(&str, String)| *open == kind && open_id == id;
        if is_new || !self.open.as_ref().is_some_and(is_open) {
            self.close(send);
            self.open = Some((kind, id.to_owned()));
            send(json!({"type": format!("{kind}-start"), "id": id}));
        }
        send(json!({"type": format!("{kind}-delta"), "id": id, "delta": piece}));
    }

    fn close(&mut self, send: &mut impl FnMut(Value)) {
        if let Some((kind, id)) = self.open.take() {
            send(json!({"type": format!("{kind}-end"), "id": id}));
        }
    }

    fn end_step(&mut self, send: &mut impl FnMut(Value)) {
        self.close(send);
        if std::mem::take(&mut self.is_in_step) {
            send(json!({"type": "finish-step"}));
        }
    }

    fn end(
        &mut self,
        status: &Status,
        holds: &BTreeMap<String, ShownHold>,
        send: &mut impl FnMut(Value),
    ) {
        self.end_step(send);
        let problem = self.problem.as_ref().or(status.problem.as_ref());
        if let Some(problem) = problem {
            send(json!({"type": "error", "errorText": problem}));
        }
        let reason = match problem {
            Some(_) => "error",
            None if !holds.is_empty() => "tool-calls",
            None => "stop",
        };
        let mut finish = json!({"type": "finish", "finishReason": reason});
        if let Some(usage) = status.usage {
            // The names of `LanguageModelUsage` in the AI SDK 6.
            finish["messageMetadata"] = json!({"usage": {
                "inputTokens": usage.input,
                "cachedInputTokens": usage.cached_input,
                "outputTokens": usage.output,
                "totalTokens": usage.total(),
            }});
        }
        send(finish);
    }
}

fn end_call(key: &str, call: &ShownCall, is_asked: bool, send: &mut impl FnMut(Value)) {
    let result = call.result.as_deref().unwrap_or_default();
    match call.status {
        CallStatus::Done => {
            let output = value_of(result);
            send(json!({"type": "tool-output-available", "toolCallId": key, "output": output}));
            files(call).for_each(send);
        }
        CallStatus::Denied => {
            if !is_asked {
                // In a page, a denied call always has an approval.
                send(json!({"type": "tool-approval-request", "toolCallId": key,
                    "approvalId": key, "isAutomatic": true}));
            }
            send(json!({"type": "tool-output-denied", "toolCallId": key}));
        }
        _ => {
            send(json!({"type": "tool-output-error", "toolCallId": key, "errorText": result}));
        }
    }
}
