//! Runs of several users: whose rights a call has, and who decides.

use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, ready};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use tool_agent::model::Request;
use tool_agent::run::{
    DecideError, FileJournal, Journal, JournalError, MemoryJournal, Page, Pending, Run, RunError,
    RunInfo, RunOutcome, Step,
};
use tool_agent::testing::ScriptedModel;
use tool_agent::{Agent, AgentError, Compaction};
use tool_core::dialect::Dialect;
use tool_core::hooks::{Decision, DecisionDenied, Gate};
use tool_core::{CallContext, Registry, ToolCall, ToolEntry, ToolErrorKind, tool, tools};
use tool_dialects::Anthropic;

use super::saving::TempFolder;
use super::{calling, dialect, question, saying, turn};

const USERS: [&str; 4] = ["ann", "bob", "lea", "max"];
const RUNS: [(&str, &str); 3] = [("run-ann", "ann"), ("run-bob", "bob"), ("run-lea", "lea")];

/// Returns the name of a user. There is one more user than there are names: nobody.
fn name(user: usize) -> &'static str {
    USERS.get(user).copied().unwrap_or_default()
}

/// The user in whose name a call runs.
struct Rights(String);

/// What happens in all processes, for the property to check.
#[derive(Default)]
struct World {
    leads: Mutex<BTreeSet<String>>,
    ran: Mutex<Vec<Ran>>,
    /// The decisions that a policy has allowed: the run of a user, the kind of hold, and who decided.
    made: Mutex<BTreeSet<(String, bool, String)>>,
}

impl World {
    /// Makes a user a lead, or a lead a user like others. A program may do that to nobody by mistake.
    fn promote(&self, user: usize) {
        let mut leads = self.leads.lock().unwrap();
        if !leads.remove(name(user)) {
            leads.insert(name(user).into());
        }
    }

    /// Returns `true` if a user may decide on a call of an owner now: the rules in their own words.
    fn may(&self, user: &str, owner: &str, is_confirmation: bool) -> bool {
        let is_lead = self.leads.lock().unwrap().contains(user);
        if is_confirmation {
            is_lead || user == owner
        } else {
            is_lead && user != owner
        }
    }
}

/// A call that ran.
#[derive(Debug)]
struct Ran {
    tool: String,
    run: String,
    key: Option<String>,
    rights: String,
    /// The kind of each hold, who decided, and whether they may decide as the call starts.
    decisions: Vec<(bool, String, bool)>,
}

/// Returns the user's run, of which a run may be a part, and its owner.
fn root(run: &str) -> (&'static str, &'static str) {
    let is_root = |id: &str| run == id || run.starts_with(&format!("{id}/"));
    *RUNS.iter().find(|(id, _)| is_root(id)).unwrap()
}

fn observe(tool: &str, world: &World, rights: &Rights, call: &CallContext) {
    let run = call.get::<RunInfo>().unwrap();
    let owner = run.owner().unwrap_or_default();
    let decisions = call.decisions().map(|(hold, _, by)| {
        let kind = hold.is_confirmation();
        (kind, by.to_owned(), world.may(by, owner, kind))
    });
    let ran = Ran {
        tool: tool.into(),
        run: run.id().into(),
        key: call.idempotency_key().map(str::to_owned),
        rights: rights.0.clone(),
        decisions: decisions.collect(),
    };
    world.ran.lock().unwrap().push(ran);
}

/// Runs at once.
#[tool(read_only, unlinked)]
async fn plain(
    id: u32,
    #[param(context)] world: &Arc<World>,
    #[param(context)] rights: &Rights,
    call: &CallContext,
) -> u32 {
    observe("plain", world, rights, call);
    tokio::task::yield_now().await;
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
    observe("risky", world, rights, call);
    tokio::task::yield_now().await;
    id
}

/// Needs somebody else, and runs again after an interruption.
#[tool(idempotent, unlinked)]
async fn again(
    id: u32,
    #[param(context)] world: &Arc<World>,
    #[param(context)] rights: &Rights,
    call: &CallContext,
) -> u32 {
    observe("again", world, rights, call);
    tokio::task::yield_now().await;
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

/// The tools of a desk. The last one is an agent with the others.
const TOOLS: [&str; 6] = ["plain", "risky", "again", "letter", "both", "ask_desk"];

/// Returns the agent of a process with these tools.
fn agent_with(world: &Arc<World>, journal: &MemoryJournal, tools: Vec<ToolEntry>) -> Agent {
    let registry = Registry::builder()
        .tools(tools)
        .context(Arc::clone(world))
        .context_per_call::<Rights>()
        .before(async |hook| match &*hook.tool.name {
            "risky" | "again" | "both" => Gate::hold("it is risky"),
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
        let asked: Value = asked.flatten().unwrap_or_default();
        let tools = asked["tools"].as_array().cloned().unwrap_or_default();
        if tools.is_empty() {
            return Ok(saying("Done."));
        }
        let question = json!({"question": json!({"tools": asked["inner"]}).to_string()});
        let question = question.to_string();
        let calls = tools.iter().map(|tool| match tool.as_str().unwrap() {
            "ask_desk" => ("ask_desk", &*question),
            tool => (tool, r#"{"id":1}"#),
        });
        Ok(calling(&calls.collect::<Vec<_>>()))
    };
    let world = Arc::clone(world);
    Agent::new(registry, dialect(), model)
        .journal(journal.clone())
        .compact(Compaction::at_tokens(15).keep(1))
        // With one user, an agent attaches the user like this. The values of the owner replace it.
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

/// A new process: it shares only the journal and the world.
fn process(world: &Arc<World>, journal: &MemoryJournal) -> Agent {
    let tools = || tools![plain, risky, again, letter, both].to_vec();
    let desk = agent_with(world, journal, tools());
    let desk = desk.into_tool("ask_desk", "Asks the desk.").unwrap();
    let mut all = tools();
    all.push(desk.into());
    agent_with(world, journal, all)
}

#[derive(Clone, Debug)]
enum Action {
    /// A user asks for calls in one of the runs, and for calls of the agent that is a tool.
    Ask {
        run: usize,
        tools: Vec<usize>,
        inner: Vec<usize>,
    },
    /// A process drives a run. It ends after this many polls. Before one of them, a user may become a lead, or is no
    /// longer one.
    Drive {
        run: usize,
        polls: usize,
        promote: Option<(usize, usize)>,
    },
    /// Two processes drive a run.
    DriveBoth { run: usize, polls: usize },
    /// A user decides on one of the waiting calls.
    Decide {
        run: usize,
        user: usize,
        pending: usize,
        decision: u8,
    },
    /// Two users decide on the same call, in two processes.
    DecideBoth {
        run: usize,
        users: [usize; 2],
        pending: usize,
    },
    /// Makes a user a lead, or a lead a user like others.
    Promote { user: usize },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let run = || 0..RUNS.len();
    // Lea is a lead at first.
    let user = || prop_oneof![2 => Just(2), 5 => 0..=USERS.len()];
    let tools = |count| prop::collection::vec(0..count, 1..4);
    let ask = (run(), tools(TOOLS.len()), tools(TOOLS.len() - 1))
        .prop_map(|(run, tools, inner)| Action::Ask { run, tools, inner });
    let promote = prop::option::of((0..12_usize, user()));
    let drive = (run(), 1..40_usize, promote).prop_map(|(run, polls, promote)| Action::Drive {
        run,
        polls,
        promote,
    });
    let drive_both = (run(), 1..40_usize).prop_map(|(run, polls)| Action::DriveBoth { run, polls });
    let decide = (run(), user(), 0..3_usize, 0..4_u8).prop_map(|(run, user, pending, decision)| {
        Action::Decide {
            run,
            user,
            pending,
            decision,
        }
    });
    let decide_both = (run(), [user(), user()], 0..3_usize).prop_map(|(run, users, pending)| {
        Action::DecideBoth {
            run,
            users,
            pending,
        }
    });
    let promote = user().prop_map(|user| Action::Promote { user });
    let action = prop_oneof![
        3 => ask,
        6 => drive,
        1 => drive_both,
        6 => decide,
        1 => decide_both,
        2 => promote,
    ];
    prop::collection::vec(action, 1..80)
}

/// Polls a future this often, with a step before each time, then drops it.
fn poll_with<T>(
    future: impl Future<Output = T>,
    times: usize,
    mut before: impl FnMut(usize),
) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    (0..times).find_map(|time| {
        before(time);
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    })
}

fn now<T>(future: impl Future<Output = T>) -> T {
    poll_with(future, 1000, |_| {}).expect("the future completes")
}

/// Runs the actions, and counts what happened.
struct Check {
    world: Arc<World>,
    journal: MemoryJournal,
    counts: BTreeMap<&'static str, usize>,
}

impl Check {
    fn new() -> Check {
        let world = Arc::new(World::default());
        world.leads.lock().unwrap().insert("lea".into());
        let journal = MemoryJournal::new();
        for (id, owner) in RUNS {
            let mut run = Run::builder(id)
                .owner(owner)
                .meta(json!({"of": owner}))
                .build();
            now(process(&world, &journal).save(&mut run)).unwrap();
        }
        Check {
            world,
            journal,
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn ran(&self) -> usize {
        self.world.ran.lock().unwrap().len()
    }

    /// Loads a run in a process of its own, which got all of it as text.
    fn load(&self, id: &str) -> (Agent, Run) {
        let agent = process(&self.world, &self.journal);
        let loaded = now(agent.load(id)).unwrap().unwrap();
        let saved = now(self.journal.load(id)).unwrap();
        let saved = serde_json::to_string(&saved).unwrap();
        let run = Run::replay(serde_json::from_str::<Vec<_>>(&saved).unwrap()).unwrap();
        assert_eq!(json!(run), json!(loaded));
        let (_, owner) = root(id);
        assert_eq!(run.info().owner(), Some(owner));
        assert_eq!(run.info().meta(), &json!({"of": owner}));
        assert_eq!(run.info().dialect(), Some(dialect().provider()));
        (agent, run)
    }

    /// Decides, and checks the answer. Returns `true` if the decision is made.
    fn decide(
        &mut self,
        (agent, run): &mut (Agent, Run),
        pending: &Pending,
        decision: Decision,
        user: &str,
        is_late: bool,
    ) -> bool {
        let owner = run.info().owner().unwrap().to_owned();
        assert_eq!((pending.run(), pending.owner()), (run.id(), Some(&*owner)));
        let fingerprint = pending.fingerprint();
        let by_run = run.decide(agent.registry(), fingerprint, decision.clone(), user);
        assert!(matches!(by_run, Err(DecideError::Owned)), "{by_run:?}");
        let kind = match pending.reason() {
            "it is risky" => false,
            "others will read it" => true,
            reason => panic!("{reason}"),
        };
        let may = !user.is_empty() && self.world.may(user, &owner, kind);
        let made = now(agent.decide(run, fingerprint, decision, user));
        self.count(if may { "decided" } else { "denied" });
        match &made {
            Ok(()) => assert!(may && !is_late, "{user} {pending:?}"),
            Err(AgentError::Decide(DecideError::Denied(_))) => assert!(!may, "{user} {pending:?}"),
            Err(AgentError::Journal(JournalError::Conflict(_))) => assert!(may && is_late),
            Err(error) => panic!("{error}"),
        }
        if made.is_ok() {
            let made = (run.id().to_owned(), kind, user.to_owned());
            self.world.made.lock().unwrap().insert(made);
        }
        made.is_ok()
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Ask { run, tools, inner } => {
                let (agent, mut run) = self.load(RUNS[run].0);
                let names = |tools: &[usize]| tools.iter().map(|tool| TOOLS[*tool]).collect();
                let (tools, inner): (Vec<_>, Vec<_>) = (names(&tools), names(&inner));
                let asked = json!({"tools": tools, "inner": inner});
                if run.push(dialect().user_message(&asked.to_string())).is_ok() {
                    now(agent.save(&mut run)).unwrap();
                }
            }
            Action::Drive {
                run,
                polls,
                promote,
            } => {
                let (agent, mut run) = self.load(RUNS[run].0);
                let decisions = decisions(&run).len();
                let promote = |time| match promote {
                    Some((at, user)) if at == time => self.world.promote(user),
                    _ => {}
                };
                if let Some(outcome) = poll_with(agent.run(&mut run), polls, promote) {
                    outcome.unwrap();
                }
                if self::decisions(&run).len() < decisions {
                    self.count("revoked");
                }
            }
            Action::DriveBoth { run, polls } => {
                let mut processes = [self.load(RUNS[run].0), self.load(RUNS[run].0)];
                let [(first, run), (second, same)] = &mut processes;
                let both = futures_util::future::join(first.run(run), second.run(same));
                if let Some((first, second)) = poll_with(both, polls, |_| {}) {
                    for outcome in [first, second] {
                        match outcome {
                            Ok(_) => {}
                            Err(AgentError::Journal(JournalError::Conflict(_))) => {
                                self.count("lost a run");
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            }
            Action::Promote { user } => self.world.promote(user),
            Action::Decide {
                run,
                user,
                pending,
                decision,
            } => {
                let mut process = self.load(RUNS[run].0);
                let user = name(user);
                let waiting = process.1.pending();
                let Some(pending) = waiting.get(pending % waiting.len().max(1)) else {
                    return;
                };
                let decision = match decision {
                    0 => Decision::deny("no"),
                    1 => Decision::change(r#"{"id":2}"#),
                    _ => Decision::Allow,
                };
                self.decide(&mut process, pending, decision, user, false);
            }
            Action::DecideBoth {
                run,
                users,
                pending,
            } => {
                let [mut first, mut second] = [self.load(RUNS[run].0), self.load(RUNS[run].0)];
                let users = users.map(name);
                let waiting = first.1.pending();
                let Some(pending) = waiting.get(pending % waiting.len().max(1)) else {
                    return;
                };
                let denied = Decision::deny("no");
                if !self.decide(&mut first, pending, denied, users[0], false) {
                    return;
                }
                self.decide(&mut second, pending, Decision::Allow, users[1], true);
                self.count("decided twice");
                // What the second one holds is out of date.
                let ran = self.ran();
                let (agent, mut run) = second;
                let _ = poll_with(agent.run(&mut run), 100, |_| {});
                assert_eq!(self.ran(), ran);
            }
        }
    }

    /// Checks what happened against the rules.
    fn finish(mut self) -> BTreeMap<&'static str, usize> {
        let world = Arc::clone(&self.world);
        let made = world.made.lock().unwrap();
        let mut once = BTreeSet::new();
        for ran in world.ran.lock().unwrap().iter() {
            let (run, owner) = root(&ran.run);
            assert_eq!(ran.rights, owner, "{ran:?}");
            for (kind, by, may) in &ran.decisions {
                assert!(USERS.contains(&&**by) && *may, "{ran:?}");
                assert!(
                    made.contains(&(run.to_owned(), *kind, by.clone())),
                    "{ran:?}"
                );
            }
            let has = |kind: bool| ran.decisions.iter().any(|(is, ..)| *is == kind);
            let needs = |tools: &[&str]| tools.contains(&&*ran.tool);
            assert_eq!(has(false), needs(&["risky", "again", "both"]), "{ran:?}");
            assert_eq!(has(true), needs(&["letter", "both"]), "{ran:?}");
            if !needs(&["plain", "again"]) {
                assert!(once.insert(ran.key.clone()), "it ran twice: {ran:?}");
            }
            self.count("ran");
            if !ran.decisions.is_empty() {
                self.count("ran after a decision");
                if ran.run != run {
                    self.count("ran in an agent after a decision");
                }
            }
        }
        // What is saved names who decided, in the runs of agents that are tools, too.
        assert!(
            now(self.journal.runs(None, Page::new(1)))
                .unwrap()
                .is_empty()
        );
        for (_, owner) in RUNS {
            for head in now(self.journal.runs(Some(owner), Page::new(1000))).unwrap() {
                let (_, run) = self.load(&head.id);
                let (root, _) = root(&head.id);
                for (kind, by) in decisions(&run) {
                    assert!(made.contains(&(root.to_owned(), kind, by)), "{run:?}");
                }
                let is_summary = |message: &Arc<Value>| {
                    let content = message["content"].as_str();
                    content.is_some_and(|content| content.starts_with("Summary of"))
                };
                if run.messages().iter().any(is_summary) {
                    self.count("compacted");
                }
            }
        }
        self.counts
    }
}

/// Returns the decisions in a run: the kind of the hold, and who decided.
fn decisions(run: &Run) -> Vec<(bool, String)> {
    let rounds = run.rounds().iter();
    let calls = rounds.flat_map(|round| (0..round.calls().len()).map(move |at| (round, at)));
    calls
        .flat_map(|(round, at)| round.decisions(at))
        .map(|(hold, _, by)| (hold.is_confirmation(), by.to_owned()))
        .collect()
}

#[test]
fn no_call_has_other_rights_than_its_owners_and_nobody_decides_what_the_policy_forbids() {
    let cases = if std::env::var_os("TOOL_CORE_LONG").is_some() {
        20_000
    } else {
        500
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
            let mut check = Check::new();
            for action in actions {
                check.act(action);
            }
            for (what, count) in check.finish() {
                *counts.lock().unwrap().entry(what).or_default() += count;
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    // The actions are of all kinds.
    let counts = counts.into_inner().unwrap();
    for what in [
        "compacted",
        "decided",
        "decided twice",
        "denied",
        "lost a run",
        "ran",
        "ran after a decision",
        "ran in an agent after a decision",
        "revoked",
    ] {
        assert!(
            counts.get(what).is_some_and(|count| *count > 20),
            "{what} of {counts:?}"
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
    // Blanks make nobody somebody else.
    assert_eq!(
        decide(risky.fingerprint(), " ann\t"),
        Err(DecisionDenied::Owner)
    );
    assert_eq!(
        decide(letter.fingerprint(), " "),
        Err(DecisionDenied::Unnamed)
    );
    assert_eq!(decide(letter.fingerprint(), "ann"), Ok(()));
    assert_eq!(
        Run::builder("run-1").owner(" ann ").build().info().owner(),
        Some("ann")
    );
}

#[test]
fn a_hold_in_a_run_without_an_owner_needs_a_policy() {
    let free = agent(&["letter", "risky"]).each_call(|call| call.with(Rights("ann".into())));
    let mut run = Run::new("run-1");
    now(free.reply(&mut run, "Go.")).unwrap();
    let [letter, risky] = &run.pending()[..] else {
        panic!("{run:?}");
    };
    let (letter, risky) = (letter.fingerprint(), risky.fingerprint());
    let made = now(free.decide(&mut run, risky, Decision::Allow, "eve"));
    let error = made.unwrap_err().to_string();
    assert!(
        error.starts_with("no policy says who may decide"),
        "{error}"
    );
    now(free.decide(&mut run, letter, Decision::Allow, "eve")).unwrap();
    let agent = free.may_decide(async |request| request.user == "lea");
    now(agent.decide(&mut run, risky, Decision::Allow, "eve")).unwrap_err();
    now(agent.decide(&mut run, risky, Decision::Allow, "lea")).unwrap();
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
    run.push(dialect().user_message(r#"{"tools":["both"]}"#))
        .unwrap();
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
    let mut loaded = now(other.load("run-1")).unwrap().unwrap();
    for run in [&mut run, &mut loaded] {
        refused(of_agent(
            now(with_rights(other.clone()).run(run)).unwrap_err(),
        ));
    }
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
fn a_run_that_was_saved_before_its_first_dialect_takes_one() {
    let saved = json!([
        {"number": 1, "change": {"Created": {"version": 1, "id": "run-1", "settings": {}}}},
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
