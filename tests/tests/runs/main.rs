//! Runs: steps, holds and decisions, saving, interruptions.

mod approvals;
mod asking;
mod authority;
mod background;
#[cfg(not(target_family = "wasm"))]
mod callbacks;
mod conversations;
mod ends;
mod fallback;
mod interruptions;
mod journals;
mod kept;
#[cfg(not(target_family = "wasm"))]
mod limits;
#[cfg(not(target_family = "wasm"))]
mod mistakes;
mod observers;
mod overflow;
#[cfg(not(target_family = "wasm"))]
mod recorder;
mod requests;
mod roles;
mod saving;
#[cfg(not(target_family = "wasm"))]
mod services;
mod steps;
mod tools;
#[cfg(not(target_family = "wasm"))]
mod trained;
mod transcripts;
mod translate;
#[cfg(not(target_family = "wasm"))]
mod versions;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::run::{DecideError, Pending, Round, Run, RunError, RunOutcome, RunSettings, Step};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, Event};
use tool_core::call::{CallPosition, CancellationToken, Progress};
use tool_core::dialect::{Dialect, Turn, Usage};
use tool_core::dynamic::DynamicTool;
use tool_core::hooks::{Decision, Gate};
use tool_core::{CallContext, Registry, ToolCall, ToolErrorKind, ToolResult, tool, tools};
use tool_dialects::OpenAiChat;

/// Returns a response with these calls: name and arguments.
fn calling(calls: &[(&str, &str)]) -> Value {
    let calls = calls.iter().enumerate().map(|(index, (name, arguments))| {
        json!({"id": format!("call_{index}"), "type": "function",
            "function": {"name": name, "arguments": arguments}})
    });
    let calls: Vec<_> = calls.collect();
    json!({
        "choices": [{"message": {"role": "assistant", "tool_calls": calls}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    })
}

fn saying(text: &str) -> Value {
    json!({"choices": [
        {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"},
    ]})
}

fn turn(response: &Value) -> Turn {
    dialect().read(response).unwrap()
}

fn question() -> Value {
    json!({"role": "user", "content": "Go."})
}

fn new_run() -> Run {
    let mut run = Run::new("run-1");
    run.push(question()).unwrap();
    run
}

fn dialect() -> OpenAiChat {
    OpenAiChat::default()
}

/// Looks something up.
#[tool(read_only, unlinked)]
async fn look_up(key: String) -> String {
    tokio::task::yield_now().await;
    format!("value of {key}")
}

/// Deletes a note.
#[tool(destructive, unlinked)]
fn delete_note(id: u32) -> String {
    format!("note {id} is deleted")
}

fn registry() -> Registry {
    let builder = Registry::builder().tools(tools![look_up, delete_note]);
    builder.build().unwrap()
}

/// A registry whose destructive calls are held.
fn holding() -> Registry {
    let builder = Registry::builder().tools(tools![look_up, delete_note]);
    let builder = builder.before(async |hook| match hook.tool.annotations.destructive {
        Some(true) => Gate::hold("it deletes something"),
        _ => Gate::Allow,
    });
    builder.build().unwrap()
}

fn names(calls: &[ToolCall]) -> Vec<&str> {
    calls.iter().map(|call| &*call.name).collect()
}

/// Runs every call that may start, in turn.
fn run_calls(run: &mut Run, registry: &Registry) {
    while let Step::Call(calls) = run.next() {
        run.start(&calls).unwrap();
        for call in calls {
            run.finish(&dialect(), registry.call_blocking(call))
                .unwrap();
        }
    }
}

fn contents(run: &Run) -> Vec<String> {
    contents_of(run.rounds().last().unwrap())
}

fn contents_of(round: &Round) -> Vec<String> {
    let results = round
        .calls()
        .map(|(_, result)| result.unwrap().content().to_owned());
    results.collect()
}

#[test]
fn read_only_neighbours_are_one_step_and_others_one_each() {
    let registry = registry();
    let (read, write) = (
        ("look_up", r#"{"key":"a"}"#),
        ("delete_note", r#"{"id":1}"#),
    );
    let calls = [read, read, write, read, write, write];
    for (parallel, expected) in [
        (None, vec![2, 1, 1, 1, 1]),
        (Some(true), vec![6]),
        (Some(false), vec![1; 6]),
    ] {
        let mut settings = RunSettings::default();
        settings.parallel = parallel;
        let mut run = Run::builder("run-1").settings(settings).build();
        run.respond(&dialect(), &registry, turn(&calling(&calls)))
            .unwrap();
        let mut steps = Vec::new();
        while let Step::Call(calls) = run.next() {
            run.start(&calls).unwrap();
            // Nothing else may start until they end, in the order of the response.
            assert!(matches!(run.next(), Step::Running));
            steps.push(calls.len());
            for call in calls.into_iter().rev() {
                run.finish(&dialect(), registry.call_blocking(call))
                    .unwrap();
            }
        }
        assert_eq!(steps, expected);
        let ids = run.rounds()[0]
            .calls()
            .map(|(_, result)| result.unwrap().call_id().to_owned());
        assert!(ids.eq((0..6).map(|index| format!("call_{index}"))));
    }
}

/// May run at any time.
#[tool(parallel, unlinked)]
fn log() {}

/// Must run alone.
#[tool(read_only, parallel = false, unlinked)]
fn measure() {}

#[test]
fn a_tool_can_say_whether_it_runs_concurrently() {
    let registry = Registry::builder()
        .tools(tools![log, measure])
        .build()
        .unwrap();
    let mut run = new_run();
    let calls = [("log", ""), ("log", ""), ("measure", ""), ("measure", "")];
    run.respond(&dialect(), &registry, turn(&calling(&calls)))
        .unwrap();
    let mut steps = Vec::new();
    while let Step::Call(calls) = run.next() {
        run.start(&calls).unwrap();
        steps.push(calls.len());
        for call in calls {
            run.finish(&dialect(), registry.call_blocking(call))
                .unwrap();
        }
    }
    assert_eq!(steps, [2, 1, 1]);
}

#[test]
fn claims_of_a_server_count_only_if_they_are_trusted() {
    let listed = json!({"name": "fetch", "description": "Fetches.",
        "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let builder = || DynamicTool::from_mcp(&listed);
    for (builder, is_trusted) in [(builder(), false), (builder().trust_annotations(), true)] {
        let tool = builder.build(async |_, _| Ok::<_, String>("done")).unwrap();
        assert_eq!(tool.spec().annotations.read_only, Some(true));
        assert_eq!(tool.spec().is_parallel(), is_trusted);
        assert_eq!(tool.spec().is_repeatable(), is_trusted);
    }
}

#[test]
fn a_held_call_waits_while_the_others_run() {
    let registry = holding();
    let mut run = new_run();
    let calls = [
        ("delete_note", r#"{ "id": 7.0 }"#),
        ("look_up", r#"{"key":"a"}"#),
        ("delete_note", r#"{"id":8}"#),
    ];
    run.respond(&dialect(), &registry, turn(&calling(&calls)))
        .unwrap();
    run_calls(&mut run, &registry);
    let Step::Wait(pending) = run.next() else {
        panic!("{:?}", run.next());
    };
    let shown: Vec<_> = pending
        .iter()
        .map(|pending| (pending.arguments(), pending.reason()))
        .collect();
    let reason = "it deletes something";
    assert_eq!(shown, [(r#"{"id":7}"#, reason), (r#"{"id":8}"#, reason)]);
    assert!(matches!(run.push(question()), Err(RunError::OpenCalls)));

    let [first, second] = &pending[..] else {
        panic!("{pending:?}");
    };
    run.decide(&registry, first.fingerprint(), Decision::Allow, "Ada")
        .unwrap();
    run.decide(
        &registry,
        second.fingerprint(),
        Decision::deny("not this one"),
        "Grace",
    )
    .unwrap();
    run_calls(&mut run, &registry);
    let [allowed, read, denied] = &contents(&run)[..] else {
        panic!("{run:?}");
    };
    assert_eq!((&**allowed, &**read), ("note 7 is deleted", "value of a"));
    assert!(denied.ends_with(": not this one"), "{denied}");
    assert!(matches!(run.next(), Step::Request(_)));
    let decisions: Vec<_> = run.rounds()[0].decisions(0).collect();
    assert_eq!(decisions[0].2, "Ada");
}

#[test]
fn a_call_is_decided_once_and_only_while_it_waits() {
    let registry = holding();
    let mut run = new_run();
    run.respond(
        &dialect(),
        &registry,
        turn(&calling(&[("delete_note", r#"{"id":7}"#)])),
    )
    .unwrap();
    let decide = |run: &mut Run, fingerprint: &str, decision| {
        run.decide(&registry, fingerprint, decision, "Ada")
    };
    assert!(matches!(
        decide(&mut run, "", Decision::Allow),
        Err(DecideError::NotPending)
    ));
    run_calls(&mut run, &holding());
    let [pending] = &run.pending()[..] else {
        panic!("{run:?}");
    };
    let fingerprint = pending.fingerprint().to_owned();
    // Other arguments have another fingerprint.
    let mut other = new_run();
    other
        .respond(
            &dialect(),
            &holding(),
            turn(&calling(&[("delete_note", r#"{"id":8}"#)])),
        )
        .unwrap();
    run_calls(&mut other, &holding());
    let other = other.pending()[0].fingerprint().to_owned();
    assert!(matches!(
        decide(&mut run, &other, Decision::Allow),
        Err(DecideError::NotPending)
    ));

    let invalid = decide(&mut run, &fingerprint, Decision::change(r#"{"id":-1}"#));
    let said = invalid.as_ref().unwrap_err().to_string();
    let start = "the new arguments are not accepted: invalid arguments for delete_note";
    assert!(said.starts_with(start) && said.contains("id: "), "{said}");
    let Err(DecideError::Invalid(error)) = invalid else {
        panic!("invalid arguments are accepted");
    };
    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
    decide(&mut run, &fingerprint, Decision::Allow).unwrap();
    let again = decide(&mut run, &fingerprint, Decision::Allow);
    assert!(matches!(again, Err(DecideError::NotPending)));
}

#[test]
fn arguments_and_answers_of_a_person_reach_the_model() {
    let registry = holding();
    let calls = [("delete_note", r#"{"id":7}"#); 2];
    let mut run = new_run();
    run.respond(&dialect(), &registry, turn(&calling(&calls)))
        .unwrap();
    run_calls(&mut run, &registry);
    let decisions = [
        Decision::change(r#"{"id":9.0}"#),
        Decision::answer("it is archived instead"),
    ];
    for (pending, decision) in run.pending().into_iter().zip(decisions) {
        run.decide(&registry, pending.fingerprint(), decision, "Ada")
            .unwrap();
    }
    run_calls(&mut run, &registry);
    assert_eq!(
        contents(&run),
        ["note 9 is deleted", "it is archived instead"]
    );
}

#[test]
fn a_decision_does_not_apply_to_what_the_call_became() {
    static SUFFIX: AtomicU32 = AtomicU32::new(0);
    let builder = Registry::builder().tools(tools![delete_note]);
    let registry = builder
        .before(async |_| {
            let id = SUFFIX.fetch_add(1, Ordering::Relaxed);
            Gate::change(format!(r#"{{"id":{id}}}"#))
        })
        .before(async |_| Gate::hold("first"))
        .before(async |_| Gate::hold("second"))
        .build()
        .unwrap();
    let mut run = new_run();
    run.respond(
        &dialect(),
        &registry,
        turn(&calling(&[("delete_note", r#"{"id":7}"#)])),
    )
    .unwrap();
    run_calls(&mut run, &registry);
    let held = |run: &Run| {
        let [pending] = &run.pending()[..] else {
            panic!("{run:?}");
        };
        (
            pending.arguments().to_owned(),
            pending.reason().to_owned(),
            pending.clone(),
        )
    };
    let (arguments, reason, pending) = held(&run);
    assert_eq!((&*arguments, &*reason), (r#"{"id":0}"#, "first"));
    run.decide(&registry, pending.fingerprint(), Decision::Allow, "Ada")
        .unwrap();
    run_calls(&mut run, &registry);
    // The hook changed the arguments again.
    let (arguments, reason, _) = held(&run);
    assert_eq!((&*arguments, &*reason), (r#"{"id":1}"#, "first"));
}

#[test]
fn every_hold_of_a_call_is_decided() {
    let builder = Registry::builder().tools(tools![delete_note]);
    let registry = builder
        .before(async |_| Gate::hold("first"))
        .before(async |_| Gate::hold("second"))
        .build()
        .unwrap();
    let mut run = new_run();
    run.respond(
        &dialect(),
        &registry,
        turn(&calling(&[("delete_note", r#"{"id":7}"#)])),
    )
    .unwrap();
    for reason in ["first", "second"] {
        run_calls(&mut run, &registry);
        let pending: Vec<Pending> = run.pending();
        assert_eq!(pending[0].reason(), reason);
        run.decide(&registry, pending[0].fingerprint(), Decision::Allow, "Ada")
            .unwrap();
    }
    run_calls(&mut run, &registry);
    assert_eq!(contents(&run), ["note 7 is deleted"]);
}

/// Adds a tool that returns who decided on its calls, and on that of the tool that called it.
#[tool(unlinked)]
async fn deciders(is_nested: bool, call: &CallContext) -> String {
    let names = call.decisions().map(|(hold, decision, by)| {
        assert_eq!(
            (hold.reason(), decision),
            ("it is secret", &Decision::Allow)
        );
        by
    });
    let names = names.collect::<Vec<_>>().join(",");
    if is_nested {
        return format!("[{names}]");
    }
    Registry::of(call).add(tools![look_up]).unwrap();
    let nested = ToolCall::new("nested", "deciders", r#"{"is_nested":true}"#);
    format!("[{names}] {}", call.call(nested).await.content())
}

#[test]
fn a_tool_sees_who_decided_on_its_call_and_adds_to_its_registry() {
    let registry = Registry::builder().tools(tools![deciders]);
    let registry = registry
        .before(async |hook| match hook.registry().len() {
            1 => Gate::hold("it is secret"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap();
    let mut run = new_run();
    let call = calling(&[("deciders", r#"{"is_nested":false}"#)]);
    run.respond(&dialect(), &registry, turn(&call)).unwrap();
    run_calls(&mut run, &registry);
    // Also after the run was saved.
    let mut run: Run = serde_json::from_str(&json!(run).to_string()).unwrap();
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    run.decide(&registry, &fingerprint, Decision::Allow, "Ada")
        .unwrap();
    run_calls(&mut run, &registry);
    assert_eq!(contents(&run), ["[Ada] []"]);
    assert!(registry.get("look_up").is_some());
}

#[test]
fn limits_end_a_run_with_results_for_all_calls() {
    let registry = registry();
    let mut settings = RunSettings::default();
    settings.max_calls = 2;
    let mut run = Run::builder("run-1").settings(settings).build();
    run.respond(
        &dialect(),
        &registry,
        turn(&calling(&[("look_up", r#"{"key":"a"}"#); 3])),
    )
    .unwrap();
    run_calls(&mut run, &registry);
    assert!(contents(&run)[2].contains("limit of 2 calls"));
    assert!(matches!(run.next(), Step::Done(RunOutcome::OutOfCalls)));
    settings.max_calls = 9;
    settings.max_tokens = 15;
    run.set_settings(settings);
    assert!(matches!(run.next(), Step::Done(RunOutcome::OutOfTokens)));
    settings.max_tokens = 16;
    settings.max_rounds = 1;
    run.set_settings(settings);
    assert!(matches!(run.next(), Step::Done(RunOutcome::OutOfRounds)));
    // The next message of the user starts anew.
    run.push(question()).unwrap();
    assert!(matches!(run.next(), Step::Request(_)));
    assert!(matches!(
        run.finish(
            &dialect(),
            registry.call_blocking(ToolCall::new("call_9", "look_up", ""))
        ),
        Err(RunError::NotStarted(_))
    ));
    run.respond(&dialect(), &registry, turn(&saying("Done.")))
        .unwrap();
    assert!(matches!(run.next(), Step::Done(RunOutcome::Answered(text)) if text == "Done."));
    assert_eq!(run.rounds()[1].stop_reason(), Some("stop"));
    assert!(matches!(
        run.respond(&dialect(), &registry, turn(&saying("Again."))),
        Err(RunError::NotRequested)
    ));
}

#[test]
fn a_cancelled_run_has_results_for_all_calls_and_can_go_on() {
    let registry = holding();
    let mut run = new_run();
    let calls = [
        ("delete_note", r#"{"id":7}"#),
        ("look_up", r#"{"key":"a"}"#),
        ("look_up", "{}"),
    ];
    run.respond(&dialect(), &registry, turn(&calling(&calls)))
        .unwrap();
    let Step::Call(held) = run.next() else {
        panic!("{run:?}");
    };
    run.start(&held).unwrap();
    run.finish(&dialect(), registry.call_blocking(held[0].clone()))
        .unwrap();
    let Step::Call(running) = run.next() else {
        panic!("{run:?}");
    };
    assert_eq!(names(&running), ["look_up", "look_up"]);
    run.start(&running[..1]).unwrap();
    run.cancel(&dialect()).unwrap();
    assert!(matches!(run.next(), Step::Running));
    run.finish(&dialect(), registry.call_blocking(running[0].clone()))
        .unwrap();
    assert!(matches!(run.next(), Step::Done(RunOutcome::Cancelled)));
    let kinds = run.rounds()[0].calls().map(|(_, result)| {
        let error = result.unwrap().error();
        error.map(tool_core::ToolError::kind)
    });
    let cancelled = Some(ToolErrorKind::Cancelled);
    assert_eq!(kinds.collect::<Vec<_>>(), [cancelled, None, cancelled]);
    run.push(question()).unwrap();
    assert!(matches!(run.next(), Step::Request(_)));
}

/// Reports twice.
#[tool(unlinked)]
async fn report(call: &CallContext) -> String {
    call.report(&Progress::of(1.0, 2.0));
    tokio::task::yield_now().await;
    call.report(&Progress::of(2.0, 2.0));
    call.idempotency_key().unwrap().to_owned()
}

#[tokio::test]
async fn events_tell_what_happens_in_order() {
    use futures_util::StreamExt;

    let registry = Registry::builder().tools(tools![report]).build().unwrap();
    let model = ScriptedModel::new([calling(&[("report", "")]), saying("Done.")]);
    let agent = Agent::new(registry, dialect(), model);
    let mut run = new_run();
    let events: Vec<_> = agent.events(&mut run).collect().await;
    let told = events.into_iter().map(|event| match event.unwrap() {
        Event::Text(text) => text,
        Event::Response { usage, .. } => format!("used {:?}", usage.map(Usage::total)),
        Event::Call { call, .. } => format!("calls {}", call.name),
        Event::Progress { progress, .. } => format!("progress {}", progress.done),
        Event::Result(result) => format!("returned {}", result.content()),
        Event::Done(outcome) => format!("{outcome:?}"),
        event => panic!("{event:?}"),
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            "used Some(15)",
            "calls report",
            "progress 1",
            "progress 2",
            "returned run-1/1/0",
            "Done.",
            "used None",
            "Answered(\"Done.\")",
        ]
    );
}

/// Never ends.
#[tool(unlinked)]
async fn hang() {
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn a_run_out_of_time_keeps_its_state_and_goes_on() {
    let registry = Registry::builder()
        .tools(tools![hang, look_up])
        .build()
        .unwrap();
    let calls = [("hang", ""), ("look_up", r#"{"key":"a"}"#)];
    let model = ScriptedModel::new([calling(&calls), saying("Done.")]);
    let agent = Agent::new(registry, dialect(), model);
    let hurried = agent.clone().max_duration(Duration::from_millis(20));
    let mut run = new_run();
    assert_eq!(hurried.run(&mut run).await.unwrap(), RunOutcome::OutOfTime);
    assert_eq!(
        agent.run(&mut run).await.unwrap(),
        RunOutcome::Answered("Done.".into())
    );
    let kinds = run.rounds()[0].calls().map(|(_, result)| {
        let error = result.unwrap().error();
        error.map(tool_core::ToolError::kind)
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        [Some(ToolErrorKind::Cancelled), None]
    );
}

#[tokio::test]
async fn a_token_cancels_a_run_at_every_point() {
    let registry = Registry::builder().tools(tools![hang]).build().unwrap();
    // In a call.
    let model = ScriptedModel::new([calling(&[("hang", ""), ("hang", "")]), saying("Done.")]);
    let token = CancellationToken::new();
    let agent = Agent::new(registry.clone(), dialect(), model).cancel_with(&token);
    let mut run = new_run();
    let stop = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(agent.run(&mut run), stop);
    assert_eq!(outcome.unwrap(), RunOutcome::Cancelled);
    assert!(
        contents(&run)
            .iter()
            .all(|content| content.contains("was cancelled"))
    );
    // The question, the turn and two results.
    assert_eq!(run.messages().len(), 4);
    // While it waits for the model.
    let token = CancellationToken::new();
    let silent = |_| std::future::pending();
    let agent = Agent::new(registry, dialect(), silent).cancel_with(&token);
    let mut run = new_run();
    let stop = async {
        tokio::task::yield_now().await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(agent.run(&mut run), stop);
    assert_eq!(outcome.unwrap(), RunOutcome::Cancelled);
    assert_eq!(run.messages(), [question().into()]);
}

#[test]
fn layers_surround_the_calls_of_an_agent() {
    use tower::ServiceExt;

    let registry = registry();
    let layered = registry.clone().map_request(|mut call: ToolCall| {
        call.arguments = r#"{"key":"layered"}"#.into();
        call
    });
    let model = ScriptedModel::new([calling(&[("look_up", "{}")]), saying("Done.")]);
    let agent = Agent::new(registry, dialect(), model).call_service(layered);
    let mut run = new_run();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(agent.run(&mut run)).unwrap();
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    assert_eq!(result.unwrap().content(), "value of layered");
}

#[test]
fn a_user_message_is_one_that_the_dialect_reads() {
    let message = dialect().user_message("Go.");
    assert_eq!(message, question());
}

/// Names the call that made it.
#[tool(read_only, unlinked)]
async fn ask_twice(key: &str, call: &CallContext) -> String {
    let mut places = Vec::new();
    for _ in 0..2 {
        let arguments = json!({ "key": key });
        let result = call.call(ToolCall::new("d", "look_up", arguments)).await;
        places.push(result.position().unwrap().to_string());
    }
    format!("{key}: {}", places.join(" "))
}

/// Calls that share an id, or have none, keep their own arguments and results: in events, decisions and messages.
#[tokio::test]
async fn a_call_is_known_by_its_position() {
    use futures_util::StreamExt;

    let registry = Registry::builder().tools(tools![look_up, delete_note, ask_twice]);
    let registry = registry
        .before(async |hook| match hook.tool.annotations.destructive {
            Some(true) => Gate::hold("it deletes something"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap();
    for id in ["d", ""] {
        let call = |name: &str, arguments: Value| {
            json!({"id": id, "type": "function",
                   "function": {"name": name, "arguments": arguments.to_string()}})
        };
        let calls = [
            call("look_up", json!({"key": "a"})),
            call("ask_twice", json!({"key": "b"})),
            call("delete_note", json!({"id": 2})),
            call("delete_note", json!({"id": 3})),
        ];
        let called = json!({"choices": [{"message": {"role": "assistant", "tool_calls": calls}}]});
        let model = ScriptedModel::new([called, saying("Done.")]);
        let agent = Agent::new(registry.clone(), dialect(), model.clone());
        let mut run = new_run();
        let events: Vec<_> = agent.events(&mut run).collect().await;
        let mut held = Vec::new();
        for event in events {
            match event.unwrap() {
                Event::Result(result) => {
                    let index = result.position().unwrap().index();
                    let expected = ["value of a", "b: 0/1/0 0/1/1"][index as usize];
                    assert_eq!(result.content(), expected);
                }
                Event::Held(pending) => held.push(pending),
                _ => {}
            }
        }
        assert_eq!(held, run.pending());
        let ids = held.iter().map(|pending| pending.arguments().to_owned());
        assert_eq!(ids.collect::<Vec<_>>(), [r#"{"id":2}"#, r#"{"id":3}"#]);
        // Only the second one.
        let fingerprint = held[1].fingerprint();
        run.decide(&registry, fingerprint, Decision::Allow, "Ada")
            .unwrap();
        let fingerprint = held[0].fingerprint();
        run.decide(&registry, fingerprint, Decision::deny("no"), "Ada")
            .unwrap();
        agent.run(&mut run).await.unwrap();
        let contents = contents_of(&run.rounds()[0]);
        assert_eq!(contents[0], "value of a");
        assert_eq!(contents[1], "b: 0/1/0 0/1/1");
        assert!(contents[2].ends_with(": no"), "{contents:?}");
        assert_eq!(contents[3], "note 3 is deleted");
        let mut allowed = run.rounds()[0].decisions(3);
        assert_eq!(allowed.next().unwrap().1, &Decision::Allow);
        // Each result answers a call of its own.
        let messages = model.requests()[1].messages.clone();
        let [called, results @ ..] = &messages[1..] else {
            panic!("{messages:?}");
        };
        let mut ids = BTreeSet::new();
        for (index, result) in results.iter().enumerate() {
            assert_eq!(result["tool_call_id"], called["tool_calls"][index]["id"]);
            assert!(ids.insert(result["tool_call_id"].as_str().unwrap()));
            assert_eq!(result["content"], *contents[index]);
        }
        assert_eq!(ids.len(), 4);
    }
}

/// A result that belongs to no call that runs is rejected, and the run is as before.
#[test]
fn a_result_of_another_call_is_rejected() {
    let registry = registry();
    let mut run = new_run();
    let response = calling(&[("look_up", r#"{"key":"a"}"#)]);
    run.respond(&dialect(), &registry, turn(&response)).unwrap();
    let Step::Call(calls) = run.next() else {
        panic!("{run:?}");
    };
    let call = &calls[0];
    let foreign = ToolCall::new(&*call.id, &*call.name, call.arguments.clone());
    assert!(matches!(
        run.start(std::slice::from_ref(&foreign)),
        Err(RunError::NotReady(_))
    ));
    assert!(run.start(&[call.clone(), call.clone()]).is_err());
    assert!(matches!(run.next(), Step::Call(_)));
    run.start(&calls).unwrap();
    for position in [
        None,
        Some(CallPosition::new(1, 0)),
        Some(CallPosition::new(0, 1)),
    ] {
        let call = match position {
            Some(position) => foreign.clone().at(position),
            None => foreign.clone(),
        };
        let error = run
            .finish(&dialect(), ToolResult::new(&call, "x"))
            .unwrap_err();
        assert!(matches!(error, RunError::NotStarted(_)), "{error}");
        assert!(matches!(run.next(), Step::Running));
    }
    let result = ToolResult::new(&foreign, "x").for_call(call);
    run.finish(&dialect(), result).unwrap();
    assert_eq!(contents(&run), ["x"]);
}
