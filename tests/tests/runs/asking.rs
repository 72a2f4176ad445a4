//! Responses that ask for something that no tool answers.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_agent::run::{Increment, MemoryJournal, Run, RunError, RunOutcome, Step};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError, OpenCalls};
use tool_core::dialect::Unanswered;
use tool_core::{Registry, ToolResult, tool, tools};
use tool_dialects::OpenAiResponses;

use super::saving::saved;
use super::{dialect, holding, new_run, question, run_calls, saying, turn};

/// Adds a call of an unknown type to a chat completion.
pub(super) fn add(response: &mut Value, id: &str) {
    let message = &mut response["choices"][0]["message"];
    let asked = json!({"id": id, "type": "future"});
    match &mut message["tool_calls"] {
        Value::Array(calls) => calls.push(asked),
        calls => *calls = json!([asked]),
    }
}

pub(super) fn answer(asked: &Unanswered) -> Value {
    json!({"role": "tool", "tool_call_id": asked.id, "content": "done"})
}

/// Returns the ids of calls of an unknown type that have no answer, and of answers without a call.
pub(super) fn without_answer(messages: &[Arc<Value>]) -> Vec<String> {
    let calls = messages
        .iter()
        .filter_map(|message| message["tool_calls"].as_array());
    let asked = calls
        .flatten()
        .filter(|call| call["type"] == "future")
        .map(|call| call["id"].as_str().unwrap());
    let mut asked: Vec<_> = asked.map(str::to_owned).collect();
    for message in messages {
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        if id.starts_with("ask-") {
            match asked.iter().position(|asked| asked == id) {
                Some(at) => drop(asked.remove(at)),
                None => asked.push(format!("{id} was not asked")),
            }
        }
    }
    asked
}

/// Adds two numbers.
#[tool(read_only, unlinked)]
fn add_numbers(a: i64, b: i64) -> i64 {
    a + b
}

/// Ends the run.
#[tool(ends_run, unlinked)]
fn hand_over() -> &'static str {
    "over"
}

fn shell() -> Value {
    json!({"type": "shell_call", "id": "sh_1", "call_id": "call_s", "status": "completed",
        "action": {"commands": ["uptime"]}})
}

fn output() -> Value {
    json!({"type": "shell_call_output", "call_id": "call_s", "output": [
        {"stdout": "up", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
    ]})
}

fn function(name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": "call_f", "name": name, "arguments": arguments})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn agent(responses: impl IntoIterator<Item = Vec<Value>>) -> Agent {
    let responses = responses
        .into_iter()
        .map(|items| json!({"status": "completed", "output": items}));
    let registry = Registry::builder().tools(tools![add_numbers, hand_over]);
    let registry = registry.build().unwrap();
    Agent::new(
        registry,
        OpenAiResponses::default(),
        ScriptedModel::new(responses),
    )
    .journal(MemoryJournal::new())
}

fn start(agent: &Agent) -> Run {
    let mut run = Run::new("run-1");
    run.push(agent.dialect().user_message("Go.")).unwrap();
    run
}

/// The calls of the response run first. Then the run ends, is saved and loaded, and goes on with the answer.
#[test]
fn a_run_ends_with_what_is_unanswered_and_goes_on_with_its_answer() {
    let calls = vec![function("add_numbers", r#"{"a":2,"b":3}"#), shell()];
    let agent = agent([calls.clone(), vec![message("Up, and 5.")]]);
    let mut run = start(&agent);
    let outcome = agent.run_blocking(&mut run).unwrap();
    let RunOutcome::Unanswered(asked) = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(outcome.as_str(), "unanswered");
    assert_eq!(asked[0].kind, "shell_call");
    assert_eq!(asked[0].id.as_deref(), Some("call_s"));
    assert_eq!(asked[0].item, shell());
    assert_eq!(run.rounds()[0].unanswered(), asked);
    assert_eq!(run.rounds()[0].calls().count(), 1);

    // In a later process.
    let loading = agent.load("run-1");
    let mut run = futures_util::FutureExt::now_or_never(loading)
        .unwrap()
        .unwrap()
        .unwrap();
    let as_value: Run = serde_json::from_value(saved(&run)).unwrap();
    for mut run in [run.clone(), as_value] {
        assert_eq!(agent.run_blocking(&mut run).unwrap(), outcome);
    }
    let before = saved(&run);
    let refused = run.push(question()).unwrap_err();
    assert!(matches!(&refused, RunError::Unanswered(left) if left == asked));
    let text = refused.to_string();
    assert!(text.contains(r#""shell_call" ("call_s")"#), "{text}");
    for wrong in [vec![], vec![json!({"call_id": "call_f"}), json!(["call"])]] {
        let refused = run.answer(wrong).unwrap_err();
        assert!(matches!(refused, RunError::Unanswered(left) if left == *asked));
    }
    assert_eq!(saved(&run), before);

    run.answer([output()]).unwrap();
    assert!(run.rounds()[0].unanswered().is_empty());
    assert!(matches!(
        run.answer([output()]),
        Err(RunError::NothingAsked)
    ));
    let sent: Vec<_> = run
        .messages()
        .iter()
        .map(|message| (**message).clone())
        .collect();
    assert_eq!(sent[1..3], calls[..]);
    assert_eq!(sent[3]["type"], "function_call_output");
    assert_eq!(sent[4], output());
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Up, and 5.".into()));
}

/// The model waits for the next request, although it made no calls.
#[test]
fn a_response_without_calls_goes_on_with_its_answer() {
    let agent = agent([vec![message("Let me look."), shell()], vec![message("Up.")]]);
    let mut run = start(&agent);
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert!(matches!(outcome, RunOutcome::Unanswered(_)), "{outcome:?}");
    run.answer([output()]).unwrap();
    let saving = agent.save(&mut run);
    futures_util::FutureExt::now_or_never(saving)
        .unwrap()
        .unwrap();
    let mut run: Run = serde_json::from_value(saved(&run)).unwrap();
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Up.".into()));
    assert_eq!(*run.messages()[3], output());
}

/// Nothing else ends the run before: not the text, a pause, a limit or a tool.
#[test]
fn what_is_unanswered_comes_before_other_outcomes() {
    let agent = agent([vec![
        message("Let me look."),
        function("hand_over", "{}"),
        shell(),
    ]]);
    let mut run = start(&agent);
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert!(matches!(outcome, RunOutcome::Unanswered(_)), "{outcome:?}");
    run.answer([output()]).unwrap();
    let outcome = agent.run_blocking(&mut run).unwrap();
    assert!(matches!(outcome, RunOutcome::Ended(_)), "{outcome:?}");

    let mut run = new_run();
    let mut response = saying("Done.");
    add(&mut response, "ask-0");
    let mut read = turn(&response);
    read.is_paused = true;
    let mut settings = *run.settings();
    settings.max_rounds = 1;
    run.set_settings(settings);
    run.respond(&dialect(), &holding(), read).unwrap();
    assert!(matches!(run.next(), Step::Done(RunOutcome::Unanswered(_))));
}

#[test]
fn answers_wait_for_the_results_of_calls() {
    let mut run = new_run();
    let mut response = super::calling(&[("look_up", r#"{"key":"a"}"#)]);
    add(&mut response, "ask-0");
    run.respond(&dialect(), &holding(), turn(&response))
        .unwrap();
    let answer = json!({"role": "tool", "tool_call_id": "ask-0", "content": "done"});
    assert!(matches!(
        run.answer([answer.clone()]),
        Err(RunError::OpenCalls)
    ));
    run_calls(&mut run, &holding());
    run.answer([answer]).unwrap();
    assert!(without_answer(run.messages()).is_empty());
}

/// No later request repeats what nobody answered.
#[test]
fn a_cancelled_run_gives_the_response_up() {
    for has_call in [false, true] {
        let mut run = new_run();
        let mut response = if has_call {
            super::calling(&[("look_up", r#"{"key":"a"}"#)])
        } else {
            saying("Let me look.")
        };
        add(&mut response, "ask-0");
        run.respond(&dialect(), &holding(), turn(&response))
            .unwrap();
        if has_call {
            // The call ends after the run was cancelled.
            let Step::Call(calls) = run.next() else {
                panic!()
            };
            run.start(&calls).unwrap();
            run.cancel(&dialect()).unwrap();
            let result = ToolResult::new(&calls[0], "late");
            run.finish(&dialect(), result).unwrap();
        } else {
            run.cancel(&dialect()).unwrap();
        }
        assert_eq!(run.messages().len(), 1);
        assert_eq!(run.rounds().len(), 1);
        assert!(matches!(run.next(), Step::Done(RunOutcome::Cancelled)));
        let increments: Vec<Increment> = run.unsaved().to_vec();
        assert_eq!(saved(&Run::replay(increments).unwrap()), saved(&run));
        run.push(question()).unwrap();
        let Step::Request(messages) = run.next() else {
            panic!()
        };
        assert!(without_answer(messages).is_empty());
        run.respond(&dialect(), &holding(), turn(&saying("Hello.")))
            .unwrap();
        assert_eq!(run.messages().len(), 3);
    }
}

#[test]
fn a_reply_returns_what_is_unanswered_or_gives_it_up() {
    let agent = agent([vec![shell()], vec![message("Hello.")]]);
    let reply = |agent: &Agent, run: &mut Run| {
        let replying = agent.reply(run, "Hello?");
        futures_util::FutureExt::now_or_never(replying)
            .unwrap()
            .unwrap()
    };
    let mut run = Run::new("run-1");
    let first = reply(&agent, &mut run);
    assert!(matches!(first, RunOutcome::Unanswered(_)), "{first:?}");
    let messages = run.messages().len();
    assert_eq!(reply(&agent, &mut run), first);
    assert_eq!(run.messages().len(), messages);
    let agent = agent.open_calls(OpenCalls::Cancel);
    assert_eq!(
        reply(&agent, &mut run),
        RunOutcome::Answered("Hello.".into())
    );
    let sent = json!(
        run.messages()
            .iter()
            .map(|message| &**message)
            .collect::<Vec<_>>()
    );
    assert!(!sent.to_string().contains("shell_call"));
}

#[test]
fn an_agent_without_an_answer_names_what_was_asked() {
    let error = agent([vec![shell()]]).ask_blocking("Go.").unwrap_err();
    assert!(matches!(error, AgentError::Unfinished(_)));
    let text = error.to_string();
    assert!(
        text.contains(r#"the model asked for "shell_call" ("call_s")"#),
        "{text}"
    );
}

/// The saved form of a run without anything unanswered is as it was.
#[test]
fn a_run_that_asks_nothing_is_saved_as_before() {
    let mut run = new_run();
    run.respond(&dialect(), &holding(), turn(&saying("Done.")))
        .unwrap();
    assert!(!saved(&run).to_string().contains("answered"));
    let increments = serde_json::to_string(run.unsaved()).unwrap();
    assert!(!increments.contains("answered"));
}
