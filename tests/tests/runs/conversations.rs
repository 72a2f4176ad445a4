//! What a chat needs of an agent: replies, typed answers, ends, limits, summaries, and agents as tools.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::{FutureExt, StreamExt};
use serde_json::{Value, json};
use tool_agent::run::{Journal, MemoryJournal, Run, RunInfo, RunOutcome, RunSettings, Step};
use tool_agent::testing::{RecordedModel, Recording, ScriptedModel};
use tool_agent::{
    Agent, AgentError, Compaction, Event, OpenCalls, Prices, Typed, UnfinishedReason,
};
use tool_core::content::{Content, Image};
use tool_core::dialect::Dialect;
use tool_core::hooks::{Decision, Gate};
use tool_core::{Registry, ToolCall, ToolResult, tool, tools};

use super::saving::saved;
use super::{calling, dialect, holding, question, registry, saying};

fn now<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn agent(registry: Registry, responses: impl IntoIterator<Item = Value>) -> (Agent, ScriptedModel) {
    let model = ScriptedModel::new(responses);
    (Agent::new(registry, dialect(), model.clone()), model)
}

/// Returns the last messages of the user in a request.
fn contents(model: &ScriptedModel, request: usize) -> Vec<String> {
    let messages = model.requests()[request].messages.clone();
    let contents = messages
        .iter()
        .filter_map(|message| message["content"].as_str());
    contents.map(str::to_owned).collect()
}

const LOOK_UP: (&str, &str) = ("look_up", r#"{"key":"a"}"#);
const DELETE: (&str, &str) = ("delete_note", r#"{"id":7}"#);

/// A run as a crash leaves it: of two calls, one had started.
fn interrupted() -> Run {
    let mut run = Run::new("run-1");
    run.push(question()).unwrap();
    let turn = dialect().read(&calling(&[DELETE, LOOK_UP])).unwrap();
    run.respond(&dialect(), &registry(), turn).unwrap();
    let Step::Call(calls) = run.next() else {
        panic!("{run:?}");
    };
    run.start(&calls).unwrap();
    run
}

#[test]
fn a_reply_after_a_hang_up_finishes_the_calls_first() {
    let (agent, model) = agent(registry(), [saying("Done.")]);
    let mut run = interrupted();
    let outcome = now(agent.reply(&mut run, "Are you there?")).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
    let results: Vec<_> = run.rounds()[0]
        .calls()
        .map(|(_, result)| result.unwrap())
        .collect();
    // What had started may have had an effect, and what had not runs now.
    assert!(results[0].content().contains("interrupted"), "{results:?}");
    assert_eq!(results[1].content(), "value of a");
    assert_eq!(contents(&model, 0).last().unwrap(), "Are you there?");
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_reply_can_cancel_open_calls() {
    let (agent, _) = agent(holding(), [calling(&[DELETE]), saying("Never mind.")]);
    let mut run = Run::new("run-1");
    let waiting = now(agent.reply(&mut run, "Delete it.")).unwrap();
    assert!(matches!(waiting, RunOutcome::Waiting(_)));
    // What waits is returned, and the message is not added.
    let before = run.messages().len();
    let still = now(agent.reply(&mut run, "Well?")).unwrap();
    assert_eq!((still, run.messages().len()), (waiting, before));
    let agent = agent.open_calls(OpenCalls::Cancel);
    let mut texts = Vec::new();
    let outcome = now(async {
        let mut events = agent.reply_events(&mut run, "Leave it.");
        while let Some(event) = events.next().await {
            match event.unwrap() {
                Event::Text(text) => texts.push(text),
                Event::Done(outcome) => return outcome,
                _ => {}
            }
        }
        panic!("the stream ends with the outcome")
    });
    assert_eq!(outcome, RunOutcome::Answered("Never mind.".into()));
    assert_eq!(texts, ["Never mind."]);
}

#[test]
fn a_typed_answer_waits_for_approvals_and_is_corrected_once() {
    let responses = [
        calling(&[DELETE]),
        saying(r#"{"answer":"x"}"#),
        saying(r#"{"answer":7}"#),
    ];
    let (agent, _) = agent(holding(), responses);
    let seen = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&seen);
    let agent = agent.may_decide(async |_| true).on_event(move |event| {
        if let Event::Call { call, shown } = event {
            assert_eq!((&*call.name, &**shown), ("delete_note", r#"{"id":7}"#));
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let mut run = Run::new("run-1");
    run.push(question()).unwrap();
    let Typed::Ended(RunOutcome::Waiting(pending)) = now(agent.answer::<u8>(&mut run)).unwrap()
    else {
        panic!("{run:?}");
    };
    now(agent.decide(&mut run, pending[0].fingerprint(), Decision::Allow, "Ada")).unwrap();
    assert_eq!(
        now(agent.answer::<u8>(&mut run)).unwrap(),
        Typed::Answered(7)
    );
    assert_eq!(seen.load(Ordering::Relaxed), 2);
}

#[test]
fn an_unfinished_answer_has_the_run() {
    // A limit, a hold, and an error after a call.
    let (limited, _) = agent(holding(), [calling(&[DELETE])]);
    let AgentError::Unfinished(unfinished) = now(limited.ask("Delete it.")).unwrap_err() else {
        panic!("the call waits");
    };
    let mut run = unfinished.run;
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    let (agent, _) = agent(holding(), [saying("Done.")]);
    run.decide(agent.registry(), &fingerprint, Decision::Allow, "Ada")
        .unwrap();
    assert_eq!(
        now(agent.run(&mut run)).unwrap(),
        RunOutcome::Answered("Done.".into())
    );

    let failing = Agent::new(
        registry(),
        dialect(),
        ScriptedModel::new([calling(&[DELETE])]),
    );
    let error = now(failing.ask_for::<u8>("Delete it.")).unwrap_err();
    let text = format!("{error:?}");
    let AgentError::Unfinished(unfinished) = error else {
        panic!("{text}");
    };
    assert!(matches!(
        unfinished.reason,
        UnfinishedReason::Failed(AgentError::Model(_))
    ));
    assert_eq!(unfinished.run.rounds().len(), 1);
    // What `main` prints.
    assert!(
        text.starts_with("calls have run, and then the request to the model failed"),
        "{text}"
    );
}

/// Submits the number that was found.
#[tool(ends_run, unlinked)]
fn submit(number: u32) -> Result<u32, String> {
    if number == 0 {
        return Err("0 is no number".into());
    }
    Ok(number)
}

#[test]
fn a_success_of_a_tool_that_ends_the_run_ends_it_after_the_other_calls() {
    let registry = || {
        let builder = Registry::builder().tools(tools![submit, super::look_up]);
        builder.build().unwrap()
    };
    let responses = [
        calling(&[("submit", r#"{"number":0}"#)]),
        calling(&[
            ("submit", r#"{"number":5}"#),
            ("submit", r#"{"number":6}"#),
            LOOK_UP,
        ]),
    ];
    let (agent, model) = agent(registry(), responses);
    let agent = agent.journal(MemoryJournal::new());
    let mut run = Run::new("run-1");
    run.push(question()).unwrap();
    let outcome = now(agent.run(&mut run)).unwrap();
    let RunOutcome::Ended(result) = &outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(result.value::<u32>().unwrap(), 5);
    assert!(run.rounds()[1].calls().all(|(_, result)| result.is_some()));
    // Also after it was saved, and the conversation can go on.
    let loaded = now(agent.load("run-1")).unwrap().unwrap();
    assert_eq!(saved(&loaded), saved(&run));
    assert!(matches!(loaded.next(), Step::Done(RunOutcome::Ended(_))));
    model.push(saying("Hello."));
    assert_eq!(
        now(agent.reply(&mut run, "Go on.")).unwrap(),
        RunOutcome::Answered("Hello.".into())
    );
}

#[test]
fn failures_of_one_tool_in_a_row_end_a_run() {
    let failing = || calling(&[("delete_note", r#"{"id":-1}"#)]);
    let responses = [
        failing(),
        failing(),
        calling(&[DELETE]),
        failing(),
        calling(&[LOOK_UP]),
        failing(),
        failing(),
    ];
    let (agent, _) = agent(registry(), responses);
    let mut settings = RunSettings::default();
    settings.max_failures = 3;
    let mut run = Run::builder("run-1").settings(settings).build();
    run.push(question()).unwrap();
    let outcome = now(agent.run(&mut run)).unwrap();
    assert_eq!(outcome, RunOutcome::OutOfFailures("delete_note".into()));
    assert_eq!(run.rounds().len(), 7);
}

#[test]
fn money_ends_a_run_and_a_limit_without_prices_is_refused() {
    let mut settings = RunSettings::default();
    settings.max_micros = 100;
    let run = || {
        let mut run = Run::builder("run-1").settings(settings).build();
        run.push(question()).unwrap();
        run
    };
    // Each response uses 10 tokens of input and 5 of output.
    let (agent, model) = agent(
        registry(),
        [
            calling(&[LOOK_UP]),
            calling(&[LOOK_UP]),
            calling(&[LOOK_UP]),
        ],
    );
    let mut first = run();
    let error = now(agent.run(&mut first)).unwrap_err();
    assert!(
        matches!(&error, AgentError::NoPrices(run) if run == "run-1"),
        "{error}"
    );
    let agent = agent.prices(Prices::new(1_000_000, 8_000_000));
    assert_eq!(now(agent.run(&mut first)).unwrap(), RunOutcome::OutOfMoney);
    let micros: Vec<_> = first
        .rounds()
        .iter()
        .map(tool_agent::run::Round::micros)
        .collect();
    assert_eq!(micros, [50, 50]);
    // A response that does not say what it used.
    let mut unknown = calling(&[LOOK_UP]);
    unknown.as_object_mut().unwrap().remove("usage");
    let (agent, _) = self::agent(registry(), [unknown]);
    let agent = agent.prices(Prices::new(1, 1));
    assert_eq!(now(agent.run(&mut run())).unwrap(), RunOutcome::OutOfMoney);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn old_messages_are_summarised_and_the_journal_keeps_them() {
    let journal = MemoryJournal::new();
    for is_application in [false, true] {
        let id = format!("run-{is_application}");
        let mut responses: Vec<_> = (0..4).map(|_| calling(&[LOOK_UP])).collect();
        responses.push(saying("Done."));
        if !is_application {
            // Before the fourth and the fifth round.
            responses.insert(3, saying("They looked up a."));
            responses.insert(5, saying("They looked up a."));
        }
        let (agent, model) = agent(registry(), responses);
        // A response uses 15 tokens.
        let policy = Compaction::at_tokens(15).keep(2);
        let policy = if is_application {
            policy.summary_with(async |messages| {
                assert_eq!(messages.len(), 3);
                Ok("They looked up a.".into())
            })
        } else {
            policy
        };
        let agent = agent.compact(policy).journal(journal.clone());
        let mut run = Run::new(id);
        run.push(json!({"role": "system", "content": "Be brief."}))
            .unwrap();
        run.push(question()).unwrap();
        let outcome = now(agent.run(&mut run)).unwrap();
        assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
        let last = model.requests().last().unwrap().messages.clone();
        assert_eq!(last[0]["content"], "Be brief.");
        assert!(
            last[1]["content"]
                .as_str()
                .unwrap()
                .ends_with("They looked up a."),
            "{last:?}"
        );
        // Each result follows its call.
        for pair in last[2..].chunks(2) {
            assert_eq!(
                pair[0]["tool_calls"][0]["id"], pair[1]["tool_call_id"],
                "{last:?}"
            );
        }
        // The journal has everything, and the rounds are all there.
        let loaded = now(agent.load(run.id())).unwrap().unwrap();
        assert_eq!(saved(&loaded), saved(&run));
        assert_eq!(loaded.rounds().len(), 5);
    }
}

#[test]
fn a_summary_that_panics_is_an_error_and_the_run_can_go_on() {
    let (agent, _) = agent(
        registry(),
        [calling(&[LOOK_UP]), calling(&[LOOK_UP]), saying("Done.")],
    );
    let policy = Compaction::at_tokens(1).keep(1);
    let panics = agent
        .clone()
        .compact(policy.summary_with(async |_| panic!("no model today")));
    let mut run = Run::new("run-1");
    run.push(question()).unwrap();
    let error = now(panics.run(&mut run)).unwrap_err();
    assert!(matches!(error, AgentError::Summary(_)), "{error}");
    let outcome = now(agent.run(&mut run)).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
}

/// Checks the invariant for many limits and numbers of kept parts.
#[test]
fn a_summary_never_splits_a_call_from_its_result() {
    for keep in 1..6 {
        for rounds in 1..8 {
            let mut responses: Vec<_> = (0..rounds).map(|_| calling(&[LOOK_UP, DELETE])).collect();
            responses.push(saying("Done."));
            let (agent, model) = agent(registry(), responses);
            let policy = Compaction::at_tokens(1).keep(keep);
            let agent = agent.compact(policy.summary_with(async |_| Ok("Things happened.".into())));
            let mut run = Run::new("run-1");
            run.push(question()).unwrap();
            now(agent.run(&mut run)).unwrap();
            for request in model.requests() {
                let mut open = 0_usize;
                for message in request.messages.iter() {
                    if message["role"] == "tool" {
                        assert!(open > 0, "a result without a call");
                        open -= 1;
                    } else {
                        assert_eq!(open, 0, "a call without a result");
                    }
                    open += message["tool_calls"].as_array().map_or(0, Vec::len);
                }
                assert_eq!(open, 0);
            }
        }
    }
}

struct Rights(String);

/// Refunds an order.
#[tool(unlinked)]
fn refund(order: u32, #[param(context)] rights: &Rights) -> String {
    format!("{order} is refunded by {}", rights.0)
}

#[test]
fn an_agent_is_a_tool_whose_holds_are_passed_up() {
    let billing_registry = Registry::builder()
        .tools(tools![refund])
        .context_per_call::<Rights>()
        .before(async |_| Gate::hold("it costs money"))
        .build()
        .unwrap();
    let contexts = |agent: Agent| {
        agent
            .contexts(async |run: RunInfo, call: ToolCall| {
                Ok(call.with(Rights(run.owner().unwrap_or_default().into())))
            })
            .may_decide(async |request| request.user == "lea")
    };
    let (billing, billing_model) = agent(
        billing_registry,
        [
            // Two calls that look the same, and are two decisions.
            calling(&[("refund", r#"{"order":17}"#); 2]),
            saying("17 is refunded."),
        ],
    );
    let tool = contexts(billing)
        .into_tool("ask_billing", "Asks billing.")
        .unwrap();
    let registry = Registry::builder().tool(tool).build().unwrap();
    let ask = ("ask_billing", r#"{"question":"Refund 17."}"#);
    let (front, _) = agent(registry, [calling(&[ask]), saying("It is refunded.")]);
    let inner = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&inner);
    let front = contexts(front)
        .journal(MemoryJournal::new())
        .on_event(move |event| {
            if let Event::Inner { event, .. } = event {
                seen.lock().unwrap().push(format!("{event:?}"));
            }
        });
    let mut run = Run::builder("run-1").owner("ann").build();
    let RunOutcome::Waiting(pending) = now(front.reply(&mut run, "Refund 17.")).unwrap() else {
        panic!("{run:?}");
    };
    // The inner call is what a person decides on.
    assert_eq!(
        (pending[0].hold().tool(), pending[0].arguments()),
        ("refund", r#"{"order":17}"#)
    );
    assert_eq!(pending[0].call().name, "ask_billing");
    let fingerprint = pending[0].fingerprint();
    now(front.decide(&mut run, fingerprint, Decision::Allow, "bob")).unwrap_err();
    now(front.decide(&mut run, fingerprint, Decision::Allow, "lea")).unwrap();
    let RunOutcome::Waiting(second) = now(front.run(&mut run)).unwrap() else {
        panic!("{run:?}");
    };
    let again = now(front.decide(&mut run, fingerprint, Decision::Allow, "lea"));
    assert!(again.is_err(), "the first decision is for the first call");
    now(front.decide(&mut run, second[0].fingerprint(), Decision::Allow, "lea")).unwrap();
    let outcome = now(front.run(&mut run)).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("It is refunded.".into()));
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    assert_eq!(result.unwrap().content(), "17 is refunded.");
    // With the rights of the owner, and once.
    let requests = billing_model.requests();
    assert_eq!(requests.len(), 2);
    let last = requests[1].messages.last().unwrap();
    assert_eq!(last["content"], "17 is refunded by ann");
    let inner = inner.lock().unwrap();
    assert!(
        inner.iter().any(|event| event.contains("refund")),
        "{inner:?}"
    );
}

#[test]
fn an_agent_that_is_a_tool_continues_only_the_runs_of_its_calls() {
    let journal = MemoryJournal::new();
    let contexts = |agent: Agent| agent.contexts(async |_, call: ToolCall| Ok(call));
    let taken = "run-1/1/0/ask_billing";
    for owner in ["bob", "ann"] {
        let (billing, model) = agent(registry(), [saying("It was paid.")]);
        let billing = contexts(billing).journal(journal.clone());
        // A client has chosen the id that the call of Ann's run will have.
        let mut chosen = Run::builder(taken).owner(owner).build();
        chosen.push(question()).unwrap();
        now(billing.save(&mut chosen)).unwrap();
        let tool = billing.into_tool("ask_billing", "Asks billing.").unwrap();
        let front = Registry::builder().tool(tool).build().unwrap();
        let ask = ("ask_billing", r#"{"question":"Is 17 paid?"}"#);
        let (front, _) = agent(front, [calling(&[ask]), saying("I don't know.")]);
        let mut run = Run::builder("run-1").owner("ann").build();
        now(contexts(front).reply(&mut run, "Is 17 paid?")).unwrap();
        let (_, result) = run.rounds()[0].calls().next().unwrap();
        assert!(result.unwrap().is_error(), "{owner}: {result:?}");
        assert!(model.requests().is_empty());
        now(journal.remove(taken)).unwrap();
    }
    // Without it, the run says which run it belongs to.
    let (billing, _) = agent(registry(), [saying("It was paid.")]);
    let tool = contexts(billing)
        .journal(journal.clone())
        .into_tool("ask_billing", "Asks billing.");
    let front = Registry::builder().tool(tool.unwrap()).build().unwrap();
    let ask = ("ask_billing", r#"{"question":"Is 17 paid?"}"#);
    let (front, _) = agent(front, [calling(&[ask]), saying("Yes.")]);
    let mut run = Run::builder("run-1").owner("ann").build();
    now(contexts(front).reply(&mut run, "Is 17 paid?")).unwrap();
    let inner = Run::replay(now(journal.load(taken)).unwrap()).unwrap();
    assert_eq!(
        (inner.info().owner(), inner.info().parent()),
        (Some("ann"), Some("run-1"))
    );
}

#[test]
fn a_picture_has_a_line_for_a_log() {
    let call = ToolCall::new("call_1", "take_picture", "");
    let parts: Vec<Content> = vec![Image::png(vec![0; 12_345]).into()];
    let result = ToolResult::new(&call, (42, parts));
    assert_eq!(result.line(), "42; image/png, 12 kB");
}

#[test]
fn an_abandoned_reply_goes_on_with_the_next() {
    let (agent, model) = agent(registry(), [calling(&[LOOK_UP]), saying("Done.")]);
    let mut run = Run::new("run-1");
    // The first poll gets the response and starts the call; then the browser is closed.
    assert!(
        agent
            .reply(&mut run, "Look it up.")
            .now_or_never()
            .is_none()
    );
    assert!(run.push(question()).is_err());
    assert_eq!(
        now(agent.reply(&mut run, "Well?")).unwrap(),
        RunOutcome::Answered("Done.".into())
    );
    assert_eq!(contents(&model, 1).last().unwrap(), "Well?");
}

#[tokio::test]
async fn a_recorded_model_answers_by_what_is_new_in_the_request() {
    /// Looks something up.
    #[tool(unlinked)]
    fn find(word: &str) -> String {
        word.to_uppercase()
    }

    let says = |after: &str, delta: Value| json!({"after": after, "events": [{"choices": [{"delta": delta, "finish_reason": "stop"}]}]});
    let recordings = json!([
        says("LOOK", json!({"content": "It is there."})),
        says(
            "look",
            json!({"tool_calls": [
                {"index": 0, "id": "call_1", "function": {"name": "find", "arguments": "{\"word\":\"look\"}"}},
            ]})
        ),
        says("twice", json!({"content": "No."})),
    ]);
    let recordings: Vec<Recording> = serde_json::from_value(recordings).unwrap();
    let waits = Arc::new(AtomicU32::new(0));
    let counting = Arc::clone(&waits);
    let model = RecordedModel::new(recordings).wait(move || {
        counting.fetch_add(1, Ordering::Relaxed);
        std::future::ready(())
    });
    let registry = Registry::builder().tools(tools![find]).build().unwrap();
    let agent = Agent::new(registry, dialect(), model);
    let mut run = Run::new("run-1");
    let found = agent.reply(&mut run, "Please look.").await.unwrap();
    assert_eq!(found, RunOutcome::Answered("It is there.".into()));
    let again = agent.reply(&mut run, "And twice?").await.unwrap();
    assert_eq!(again, RunOutcome::Answered("No.".into()));
    assert_eq!(waits.load(Ordering::Relaxed), 3);
    let error = agent.reply(&mut run, "Else?").await.unwrap_err();
    assert!(error.to_string().contains("no recording fits"), "{error}");
}
