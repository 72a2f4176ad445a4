//! AG-UI 1.0, the protocol of agents and user interfaces.
//!
//! [`Request`] reads the `RunAgentInput` that its `HttpAgent` posts, and answers with a stream of events. A route differs
//! from that of [`ai_sdk`](super::ai_sdk) in the type alone:
//!
//! ```
//! use std::convert::Infallible;
//!
//! use axum::extract::State;
//! use axum::http::StatusCode;
//! use axum::response::sse::{Event, KeepAlive, Sse};
//! use axum::response::{IntoResponse, Response};
//! use axum::{Extension, Json};
//! use futures_util::StreamExt;
//! use tool_agent::conversations::Conversations;
//! use tool_agent::ui::ag_ui;
//!
//! /// Who has signed in, as your middleware knows.
//! #[derive(Clone)]
//! struct User(String);
//!
//! async fn agent(
//!     State(all): State<Conversations>,
//!     Extension(User(user)): Extension<User>,
//!     Json(request): Json<ag_ui::Request>,
//! ) -> Result<Response, (StatusCode, String)> {
//!     let opened = all.open_as(&user, request.thread()).await;
//!     let Ok(Some(conversation)) = opened else {
//!         return Err((StatusCode::NOT_FOUND, "no such conversation".into()));
//!     };
//!     let answer = request.answer(&conversation, &user).await;
//!     let events = answer.map_err(|error| {
//!         let status = StatusCode::from_u16(error.status());
//!         (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), error.publish())
//!     })?;
//!     let events = events.map(|data| Ok::<_, Infallible>(Event::default().data(data)));
//!     Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
//! }
//! ```
//!
//! | in the conversation | in the events |
//! |---|---|
//! | a text, the model's reasoning, a call, its result | `TEXT_MESSAGE_…`, `REASONING_…`, `TOOL_CALL_…`, `TOOL_CALL_RESULT` with its pictures |
//! | calls that wait | `RUN_FINISHED` with an interrupt for each; the `metadata` has the [`ShownHold`] |
//! | a decision | an entry of `resume`, whose payload is `{"approved": true}` or `{"approved": false, "reason": …}`; any other denies |
//! | progress of a call | `CUSTOM` with the name `progress` |
//! | an error | `RUN_ERROR`, with the sentence of [`Status::problem`](crate::conversations::Status::problem) |
//!
//! If a request has neither a new message of the user nor decisions, it follows the conversation: the stream begins with a
//! `MESSAGES_SNAPSHOT`, and what the agent is writing continues. Another one takes back what an error makes void. A text that
//! is void because the agent goes on with another model ([`Event::FellBack`](crate::Event::FellBack)) stays until a front end
//! follows again. Tools, state and context in a request count for nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures_util::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::content::Content;
use tool_core::hooks::Decision;

use super::turn::{Piece, SentCall, Turn};
use super::{Encoder, decide, encode, encode_after, reply};
use crate::conversations::{Conversation, ConversationError, Status};
use crate::transcript::{CallStatus, Entry, Shown, ShownCall, ShownHold, round_of};

/// What a front end posts: a text of the user, decisions on calls, or the wish to follow.
///
/// It is read from the JSON of a `RunAgentInput`. The messages before the last one count for nothing.
///
/// ```
/// use serde_json::json;
/// use tool_agent::ui::ag_ui::Request;
///
/// let message = json!({"id": "m1", "role": "user", "content": "Hello?"});
/// let input = json!({"threadId": "chat-1", "runId": "run-1", "messages": [message], "tools": [], "context": []});
/// let request: Request = serde_json::from_value(input)?;
/// assert_eq!(request.thread(), "chat-1");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Input")]
pub struct Request {
    thread: String,
    run: String,
    action: Action,
}

#[derive(Clone, Debug)]
enum Action {
    Say(String),
    /// Decisions on calls, and the calls that the front end has.
    Resume(Vec<Answer>, HashMap<String, SentCall>),
    Follow,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    thread_id: String,
    run_id: String,
    messages: Vec<Message>,
    #[serde(default)]
    resume: Vec<Answer>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    role: String,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Vec<Call>,
    tool_call_id: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    id: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    interrupt_id: String,
    status: String,
    #[serde(default)]
    payload: Value,
}

impl TryFrom<Input> for Request {
    type Error = &'static str;

    fn try_from(input: Input) -> Result<Request, &'static str> {
        let action = if !input.resume.is_empty() {
            Action::Resume(input.resume, calls_of(&input.messages))
        } else if let Some(last) = input.messages.last().filter(|last| last.role == "user") {
            Action::Say(text_of(&last.content)?)
        } else {
            Action::Follow
        };
        let (thread, run) = (input.thread_id, input.run_id);
        Ok(Request {
            thread,
            run,
            action,
        })
    }
}

fn text_of(content: &Value) -> Result<String, &'static str> {
    let parts = content.as_array().map_or(&[][..], Vec::as_slice);
    if parts.iter().any(|part| part["type"] != "text") {
        return Err("this conversation takes text alone; send the message without other parts");
    }
    let texts = parts.iter().filter_map(|part| part["text"].as_str());
    let texts: Vec<_> = texts.chain(content.as_str()).collect();
    let text = texts.join("\n");
    if text.trim().is_empty() {
        return Err("the message of the user is empty; send a text");
    }
    Ok(text)
}

/// Returns the calls in messages of a front end, by key.
fn calls_of(messages: &[Message]) -> HashMap<String, SentCall> {
    let calls = messages.iter().flat_map(|message| &message.tool_calls);
    let calls = calls.map(|call| {
        let id = Some(&call.id);
        let mut messages = messages.iter();
        let sent = SentCall {
            is_complete: true,
            has_ended: messages.any(|message| message.tool_call_id.as_ref() == id),
            ..SentCall::default()
        };
        (call.id.clone(), sent)
    });
    calls.collect()
}

impl Request {
    /// Returns the id of the thread, which is that of a conversation. Open it by [`Conversations::open_as`], because it may
    /// be anybody's.
    ///
    /// [`Conversations::open_as`]: crate::conversations::Conversations::open_as
    pub fn thread(&self) -> &str {
        &self.thread
    }

    /// Does what the front end asks for in the name of a user, and returns the answer: the data of server-sent events.
    ///
    /// A text is a [reply](Conversation::reply) once the conversation rests, and a decision is
    /// [decided](Conversation::decide). The conversation continues once all decisions are made. They are made even if the answer
    /// is dropped, and decisions on calls that do not wait any more count for nothing. If one is refused, the answer ends
    /// with the reason.
    ///
    /// ```
    /// use futures_util::Stream;
    /// use tool_agent::conversations::{ConversationError, Conversations};
    /// use tool_agent::ui::ag_ui::Request;
    ///
    /// /// The route of a front end; see the documentation of the module for the whole one.
    /// async fn agent(
    ///     all: &Conversations,
    ///     user: &str,
    ///     request: Request,
    /// ) -> Result<Option<impl Stream<Item = String> + use<>>, ConversationError> {
    ///     let Some(conversation) = all.open_as(user, request.thread()).await? else {
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
        let mut encoder = Events {
            thread: self.thread,
            run: self.run,
            ..Events::default()
        };
        let events = match self.action {
            Action::Say(text) => {
                let (updates, turn) = reply(conversation, text).await?;
                encode(updates, turn.replacing(false), encoder)
            }
            Action::Resume(answers, calls) => {
                let (own, user) = (conversation.clone(), user.to_owned());
                let deciding = async move {
                    encoder.problem = decide_all(&own, answers, &user).await;
                    (Turn::continued(calls).replacing(false), encoder)
                };
                encode_after(conversation, deciding)
            }
            Action::Follow => {
                let turn = Turn::default().replacing(true);
                encode(conversation.follow(), turn, encoder)
            }
        };
        Ok(events)
    }
}

/// Decides on the calls that wait. Returns the reason if a decision is refused.
async fn decide_all(
    conversation: &Conversation,
    answers: Vec<Answer>,
    user: &str,
) -> Option<String> {
    let decisions = answers.into_iter().map(|answer| {
        let is_approved = answer.status == "resolved" && answer.payload["approved"] == true;
        let decision = if is_approved {
            Decision::Allow
        } else {
            Decision::deny(answer.payload["reason"].as_str().unwrap_or_default())
        };
        (answer.interrupt_id, decision)
    });
    let refused = decide(conversation, decisions.collect(), user).await;
    refused.into_iter().next().map(|(_, reason)| reason)
}

/// Writes entries as the messages of a front end.
fn messages(entries: &[Entry]) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    let mut results = Vec::new();
    for entry in entries {
        let key = &entry.key;
        let id = message_of(key);
        let has_message = messages.last().is_some_and(|last| last["id"] == *id);
        if !has_message {
            messages.append(&mut results);
        }
        match &entry.shown {
            Shown::User { text } => {
                messages.push(json!({"id": key, "role": "user", "content": text}));
            }
            Shown::Model { text } => {
                messages.push(json!({"id": id, "role": "assistant", "content": text}));
            }
            Shown::Call(call) => {
                if !has_message {
                    messages.push(json!({"id": id, "role": "assistant"}));
                }
                let function = json!({"name": call.name, "arguments": call.arguments});
                let own = json!({"id": key, "type": "function", "function": function});
                if let Some(last) = messages.last_mut() {
                    match &mut last["toolCalls"] {
                        Value::Array(calls) => calls.push(own),
                        none => *none = json!([own]),
                    }
                }
                if call.result.is_some() {
                    results.push(
                        json!({"id": result_of(key), "role": "tool", "toolCallId": key,
                        "content": content_of(call)}),
                    );
                }
            }
        }
    }
    messages.append(&mut results);
    messages
}

/// Returns the id of the message with the response that an entry belongs to.
fn message_of(key: &str) -> String {
    round_of(key).map_or_else(|| key.to_owned(), |round| format!("model-{round}"))
}

/// Returns the id of the message with the result of a call.
fn result_of(key: &str) -> String {
    format!("result-{key}")
}

/// Returns the text of a result, or its parts if it has pictures, audio or files.
fn content_of(call: &ShownCall) -> Value {
    let text = call.result.as_deref().unwrap_or_default();
    let media = call.parts.iter().filter_map(|part| {
        let media = part.media()?;
        let kind = match part {
            Content::Image(_) => "image",
            Content::Audio(_) => "audio",
            _ => "document",
        };
        let media_type = media.media_type().unwrap_or("application/octet-stream");
        let source = match media.as_url() {
            Some(url) => json!({"type": "url", "value": url}),
            None => json!({"type": "data", "value": media.base64(), "mimeType": media_type}),
        };
        Some(json!({"type": kind, "source": source}))
    });
    let media: Vec<_> = media.collect();
    if media.is_empty() {
        return json!(text);
    }
    let parts = [json!({"type": "text", "text": text})].into_iter();
    parts.chain(media).collect()
}

/// Writes the events of a run of the protocol.
#[derive(Default)]
struct Events {
    thread: String,
    run: String,
    /// The id of the text or reasoning that is open.
    text: Option<String>,
    reasoning: Option<String>,
    /// The calls whose arguments are open.
    calls: BTreeSet<String>,
    /// The reason why a decision was refused.
    problem: Option<String>,
}

impl Encoder for Events {
    fn write(&mut self, piece: Piece<'_>, out: &mut Vec<String>) {
        let mut send = |event: Value| out.push(event.to_string());
        match piece {
            Piece::Start(_) => {
                let (thread, run) = (&self.thread, &self.run);
                send(json!({"type": "RUN_STARTED", "threadId": thread, "runId": run}));
            }
            Piece::All(entries) => {
                self.close(&mut send);
                self.close_calls(&mut send);
                let messages = messages(entries);
                send(json!({"type": "MESSAGES_SNAPSHOT", "messages": messages}));
                for entry in entries {
                    match &entry.shown {
                        Shown::Call(call) if call.status == CallStatus::Writing => {
                            self.open_call(&entry.key, &call.name, &mut send);
                        }
                        _ => {}
                    }
                }
            }
            Piece::Response => self.close(&mut send),
            Piece::Text { key, piece, .. } => {
                if self.text.is_none() {
                    self.close(&mut send);
                    send(
                        json!({"type": "TEXT_MESSAGE_START", "messageId": key, "role": "assistant"}),
                    );
                    self.text = Some(key.to_owned());
                }
                send(json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": key, "delta": piece}));
            }
            Piece::Reasoning { key, piece } => {
                let id = format!("reasoning-{key}");
                if self.reasoning.is_none() {
                    self.close(&mut send);
                    send(json!({"type": "REASONING_START", "messageId": id}));
                    send(
                        json!({"type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning"}),
                    );
                    self.reasoning = Some(id.clone());
                }
                send(json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": id, "delta": piece}));
            }
            Piece::CallStarted { key, call } => self.open_call(key, &call.name, &mut send),
            Piece::Arguments { key, piece } => {
                send(json!({"type": "TOOL_CALL_ARGS", "toolCallId": key, "delta": piece}));
            }
            Piece::Call { key, call, sent } => {
                // A person may have changed the arguments, for which there is no event.
                if let Some(rest) = call.arguments.strip_prefix(sent)
                    && !rest.is_empty()
                {
                    self.open_call(key, &call.name, &mut send);
                    send(json!({"type": "TOOL_CALL_ARGS", "toolCallId": key, "delta": rest}));
                }
                self.close_call(key, &mut send);
            }
            Piece::Held { .. } => {}
            Piece::Progress { key, progress } => {
                let value = json!({"toolCallId": key, "message": progress});
                send(json!({"type": "CUSTOM", "name": "progress", "value": value}));
            }
            Piece::Result { key, call, .. } => {
                self.close(&mut send);
                send(
                    json!({"type": "TOOL_CALL_RESULT", "messageId": result_of(key),
                    "toolCallId": key, "role": "tool", "content": content_of(call)}),
                );
            }
            Piece::End { status, holds } => self.end(status, holds, &mut send),
        }
    }
}

impl Events {
    fn open_call(&mut self, key: &str, name: &str, send: &mut impl FnMut(Value)) {
        self.close(send);
        if self.calls.insert(key.to_owned()) {
            send(
                json!({"type": "TOOL_CALL_START", "toolCallId": key, "toolCallName": name,
                "parentMessageId": message_of(key)}),
            );
        }
    }

    fn close_call(&mut self, key: &str, send: &mut impl FnMut(Value)) {
        if self.calls.remove(key) {
            send(json!({"type": "TOOL_CALL_END", "toolCallId": key}));
        }
    }

    /// Ends the calls that the model is writing.
    fn close_calls(&mut self, send: &mut impl FnMut(Value)) {
        for key in std::mem::take(&mut self.calls) {
            send(json!({"type": "TOOL_CALL_END", "toolCallId": key}));
        }
    }

    /// Ends the text and the reasoning.
    fn close(&mut self, send: &mut impl FnMut(Value)) {
        if let Some(id) = self.text.take() {
            send(json!({"type": "TEXT_MESSAGE_END", "messageId": id}));
        }
        if let Some(id) = self.reasoning.take() {
            send(json!({"type": "REASONING_MESSAGE_END", "messageId": id}));
            send(json!({"type": "REASONING_END", "messageId": id}));
        }
    }

    fn end(
        &mut self,
        status: &Status,
        holds: &BTreeMap<String, ShownHold>,
        send: &mut impl FnMut(Value),
    ) {
        self.close(send);
        self.close_calls(send);
        if let Some(problem) = self.problem.as_ref().or(status.problem.as_ref()) {
            return send(json!({"type": "RUN_ERROR", "message": problem}));
        }
        let outcome = if holds.is_empty() {
            json!({"type": "success"})
        } else {
            let interrupts = holds.iter().map(|(key, hold)| interrupt(key, hold));
            json!({"type": "interrupt", "interrupts": interrupts.collect::<Vec<_>>()})
        };
        let (thread, run) = (&self.thread, &self.run);
        send(json!({"type": "RUN_FINISHED", "threadId": thread, "runId": run, "outcome": outcome}));
    }
}

fn interrupt(key: &str, hold: &ShownHold) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
        "required": ["approved"],
    });
    json!({"id": hold.fingerprint, "reason": "tool_approval", "message": hold.reason,
        "toolCallId": key, "responseSchema": schema, "metadata": {"hold": hold}})
}
