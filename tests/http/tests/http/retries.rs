//! Retries through tower.

use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::model::{HttpModel, ModelErrorKind, ModelService, Retry, ServiceModel};
use tool_agent::run::{Run, RunOutcome};
use tool_agent::{Agent, AgentError};
use tool_dialects::OpenAiChat;
use tower::ServiceBuilder;

use crate::server::{Answer, JSON, Server, events, json, status};
use crate::{KEY, block_on, registry};

fn answer() -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": "5"}}]})
}

fn failure(line: &str, headers: &str) -> Answer {
    status(line, &format!("{JSON}{headers}"), "{}")
}

fn quick(retries: u32) -> Retry {
    Retry::new(retries).first_wait(Duration::from_millis(1))
}

/// Asks an agent with this policy. Returns its answer and the number of requests.
fn ask(answers: Vec<Answer>, policy: Retry) -> (Result<String, AgentError>, usize) {
    let server = Server::start(answers);
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "m").base_url(&server.url).key(KEY);
    let agent = Agent::new(registry(), dialect, model.streaming(true)).retry(policy);
    (
        block_on(agent.ask("What is 2 + 3?")),
        server.received().len(),
    )
}

fn kind(answer: &Result<String, AgentError>) -> Option<ModelErrorKind> {
    match answer {
        Err(AgentError::Model(error)) => Some(error.kind()),
        _ => None,
    }
}

#[test]
fn failures_that_may_pass_are_retried() {
    let failures = || {
        vec![
            failure("429 Too Many Requests", "retry-after: 0\r\n"),
            failure("500 Internal Server Error", ""),
            // The error is the first event.
            events(
                &[json!({"error": {"code": 503, "message": "busy"}})],
                100,
                true,
            ),
            json(&answer()),
        ]
    };
    let (answer, requests) = ask(failures(), quick(3));
    assert_eq!((answer.unwrap().as_str(), requests), ("5", 4));
    let (answer, requests) = ask(failures(), quick(1));
    assert_eq!(
        (kind(&answer), requests),
        (Some(ModelErrorKind::Overloaded), 2)
    );
    let (answer, requests) = ask(failures(), quick(0));
    assert_eq!(
        (kind(&answer), requests),
        (Some(ModelErrorKind::RateLimited), 1)
    );
}

#[test]
fn other_failures_are_not_retried() {
    for (line, headers, expected) in [
        ("400 Bad Request", "", ModelErrorKind::Rejected),
        ("401 Unauthorized", "", ModelErrorKind::Unauthorized),
        // Longer than the policy waits.
        (
            "429 Too Many Requests",
            "retry-after: 3600\r\n",
            ModelErrorKind::RateLimited,
        ),
    ] {
        let (answer, requests) = ask(vec![failure(line, headers), json(&answer())], quick(3));
        assert_eq!((kind(&answer), requests), (Some(expected), 1), "{line}");
    }
}

#[test]
fn the_longest_times_are_possible() {
    let longest = Retry::new(3)
        .first_wait(Duration::from_millis(1))
        .max_wait(Duration::MAX);
    let failures = vec![
        failure("500 Internal Server Error", ""),
        failure("429 Too Many Requests", "retry-after: 0\r\n"),
        json(&answer()),
    ];
    let (answered, requests) = ask(failures, longest);
    assert_eq!((answered.unwrap().as_str(), requests), ("5", 3));
    // Waits for years, unless it is dropped.
    let endless = Retry::new(3)
        .first_wait(Duration::MAX)
        .max_wait(Duration::MAX);
    let server = Server::start([failure("500 Internal Server Error", "")]);
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "m")
        .base_url(&server.url)
        .timeout(Duration::MAX)
        .idle_timeout(Duration::MAX)
        .connect_timeout(Duration::MAX);
    let agent = Agent::new(registry(), dialect, model)
        .retry(endless)
        .max_duration(Duration::from_millis(300));
    let mut run = Run::new("run-1");
    run.push(agent.dialect().user_message("What is 2 + 3?"))
        .unwrap();
    let ended = block_on(agent.run(&mut run)).unwrap();
    assert_eq!(ended, RunOutcome::OutOfTime);
}

#[test]
fn retries_work_without_a_runtime() {
    let answers = [failure("500 Internal Server Error", ""), json(&answer())];
    let server = Server::start(answers);
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "m").base_url(&server.url);
    let agent = Agent::new(registry(), dialect, model).retry(quick(3));
    assert_eq!(agent.ask_blocking("What is 2 + 3?").unwrap(), "5");
}

#[test]
fn a_model_works_in_layers_of_tower() {
    let answers = [failure("500 Internal Server Error", ""), json(&answer())];
    let server = Server::start(answers);
    let dialect = OpenAiChat::default();
    let model = HttpModel::new(&dialect, "m").base_url(&server.url);
    let service = ServiceBuilder::new()
        .timeout(Duration::from_secs(30))
        .retry(quick(2))
        .service(ModelService::new(model));
    let agent = Agent::new(registry(), dialect, ServiceModel::new(service));
    assert_eq!(block_on(agent.ask("What is 2 + 3?")).unwrap(), "5");

    let server = Server::start([failure("401 Unauthorized", "")]);
    let model = HttpModel::new(&dialect, "m").base_url(&server.url);
    let service = ServiceBuilder::new()
        .timeout(Duration::from_secs(30))
        .service(ModelService::new(model));
    let agent = Agent::new(registry(), dialect, ServiceModel::new(service));
    // The kind survives the layers.
    let answer = block_on(agent.ask("What is 2 + 3?"));
    assert_eq!(kind(&answer), Some(ModelErrorKind::Unauthorized));
}
