//! Calls in a conversation: by hand, in a `Run`, and in an `Agent`. Each has ten rounds with one call, and an answer.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{StreamExt, stream};
use harness::now::{now, soon};
use harness::{Work, streams};
use serde_json::{Value, json};
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_agent::run::{Run, RunOutcome, Step};
use tool_agent::{Agent, Event};
use tool_core::dialect::Dialect;
use tool_core::dialect::write::{EventJson, ValueLimit};
use tool_core::{Registry, tool, tools};

use super::many;

/// The calls of a conversation.
const CALLS: usize = 10;

/// Adds two numbers.
#[tool(unlinked, read_only)]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
) -> i64 {
    a + b
}

fn registry() -> Registry {
    let registry = Registry::builder().tools(tools![add]).build();
    registry.expect("one tool")
}

fn responses() -> Vec<Value> {
    let response = |message: Value, stop: &str| {
        json!({"id": "chatcmpl-CfQ7vJ2mXb0TzLr9KdWnEy4sHuGa", "object": "chat.completion",
            "created": 1_795_800_000, "model": "gpt-5.2-2026-08-07",
            "choices": [{"index": 0, "message": message, "finish_reason": stop}],
            "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99}})
    };
    let call = |index: usize| {
        let function = json!({"name": "add", "arguments": format!("{{\"a\":{index},\"b\":3}}")});
        let call = json!({"id": format!("call_{index}"), "type": "function", "function": function});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        response(message, "tool_calls")
    };
    let answer = response(json!({"role": "assistant", "content": "It is 12."}), "stop");
    (0..CALLS).map(call).chain([answer]).collect()
}

fn question() -> Value {
    json!({"role": "user", "content": "What is 2 + 3?"})
}

pub fn by_hand() -> Work {
    let (registry, responses) = (registry(), responses());
    Work::new(CALLS, move || {
        let dialect = OpenAiChat::default();
        let mut messages = vec![question()];
        let mut text = None;
        for response in &responses {
            let response = black_box(response).clone();
            let turn = dialect.read(&response).expect("a response");
            if turn.calls.is_empty() {
                text = Some(turn.text);
                break;
            }
            let calls = turn.calls.iter().cloned();
            let results: Vec<_> = calls.map(|call| now(registry.call(call))).collect();
            messages.extend(dialect.follow_up(&turn, &results));
        }
        assert_eq!(black_box(text).as_deref(), Some("It is 12."));
        black_box(messages);
    })
}

pub fn in_a_run() -> Work {
    let (registry, responses) = (registry(), responses());
    Work::new(CALLS, move || {
        let dialect = OpenAiChat::default();
        let mut run = Run::new("conversation-1");
        run.push(question()).expect("a message");
        let mut responses = responses.iter();
        let outcome = loop {
            match run.next() {
                Step::Request(messages) => {
                    black_box(messages);
                    let response = black_box(responses.next().expect("a response")).clone();
                    let turn = dialect.read(&response).expect("a response");
                    run.respond(&dialect, &registry, turn).expect("requested");
                }
                Step::Call(calls) => {
                    run.start(&calls).expect("ready");
                    for call in calls {
                        let result = now(registry.call(call));
                        run.finish(&dialect, result).expect("started");
                    }
                }
                Step::Done(outcome) => break outcome,
                Step::Wait(_) | Step::Running => panic!("a call waits"),
            }
        };
        assert!(matches!(black_box(outcome), RunOutcome::Answered(text) if text == "It is 12."));
        black_box(run);
    })
}

/// The agent offers this many tools, of which the model calls one.
pub fn in_an_agent(tools: usize) -> Work {
    let registry = registry();
    registry.add(many::tools(tools - 1)).expect("unique names");
    let responses = responses();
    let next = Arc::new(AtomicUsize::new(0));
    let place = Arc::clone(&next);
    let model = move |request: Request| {
        black_box(request);
        let response = responses[place.fetch_add(1, Ordering::Relaxed)].clone();
        std::future::ready(Ok(response))
    };
    let agent = Agent::new(registry, OpenAiChat::default(), model);
    Work::new(CALLS, move || {
        next.store(0, Ordering::Relaxed);
        let mut run = Run::new("conversation-1");
        run.push(question()).expect("a message");
        let outcome = soon(agent.run(&mut run)).expect("an answer");
        assert!(matches!(black_box(outcome), RunOutcome::Answered(text) if text == "It is 12."));
        black_box(run);
    })
}

/// Answers with a stream. Parses each event from its JSON text.
struct Streaming {
    texts: Arc<Vec<String>>,
    /// Set if each becomes a value.
    has_values: bool,
}

impl Model for Streaming {
    fn ask(&self, _: Request) -> ModelFuture<'_> {
        let (texts, has_values) = (Arc::clone(&self.texts), self.has_values);
        let mut limit = ValueLimit::default();
        let events = (0..texts.len()).map(move |at| {
            let text = black_box(&*texts[at]);
            let event = if has_values {
                limit.parse(text.as_bytes()).map(EventJson::from)
            } else {
                EventJson::parse(text, &mut limit)
            };
            event.map_err(|error| ModelError::new(ModelErrorKind::Response, error.to_string()))
        });
        Box::pin(std::future::ready(Ok(Response::stream(stream::iter(
            events,
        )))))
    }
}

/// Answers one question with the stream of the case `stream openai-chat`, whose events the application reads.
pub fn stream_in_an_agent(has_values: bool) -> Work {
    let events = streams::text("openai-chat").into_iter();
    let texts = events.filter_map(|event| {
        let data = event.strip_prefix("data: ")?.trim_end();
        (data != "[DONE]").then(|| data.to_owned())
    });
    let texts = Arc::new(texts.collect::<Vec<_>>());
    let count = texts.len();
    let model = Streaming { texts, has_values };
    let agent = Agent::new(registry(), OpenAiChat::default(), model);
    Work::new(count, move || {
        let mut run = Run::new("conversation-1");
        run.push(question()).expect("a message");
        let mut events = agent.events(&mut run);
        let mut pieces = 0;
        while let Some(event) = soon(events.next()) {
            if let Event::Text(piece) = black_box(event).expect("an event") {
                black_box(piece);
                pieces += 1;
            }
        }
        assert_eq!(pieces, 200);
    })
}
