//! Runs of several users: whose rights a call has, and who decides.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, ready};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use tool_agent::model::Request;
use tool_agent::run::{
    DecideError, FileJournal, MemoryJournal, Run, RunError, RunInfo, RunOutcome, Step,
};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError};
use tool_core::dialect::{Anthropic, Dialect};
use tool_core::hooks::{Decision, DecisionDenied, Gate};
use tool_core::{CallContext, Registry, ToolCall, ToolErrorKind, tool, tools};

use super::saving::TempFolder;
use super::{calling, dialect, question, saying, turn};

const USERS: [&str; 4] = ["ann", "bob", "lea", "max"];
const RUNS: [(&str, &str); 3] = [("run-ann", "ann"), ("run-bob", "bob"), ("run-lea", "lea")];

/// The rights of a call.
struct Rights(String);

/// What the property observes, shared by all processes.
#[derive(Default)]
struct World {
    leads: Mutex<BTreeSet<String>>,
    ran: Mutex<Vec<Ran>>,
}

/// A call that ran.
#[derive(Debug)]
struct Ran {
    tool: String,
    run: String,
    rights: String,
    /// The kind of hold, and who decided.
    decisions: Vec<(bool, String)>,
    leads: BTreeSet<String>,
}

fn observe(tool: &str, world: &World, rights: &Rights, call: &CallContext) {
    let decisions = call
        .decisions()
        .map(|(hold, _, by)| (hold.is_confirmation(), by.to_owned()));
    world.ran.lock().unwrap().push(Ran {
        tool: tool.into(),
        run: call.get::<RunInfo>().unwrap().id().into(),
        rights: rights.0.clone(),
        decisions: decisions.collect(),
        leads: world.leads.lock().unwrap().clone(),
    });
}

/// Runs at once.
#[tool(read_only, unlinked)]
async fn plain(
    id: u32,
    #[param(context)] world: &Arc<World>,
    #[param(context)] rights: &Rights,
    call: &CallContext,
) -> u32 {
    tokio::task::yield_now().await;
    observe("plain", world, rights, call);
    id
}

/// Needs somebody else.
#[tool(destructive, unlinked)]
async fn risky(
    id: u32,
    #[param(context)] world: &Arc<World>,
    #[param(context)] rights: &Rights,
    call: &CallContext,
) -> u32 {
    tokio::task::yield_now().await;
    observe("risky", world, rights, call);
    id
}

/// Needs the owner.
#[tool(unlinked)]
fn letter(
    id: u32,
    #[param(context)] world: &Arc<World>,
    #[param(context)] rights: &Rights,
    call: &CallContext,
) -> u32 {
    observe("letter", world, rights, call);
    id
}

/// Needs both.
#[tool(unlinked)]
fn both(
    id: u32,
    #[param(context)] world: &Arc<World>,
    #[param(context)] rights: &Rights,
    call: &CallContext,
) -> u32 {
    observe("both", world, rights, call);
    id
}

/// A new process: it shares only the journal and the world.
fn process(world: &Arc<World>, journal: &MemoryJournal) -> Agent {
    let registry = Registry::builder()
        .tools(tools![plain, risky, letter, both])
        .context(Arc::clone(world))
        .context_per_call::<Rights>()
        .before(async |hook| match &*hook.tool.name {
            "risky" | "both" => Gate::hold("it is risky"),
            _ => Gate::Allow,
        })
        .before(async |hook| match &*hook.tool.name {
            "letter" | "both" => Gate::confirm("others will read it"),
            _ => Gate::Allow,
        })
        .build()
        .unwrap();
    // Answers a message with the calls that it lists.
    let model = async |request: Request| {
        let last = request.messages.last().map(|last| Value::clone(last));
        let last = last.unwrap_or_default();
        let content = last["content"].as_str().unwrap_or_default();
        let asked = (last["role"] == "user").then(|| serde_json::from_str(content).ok());
        let tools: Vec<String> = asked.flatten().unwrap_or_default();
        if tools.is_empty() {
            return Ok(saying("Done."));
        }
        let calls = tools.iter().map(|tool| (&**tool, r#"{"id":1}"#));
        Ok(calling(&calls.collect::<Vec<_>>()))
    };
    let world = Arc::clone(world);
    Agent::new(registry, dialect(), model)
        .journal(journal.clone())
        // What one user per agent would attach. The values of the owner replace it.
        .each_call(|call| call.with(Rights("whoever resumes".into())))
        .contexts(|run: RunInfo, call| async move {
            let owner = run.owner().ok_or("no owner")?.to_owned();
            tokio::task::yield_now().await;
            Ok::<ToolCall, _>(call.with(Rights(owner)))
        })
        .may_decide(move |request| {
            let leads = world.leads.lock().unwrap();
            ready(leads.contains(&request.user) || request.is_owner())
        })
}

#[derive(Clone, Debug)]
enum Action {
    /// A user asks for calls in one of the runs.
    Ask { run: usize, tools: Vec<u8> },
    /// A process drives a run. It ends after this many polls.
    Drive { run: usize, polls: usize },
    /// A user decides on one of the waiting calls.
    Decide {
        run: usize,
        user: usize,
        pending: usize,
        decision: u8,
    },
    /// A user becomes a lead, or is no longer one.
    Promote { user: usize },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let run = 0..RUNS.len();
    let user = 0..USERS.len();
    let ask = (run.clone(), prop::collection::vec(0..4_u8, 1..4))
        .prop_map(|(run, tools)| Action::Ask { run, tools });
    let drive = (run.clone(), 1..24_usize).prop_map(|(run, polls)| Action::Drive { run, polls });
    // One more user than there are: nobody.
    let decide =
        (run, 0..=USERS.len(), 0..3_usize, 0..4_u8).prop_map(|(run, user, pending, decision)| {
            Action::Decide {
                run,
                user,
                pending,
                decision,
            }
        });
    let promote = user.prop_map(|user| Action::Promote { user });
    let action = prop_oneof![2 => ask, 5 => drive, 6 => decide, 2 => promote];
    prop::collection::vec(action, 1..60)
}

/// Polls a future this often, then drops it.
fn poll_times<T>(future: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..times).find_map(|_| match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    })
}

fn now<T>(future: impl Future<Output = T>) -> T {
    poll_times(future, 1000).expect("the future completes")
}

/// Does the actions, and checks every decision against the rules, in their own words.
fn check(actions: Vec<Action>) -> BTreeMap<&'static str, usize> {
    let world = Arc::new(World::default());
    world.leads.lock().unwrap().insert("lea".into());
    let journal = MemoryJournal::new();
    let mut decided = BTreeMap::new();
    for (id, owner) in RUNS {
        let mut run = Run::builder(id)
            .owner(owner)
            .meta(json!({"of": owner}))
            .build();
        now(process(&world, &journal).save(&mut run)).unwrap();
    }
    let load = |run: usize| {
        // Each action is a process of its own.
        let agent = process(&world, &journal);
        let (id, owner) = RUNS[run];
        let run = now(agent.load(id)).unwrap().unwrap();
        assert_eq!(run.info().owner(), Some(owner));
        assert_eq!(run.info().meta(), &json!({"of": owner}));
        assert_eq!(run.info().dialect(), Some(dialect().provider()));
        (agent, run)
    };
    for action in actions {
        match action {
            Action::Ask { run, tools } => {
                let (agent, mut run) = load(run);
                let names = ["plain", "risky", "letter", "both"];
                let tools: Vec<_> = tools.iter().map(|tool| names[usize::from(*tool)]).collect();
                let message = dialect().user_message(&json!(tools).to_string());
                if run.push(message).is_ok() {
                    now(agent.save(&mut run)).unwrap();
                }
            }
            Action::Drive { run, polls } => {
                let (agent, mut run) = load(run);
                if let Some(outcome) = poll_times(agent.run(&mut run), polls) {
                    outcome.unwrap();
                }
            }
            Action::Promote { user } => {
                let mut leads = world.leads.lock().unwrap();
                if !leads.remove(USERS[user]) {
                    leads.insert(USERS[user].into());
                }
            }
            Action::Decide {
                run,
                user,
                pending,
                decision,
            } => {
                let (agent, mut run) = load(run);
                let owner = run.info().owner().unwrap().to_owned();
                let user = USERS.get(user).copied().unwrap_or_default();
                let waiting = run.pending();
                let Some(pending) = waiting.get(pending) else {
                    continue;
                };
                assert_eq!((pending.run(), pending.owner()), (run.id(), Some(&*owner)));
                let decision = match decision {
                    0 => Decision::deny("no"),
                    1 => Decision::change(r#"{"id":2}"#),
                    _ => Decision::Allow,
                };
                let fingerprint = pending.fingerprint();
                let by_run = run.decide(agent.registry(), fingerprint, decision.clone(), user);
                assert!(matches!(by_run, Err(DecideError::Owned)), "{by_run:?}");
                let made = now(agent.decide(&mut run, fingerprint, decision, user));
                let is_lead = world.leads.lock().unwrap().contains(user);
                let may = match pending.reason() {
                    "it is risky" => is_lead && user != owner,
                    _ => is_lead || user == owner,
                };
                assert_eq!(
                    made.is_ok(),
                    may && !user.is_empty(),
                    "{user} {pending:?} {made:?}"
                );
                *decided
                    .entry(if may { "decided" } else { "denied" })
                    .or_default() += 1;
            }
        }
    }
    for ran in world.ran.lock().unwrap().iter() {
        let (_, owner) = RUNS.iter().find(|(id, _)| *id == ran.run).unwrap();
        assert_eq!(ran.rights, *owner, "{ran:?}");
        for (is_confirmation, by) in &ran.decisions {
            assert!(USERS.contains(&&**by), "{ran:?}");
            let is_lead = ran.leads.contains(by);
            let may = if *is_confirmation {
                is_lead || by == owner
            } else {
                is_lead && by != owner
            };
            assert!(may, "{ran:?}");
        }
        let has = |kind: bool| ran.decisions.iter().any(|(is, _)| *is == kind);
        assert_eq!(
            has(false),
            matches!(&*ran.tool, "risky" | "both"),
            "{ran:?}"
        );
        assert_eq!(
            has(true),
            matches!(&*ran.tool, "letter" | "both"),
            "{ran:?}"
        );
        *decided.entry("ran").or_default() += 1;
        if !ran.decisions.is_empty() {
            *decided.entry("ran after a decision").or_default() += 1;
        }
    }
    decided
}

#[test]
fn no_call_has_other_rights_than_its_owners_and_nobody_decides_what_the_policy_forbids() {
    let cases = if std::env::var_os("TOOL_CORE_LONG").is_some() {
        20_000
    } else {
        1500
    };
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let counts: Mutex<BTreeMap<_, usize>> = Mutex::default();
    TestRunner::new_with_rng(config, random)
        .run(&actions(), |actions| {
            for (what, count) in check(actions) {
                *counts.lock().unwrap().entry(what).or_default() += count;
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    // The actions are of all kinds.
    let counts = counts.into_inner().unwrap();
    for what in ["decided", "denied", "ran", "ran after a decision"] {
        assert!(
            counts.get(what).is_some_and(|count| *count > 100),
            "{counts:?}"
        );
    }
}

/// Returns an agent whose model calls these tools, then answers.
fn agent(tools: &[&str]) -> Agent {
    let world = Arc::new(World::default());
    let calls: Vec<_> = tools.iter().map(|tool| (*tool, r#"{"id":1}"#)).collect();
    let agent = process(&world, &MemoryJournal::new());
    let model = ScriptedModel::new([calling(&calls), saying("Done.")]);
    Agent::new(agent.registry().clone(), dialect(), model)
}

fn owned() -> Run {
    let mut run = Run::builder("run-1").owner("ann").build();
    run.push(question()).unwrap();
    run
}

fn with_rights(agent: Agent) -> Agent {
    agent.contexts(async |run: RunInfo, call: ToolCall| {
        Ok(call.with(Rights(run.owner().unwrap_or_default().into())))
    })
}

#[test]
fn an_agent_without_contexts_runs_nothing_of_an_owner() {
    let mut run = owned();
    let error = now(agent(&["plain"]).run(&mut run)).unwrap_err();
    assert!(
        matches!(&error, AgentError::NoContexts(run) if run == "run-1"),
        "{error}"
    );
    assert!(run.rounds().is_empty());
}

#[test]
fn nothing_runs_and_nothing_changes_if_the_contexts_fail() {
    for is_panic in [false, true] {
        let agent = agent(&["plain", "plain"]).contexts(move |_, _| async move {
            assert!(!is_panic, "no database");
            Err("no database".into())
        });
        let mut run = owned();
        let error = now(agent.run(&mut run)).unwrap_err();
        let AgentError::Context { run: id, tool, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!((&**id, &**tool), ("run-1", "plain"));
        assert!(error.to_string().contains("\"run-1\""), "{error}");
        // Both calls are still to be started.
        assert!(matches!(run.next(), Step::Call(calls) if calls.len() == 2));
    }
}

#[test]
fn without_a_policy_owners_confirm_and_nobody_decides_a_hold() {
    let agent = with_rights(agent(&["letter", "risky"]));
    let mut run = owned();
    assert!(matches!(
        now(agent.run(&mut run)),
        Ok(RunOutcome::Waiting(_))
    ));
    let [letter, risky] = &run.pending()[..] else {
        panic!("{run:?}");
    };
    let mut decide = |pending: &str, user: &str| {
        let made = now(agent.decide(&mut run, pending, Decision::Allow, user));
        made.map_err(|error| match error {
            AgentError::Decide(DecideError::Denied(denied)) => denied,
            error => panic!("{error}"),
        })
    };
    assert_eq!(
        decide(letter.fingerprint(), "bob"),
        Err(DecisionDenied::NoPolicy)
    );
    assert_eq!(
        decide(risky.fingerprint(), "bob"),
        Err(DecisionDenied::NoPolicy)
    );
    assert_eq!(
        decide(risky.fingerprint(), "ann"),
        Err(DecisionDenied::Owner)
    );
    assert_eq!(
        decide(letter.fingerprint(), " "),
        Err(DecisionDenied::Unnamed)
    );
    assert_eq!(decide(letter.fingerprint(), "ann"), Ok(()));
}

#[test]
fn a_policy_that_panics_denies() {
    let agent = with_rights(agent(&["risky"])).may_decide(|_| -> std::future::Ready<bool> {
        panic!("no database");
    });
    let mut run = owned();
    now(agent.run(&mut run)).unwrap();
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    let made = now(agent.decide(&mut run, &fingerprint, Decision::Allow, "lea"));
    assert!(
        matches!(
            made,
            Err(AgentError::Decide(DecideError::Denied(
                DecisionDenied::Policy
            )))
        ),
        "{made:?}"
    );
}

/// The owner confirms with other arguments than those that somebody else has allowed.
#[test]
fn a_confirmation_with_changed_arguments_needs_the_other_decision_again() {
    let world = Arc::new(World::default());
    world.leads.lock().unwrap().insert("lea".into());
    let agent = process(&world, &MemoryJournal::new());
    let mut run = Run::builder("run-ann").owner("ann").build();
    run.push(dialect().user_message(r#"["both"]"#)).unwrap();
    now(agent.run(&mut run)).unwrap();
    let mut decide = |reason: &str, decision, user: &str| {
        let pending = run.pending();
        assert_eq!(pending[0].reason(), reason);
        now(agent.decide(&mut run, pending[0].fingerprint(), decision, user)).unwrap();
        now(agent.run(&mut run)).unwrap()
    };
    decide("it is risky", Decision::Allow, "lea");
    decide(
        "others will read it",
        Decision::change(r#"{"id":2}"#),
        "ann",
    );
    assert!(world.ran.lock().unwrap().is_empty());
    let outcome = decide("it is risky", Decision::Allow, "lea");
    assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
    assert_eq!(world.ran.lock().unwrap().len(), 1);
}

#[test]
fn a_decision_on_one_kind_of_hold_is_none_on_the_other() {
    for (given, other) in [
        (Gate::confirm("a"), Gate::hold("a")),
        (Gate::hold("a"), Gate::confirm("a")),
    ] {
        let registry = |gate: Gate| {
            let builder = Registry::builder().tools(tools![super::delete_note]);
            let builder = builder.before(move |_| ready(gate.clone()));
            builder.build().unwrap()
        };
        let call = ToolCall::new("call_1", "delete_note", r#"{"id":7}"#);
        let first = registry(given).call_blocking(call.clone());
        let hold = first.error().unwrap().hold().unwrap().clone();
        for decision in [Decision::Allow, Decision::change(r#"{"id":7}"#)] {
            let call = call.clone().decided_by(hold.clone(), decision, "ann");
            let result = registry(other.clone()).call_blocking(call);
            assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Held);
        }
    }
}

#[test]
fn a_run_does_not_go_on_with_another_dialect() {
    let folder = TempFolder::new("another-dialect");
    let other = Agent::new(
        Registry::new(),
        Anthropic::default(),
        ScriptedModel::new([]),
    )
    .journal(FileJournal::new(&folder.0));
    let agent = with_rights(agent(&["plain"])).journal(FileJournal::new(&folder.0));
    let mut run = owned();
    assert_eq!(run.info().dialect(), None);
    now(agent.save(&mut run)).unwrap();
    let refused = |result: Result<(), RunError>| match result {
        Err(RunError::OtherDialect { run, .. }) => assert_eq!(run, "run-1"),
        other => panic!("{other:?}"),
    };
    let of_agent = |error: AgentError| match error {
        AgentError::Run(error) => Err(error),
        error => panic!("{error}"),
    };
    refused(of_agent(now(other.load("run-1")).unwrap_err()));
    refused(of_agent(
        now(with_rights(other.clone()).run(&mut run)).unwrap_err(),
    ));
    refused(of_agent(now(other.save(&mut run)).unwrap_err()));
    let anthropic = Anthropic::default();
    let registry = other.registry();
    refused(run.respond(&anthropic, registry, turn(&saying("Hello."))));
    refused(run.cancel(&anthropic));
    refused(run.resume(&anthropic, registry).map(|_| ()));
    let run = now(agent.load("run-1")).unwrap().unwrap();
    assert_eq!(run.info().dialect(), Some("chat completions"));
}

#[test]
fn a_run_of_an_earlier_version_has_no_owner_and_takes_the_first_dialect() {
    let saved = json!([
        {"number": 1, "change": {"Created": {"version": 2, "id": "run-1", "settings": {}}}},
        {"number": 2, "change": {"Message": question()}},
    ]);
    let mut run = Run::replay(serde_json::from_value::<Vec<_>>(saved).unwrap()).unwrap();
    assert_eq!((run.info().owner(), run.info().dialect()), (None, None));
    run.respond(&dialect(), &Registry::new(), turn(&saying("Hello.")))
        .unwrap();
    assert_eq!(run.info().dialect(), Some(dialect().provider()));
    let replayed = serde_json::to_value(run.unsaved()).unwrap();
    assert_eq!(replayed[0]["change"]["Dialect"], dialect().provider());
}
