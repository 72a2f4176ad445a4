//! Calls in the background with each provider: a server plays it by its own rules, and checks what it is sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tool_agent::Agent;
use tool_agent::model::HttpModel;
use tool_agent::run::{Run, RunOutcome};
use tool_core::dialect::Dialect;
use tool_core::dialect::NamedDialect;
use tool_core::{Registry, tool, tools};
use tool_dialects::OpenAiResponses;

use crate::played::{Api, Called, Said, Turn};
use crate::server::{JSON, Server, json, status};
use crate::watchdog::Watchdog;
use crate::{KEY, block_on};

/// Lets calls end.
#[derive(Clone)]
struct Gate(Arc<Semaphore>);

/// Builds a target.
#[tool(background, unlinked)]
async fn build(target: &str, #[param(context)] gate: &Gate) -> String {
    gate.0.acquire().await.unwrap().forget();
    format!("built {target}")
}

/// Looks something up.
#[tool(read_only, unlinked)]
fn look_up(key: &str) -> String {
    format!("value of {key}")
}

fn registry(gate: &Gate) -> Registry {
    let builder = Registry::builder().tools(tools![build, look_up]);
    builder.context(gate.clone()).build().unwrap()
}

const QUESTION: &str = "Build the app, and tell me what a is.";

/// Ids that every provider accepts.
fn call(number: usize, name: &str, arguments: Value) -> Called {
    Called {
        id: format!("call{number:05}"),
        name: name.into(),
        arguments,
        is_async: false,
    }
}

/// Returns the results of the last calls, in the order of the calls.
fn results(said: &[Said]) -> Result<Vec<&str>, String> {
    let [.., asked @ Said::Model(_), last] = said else {
        return Err(format!("no results in {said:?}"));
    };
    let results = asked.calls().iter().map(|call| {
        let result = last.result(&call.id);
        result.ok_or_else(|| format!("{} has no result", call.name))
    });
    results.collect()
}

/// The model: it calls both tools, answers while the build runs, gets its result as the next message, builds again, and waits.
fn next(said: &[Said], gate: &Gate) -> Result<Turn, String> {
    let expect = |is_met: bool, what: &str| {
        let last = said.last();
        is_met
            .then_some(())
            .ok_or_else(|| format!("no {what} in {last:?}"))
    };
    let build = |number| call(number, "build", json!({"target": "app"}));
    match said
        .iter()
        .filter(|part| matches!(part, Said::Model(_)))
        .count()
    {
        0 => {
            expect(
                matches!(said, [Said::User(text)] if text == QUESTION),
                "question",
            )?;
            let look_up = call(2, "look_up", json!({"key": "a"}));
            Ok(Turn::Calls(vec![build(1), look_up]))
        }
        1 => {
            let results = results(said)?;
            let acknowledged = results[0].starts_with("Started in the background, id 1-1.");
            expect(acknowledged, "acknowledgement")?;
            expect(results[1] == "value of a", "value of a")?;
            // The build can't have ended before.
            gate.0.add_permits(1);
            Ok(Turn::Answer("I am building it, and a is a value."))
        }
        2 => {
            let Some(Said::User(text)) = said.last() else {
                return Err(format!("no message in {said:?}"));
            };
            let (preamble, told) = text.split_once('\n').ok_or("no results")?;
            expect(preamble.contains("not the user"), "preamble")?;
            let told: Value = serde_json::from_str(told).map_err(|error| error.to_string())?;
            let build_result = json!([{"tool": "build", "id": "1-1", "result": "built app"}]);
            expect(told == build_result, "result of the build")?;
            gate.0.add_permits(1);
            Ok(Turn::Calls(vec![
                build(3),
                call(4, "wait_for_results", json!({})),
            ]))
        }
        3 => {
            let results = results(said)?;
            let acknowledged = results[0].starts_with("Started in the background, id 3-1.");
            expect(acknowledged, "acknowledgement")?;
            let waited: Value = serde_json::from_str(results[1]).unwrap_or_default();
            let build_result = json!([{"tool": "build", "id": "3-1", "result": "built app"}]);
            expect(waited == build_result, "awaited result")?;
            Ok(Turn::Answer("It is built twice."))
        }
        _ => Err("nothing is left to say".into()),
    }
}

/// The model of a provider with async calls: it goes on without an acknowledgement.
fn next_async(said: &[Said], gate: &Gate) -> Result<Turn, String> {
    let expect = |expected: &[&str]| {
        let Some(Said::Results(results)) = said.last() else {
            return Err(format!("no results in {said:?}"));
        };
        let texts: Vec<_> = results.iter().map(|result| &*result.text).collect();
        if texts == expected {
            Ok(())
        } else {
            Err(format!("the results {texts:?} in place of {expected:?}"))
        }
    };
    let build = |number| Called {
        is_async: true,
        ..call(number, "build", json!({"target": "app"}))
    };
    let turns = said.iter().filter(|part| matches!(part, Said::Model(_)));
    match turns.count() {
        0 => {
            let look_up = call(2, "look_up", json!({"key": "a"}));
            Ok(Turn::Calls(vec![build(1), look_up]))
        }
        1 => {
            expect(&["value of a"])?;
            gate.0.add_permits(1);
            Ok(Turn::Answer("I am building it, and a is a value."))
        }
        2 => {
            expect(&["built app"])?;
            // It has nothing else to do: no request asks it to go on before the result is there.
            gate.0.add_permits(1);
            Ok(Turn::Calls(vec![build(3)]))
        }
        3 => {
            expect(&["built app"])?;
            gate.0.add_permits(1);
            let wait = call(5, "wait_for_results", json!({}));
            Ok(Turn::Calls(vec![build(4), wait]))
        }
        4 => {
            expect(&["built app", "The results stand before this one."])?;
            Ok(Turn::Answer("It is built twice."))
        }
        _ => Err("nothing is left to say".into()),
    }
}

type Next = fn(&[Said], &Gate) -> Result<Turn, String>;

/// Drives the conversation with a server that plays the provider, which is asked so many times.
fn converse(
    name: &'static str,
    title: &str,
    dialect: impl Dialect + Copy + 'static,
    next: Next,
    requests: usize,
) {
    let gate = Gate(Arc::new(Semaphore::new(0)));
    let opened = gate.clone();
    let api = Api::of(name);
    let server = Server::answering(move |request| {
        let respond = || {
            let tools: BTreeSet<_> = (api.tools)(&request.body)?.into_iter().collect();
            if !tools.iter().eq(["build", "look_up", "wait_for_results"]) {
                return Err(format!("the tools are {tools:?}"));
            }
            let turn = next(&api.read(&request.body)?, &opened)?;
            if let Turn::Calls(calls) = &turn {
                for call in calls.iter().filter(|call| call.is_async) {
                    let mut tools = request.body["tools"].as_array().into_iter().flatten();
                    let is_async =
                        tools.any(|tool| tool["name"] == *call.name && tool["async"] == true);
                    if !is_async {
                        return Err(format!("{} is not async", call.name));
                    }
                }
            }
            Ok((api.write)(&turn))
        };
        match respond() {
            Ok(response) => json(&response),
            Err(problem) => {
                let error = json!({"error": {"message": problem}});
                status("400 Bad Request", JSON, error.to_string())
            }
        }
    });
    let model = HttpModel::new(&dialect, "some-model")
        .base_url(&server.url)
        .key(KEY);
    let agent = Agent::new(registry(&gate), dialect, model);
    let mut run = Run::new("run-1");
    let outcome = block_on(agent.reply(&mut run, QUESTION));
    let outcome = outcome.unwrap_or_else(|error| panic!("{title}: {error:?}"));
    let expected = RunOutcome::Answered("It is built twice.".into());
    assert_eq!(outcome, expected, "{title}");
    assert_eq!(server.received().len(), requests, "{title}");
    let open = run.in_background().count();
    assert_eq!(open, 0, "{title}");
}

#[test]
fn every_provider_takes_the_acknowledgement_and_the_result_that_comes_later() {
    let (played, others): (Vec<&NamedDialect>, Vec<_>) =
        tool_dialects::all().partition(|known| known.dialect.http_api().is_some());
    let watchdog = Watchdog::new("a conversation with a server");
    for known in played {
        watchdog.step(known.title);
        converse(known.name, known.title, known.dialect, next, 4);
    }
    // A server of MCP runs such a call as a task; nobody asks it for responses.
    assert!(others.iter().map(|known| known.name).eq(["mcp"]));
    for known in others {
        let model = HttpModel::new(known.dialect, "m")
            .base_url("http://127.0.0.1:1")
            .without_key();
        let agent = Agent::new(Registry::new(), known.dialect, model);
        let error = block_on(agent.ask(QUESTION)).unwrap_err().to_string();
        assert!(error.contains("has no HTTP API"), "{error}");
    }
}

#[test]
fn a_provider_with_async_calls_takes_results_later_by_their_ids() {
    let _watchdog = Watchdog::new("a conversation with async calls");
    for dialect in [OpenAiResponses::default(), OpenAiResponses::strict()] {
        let dialect = dialect.async_calls();
        converse("openai-responses", "async calls", dialect, next_async, 5);
    }
}
