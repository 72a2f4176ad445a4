//! A chat service with a scripted model and routes for front ends.

use std::convert::Infallible;
use std::sync::{Arc, LazyLock};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::{Stream, StreamExt, future, stream};
use serde_json::{Value, json};
use tokio::sync::{Barrier, Semaphore};
use tool_agent::Agent;
use tool_agent::conversations::{Conversation, ConversationError, Conversations};
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request};
use tool_agent::run::{MemoryJournal, Run, RunInfo};
use tool_agent::ui::{ag_ui, ai_sdk};
use tool_core::call::Progress;
use tool_core::content::{Content, Image};
use tool_core::hooks::Gate;
use tool_core::{CallContext, Registry, ToolCall, ToolType, tool, tools};

/// The user of all requests.
pub const USER: &str = "ada";

#[derive(ToolType, serde::Serialize)]
struct Weather {
    // In the order of the alphabet, because `serde_json` keeps another order only if some package of the build wants that.
    degrees: i32,
    place: String,
}

/// Returns the weather.
#[tool(read_only)]
fn find_weather(place: String, context: &CallContext) -> Result<Weather, String> {
    context.report(&Progress::new(1.0).message("asks the station"));
    if place == "Atlantis" {
        return Err("there is no such place".into());
    }
    Ok(Weather { place, degrees: 21 })
}

/// Draws a chart.
#[tool(read_only)]
fn draw_chart() -> (String, Vec<Content>) {
    ("a chart".into(), vec![Image::png(b"\x89PNG").into()])
}

/// Pays money.
#[tool(destructive)]
fn pay(cents: u32, #[param(secret)] pin: String) -> String {
    format!("paid {cents} with {} digits", pin.len())
}

/// Meets another call of this tool.
#[tool(destructive, parallel)]
async fn meet() -> &'static str {
    static BOTH: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
    BOTH.wait().await;
    "met"
}

/// Answers by the last message. Waits at `…` until a test goes on.
#[derive(Clone)]
pub struct Script {
    gate: Arc<Semaphore>,
}

impl Script {
    /// The deltas of the answer.
    fn deltas(text: &str) -> Vec<Value> {
        let say = |text: &str| json!({"content": text});
        let call = |index: u32, name: &str| json!({"tool_calls": [{"index": index, "id": format!("call_{index}"), "function": {"name": name, "arguments": ""}}]});
        let piece = |index: u32, text: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]});
        let pay = |index: u32, cents: &str| {
            [
                call(index, "pay"),
                piece(index, "{\"cents\":"),
                piece(index, &format!("{cents},\"pin\":\"4711\"}}")),
            ]
        };
        match text {
            "weather" => vec![
                say("I look."),
                call(0, "find_weather"),
                piece(0, "{\"place\":"),
                piece(0, "\"Oslo\"}"),
            ],
            "nowhere" => vec![call(0, "find_weather"), piece(0, r#"{"place":"Atlantis"}"#)],
            "chart" => vec![call(0, "draw_chart"), piece(0, "{}")],
            "pay" => pay(0, "700").into(),
            "pay twice" => {
                let text = vec![say("I pay.")];
                [text, pay(0, "700").into(), pay(1, "800").into()].concat()
            }
            "meet" => vec![
                call(0, "meet"),
                piece(0, "{}"),
                call(1, "meet"),
                piece(1, "{}"),
            ],
            "think" => vec![
                json!({"reasoning_content": "Hm, "}),
                json!({"reasoning_content": "yes."}),
                say("Yes."),
            ],
            "slow" => vec![say("One "), say("two "), json!("…"), say("three.")],
            "break" => vec![say("I beg"), json!("!")],
            "long" => [vec![json!("…")], vec![say("word "); 6_000]].concat(),
            "hello" => vec![say("Hel"), say("lo"), say("!")],
            result => vec![say("I got: "), say(result)],
        }
    }
}

impl Model for Script {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let last = request.messages.iter().rev().find_map(|message| {
            let text = match &message["content"] {
                Value::Array(parts) => &parts[0]["text"],
                text => text,
            };
            Some(text.as_str()?.to_owned())
        });
        let last = last.unwrap_or_default();
        let is_counted = last == "weather" || last.starts_with('{');
        let mut deltas = Script::deltas(&last);
        let has_calls = deltas.iter().any(|delta| delta["tool_calls"].is_array());
        deltas.push(json!({}));
        let end = if has_calls { "tool_calls" } else { "stop" };
        let gate = Arc::clone(&self.gate);
        let events = stream::iter(deltas).then(move |delta| {
            let gate = Arc::clone(&gate);
            async move {
                // A follower keeps up.
                tokio::task::yield_now().await;
                if delta == "…" {
                    gate.acquire().await.expect("it is open").forget();
                    return None;
                }
                if delta == "!" {
                    let kind = ModelErrorKind::Overloaded;
                    return Some(Err(ModelError::new(kind, "a cause for the log")));
                }
                let is_last = delta == json!({});
                let reason = if is_last { json!(end) } else { Value::Null };
                let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
                let mut chunk = json!({"choices": [choice]});
                if is_last && is_counted {
                    chunk["usage"] = json!({"prompt_tokens": 82, "completion_tokens": 17,
                        "prompt_tokens_details": {"cached_tokens": 64}});
                }
                Some(Ok(chunk))
            }
        });
        let events = events.filter_map(future::ready);
        Box::pin(future::ready(Ok(tool_agent::model::Response::stream(
            events,
        ))))
    }
}

/// Creates the conversations, and what lets waiting answers go on.
pub fn conversations() -> (Conversations, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let registry = Registry::builder()
        .tools(tools![find_weather, draw_chart, pay, meet])
        .before(async |hook| match hook.tool.annotations.read_only {
            Some(true) => Gate::Allow,
            _ => Gate::confirm("it costs money"),
        });
    let script = Script {
        gate: Arc::clone(&gate),
    };
    let registry = registry.build().expect("the tools are valid");
    let agent = Agent::new(registry, OpenAiChat::default(), script)
        .journal(MemoryJournal::default())
        .contexts(|_: RunInfo, call| async move { Ok::<ToolCall, _>(call) });
    let conversations = Conversations::new(agent).expect("there is a journal");
    (conversations, gate)
}

type Refusal = (StatusCode, String);

fn refusal(error: ConversationError) -> Refusal {
    let status = StatusCode::from_u16(error.status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, error.publish())
}

async fn open_or_create(all: &Conversations, id: &str) -> Result<Conversation, ConversationError> {
    if let Some(conversation) = all.open_as(USER, id).await? {
        return Ok(conversation);
    }
    all.create(Run::builder(id).owner(USER).build()).await
}

fn sse(
    events: impl Stream<Item = String> + Send + 'static,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    Sse::new(events.map(|data| Ok(Event::default().data(data))))
}

async fn chat(
    State(all): State<Conversations>,
    headers: HeaderMap,
    Json(request): Json<ai_sdk::Request>,
) -> Result<Response, Refusal> {
    let conversation = open_or_create(&all, request.id()).await.map_err(refusal)?;
    // Somebody who may not decide, in a test.
    let user = headers.get("x-user").and_then(|user| user.to_str().ok());
    let answering = request.answer(&conversation, user.unwrap_or(USER));
    let events = answering.await.map_err(refusal)?;
    Ok(([ai_sdk::HEADER], sse(events)).into_response())
}

async fn resume(
    State(all): State<Conversations>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let conversation = all.open_as(USER, &id).await.map_err(refusal)?;
    let events = conversation.and_then(|conversation| ai_sdk::resume(&conversation));
    let response = events.map(|events| ([ai_sdk::HEADER], sse(events)).into_response());
    Ok(response.unwrap_or_else(|| StatusCode::NO_CONTENT.into_response()))
}

async fn messages(
    State(all): State<Conversations>,
    Path(id): Path<String>,
) -> Result<Json<Vec<Value>>, Refusal> {
    let conversation = all.open_as(USER, &id).await.map_err(refusal)?;
    let messages = conversation.map(|open| ai_sdk::messages(&open.transcript()));
    Ok(Json(messages.unwrap_or_default()))
}

async fn agent(
    State(all): State<Conversations>,
    Json(request): Json<ag_ui::Request>,
) -> Result<Response, Refusal> {
    let opening = open_or_create(&all, request.thread());
    let conversation = opening.await.map_err(refusal)?;
    let events = request.answer(&conversation, USER).await.map_err(refusal)?;
    Ok(sse(events).into_response())
}

/// Returns the routes for pages, and `/go`, which lets a waiting answer go on.
pub fn router() -> Router {
    let (all, gate) = conversations();
    Router::new()
        .route("/api/chat", post(chat))
        .route("/api/chat/{id}", get(messages))
        .route("/api/chat/{id}/stream", get(resume))
        .route("/ag-ui", post(agent))
        .route("/go", post(async move || gate.add_permits(1)))
        .with_state(all)
}
