//! The prompt and the tools of each run.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tool_agent::run::{Run, RunInfo, RunOutcome, Step};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError};
use tool_core::call::CancellationToken;
use tool_core::{Registry, ToolCall, tool, tools};

use super::{calling, dialect, question, saying};

/// Reads an order.
#[tool(read_only, unlinked)]
fn order(id: u32) -> String {
    format!("order {id}")
}

/// Pays an order back.
#[tool(destructive, unlinked)]
fn refund(id: u32, #[param(context)] paid: &Paid) -> String {
    paid.0.lock().unwrap().insert(id);
    "paid".into()
}

/// Pays many orders back.
#[tool(destructive, defer, unlinked)]
fn refunds(from: u32, to: u32, #[param(context)] paid: &Paid) -> String {
    paid.0.lock().unwrap().extend(from..to);
    "paid".into()
}

#[derive(Clone, Default)]
struct Paid(Arc<Mutex<BTreeSet<u32>>>);

/// Returns a registry, and the selection of those who may not pay.
fn registries(paid: &Paid) -> (Registry, Registry) {
    let all = Registry::builder()
        .tools(tools![order, refund, refunds])
        .context(paid.clone())
        .build()
        .unwrap();
    let reading = all.select(|tool| tool.annotations.read_only == Some(true));
    (all, reading)
}

/// Returns an agent of leads and others.
fn agent(model: &ScriptedModel, paid: &Paid) -> Agent {
    let (all, reading) = registries(paid);
    Agent::new(all.clone(), dialect(), model.clone())
        .contexts(async |_, call| Ok(call))
        .system_with(async |run: RunInfo| Ok(format!("You help {}.", owner(&run)?)))
        .tools_with(move |run: RunInfo| {
            let own = owner(&run).map(|owner| match owner {
                "lea" => all.clone(),
                _ => reading.clone(),
            });
            std::future::ready(own)
        })
}

fn owner(run: &RunInfo) -> Result<&str, Box<dyn Error + Send + Sync>> {
    run.owner().ok_or_else(|| "nobody has signed in".into())
}

fn run_of(owner: &str) -> Run {
    let mut run = Run::builder(format!("run-{owner}")).owner(owner).build();
    run.push(question()).unwrap();
    run
}

/// Returns the content of the first result.
fn first_result(run: &Run) -> String {
    let (_, result) = run.rounds()[0].calls().next().unwrap();
    result.unwrap().content().to_owned()
}

fn refunding() -> [Value; 2] {
    [calling(&[("refund", r#"{"id":7}"#)]), saying("Done.")]
}

#[tokio::test]
async fn each_user_has_a_prompt_and_tools() {
    let paid = Paid::default();
    let model = ScriptedModel::new([refunding(), refunding()].concat());
    let agent = agent(&model, &paid);
    for (user, is_lead) in [("ann", false), ("lea", true)] {
        let mut run = run_of(user);
        let outcome = agent.run(&mut run).await.unwrap();
        assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
        let result = first_result(&run);
        assert_eq!(result == "paid", is_lead, "{result}");
        assert_eq!(result.contains("unknown tool refund"), !is_lead);
        assert_eq!(paid.0.lock().unwrap().contains(&7), is_lead);
    }
    let requests = model.requests();
    for (at, (user, is_lead)) in [("ann", false), ("ann", false), ("lea", true), ("lea", true)]
        .into_iter()
        .enumerate()
    {
        let tools = requests[at].tools().as_str();
        assert!(tools.contains("\"order\""), "{tools}");
        assert_eq!(tools.contains("\"refund\""), is_lead, "{tools}");
        assert_eq!(tools.contains("call_tool"), is_lead, "{tools}");
        let prompt = format!("You help {user}.");
        assert_eq!(requests[at].instructions(), Some(&*prompt));
    }
}

/// A right that is taken away counts in the next round, and for a call that waits in this one.
#[tokio::test]
async fn a_lost_tool_does_not_run() {
    let paid = Paid::default();
    let (all, reading) = registries(&paid);
    let is_lead = Arc::new(AtomicBool::new(true));
    let model = ScriptedModel::new(refunding());
    let agent = Agent::new(all.clone(), dialect(), model.clone()).tools_with({
        let is_lead = Arc::clone(&is_lead);
        move |_| {
            let is_lead = is_lead.load(Ordering::Relaxed);
            std::future::ready(Ok(if is_lead { &all } else { &reading }.clone()))
        }
    });
    let mut run = super::new_run();
    let steps = agent.steps(&run).unwrap();
    steps.respond(&mut run).await.unwrap();
    is_lead.store(false, Ordering::Relaxed);
    let Step::Call(calls) = run.next() else {
        panic!("{run:?}");
    };
    for call in steps.start(&mut run, calls).await.unwrap() {
        let prepared = steps.prepare(run.info(), call).await.unwrap();
        let result = steps.call(prepared, &CancellationToken::new()).await;
        steps.finish(&mut run, result).unwrap();
    }
    steps.respond(&mut run).await.unwrap();
    assert!(first_result(&run).contains("unknown tool refund"));
    assert!(paid.0.lock().unwrap().is_empty());
    let offers = |at: usize| model.requests()[at].tools().as_str().contains("refund");
    assert_eq!([0, 1].map(offers), [true, false]);
}

/// A service runs calls by a registry with all tools.
#[tokio::test]
async fn a_service_gets_calls_of_offered_tools_alone() {
    let paid = Paid::default();
    let calls = [
        ("order", r#"{"id":1}"#),
        ("refund", r#"{"id":1}"#),
        (
            "call_tool",
            r#"{"name":"refunds","arguments":{"from":1,"to":9}}"#,
        ),
    ];
    for (user, expected) in [
        ("ann", vec!["order"]),
        ("lea", vec!["order", "refund", "refunds"]),
    ] {
        let model = ScriptedModel::new([calling(&calls), saying("Done.")]);
        let agent = agent(&model, &paid);
        let service = agent.registry().clone();
        let served = Arc::new(Mutex::new(Vec::new()));
        let agent = agent.answer_calls({
            let served = Arc::clone(&served);
            move |call: ToolCall| {
                served.lock().unwrap().push(call.name.clone());
                service.call(call)
            }
        });
        let agent = agent.contexts(async |_, call| Ok(call));
        let mut run = run_of(user);
        agent.run(&mut run).await.unwrap();
        let mut served = served.lock().unwrap().clone();
        served.sort();
        assert_eq!(served, expected);
        assert_eq!(!paid.0.lock().unwrap().is_empty(), user == "lea");
    }
}

fn no_database<T>(is_panic: bool) -> Result<T, Box<dyn Error + Send + Sync>> {
    assert!(!is_panic, "no database");
    Err("no database".into())
}

#[tokio::test]
async fn nothing_is_sent_without_the_prompt_or_the_tools() {
    for part in ["the system prompt", "the tools"] {
        for is_panic in [false, true] {
            let model = ScriptedModel::new([saying("Hello!")]);
            let agent = Agent::new(super::registry(), dialect(), model.clone());
            let agent = match part {
                "the tools" => agent.tools_with(move |_| std::future::ready(no_database(is_panic))),
                _ => agent.system_with(move |_| std::future::ready(no_database(is_panic))),
            };
            let mut run = super::new_run();
            let error = agent.run(&mut run).await.unwrap_err();
            assert!(matches!(&error, AgentError::Setup { run, .. } if run == "run-1"));
            let start = format!("the run \"run-1\" does not get {part}: ");
            assert!(error.to_string().starts_with(&start), "{error}");
            let is_shown = error.to_string().contains("no database");
            assert_eq!(is_shown, !is_panic, "{error}");
            assert!(model.requests().is_empty());
            assert!(matches!(run.next(), Step::Request(_)));
        }
    }
}

#[tokio::test]
async fn a_prompt_comes_before_what_the_tools_need() {
    let model = ScriptedModel::new([saying("5")]);
    let agent = Agent::new(
        super::registry(),
        tool_dialects::Anthropic::default(),
        model.clone(),
    )
    .system_with(async |_| Ok("Be brief.".into()));
    let _ = agent.ask_for::<Vec<u32>>("Which?").await;
    let requests = model.requests();
    let all = requests[0].instructions().unwrap_or_default().to_owned();
    assert!(all.starts_with("Be brief."), "{all}");
    let silent = agent.system_with(async |_| Ok(String::new()));
    let _ = silent.ask("Which?").await;
    assert_eq!(model.requests()[1].instructions(), None);
}

/// Makes a value for each call.
#[tool(read_only, unlinked)]
fn visits(#[param(context)] count: &AtomicUsize) -> usize {
    count.load(Ordering::Relaxed)
}

#[tokio::test]
async fn a_tool_without_its_values_fails_before_the_first_request() {
    let registry = Registry::builder()
        .tools(tools![order, visits])
        .context_per_call::<AtomicUsize>();
    let registry = registry.build().unwrap();
    let model = ScriptedModel::new([calling(&[("visits", "{}")]), saying("None.")]);
    let agent = Agent::new(registry, dialect(), model.clone());
    for is_reply in [false, true] {
        let mut run = super::new_run();
        let error = if is_reply {
            agent.reply(&mut run, "Hello?").await
        } else {
            agent.run(&mut run).await
        };
        let error = error.unwrap_err();
        assert!(
            matches!(&error, AgentError::MissingContexts { missing, .. } if missing.len() == 1),
            "{error}"
        );
        assert!(
            error.to_string().contains("AtomicUsize` of visits"),
            "{error}"
        );
        assert!(model.requests().is_empty());
    }
    let agent = agent.each_call(|call| call.with(AtomicUsize::new(3)));
    let mut run = super::new_run();
    agent.run(&mut run).await.unwrap();
    assert_eq!(first_result(&run), "3");
}
