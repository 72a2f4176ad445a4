//! Requests of random conversations: whatever a model writes and whatever a user and an application do in between, each
//! request of an agent follows the rules of its server.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use strict::{Format, Server, check};
use tool_agent::model::{ModelError, Request};
use tool_agent::run::{LossKind, Round, Run, RunOutcome, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, Compaction, OpenCalls};
use tool_core::content::Image;
use tool_core::dialect::{Dialect, ToolChoice};
use tool_core::hooks::{Decision, Gate};
use tool_core::runtime::block_on;
use tool_core::{Registry, ToolCall, tool, tools};
use tool_dialects::server;

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

/// Returns the dialect of a format, with the rules of its server.
fn dialect_of(format: Format) -> &'static dyn Dialect {
    match format {
        Format::Chat(Server::LlamaCpp) => &server::LLAMA_CPP,
        Format::Chat(Server::LlamaCppPython) => &server::LLAMA_CPP_PYTHON,
        Format::Chat(Server::Vllm) => &server::VLLM,
        Format::Chat(Server::Groq) => &server::GROQ,
        Format::Chat(Server::Cerebras) => &server::CEREBRAS,
        Format::Chat(Server::DeepSeek) => &server::DEEPSEEK,
        _ => {
            tool_dialects::find(format.dialect(), false)
                .unwrap()
                .dialect
        }
    }
}

/// The texts and calls of a conversation, as its rounds have them: what every provider understands.
fn rounds(run: &Run) -> (String, Vec<(String, Value)>) {
    let texts = run.rounds().iter().map(|round| round.text().trim());
    let calls = run.rounds().iter().flat_map(Round::calls);
    let calls = calls.map(|(call, _)| plain_call(call));
    (texts.collect(), calls.collect())
}

/// A call without its id. Arguments that are no object are none, or under `INVALID_JSON` where a provider takes an object.
fn plain_call(call: &ToolCall) -> (String, Value) {
    let text = call.arguments.text();
    let arguments = serde_json::from_str(&text).unwrap_or(Value::Null);
    let arguments = if arguments.is_object() && arguments["INVALID_JSON"].is_null() {
        arguments
    } else {
        json!({})
    };
    (call.name.clone(), arguments)
}

/// The same, as the reader of the dialect finds it in the messages of the run.
fn read_back(format: Format, run: &Run) -> (String, Vec<(String, Value)>) {
    let (mut text, mut calls) = (String::new(), Vec::new());
    for message in run.messages() {
        let message = Value::clone(message);
        let is_said = ["assistant", "model"]
            .iter()
            .any(|role| message["role"] == *role);
        let is_step = ["function_call", "model_output"]
            .iter()
            .any(|kind| message["type"] == *kind);
        // Mistral needs an answer between results and their media.
        let is_between = format == Format::Mistral && message["content"] == "OK.";
        if !is_said && !is_step || is_between {
            continue;
        }
        let response = match format {
            Format::Responses => json!({"object": "response", "output": [message]}),
            Format::Interactions => {
                json!({"object": "interaction", "status": "completed", "steps": [message]})
            }
            Format::Anthropic => message,
            Format::Gemini => json!({"candidates": [{ "content": message }]}),
            Format::Bedrock => json!({"output": { "message": message }}),
            Format::Cohere => json!({ "message": message }),
            Format::Chat(_) | Format::Mistral | Format::XAi => {
                json!({"choices": [{ "message": message }]})
            }
        };
        let turn = dialect_of(format).read(&response).unwrap();
        text.push_str(turn.text.trim());
        calls.extend(turn.calls.iter().map(plain_call));
    }
    (text, calls)
}

/// Each provider answers once, then the conversation goes on at the next one.
fn wander(formats: &[Format], seed: u64) -> Option<(String, Value)> {
    let mut random = Random::named("wander", seed);
    let shared: Shared = Arc::new(Mutex::new(Conversation {
        random: random.clone(),
        next_id: 0,
        rejected: Vec::new(),
        requests: 0,
    }));
    let mut settings = RunSettings::default();
    settings.max_rounds = 3;
    let mut run = Run::builder("run").settings(settings).build();
    let mut last = dialect_of(formats[0]);
    for &format in formats {
        let dialect = dialect_of(format);
        let open_calls = *random.pick(&[OpenCalls::Finish, OpenCalls::Cancel]);
        let agent = Agent::new(registry(), dialect, model(format, &shared)).open_calls(open_calls);
        let before = rounds(&run);
        let results = |run: &Run| -> Vec<_> {
            let calls = run.rounds().iter().flat_map(Round::calls);
            let results = calls.filter_map(|(_, result)| result);
            results
                .map(|result| (result.content().to_owned(), result.parts().to_vec()))
                .collect()
        };
        let results_before = results(&run);
        let waiting = run.pending().len();
        let moved_from = run.info().dialect().map(str::to_owned);
        run.translate(last, dialect).unwrap();
        last = dialect;
        assert_eq!(before, rounds(&run));
        assert_eq!(results_before, results(&run));
        assert_eq!(waiting, run.pending().len());
        let last = run.rounds().last();
        let is_closed = last.is_none_or(|round| round.calls().all(|(_, result)| result.is_some()));
        if moved_from.is_some_and(|own| own != dialect.provider()) && is_closed {
            let (text, calls) = read_back(format, &run);
            assert_eq!(
                (&text, &calls),
                (&before.0, &before.1),
                "seed {seed}, {format:?}"
            );
        }
        // There and back: what is left is the same, and nothing more is lost.
        let mut back = run.clone();
        let other = dialect_of(*random.pick(&Format::all().collect::<Vec<_>>()));
        back.translate(dialect, other).unwrap();
        back.translate(other, dialect).unwrap();
        let mut again = back.clone();
        // A picture is left out again where there is no form for it.
        let mut losses = again.translate(dialect, other).unwrap();
        losses.retain(|loss| loss.kind != LossKind::Media);
        assert_eq!(losses, [], "seed {seed}");
        again.translate(other, dialect).unwrap();
        assert_eq!(back.messages(), again.messages(), "seed {seed}, {format:?}");
        // A saved run goes on as well.
        if random.percent(30) {
            run = serde_json::from_value(serde_json::to_value(&run).unwrap()).unwrap();
        }
        let question = *random.pick(&["Go on.", "And then?"]);
        let outcome = block_on(agent.reply(&mut run, question)).unwrap();
        if let Ok(RunOutcome::Waiting(pending)) = outcome
            && random.percent(70)
        {
            for held in pending {
                let fingerprint = held.fingerprint();
                run.decide(agent.registry(), fingerprint, Decision::Allow, "ann")
                    .unwrap();
            }
            if random.percent(50) {
                let _ = agent.run_blocking(&mut run);
            }
        }
    }
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    shared.rejected.drain(..).next()
}

/// From each format to each other, with a third one between.
#[test]
fn a_conversation_goes_on_at_each_other_provider() {
    let is_long = std::env::var_os("TOOL_CORE_LONG").is_some();
    let count = if is_long { 50 } else { 1 };
    let formats: Vec<_> = Format::all().collect();
    let mut seed = 0;
    for &from in &formats {
        for &to in &formats {
            for _ in 0..count {
                seed += 1;
                let between = formats[seed % formats.len()];
                let way = [from, to, between, from];
                let rejected = wander(&way, seed as u64);
                let rejected = rejected.map(|(error, request)| format!("{error}: {request}"));
                assert_eq!(rejected, None, "seed {seed}, {way:?}");
            }
        }
    }
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
