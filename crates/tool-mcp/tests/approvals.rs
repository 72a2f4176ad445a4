//! Held calls that wait until somebody else decides.

#[path = "support/raw.rs"]
mod raw;
mod support;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use raw::{Reply, modern, post, session, start, stateless};
use serde_json::{Value, json};
use support::{Answer, BOTH, Lifecycle, Running, TestClient, call, connect, in_time};
use tokio::sync::Barrier;
use tool_core::call::elicit::{Elicit, ElicitError};
use tool_core::hooks::{Decision, DecisionDenied, Gate, Inbox, InboxError};
use tool_core::runtime::BoxFuture;
use tool_core::{CallContext, Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::TaskLimits;
use tool_mcp::server::approvals::{Approval, ApprovalLimits, Approvals, Verdict};
use tool_mcp::server::http::HttpConfig;
use tool_mcp::server::store::{
    Listener, MemoryStore, Notice, Store, StoreError, StoredTask, TaskUpdate,
};
use tool_mcp::server::{TaskPolicy, UserId};

/// The calls that ran: the id, and who decided.
#[derive(Default)]
struct Ran(Mutex<Vec<(u32, String)>>);

impl Ran {
    fn take(&self) -> Vec<(u32, String)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    fn add(&self, id: u32, call: &CallContext) {
        let by: Vec<_> = call.decisions().map(|(_, _, by)| by).collect();
        self.0.lock().unwrap().push((id, by.join(",")));
    }
}

/// Wipes a disk.
#[tool(unlinked, destructive)]
fn wipe(id: u32, call: &CallContext, #[param(context)] ran: &Arc<Ran>) -> String {
    ran.add(id, call);
    format!("disk {id} is wiped")
}

/// Changes a password.
#[tool(unlinked, destructive)]
fn change_password(
    id: u32,
    #[param(secret)] password: &str,
    call: &CallContext,
    #[param(context)] ran: &Arc<Ran>,
) -> usize {
    ran.add(id, call);
    password.len()
}

/// Wipes a disk once the user says how.
#[tool(unlinked, destructive)]
async fn wipe_how(
    id: u32,
    call: &CallContext,
    #[param(context)] ran: &Arc<Ran>,
) -> Result<String, ElicitError> {
    let answer = call.elicit("how", Elicit::confirm("Twice?")).await?;
    ran.add(id, call);
    Ok(format!("{answer:?}"))
}

/// Confirmed by its user, and then approved by two others.
#[tool(unlinked, tags = ["launch"])]
fn launch(id: u32, call: &CallContext, #[param(context)] ran: &Arc<Ran>) -> String {
    ran.add(id, call);
    format!("launched {id}")
}

struct Desk {
    registry: Registry,
    store: MemoryStore,
    approvals: Approvals,
    ran: Arc<Ran>,
}

/// Users whose names start with `lead` may decide.
fn desk_with(limits: ApprovalLimits) -> Desk {
    let ran = Arc::new(Ran::default());
    let is_launch = |hook: &tool_core::hooks::HookCall| hook.tool.tags().any(|tag| tag == "launch");
    let registry = Registry::builder()
        .tools(tools![wipe, change_password, wipe_how, launch])
        .context(ran.clone())
        .before(move |hook| {
            let gate = if is_launch(&hook) {
                Gate::confirm("it is loud")
            } else {
                Gate::Allow
            };
            async { gate }
        })
        .before(async |_| Gate::hold("it can't be undone"))
        .before(move |hook| {
            let gate = if is_launch(&hook) {
                Gate::hold("it is far away")
            } else {
                Gate::Allow
            };
            async { gate }
        })
        .build()
        .unwrap();
    let store = MemoryStore::default();
    let approvals = Approvals::new(&registry, store.clone()).may_decide(async |request| {
        assert!(request.tool.is_some() && request.owner.is_some());
        // A policy can't let the last two decide.
        request.user.starts_with("lead") || ["local", ""].contains(&&*request.user)
    });
    let approvals = approvals.limits(limits);
    Desk {
        registry,
        store,
        approvals,
        ran,
    }
}

fn desk() -> Desk {
    desk_with(ApprovalLimits::default())
}

impl Desk {
    /// A server whose users are their tokens.
    fn server(&self) -> Server {
        let server = Server::new(self.registry.clone()).on_hold(self.approvals.clone());
        server.identity(|request, call| {
            Ok(match request.bearer() {
                Some(token) => call.with(UserId::new(token)),
                None => call,
            })
        })
    }

    /// A server with one user.
    fn server_of(&self, user: &'static str) -> Server {
        let server = Server::new(self.registry.clone()).on_hold(self.approvals.clone());
        server.identity(move |_, call| Ok(call.with(UserId::new(user))))
    }

    /// A client of the user, connected to such a server, that answers no question.
    async fn client_of(&self, user: &'static str, lifecycle: Lifecycle) -> Running {
        connect(self.server_of(user), lifecycle, TestClient::default()).await
    }

    /// Returns the approvals without a decision, of all users.
    async fn waiting(&self) -> Vec<Approval> {
        self.store.waiting(None, 100).await.unwrap()
    }

    async fn decide(&self, id: &str, decision: Decision, user: &str) -> Result<(), InboxError> {
        self.approvals.decide(id, decision, user).await
    }
}

/// Returns the id of the approval that a result says its call waits for.
fn waits_for(result: &Value) -> String {
    let id = result["_meta"]["tool-core/approval"].as_str();
    let id = id.unwrap_or_else(|| panic!("{result}")).to_owned();
    assert_eq!(result["isError"], true);
    let text = text_of(result);
    assert!(
        text.contains(&format!("it waits for approval {id}: ")),
        "{text}"
    );
    id
}

/// Checks that a result says that nobody can approve the call, and what the developer of the server sets up.
fn nobody_approves(result: &Value, missing: &str) {
    let text = text_of(result);
    assert!(text.contains(" was not run: it needs approval: "), "{text}");
    assert!(text.contains("Nobody can approve it here"), "{text}");
    assert!(
        text.contains(missing) && !text.contains("wait for approval"),
        "{text}"
    );
    assert_eq!(result["isError"], true);
    assert_eq!(result["_meta"], Value::Null);
}

fn text_of(result: &Value) -> &str {
    let text = result["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{result}"))
}

#[tokio::test]
async fn an_approved_call_runs_once_when_it_is_made_again() {
    for lifecycle in BOTH {
        let desk = desk();
        let client = desk.client_of("ada", lifecycle).await;
        let make = async || call(&client, "wipe", json!({"id": 7})).await;
        let id = waits_for(&make().await);
        // Asking again does not ask for another approval.
        assert_eq!(waits_for(&make().await), id);
        let waiting = desk.waiting().await;
        assert_eq!(waiting.len(), 1);
        assert_eq!((&*waiting[0].requester, &*waiting[0].tool), ("ada", "wipe"));
        assert_eq!(waiting[0].hold.arguments(), r#"{"id":7}"#);
        assert_eq!(waiting[0].hold.reason(), "it can't be undone");
        desk.decide(&id, Decision::Allow, "lead-3").await.unwrap();
        assert_eq!(text_of(&make().await), "disk 7 is wiped");
        assert_eq!(desk.ran.take(), [(7, "lead-3".into())]);
        // The decision is used up.
        assert_ne!(waits_for(&make().await), id);
        assert!(desk.ran.take().is_empty());
    }
}

#[tokio::test]
async fn a_denied_call_says_why_and_waits_anew() {
    let desk = desk();
    let client = desk.client_of("ada", Lifecycle::Modern).await;
    let make = async || call(&client, "wipe", json!({"id": 7})).await;
    let id = waits_for(&make().await);
    let deny = Decision::deny("disk 7 is in use");
    desk.decide(&id, deny, "lead-3").await.unwrap();
    let result = make().await;
    assert_eq!(result["isError"], true);
    assert!(text_of(&result).ends_with("disk 7 is in use"), "{result}");
    assert_ne!(waits_for(&make().await), id);
    assert!(desk.ran.take().is_empty());
}

#[tokio::test]
async fn whoever_decides_may_change_the_arguments() {
    let desk = desk();
    let client = desk.client_of("ada", Lifecycle::Modern).await;
    let arguments = json!({"id": 7, "password": "hunter2"});
    let make = async || call(&client, "change_password", arguments.clone()).await;
    let id = waits_for(&make().await);
    let change = Decision::change(json!({"id": 8, "password": "[secret]"}));
    desk.decide(&id, change, "lead-3").await.unwrap();
    // With the secret, which nobody else has seen.
    assert_eq!(text_of(&make().await), "7");
    assert_eq!(desk.ran.take(), [(8, "lead-3".into())]);
    // Invalid arguments end one call, not all.
    let id = waits_for(&make().await);
    let change = Decision::change(json!({"id": "x"}));
    desk.decide(&id, change, "lead-3").await.unwrap();
    assert!(text_of(&make().await).contains("id: "));
    waits_for(&make().await);
}

#[tokio::test]
async fn nobody_decides_what_the_rules_forbid() {
    let desk = desk();
    let client = connect(
        desk.server_of("lead-1"),
        Lifecycle::Modern,
        TestClient::default(),
    )
    .await;
    let id = waits_for(&call(&client, "wipe", json!({"id": 7})).await);
    let allow = |user: &'static str| desk.decide(&id, Decision::Allow, user);
    for (user, expected) in [
        ("lead-1", DecisionDenied::Owner),
        ("", DecisionDenied::Unnamed),
        (" ", DecisionDenied::Unnamed),
        ("local", DecisionDenied::Policy),
        ("bob", DecisionDenied::Policy),
    ] {
        let denied = allow(user).await;
        assert!(
            matches!(denied, Err(InboxError::Denied(denied)) if denied == expected),
            "{user}: {denied:?}"
        );
    }
    let unknown = desk.decide("f00", Decision::Allow, "lead-2").await;
    assert!(matches!(unknown, Err(InboxError::Unknown)));
    allow("lead-2").await.unwrap();
    assert!(matches!(allow("lead-3").await, Err(InboxError::Decided)));
    // Without a policy, nobody decides.
    let closed = Approvals::new(&desk.registry, desk.store.clone());
    call(&client, "wipe", json!({"id": 8})).await;
    let id = desk.waiting().await[0].id.clone();
    let denied = closed.decide(&id, Decision::Allow, "lead-2").await;
    assert!(matches!(
        denied,
        Err(InboxError::Denied(DecisionDenied::NoPolicy))
    ));
}

#[tokio::test]
async fn the_rules_are_applied_again_before_a_call_starts() {
    for by in ["lead-1", "", "local", "bob"] {
        let desk = desk();
        let client = connect(
            desk.server_of("lead-1"),
            Lifecycle::Modern,
            TestClient::default(),
        )
        .await;
        let make = async || call(&client, "wipe", json!({"id": 7})).await;
        for decision in [
            Decision::Allow,
            Decision::change(json!({"id": 9})),
            Decision::deny("no"),
        ] {
            let is_allowed = !matches!(decision, Decision::Deny(_));
            let id = waits_for(&make().await);
            // Past the rules, as a page with a fault would.
            let verdict = Verdict::new(decision, by);
            assert!(desk.store.decide(&id, verdict).await.unwrap());
            let result = make().await;
            if is_allowed {
                assert!(
                    text_of(&result).contains("does not count"),
                    "{by}: {result}"
                );
                assert_ne!(waits_for(&make().await), id);
            } else {
                assert_ne!(waits_for(&result), id);
            }
            assert!(desk.ran.take().is_empty(), "{by}");
        }
    }
}

#[tokio::test]
async fn a_call_may_need_several_decisions() {
    for lifecycle in BOTH {
        let desk = desk();
        let yes = || Answer::Accept(json!({}));
        let handler = TestClient::answering([yes(), yes(), yes()]);
        let client = connect(desk.server_of("ada"), lifecycle, handler.clone()).await;
        let make = async || call(&client, "launch", json!({"id": 1})).await;
        let first = waits_for(&make().await);
        desk.decide(&first, Decision::Allow, "lead-1")
            .await
            .unwrap();
        let second = waits_for(&make().await);
        assert_ne!(first, second);
        assert_eq!(desk.waiting().await[0].hold.reason(), "it is far away");
        desk.decide(&second, Decision::Allow, "lead-2")
            .await
            .unwrap();
        assert_eq!(text_of(&make().await), "launched 1");
        assert_eq!(desk.ran.take(), [(1, "ada,lead-1,lead-2".into())]);
        assert_eq!(handler.questions().len(), 3);
        // Both are used up.
        handler.answers.lock().unwrap().push_back(yes());
        assert_ne!(waits_for(&make().await), first);
        assert_eq!(desk.waiting().await.len(), 1);
    }
}

#[tokio::test]
async fn a_tool_that_asks_its_user_needs_one_decision() {
    for lifecycle in BOTH {
        let desk = desk();
        let handler = TestClient::answering([Answer::Decline]);
        let client = connect(desk.server_of("ada"), lifecycle, handler.clone()).await;
        let make = async || call(&client, "wipe_how", json!({"id": 3})).await;
        let id = waits_for(&make().await);
        desk.decide(&id, Decision::Allow, "lead-1").await.unwrap();
        // Since 2026-07-28 it runs again after the answer.
        assert_eq!(text_of(&make().await), "Declined");
        assert_eq!(desk.ran.take(), [(3, "lead-1".into())]);
        waits_for(&make().await);
        assert!(desk.ran.take().is_empty());
    }
}

#[tokio::test]
async fn a_client_without_a_name_never_waits() {
    for lifecycle in BOTH {
        let desk = desk();
        let nobody = Server::new(desk.registry.clone())
            .on_hold(desk.approvals.clone())
            .identity(|_, call| Ok(call));
        for server in [nobody, desk.server_of(""), desk.server_of("  ")] {
            let client = connect(server, lifecycle, TestClient::default()).await;
            let result = call(&client, "wipe", json!({"id": 7})).await;
            nobody_approves(&result, "`Server::identity`");
            // Nor does it confirm anything.
            let result = call(&client, "launch", json!({"id": 7})).await;
            nobody_approves(&result, "`Server::identity`");
        }
        assert!(desk.waiting().await.is_empty());
        // The user of a stream is `local`, who may wait and decides on nothing.
        let server = Server::new(desk.registry.clone()).on_hold(desk.approvals.clone());
        let client = connect(server, lifecycle, TestClient::default()).await;
        let id = waits_for(&call(&client, "wipe", json!({"id": 7})).await);
        assert_eq!(desk.waiting().await[0].requester, "local");
        let own = desk.decide(&id, Decision::Allow, "local").await;
        assert!(matches!(own, Err(InboxError::Denied(_))));
    }
    // Over HTTP without an identity.
    let desk = desk();
    let server = Server::new(desk.registry.clone()).on_hold(desk.approvals.clone());
    let address = start(server, HttpConfig::default()).await;
    let session = session(address, "").await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wipe", "arguments": {"id": 7}}});
    let reply = post(address, &session, &body.to_string()).await;
    nobody_approves(&reply.message()["result"], "`Server::identity`");
    let reply = http(address, "ada", "wipe", json!({"id": 7})).await;
    nobody_approves(&reply, "`Server::identity`");
    assert!(desk.waiting().await.is_empty());
}

/// Makes a call as a user over HTTP. Returns its result.
async fn http(address: SocketAddr, user: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    let reply: Reply = modern(address, user, "tools/call", params).await;
    reply.message()["result"].clone()
}

#[tokio::test]
async fn a_decision_is_for_one_call_of_one_user() {
    let desk = desk();
    let address = start(desk.server(), stateless()).await;
    let id = waits_for(&http(address, "ada", "wipe", json!({"id": 7})).await);
    desk.decide(&id, Decision::Allow, "lead-1").await.unwrap();
    // Another user, other arguments, another tool.
    waits_for(&http(address, "bob", "wipe", json!({"id": 7})).await);
    waits_for(&http(address, "ada", "wipe", json!({"id": 8})).await);
    waits_for(&http(address, "ada", "wipe_how", json!({"id": 7})).await);
    // An entry of another user, by its id.
    let result = http(address, "bob", "wipe", json!({"id": 7, "approval": id})).await;
    assert!(text_of(&result).contains("approval"), "{result}");
    assert!(desk.ran.take().is_empty());
    assert_eq!(
        text_of(&http(address, "ada", "wipe", json!({"id": 7})).await),
        "disk 7 is wiped"
    );
    waits_for(&http(address, "ada", "wipe", json!({"id": 7})).await);
    // A secret is part of the call, though nobody sees it.
    let password = |text: &str| json!({"id": 1, "password": text});
    let id = waits_for(&http(address, "ada", "change_password", password("good")).await);
    desk.decide(&id, Decision::Allow, "lead-1").await.unwrap();
    let other = waits_for(&http(address, "ada", "change_password", password("evil")).await);
    assert_ne!(id, other);
    desk.ran.take();
    assert_eq!(
        text_of(&http(address, "ada", "change_password", password("good")).await),
        "4"
    );
    let waiting = serde_json::to_string(&desk.waiting().await).unwrap();
    assert!(
        waiting.contains("[secret]") && !waiting.contains("evil"),
        "{waiting}"
    );
}

/// A store that meets, swaps or fails.
struct Odd {
    inner: MemoryStore,
    /// Two calls have found a decision before one of them uses it up.
    meeting: Option<Arc<Barrier>>,
    /// What each held call gets.
    hold: Option<Box<dyn Fn() -> Result<Approval, StoreError> + Send + Sync>>,
}

impl Store for Odd {
    fn add(&self, task: StoredTask, limits: &TaskLimits) -> BoxFuture<Result<(), StoreError>> {
        self.inner.add(task, limits)
    }

    fn get(&self, id: &str) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        self.inner.get(id)
    }

    fn update(
        &self,
        id: &str,
        update: TaskUpdate,
        limits: &TaskLimits,
    ) -> BoxFuture<Result<Option<StoredTask>, StoreError>> {
        self.inner.update(id, update, limits)
    }

    fn hold(
        &self,
        approval: Approval,
        limits: &ApprovalLimits,
    ) -> BoxFuture<Result<Approval, StoreError>> {
        match &self.hold {
            Some(hold) => Box::pin(std::future::ready(hold())),
            None => self.inner.hold(approval, limits),
        }
    }

    fn held(&self, id: &str) -> BoxFuture<Result<Option<Approval>, StoreError>> {
        self.inner.held(id)
    }

    fn waiting(
        &self,
        after: Option<&Approval>,
        limit: usize,
    ) -> BoxFuture<Result<Vec<Approval>, StoreError>> {
        self.inner.waiting(after, limit)
    }

    fn decide(&self, id: &str, verdict: Verdict) -> BoxFuture<Result<bool, StoreError>> {
        self.inner.decide(id, verdict)
    }

    fn use_up(&self, id: &str) -> BoxFuture<Result<bool, StoreError>> {
        let (inner, meeting, id) = (self.inner.clone(), self.meeting.clone(), id.to_owned());
        Box::pin(async move {
            if let Some(meeting) = meeting {
                meeting.wait().await;
            }
            inner.use_up(&id).await
        })
    }

    fn publish(&self, notice: Notice) {
        self.inner.publish(notice);
    }

    fn listen(&self, listener: Listener) {
        self.inner.listen(listener);
    }
}

#[tokio::test]
async fn of_calls_at_the_same_time_one_runs() {
    let mut desk = desk();
    let meeting = Odd {
        inner: desk.store.clone(),
        meeting: Some(Arc::new(Barrier::new(2))),
        hold: None,
    };
    desk.approvals = Approvals::new(&desk.registry, meeting).may_decide(async |_| true);
    let address = start(desk.server(), stateless()).await;
    let make = || http(address, "ada", "wipe", json!({"id": 7}));
    let id = waits_for(&make().await);
    let allow = Decision::Allow;
    desk.decide(&id, allow, "lead-1").await.unwrap();
    let (first, second) = in_time(async { tokio::join!(make(), make()) }).await;
    let (ran, other) = if first["isError"] == true {
        (second, first)
    } else {
        (first, second)
    };
    assert_eq!(text_of(&ran), "disk 7 is wiped");
    assert!(text_of(&other).contains("used by another call"), "{other}");
    assert_eq!(desk.ran.take().len(), 1);
    // So it is with a denial.
    let id = waits_for(&make().await);
    desk.decide(&id, Decision::deny("not today"), "lead-1")
        .await
        .unwrap();
    let (first, second) = in_time(async { tokio::join!(make(), make()) }).await;
    let (denied, other) = if text_of(&first).ends_with("not today") {
        (first, second)
    } else {
        (second, first)
    };
    assert!(text_of(&denied).ends_with("not today"), "{denied}");
    assert_ne!(waits_for(&other), id);
}

#[tokio::test]
async fn a_store_that_fails_or_mixes_up_approvals_lets_nothing_run() {
    let desk = desk();
    let client = desk.client_of("ada", Lifecycle::Modern).await;
    let id = waits_for(&call(&client, "wipe", json!({"id": 7})).await);
    desk.decide(&id, Decision::Allow, "lead-1").await.unwrap();
    let decided = desk.store.held(&id).await.unwrap().unwrap();
    assert!(decided.verdict.is_some());
    let holds: [Box<dyn Fn() -> Result<Approval, StoreError> + Send + Sync>; 3] = [
        Box::new(move || Ok(decided.clone())),
        Box::new(|| Err(StoreError::failed("secret of the store"))),
        Box::new(|| panic!("the store panics")),
    ];
    for hold in holds {
        let broken = Odd {
            inner: desk.store.clone(),
            meeting: None,
            hold: Some(hold),
        };
        let approvals = Approvals::new(&desk.registry, Arc::new(broken)).may_decide(async |_| true);
        for (user, disk) in [("ada", 8), ("bob", 7)] {
            let server = Server::new(desk.registry.clone()).on_hold(approvals.clone());
            let server = server.identity(move |_, call| Ok(call.with(UserId::new(user))));
            let client = connect(server, Lifecycle::Modern, TestClient::default()).await;
            let result = call(&client, "wipe", json!({"id": disk})).await;
            let text = text_of(&result);
            assert!(text.contains("nobody can be asked for approval"), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
        assert!(desk.ran.take().is_empty());
    }
}

#[tokio::test]
async fn held_calls_are_limited_in_all_and_for_each_user() {
    let mut limits = ApprovalLimits::default();
    limits.approvals = 3;
    limits.approvals_per_user = 2;
    limits.bytes_per_user = 1500;
    let desk = desk_with(limits);
    let address = start(desk.server(), stateless()).await;
    let wipe = async |user: &str, id: u32| http(address, user, "wipe", json!({"id": id})).await;
    let full = |result: Value| {
        let text = text_of(&result);
        assert!(
            text.contains("too many calls wait") && text.ends_with("try again later."),
            "{text}"
        );
    };
    let first = waits_for(&wipe("ada", 1).await);
    waits_for(&wipe("ada", 2).await);
    full(wipe("ada", 3).await);
    waits_for(&wipe("bob", 1).await);
    full(wipe("eve", 1).await);
    // Nothing was pushed out.
    assert_eq!(waits_for(&wipe("ada", 1).await), first);
    // One that is used up makes room.
    desk.decide(&first, Decision::Allow, "lead-1")
        .await
        .unwrap();
    assert_eq!(text_of(&wipe("ada", 1).await), "disk 1 is wiped");
    let password = json!({"id": 1, "password": "x".repeat(5000)});
    // A secret takes no room, since it is not kept.
    waits_for(&http(address, "eve", "change_password", password).await);
    full(wipe("bob", 2).await);
    assert_eq!(desk.waiting().await.len(), 3);
}

#[tokio::test]
async fn an_approval_does_not_count_when_its_time_is_over() {
    let mut limits = ApprovalLimits::default();
    (limits.approvals, limits.kept_for) = (1, Duration::from_secs(1));
    let mut desk = desk_with(limits);
    let now = Arc::new(AtomicU64::new(1_000_000));
    let clock = now.clone();
    desk.approvals = desk.approvals.clock(move || {
        SystemTime::UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::SeqCst))
    });
    let client = desk.client_of("ada", Lifecycle::Modern).await;
    let make = async |id: u32| call(&client, "wipe", json!({"id": id})).await;
    let id = waits_for(&make(7).await);
    desk.decide(&id, Decision::Allow, "lead-1").await.unwrap();
    now.fetch_add(1001, Ordering::SeqCst);
    let anew = waits_for(&make(7).await);
    assert_ne!(anew, id);
    now.fetch_add(1001, Ordering::SeqCst);
    let late = desk.decide(&anew, Decision::Allow, "lead-1").await;
    assert!(matches!(late, Err(InboxError::Unknown)));
    // It makes room for others.
    waits_for(&make(8).await);
    assert_eq!(desk.waiting().await.len(), 1);
    now.fetch_add(1000, Ordering::SeqCst);
    desk.decide(
        &desk.waiting().await[0].id.clone(),
        Decision::Allow,
        "lead-1",
    )
    .await
    .unwrap();
    assert_eq!(text_of(&make(8).await), "disk 8 is wiped");
}

#[tokio::test]
async fn an_approval_does_not_count_if_its_time_ends_before_the_call_starts() {
    let now = Arc::new(AtomicU64::new(1_000_000));
    let (clock, hook_clock) = (now.clone(), now.clone());
    let ran = Arc::new(Ran::default());
    let registry = Registry::builder()
        .tools(tools![wipe])
        .context(ran.clone())
        .before(async |_| Gate::hold("it can't be undone"))
        // Takes long, after the decision was found.
        .before(move |_| {
            hook_clock.fetch_add(2000, Ordering::SeqCst);
            async { Gate::Allow }
        })
        .build()
        .unwrap();
    let mut limits = ApprovalLimits::default();
    limits.kept_for = Duration::from_secs(1);
    let approvals = Approvals::new(&registry, MemoryStore::default())
        .may_decide(async |_| true)
        .limits(limits)
        .clock(move || {
            SystemTime::UNIX_EPOCH + Duration::from_millis(clock.load(Ordering::SeqCst))
        });
    let server = Server::new(registry).on_hold(approvals.clone());
    let client = connect(server, Lifecycle::Modern, TestClient::default()).await;
    let make = async || call(&client, "wipe", json!({"id": 7})).await;
    let id = waits_for(&make().await);
    let allow = Decision::Allow;
    approvals.decide(&id, allow, "lead-1").await.unwrap();
    let result = make().await;
    assert!(text_of(&result).ends_with("is too old"), "{result}");
    assert!(ran.take().is_empty());
    assert_ne!(waits_for(&make().await), id);
}

/// Asks for a task until it is in a state.
async fn until_task(
    address: SocketAddr,
    user: &str,
    task: &Value,
    until: impl Fn(&Value) -> bool,
) -> Value {
    in_time(async {
        loop {
            let reply = modern(address, user, "tasks/get", json!({"taskId": task})).await;
            let state = reply.message()["result"].clone();
            if until(&state) {
                return state;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn a_held_call_that_is_a_task_waits_and_ends_with_the_decision() {
    let desk = desk();
    let address = start(desk.server().tasks(|_| TaskPolicy::Optional), stateless()).await;
    let begin = async |id: u32| {
        let result = http(address, "ada", "wipe", json!({"id": id})).await;
        assert!(result["taskId"].is_string(), "{result}");
        result["taskId"].clone()
    };
    let waits = |state: &Value| {
        let message = state["statusMessage"].as_str();
        let id = message.and_then(|message| message.strip_prefix("waits for approval "));
        id.map(ToOwned::to_owned)
    };
    for (decision, expected) in [
        (Decision::Allow, "disk 7 is wiped"),
        (Decision::deny("not today"), "not today"),
    ] {
        let task = begin(7).await;
        let state = until_task(address, "ada", &task, |state| waits(state).is_some()).await;
        assert_eq!(state["status"], "working");
        let id = waits(&state).unwrap();
        assert_eq!(desk.waiting().await[0].id, id);
        // The task of another user is unknown, and so is its approval.
        let other = modern(address, "bob", "tasks/get", json!({"taskId": task})).await;
        assert_eq!(other.message()["error"]["message"], "unknown task");
        let is_over = |state: &Value| state["status"] != "working";
        desk.decide(&id, decision, "lead-2").await.unwrap();
        let state = until_task(address, "ada", &task, is_over).await;
        assert_eq!(state["status"], "completed", "{state}");
        assert!(text_of(&state["result"]).ends_with(expected), "{state}");
        assert_eq!(waits(&state), None);
    }
    assert_eq!(desk.ran.take(), [(7, "lead-2".into())]);
    // A task that is cancelled leaves the approval to the next call.
    let task = begin(8).await;
    let state = until_task(address, "ada", &task, |state| waits(state).is_some()).await;
    modern(address, "ada", "tasks/cancel", json!({"taskId": task})).await;
    until_task(address, "ada", &task, |state| {
        state["status"] == "cancelled"
    })
    .await;
    let id = waits(&state).unwrap();
    desk.decide(&id, Decision::Allow, "lead-2").await.unwrap();
    assert!(desk.ran.take().is_empty());
    let task = begin(8).await;
    let state = until_task(address, "ada", &task, |state| state["status"] != "working").await;
    assert_eq!(text_of(&state["result"]), "disk 8 is wiped");
}

#[tokio::test]
async fn a_client_without_tasks_collects_by_the_same_call() {
    let desk = desk();
    let server = desk.server_of("ada").tasks(|_| TaskPolicy::Optional);
    let client = connect(server, Lifecycle::Legacy, TestClient::default()).await;
    let id = waits_for(&call(&client, "wipe", json!({"id": 7})).await);
    desk.decide(&id, Decision::Allow, "lead-2").await.unwrap();
    assert_eq!(
        text_of(&call(&client, "wipe", json!({"id": 7})).await),
        "disk 7 is wiped"
    );
}

#[tokio::test]
async fn a_held_call_says_so_if_nobody_can_approve_it() {
    for lifecycle in BOTH {
        let desk = desk();
        let undecided = Approvals::new(&desk.registry, desk.store.clone());
        for (approvals, missing) in [
            (None, "`Server::on_hold`"),
            (Some(undecided), "`Approvals::may_decide`"),
        ] {
            let server = Server::new(desk.registry.clone());
            let server = match approvals {
                Some(approvals) => server.on_hold(approvals),
                None => server,
            };
            let server = server.identity(|_, call| Ok(call.with(UserId::new("ada"))));
            let client = connect(server, lifecycle, TestClient::default()).await;
            nobody_approves(&call(&client, "wipe", json!({"id": 7})).await, missing);
        }
        assert!(desk.waiting().await.is_empty() && desk.ran.take().is_empty());
    }
}

mod pages {
    use tool_core::tool;

    /// The page of a disk, with the name of a tool.
    #[tool(unlinked, tags = ["page"])]
    pub(crate) fn wipe(id: u32) -> String {
        format!("how disk {id} is wiped")
    }

    /// A question, with the name of another tool.
    #[tool(unlinked, tags = ["page"])]
    pub(crate) fn wipe_how(id: u32) -> String {
        format!("How is disk {id} wiped?")
    }
}

#[tokio::test]
async fn a_resource_with_the_name_of_a_held_tool_is_decided_on_as_a_resource() {
    for lifecycle in BOTH {
        let desk = desk();
        let store = MemoryStore::default();
        // Leads decide on tools, and librarians on pages.
        let approvals = Approvals::new(&desk.registry, store.clone()).may_decide(async |request| {
            let tool = request.tool.expect("a function");
            let is_page = tool.tags().any(|tag| tag == "page");
            request.user == if is_page { "librarian" } else { "lead-3" }
        });
        let server = Server::new(desk.registry.clone())
            .on_hold(approvals.clone())
            .resource("disks://{id}", tools![pages::wipe])
            .prompt(tools![pages::wipe_how])
            .identity(|_, call| Ok(call.with(UserId::new("ada"))));
        let client = connect(server, lifecycle, TestClient::default()).await;
        let read = async || {
            let params = rmcp::model::ReadResourceRequestParams::new("disks://7");
            match in_time(client.read_resource(params)).await {
                Ok(result) => serde_json::to_value(result).unwrap(),
                Err(rmcp::ServiceError::McpError(error)) => serde_json::to_value(error).unwrap(),
                Err(error) => panic!("{error}"),
            }
        };
        let get = async || {
            let mut params = rmcp::model::GetPromptRequestParams::new("wipe_how");
            params.arguments = json!({"id": "7"}).as_object().cloned();
            match in_time(client.get_prompt(params)).await {
                Ok(result) => serde_json::to_value(result).unwrap(),
                Err(rmcp::ServiceError::McpError(error)) => serde_json::to_value(error).unwrap(),
                Err(error) => panic!("{error}"),
            }
        };
        let id_of = |reply: &Value| {
            let id = reply["data"]["tool-core/approval"].as_str();
            id.unwrap_or_else(|| panic!("{reply}")).to_owned()
        };
        let of_tool = waits_for(&call(&client, "wipe", json!({"id": 7})).await);
        let of_page = id_of(&read().await);
        let of_prompt = id_of(&get().await);
        let waiting = store.waiting(None, 100).await.unwrap();
        let mut tools: Vec<_> = waiting.into_iter().map(|waits| waits.tool).collect();
        tools.sort();
        assert_eq!(tools, ["prompt wipe_how", "resource wipe", "wipe"]);
        for (id, wrong) in [
            (&of_tool, "librarian"),
            (&of_page, "lead-3"),
            (&of_prompt, "lead-3"),
        ] {
            let denied = approvals.decide(id, Decision::Allow, wrong).await;
            assert!(matches!(denied, Err(InboxError::Denied(_))), "{denied:?}");
        }
        for id in [&of_page, &of_prompt] {
            approvals
                .decide(id, Decision::Allow, "librarian")
                .await
                .unwrap();
        }
        assert_eq!(read().await["contents"][0]["text"], "how disk 7 is wiped");
        assert_eq!(
            get().await["messages"][0]["content"]["text"],
            "How is disk 7 wiped?"
        );
        // The decision was on the page, and not on the tool of its name.
        assert_eq!(
            waits_for(&call(&client, "wipe", json!({"id": 7})).await),
            of_tool
        );
        approvals
            .decide(&of_tool, Decision::Allow, "lead-3")
            .await
            .unwrap();
        let result = call(&client, "wipe", json!({"id": 7})).await;
        assert_eq!(text_of(&result), "disk 7 is wiped");
        // Each decision is used up.
        assert_ne!(id_of(&read().await), of_page);
    }
}
