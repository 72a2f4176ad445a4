//! A model is down, and another one goes on with the run.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream;
use serde_json::{Value, json};
use tool_agent::model::{Model, ModelError, ModelErrorKind, ModelFuture, Request, Response};
use tool_agent::run::{Increment, MemoryJournal, Round, Run, RunOutcome, RunSettings};
use tool_agent::testing::ScriptedModel;
use tool_agent::transcript::{Shown, Transcript};
use tool_agent::{Agent, AgentError, Event, Fallback, Prices};
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{Dialect, HostedTool, ResponseError, Turn};
use tool_core::{Registry, ToolEntry, ToolResult, tool, tools};
use tool_dialects::{Anthropic, Gemini, OpenAiChat};

use super::saying;

/// The payments of one test, by the number of the invoice.
#[derive(Clone, Default)]
struct Paid(Arc<Mutex<Vec<u32>>>);

/// Pays an invoice.
#[tool(destructive, unlinked)]
fn pay(invoice: u32, #[param(context)] paid: &Paid) -> String {
    paid.0.lock().unwrap().push(invoice);
    format!("{invoice} is paid")
}

fn registry(paid: &Paid) -> Registry {
    let builder = Registry::builder().tools(tools![pay]);
    builder.context(paid.clone()).build().unwrap()
}

/// How a model writes a call of `pay`, or its answer.
type Write = fn(Option<u32>) -> Value;

fn of_openai(invoice: Option<u32>) -> Value {
    match invoice {
        Some(invoice) => super::calling(&[("pay", &json!({ "invoice": invoice }).to_string())]),
        None => saying("All is paid."),
    }
}

fn of_anthropic(invoice: Option<u32>) -> Value {
    let block = match invoice {
        Some(invoice) => {
            json!({"type": "tool_use", "id": format!("toolu_{invoice}"), "name": "pay",
            "input": { "invoice": invoice }})
        }
        None => json!({"type": "text", "text": "All is paid."}),
    };
    json!({"role": "assistant", "content": [block]})
}

fn of_gemini(invoice: Option<u32>) -> Value {
    let part = match invoice {
        Some(invoice) => json!({"functionCall": {"name": "pay", "args": { "invoice": invoice }}}),
        None => json!({"text": "All is paid."}),
    };
    json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]})
}

fn down(kind: ModelErrorKind) -> ModelError {
    ModelError::new(kind, "503 Service Unavailable").with_target("the first")
}

/// Pays three invoices, each once it sees in the messages that those before are paid.
fn model(
    write: Write,
    is_down: impl Fn() -> bool + Send + Sync + 'static,
) -> impl Fn(Request) -> std::future::Ready<Result<Value, ModelError>> + Send + Sync {
    move |request: Request| {
        if is_down() {
            return std::future::ready(Err(down(ModelErrorKind::Overloaded)));
        }
        let messages = json!(*request.messages).to_string();
        let is_paid = |invoice: &u32| messages.contains(&format!("{invoice} is paid"));
        let next = (1..=3).find(|invoice| !is_paid(invoice));
        std::future::ready(Ok(write(next)))
    }
}

/// Each request may be the one that fails, with each model after it, and the program may be killed after each step.
#[tokio::test]
async fn no_call_runs_again_wherever_a_model_fails_and_the_program_is_killed() {
    let mut killed = 0;
    for failing in 0..5 {
        let paid = Paid::default();
        let journal = MemoryJournal::new();
        let agent = |paid: &Paid, first_fails_at: usize, second_fails_at: usize| {
            let (count, other) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let first = move || count.fetch_add(1, Ordering::Relaxed) >= first_fails_at;
            let second = move || other.fetch_add(1, Ordering::Relaxed) >= second_fails_at;
            let fallback = Fallback::to(Anthropic::default(), model(of_anthropic, second))
                .or(Gemini::default(), model(of_gemini, || false))
                .pause(Duration::from_secs(9_999));
            Agent::new(
                registry(paid),
                OpenAiChat::default(),
                model(of_openai, first),
            )
            .fallback(fallback)
        };
        let mut run = Run::new("run-1");
        let driving = agent(&paid, failing, 1).journal(journal.clone());
        let outcome = driving.reply(&mut run, "Pay 1 to 3.").await.unwrap();
        assert_eq!(outcome, RunOutcome::Answered("All is paid.".into()));
        assert_eq!(*paid.0.lock().unwrap(), [1, 2, 3], "{failing}");
        let expected = match failing {
            4.. => "chat completions",
            3 => "Anthropic",
            _ => "Gemini",
        };
        assert_eq!(run.info().dialect(), Some(expected), "{failing}");
        let replayed = driving.load("run-1").await.unwrap().unwrap();
        assert_eq!(json!(replayed), json!(run));

        let all: Vec<Increment> = tool_agent::run::Journal::load(&journal, "run-1")
            .await
            .unwrap();
        for at in 2..=all.len() {
            let mut run = Run::replay(
                all[..at]
                    .iter()
                    .map(|increment| serde_json::from_value(json!(increment)).unwrap()),
            )
            .unwrap();
            let known = |run: &Run| {
                let calls = run.rounds().iter().flat_map(tool_agent::run::Round::calls);
                let calls: Vec<_> = calls.collect();
                calls.iter().filter(|(_, result)| result.is_some()).count()
            };
            let before = known(&run);
            let paid = Paid::default();
            // Whatever is down now.
            let agent = agent(&paid, at % 2, at % 3);
            let outcome = agent.run(&mut run).await.unwrap();
            assert!(matches!(outcome, RunOutcome::Answered(_)), "{outcome:?}");
            let paid = paid.0.lock().unwrap();
            let mut once = paid.clone();
            once.dedup();
            assert_eq!(*paid, once);
            assert!(
                paid.iter().all(|invoice| *invoice as usize > before),
                "{before} {paid:?}"
            );
            killed += 1;
        }
    }
    assert!(killed > 60, "{killed}");
}

/// Events of a run, in short.
fn short(event: &Event) -> Option<String> {
    Some(match event {
        Event::Text(text) => format!("text {text}"),
        Event::FellBack { from, to, error } => format!("{from} -> {to}: {error}"),
        Event::Translated(losses) => format!("translated, {} losses", losses.len()),
        _ => return None,
    })
}

fn answering(dialect: &dyn Dialect, text: &str) -> Value {
    match dialect.provider() {
        "Anthropic" => json!({"role": "assistant", "content": [{"type": "text", "text": text}]}),
        _ => saying(text),
    }
}

/// A model that is down at some requests, and counts them.
fn flaky(responses: Vec<Result<Value, ModelErrorKind>>) -> (Arc<AtomicU32>, impl Model + 'static) {
    let count = Arc::new(AtomicU32::new(0));
    let responses = Mutex::new(responses.into_iter());
    let counted = Arc::clone(&count);
    let model = move |_: Request| {
        counted.fetch_add(1, Ordering::Relaxed);
        let response = responses.lock().unwrap().next().unwrap();
        std::future::ready(response.map_err(down))
    };
    (count, model)
}

#[tokio::test]
async fn the_agent_comes_back_after_the_pause() {
    let anthropic = Anthropic::default();
    for (pause, expected) in [(Duration::ZERO, 2), (Duration::from_secs(9_999), 1)] {
        let answer = |text: &str| Ok(answering(&OpenAiChat::default(), text));
        let (asked, first) = flaky(vec![Err(ModelErrorKind::Connection), answer("I am back.")]);
        let others = ["Hello!", "Still here."].map(|text| answering(&anthropic, text));
        let events = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&events);
        let agent = Agent::new(Registry::new(), OpenAiChat::default(), first)
            .fallback(Fallback::to(anthropic, ScriptedModel::new(others)).pause(pause))
            .on_event(move |event| heard.lock().unwrap().extend(short(event)));
        let mut run = Run::new("run-1");
        let hello = agent.reply(&mut run, "Hello?").await.unwrap();
        assert_eq!(hello, RunOutcome::Answered("Hello!".into()));
        assert_eq!(agent.dialect_of(&run).provider(), "Anthropic");
        // Another conversation of the agent knows that the first is down, and a clone does, too.
        let outcome = agent.clone().reply(&mut run, "And now?").await.unwrap();
        let is_back = expected == 2;
        let text = if is_back { "I am back." } else { "Still here." };
        assert_eq!(outcome, RunOutcome::Answered(text.into()));
        assert_eq!(asked.load(Ordering::Relaxed), expected);
        let mut events = events.lock().unwrap().clone();
        assert!(events[0].ends_with("repeat it later"), "{events:?}");
        assert!(events[0].starts_with("OpenAI -> Anthropic: the request to the first failed"));
        events.retain(|event| event.starts_with("translated"));
        assert_eq!(events.len(), usize::from(is_back), "{events:?}");
    }
}

#[tokio::test]
async fn only_the_named_errors_ask_the_next_model() {
    let kinds = [
        (ModelErrorKind::RateLimited, true),
        (ModelErrorKind::Overloaded, true),
        (ModelErrorKind::TimedOut, true),
        (ModelErrorKind::Connection, true),
        (ModelErrorKind::Unauthorized, false),
        (ModelErrorKind::Rejected, false),
        (ModelErrorKind::Response, false),
        (ModelErrorKind::Other, false),
    ];
    for (kind, is_down) in kinds {
        for is_named in [false, true] {
            let (_, first) = flaky(vec![Err(kind)]);
            let (asked, second) = flaky(vec![Ok(saying("Hello!"))]);
            let mut fallback = Fallback::to(OpenAiChat::default(), second);
            if is_named {
                fallback = fallback.on(move |error| error.kind() == kind && !is_down);
            }
            let agent = Agent::new(Registry::new(), OpenAiChat::default(), first);
            let answer = agent.fallback(fallback).ask("Hello?").await;
            let goes_on = is_down != is_named;
            assert_eq!(
                asked.load(Ordering::Relaxed),
                u32::from(goes_on),
                "{kind:?}"
            );
            match answer {
                Ok(_) => assert!(goes_on),
                Err(AgentError::Model(error)) => assert_eq!((error.kind(), goes_on), (kind, false)),
                Err(error) => panic!("{error}"),
            }
        }
    }
    // A closure that panics names nothing.
    let (_, first) = flaky(vec![Err(ModelErrorKind::Overloaded)]);
    let fallback = Fallback::to(OpenAiChat::default(), ScriptedModel::new([]));
    let agent = Agent::new(Registry::new(), OpenAiChat::default(), first)
        .fallback(fallback.on(|_| panic!("which errors?")));
    assert!(matches!(
        agent.ask("Hello?").await,
        Err(AgentError::Model(_))
    ));
}

#[tokio::test]
async fn if_all_are_down_each_is_asked_once_and_the_run_can_go_on_later() {
    let error = || Err(ModelErrorKind::Overloaded);
    let (first_asked, first) = flaky(vec![error(), Ok(saying("Hello!"))]);
    let (second_asked, second) = flaky(vec![error(), error()]);
    let fallback = Fallback::to(Anthropic::default(), second);
    let agent = Agent::new(Registry::new(), OpenAiChat::default(), first).fallback(fallback);
    let mut run = Run::new("run-1");
    let failed = agent.reply(&mut run, "Hello?").await.unwrap_err();
    assert!(matches!(failed, AgentError::Model(_)), "{failed}");
    let asked = || {
        (
            first_asked.load(Ordering::Relaxed),
            second_asked.load(Ordering::Relaxed),
        )
    };
    assert_eq!(asked(), (1, 1));
    // Both are in their pause, so both are asked again.
    let outcome = agent.run(&mut run).await.unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Hello!".into()));
    assert_eq!(asked(), (2, 1));
}

/// Streams a piece of text and breaks off.
struct Breaking;

impl Model for Breaking {
    fn ask(&self, _: Request) -> ModelFuture<'_> {
        let chunk =
            json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]});
        let events = [Ok(chunk), Err(down(ModelErrorKind::Connection))];
        Box::pin(async { Ok(Response::stream(stream::iter(events))) })
    }

    fn name(&self) -> Option<&str> {
        Some("broken-1")
    }
}

#[tokio::test]
async fn what_was_streamed_before_a_failure_is_void() {
    let other = ScriptedModel::new([answering(&Anthropic::default(), "Good morning!")]);
    let run = Run::new("run-1");
    let transcript = Arc::new(Mutex::new(Transcript::new(&Registry::new(), &run)));
    let events = Arc::new(Mutex::new(Vec::new()));
    let (heard, shown) = (Arc::clone(&events), Arc::clone(&transcript));
    let agent = Agent::new(Registry::new(), OpenAiChat::default(), Breaking)
        .fallback(Fallback::to(Anthropic::default(), other))
        .on_event(move |event| {
            heard.lock().unwrap().extend(short(event));
            shown.lock().unwrap().apply(event);
        });
    let mut run = run;
    agent.reply(&mut run, "Hello?").await.unwrap();
    let events = events.lock().unwrap();
    assert_eq!(events[0], "text Hel");
    assert!(
        events[1].starts_with("broken-1 at OpenAI -> Anthropic: "),
        "{events:?}"
    );
    assert_eq!(events[2], "text Good morning!");
    let transcript = transcript.lock().unwrap();
    let entries = transcript.entries().iter();
    let texts = entries.map(|entry| match &entry.shown {
        Shown::User { text } | Shown::Model { text } => &**text,
        _ => "",
    });
    assert_eq!(texts.collect::<Vec<_>>(), ["Hello?", "Good morning!"]);
}

/// A server of chat completions that marks what a request repeats, and counts it.
#[derive(Clone)]
struct Marking(&'static str, Arc<AtomicUsize>);

impl Dialect for Marking {
    fn provider(&self) -> &'static str {
        OpenAiChat::default().provider()
    }

    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        OpenAiChat::default().write_tools(tools, hosted, out);
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        OpenAiChat::default().read(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        OpenAiChat::default().results(results)
    }

    fn repeat<'m>(&self, message: &'m Value) -> Cow<'m, Value> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let mut message = message.clone();
        message["sent_to"] = self.0.into();
        Cow::Owned(message)
    }
}

/// Pays invoices without an end, and checks that a request follows the rules of its server. Is down at some requests.
fn paying(
    server: &'static str,
    is_down: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> impl Model + 'static {
    let asked = AtomicUsize::new(0);
    move |request: Request| {
        let messages = &request.messages;
        assert!(
            messages.iter().all(|message| message["sent_to"] == server),
            "{messages:?}"
        );
        std::future::ready(if is_down(asked.fetch_add(1, Ordering::Relaxed)) {
            Err(down(ModelErrorKind::Overloaded))
        } else {
            Ok(of_openai(Some(1)))
        })
    }
}

/// Otherwise a long conversation costs more with each round.
#[tokio::test]
async fn each_message_is_prepared_once_for_each_server_that_the_run_goes_to() {
    const ROUNDS: u32 = 20;
    let drive = async |first_fails_at: usize, pause: Duration| {
        let counts = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let [first, second] = ["first", "second"].map(|server| {
            let count = usize::from(server == "second");
            Marking(server, Arc::clone(&counts[count]))
        });
        let other = paying("second", |_| false);
        let fallback = Fallback::to(second, other).pause(pause);
        let model = paying("first", move |at| at == first_fails_at);
        let agent = Agent::new(registry(&Paid::default()), first, model).fallback(fallback);
        let mut run = Run::new("run-1");
        let mut settings = RunSettings::default();
        (settings.max_rounds, settings.max_calls) = (ROUNDS, ROUNDS);
        run.set_settings(settings);
        agent.reply(&mut run, "Pay 1 for ever.").await.unwrap();
        assert_eq!(run.rounds().len(), ROUNDS as usize);
        counts.map(|count| count.load(Ordering::Relaxed))
    };
    // A question, and a call with its result in each round.
    let messages = 1 + 2 * ROUNDS as usize;
    let long = Duration::from_secs(9_999);
    assert_eq!(drive(usize::MAX, long).await, [messages, 0]);
    assert_eq!(drive(0, long).await, [1, messages]);
    let until = 1 + 2 * 10;
    assert_eq!(drive(10, long).await, [until, messages]);
    // The first server is back at once, and the run with it.
    let round = 2;
    assert_eq!(
        drive(10, Duration::ZERO).await,
        [until + messages, until + round]
    );
}

/// Answers with a usage of 1000 tokens of the request, and 100 of the response.
fn costing(dialect: &dyn Dialect, text: &str) -> Value {
    let mut response = answering(dialect, text);
    response["usage"] = match dialect.provider() {
        "Anthropic" => json!({"input_tokens": 1000, "output_tokens": 100}),
        _ => json!({"prompt_tokens": 1000, "completion_tokens": 100}),
    };
    response
}

#[tokio::test]
async fn a_response_costs_what_the_model_costs_that_answered() {
    let (openai, anthropic) = (OpenAiChat::default(), Anthropic::default());
    let down = || Err(ModelErrorKind::Overloaded);
    let answer = |dialect: &dyn Dialect| Ok(costing(dialect, "Hello!"));
    // The first model answers, then the second, then the third.
    let (_, first) = flaky(vec![answer(&openai), down(), down()]);
    let (_, second) = flaky(vec![answer(&anthropic), down()]);
    let (_, third) = flaky(vec![answer(&openai)]);
    let fallback = Fallback::to(anthropic, second)
        .prices(Prices::new(3_000_000, 15_000_000))
        .or(openai, third)
        .pause(Duration::ZERO);
    let agent = Agent::new(Registry::new(), openai, first)
        .prices(Prices::new(1_000_000, 2_000_000))
        .fallback(fallback);
    let mut run = Run::new("run-1");
    for _ in 0..3 {
        agent.reply(&mut run, "Hello?").await.unwrap();
    }
    let micros: Vec<_> = run.rounds().iter().map(Round::micros).collect();
    // The agent's prices are those of the third, too.
    let (own, other) = (1000 + 200, 3000 + 1500);
    assert_eq!(micros, [own, other, own]);
}
