//! Servers that share a store: what one of them starts, another one answers for.
#![cfg(all(feature = "server-http", feature = "sqlite"))]
// Clients before version 2026-07-28 subscribe by requests that are deprecated.
#![allow(deprecated)]

#[path = "support/raw.rs"]
mod raw;
mod support;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

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
use tool_core::{CallContext, Registry, tool, tools};
use tool_mcp::Server;
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

#[tokio::test]
async fn a_process_that_is_killed_leaves_no_task_that_runs_for_ever() {
    if let Some(path) = std::env::var_os(DATABASE) {
        // The process that is killed.
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("address {}", listener.local_addr().unwrap());
        let server = server(open(Path::new(&path)), &Arc::default());
        server.serve(listener, stateless()).await.unwrap();
        return;
    }
    let folder = Folder::new("killed");
    let here = start(server(folder.open(), &Arc::default()), stateless()).await;
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture"])
        .arg("a_process_that_is_killed_leaves_no_task_that_runs_for_ever")
        .env(DATABASE, folder.0.join("tasks.sqlite"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
    let address = lines.find_map(|line| {
        let line = line.unwrap();
        let (_, address) = line.split_once("address ")?;
        Some(address.parse().unwrap())
    });
    let there = address.expect("an address");

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

    other.kill().unwrap();
    other.wait().unwrap();
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
