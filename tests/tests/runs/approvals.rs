//! Approvals that a provider asks for: they are held calls, whoever runs the tool.

use futures_util::FutureExt;
use serde_json::{Value, json};
use tool_agent::run::{DecideError, Increment, Journal, MemoryJournal, Page, Pending, Run};
use tool_agent::run::{RunOutcome, RunSettings, Step};
use tool_agent::testing::ScriptedModel;
use tool_agent::transcript::{ShownHold, Transcript};
use tool_agent::{Agent, AgentError, Event};
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{Dialect, HostedTool, ResponseError, Turn};
use tool_core::hooks::{ApprovalRequest, Decision, DecisionDenied, Gate};
use tool_core::runtime::block_on;
use tool_core::{
    CallContext, Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult, tool, tools,
};
use tool_dialects::OpenAiResponses;

use super::saving::saved;

/// Closes a ticket here.
#[tool(read_only, unlinked)]
fn close(id: u32) -> String {
    panic!("the tool of the provider has the same name: {id}")
}

/// Adds two numbers.
#[tool(read_only, unlinked)]
fn add_numbers(a: i64, b: i64) -> i64 {
    a + b
}

/// Clicks a button. Returns who agreed.
#[tool(destructive, unlinked)]
fn click(button: &str, call: &CallContext) -> String {
    let decisions = call.decisions();
    let by: Vec<_> = decisions
        .map(|(hold, decision, by)| format!("{} {decision:?} {by}", hold.reason()))
        .collect();
    format!("{button}: {}", by.join(", "))
}

fn registry() -> Registry {
    let builder = Registry::builder().tools(tools![close, add_numbers, click]);
    builder.build().unwrap()
}

fn approval(id: &str, arguments: &str) -> Value {
    json!({"type": "mcp_approval_request", "id": id, "server_label": "tickets", "name": "close",
        "arguments": arguments})
}

fn function(id: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn response(items: &[Value]) -> Value {
    json!({"status": "completed", "output": items})
}

fn agent(responses: impl IntoIterator<Item = Vec<Value>>) -> (Agent, MemoryJournal) {
    let responses = responses.into_iter().map(|items| response(&items));
    let journal = MemoryJournal::new();
    let model = ScriptedModel::new(responses);
    let agent = Agent::new(registry(), OpenAiResponses::default(), model);
    let agent = agent.may_decide(async |_| true);
    (agent.journal(journal.clone()), journal)
}

fn wait<T>(running: impl Future<Output = T>) -> T {
    block_on(running).unwrap()
}

fn load(agent: &Agent) -> Run {
    wait(agent.load("run-1")).unwrap().unwrap()
}

/// Returns the calls that wait, after the run was saved and loaded.
fn waiting(outcome: &RunOutcome) -> Vec<Pending> {
    match outcome {
        RunOutcome::Waiting(pending) => pending.clone(),
        other => panic!("{other:?}"),
    }
}

/// Returns the answers to approvals in the messages: whose, and what.
fn answers(run: &Run) -> Vec<(String, bool)> {
    let answers = run.messages().iter().filter_map(|item| {
        let id = item["approval_request_id"].as_str()?.to_owned();
        assert_eq!(item["type"], "mcp_approval_response");
        Some((id, item["approve"].as_bool()?))
    });
    answers.collect()
}

#[test]
fn a_run_waits_for_an_approval_and_sends_the_decision() {
    for is_allowed in [true, false] {
        let request = approval("mcpr_1", r#"{ "id": 7 }"#);
        let (agent, journal) = agent([vec![message("Soon."), request], vec![message("Done.")]]);
        let mut run = Run::new("run-1");
        let outcome = wait(agent.reply(&mut run, "Close 7.")).unwrap();
        assert_eq!(waiting(&outcome).len(), 1);

        // Somebody else sees it, in another process.
        let heads = wait(journal.waiting(Page::new(10))).unwrap();
        let shown = json!(ShownHold::from(&heads[0].waiting[0]));
        let fingerprint = shown["fingerprint"].as_str().unwrap();
        let reason = r#"the provider asks before it calls "close" of the MCP server "tickets""#;
        assert_eq!(
            shown,
            json!({"run": "run-1", "owner": null, "name": "tickets/close", "server": "tickets",
                "arguments": r#"{"id":7}"#, "reason": reason, "fingerprint": fingerprint,
                "is_confirmation": false})
        );
        let mut run = load(&agent);
        assert_eq!(wait(agent.run(&mut run)).unwrap(), outcome);
        assert_eq!(run.pending(), waiting(&outcome));

        let decision = if is_allowed {
            Decision::Allow
        } else {
            Decision::deny("it is not solved")
        };
        wait(agent.decide(&mut run, fingerprint, decision.clone(), "Ada")).unwrap();
        let mut run = load(&agent);
        // Nobody is asked twice.
        assert_eq!(run.pending(), []);
        let again = wait(agent.decide(&mut run, fingerprint, Decision::Allow, "Eve"));
        assert!(matches!(
            again,
            Err(AgentError::Decide(DecideError::NotPending))
        ));
        let outcome = wait(agent.run(&mut run)).unwrap();
        assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
        let mut answer = Value::clone(&run.messages()[3]);
        if !is_allowed {
            // With the reference of the error.
            let reason = answer.as_object_mut().unwrap().remove("reason").unwrap();
            let reason = reason.as_str().unwrap();
            assert!(reason.starts_with("tickets/close was not run"), "{reason}");
            assert!(reason.ends_with(": it is not solved"), "{reason}");
        }
        assert_eq!(
            answer,
            json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1",
                "approve": is_allowed})
        );
        assert_eq!(run.messages().len(), 5);
        let decided: Vec<_> = run.rounds()[0].decisions(0).collect();
        assert_eq!((decided[0].1, decided[0].2), (&decision, "Ada"));
        assert_eq!(saved(&run), saved(&load(&agent)));
    }
}

/// Three approvals, two calls of tools: decided in every order, each gets its own answer.
#[test]
fn several_approvals_are_decided_in_any_order() {
    let orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    for (order, denied) in orders.into_iter().zip([0, 1, 2].into_iter().cycle()) {
        let items = vec![
            approval("mcpr_0", r#"{"id":0}"#),
            function("call_1", "add_numbers", r#"{"a":2,"b":3}"#),
            // The same arguments twice.
            approval("mcpr_1", r#"{"id":1}"#),
            function("call_2", "close", "broken"),
            approval("mcpr_2", r#"{"id":1}"#),
        ];
        let (agent, _) = agent([items, vec![message("Done.")]]);
        let mut run = Run::new("run-1");
        let outcome = wait(agent.reply(&mut run, "Go.")).unwrap();
        let pending = waiting(&outcome);
        let ids: Vec<_> = pending.iter().map(|one| &*one.call().id).collect();
        assert_eq!(ids, ["mcpr_0", "mcpr_1", "mcpr_2"]);
        for (place, index) in order.into_iter().enumerate() {
            let decision = if index == denied {
                Decision::deny("no")
            } else {
                Decision::Allow
            };
            let fingerprint = pending[index].fingerprint();
            wait(agent.decide(&mut run, fingerprint, decision, "Ada")).unwrap();
            let outcome = wait(agent.run(&mut run)).unwrap();
            run = load(&agent);
            if place == 2 {
                assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
            } else {
                assert_eq!(waiting(&outcome).len(), 2 - place);
                assert_eq!(answers(&run), []);
            }
        }
        let expected = [0, 1, 2].map(|index| (format!("mcpr_{index}"), index != denied));
        assert_eq!(answers(&run), expected);
        let outputs = run
            .messages()
            .iter()
            .filter(|item| item["type"] == "function_call_output");
        assert_eq!(outputs.count(), 2);
    }
}

/// Wherever a process ends, the run that is left asks or sends what was decided, and nothing else.
#[test]
fn an_interrupted_run_neither_approves_nor_forgets() {
    for is_allowed in [true, false] {
        let (agent, journal) = agent([vec![approval("mcpr_1", "{}")], vec![message("Done.")]]);
        let mut run = Run::new("run-1");
        wait(agent.reply(&mut run, "Go.")).unwrap();
        let fingerprint = run.pending()[0].fingerprint().to_owned();
        let decision = if is_allowed {
            Decision::Allow
        } else {
            Decision::deny("no")
        };
        wait(agent.decide(&mut run, &fingerprint, decision, "Ada")).unwrap();
        wait(agent.run(&mut run)).unwrap();
        let increments: Vec<Increment> = wait(journal.load("run-1")).unwrap();
        let decided_at = increments
            .iter()
            .position(|increment| json!(increment).to_string().contains("Decided"))
            .unwrap();
        for end in 2..increments.len() {
            let mut run = Run::replay(increments[..end].to_vec()).unwrap();
            let model = if run.rounds().is_empty() {
                vec![vec![approval("mcpr_1", "{}")], vec![message("Done.")]]
            } else {
                vec![vec![message("Done.")]]
            };
            let responses = model.iter().map(|items| response(items));
            let agent = Agent::new(
                registry(),
                OpenAiResponses::default(),
                ScriptedModel::new(responses),
            );
            let outcome = wait(agent.run(&mut run)).unwrap();
            if end <= decided_at {
                assert_eq!(waiting(&outcome)[0].fingerprint(), fingerprint, "{end}");
                assert_eq!(answers(&run), []);
            } else {
                assert_eq!(outcome, RunOutcome::Answered("Done.".into()), "{end}");
                assert_eq!(answers(&run), [("mcpr_1".to_owned(), is_allowed)], "{end}");
            }
        }
    }
}

#[test]
fn what_the_provider_runs_is_allowed_or_denied_as_it_is() {
    let (agent, _) = agent([vec![approval("mcpr_1", "{}"), approval("mcpr_2", "{}")]]);
    let mut run = Run::new("run-1");
    wait(agent.reply(&mut run, "Go.")).unwrap();
    let before = saved(&run);
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    let Gate::Answer(answer) = Gate::answer("closed") else {
        unreachable!()
    };
    for decision in [Decision::change(r#"{"id":8}"#), Decision::Answer(answer)] {
        let refused = wait(agent.decide(&mut run, &fingerprint, decision.clone(), "Ada"));
        let error = refused.unwrap_err();
        assert!(
            matches!(&error, AgentError::Decide(DecideError::Hosted(tool)) if tool == "tickets/close"),
            "{error}"
        );
        assert_eq!(saved(&run), before);
        // Without a run, too.
        let hold = run.pending()[0].hold().clone();
        let call = run.pending()[0].call().clone().decided(hold, decision);
        let result = agent.registry().call_blocking(call);
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
        assert!(
            result
                .content()
                .ends_with("it can only be allowed or denied")
        );
        let [answer] = &agent.dialect().results(&[result])[..] else {
            panic!()
        };
        assert_eq!(answer["approve"], false);
    }
}

/// A decision names what was seen: the same request in another run, at another place or with another id is another one.
#[test]
fn a_decision_on_another_approval_is_refused() {
    let pending = |run: &str, items: &[Value]| {
        let (agent, _) = agent([items.to_vec()]);
        let mut run = Run::new(run);
        wait(agent.reply(&mut run, "Go.")).unwrap();
        let mut pending = run.pending();
        (agent, run, pending.remove(0))
    };
    let one = approval("mcpr_1", r#"{"id":7}"#);
    let (agent, mut run, own) = pending("run-1", std::slice::from_ref(&one));
    let mut server = one.clone();
    server["server_label"] = "other".into();
    let mut tool = one.clone();
    tool["name"] = "open".into();
    let others = [
        pending("run-2", std::slice::from_ref(&one)),
        pending("run-1", &[approval("mcpr_2", r#"{"id":7}"#)]),
        pending("run-1", &[approval("mcpr_1", r#"{"id":8}"#)]),
        pending("run-1", &[server]),
        pending("run-1", &[tool]),
        pending("run-1", &[approval("mcpr_0", "{}"), one.clone()]),
    ];
    for (_, _, other) in &others {
        assert_ne!(own.fingerprint(), other.fingerprint());
        let refused = wait(agent.decide(&mut run, other.fingerprint(), Decision::Allow, "Ada"));
        let error = refused.unwrap_err();
        assert!(
            matches!(error, AgentError::Decide(DecideError::NotPending)),
            "{error}"
        );
        assert!(error.to_string().contains("no such call waits"), "{error}");
    }
    // Without a run, the call waits again. The first differs by its run alone, which the registry doesn't know.
    for (_, _, other) in &others[1..5] {
        let call = own
            .call()
            .clone()
            .decided(other.hold().clone(), Decision::Allow);
        let result = agent.registry().call_blocking(call);
        assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Held);
    }
    wait(agent.decide(&mut run, own.fingerprint(), Decision::Allow, "Ada")).unwrap();
}

/// The policy is asked about no tool of the registry, and the owner can't approve.
#[test]
fn whoever_may_decide_is_asked_about_the_server() {
    let items = [vec![approval("mcpr_1", "{}")], vec![message("Done.")]];
    let model = ScriptedModel::new(items.map(|items| response(&items)));
    let agent = Agent::new(registry(), OpenAiResponses::default(), model);
    let agent = agent
        .journal(MemoryJournal::new())
        .contexts(async |_, call| Ok::<ToolCall, _>(call));
    let harmless = agent.clone().may_decide(async |request| {
        // All tools of this registry that are read-only, as `close` is.
        let tool = request.tool.as_ref();
        tool.is_some_and(|tool| tool.annotations.read_only == Some(true))
            || request.hold.tool() == "close"
    });
    let lead = agent.clone().may_decide(async |request| {
        request.hold.server() == Some("tickets") && request.user.starts_with("lead")
    });
    let mut run = Run::builder("run-1").owner("ada").build();
    wait(agent.reply(&mut run, "Go.")).unwrap();
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    for (agent, user, reason) in [
        (&agent, "eve", DecisionDenied::NoPolicy),
        (&agent, "ada", DecisionDenied::Owner),
        (&agent, " ", DecisionDenied::Unnamed),
        (&harmless, "eve", DecisionDenied::Policy),
        (&lead, "ada", DecisionDenied::Owner),
        (&lead, "eve", DecisionDenied::Policy),
    ] {
        let decided = wait(agent.decide(&mut run, &fingerprint, Decision::Allow, user));
        assert!(
            matches!(&decided, Err(AgentError::Decide(DecideError::Denied(denied))) if *denied == reason),
            "{decided:?}"
        );
    }
    wait(lead.decide(&mut run, &fingerprint, Decision::Allow, "lead-eve")).unwrap();
    // Whoever decided may no longer do so: the call waits again.
    assert!(matches!(
        wait(harmless.run(&mut run)).unwrap(),
        RunOutcome::Waiting(_)
    ));
    assert_eq!(answers(&run), []);
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    wait(lead.decide(&mut run, &fingerprint, Decision::Allow, "lead-eve")).unwrap();
    wait(lead.run(&mut run)).unwrap();
    assert_eq!(answers(&run), [("mcpr_1".to_owned(), true)]);
}

#[test]
fn a_cancelled_run_approves_nothing() {
    let (agent, _) = agent([vec![approval("mcpr_1", "{}"), approval("mcpr_2", "{}")]]);
    let mut run = Run::new("run-1");
    wait(agent.reply(&mut run, "Go.")).unwrap();
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    // Also the one that was decided, but not sent.
    wait(agent.decide(&mut run, &fingerprint, Decision::Allow, "Ada")).unwrap();
    run.cancel(agent.dialect()).unwrap();
    assert!(matches!(run.next(), Step::Done(RunOutcome::Cancelled)));
    assert_eq!(
        answers(&run),
        [("mcpr_1".to_owned(), false), ("mcpr_2".to_owned(), false)]
    );
    run.push(agent.dialect().user_message("And now?")).unwrap();
    assert!(matches!(run.next(), Step::Request(_)));
}

#[test]
fn approvals_over_the_limit_of_calls_are_denied() {
    let (agent, _) = agent([vec![approval("mcpr_1", "{}"), approval("mcpr_2", "{}")]]);
    let mut settings = RunSettings::default();
    settings.max_calls = 1;
    let mut run = Run::builder("run-1").settings(settings).build();
    let outcome = wait(agent.reply(&mut run, "Go.")).unwrap();
    let pending = waiting(&outcome);
    assert_eq!(pending.len(), 1);
    wait(agent.decide(&mut run, pending[0].fingerprint(), Decision::Allow, "Ada")).unwrap();
    assert_eq!(wait(agent.run(&mut run)).unwrap(), RunOutcome::OutOfCalls);
    let reason = run.messages().last().unwrap()["reason"].as_str().unwrap();
    assert!(
        reason.ends_with("the limit of 1 calls is reached"),
        "{reason}"
    );
    assert_eq!(
        answers(&run),
        [("mcpr_1".to_owned(), true), ("mcpr_2".to_owned(), false)]
    );
}

/// What a server writes can't pass for something else, and what can't be shown whole is not asked.
#[test]
fn what_a_person_sees_is_whole_and_visible() {
    let mut hostile = approval("mcpr_1", "{\n\n\"id\":7,\"note\":\"a\u{202e}b\u{200b}\"}");
    hostile["server_label"] = "tickets\u{202e}\"\nAllowed by: Ada".into();
    hostile["name"] = "x".repeat(1_000).into();
    let long = approval("mcpr_2", &json!({"id": "y".repeat(70_000)}).to_string());
    let (agent, _) = agent([vec![hostile, long], vec![message("Done.")]]);
    let mut run = Run::new("run-1");
    let mut events = Vec::new();
    let mut transcript = Transcript::new(agent.registry(), &run);
    {
        use futures_util::StreamExt;
        let mut stream = agent.reply_events(&mut run, "Go.");
        while let Some(event) = stream.next().now_or_never().unwrap() {
            let event = event.unwrap();
            transcript.apply(&event);
            events.push(event);
        }
    }
    assert!(events.iter().any(|event| matches!(event, Event::Held(_))));
    let [pending] = &run.pending()[..] else {
        panic!("{run:?}")
    };
    assert_eq!(pending.arguments(), r#"{"id":7,"note":"a\u202eb\u200b"}"#);
    let shown = ShownHold::from(pending);
    assert!(
        shown
            .name
            .starts_with(r#"tickets\u{202e}"\nAllowed by: Ada/xxx"#),
        "{}",
        shown.name
    );
    assert_eq!(
        shown.server.as_deref(),
        Some(r#"tickets\u{202e}"\nAllowed by: Ada"#)
    );
    assert!(shown.reason.len() < 300, "{}", shown.reason);
    assert!(
        shown
            .reason
            .contains(r#"server "tickets\u{202e}\"\nAllowed by: Ada""#),
        "{}",
        shown.reason
    );
    assert_eq!(
        transcript.entries(),
        Transcript::new(agent.registry(), &run).entries()
    );
    for text in [
        json!(transcript.entries()).to_string(),
        json!(shown).to_string(),
    ] {
        assert!(!text.contains(['\u{202e}', '\u{200b}']), "{text}");
    }

    let (_, result) = run.rounds()[0].calls().nth(1).unwrap();
    let refused = result.unwrap().content();
    assert!(
        refused.contains("at most 65536; call it with less"),
        "{refused}"
    );
    wait(agent.decide(&mut run, pending.fingerprint(), Decision::Allow, "Ada")).unwrap();
    wait(agent.run(&mut run)).unwrap();
    assert_eq!(
        answers(&run),
        [("mcpr_1".to_owned(), true), ("mcpr_2".to_owned(), false)]
    );
}

/// What a person sees of a tool here has the same form, and the decision is bound to what the model wrote.
#[test]
fn the_arguments_of_an_own_tool_hide_nothing() {
    let builder = Registry::builder().tools(tools![click]);
    let registry = builder
        .before(async |pending| Gate::hold(format!("clicks {}", pending.call.arguments.text())))
        .build()
        .unwrap();
    let pending = |arguments: &str| {
        let items = [vec![function("call_1", "click", arguments)]].map(|items| response(&items));
        let agent = Agent::new(
            registry.clone(),
            OpenAiResponses::default(),
            ScriptedModel::new(items),
        );
        let mut run = Run::new("run-1");
        let outcome = wait(agent.reply(&mut run, "Go.")).unwrap();
        let transcript = Transcript::new(agent.registry(), &run);
        let shown = json!([transcript.entries(), ShownHold::from(&run.pending()[0])]);
        (waiting(&outcome).remove(0), shown.to_string())
    };
    let hostile = "{\"button\": \"Cancel\u{202e}\u{200b} 1.0\u{a0}👩\u{200d}🚀\u{e0041}\"}";
    let (shown, transcript) = pending(hostile);
    let visible = r#"{"button":"Cancel\u202e\u200b 1.0\u00a0👩\u200d🚀\udb40\udc41"}"#;
    assert_eq!(shown.arguments(), visible);
    assert_eq!(shown.raw_arguments(), hostile);
    assert_eq!(shown.hold().arguments(), visible);
    for text in [
        shown.reason(),
        &*transcript,
        &*format!("{:?}", shown.hold()),
    ] {
        assert!(
            !text.contains(['\u{202e}', '\u{200b}', '\u{e0041}']),
            "{text}"
        );
    }
    // The same JSON in another spelling looks the same, but is another call.
    let (other, _) = pending(&hostile.replace(": ", ":"));
    assert_eq!(other.arguments(), visible);
    assert_ne!(other.fingerprint(), shown.fingerprint());
    let (escaped, _) = pending(visible);
    assert_ne!(escaped.fingerprint(), shown.fingerprint());
}

/// A dialect whose clicks come with two safety checks, and whose results acknowledge them.
struct Checking(OpenAiResponses);

impl Dialect for Checking {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        self.0.write_tools(tools, hosted, out);
    }

    fn read(&self, response: &Value) -> Result<Turn, ResponseError> {
        let mut turn = self.0.read(response)?;
        for call in turn.calls.iter_mut().filter(|call| call.name == "click") {
            for check in ["money", "password"] {
                let request = ApprovalRequest::new(format!("the page asks for a {check}"));
                let request = request.with_item(json!({"id": check}));
                *call = call.clone().with_approval(request);
            }
        }
        Ok(turn)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut items = self.0.results(results);
        for (item, result) in items.iter_mut().zip(results) {
            let approved = result.approved().iter();
            item["acknowledged"] = approved
                .map(|request| request.item()["id"].clone())
                .collect();
        }
        items
    }
}

/// The tool starts once both checks and the hook are decided, and sees who decided. The result says what was acknowledged.
#[test]
fn safety_checks_of_a_call_are_decided_before_its_tool_starts() {
    const HOOK: &str = "it changes a page";
    for denied in [None, Some(0), Some(1), Some(2)] {
        let click = function("call_1", "click", r#"{ "button": "Pay" }"#);
        let responses = [response(&[click]), response(&[message("Done.")])];
        let registry = Registry::builder()
            .tools(tools![click])
            .before(async |_| Gate::hold(HOOK))
            .build()
            .unwrap();
        let journal = MemoryJournal::new();
        let model = ScriptedModel::new(responses);
        let agent = Agent::new(registry, Checking(OpenAiResponses::default()), model);
        let agent = agent.journal(journal).may_decide(async |_| true);
        let mut run = Run::new("run-1");
        wait(agent.reply(&mut run, "Go.")).unwrap();
        let reasons = [
            "the page asks for a money",
            "the page asks for a password",
            HOOK,
        ];
        for (index, reason) in reasons.into_iter().enumerate() {
            run = load(&agent);
            let [pending] = &run.pending()[..] else {
                panic!("{run:?}")
            };
            assert_eq!(pending.reason(), reason);
            assert_eq!(pending.arguments(), r#"{"button":"Pay"}"#);
            assert_eq!(pending.hold().server(), None);
            assert_eq!(pending.hold().approval().is_some(), index < 2);
            let decision = if denied == Some(index) {
                Decision::deny("too dangerous")
            } else {
                Decision::Allow
            };
            wait(agent.decide(&mut run, pending.fingerprint(), decision, "Ada")).unwrap();
            wait(agent.run(&mut run)).unwrap();
            if denied == Some(index) {
                break;
            }
        }
        let output = &run.messages()[2];
        let acknowledged: &[&str] = match denied {
            Some(0) => &[],
            Some(1) => &["money"],
            _ => &["money", "password"],
        };
        assert_eq!(output["acknowledged"], json!(acknowledged));
        let said = output["output"].as_str().unwrap();
        if denied.is_none() {
            let by = reasons
                .map(|reason| format!("{reason} Allow Ada"))
                .join(", ");
            assert_eq!(said, format!("Pay: {by}"));
        } else {
            assert!(said.ends_with(": too dangerous"), "{said}");
        }
        assert_eq!(*run.messages()[3], message("Done."));
    }
}

/// Invalid arguments are answered without a question. Changed ones are asked about once.
#[test]
fn arguments_of_a_checked_call_are_valid_before_anybody_is_asked() {
    let items = vec![
        function("call_1", "click", r#"{"button":7}"#),
        function("call_2", "click", r#"{"button":"Pay"}"#),
    ];
    let model = ScriptedModel::new([response(&items), response(&[message("Done.")])]);
    let agent = Agent::new(registry(), Checking(OpenAiResponses::default()), model);
    let agent = agent.may_decide(async |_| true);
    let mut run = Run::new("run-1");
    let outcome = wait(agent.reply(&mut run, "Go.")).unwrap();
    let [pending] = &waiting(&outcome)[..] else {
        panic!("{outcome:?}")
    };
    assert_eq!(pending.call().id, "call_2");
    wait(agent.decide(&mut run, pending.fingerprint(), Decision::Allow, "Ada")).unwrap();
    let outcome = wait(agent.run(&mut run)).unwrap();
    let second = waiting(&outcome).remove(0);
    let changed = Decision::change(r#"{"button":"Cancel"}"#);
    wait(agent.decide(&mut run, second.fingerprint(), changed, "Eve")).unwrap();
    assert_eq!(
        wait(agent.run(&mut run)).unwrap(),
        RunOutcome::Answered("Done.".into())
    );
    let output = run.messages()[4]["output"].as_str().unwrap();
    assert!(output.starts_with("Cancel: "), "{output}");
    assert_eq!(
        run.messages()[4]["acknowledged"],
        json!(["money", "password"])
    );
}

/// A direct call is held as by a hook. Nothing but a decision approves, whatever the application makes of the result.
#[test]
fn without_a_run_an_approval_is_a_held_result() {
    let dialect = OpenAiResponses::default();
    let registry = registry();
    let read = |items: &[Value]| dialect.read(&response(items)).unwrap().calls;
    let call = read(&[approval("mcpr_1", "{}")]).remove(0);
    let approves = |result: &ToolResult| {
        let [answer] = &dialect.results(std::slice::from_ref(result))[..] else {
            panic!()
        };
        assert_eq!(answer["approval_request_id"], "mcpr_1");
        answer["approve"].as_bool().unwrap()
    };
    let held = registry.call_blocking(call.clone());
    let error = held.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Held);
    let asked = error.hold().unwrap().clone();
    assert!(!approves(&held));
    assert!(!approves(&ToolResult::new(&call, "yes")));
    let allowed = call.clone().decided(asked.clone(), Decision::Allow);
    assert!(approves(&registry.call_blocking(allowed.clone())));
    assert!(!approves(
        &registry.fail(allowed.clone(), tool_core::ToolError::cancelled("x"))
    ));
    // A check that nothing can ask, and a token that is cancelled.
    let checked = allowed.clone().start_with(async |_| Ok(()));
    assert!(!approves(&registry.call_blocking(checked)));
    let token = tool_core::call::CancellationToken::new();
    token.cancel();
    assert!(!approves(
        &registry.call_blocking(allowed.clone().cancel_with(&token))
    ));
    assert!(!approves(
        &registry.call_blocking(allowed.clone().truncated())
    ));
    let denied = allowed.decided(asked, Decision::deny("no"));
    assert!(!approves(&registry.call_blocking(denied)));
    let unasked = ToolCall::new("mcpr_1", "close", "{}").hosted_by("tickets");
    let result = registry.call_blocking(unasked);
    assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Denied);
    assert!(!approves(&result));
}
