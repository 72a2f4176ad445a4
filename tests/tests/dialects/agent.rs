//! The agent loop, in every dialect that a model is asked in.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::{FutureExt, StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_agent::run::{Round, Run, RunOutcome, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError, Event};
use tool_core::call::CancellationToken;
use tool_core::dialect::{Dialect, Message, ToolChoice, Usage};
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolResult, ToolType, tool, tools};
use tool_dialects::{Anthropic, Cohere, Mcp, OpenAiChat};

use super::{dialects, registry, sample_responses};

/// A model that returns prepared responses and records its requests. Clones share both.
#[derive(Clone)]
struct Scripted(Arc<Script>);

struct Script {
    responses: Mutex<VecDeque<Result<Value, String>>>,
    asked: Mutex<Vec<(Vec<Value>, String)>>,
    before: Box<dyn Fn() + Send + Sync>,
}

impl Scripted {
    fn new(responses: impl IntoIterator<Item = Result<Value, String>>) -> Scripted {
        Scripted::with(responses, || ())
    }

    fn with(
        responses: impl IntoIterator<Item = Result<Value, String>>,
        before: impl Fn() + Send + Sync + 'static,
    ) -> Scripted {
        Scripted(Arc::new(Script {
            responses: Mutex::new(responses.into_iter().collect()),
            asked: Mutex::default(),
            before: Box::new(before),
        }))
    }

    fn asked(&self) -> MutexGuard<'_, Vec<(Vec<Value>, String)>> {
        self.0.asked.lock().unwrap()
    }
}

impl Model for Scripted {
    fn ask(&self, request: Request) -> ModelFuture<'_> {
        let messages = request.messages.iter().map(|message| Value::clone(message));
        let asked = (messages.collect(), request.tools().as_str().to_owned());
        self.asked().push(asked);
        (self.0.before)();
        let response = self.0.responses.lock().unwrap().pop_front();
        let response = response.unwrap_or_else(|| Err("asked too often".into()));
        let response = response.map(Response::from).map_err(ModelError::other);
        Box::pin(std::future::ready(response))
    }
}

fn messages_of(run: &Run) -> Vec<Value> {
    let messages = run.messages().iter();
    messages.map(|message| Value::clone(message)).collect()
}

fn calls(round: &Round) -> Vec<(&ToolCall, &ToolResult)> {
    let calls = round.calls();
    calls
        .map(|(call, result)| (call, result.unwrap()))
        .collect()
}

fn kinds(round: &Round) -> Vec<Option<ToolErrorKind>> {
    let errors = calls(round).into_iter().map(|(_, result)| result.error());
    errors
        .map(|error| error.map(tool_core::ToolError::kind))
        .collect()
}

fn said(text: &str) -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": text}}]})
}

fn question() -> Run {
    question_with(RunSettings::default())
}

fn question_with(settings: RunSettings) -> Run {
    let mut run = Run::builder("run-1").settings(settings).build();
    let message = json!({"role": "user", "content": "Weather, and the rest?"});
    run.push(message).unwrap();
    run
}

/// The texts of the sample responses, and a response with two texts and no calls, for each dialect
/// except MCP, which asks no model.
fn answers() -> [(&'static str, Value); 9] {
    let chat = said("Sunny.");
    let parts = json!([{"text": "Sun"}, {"text": "ny."}]);
    let typed = json!([{"type": "text", "text": "Sun"}, {"type": "text", "text": "ny."}]);
    [
        ("Let me look.", chat.clone()),
        (
            "Let me look.",
            json!({"output": [
                {"type": "reasoning", "id": "rs_1", "summary": []},
                {"type": "message", "content": [
                    {"type": "output_text", "text": "Sun"}, {"type": "output_text", "text": "ny."},
                ]},
            ]}),
        ),
        ("Let me look.", json!({"content": typed})),
        (
            "And:",
            json!({"candidates": [{"content": {"role": "model", "parts": parts}}]}),
        ),
        (
            "Let me look.",
            json!({"status": "completed", "steps": [
                {"type": "model_output", "content": [typed[0]]},
                {"type": "thought", "signature": "E"},
                {"type": "model_output", "content": [typed[1]]},
            ]}),
        ),
        (
            "Let me look.",
            json!({"output": {"message": {"content": parts}}}),
        ),
        (
            "",
            json!({"message": {"role": "assistant", "content": typed}}),
        ),
        ("Let me look.", chat.clone()),
        (
            "",
            json!({"choices": [{"message": {"role": "assistant", "content": typed}}]}),
        ),
    ]
}

#[test]
fn a_model_is_asked_until_it_makes_no_call() {
    let mut asked = dialects().into_iter().collect::<Vec<_>>();
    asked.drain(5..7);
    for (at, ((dialect, calling), (beside, answer))) in asked.into_iter().zip(answers()).enumerate()
    {
        let model = Scripted::new([Ok(calling.clone()), Ok(answer.clone())]);
        let mut run = question();
        let [turn, last] = [&calling, &answer].map(|read| dialect.read(read).unwrap().messages);
        let agent = Agent::new(registry(), dialect, model.clone());
        let ended = agent.run_blocking(&mut run).unwrap();
        assert_eq!(ended, RunOutcome::Answered("Sunny.".into()), "{at}");

        let [first, second] = run.rounds() else {
            panic!("{at}: {} rounds", run.rounds().len());
        };
        assert_eq!(first.text(), beside, "{at}");
        assert_eq!(first.calls().len(), 5, "{at}");
        for (call, result) in calls(first) {
            assert_eq!((&*call.id, &*call.name), (result.call_id(), result.name()));
        }
        assert!(
            second.calls().len() == 0 && second.text() == "Sunny.",
            "{at}"
        );

        let results: Vec<_> = calls(first)
            .into_iter()
            .map(|(_, result)| result.clone())
            .collect();
        // The second request repeats the model's turn and adds the results.
        let mut messages = messages_of(&question());
        messages.extend(turn);
        messages.extend(agent.dialect().results(&results));
        let asked = model.asked();
        assert_eq!(asked.len(), 2, "{at}");
        // In the form that the provider accepts. The run keeps what the model wrote.
        let sent = messages.iter();
        let sent: Vec<_> = sent
            .map(|message| agent.dialect().repeat(message).into_owned())
            .collect();
        assert_eq!(asked[1].0, sent, "{at}");
        messages.extend(last);
        assert_eq!(messages_of(&run), messages, "{at}");
    }
}

/// The dialect writes what a script says, so that its own reader reads the same from the conversation.
#[test]
fn a_script_is_written_by_each_dialect() {
    for (at, (dialect, _)) in dialects().into_iter().enumerate() {
        // MCP asks no model.
        if (5..7).contains(&at) {
            continue;
        }
        let model = ScriptedModel::default()
            .calls([
                ("list_alarms", json!({})),
                ("cancel_booking", json!({"id": 7})),
            ])
            .call("list_alarms", json!({}))
            .say("Sunny.");
        let agent = Agent::new(registry(), dialect, model.clone());
        let mut run = question();
        let ended = agent.run_blocking(&mut run).unwrap();
        assert_eq!(ended, RunOutcome::Answered("Sunny.".into()), "{at}");
        let calls = run.rounds().iter().flat_map(Round::calls);
        let calls: Vec<_> = calls.map(|(call, _)| (&*call.id, &*call.name)).collect();
        let expected = [
            ("call00001", "list_alarms"),
            ("call00002", "cancel_booking"),
            ("call00003", "list_alarms"),
        ];
        assert_eq!(calls, expected, "{at}");
        let turn = Message::Model {
            text: "Sunny.".into(),
            calls: Vec::new(),
        };
        let last = agent.dialect().write_message(&turn).unwrap();
        assert!(messages_of(&run).ends_with(&last), "{at}");
        let requests = model.requests();
        let sent = requests[1].messages.iter();
        let sent: Vec<_> = sent.map(ToString::to_string).collect();
        assert!(sent.concat().contains("cancel_booking"), "{at}");
    }
}

/// A dialect that only reads.
#[test]
fn a_script_needs_a_dialect_that_writes_turns() {
    let model = ScriptedModel::default().say("Hello!");
    let agent = Agent::new(Registry::new(), Mcp::default(), model);
    let error = agent.ask_blocking("Hello?").unwrap_err().to_string();
    assert!(
        error.contains("implement `Dialect::write_message`"),
        "{error}"
    );
}

#[test]
fn a_run_stops_at_its_round_limit_with_all_results_in_the_transcript() {
    let model = Scripted::new((0..3).map(|_| Ok(sample_responses::chat())));
    let mut settings = RunSettings::default();
    settings.max_rounds = 2;
    let mut run = question_with(settings);
    let agent = Agent::new(registry(), OpenAiChat::default(), model.clone());
    let ended = agent.run_blocking(&mut run).unwrap();
    assert_eq!(ended, RunOutcome::OutOfRounds);
    assert_eq!(model.asked().len(), 2);
    // The question, and twice the turn with five results.
    assert_eq!(run.messages().len(), 1 + 2 * 6);

    // The conversation can continue.
    run.push(json!({"role": "user", "content": "And?"}))
        .unwrap();
    let model = Scripted::new([Ok(said("Done."))]);
    let agent = Agent::new(registry(), OpenAiChat::default(), model);
    let ended = agent.run_blocking(&mut run).unwrap();
    assert_eq!(ended, RunOutcome::Answered("Done.".into()));
    assert_eq!(run.rounds().len(), 3);
}

/// Came later.
#[tool(unlinked)]
fn late() -> u8 {
    7
}

#[test]
fn tools_added_between_rounds_are_in_the_next_request() {
    let call = json!({"choices": [{"message": {"tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "late", "arguments": "{}"}},
    ]}}]});
    let registry = registry();
    let changed = registry.clone();
    let model = Scripted::with([Ok(call), Ok(said("7"))], move || {
        match changed.get("late") {
            None => changed.add(tools![late]).unwrap(),
            Some(_) => drop(changed.remove("late")),
        }
    });
    let mut run = question();
    let agent = Agent::new(registry, OpenAiChat::default(), model.clone());
    agent.run_blocking(&mut run).unwrap();
    let asked = model.asked();
    assert!(!asked[0].1.contains("Came later."));
    assert!(asked[1].1.contains("Came later."));
    assert_eq!(calls(&run.rounds()[0])[0].1.content(), "7");
    assert!(agent.registry().get("late").is_none());
}

#[test]
fn an_error_leaves_whole_rounds_and_the_run_can_be_retried() {
    let refused = json!({"error": {"message": "Rate limit reached"}});
    let model = Scripted::new([
        Ok(sample_responses::chat()),
        Err("connection refused".into()),
        Ok(refused),
        Ok(said("Sunny.")),
    ]);
    let mut run = question();
    let agent = Agent::new(registry(), OpenAiChat::default(), model.clone());
    let mut run = || agent.run_blocking(&mut run);

    let error = run().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the request to the model failed: connection refused"
    );
    let error = run().unwrap_err();
    assert!(matches!(error, AgentError::Response(_)), "{error}");
    assert!(error.to_string().contains("Rate limit reached"), "{error}");
    assert_eq!(run().unwrap(), RunOutcome::Answered("Sunny.".into()));

    let asked = model.asked();
    assert_eq!(asked[1].0.len(), 7);
    assert_eq!(asked[1].0, asked[2].0);
    assert_eq!(asked[1].0, asked[3].0);
}

#[test]
fn a_run_can_move_between_threads() {
    fn is_send(_: impl Send) {}
    let agent = Agent::new(registry(), OpenAiChat::default(), Scripted::new([]));
    let mut run = question();
    is_send(agent.run(&mut run));
    is_send(agent.events(&mut run));
}

/// Who is asking.
struct User(&'static str);

/// Who is asking.
#[tool(unlinked)]
fn whoami(#[param(context)] user: &User) -> &'static str {
    user.0
}

#[test]
fn one_agent_serves_many_users() {
    let registry = Registry::builder()
        .tools(tools![whoami])
        .context_per_call::<User>()
        .build()
        .unwrap();
    let calling = json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "whoami", "arguments": "{}"}},
    ]}}]});
    for name in ["Ada", "Bob"] {
        let model = Scripted::new([Ok(calling.clone()), Ok(said("So be it."))]);
        let mut run = question();
        let agent = Agent::new(registry.clone(), OpenAiChat::default(), model);
        let agent = agent.each_call(move |call| call.with(User(name)));
        agent.run_blocking(&mut run).unwrap();
        assert_eq!(calls(&run.rounds()[0])[0].1.content(), name);
    }
}

#[test]
fn a_turn_that_the_provider_paused_continues() {
    let searching = json!([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search",
                            "input": {"query": "Lisbon"}}]);
    let paused = json!({"role": "assistant", "content": searching, "stop_reason": "pause_turn"});
    let answer =
        json!({"content": [{"type": "text", "text": "Sunny."}], "stop_reason": "end_turn"});
    let model = Scripted::new([Ok(paused), Ok(answer)]);
    let mut run = question();
    let dialect: Box<dyn Dialect> = Box::new(Anthropic::default());
    let ended = Agent::new(registry(), dialect, model.clone()).run_blocking(&mut run);
    assert_eq!(ended.unwrap(), RunOutcome::Answered("Sunny.".into()));
    let asked = model.asked();
    let repeated = json!({"role": "assistant", "content": searching});
    assert_eq!(asked[1].0, [messages_of(&question())[0].clone(), repeated]);
}

/// Never ends.
#[tool(unlinked)]
async fn hang() {
    std::future::pending::<()>().await;
}

/// Ends at once.
#[tool(unlinked)]
fn quick() -> &'static str {
    "done"
}

/// Cancels the token of the run.
#[tool(unlinked)]
async fn stop(#[param(context)] token: &CancellationToken) {
    tokio::task::yield_now().await;
    token.cancel();
    tokio::task::yield_now().await;
}

/// Writes a response with a call of each of these tools.
fn calling(names: &[&str]) -> Value {
    let calls = names.iter().map(|name| {
        json!({"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}})
    });
    let calls: Vec<_> = calls.collect();
    json!({"choices": [{"message": {"role": "assistant", "tool_calls": calls}}]})
}

fn stoppable(token: &CancellationToken, model: impl Model + 'static) -> Agent {
    let registry = Registry::builder()
        .tools(tools![hang, quick, stop])
        .context(token.clone())
        .build()
        .unwrap();
    Agent::new(registry, OpenAiChat::default(), model).cancel_with(token)
}

/// Waits for the first request, then for its token or a response that never comes.
struct Silent(CancellationToken);

impl Model for Silent {
    fn ask(&self, _: Request) -> ModelFuture<'_> {
        self.0.cancel();
        Box::pin(std::future::pending())
    }
}

#[test]
fn a_cancelled_run_ends_while_the_model_is_asked() {
    let token = CancellationToken::new();
    let mut run = question();
    let agent = stoppable(&token, Silent(token.clone()));
    for _ in 0..2 {
        let ended = agent.run_blocking(&mut run).unwrap();
        assert_eq!(ended, RunOutcome::Cancelled);
    }
    assert_eq!(run.messages(), question().messages());
    // With a cancelled token, no model is asked.
    let model = Scripted::new([]);
    let agent = stoppable(&token, model.clone());
    let ended = agent.run_blocking(&mut run).unwrap();
    assert_eq!(ended, RunOutcome::Cancelled);
    assert!(model.asked().is_empty());
}

/// A function for `each_call`.
type Prepare = Box<dyn Fn(ToolCall) -> ToolCall + Send + Sync>;

#[test]
fn a_cancelled_run_keeps_the_round_whose_calls_it_ends() {
    let other = CancellationToken::new();
    let own = other.clone();
    let prepares: [Prepare; 2] = [
        Box::new(|call| call),
        // Calls with their own token end too.
        Box::new(move |call| call.cancel_with(&own)),
    ];
    for prepare in prepares {
        let token = CancellationToken::new();
        let model = Scripted::new([Ok(calling(&["hang", "quick", "stop", "hang"]))]);
        // The last round, so that nothing else ends the run.
        let mut settings = RunSettings::default();
        settings.max_rounds = 1;
        settings.parallel = Some(true);
        let mut run = question_with(settings);
        let agent = stoppable(&token, model.clone()).each_call(prepare);
        let ended = agent.run_blocking(&mut run).unwrap();
        assert_eq!(ended, RunOutcome::Cancelled);
        assert_eq!(model.asked().len(), 1);
        let [round] = run.rounds() else {
            panic!("{:?}", run.rounds());
        };
        let cancelled = Some(ToolErrorKind::Cancelled);
        assert_eq!(kinds(round), [cancelled, None, cancelled, cancelled]);
        // The turn and four results follow the question, so the conversation can continue.
        assert_eq!(run.messages().len(), 1 + 1 + 4);
    }
    assert!(!other.is_cancelled());
}

#[test]
fn a_token_of_one_call_does_not_end_the_run() {
    let (token, own) = (CancellationToken::new(), CancellationToken::new());
    own.cancel();
    let model = Scripted::new([Ok(calling(&["hang"])), Ok(said("So be it."))]);
    let mut run = question();
    let agent = stoppable(&token, model).each_call(move |call| call.cancel_with(&own));
    let ended = agent.run_blocking(&mut run).unwrap();
    assert_eq!(ended, RunOutcome::Answered("So be it.".into()));
    let error = calls(&run.rounds()[0])[0].1.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Cancelled);
}

/// A chunk of a streamed chat completion.
fn chunk(delta: Value, stop: Option<&str>) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})
}

/// A stream with reasoning, text and a call of `tool` with these pieces of arguments.
fn streamed_call(tool: &str, pieces: &[&str]) -> Vec<Value> {
    let call = json!({"index": 0, "id": "call_1", "type": "function",
                      "function": {"name": tool, "arguments": ""}});
    let mut chunks = vec![
        chunk(
            json!({"role": "assistant", "reasoning_content": "Hm."}),
            None,
        ),
        chunk(json!({"content": "Let me "}), None),
        chunk(json!({"content": "add."}), None),
        chunk(json!({ "tool_calls": [call] }), None),
    ];
    for piece in pieces {
        let call = json!({"index": 0, "function": {"arguments": piece}});
        chunks.push(chunk(json!({ "tool_calls": [call] }), None));
    }
    chunks.push(chunk(json!({}), Some("tool_calls")));
    chunks.push(json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}));
    chunks
}

fn streamed_text(text: &str) -> Vec<Value> {
    vec![
        chunk(json!({"role": "assistant", "content": text}), None),
        chunk(json!({}), Some("stop")),
    ]
}

/// Drives a run. Returns its events as text, and the error it ended with.
fn watch(agent: &Agent, run: &mut Run) -> (Vec<String>, Option<AgentError>) {
    let mut shown = Vec::new();
    let mut failed = None;
    let watching = async {
        let mut events = agent.events(run);
        while let Some(event) = events.next().await {
            shown.push(match event {
                Ok(Event::Text(text)) => format!("text {text}"),
                Ok(Event::Reasoning(text)) => format!("reasoning {text}"),
                Ok(Event::CallStarted { position, name }) => format!("starts {position} {name}"),
                Ok(Event::Arguments {
                    position,
                    piece,
                    arguments,
                }) => {
                    let violations = arguments.violations();
                    let violations: Vec<_> = violations.iter().map(ToString::to_string).collect();
                    assert_eq!(arguments.error().is_some(), !violations.is_empty());
                    let values = Value::Object((*arguments.values()).clone());
                    format!("{position} {piece} {values} {}", violations.join("; "))
                }
                Ok(Event::Usage(usage)) => format!("usage {}", usage.total()),
                Ok(Event::Response {
                    usage, stop_reason, ..
                }) => {
                    let stop = stop_reason.unwrap_or_default();
                    format!("response {} {stop}", usage.map_or(0, Usage::total))
                }
                Ok(Event::Call { call, .. }) => format!("call {}", call.name),
                Ok(Event::Result(result)) => format!("result {}", result.is_error()),
                Ok(Event::Done(outcome)) => format!("{outcome:?}"),
                Ok(other) => format!("{other:?}"),
                Err(error) => {
                    failed = Some(error);
                    continue;
                }
            });
        }
    };
    watching.now_or_never().expect("nothing waits");
    (shown, failed)
}

/// Adds two numbers.
#[tool(read_only)]
fn add_small(#[param(range = 0..=9)] a: u8, #[param(range = 0..=9)] b: u8) -> u8 {
    a + b
}

#[test]
fn events_show_a_streamed_response_as_it_arrives() {
    let model = ScriptedModel::new([]);
    // A script is ready at once, so that every piece is there when the first one is read.
    model.push_stream(streamed_call("add_small", &["{\"a\":2,", "\"b\":3}"]));
    model.push_stream(streamed_text("It is 5."));
    let registry = Registry::builder()
        .tools(tools![add_small])
        .build()
        .unwrap();
    let agent = Agent::new(registry, OpenAiChat::default(), model.clone());
    let mut run = question();
    let (shown, failed) = watch(&agent, &mut run);
    assert!(failed.is_none());
    let both = r#"{"a":2,"b":3}"#;
    let expected = [
        "reasoning Hm.".to_owned(),
        "text Let me ".to_owned(),
        "text add.".to_owned(),
        "starts 0/0 add_small".to_owned(),
        format!("0/0 {{\"a\":2, {both} "),
        format!("0/0 \"b\":3}} {both} "),
        "usage 12".to_owned(),
        "response 12 tool_calls".to_owned(),
        "call add_small".to_owned(),
        "result false".to_owned(),
        "text It is 5.".to_owned(),
        "response 0 stop".to_owned(),
        r#"Answered("It is 5.")"#.to_owned(),
    ];
    assert_eq!(shown, expected);
    assert!(model.requests()[0].prefers_stream);

    // The run is the same if nobody reads events, except that no stream is preferred.
    model.push_stream(streamed_call("add_small", &[both]));
    model.push_stream(streamed_text("It is 5."));
    let mut other = question();
    agent.run_blocking(&mut other).unwrap();
    assert_eq!(other.messages(), run.messages());
    assert!(!model.requests()[2].prefers_stream);
}

#[test]
fn violations_show_while_the_model_writes() {
    let model = ScriptedModel::new([]);
    model.push_stream(streamed_call("add_small", &["{\"a\":20,", "\"c\":1}"]));
    model.push_stream(streamed_call("unknown", &["{\"a\":20}"]));
    model.push_stream(streamed_text("Sorry."));
    let registry = Registry::builder()
        .tools(tools![add_small])
        .build()
        .unwrap();
    let agent = Agent::new(registry, OpenAiChat::default(), model);
    let (shown, _) = watch(&agent, &mut question());
    let pieces = shown.iter().filter(|line| line.starts_with("0/0 "));
    let pieces: Vec<_> = pieces.collect();
    assert!(
        pieces[0].contains("a: 20 is above the maximum 9"),
        "{pieces:?}"
    );
    let unknown = shown.iter().find(|line| line.starts_with("1/0 "));
    assert_eq!(unknown.unwrap(), "1/0 {\"a\":20} {} ");
    assert_eq!(
        shown.iter().filter(|line| *line == "result true").count(),
        2
    );
}

#[test]
fn a_stream_that_breaks_off_leaves_the_run_as_it_was() {
    let broken = || ModelError::new(ModelErrorKind::Connection, "the connection broke");
    let whole = streamed_call("add_small", &["{\"a\":2,", "\"b\":3}"]);
    let registry = Registry::builder()
        .tools(tools![add_small])
        .build()
        .unwrap();
    for count in 0..whole.len() {
        let model = ScriptedModel::new([]);
        model.push_broken_stream(whole[..count].to_vec(), broken());
        // Ends without an error, but too early.
        let is_cut = count + 2 < whole.len();
        if is_cut {
            model.push_stream(whole[..count].to_vec());
        }
        model.push_stream(streamed_text("Done."));
        let agent = Agent::new(registry.clone(), OpenAiChat::default(), model);
        let mut run = question();
        // The run takes the agent's dialect, and is otherwise as it was.
        tool_core::runtime::block_on(agent.save(&mut run))
            .unwrap()
            .unwrap();
        let before = serde_json::to_string(&run).unwrap();
        let (shown, failed) = watch(&agent, &mut run);
        assert!(matches!(failed, Some(AgentError::Model(_))), "{failed:?}");
        assert!(
            !shown.iter().any(|line| line.starts_with("call ")),
            "{shown:?}"
        );
        assert_eq!(serde_json::to_string(&run).unwrap(), before);
        if is_cut {
            let (_, failed) = watch(&agent, &mut run);
            assert!(
                matches!(&failed, Some(AgentError::Model(error))
                    if error.kind() == ModelErrorKind::Connection),
                "{failed:?}"
            );
            assert_eq!(serde_json::to_string(&run).unwrap(), before);
        }
        // Another request goes on.
        let ended = agent.run_blocking(&mut run).unwrap();
        assert_eq!(ended, RunOutcome::Answered("Done.".into()));
    }
}

#[test]
fn a_cancelled_run_ends_in_the_middle_of_a_stream() {
    struct Endless(CancellationToken);

    impl Model for Endless {
        fn ask(&self, _: Request) -> ModelFuture<'_> {
            let token = self.0.clone();
            let first = stream::iter([Ok(chunk(json!({"content": "Let"}), None))]);
            let rest = stream::poll_fn(move |_| {
                token.cancel();
                std::task::Poll::Pending
            });
            Box::pin(std::future::ready(Ok(Response::stream(first.chain(rest)))))
        }
    }

    let token = CancellationToken::new();
    let agent = stoppable(&token, Endless(token.clone()));
    let (shown, failed) = watch(&agent, &mut question());
    assert!(failed.is_none());
    assert_eq!(shown, ["text Let", "Cancelled"]);
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Report {
    alarms: u32,
    #[param(length = 1..=10)]
    title: String,
}

fn anthropic(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

/// A call that is required again and again would never end in an answer.
#[test]
fn a_required_call_is_required_until_it_is_made() {
    let model = ScriptedModel::new([
        anthropic(json!([{"type": "tool_use", "id": "1", "name": "list_alarms", "input": {}}])),
        anthropic(json!([{"type": "text", "text": "Two."}])),
        anthropic(json!([{"type": "text", "text": "Still two."}])),
    ]);
    let agent = Agent::new(registry(), Anthropic::default(), model.clone())
        .tool_choice(ToolChoice::tool("list_alarms"))
        .parallel(false)
        .cached();
    let mut run = Run::new("run");
    for question in ["How many alarms?", "And now?"] {
        run.push(agent.dialect().user_message(question)).unwrap();
        agent.run_blocking(&mut run).unwrap();
    }
    let choices: Vec<_> = model
        .requests()
        .iter()
        .map(|request| json!(request.fields())["tool_choice"].clone())
        .collect();
    let forced = json!({"type": "tool", "name": "list_alarms", "disable_parallel_tool_use": true});
    let auto = json!({"type": "auto", "disable_parallel_tool_use": true});
    assert_eq!(choices, [forced.clone(), auto, forced]);
    // The tools do not change, and are marked.
    let tools: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.tools().clone())
        .collect();
    assert!(tools.iter().all(|other| other == &tools[0]));
    assert!(
        tools[0]
            .as_str()
            .ends_with(r#""cache_control":{"type":"ephemeral"}}]"#)
    );
}

#[test]
fn settings_that_do_not_fit_the_tools_end_a_run_with_an_error() {
    let model = ScriptedModel::new([]);
    let agent = Agent::new(registry(), OpenAiChat::default(), model).only(["list_alarm"]);
    let error = agent.ask_blocking("How many?").unwrap_err();
    assert!(matches!(error, AgentError::Request(_)));
    assert_eq!(
        error.to_string(),
        "the request has no tool list_alarm; did you mean list_alarms?"
    );
}

#[test]
fn an_agent_returns_a_typed_answer_which_the_model_may_correct_once() {
    let text = |text: &str| anthropic(json!([{"type": "text", "text": text}]));
    let expected = Report {
        alarms: 2,
        title: "Alarms".into(),
    };
    let good = r#"{"alarms":2,"title":"Alarms"}"#;
    let bad = r#"{"alarms":-2,"title":""}"#;

    let model = ScriptedModel::new([
        anthropic(json!([{"type": "tool_use", "id": "1", "name": "list_alarms", "input": {}}])),
        text(bad),
        text(good),
    ]);
    let agent = Agent::new(registry(), Anthropic::default(), model.clone());
    let report = agent
        .ask_for::<Report>("How many alarms?")
        .now_or_never()
        .unwrap();
    assert_eq!(report.unwrap(), expected);
    let requests = model.requests();
    assert!(
        requests
            .iter()
            .all(|request| json!(request.fields())["output_config"].is_object())
    );
    let correction = requests[2].messages.last().unwrap()["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        correction.starts_with("the answer is not valid:\n- alarms: "),
        "{correction}"
    );
    assert!(correction.contains("\n- title: "), "{correction}");

    let model = ScriptedModel::new([text(bad), text(bad)]);
    let agent = Agent::new(registry(), Anthropic::default(), model);
    let error = agent
        .ask_for::<Report>("How many?")
        .now_or_never()
        .unwrap()
        .unwrap_err();
    let AgentError::Answer(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.violations().len(), 2);
}

/// Without structured output, the model answers with a call, which needs a result in the conversation.
#[test]
fn an_answer_that_is_a_call_ends_the_run() {
    let call = |calls: Value| json!({"id": "r", "finish_reason": "TOOL_CALL", "message": {"role": "assistant", "tool_calls": calls}});
    let function = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let answer = r#"{"alarms":2,"title":"Alarms"}"#;
    let model = ScriptedModel::new([
        call(json!([function("1", "list_alarms", "{}")])),
        call(json!([
            function("2", "list_alarms", "{}"),
            function("3", "final_answer", answer)
        ])),
    ]);
    let agent = Agent::new(registry(), Cohere::default(), model.clone()).answer_type::<Report>();
    let mut run = Run::new("run");
    run.push(agent.dialect().user_message("How many?")).unwrap();
    assert_eq!(
        agent.run_blocking(&mut run).unwrap(),
        RunOutcome::Answered(answer.into())
    );
    let fields = json!(model.requests()[1].fields());
    assert_eq!(fields["tool_choice"], "REQUIRED");
    let messages = run.messages();
    let results: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["tool_call_id"].clone())
        .collect();
    assert_eq!(results, ["1", "2", "3"]);
    let last = messages.last().unwrap();
    assert_eq!(last["content"], "received");
}
