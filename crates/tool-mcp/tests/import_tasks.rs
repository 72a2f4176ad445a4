//! Calls that a server continues as tasks: its own, and those of servers that are old, broken or hostile.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::Notify;
use tokio::time::Instant;
use tool_core::call::elicit::{Elicit, ElicitError, Elicited};
use tool_core::call::{CancellationToken, Progress};
use tool_core::{CallContext, Registry, ToolCall, ToolResult, ToolType, tool, tools};
use tool_mcp::server::{ProtocolError, TaskLimits, TaskPolicy};
use tool_mcp::{Backoff, Import, ImportBuilder, Protocol, Server};

use self::support::{
    Answer, BOTH, Lifecycle, OnDrop, TestClient, connect, import_of, in_time, params, text,
};

#[derive(Clone, Default)]
struct Notes {
    starts: Arc<AtomicUsize>,
    waits: Arc<Notify>,
    dropped: Arc<Notify>,
}

/// A seat.
#[derive(ToolType)]
struct Seat {
    row: u8,
}

/// Books a seat.
#[tool]
async fn book(#[param(context)] notes: &Notes, call: &CallContext) -> Result<String, ElicitError> {
    notes.starts.fetch_add(1, Ordering::Relaxed);
    let seat = call.elicit("seat", Elicit::<Seat>::form("Which row?"));
    let Elicited::Accepted(seat) = seat.await? else {
        return Ok("no seat".into());
    };
    let paid = call.elicit("pay", Elicit::confirm("Pay 9 €?")).await?;
    Ok(format!("row {}: {}", seat.row, paid.accepted().is_some()))
}

/// Sums numbers.
#[tool]
async fn sum(numbers: Vec<i64>, call: &CallContext) -> i64 {
    call.report(&Progress::new(1.0).message("adding"));
    // Longer than a client waits before it looks again.
    tokio::time::sleep(Duration::from_secs(5)).await;
    numbers.iter().sum()
}

/// Finds nothing.
#[tool]
fn find() -> Result<String, String> {
    Err("there is no such seat".into())
}

/// Breaks.
#[tool]
fn break_down() -> Result<String, ProtocolError> {
    Err(ProtocolError::new(-32050, "the theatre is on fire"))
}

/// Waits until it is cancelled.
#[tool]
async fn wait(#[param(context)] notes: &Notes) -> String {
    let _guard = OnDrop(notes.dropped.clone());
    notes.waits.notify_one();
    std::future::pending().await
}

const PROTOCOLS: [Protocol; 2] = [Protocol::V2025_11_25, Protocol::V2026_07_28];

/// Imports from a server whose calls are all tasks.
fn theatre(notes: &Notes, protocol: Protocol) -> ImportBuilder {
    let tools = Registry::builder()
        .tools(tools![book, sum, find, break_down, wait])
        .context(notes.clone())
        .build()
        .unwrap();
    let import = import_of(move || {
        let mut limits = TaskLimits::default();
        limits.runs_for = Duration::from_secs(100_000);
        Server::new(tools.clone())
            .tasks(|_| TaskPolicy::Required)
            .task_limits(limits)
    });
    import.name("seats").protocol(protocol)
}

async fn run(registry: &Registry, name: &str, arguments: Value) -> ToolResult {
    let call = ToolCall::new("call_1", name, arguments);
    // Of a clock that is paused: hours.
    let call = tokio::time::timeout(Duration::from_secs(20_000), registry.call(call));
    call.await.expect("the call ends")
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_server_becomes_the_result_of_its_call() {
    for protocol in PROTOCOLS {
        let registry = Registry::new();
        let import = theatre(&Notes::default(), protocol).connect(&registry);
        let _import = import.await.unwrap();
        let messages = Arc::new(Mutex::new(Vec::new()));
        let noted = messages.clone();
        let call = ToolCall::new("call_1", "sum", json!({"numbers": [20, 22]}));
        let call = call.on_progress(move |progress| {
            noted.lock().unwrap().extend(progress.message.clone());
        });
        assert_eq!(registry.call(call).await.content(), "42");
        assert_eq!(*messages.lock().unwrap(), ["adding"]);
        let result = run(&registry, "find", json!({})).await;
        assert!(result.is_error());
        assert!(result.content().contains("there is no such seat"));
        let result = run(&registry, "break_down", json!({})).await;
        let text = result.content();
        assert!(
            text.contains("the theatre is on fire (-32050)") && !text.contains("may have had"),
            "{text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_questions_of_a_task_go_to_the_handler_of_the_import() {
    for protocol in PROTOCOLS {
        let notes = Notes::default();
        let registry = Registry::new();
        let import = theatre(&notes, protocol).on_elicit(async |question| {
            assert_eq!(question.call.unwrap().call_id(), "call_1");
            // Longer than a call or a task may take.
            tokio::time::sleep(Duration::from_secs(7200)).await;
            match &*question.request.message {
                "Which row?" => Elicited::Accepted(json!({"row": 4})),
                _ => Elicited::Accepted(json!({})),
            }
        });
        let _import = import.connect(&registry).await.unwrap();
        let result = run(&registry, "book", json!({})).await;
        assert_eq!(result.content(), "row 4: true");
        assert_eq!(notes.starts.load(Ordering::Relaxed), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_cancels_its_task() {
    for protocol in PROTOCOLS {
        let notes = Notes::default();
        let registry = Registry::new();
        let _import = theatre(&notes, protocol).connect(&registry).await.unwrap();
        let token = CancellationToken::new();
        let call = ToolCall::new("call_1", "wait", "{}").cancel_with(&token);
        let calling = tokio::spawn(registry.call(call));
        in_time(notes.waits.notified()).await;
        // Until the import knows that the call is a task.
        tokio::time::sleep(Duration::from_secs(5)).await;
        token.cancel();
        in_time(notes.dropped.notified()).await;
        assert!(calling.await.unwrap().is_error());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_during_a_question_cancels_its_task() {
    let notes = Notes::default();
    let registry = Registry::new();
    let asked = Arc::new(Notify::new());
    let asking = asked.clone();
    let import = script({
        let methods = notes.dropped.clone();
        move |method, _| match method {
            "tools/call" => task_with(json!({})),
            "tasks/get" => asks(["name"]),
            "tasks/cancel" => {
                methods.notify_one();
                Ok(json!({}))
            }
            _ => unknown(),
        }
    });
    let import = import.on_elicit(move |_| {
        let asking = asking.clone();
        async move {
            asking.notify_one();
            std::future::pending().await
        }
    });
    let _import = import.connect(&registry).await.unwrap();
    let token = CancellationToken::new();
    let call = ToolCall::new("call_1", "work", "{}").cancel_with(&token);
    let calling = tokio::spawn(registry.call(call));
    in_time(asked.notified()).await;
    token.cancel();
    in_time(notes.dropped.notified()).await;
    assert!(calling.await.unwrap().is_error());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_too_long_is_cancelled() {
    for protocol in PROTOCOLS {
        let notes = Notes::default();
        let registry = Registry::new();
        let import = theatre(&notes, protocol).task_timeout(Duration::from_secs(600));
        let _import = import.connect(&registry).await.unwrap();
        let result = run(&registry, "wait", json!({})).await;
        let text = result.content();
        assert!(
            text.contains("a task, which did not end within 600s") && text.contains("may have had"),
            "{text}"
        );
        in_time(notes.dropped.notified()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_passes_questions_of_tasks_on_without_a_second_task() {
    for protocol in PROTOCOLS {
        for lifecycle in BOTH {
            let notes = Notes::default();
            let server = Server::new(Registry::new()).import("", theatre(&notes, protocol));
            let imports = server.imports();
            in_time(imports.all()[0].connected()).await.unwrap();
            let answers = [Answer::Accept(json!({"row": 4})), Answer::Accept(json!({}))];
            let client = TestClient::answering(answers);
            let running = connect(server, lifecycle, client.clone()).await;
            let what = format!("{protocol:?} {lifecycle:?}");
            assert_eq!(
                text(&running, "book", json!({})).await,
                "row 4: true",
                "{what}"
            );
            let questions = ["seats asks: Which row?", "seats asks: Pay 9 €?"];
            assert_eq!(client.questions(), questions, "{what}");
            assert_eq!(notes.starts.load(Ordering::Relaxed), 1, "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_of_a_gateway_cancels_the_task_behind_it() {
    for lifecycle in BOTH {
        let notes = Notes::default();
        let server =
            Server::new(Registry::new()).import("", theatre(&notes, Protocol::V2026_07_28));
        let imports = server.imports();
        in_time(imports.all()[0].connected()).await.unwrap();
        let running = connect(server, lifecycle, TestClient::default()).await;
        let request = rmcp::model::CallToolRequest::new(params("wait", json!({})));
        let options = rmcp::service::PeerRequestOptions::no_options();
        let handle = running
            .send_cancellable_request(request.into(), options)
            .await;
        in_time(notes.waits.notified()).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        handle.unwrap().cancel(None).await.unwrap();
        in_time(notes.dropped.notified()).await;
    }
}

/// Before version 2026-07-28, the call goes on while its user is asked.
#[tokio::test(start_paused = true)]
async fn a_client_of_a_gateway_cancels_a_task_that_asks() {
    let cancelled = Arc::new(Notify::new());
    let noted = cancelled.clone();
    let import = script(move |method, _| match method {
        "tools/call" => task_with(json!({})),
        "tasks/get" => asks(["name"]),
        "tasks/cancel" => {
            noted.notify_one();
            Ok(json!({}))
        }
        _ => unknown(),
    });
    let server = Server::new(Registry::new()).import("", import);
    let imports = server.imports();
    in_time(imports.all()[0].connected()).await.unwrap();
    let client = TestClient::answering([Answer::Never]);
    let running = connect(server, Lifecycle::Legacy, client.clone()).await;
    let request = rmcp::model::CallToolRequest::new(params("work", json!({})));
    let options = rmcp::service::PeerRequestOptions::no_options();
    let handle = running
        .send_cancellable_request(request.into(), options)
        .await;
    in_time(client.asked.notified()).await;
    handle.unwrap().cancel(None).await.unwrap();
    in_time(cancelled.notified()).await;
}

#[tokio::test(start_paused = true)]
async fn a_question_of_a_task_without_a_user_is_declined() {
    let registry = Registry::new();
    let import = theatre(&Notes::default(), Protocol::V2026_07_28).connect(&registry);
    let _import = import.await.unwrap();
    let result = run(&registry, "book", json!({})).await;
    assert_eq!(result.content(), "no seat");
}

/// The result of a request, or its error.
type Reply = Result<Value, Value>;

/// Imports from a script in this process, with the tool `work`. A `null` closes the connection.
fn script(answer: impl Fn(&str, &Value) -> Reply + Clone + Send + Sync + 'static) -> ImportBuilder {
    Import::stream(move || {
        let answer = answer.clone();
        async move {
            let (near, far) = tokio::io::duplex(64 * 1024);
            tokio::spawn(async move {
                let (read, mut write) = tokio::io::split(far);
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let request: Value = serde_json::from_str(&line).unwrap();
                    let Some(id) = request.get("id") else {
                        continue;
                    };
                    let method = request["method"].as_str().unwrap();
                    let reply = match method {
                        "initialize" => Ok(json!({
                            "protocolVersion": "2025-11-25",
                            "capabilities": {"tools": {}},
                            "serverInfo": {"name": "script", "version": "1.2.3"},
                        })),
                        "tools/list" => Ok(json!({"tools": [
                            {"name": "work", "inputSchema": {"type": "object"}}
                        ]})),
                        method => answer(method, &request["params"]),
                    };
                    let reply = match reply {
                        Ok(Value::Null) => return,
                        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
                    };
                    if write
                        .write_all(format!("{reply}\n").as_bytes())
                        .await
                        .is_err()
                    {
                        return;
                    }
                }
            });
            Ok::<DuplexStream, _>(near)
        }
    })
    .name("script")
    .protocol(Protocol::V2025_11_25)
    .restart(Backoff::default().first(Duration::from_millis(5)))
}

/// A task in a state, with what else there is to say.
fn state(status: &str, more: Value) -> Reply {
    let mut state = json!({
        "resultType": "complete",
        "taskId": "7",
        "status": status,
        "createdAt": "2026-11-25T10:00:00Z",
        "lastUpdatedAt": "2026-11-25T10:00:00Z",
        "ttlMs": null,
    });
    let Value::Object(more) = more else { panic!() };
    state.as_object_mut().unwrap().extend(more);
    Ok(state)
}

fn task_with(more: Value) -> Reply {
    let mut task = state("working", more)?;
    task["resultType"] = "task".into();
    Ok(task)
}

fn completed(text: &str) -> Reply {
    let result = json!({"content": [{"type": "text", "text": text}]});
    state("completed", json!({ "result": result }))
}

fn asks<const N: usize>(keys: [&str; N]) -> Reply {
    let question = json!({
        "method": "elicitation/create",
        "params": {
            "message": "Who?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
        },
    });
    let requests = keys.iter().map(|key| ((*key).to_owned(), question.clone()));
    let requests: serde_json::Map<_, _> = requests.collect();
    state("input_required", json!({ "inputRequests": requests }))
}

fn unknown() -> Reply {
    Err(json!({"code": -32602, "message": "unknown task"}))
}

/// Answers a question, and counts it.
fn counting(import: ImportBuilder, count: &Arc<AtomicUsize>) -> ImportBuilder {
    let count = count.clone();
    import.on_elicit(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Elicited::Accepted(json!({"name": "Ada"})) }
    })
}

#[tokio::test(start_paused = true)]
async fn a_server_is_asked_as_often_as_it_wants_within_bounds() {
    const SECOND: u64 = 1000;
    for (first, then, expected) in [
        (
            json!(5 * SECOND),
            json!(7 * SECOND),
            [5 * SECOND, 7 * SECOND],
        ),
        // Not named.
        (Value::Null, Value::Null, [SECOND, SECOND]),
        // A flood, and never.
        (json!(0), json!(1), [100, 100]),
        (json!(u64::MAX), json!(u64::MAX), [60 * SECOND, 60 * SECOND]),
        (json!(-1), json!("soon"), [SECOND, SECOND]),
    ] {
        let times = Arc::new(Mutex::new(Vec::new()));
        let noted = times.clone();
        let import = script(move |method, _| {
            let mut times = noted.lock().unwrap();
            times.push(Instant::now());
            match (method, times.len()) {
                ("tools/call", _) => task_with(json!({ "pollIntervalMs": first })),
                ("tasks/get", 2) => state("working", json!({ "pollIntervalMs": then })),
                ("tasks/get", _) => completed("done"),
                _ => unknown(),
            }
        });
        let registry = Registry::new();
        let _import = import.connect(&registry).await.unwrap();
        assert_eq!(run(&registry, "work", json!({})).await.content(), "done");
        let times = times.lock().unwrap();
        let between: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (between, expected) in between.iter().zip(expected) {
            // The clock is paused: it moves by whole milliseconds.
            let expected = Duration::from_millis(expected);
            assert!(
                (expected..expected + Duration::from_millis(3)).contains(between),
                "{between:?} {expected:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_a_server_repeats_is_asked_once() {
    let gets = Arc::new(AtomicUsize::new(0));
    let import = script(move |method, params| match method {
        "tools/call" => task_with(json!({})),
        "tasks/get" => match gets.fetch_add(1, Ordering::Relaxed) {
            0..=2 => asks(["name"]),
            3..=5 => asks(["name", "other"]),
            _ => completed("done"),
        },
        "tasks/update" => {
            assert_eq!(params["taskId"], "7");
            let answers = params["inputResponses"].as_object().unwrap();
            assert_eq!(answers.len(), 1);
            for answer in answers.values() {
                assert_eq!(answer["content"]["name"], "Ada");
            }
            Ok(json!({}))
        }
        _ => unknown(),
    });
    let registry = Registry::new();
    let questions = Arc::default();
    let import = counting(import, &questions).connect(&registry).await;
    assert_eq!(run(&registry, "work", json!({})).await.content(), "done");
    assert_eq!(questions.load(Ordering::Relaxed), 2);
    drop(import);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_asks_without_end_is_cancelled() {
    let (gets, cancelled) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let noted = cancelled.clone();
    let import = script(move |method, _| match method {
        "tools/call" => task_with(json!({})),
        "tasks/get" => asks([&*gets.fetch_add(1, Ordering::Relaxed).to_string()]),
        "tasks/cancel" => {
            noted.notify_one();
            Ok(json!({}))
        }
        _ => Ok(json!({})),
    });
    let registry = Registry::new();
    let questions = Arc::default();
    let import = counting(import, &questions).connect(&registry).await;
    let result = run(&registry, "work", json!({})).await;
    assert!(
        result.content().contains("asked 10 times for input"),
        "{}",
        result.content()
    );
    assert_eq!(questions.load(Ordering::Relaxed), 10);
    in_time(cancelled.notified()).await;
    drop(import);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ends_without_a_result_is_an_error_that_says_so() {
    let sampling = json!({"a": {"method": "sampling/createMessage", "params": {}}});
    for (reply, expected) in [
        (
            unknown(),
            "can't be followed: the server rejected the request: unknown task",
        ),
        (state("cancelled", json!({})), "was cancelled by the server"),
        (
            state("failed", json!({"error": {"code": -1, "message": "no"}})),
            "no (-1)",
        ),
        (
            state("failed", json!({"error": "no"})),
            "failed without a reason",
        ),
        (state("completed", json!({})), "another result"),
        (completed(&"x".repeat(20_000)), "is too large"),
        (state("asleep", json!({})), "another result"),
        (Ok(json!({})), "another result"),
        (Ok(json!({"status": 7})), "another result"),
        (
            state("input_required", json!({ "inputRequests": sampling })),
            "only questions to the user are",
        ),
    ] {
        let gets = Arc::new(AtomicUsize::new(0));
        let noted = gets.clone();
        let import = script(move |method, _| match method {
            "tools/call" => task_with(json!({})),
            "tasks/get" => {
                noted.fetch_add(1, Ordering::Relaxed);
                reply.clone()
            }
            _ => unknown(),
        });
        let registry = Registry::new();
        let import = import.max_message_bytes(10_000).connect(&registry).await;
        let result = run(&registry, "work", json!({})).await;
        assert!(result.is_error());
        let text = result.content();
        assert!(text.contains(expected), "{text}: {expected}");
        // The answer would be the same again.
        assert_eq!(gets.load(Ordering::Relaxed), 1);
        drop(import);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_is_followed_after_its_connection_was_lost() {
    let gets = Arc::new(AtomicUsize::new(0));
    let calls = Arc::new(AtomicUsize::new(0));
    let noted = calls.clone();
    let import = script(move |method, _| match method {
        "tools/call" => {
            noted.fetch_add(1, Ordering::Relaxed);
            task_with(json!({}))
        }
        "tasks/get" => match gets.fetch_add(1, Ordering::Relaxed) {
            // The connection closes.
            1 | 2 => Ok(Value::Null),
            3 => completed("done"),
            _ => state("working", json!({})),
        },
        _ => unknown(),
    });
    let registry = Registry::new();
    let _import = import.connect(&registry).await.unwrap();
    assert_eq!(run(&registry, "work", json!({})).await.content(), "done");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_for_a_task_is_given_up() {
    let gets = Arc::new(AtomicUsize::new(0));
    let noted = gets.clone();
    let import = script(move |method, _| match method {
        "tools/call" => task_with(json!({})),
        _ => {
            noted.fetch_add(1, Ordering::Relaxed);
            Ok(Value::Null)
        }
    });
    let registry = Registry::new();
    let _import = import.connect(&registry).await.unwrap();
    let result = run(&registry, "work", json!({})).await;
    let text = result.content();
    assert!(
        text.contains("can't be followed") && text.contains("may have had an effect"),
        "{text}"
    );
    assert!(gets.load(Ordering::Relaxed) < 10);
}
