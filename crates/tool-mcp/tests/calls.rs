//! Progress, cancellation, identities, tasks and handlers of others.

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rmcp::model::{
    CallToolResponse, CancelTaskParams, GetTaskParams, InitializeResult, InputRequiredResult,
    ListResourcesResult, PaginatedRequestParams, ServerCapabilities, TaskPayload, TaskStatus,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ClientServiceExt, ServerHandler, ServiceError};
use serde_json::json;
use support::{BOTH, Lifecycle, Running, TestClient, call, connect, in_time, params, text};
use tokio::sync::Notify;
use tool_core::call::Progress;
use tool_core::call::elicit::{Elicit, ElicitError};
use tool_core::{CallContext, Registry, tool, tools};
use tool_mcp::Server;
use tool_mcp::server::{TaskPolicy, UserId};

/// Reports progress.
#[tool]
async fn count(to: u32, call: &CallContext) -> u32 {
    for done in 1..=to {
        call.report(&Progress::of(done.into(), to.into()).message("counting"));
        // Neither of these increases.
        call.report(&Progress::new(0.5));
        call.report(&Progress::new(f64::NAN));
        if done % 3 == 0 {
            tokio::task::yield_now().await;
        }
    }
    to
}

#[derive(Default)]
struct Signals {
    started: Notify,
    dropped: Notify,
}

struct OnDrop(Arc<Signals>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

/// Never ends.
#[tool]
async fn hang(#[param(context)] signals: &Arc<Signals>) {
    let _guard = OnDrop(signals.clone());
    signals.started.notify_one();
    std::future::pending::<()>().await;
}

/// Says who calls.
#[tool]
fn whoami(#[param(context)] user: &UserId) -> String {
    user.as_str().into()
}

/// Asks for a colour.
#[tool]
async fn paint(call: &CallContext) -> Result<String, ElicitError> {
    let answer = call.elicit("go", Elicit::confirm("Paint?")).await?;
    Ok(format!("{answer:?}"))
}

fn registry() -> (Registry, Arc<Signals>) {
    let signals = Arc::new(Signals::default());
    let registry = Registry::builder()
        .tools(tools![count, hang, whoami, paint])
        .context(signals.clone())
        .context(UserId::new("nobody"))
        .build()
        .unwrap();
    (registry, signals)
}

#[tokio::test]
async fn all_progress_arrives_before_the_result() {
    for lifecycle in BOTH {
        let handler = TestClient::default();
        let client = connect(Server::new(registry().0), lifecycle, handler.clone()).await;
        for to in [1, 5, 200] {
            handler.progress.lock().unwrap().clear();
            assert_eq!(
                text(&client, "count", json!({"to": to})).await,
                to.to_string()
            );
            // The handler of the client runs in tasks of its own.
            for _ in 0..1000 {
                tokio::task::yield_now().await;
            }
            let mut seen = handler.progress.lock().unwrap().clone();
            seen.sort_by(f64::total_cmp);
            let expected: Vec<_> = (1..=to).map(f64::from).collect();
            assert_eq!(seen, expected);
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_drops_its_tool() {
    for lifecycle in BOTH {
        let (registry, signals) = registry();
        let client = connect(Server::new(registry), lifecycle, TestClient::default()).await;
        let request = rmcp::model::CallToolRequest::new(params("hang", json!({})));
        let options = rmcp::service::PeerRequestOptions::no_options();
        let handle = client
            .send_cancellable_request(request.into(), options)
            .await;
        in_time(signals.started.notified()).await;
        handle.unwrap().cancel(None).await.unwrap();
        in_time(signals.dropped.notified()).await;
        assert_eq!(text(&client, "count", json!({"to": 1})).await, "1");
    }
}

/// Results may still be read after the end of the input, for some seconds: the clock is paused.
#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_cancels_its_calls() {
    for lifecycle in BOTH {
        let (registry, signals) = registry();
        let client = connect(Server::new(registry), lifecycle, TestClient::default()).await;
        let request = rmcp::model::CallToolRequest::new(params("hang", json!({})));
        let options = rmcp::service::PeerRequestOptions::no_options();
        let handle = client
            .send_cancellable_request(request.into(), options)
            .await;
        in_time(signals.started.notified()).await;
        drop(handle);
        client.cancel().await.unwrap();
        in_time(signals.dropped.notified()).await;
    }
}

#[tokio::test]
async fn an_identity_attaches_values_or_refuses() {
    let allowed = Arc::new(Mutex::new(true));
    for lifecycle in BOTH {
        let gate = allowed.clone();
        let server = Server::new(registry().0).identity(move |request, call| {
            assert!(!request.is_http());
            let (name, _) = request.client().ok_or("no client")?;
            if !*gate.lock().unwrap() {
                return Err("go away".into());
            }
            Ok(call.with(UserId::new(name)))
        });
        *allowed.lock().unwrap() = true;
        let client = connect(server, lifecycle, TestClient::default()).await;
        assert_eq!(text(&client, "whoami", json!({})).await, "tests");
        *allowed.lock().unwrap() = false;
        let error = &call(&client, "whoami", json!({})).await["error"];
        assert_eq!(error["message"], "go away");
    }
}

/// Whoever is refused gets nothing at all, over streams as over HTTP.
#[tokio::test]
async fn an_identity_that_refuses_starts_no_session() {
    for lifecycle in BOTH {
        let server = Server::new(registry().0).identity(|_, _| Err("go away".into()));
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(far);
        tokio::spawn(server.serve_stream(input, output));
        let client = TestClient::default().serve_with_lifecycle(near, lifecycle.mode());
        let error = in_time(client).await.err().expect("the session is refused");
        assert!(error.to_string().contains("go away"), "{error}");
    }
}

fn tasks(server: Server) -> Server {
    server.tasks(|tool| match &*tool.name {
        "count" => TaskPolicy::Required,
        "paint" | "hang" => TaskPolicy::Optional,
        _ => TaskPolicy::Never,
    })
}

async fn start(client: &Running, tool: &'static str, arguments: serde_json::Value) -> String {
    match client
        .call_tool_once(params(tool, arguments))
        .await
        .unwrap()
    {
        CallToolResponse::Task(created) => created.task.task_id,
        other => panic!("{other:?}"),
    }
}

/// Asks for a task until it has left this status.
async fn wait(client: &Running, id: &str, while_in: TaskStatus) -> TaskPayload {
    in_time(async {
        loop {
            let task = client.get_task(GetTaskParams::new(id)).await.unwrap().task;
            if task.status() != while_in {
                return task.payload;
            }
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    })
    .await
}

/// Counts in the background.
#[tool(background, unlinked)]
async fn count_slowly(to: u32) -> u32 {
    tokio::task::yield_now().await;
    to
}

#[tokio::test]
async fn a_call_in_the_background_is_a_task_of_clients_with_tasks() {
    for lifecycle in BOTH {
        let (registry, _) = registry();
        registry.add(tools![count_slowly]).unwrap();
        let client = connect(
            Server::new(registry.clone()),
            lifecycle,
            TestClient::with_tasks(),
        )
        .await;
        let id = start(&client, "count_slowly", json!({"to": 3})).await;
        let payload = wait(&client, &id, TaskStatus::Working).await;
        let TaskPayload::Completed { result } = payload else {
            panic!("{payload:?}")
        };
        assert_eq!(result["content"][0]["text"], "3");
        // Another tool is none.
        assert_eq!(text(&client, "whoami", json!({})).await, "nobody");
        let tools = client.list_all_tools().await.unwrap();
        assert!(tools.iter().all(|tool| tool.name != "wait_for_results"));

        let client = connect(
            Server::new(registry.clone()),
            lifecycle,
            TestClient::default(),
        )
        .await;
        assert_eq!(text(&client, "count_slowly", json!({"to": 3})).await, "3");

        // A policy of the server decides alone.
        let server = Server::new(registry).tasks(|_| TaskPolicy::Never);
        let client = connect(server, lifecycle, TestClient::with_tasks()).await;
        assert_eq!(text(&client, "count_slowly", json!({"to": 3})).await, "3");
    }
}

#[tokio::test]
async fn calls_are_tasks_as_the_policy_says() {
    for lifecycle in BOTH {
        let (registry, signals) = registry();
        let client = connect(
            tasks(Server::new(registry)),
            lifecycle,
            TestClient::with_tasks(),
        )
        .await;
        let id = start(&client, "count", json!({"to": 3})).await;
        let payload = wait(&client, &id, TaskStatus::Working).await;
        let TaskPayload::Completed { result } = payload else {
            panic!("{payload:?}")
        };
        assert_eq!(result["content"][0]["text"], "3");
        assert_eq!(text(&client, "whoami", json!({})).await, "nobody");

        // A task asks, and goes on with the answer.
        let id = start(&client, "paint", json!({})).await;
        let payload = wait(&client, &id, TaskStatus::Working).await;
        let TaskPayload::InputRequired { input_requests } = payload else {
            panic!("{payload:?}")
        };
        assert_eq!(input_requests.keys().collect::<Vec<_>>(), ["go"]);
        let answers = json!({"go": {"action": "decline"}});
        let answers = serde_json::from_value(answers).unwrap();
        client
            .update_task(UpdateTaskParams::new(&*id, answers))
            .await
            .unwrap();
        let mut payload = wait(&client, &id, TaskStatus::InputRequired).await;
        if payload == TaskPayload::Working {
            payload = wait(&client, &id, TaskStatus::Working).await;
        }
        let TaskPayload::Completed { result } = payload else {
            panic!("{payload:?}")
        };
        assert_eq!(result["content"][0]["text"], "Declined");

        let id = start(&client, "hang", json!({})).await;
        in_time(signals.started.notified()).await;
        client
            .cancel_task(CancelTaskParams::new(&*id))
            .await
            .unwrap();
        in_time(signals.dropped.notified()).await;
        assert_eq!(
            wait(&client, &id, TaskStatus::Working).await,
            TaskPayload::Cancelled
        );
    }
}

/// A server whose calls ask before they are tasks.
fn asks_first() -> Server {
    Server::new(registry().0).tasks(|_| TaskPolicy::AfterQuestions)
}

/// Calls a tool once, again if `asked` is what the server asked for.
async fn call_once(
    client: &Running,
    tool: &'static str,
    arguments: serde_json::Value,
    asked: Option<&InputRequiredResult>,
) -> Result<CallToolResponse, ServiceError> {
    let mut request = params(tool, arguments);
    if let Some(asked) = asked {
        let answers = json!({"go": {"action": "decline"}});
        request.input_responses = serde_json::from_value(answers).unwrap();
        request.request_state.clone_from(&asked.request_state);
    }
    in_time(client.call_tool_once(request)).await
}

#[tokio::test]
async fn a_call_that_asks_first_is_a_task_once_it_is_answered() {
    let client = connect(asks_first(), Lifecycle::Modern, TestClient::with_tasks()).await;
    let asked = match call_once(&client, "paint", json!({}), None).await {
        Ok(CallToolResponse::InputRequired(asked)) => asked,
        other => panic!("{other:?}"),
    };
    let task = match call_once(&client, "paint", json!({}), Some(&asked)).await {
        Ok(CallToolResponse::Task(created)) => created.task,
        other => panic!("{other:?}"),
    };
    // The answer is used: the task does not ask again.
    let payload = wait(&client, &task.task_id, TaskStatus::Working).await;
    let TaskPayload::Completed { result } = payload else {
        panic!("{payload:?}")
    };
    assert_eq!(result["content"][0]["text"], "Declined");
    // A state starts one task, for the call that it was made for.
    let again = call_once(&client, "paint", json!({}), Some(&asked)).await;
    assert!(again.is_err(), "{again:?}");
    let asked = match call_once(&client, "paint", json!({}), None).await {
        Ok(CallToolResponse::InputRequired(asked)) => asked,
        other => panic!("{other:?}"),
    };
    let other = call_once(&client, "count", json!({"to": 1}), Some(&asked)).await;
    assert!(other.is_err(), "{other:?}");
    // Without a question there is no task.
    assert_eq!(text(&client, "count", json!({"to": 1})).await, "1");
}

#[tokio::test]
async fn a_call_that_asks_first_ends_within_its_request_for_clients_without_tasks() {
    for (lifecycle, mut handler) in [
        (Lifecycle::Legacy, TestClient::with_tasks()),
        (Lifecycle::Legacy, TestClient::default()),
        (Lifecycle::Modern, TestClient::default()),
    ] {
        handler.answers = TestClient::answering([support::Answer::Decline]).answers;
        let client = connect(asks_first(), lifecycle, handler).await;
        assert_eq!(text(&client, "paint", json!({})).await, "Declined");
    }
}

#[tokio::test]
async fn a_client_without_tasks_gets_results_or_an_error() {
    for lifecycle in BOTH {
        let server = tasks(Server::new(registry().0));
        let handler = TestClient::answering([support::Answer::Decline]);
        let client = connect(server, lifecycle, handler).await;
        let error = &call(&client, "count", json!({"to": 3})).await["error"];
        assert_eq!(error["code"], -32021);
        assert_eq!(text(&client, "paint", json!({})).await, "Declined");
    }
}

#[tokio::test]
async fn a_task_is_unknown_to_other_users() {
    let user = Arc::new(Mutex::new("ada"));
    let current = user.clone();
    let server = tasks(Server::new(registry().0)).identity(move |_, call| {
        let user = *current.lock().unwrap();
        Ok(call.with(UserId::new(user)))
    });
    let client = connect(server, Lifecycle::Modern, TestClient::with_tasks()).await;
    let id = start(&client, "hang", json!({})).await;
    *user.lock().unwrap() = "bob";
    for error in [
        client.get_task(GetTaskParams::new(&*id)).await.unwrap_err(),
        client
            .cancel_task(CancelTaskParams::new(&*id))
            .await
            .unwrap_err(),
        client
            .update_task(UpdateTaskParams::new(&*id, BTreeMap::new()))
            .await
            .unwrap_err(),
    ] {
        assert!(error.to_string().contains("unknown task"), "{error}");
    }
    *user.lock().unwrap() = "ada";
    let task = client
        .get_task(GetTaskParams::new(&*id))
        .await
        .unwrap()
        .task;
    assert_eq!(task.status(), TaskStatus::Working);
}

/// A handler with resources.
struct Files;

impl ServerHandler for Files {
    fn get_info(&self) -> InitializeResult {
        InitializeResult::new(ServerCapabilities::builder().enable_resources().build())
            .with_instructions("Read the files.")
            .with_server_info(rmcp::model::Implementation::new("files", "2.0.0"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, rmcp::ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![
            rmcp::model::Resource::new("file:///a.txt", "a.txt"),
        ]))
    }
}

#[tokio::test]
async fn tools_join_a_handler_with_resources() {
    for lifecycle in BOTH {
        let server = Server::new(registry().0).with_handler(Files);
        let client = connect(server, lifecycle, TestClient::default()).await;
        let info = client.peer_info().unwrap();
        assert_eq!(info.server_info.as_ref().unwrap().name, "files");
        assert_eq!(info.instructions.as_deref(), Some("Read the files."));
        assert!(info.capabilities.tools.is_some() && info.capabilities.resources.is_some());
        assert_eq!(client.list_all_resources().await.unwrap().len(), 1);
        assert_eq!(client.list_all_tools().await.unwrap().len(), 4);
        assert_eq!(text(&client, "count", json!({"to": 1})).await, "1");
    }
}
