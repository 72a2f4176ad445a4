//! Random users, roles, holds, decisions, repeats and processes: no call runs without the decisions that it needs, nobody
//! decides what the rules forbid, and each decision has a name.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use support::{Answer, Lifecycle, Running, TestClient, call, connect};
use tool_core::hooks::{Decision, Gate, Inbox};
use tool_core::{CallContext, Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::UserId;
use tool_mcp::server::approvals::{Approvals, Verdict};
use tool_mcp::server::store::{MemoryStore, Store};

/// The last two have no name.
const USERS: [&str; 6] = ["ann", "lea", "max", "local", "", " "];
const TOOLS: [&str; 4] = ["plain", "confirmed", "held", "both"];
/// Each user has a client of two servers with one store, of both generations.
const PROCESSES: usize = 2;

/// What the property observes.
#[derive(Default)]
struct World {
    leads: Mutex<BTreeSet<String>>,
    ran: Mutex<Vec<Ran>>,
}

/// A call that ran.
#[derive(Debug)]
struct Ran {
    tool: &'static str,
    user: String,
    id: u32,
    decisions: Vec<Made>,
    leads: BTreeSet<String>,
}

/// A decision on a call that ran.
#[derive(Debug)]
struct Made {
    is_confirmation: bool,
    /// The id that was decided on.
    id: u32,
    by: String,
}

fn id_in(arguments: &str) -> u32 {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    arguments["id"].as_u64().unwrap().try_into().unwrap()
}

fn observe(tool: &'static str, id: u32, call: &CallContext, world: &World) -> u32 {
    let decisions = call.decisions().map(|(hold, decision, by)| Made {
        is_confirmation: hold.is_confirmation(),
        id: match decision {
            Decision::Change(arguments) => id_in(&arguments.text()),
            _ => id_in(hold.arguments()),
        },
        by: by.to_owned(),
    });
    let user = call.get::<UserId>().map_or("", UserId::as_str);
    world.ran.lock().unwrap().push(Ran {
        tool,
        user: user.to_owned(),
        id,
        decisions: decisions.collect(),
        leads: world.leads.lock().unwrap().clone(),
    });
    id
}

/// Runs at once.
#[tool(unlinked)]
fn plain(id: u32, call: &CallContext, #[param(context)] world: &Arc<World>) -> u32 {
    observe("plain", id, call, world)
}

/// Asks its user.
#[tool(unlinked, tags = ["confirm"])]
fn confirmed(id: u32, call: &CallContext, #[param(context)] world: &Arc<World>) -> u32 {
    observe("confirmed", id, call, world)
}

/// Needs somebody else.
#[tool(unlinked, tags = ["hold"])]
fn held(id: u32, call: &CallContext, #[param(context)] world: &Arc<World>) -> u32 {
    observe("held", id, call, world)
}

/// Asks its user, and needs somebody else.
#[tool(unlinked, tags = ["confirm", "hold"])]
fn both(id: u32, call: &CallContext, #[param(context)] world: &Arc<World>) -> u32 {
    observe("both", id, call, world)
}

#[derive(Clone, Debug)]
enum Action {
    Call {
        user: usize,
        process: usize,
        tool: usize,
        id: u32,
        confirms: bool,
    },
    /// Makes an earlier call again.
    Again {
        at: usize,
        process: usize,
        confirms: bool,
    },
    /// Decides on one of the approvals, by the rules or past them.
    Decide {
        at: usize,
        by: usize,
        decision: usize,
        is_forged: bool,
    },
    /// Gives or takes a role.
    Role { user: usize },
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    // Mostly those who may do something.
    let users = prop_oneof![3 => 0..3_usize, 1 => 0..USERS.len()];
    let calls = (
        users.clone(),
        0..PROCESSES,
        0..TOOLS.len(),
        0..2_u32,
        0..4_u8,
    );
    let calls = calls.prop_map(|(user, process, tool, id, confirms)| Action::Call {
        user,
        process,
        tool,
        id,
        confirms: confirms > 0,
    });
    let again = (0..9_usize, 0..PROCESSES, 0..9_u8);
    let again = again.prop_map(|(at, process, confirms)| Action::Again {
        at,
        process,
        confirms: confirms > 0,
    });
    let deciders = prop_oneof![2 => Just(1_usize), 2 => users.clone()];
    let decisions = (0..9_usize, deciders, 0..4_usize, 0..4_u8);
    let decisions = decisions.prop_map(|(at, by, decision, forged)| Action::Decide {
        at,
        by,
        decision,
        is_forged: forged == 0,
    });
    let roles = users.prop_map(|user| Action::Role { user });
    let all = prop_oneof![4 => calls, 6 => again, 6 => decisions, 1 => roles];
    prop::collection::vec(all, 1..40)
}

struct Bench {
    world: Arc<World>,
    store: MemoryStore,
    /// Each process has its own, with the same store.
    approvals: [Approvals; PROCESSES],
    clients: Vec<[(Running, TestClient); PROCESSES]>,
    /// The calls that waited: users, tools and ids.
    waited: Vec<(usize, usize, u32)>,
    /// The runs that decisions allow, by user, tool and id.
    allowed: BTreeMap<(String, String, u32), usize>,
    counts: BTreeMap<&'static str, usize>,
}

impl Bench {
    async fn new() -> Bench {
        let world = Arc::new(World::default());
        world
            .leads
            .lock()
            .unwrap()
            .extend(["lea", "local", ""].map(str::to_owned));
        let registry = Registry::builder()
            .tools(tools![plain, confirmed, held, both])
            .context(world.clone())
            .before(async |hook| {
                if hook.tool.tags().any(|tag| tag == "confirm") {
                    Gate::confirm("it is loud")
                } else {
                    Gate::Allow
                }
            })
            .before(async |hook| {
                if hook.tool.tags().any(|tag| tag == "hold") {
                    Gate::hold("it can't be undone")
                } else {
                    Gate::Allow
                }
            })
            .build()
            .unwrap();
        let store = MemoryStore::default();
        let roles = world.clone();
        let approvals = [(); PROCESSES].map(|()| {
            let roles = roles.clone();
            Approvals::new(&registry, store.clone()).may_decide(move |request| {
                let is_lead = roles.leads.lock().unwrap().contains(&request.user);
                std::future::ready(is_lead)
            })
        });
        let mut clients = Vec::new();
        for user in USERS {
            let connect = async |process: usize, lifecycle| {
                let server = Server::new(registry.clone())
                    .on_hold(approvals[process].clone())
                    .state_key([7; 32])
                    .identity(move |_, call| Ok(call.with(UserId::new(user))));
                let handler = TestClient::default();
                (connect(server, lifecycle, handler.clone()).await, handler)
            };
            clients.push([
                connect(0, Lifecycle::Legacy).await,
                connect(1, Lifecycle::Modern).await,
            ]);
        }
        Bench {
            world,
            store,
            approvals,
            clients,
            waited: Vec::new(),
            allowed: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    async fn act(&mut self, action: Action) {
        match action {
            Action::Call {
                user,
                process,
                tool,
                id,
                confirms,
            } => {
                self.call((user, tool, id), process, confirms).await;
            }
            Action::Again {
                at,
                process,
                confirms,
            } => {
                if let Some(call) = self.waited.get(at % self.waited.len().max(1)) {
                    self.call(*call, process, confirms).await;
                }
            }
            Action::Decide {
                at,
                by,
                decision,
                is_forged,
            } => self.decide(at, USERS[by], decision, is_forged).await,
            Action::Role { user } => {
                let mut leads = self.world.leads.lock().unwrap();
                if !leads.remove(USERS[user]) {
                    leads.insert(USERS[user].into());
                }
            }
        }
    }

    async fn call(
        &mut self,
        (user, tool, id): (usize, usize, u32),
        process: usize,
        confirms: bool,
    ) {
        let (client, handler) = &self.clients[user][process];
        let answer = || {
            if confirms {
                Answer::Accept(json!({}))
            } else {
                Answer::Decline
            }
        };
        // The second is for changed arguments.
        *handler.answers.lock().unwrap() = [answer(), answer()].into();
        let result = call(client, TOOLS[tool], json!({"id": id})).await;
        let questions = std::mem::take(&mut *handler.questions.lock().unwrap());
        let is_named = !USERS[user].trim().is_empty();
        assert!(is_named || questions.is_empty(), "{questions:?}");
        let waits = result["_meta"]["tool-core/approval"].is_string();
        assert!(!waits || (is_named && TOOLS[tool] != "plain"));
        if waits {
            self.waited.push((user, tool, id));
            self.count("waits");
        }
        let ran = std::mem::take(&mut *self.world.ran.lock().unwrap());
        assert!(ran.len() <= 1, "{ran:?}");
        assert_eq!(ran.is_empty(), result["isError"] == true, "{result}");
        for ran in ran {
            self.check(USERS[user], TOOLS[tool], &ran);
        }
    }

    async fn decide(&mut self, at: usize, by: &str, decision: usize, is_forged: bool) {
        let waiting = self.store.waiting(None, 100).await.unwrap();
        let Some(approval) = waiting.get(at % waiting.len().max(1)) else {
            return;
        };
        let decision = match decision {
            0 | 1 => Decision::Allow,
            2 => Decision::change(json!({"id": 5})),
            _ => Decision::deny("no"),
        };
        let is_lead = self.world.leads.lock().unwrap().contains(by);
        let may = is_lead && by != approval.requester && by != "local" && !by.trim().is_empty();
        if is_forged {
            let verdict = Verdict::new(decision.clone(), by);
            assert!(self.store.decide(&approval.id, verdict).await.unwrap());
            self.count("forged");
        } else {
            let decided = self.approvals[at % PROCESSES]
                .decide(&approval.id, decision.clone(), by)
                .await;
            assert_eq!(decided.is_ok(), may, "{by}: {decided:?}");
            self.count(if may { "decided" } else { "denied" });
            if !may {
                return;
            }
        }
        let id = match decision {
            Decision::Allow => id_in(approval.hold.arguments()),
            Decision::Change(_) => 5,
            _ => return,
        };
        let key = (approval.requester.clone(), approval.tool.clone(), id);
        *self.allowed.entry(key).or_default() += 1;
    }

    /// Checks that a call had the decisions that it needs.
    fn check(&mut self, user: &str, tool: &str, ran: &Ran) {
        assert_eq!((ran.tool, &*ran.user), (tool, user));
        self.count("ran");
        for made in &ran.decisions {
            assert!(!made.by.trim().is_empty(), "{ran:?}");
            if made.is_confirmation {
                assert_eq!(made.by, user, "{ran:?}");
            } else {
                assert_ne!(made.by, user, "{ran:?}");
                assert_ne!(made.by, "local", "{ran:?}");
                // Now, and not only when they decided.
                assert!(ran.leads.contains(&made.by), "{ran:?}");
            }
        }
        let has = |is_confirmation: bool| {
            let mut made = ran.decisions.iter();
            made.any(|made| made.is_confirmation == is_confirmation && made.id == ran.id)
        };
        if matches!(tool, "confirmed" | "both") {
            assert!(has(true), "{ran:?}");
        }
        if matches!(tool, "held" | "both") {
            assert!(has(false), "{ran:?}");
            // Each decision counts once.
            let key = (user.to_owned(), tool.to_owned(), ran.id);
            let left = self.allowed.get_mut(&key).filter(|left| **left > 0);
            *left.unwrap_or_else(|| panic!("one decision, two runs: {ran:?}")) -= 1;
            self.count("ran after a decision");
        }
    }
}

#[test]
fn no_call_runs_without_the_decisions_that_it_needs() {
    let config = Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let counts: Mutex<BTreeMap<_, usize>> = Mutex::default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    TestRunner::new_with_rng(config, random)
        .run(&actions(), |actions| {
            runtime.block_on(async {
                let mut bench = Bench::new().await;
                for action in actions {
                    bench.act(action).await;
                }
                for (what, count) in bench.counts {
                    *counts.lock().unwrap().entry(what).or_default() += count;
                }
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    // The actions are of all kinds.
    let counts = counts.into_inner().unwrap();
    for what in [
        "waits",
        "decided",
        "denied",
        "forged",
        "ran",
        "ran after a decision",
    ] {
        assert!(
            counts.get(what).is_some_and(|count| *count > 50),
            "{counts:?}"
        );
    }
}
