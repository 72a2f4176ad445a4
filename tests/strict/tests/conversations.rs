//! Requests of random conversations: whatever a model writes and whatever a user and an application do in between, each
//! request of an agent follows the rules of its server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use strict::{Format, Server, check};
use tool_agent::model::{ModelError, Request};
use tool_agent::run::{Run, RunOutcome, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, Compaction, OpenCalls};
use tool_core::content::Image;
use tool_core::dialect::{Dialect, ToolChoice};
use tool_core::hooks::{Decision, Gate};
use tool_core::runtime::block_on;
use tool_core::{Registry, tool, tools};

#[allow(dead_code, unreachable_pub)] // Other tests use the rest.
#[path = "../../properties/src/random.rs"]
mod random;

use random::Random;

/// Returns the text.
#[tool(read_only, unlinked)]
fn echo(text: String) -> String {
    text
}

/// Returns nothing.
#[tool(read_only, unlinked)]
fn nothing() {}

/// Fails without a word.
#[tool(unlinked)]
fn fail() -> Result<(), &'static str> {
    Err("")
}

/// Takes a picture.
#[tool(read_only, unlinked)]
fn picture() -> Image {
    Image::png([0; 24])
}

/// Deletes everything.
#[tool(destructive, unlinked)]
fn delete() -> &'static str {
    "gone"
}

fn registry() -> Registry {
    let tools = tools![echo, nothing, fail, picture, delete];
    let builder = Registry::builder().tools(tools).before(async |hook| {
        match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("it deletes everything"),
            _ => Gate::Allow,
        }
    });
    builder.build().unwrap()
}

/// What a model writes.
struct Said {
    text: Option<&'static str>,
    reasoning: bool,
    /// The ids, names and arguments.
    calls: Vec<(String, &'static str, &'static str)>,
    is_cut: bool,
}

fn said(random: &mut Random, next_id: &mut usize) -> Said {
    let count = *random.pick(&[0, 0, 1, 1, 2, 3]);
    let mut calls = Vec::new();
    for _ in 0..count {
        *next_id += 1;
        let names = [
            "echo",
            "nothing",
            "fail",
            "picture",
            "delete",
            "nope",
            "functions.echo",
            "echo<|x|>",
        ];
        let arguments = [
            r#"{"text":"Hi"}"#,
            r#"{"text":""}"#,
            r#"{"text":" "}"#,
            "{}",
            "",
            "null",
            "[]",
            r#"{"text":"H"#,
            r#""{}""#,
            "{}{}",
        ];
        calls.push((
            format!("id{next_id:0>7}"),
            *random.pick(&names),
            *random.pick(&arguments),
        ));
    }
    Said {
        text: *random.pick(&[
            None,
            Some(""),
            Some(" "),
            Some("Let me see."),
            Some("Done."),
        ]),
        reasoning: random.percent(30),
        calls,
        is_cut: random.percent(10),
    }
}

impl Said {
    fn calls(&self, write: impl Fn(&str, &str, &str) -> Value) -> Vec<Value> {
        self.calls
            .iter()
            .map(|(id, name, arguments)| write(id, name, arguments))
            .collect()
    }

    /// Returns a response of the format, as its server would write it.
    fn response(&self, format: Format) -> Value {
        let value = |arguments: &str| serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
        let called = !self.calls.is_empty();
        match format {
            Format::Responses => {
                let mut items = Vec::new();
                if self.reasoning {
                    items.push(json!({"type": "reasoning", "id": "rs_1", "summary": []}));
                }
                if let Some(text) = self.text {
                    items.push(json!({"type": "message", "role": "assistant",
                        "content": [{"type": "output_text", "text": text}]}));
                }
                items.extend(self.calls(|id, name, arguments| {
                    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
                }));
                let status = if self.is_cut {
                    "incomplete"
                } else {
                    "completed"
                };
                json!({"object": "response", "status": status, "output": items,
                    "usage": {"input_tokens": 100, "output_tokens": 10}})
            }
            Format::Anthropic => {
                let mut blocks = Vec::new();
                if self.reasoning {
                    blocks.push(json!({"type": "thinking", "thinking": "Hm.", "signature": "x"}));
                }
                blocks.extend(self.text.map(|text| json!({"type": "text", "text": text})));
                blocks.extend(self.calls(|id, name, arguments| {
                    json!({"type": "tool_use", "id": id, "name": name, "input": value(arguments)})
                }));
                let stop = if self.is_cut {
                    "max_tokens"
                } else if called {
                    "tool_use"
                } else {
                    "end_turn"
                };
                json!({"role": "assistant", "stop_reason": stop, "content": blocks,
                    "usage": {"input_tokens": 100, "output_tokens": 10}})
            }
            Format::Gemini => {
                let mut parts = Vec::new();
                if self.reasoning {
                    parts.push(json!({"text": "Hm.", "thought": true}));
                }
                parts.extend(self.text.map(|text| json!({"text": text})));
                parts.extend(self.calls(|_, name, arguments| {
                    json!({"functionCall": {"name": name, "args": value(arguments)}})
                }));
                let stop = if self.is_cut { "MAX_TOKENS" } else { "STOP" };
                json!({"candidates": [{"finishReason": stop, "content": {"role": "model", "parts": parts}}],
                    "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10}})
            }
            Format::Interactions => {
                let mut steps = Vec::new();
                if self.reasoning {
                    steps.push(json!({"type": "thought", "signature": "x"}));
                }
                steps.extend(self.text.map(|text| {
                    json!({"type": "model_output", "content": [{"type": "text", "text": text}]})
                }));
                steps.extend(self.calls(|id, name, arguments| {
                    json!({"type": "function_call", "id": id, "name": name, "arguments": value(arguments)})
                }));
                let status = if self.is_cut {
                    "incomplete"
                } else if called {
                    "requires_action"
                } else {
                    "completed"
                };
                json!({"object": "interaction", "status": status, "steps": steps,
                    "usage": {"total_input_tokens": 100, "total_output_tokens": 10}})
            }
            Format::Bedrock => {
                let mut blocks = Vec::new();
                if self.reasoning {
                    blocks.push(json!({"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "x"}}}));
                }
                blocks.extend(self.text.map(|text| json!({ "text": text })));
                blocks.extend(self.calls(|id, name, arguments| {
                    json!({"toolUse": {"toolUseId": id, "name": name, "input": value(arguments)}})
                }));
                let stop = if self.is_cut {
                    "max_tokens"
                } else if called {
                    "tool_use"
                } else {
                    "end_turn"
                };
                json!({"stopReason": stop, "output": {"message": {"role": "assistant", "content": blocks}},
                    "usage": {"inputTokens": 100, "outputTokens": 10}})
            }
            Format::Cohere => {
                let mut message = json!({"role": "assistant"});
                if let Some(text) = self.text {
                    message["content"] = json!([{"type": "text", "text": text}]);
                }
                if called {
                    message["tool_calls"] = self.chat_calls().into();
                    message["tool_plan"] = "I look.".into();
                }
                let stop = if self.is_cut {
                    "MAX_TOKENS"
                } else if called {
                    "TOOL_CALL"
                } else {
                    "COMPLETE"
                };
                json!({"finish_reason": stop, "message": message,
                    "usage": {"tokens": {"input_tokens": 100, "output_tokens": 10}}})
            }
            chat => {
                let mut message = json!({"role": "assistant", "content": self.text});
                if called {
                    message["tool_calls"] = self.chat_calls().into();
                }
                match chat {
                    Format::Chat(Server::DeepSeek) => message["reasoning_content"] = "Hm.".into(),
                    Format::Chat(Server::Groq | Server::Cerebras) if self.reasoning => {
                        message["reasoning"] = "Hm.".into();
                        message["channel"] = "analysis".into();
                        message["executed_tools"] = json!([]);
                    }
                    Format::Chat(Server::OpenAi) => message["refusal"] = Value::Null,
                    _ => {}
                }
                let stop = if self.is_cut {
                    "length"
                } else if called {
                    "tool_calls"
                } else {
                    "stop"
                };
                json!({"choices": [{"index": 0, "message": message, "finish_reason": stop}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10}})
            }
        }
    }

    fn chat_calls(&self) -> Vec<Value> {
        self.calls(|id, name, arguments| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
        })
    }
}

/// Everything that the agents of one conversation share.
struct Conversation {
    random: Random,
    next_id: usize,
    /// What was rejected, with the request.
    rejected: Vec<(String, Value)>,
    requests: usize,
}

type Shared = Arc<Mutex<Conversation>>;

fn model(
    format: Format,
    shared: &Shared,
) -> impl Fn(Request) -> std::future::Ready<Result<Value, ModelError>> + use<> {
    let shared = Arc::clone(shared);
    move |request: Request| {
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let messages: Vec<_> = request
            .messages
            .iter()
            .map(|message| Value::clone(message))
            .collect();
        let body = request.body(json!({ format.history(): messages }));
        let body: Value = serde_json::from_str(&body).unwrap();
        shared.requests += 1;
        if let Err(error) = check(format, &body) {
            shared.rejected.push((error, body));
        }
        let shared = &mut *shared;
        let said = said(&mut shared.random, &mut shared.next_id);
        std::future::ready(Ok(said.response(format)))
    }
}

/// Holds a conversation. Returns the number of requests, and what was rejected first.
fn converse(format: Format, seed: u64) -> (usize, Option<(String, Value)>) {
    let dialect: &'static dyn Dialect = tool_dialects::find(format.dialect(), false)
        .unwrap()
        .dialect;
    let mut random = Random::named(&format!("{format:?}"), seed);
    let shared: Shared = Arc::new(Mutex::new(Conversation {
        random: random.clone(),
        next_id: 0,
        rejected: Vec::new(),
        requests: 0,
    }));
    let agent = |registry: Registry| Agent::new(registry, dialect, model(format, &shared));
    let agents = [
        agent(registry()),
        agent(registry()).open_calls(OpenCalls::Cancel),
        agent(registry())
            .tool_choice(ToolChoice::None)
            .open_calls(OpenCalls::Cancel),
        agent(Registry::new()).open_calls(OpenCalls::Cancel),
        agent(registry())
            .compact(Compaction::at_tokens(1).keep(1))
            .open_calls(OpenCalls::Cancel),
    ];
    let mut settings = RunSettings::default();
    settings.max_rounds = 4;
    let mut run = Run::builder("run").settings(settings).build();
    for _ in 0..4 {
        let agent = random.pick(&agents);
        // An error of a response is an end, too: the user goes on.
        let outcome = block_on(agent.reply(&mut run, "Go on.")).unwrap();
        if let Ok(RunOutcome::Waiting(pending)) = outcome
            && random.percent(60)
        {
            for held in pending {
                let decision = if random.percent(50) {
                    Decision::Allow
                } else {
                    Decision::deny("")
                };
                run.decide(agent.registry(), held.fingerprint(), decision, "ann")
                    .unwrap();
            }
            let _ = agent.run_blocking(&mut run);
        }
    }
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    (shared.requests, shared.rejected.drain(..).next())
}

#[test]
fn each_request_of_a_random_conversation_is_accepted() {
    let is_long = std::env::var_os("TOOL_CORE_LONG").is_some();
    let count = if is_long { 2_000 } else { 25 };
    // One of each kind of rejection, which are told apart by their words without places and values.
    let mut kinds = BTreeMap::new();
    for format in Format::all() {
        let mut requests = 0;
        for seed in 0..count {
            let (sent, rejected) = converse(format, seed);
            requests += sent;
            if let Some((error, request)) = rejected {
                let words: Vec<_> = error
                    .split(' ')
                    .filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
                    .collect();
                let kind = format!("{format:?} {}", words.join(" "));
                let found = kinds
                    .entry(kind)
                    .or_insert_with(|| (0, format!("seed {seed}: {error}: {request}")));
                found.0 += 1;
            }
        }
        let least = usize::try_from(count).unwrap() * 2;
        assert!(requests > least, "{format:?}: {requests} requests");
    }
    let list = kinds
        .iter()
        .map(|(kind, (count, first))| format!("\n{count} times {kind}: {first}"));
    assert!(kinds.is_empty(), "{}", list.collect::<String>());
}

/// A limit ends the run after the results. Two providers reject the user's message behind them.
#[test]
fn the_user_goes_on_after_results_that_nothing_answered() {
    for format in Format::all() {
        let said = Said {
            text: Some("Let me see."),
            reasoning: false,
            calls: vec![("id0000001".to_owned(), "echo", r#"{"text":"Hi"}"#)],
            is_cut: false,
        };
        let dialect = tool_dialects::find(format.dialect(), false)
            .unwrap()
            .dialect;
        let model = ScriptedModel::new((0..4).map(|_| said.response(format)));
        let agent = Agent::new(registry(), dialect, model.clone());
        let mut run = Run::new("run");
        for rounds in [1, 2] {
            let mut settings = RunSettings::default();
            settings.max_rounds = rounds;
            run.set_settings(settings);
            let outcome = block_on(agent.reply(&mut run, "Go on.")).unwrap();
            assert_eq!(outcome.unwrap(), RunOutcome::OutOfRounds, "{format:?}");
        }
        let requests = model.requests();
        let messages = requests[1].messages.iter();
        let messages = messages.map(|message| Value::clone(message));
        let request = format.request(messages.collect(), &["echo"]);
        assert_eq!(check(format, &request), Ok(()), "{format:?}: {request:#}");
    }
}
