//! Servers that share a store: what one of them starts, another one answers for.
#![cfg(all(feature = "server-http", feature = "sqlite"))]
// Clients before version 2026-07-28 subscribe by requests that are deprecated.
#![allow(deprecated)]

#[path = "support/raw.rs"]
mod raw;
mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use raw::{modern, start, stateless};
use rmcp::model::{
    CallToolResponse, CancelTaskParams, GetTaskParams, SubscribeRequestParams, SubscriptionFilter,
    TaskPayload, TaskStatus, UpdateTaskParams,
};
use serde_json::{Value, json};
use support::{BOTH, Lifecycle, OnDrop, Running, TestClient, connect, in_time, params};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tool_core::call::elicit::{Elicit, ElicitError};
use tool_core::hooks::{Decision, Gate, Inbox};
use tool_core::{CallContext, Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::approvals::Approvals;
use tool_mcp::server::store::{MemoryStore, SqliteStore, Store};
use tool_mcp::server::{Changes, TaskPolicy, UserId};

/// Asks for a colour.
#[tool(unlinked)]
async fn paint(call: &CallContext) -> Result<String, ElicitError> {
    let answer = call.elicit("go", Elicit::confirm("Paint?")).await?;
    Ok(format!("{answer:?}"))
}

/// Never ends.
#[tool(unlinked)]
async fn hang(#[param(context)] dropped: &Arc<Notify>) {
    let _guard = OnDrop(dropped.clone());
    std::future::pending::<()>().await;
}

/// A note.
#[tool(unlinked)]
fn note(id: u64) -> String {
    id.to_string()
}

/// A server with a state of its own, but for the store.
fn server(store: impl Store, dropped: &Arc<Notify>) -> Server {
    let registry = Registry::builder().tools(tools![paint, hang]);
    let registry = registry.context(dropped.clone()).build().unwrap();
    Server::new(registry)
        .tasks(|_| TaskPolicy::Required)
        .store(store)
}

/// A folder of its own, which is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let name = format!("tool-mcp-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn open(&self) -> SqliteStore {
        open(&self.0.join("tasks.sqlite"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open_with_lease(path, Duration::from_secs(3)).unwrap()
}

/// Two views of each store, as two processes have them.
fn stores(folder: &Folder) -> [[Arc<dyn Store>; 2]; 2] {
    let memory = MemoryStore::default();
    [
        [Arc::new(memory.clone()), Arc::new(memory)],
        [Arc::new(folder.open()), Arc::new(folder.open())],
    ]
}

async fn begin(client: &Running, tool: &'static str) -> String {
    match in_time(client.call_tool_once(params(tool, json!({})))).await {
        Ok(CallToolResponse::Task(created)) => created.task.task_id,
        other => panic!("{other:?}"),
    }
}

/// Polls a task until it has this status.
async fn wait(client: &Running, id: &str, status: TaskStatus) -> TaskPayload {
    in_time(async {
        loop {
            let task = client.get_task(GetTaskParams::new(id)).await.unwrap().task;
            if task.status() == status {
                return task.payload;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_task_is_polled_answered_read_and_cancelled_at_another_server() {
    let folder = Folder::new("tasks");
    for [here, there] in stores(&folder) {
        for lifecycle in BOTH {
            let dropped = Arc::new(Notify::new());
            let here = connect(
                server(here.clone(), &dropped),
                lifecycle,
                TestClient::with_tasks(),
            )
            .await;
            let nowhere = Arc::new(Notify::new());
            let there = connect(
                server(there.clone(), &nowhere),
                lifecycle,
                TestClient::with_tasks(),
            )
            .await;

            let id = begin(&here, "paint").await;
            let payload = wait(&there, &id, TaskStatus::InputRequired).await;
            let TaskPayload::InputRequired { input_requests } = payload else {
                panic!("{payload:?}")
            };
            assert_eq!(input_requests.keys().collect::<Vec<_>>(), ["go"]);
            let answers = json!({"go": {"action": "decline"}, "stay": {"action": "accept"}});
            let answers = serde_json::from_value(answers).unwrap();
            in_time(there.update_task(UpdateTaskParams::new(&*id, answers)))
                .await
                .unwrap();
            for client in [&there, &here] {
                let payload = wait(client, &id, TaskStatus::Completed).await;
                let TaskPayload::Completed { result } = payload else {
                    panic!("{payload:?}")
                };
                assert_eq!(result["content"][0]["text"], "Declined");
            }

            let id = begin(&here, "hang").await;
            wait(&there, &id, TaskStatus::Working).await;
            in_time(there.cancel_task(CancelTaskParams::new(&*id)))
                .await
                .unwrap();
            // The call itself ends, where it runs.
            in_time(dropped.notified()).await;
            wait(&there, &id, TaskStatus::Cancelled).await;
        }
    }
}

#[tokio::test]
async fn a_task_belongs_to_its_user_at_each_server() {
    let folder = Folder::new("users");
    for [here, there] in stores(&folder) {
        let dropped = Arc::new(Notify::new());
        let of_users = |store: Arc<dyn Store>| {
            server(store, &dropped).identity(|request, call| {
                let token = request.bearer().ok_or("a token is missing")?;
                Ok(call.with(UserId::new(token)))
            })
        };
        let here = start(of_users(here), stateless()).await;
        let there = start(of_users(there), stateless()).await;
        let call = json!({"name": "hang", "arguments": {}});
        let created = modern(here, "ada", "tools/call", call).await.message();
        let id = created["result"]["taskId"].clone();
        assert!(id.is_string(), "{created}");
        let task = json!({"taskId": id});
        let answers = json!({"taskId": id, "inputResponses": {}});
        for (method, params) in [
            ("tasks/get", &task),
            ("tasks/cancel", &task),
            ("tasks/update", &answers),
        ] {
            for server in [here, there] {
                let reply = modern(server, "bob", method, params.clone()).await;
                let error = &reply.message()["error"];
                assert_eq!(error["message"], "unknown task", "{method}");
            }
        }
        let reply = modern(there, "ada", "tasks/get", task.clone()).await;
        assert_eq!(reply.message()["result"]["status"], "working");
        let reply = modern(there, "ada", "tasks/cancel", task.clone()).await;
        assert!(reply.message()["result"].is_object(), "{reply:?}");
        in_time(dropped.notified()).await;
    }
}

#[tokio::test]
async fn a_change_that_one_server_raises_reaches_the_clients_of_another() {
    let folder = Folder::new("changes");
    for [here, there] in stores(&folder) {
        for lifecycle in BOTH {
            let dropped = Arc::new(Notify::new());
            let (raised, other) = (Changes::new(), Changes::new());
            let of = |store: Arc<dyn Store>, changes: &Changes| {
                let server = server(store, &dropped).resource("notes://{id}", tools![note]);
                server.changes(changes)
            };
            let here = connect(
                of(here.clone(), &raised),
                lifecycle,
                TestClient::with_tasks(),
            )
            .await;
            let there = connect(
                of(there.clone(), &other),
                lifecycle,
                TestClient::with_tasks(),
            )
            .await;
            let tell = || {
                raised.resource_updated("notes://8");
                raised.resource_updated("notes://7");
                raised.resources_changed();
                raised.prompts_changed();
            };
            if lifecycle == Lifecycle::Legacy {
                for client in [&here, &there] {
                    in_time(client.subscribe(SubscribeRequestParams::new("notes://7")))
                        .await
                        .unwrap();
                }
                tell();
                for client in [&here, &there] {
                    for what in ["notes://7", "resources", "prompts"] {
                        client.service().noticed(what).await;
                    }
                    let notices = client.service().notices.lock().unwrap().clone();
                    assert!(!notices.contains(&"notes://8".to_owned()), "{notices:?}");
                }
                continue;
            }
            let filter = SubscriptionFilter::builder().resource_subscriptions(["notes://7"]);
            let mut subscription = in_time(there.listen(filter.build())).await.unwrap();
            // The handler of the subscription starts after its acknowledgement.
            let notice = in_time(async {
                loop {
                    tell();
                    let next = tokio::time::timeout(Duration::from_millis(50), subscription.next());
                    if let Ok(notice) = next.await {
                        return notice.unwrap().unwrap();
                    }
                }
            })
            .await;
            assert!(format!("{notice:?}").contains("notes://7"), "{notice:?}");
        }
    }
}

/// It has not announced that it notifies of changes.
#[tokio::test]
async fn a_server_without_changes_tells_its_clients_nothing_of_those_of_another() {
    let folder = Folder::new("quiet");
    for [here, there] in stores(&folder) {
        let (dropped, raised) = (Arc::new(Notify::new()), Changes::new());
        let told = server(here, &dropped).changes(&raised);
        let told = connect(told, Lifecycle::Legacy, TestClient::with_tasks()).await;
        let quiet = server(there.clone(), &dropped);
        let quiet = connect(quiet, Lifecycle::Legacy, TestClient::with_tasks()).await;
        let arrived = Arc::new(Notify::new());
        let notified = arrived.clone();
        there.listen(Box::new(move |_| {
            notified.notify_one();
            true
        }));
        raised.prompts_changed();
        told.service().noticed("prompts").await;
        in_time(arrived.notified()).await;
        // What was sent before has arrived with the answer.
        in_time(quiet.list_tools(None)).await.unwrap();
        let notices = quiet.service().notices.lock().unwrap().clone();
        assert!(notices.is_empty(), "{notices:?}");
    }
}

/// The variable with the path of the database, for the process that is killed.
const DATABASE: &str = "TOOL_MCP_TEST_DATABASE";

/// A process that serves in a test of this name, and is killed in the end.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(test: &str, folder: &Folder) -> Process {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", test])
            .env(DATABASE, folder.0.join("tasks.sqlite"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("address ")?;
            Some(address.parse().unwrap())
        });
        let address = address.expect("an address");
        Process { child, address }
    }

    /// Serves if this is the process.
    async fn serve(server: impl FnOnce(SqliteStore, &Path) -> Server) -> bool {
        let Some(path) = std::env::var_os(DATABASE) else {
            return false;
        };
        let path = Path::new(&path);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("address {}", listener.local_addr().unwrap());
        let server = server(open(path), path.parent().unwrap());
        server.serve(listener, stateless()).await.unwrap();
        true
    }

    /// Kills it as `kill -9` does.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

#[tokio::test]
async fn a_process_that_is_killed_leaves_no_task_that_runs_for_ever() {
    if Process::serve(|store, _| server(store, &Arc::default())).await {
        return;
    }
    let folder = Folder::new("killed");
    let here = start(server(folder.open(), &Arc::default()), stateless()).await;
    let test = "a_process_that_is_killed_leaves_no_task_that_runs_for_ever";
    let mut other = Process::start(test, &folder);
    let there = other.address;

    let begin = async |server, tool: &str| -> Value {
        let call = json!({"name": tool, "arguments": {}});
        let created = modern(server, "ada", "tools/call", call).await.message();
        json!({"taskId": created["result"]["taskId"]})
    };
    let read = async |task: &Value| {
        let reply = modern(here, "ada", "tasks/get", task.clone()).await;
        reply.message()["result"].clone()
    };
    let wait = async |task: &Value, status: &str| {
        in_time(async {
            loop {
                let task = read(task).await;
                if task["status"] == status {
                    return task;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
    };
    let own = begin(here, "hang").await;
    let ended = begin(there, "paint").await;
    wait(&ended, "input_required").await;
    let mut answers = ended.clone();
    answers["inputResponses"] = json!({"go": {"action": "decline"}});
    modern(here, "ada", "tasks/update", answers).await;
    wait(&ended, "completed").await;
    let (hangs, asks) = (begin(there, "hang").await, begin(there, "paint").await);
    wait(&asks, "input_required").await;
    wait(&hangs, "working").await;

    other.kill();
    for task in [&hangs, &asks] {
        let task = wait(task, "failed").await;
        let message = task["error"]["message"].as_str().unwrap();
        assert!(message.contains("has ended"), "{message}");
    }
    // What had ended is kept, and the tasks of others go on.
    let result = read(&ended).await["result"].clone();
    assert_eq!(result["content"][0]["text"], "Declined");
    assert_eq!(read(&own).await["status"], "working");
}

/// The file of refunds.
struct Refunds(PathBuf);

/// Refunds an order, which a file notes.
#[tool(unlinked)]
fn refund(order: u32, #[param(context)] refunds: &Refunds) -> String {
    let mut options = std::fs::OpenOptions::new();
    let file = options.create(true).append(true).open(&refunds.0);
    let mut file = file.unwrap();
    // One write, so that no other process is between.
    file.write_all(format!("{order}\n").as_bytes()).unwrap();
    format!("refunded {order}")
}

/// Leads decide on refunds.
fn shop(store: impl Store + Clone, folder: &Path) -> (Server, Approvals) {
    let registry = Registry::builder()
        .tools(tools![refund])
        .context(Refunds(folder.join("refunds")))
        .before(async |_| Gate::hold("it costs money"))
        .build()
        .unwrap();
    let approvals = Approvals::new(&registry, store.clone())
        .may_decide(async |request| request.user.starts_with("lead-"));
    let server = Server::new(registry)
        .store(store)
        .on_hold(approvals.clone())
        .identity(|request, call| {
            let token = request.bearer().ok_or("a token is missing")?;
            Ok(call.with(UserId::new(token)))
        });
    (server, approvals)
}

/// The key of all servers that share a store.
const KEY: [u8; 32] = [7; 32];

async fn ask(address: SocketAddr, order: u32) -> Value {
    let call = json!({"name": "refund", "arguments": {"order": order}});
    let reply = modern(address, "ada", "tools/call", call).await;
    reply.message()["result"].clone()
}

fn approval_in(result: &Value) -> String {
    let id = result["_meta"]["tool-core/approval"].as_str();
    id.unwrap_or_else(|| panic!("{result}")).to_owned()
}

#[tokio::test]
async fn a_held_call_and_its_decision_outlive_the_processes_that_are_killed() {
    let serve = |store: SqliteStore, folder: &Path| shop(store, folder).0.state_key(KEY);
    if Process::serve(serve).await {
        return;
    }
    let test = "a_held_call_and_its_decision_outlive_the_processes_that_are_killed";
    let folder = Folder::new("held");
    let start = || Process::start(test, &folder);
    let id = approval_in(&ask(start().address, 7).await);
    // That process was killed. Another one lists the call, and a third one still finds it.
    let (_, approvals) = shop(folder.open(), &folder.0);
    let waiting = approvals.waiting("lead-3", 100).await.unwrap();
    let [held] = &waiting[..] else {
        panic!("{waiting:?}")
    };
    assert_eq!((&held.id, held.owner.as_deref()), (&id, Some("ada")));
    assert_eq!(held.arguments, r#"{"order":7}"#);
    assert!(approvals.waiting("ada", 100).await.unwrap().is_empty());
    assert_eq!(approval_in(&ask(start().address, 7).await), id);

    // Killed after the decision, too.
    let third = start();
    approvals
        .decide(&id, Decision::Allow, "lead-3")
        .await
        .unwrap();
    drop(third);
    let (fourth, fifth) = (start(), start());
    let refunds = || std::fs::read_to_string(folder.0.join("refunds")).unwrap_or_default();
    assert_eq!(refunds(), "");
    // Two processes try at once, and one runs it.
    let both = tokio::join!(ask(fourth.address, 7), ask(fifth.address, 7));
    let texts = [&both.0, &both.1].map(|result| &result["content"][0]["text"]);
    let ran = texts.iter().filter(|text| **text == "refunded 7").count();
    assert_eq!((ran, &*refunds()), (1, "7\n"), "{texts:?}");
    assert_ne!(approval_in(&ask(fourth.address, 7).await), id);
    assert_eq!(refunds(), "7\n");
}

#[tokio::test]
async fn of_two_servers_that_try_at_once_one_runs_a_held_call() {
    let folder = Folder::new("once");
    for [here, there] in stores(&folder) {
        let (first, approvals) = shop(here, &folder.0);
        let (second, _) = shop(there, &folder.0);
        let first = start(first.state_key(KEY), stateless()).await;
        let second = start(second.state_key(KEY), stateless()).await;
        for order in 0..20 {
            let id = approval_in(&ask(first, order).await);
            assert_eq!(approval_in(&ask(second, order).await), id);
            approvals
                .decide(&id, Decision::Allow, "lead-3")
                .await
                .unwrap();
            let both = tokio::join!(ask(first, order), ask(second, order));
            let ran = [both.0, both.1].map(|result| result["isError"] != true);
            assert_ne!(ran[0], ran[1], "{ran:?}");
        }
    }
}

#[tokio::test]
async fn a_server_with_another_key_finds_no_held_call_of_an_earlier_one() {
    let folder = Folder::new("keys");
    let held = async |key: Option<[u8; 32]>| {
        let (server, _) = shop(folder.open(), &folder.0);
        let server = match key {
            Some(key) => server.state_key(key),
            None => server,
        };
        approval_in(&ask(start(server, stateless()).await, 7).await)
    };
    let id = held(Some(KEY)).await;
    assert_eq!(held(Some(KEY)).await, id);
    for other in [None, None, Some([8; 32])] {
        assert_ne!(held(other).await, id);
    }
}

#[tokio::test]
async fn a_task_waits_for_a_decision_at_another_server() {
    let folder = Folder::new("waiting");
    for [here, there] in stores(&folder) {
        let (server, _) = shop(here, &folder.0);
        let server = server.tasks(|_| TaskPolicy::Required);
        let here = start(server, stateless()).await;
        let (_, approvals) = shop(there, &folder.0);
        let mut changes = approvals.changes();
        let task = json!({"taskId": ask(here, 7).await["taskId"]});
        let approval = in_time(async {
            loop {
                changes.next().await.unwrap();
                if let Some(approval) = approvals.waiting("lead-3", 1).await.unwrap().pop() {
                    return approval;
                }
            }
        })
        .await;
        approvals
            .decide(&approval.id, Decision::Allow, "lead-3")
            .await
            .unwrap();
        let text = in_time(async {
            loop {
                let reply = modern(here, "ada", "tasks/get", task.clone())
                    .await
                    .message();
                if reply["result"]["status"] == "completed" {
                    return reply["result"]["result"]["content"][0]["text"].clone();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        assert_eq!(text, "refunded 7");
    }
}
