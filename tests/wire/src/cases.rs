//! Plays cases: a local server answers the requests of one run of an agent.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use strict::{Format, Server as Kind};
use tool_agent::model::HttpModel;
use tool_agent::run::{Round, Run, RunOutcome};
use tool_agent::{Agent, AgentError};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolType, tool, tools};

use crate::report::Report;
use crate::second::{self, Reading};
use crate::server::{Reply, Server};

/// What ran, with its arguments.
type Ran = Arc<Mutex<Vec<(&'static str, Value)>>>;

fn ran(log: &Ran, name: &'static str, arguments: Value) {
    log.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push((name, arguments));
}

/// Returns the weather.
#[tool(read_only)]
fn get_weather(
    #[param(context)] log: &Ran,
    /// The name of the city.
    city: String,
) -> String {
    ran(log, "get_weather", json!({ "city": city }));
    format!("12 degrees in {city}")
}

/// Answers at once.
#[tool(read_only)]
fn ping(#[param(context)] log: &Ran) -> &'static str {
    ran(log, "ping", json!({}));
    "pong"
}

/// An item of an order.
#[derive(ToolType)]
struct Item {
    /// The number of the article.
    sku: String,
    /// How many of it.
    count: Option<u32>,
}

/// Orders articles.
#[tool]
fn order(
    #[param(context)] log: &Ran,
    /// What is ordered.
    items: Vec<Item>,
    /// A note for the shop.
    note: Option<String>,
) -> String {
    let listed = items
        .iter()
        .map(|item| json!({"sku": item.sku, "count": item.count}));
    ran(
        log,
        "order",
        json!({"items": listed.collect::<Vec<_>>(), "note": note}),
    );
    format!("{} ordered", items.len())
}

/// Plays all cases in a file.
///
/// # Errors
///
/// Returns an error if the file can't be read, or a case has another form.
pub(crate) fn play(path: &Path, report: &mut Report) -> io::Result<()> {
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for (at, case) in cases.iter().enumerate() {
        let case = Case::read(case)
            .map_err(|problem| io::Error::other(format!("case {at}: {problem}")))?;
        report.cases += 1;
        runtime.block_on(play_one(&case, report))?;
    }
    Ok(())
}

struct Case<'a> {
    name: &'a str,
    dialect: &'static dyn Dialect,
    format: &'a str,
    json: &'a Value,
    replies: &'a [Value],
    is_stream: bool,
}

impl Case<'_> {
    fn read(json: &Value) -> Result<Case<'_>, String> {
        let name = json["name"].as_str().ok_or("`name` is no string")?;
        let format = json["dialect"].as_str().unwrap_or("openai-chat");
        let known = tool_dialects::find(format, false)
            .ok_or_else(|| format!("there is no dialect {format}"))?;
        let replies = json["replies"].as_array().ok_or("`replies` is no list")?;
        let is_stream =
            json["stream"] == true || replies.iter().any(|reply| reply["sse"].is_array());
        Ok(Case {
            name,
            dialect: known.dialect,
            format,
            json,
            replies,
            is_stream,
        })
    }

    /// Returns the reply to the request with this number.
    fn reply(&self, number: usize) -> Reply {
        let Some(reply) = self.replies.get(number) else {
            return self.last_reply();
        };
        if let Some(events) = reply["sse"].as_array() {
            return event_stream(events);
        }
        let status = reply["status"].as_u64();
        if status.is_some() || reply["type"].is_string() && reply["body"].is_string() {
            let body = match &reply["body"] {
                Value::String(text) => text.clone(),
                body => body.to_string(),
            };
            let headers = reply["headers"].as_object().into_iter().flatten();
            return Reply {
                status: status
                    .and_then(|status| u16::try_from(status).ok())
                    .unwrap_or(200),
                kind: reply["type"]
                    .as_str()
                    .unwrap_or("application/json")
                    .to_owned(),
                headers: headers
                    .map(|(name, value)| {
                        (name.clone(), value.as_str().unwrap_or_default().to_owned())
                    })
                    .collect(),
                body: body.into_bytes(),
                is_cut: reply["cut"] == true,
            };
        }
        whole(reply)
    }

    /// Returns what the server answers when the replies of the case are used up.
    fn last_reply(&self) -> Reply {
        let last = &self.json["final"];
        if !last.is_null() {
            return whole(last);
        }
        match self.format {
            "openai-responses" => whole(
                &json!({"object": "response", "status": "completed", "output": [
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
                ]}),
            ),
            "gemini" => whole(&json!({"candidates": [
                {"content": {"role": "model", "parts": [{"text": "done"}]}, "finishReason": "STOP"},
            ]})),
            _ if self.is_stream => event_stream(&[
                json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "done"}}]}),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
                "[DONE]".into(),
            ]),
            _ => whole(&json!({"choices": [
                {"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"},
            ]})),
        }
    }

    /// Returns the second reading of the first reply.
    fn expected(&self) -> Option<Reading> {
        let reply = self.replies.first()?;
        if let Some(events) = reply["sse"].as_array() {
            // What follows `[DONE]` is no part of the response.
            let events = events.iter().take_while(|event| **event != "[DONE]");
            let events: Vec<_> = events.filter(|event| event.is_object()).cloned().collect();
            return second::stream(self.format, &events);
        }
        if reply["status"].is_u64() || reply["cut"] == true {
            return None;
        }
        // A body as it stands is a response or the events of one, whatever its label says.
        if let (Some(body), true) = (reply["body"].as_str(), reply["type"].is_string()) {
            return match serde_json::from_str(body) {
                Ok(whole) => second::whole(self.format, &whole),
                Err(_) => second::stream(self.format, &crate::recorded::events(body)),
            };
        }
        second::whole(self.format, reply)
    }

    /// Returns the servers whose rules each request of the case follows.
    fn checks(&self) -> Vec<Format> {
        match self.format {
            "openai-chat" => vec![Format::Chat(Kind::LlamaCpp), Format::Chat(Kind::Vllm)],
            other => Format::of(other).collect(),
        }
    }
}

fn whole(body: &Value) -> Reply {
    Reply {
        status: 200,
        kind: "application/json".to_owned(),
        headers: Vec::new(),
        body: body.to_string().into_bytes(),
        is_cut: false,
    }
}

/// Returns a stream with these events. A string is sent as it stands.
fn event_stream(events: &[Value]) -> Reply {
    let lines = events.iter().map(|event| match event {
        Value::String(data) => format!("data: {data}\n\n"),
        event => format!("data: {event}\n\n"),
    });
    Reply {
        kind: "text/event-stream".to_owned(),
        body: lines.collect::<String>().into_bytes(),
        ..whole(&Value::Null)
    }
}

/// Returns the first server that rejects a request, with its words.
fn rejection(checks: &[Format], request: &Value) -> Option<String> {
    let mut checked = checks
        .iter()
        .map(|format| (format, strict::check(*format, request)));
    checked.find_map(|(format, checked)| Some(format!("{format:?}: {}", checked.err()?)))
}

async fn play_one(case: &Case<'_>, report: &mut Report) -> io::Result<()> {
    // The replies are made before the server starts, because it outlives the case.
    let replies: Vec<_> = (0..=case.replies.len())
        .map(|number| case.reply(number))
        .collect();
    let (checks, is_strict) = (case.checks(), case.json["strict"] == true);
    let server = Server::start(move |number, request| {
        match rejection(&checks, request).filter(|_| is_strict) {
            Some(problem) => Reply {
                status: 400,
                ..whole(&json!({"error": {"message": problem, "type": "invalid_request_error"}}))
            },
            None => replies[number.min(replies.len() - 1)].clone(),
        }
    })?;
    let log = Ran::default();
    let agent = agent(case, &server.url, &log);
    let mut run = Run::new("case");
    let mut outcome = reply(&agent, &mut run, "How warm is it in Oslo?").await;
    let mut shown = vec![show(&outcome)];
    if case.json["again"] == true {
        outcome = reply(&agent, &mut run, "And in Rome?").await;
        shown.push(show(&outcome));
    }
    let requests = server
        .requests
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let log = log.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let names: Vec<_> = log
        .iter()
        .map(|(name, arguments)| format!("{name}{arguments}"))
        .collect();
    println!(
        "{}: {} [{} requests; ran {}]",
        case.name,
        shown.join(", then "),
        requests.len(),
        if names.is_empty() {
            "nothing".to_owned()
        } else {
            names.join(" ")
        }
    );
    judge(case, &run, &outcome, &requests, &log, report);
    Ok(())
}

fn agent(case: &Case<'_>, url: &str, log: &Ran) -> Agent {
    let text = |key: &str| case.json[key].as_str();
    let base = text("base").map_or_else(|| format!("{url}/v1"), |base| format!("{url}{base}"));
    let mut model = HttpModel::new(case.dialect, text("model").unwrap_or("m"))
        .base_url(base)
        .streaming(case.is_stream)
        .timeout(Duration::from_secs(20));
    model = match text("key") {
        Some(key) => model.key(key),
        None => model.without_key(),
    };
    for (name, value) in case.json["headers"].as_object().unwrap_or(&Map::new()) {
        model = model.header(name, value.as_str().unwrap_or_default());
    }
    for (name, value) in case.json["fields"].as_object().unwrap_or(&Map::new()) {
        model = model.field(name, value.clone());
    }
    let mut registry = Registry::builder()
        .tools(tools![get_weather, ping, order])
        .context(Arc::clone(log));
    if case.json["lenient"] == true {
        registry = registry.lenient();
    }
    let registry = registry
        .build()
        .unwrap_or_else(|error| panic!("three plain tools: {error}"));
    Agent::new(registry, case.dialect, model)
}

type Outcome = Result<RunOutcome, AgentError>;

async fn reply(agent: &Agent, run: &mut Run, text: &str) -> Outcome {
    agent.reply(run, text).await
}

fn show(outcome: &Outcome) -> String {
    match outcome {
        Ok(RunOutcome::Answered(text)) => format!("answered {text:?}"),
        Ok(other) => format!("{} ({other:?})", other.as_str()),
        Err(error) => format!("error: {error}"),
    }
}

/// Returns what a server says in a reply that is an error.
fn sentence(reply: &Value) -> Option<&str> {
    let own = [
        "/error",
        "/error/message",
        "/detail",
        "/msg",
        "/message",
        "/base_resp/status_msg",
        "/body/detail",
        "/body/error/message",
    ];
    own.into_iter()
        .find_map(|pointer| reply.pointer(pointer)?.as_str())
}

/// Reports what is wrong with how a case ends.
fn judge(
    case: &Case<'_>,
    run: &Run,
    outcome: &Outcome,
    requests: &[Value],
    log: &[(&'static str, Value)],
    report: &mut Report,
) {
    let checks = case.checks();
    for (number, request) in requests.iter().enumerate() {
        report.requests += 1;
        if let Some(problem) = rejection(&checks, request) {
            report.fault(
                case.name,
                &format!("request {number} is rejected by {problem}"),
            );
        }
    }
    if let Ok(RunOutcome::Answered(text)) = outcome
        && text.trim().is_empty()
    {
        report.fault(
            case.name,
            "the run ends as answered, and the answer is empty",
        );
    }
    let Some(expected) = case.expected() else {
        // The error has the sentence of the server.
        for sentence in case.replies.iter().filter_map(sentence) {
            let shown = show(outcome);
            // An outcome is shown with its texts as strings.
            let quoted = format!("{sentence:?}");
            if !shown.contains(sentence) && !shown.contains(quoted.trim_matches('"')) {
                report.fault(
                    case.name,
                    &format!("the server says {sentence:?}, and the run {shown}"),
                );
            }
        }
        if let Ok(RunOutcome::Answered(_)) = outcome
            && case.replies.iter().all(|reply| reply["body"].is_null())
        {
            report.fault(
                case.name,
                "the first reply is no response, and the run ends as answered",
            );
        }
        return;
    };
    let Some(round) = run.rounds().first() else {
        // Without anything in it, a response may be an error.
        if !expected.calls.is_empty() || !expected.text.is_empty() {
            report.fault(
                case.name,
                &format!(
                    "there is no round, and the reply says {expected:?}: {}",
                    show(outcome)
                ),
            );
        }
        return;
    };
    let read: Vec<_> = round
        .calls()
        .map(|(call, _)| (call.name.clone(), crate::recorded::value(call)))
        .collect();
    if read != expected.calls {
        report.fault(
            case.name,
            &format!(
                "the calls are {read:?}, and the second reading has {:?}",
                expected.calls
            ),
        );
    }
    if round.text() != expected.text {
        report.fault(
            case.name,
            &format!(
                "the text is {:?}, and the second reading has {:?}",
                round.text(),
                expected.text
            ),
        );
    }
    // What ran is what has a good result.
    let good = run
        .rounds()
        .iter()
        .flat_map(Round::calls)
        .filter(|(_, result)| result.is_some_and(|result| !result.is_error()));
    let good = good.count();
    if good != log.len() {
        report.fault(
            case.name,
            &format!("{} calls ran, and {good} have good results", log.len()),
        );
    }
    let is_answered = matches!(outcome, Ok(RunOutcome::Answered(_)));
    if is_answered && run.rounds().len() == 1 {
        // An answer is an allow-list.
        let stop = expected.stop.as_deref().unwrap_or("stop");
        if !["stop", "STOP", "completed", "COMPLETE", "end_turn"].contains(&stop) {
            report.fault(
                case.name,
                &format!("the run ends as answered, and the model stopped because of {stop}"),
            );
        }
        if !expected.calls.is_empty() {
            report.fault(
                case.name,
                "the run ends as answered, and the model made calls",
            );
        }
    }
}
