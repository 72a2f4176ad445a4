//! Helper models in child processes: this program again, in the test `child`, with a model that follows orders.

#![cfg(all(feature = "submodel", unix))]

use std::io::{BufRead, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;
use tool_agent::Agent;
use tool_agent::dialects::OpenAiChat;
use tool_agent::model::{ModelError, ModelErrorKind, Request};
use tool_core::call::{CancellationToken, Progress};
use tool_core::hooks::{Gate, HookCall};
use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
use tool_mcp::submodel::{self, Submodels};

#[path = "support/in_time.rs"]
mod in_time;

use in_time::{in_time, run};

/// Says what the child does.
const ROLE: &str = "SUBMODEL_ROLE";

// ---------------------------------------------------------------------------------------------------- child

/// Does nothing in a run of the tests.
#[test]
fn child() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    // Ends the line of the test.
    println!();
    match &*role {
        "parent" => runtime().block_on(parent()),
        "helper" => {
            assert!(submodel::is_helper());
            // A tool that blocks its thread blocks the runtime.
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(submodel::serve(agent())).unwrap();
        }
        "noisy" => {
            let mut out = std::io::stdout().lock();
            while out.write_all(&[b'x'; 4096]).is_ok() {}
        }
        "flood" | "garbage" | "huge" | "wrong" => answer_badly(&role),
        "silent" => std::thread::sleep(Duration::from_secs(1000)),
        _ => panic!("unknown role"),
    }
    // Without the rest of the output of the test.
    std::process::exit(0);
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// Answers calls with what is not an answer.
fn answer_badly(role: &str) {
    let mut stdout = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "bad", "version": "1"},
            }),
            Some("tools/call") if role == "huge" => {
                let text = "x".repeat(20 << 20);
                json!({"content": [], "structuredContent": {"answer": text}})
            }
            Some("tools/call") if role == "wrong" => {
                json!({"content": [], "structuredContent": {"answer": 5}})
            }
            Some("tools/call") if role == "flood" => {
                // Each line gets a response that nobody reads.
                while stdout.write_all(b"5\n").is_ok() {}
                return;
            }
            Some("tools/call") => {
                let pieces = [
                    "\u{1}\n",
                    "{\"jsonrpc\":\n",
                    "[[[[[\n",
                    "5\n",
                    "\u{fffd}\r\n\n",
                ];
                for _ in 0..100 {
                    for piece in pieces {
                        stdout.write_all(piece.as_bytes()).unwrap();
                    }
                }
                json!({"content": [], "structuredContent": {"answer": "after the garbage"}})
            }
            Some("ping") => json!({}),
            _ => continue,
        };
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        if writeln!(stdout, "{answer}")
            .and_then(|()| stdout.flush())
            .is_err()
        {
            return;
        }
    }
}

/// Connects to the test and waits until it answers.
fn meet(address: &str) -> String {
    let address: SocketAddr = address.parse().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(1) => "met".into(),
        end => format!("{end:?}"),
    }
}

/// Waits for the test, and closes the connection when it is cancelled.
#[tool]
async fn wait(address: String) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let mut byte = [0];
    let read = stream.read(&mut byte).await;
    format!("{read:?}")
}

/// Blocks its thread.
#[tool]
fn block(address: &str) -> String {
    meet(address)
}

/// Starts a process, which runs on, and returns its id.
#[tool]
fn start() -> u32 {
    let mut command = std::process::Command::new("sleep");
    command.arg("1000").stdin(Stdio::null());
    command.stdout(Stdio::null()).spawn().unwrap().id()
}

/// Needs approval.
#[tool]
fn delete_everything() -> String {
    "deleted".into()
}

fn agent() -> Agent {
    let registry = Registry::builder()
        .tools(tools![wait, block, start, delete_everything])
        .toolset("", submodels("helper").max_depth(5))
        .before(|held: HookCall| async move {
            if held.call.name == "delete_everything" {
                Gate::hold("it deletes everything")
            } else {
                Gate::Allow
            }
        })
        .build()
        .unwrap();
    Agent::new(registry, OpenAiChat::default(), model)
}

/// A model whose question is its order.
async fn model(request: Request) -> Result<Value, ModelError> {
    let last = request.messages.last().unwrap();
    let text = last["content"].as_str().unwrap().to_owned();
    let say =
        |text: String| json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
    let call = |name: &str, arguments: Value| {
        json!({"choices": [{"message": {"role": "assistant", "tool_calls": [{
            "id": "call_1", "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()},
        }]}}]})
    };
    if last["role"] == "tool" {
        return Ok(say(text));
    }
    let (order, rest) = text.split_once(' ').unwrap_or((&text, ""));
    let response = match order {
        "echo" => say(rest.to_owned()),
        "pid" => say(std::process::id().to_string()),
        "env" => {
            let mut names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
            names.sort();
            say(names.join(" "))
        }
        "memory" => {
            let questions = request
                .messages
                .iter()
                .filter(|message| message["role"] == "user");
            let texts: Vec<_> = questions
                .map(|message| message["content"].as_str().unwrap())
                .collect();
            say(texts.join(", "))
        }
        "repeat" => say("ä".repeat(rest.parse().unwrap())),
        "meet" => {
            let address = rest.to_owned();
            say(tokio::task::spawn_blocking(move || meet(&address))
                .await
                .unwrap())
        }
        "wait" | "block" => call(order, json!({ "address": rest })),
        "start" => call("start", json!({})),
        "delete" => call("delete_everything", json!({})),
        "die" => std::process::abort(),
        "fail" => return Err(ModelError::new(ModelErrorKind::Overloaded, "no capacity")),
        // Asks a helper with a name the rest.
        "below" => call(
            "submodel_batch",
            json!({"questions": [{"question": rest, "helper": "below"}]}),
        ),
        _ => panic!("unknown order {order}"),
    };
    Ok(response)
}

/// Starts helpers of helpers, prints their ids, and waits to be killed.
async fn parent() {
    let registry = Registry::builder()
        .toolset("", submodels("helper").max_depth(2))
        .build()
        .unwrap();
    let own = ask_one(&registry, "one", "pid").await;
    let stopped = ask_one(&registry, "two", "pid").await;
    let below = ask_one(&registry, "one", "below pid").await;
    let below: Value = serde_json::from_str(answer(&below)).unwrap();
    let started = ask_one(&registry, "three", "start").await;
    println!(
        "\nids {} {} {} {}",
        answer(&own),
        answer(&stopped),
        answer(&below[0]),
        answer(&started),
    );
    let busy = std::env::var("ADDRESS").unwrap();
    let question = json!({"question": format!("block {busy}"), "helper": "one"});
    batch(&registry, json!([question])).await;
}

// --------------------------------------------------------------------------------------------------- parent

/// The reason, which may be secret, is in the log.
const NOT_STARTED: &str = "the helper can't be started; the log says why";

fn submodels(role: &str) -> Submodels {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role);
    Submodels::new(command)
}

fn registry(helpers: Submodels) -> Registry {
    Registry::builder().toolset("", helpers).build().unwrap()
}

async fn batch(registry: &Registry, questions: Value) -> Vec<Value> {
    let result = run(
        registry,
        "submodel_batch",
        json!({ "questions": questions }),
    )
    .await;
    assert!(!result.is_error(), "{}", result.content());
    serde_json::from_str(result.content()).unwrap()
}

async fn ask_one(registry: &Registry, helper: &str, question: &str) -> Value {
    batch(registry, json!([{"question": question, "helper": helper}]))
        .await
        .remove(0)
}

#[track_caller]
fn answer(answer: &Value) -> &str {
    answer["answer"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

#[track_caller]
fn error(answer: &Value) -> &str {
    answer["error"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

async fn list(registry: &Registry) -> Value {
    serde_json::from_str(
        run(registry, "submodel_list", json!({"which": "all"}))
            .await
            .content(),
    )
    .unwrap()
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

fn signal(name: &str, id: &str) {
    let status = std::process::Command::new("kill")
        .args([name, id])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Waits until a process has ended. A zombie has.
async fn until_ended(id: &str) {
    let is_running = || {
        let state = std::process::Command::new("ps")
            .args(["-o", "stat=", "-p", id])
            .output()
            .unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        !state.trim().is_empty() && !state.trim_start().starts_with('Z')
    };
    in_time(async {
        while is_running() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

#[test]
fn no_tool_of_this_crate_is_linked() {
    assert_eq!(Registry::linked().unwrap().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_runs_in_parallel_and_its_answers_are_in_order() {
    let registry = registry(submodels("helper").concurrency(3));
    let (listener, address) = listener().await;
    let questions: Vec<_> = (0..3)
        .map(|_| json!({"question": format!("meet {address}")}))
        .chain((0..3).map(|number| json!({"question": format!("echo {number}")})))
        .collect();
    let asking = tokio::spawn({
        let registry = registry.clone();
        async move { batch(&registry, json!(questions)).await }
    });
    // None is answered before all have asked.
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(in_time(listener.accept()).await.unwrap().0);
    }
    for stream in waiting.iter_mut().rev() {
        stream.write_all(b"x").await.unwrap();
    }
    let answers = in_time(asking).await.unwrap();
    let texts: Vec<_> = answers.iter().map(answer).collect();
    assert_eq!(texts, ["met", "met", "met", "0", "1", "2"]);
    assert_eq!(list(&registry).await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_questions_run_at_one_time_than_the_limit() {
    let registry = registry(submodels("helper").concurrency(1));
    let (listener, address) = listener().await;
    let question = json!({"question": format!("meet {address}")});
    let asking = tokio::spawn({
        let registry = registry.clone();
        async move { batch(&registry, json!([question, question, question])).await }
    });
    for _ in 0..3 {
        let (mut stream, _) = in_time(listener.accept()).await.unwrap();
        let second = tokio::time::timeout(Duration::from_millis(300), listener.accept()).await;
        assert!(second.is_err(), "two questions run");
        stream.write_all(b"x").await.unwrap();
    }
    assert_eq!(in_time(asking).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_with_a_name_remembers_until_it_is_closed() {
    let registry = registry(submodels("helper"));
    let answers = batch(
        &registry,
        json!([
            {"question": "memory 1", "helper": "a"},
            {"question": "memory", "helper": "b"},
            {"question": "memory 2", "helper": "a"},
        ]),
    )
    .await;
    let texts: Vec<_> = answers.iter().map(answer).collect();
    assert_eq!(texts, ["memory 1", "memory", "memory 1, memory 2"]);
    let first = answer(&ask_one(&registry, "a", "pid").await).to_owned();
    assert_eq!(
        list(&registry).await,
        json!([
            {"helper": "a", "answered": 3, "state": "ready"},
            {"helper": "b", "answered": 1, "state": "ready"},
        ])
    );
    let closed = run(&registry, "submodel_close", json!({"helpers": ["a", "c"]})).await;
    assert_eq!(
        closed.structured(),
        Some(json!({"closed": ["a"], "unknown": ["c"]}))
    );
    until_ended(&first).await;
    assert_eq!(answer(&ask_one(&registry, "a", "memory").await), "memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_that_dies_fails_its_question_alone() {
    let registry = registry(submodels("helper"));
    ask_one(&registry, "a", "memory").await;
    let answers = batch(
        &registry,
        json!([
            {"question": "echo 1"},
            {"question": "die", "helper": "a"},
            {"question": "die"},
            {"question": "memory", "helper": "a"},
            {"question": "echo 2"},
        ]),
    )
    .await;
    assert_eq!(answer(&answers[0]), "1");
    assert!(
        error(&answers[1]).contains("its memory is lost: its process ended: signal: 6"),
        "{answers:?}"
    );
    error(&answers[2]);
    // A fresh process.
    assert_eq!(answer(&answers[3]), "memory");
    assert_eq!(answer(&answers[4]), "2");
    // One that dies between two questions does not lose its conversation silently.
    let id = answer(&ask_one(&registry, "a", "pid").await).to_owned();
    signal("-KILL", &id);
    until_ended(&id).await;
    in_time(async {
        while list(&registry).await[0]["state"] != "ended" {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let running = run(&registry, "submodel_list", json!({"which": "running"})).await;
    assert_eq!(running.content(), "[]");
    let lost = ask_one(&registry, "a", "memory").await;
    assert!(
        error(&lost).contains("its process ended after the last question"),
        "{lost}"
    );
    assert_eq!(answer(&ask_one(&registry, "a", "memory").await), "memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_that_does_not_answer_pings_is_ended() {
    let registry = registry(submodels("helper").ping_interval(Duration::from_secs(1)));
    let id = answer(&ask_one(&registry, "a", "pid").await).to_owned();
    let (listener, address) = listener().await;
    let asking = tokio::spawn({
        let registry = registry.clone();
        async move {
            let question = format!("meet {address}");
            batch(
                &registry,
                json!([{"question": question, "helper": "a"}, {"question": "echo 1"}]),
            )
            .await
        }
    });
    let _waiting = in_time(listener.accept()).await.unwrap();
    signal("-STOP", &id);
    let answers = in_time(asking).await.unwrap();
    assert!(
        error(&answers[0]).contains("it does not answer pings"),
        "{answers:?}"
    );
    assert_eq!(answer(&answers[1]), "1");
    until_ended(&id).await;
    assert_eq!(answer(&ask_one(&registry, "a", "memory").await), "memory");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_blocks_the_helper_does_not_stop_its_pings() {
    let registry = registry(submodels("helper").ping_interval(Duration::from_millis(500)));
    let (listener, address) = listener().await;
    let questions = json!([{"question": format!("block {address}")}]);
    let asking = tokio::spawn({
        let registry = registry.clone();
        async move { batch(&registry, questions).await }
    });
    let (mut stream, _) = in_time(listener.accept()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    stream.write_all(b"x").await.unwrap();
    assert_eq!(answer(&in_time(asking).await.unwrap()[0]), "met");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_that_takes_too_long_is_ended() {
    let registry = registry(submodels("helper").question_timeout(Duration::from_millis(1500)));
    let (listener, address) = listener().await;
    let id = answer(&ask_one(&registry, "a", "pid").await).to_owned();
    let lost = ask_one(&registry, "a", &format!("meet {address}")).await;
    assert!(
        error(&lost).contains("did not answer within 1.5s"),
        "{lost}"
    );
    until_ended(&id).await;
    drop(listener);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancellation_reaches_the_runs_of_the_helpers() {
    let registry = registry(submodels("helper"));
    ask_one(&registry, "a", "memory 1").await;
    let (listener, address) = listener().await;
    for by_token in [true, false] {
        let questions = json!([
            {"question": format!("wait {address}"), "helper": "a"},
            {"question": format!("wait {address}")},
        ]);
        let token = CancellationToken::new();
        let asking = tokio::spawn({
            let call = ToolCall::new(
                "call_1",
                "submodel_batch",
                json!({ "questions": questions }),
            );
            let call = call.cancel_with(&token);
            let registry = registry.clone();
            async move { registry.call(call).await }
        });
        let (mut one, _) = in_time(listener.accept()).await.unwrap();
        let (mut two, _) = in_time(listener.accept()).await.unwrap();
        if by_token {
            token.cancel();
            let result = in_time(asking).await.unwrap();
            assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Cancelled);
        } else {
            asking.abort();
        }
        // The tools of the helpers are dropped.
        for stream in [&mut one, &mut two] {
            let mut rest = Vec::new();
            let _ = in_time(stream.read_to_end(&mut rest)).await;
            assert!(rest.is_empty());
        }
    }
    // The helper and its memory are as before.
    assert_eq!(
        answer(&ask_one(&registry, "a", "memory 2").await),
        "memory 1, memory 2"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_fails_leaves_the_memory_as_it_was() {
    let registry = registry(submodels("helper"));
    ask_one(&registry, "a", "memory 1").await;
    let failed = ask_one(&registry, "a", "fail").await;
    assert_eq!(
        error(&failed),
        "the request to the model failed: no capacity"
    );
    let answered = ask_one(&registry, "a", "memory 2").await;
    assert_eq!(answer(&answered), "memory 1, memory 2");
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_passed_on() {
    let registry = registry(submodels("helper"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = seen.clone();
    let questions = json!({"questions": [{"question": "below echo 1", "helper": "a"}]});
    let call = ToolCall::new("call_1", "submodel_batch", questions);
    let call = call.on_progress(move |progress| sink.lock().unwrap().push(progress.clone()));
    let result = in_time(registry.call(call)).await;
    assert!(!result.is_error(), "{}", result.content());
    let expected = [
        Progress::of(0.0, 1.0).message("a calls submodel_batch"),
        Progress::of(1.0, 1.0).message("answered a question of 1"),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_a_helper_ends_its_question() {
    let registry = registry(submodels("helper"));
    let (listener, address) = listener().await;
    let asking = tokio::spawn({
        let registry = registry.clone();
        async move { ask_one(&registry, "a", &format!("wait {address}")).await }
    });
    let _stream = in_time(listener.accept()).await.unwrap();
    assert_eq!(list(&registry).await[0]["state"], "answering");
    run(&registry, "submodel_close", json!({"helpers": ["a"]})).await;
    assert_eq!(
        error(&in_time(asking).await.unwrap()),
        "the helper was closed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn helpers_are_limited() {
    let registry = registry(submodels("helper").max_helpers(1).max_questions(4));
    assert_eq!(answer(&ask_one(&registry, "a", "echo 1").await), "1");
    let refused = ask_one(&registry, "b", "echo 1").await;
    assert!(error(&refused).contains("close one"), "{refused}");
    // One that has ended makes room.
    error(&ask_one(&registry, "a", "die").await);
    assert_eq!(answer(&ask_one(&registry, "b", "echo 1").await), "1");
    let answers = batch(
        &registry,
        json!([{"question": "echo 2"}, {"question": "echo 2"}]),
    )
    .await;
    let refused = answers.iter().filter(|answer| answer["error"].is_string());
    let refused: Vec<_> = refused.map(error).collect();
    assert_eq!(refused, ["the maximum number of questions has been asked"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_depth_is_limited_by_the_parent() {
    // The helpers ask for five levels.
    let shallow = registry(submodels("helper"));
    let answers = batch(&shallow, json!([{"question": "below echo 1"}])).await;
    assert!(
        answer(&answers[0]).contains("at this depth may not have helpers"),
        "{answers:?}"
    );
    let deep = registry(submodels("helper").max_depth(2));
    let answers = batch(
        &deep,
        json!([{"question": "below echo 1"}, {"question": "below below echo 1"}]),
    )
    .await;
    assert_eq!(answer(&answers[0]), r#"[{"answer":"1"}]"#);
    assert!(
        answer(&answers[1]).contains("at this depth may not have helpers"),
        "{answers:?}"
    );
    let none = registry(submodels("helper").max_depth(0));
    let result = run(
        &none,
        "submodel_batch",
        json!({"questions": [{"question": "echo 1"}]}),
    )
    .await;
    assert!(
        result.content().contains("at this depth"),
        "{}",
        result.content()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_helper_gets_only_the_variables_that_it_is_given() {
    let registry = registry(submodels("helper"));
    let answers = batch(&registry, json!([{"question": "env"}])).await;
    assert_eq!(answer(&answers[0]), format!("{ROLE} TOOL_MCP_SUBMODEL"));
}

#[tokio::test(flavor = "multi_thread")]
async fn held_calls_are_denied() {
    let registry = registry(submodels("helper"));
    let answers = batch(&registry, json!([{"question": "delete"}])).await;
    assert!(
        answer(&answers[0]).contains("nobody to approve"),
        "{answers:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn long_answers_are_truncated() {
    let registry = registry(submodels("helper").max_answer_bytes(101));
    let answers = batch(
        &registry,
        json!([{"question": "repeat 50"}, {"question": "repeat 5000000"}]),
    )
    .await;
    assert_eq!(answer(&answers[0]), "ä".repeat(50));
    let note = "\n[truncated: 9999900 of 10000000 bytes omitted]";
    assert_eq!(answer(&answers[1]), format!("{}{note}", "ä".repeat(50)));
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_output_is_bounded() {
    let question = json!([{"question": "echo 1"}]);
    let garbage = batch(&registry(submodels("garbage")), question.clone()).await;
    assert_eq!(answer(&garbage[0]), "after the garbage");
    let huge = batch(&registry(submodels("huge")), question.clone()).await;
    assert_eq!(
        error(&huge[0]),
        "the helper failed: its answer is too large"
    );
    let wrong = batch(&registry(submodels("wrong")), question.clone()).await;
    assert_eq!(error(&wrong[0]), "the helper answered with something else");
    for role in ["noisy", "silent"] {
        let helpers = submodels(role).start_timeout(Duration::from_millis(1500));
        let never = batch(&registry(helpers), question.clone()).await;
        assert_eq!(error(&never[0]), NOT_STARTED);
    }
    let helpers = submodels("flood").ping_interval(Duration::from_secs(1));
    let flood = batch(&registry(helpers), question.clone()).await;
    assert!(
        error(&flood[0]).contains("does not answer pings"),
        "{flood:?}"
    );
    let missing = registry(Submodels::new(Command::new("/does/not/exist")));
    let missing = batch(&missing, question).await;
    assert_eq!(error(&missing[0]), NOT_STARTED);
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap();
        let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kilobytes < 300 << 10, "{kilobytes} kB");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn helpers_end_with_the_registry() {
    let registry = registry(submodels("helper").max_depth(2));
    let id = answer(&ask_one(&registry, "a", "pid").await).to_owned();
    let below = ask_one(&registry, "a", "below pid").await;
    let below: Value = serde_json::from_str(answer(&below)).unwrap();
    drop(registry);
    until_ended(&id).await;
    until_ended(answer(&below[0])).await;
}

#[test]
fn a_call_needs_no_runtime_of_its_own() {
    let runtime = runtime();
    let registry = runtime.block_on(async { registry(submodels("helper")) });
    let questions = json!({"questions": [{"question": "echo 1"}]});
    let result =
        registry.call_blocking(ToolCall::new("call_1", "submodel_batch", questions.clone()));
    assert_eq!(result.content(), r#"[{"answer":"1"}]"#);
    let without = self::registry(submodels("helper"));
    let result = without.call_blocking(ToolCall::new("call_1", "submodel_batch", questions));
    assert!(
        result.content().contains("need a runtime of tokio"),
        "{}",
        result.content()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_helper_outlives_a_parent_that_is_killed() {
    let (listener, address) = listener().await;
    let mut parent = Command::new(std::env::current_exe().unwrap());
    parent.args(["--exact", "child", "--nocapture", "--test-threads=1"]);
    parent
        .env(ROLE, "parent")
        .env("ADDRESS", address)
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut parent = parent.spawn().unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines();
    let ids = in_time(async {
        loop {
            let line = lines
                .next_line()
                .await
                .unwrap()
                .expect("the parent prints the ids");
            if let Some(ids) = line.strip_prefix("ids ") {
                return ids.to_owned();
            }
        }
    })
    .await;
    let ids: Vec<_> = ids.split(' ').collect();
    let [busy, stopped, below, started] = ids[..] else {
        panic!("{ids:?}")
    };
    // One is in a tool that blocks its thread, one is stopped, and one is a helper of a helper. A tool of one that
    // returns from `main` has started a process.
    let _blocking = in_time(listener.accept()).await.unwrap();
    // With a process of another parent in its group, the kernel does not take the group for an orphan, whose stopped
    // processes it ends.
    let mut other = Command::new("sleep");
    other.arg("1000").process_group(stopped.parse().unwrap());
    let _other = other.kill_on_drop(true).spawn().unwrap();
    signal("-STOP", stopped);
    parent.start_kill().unwrap();
    for id in [busy, stopped, below, started] {
        until_ended(id).await;
    }
}

#[tokio::test]
async fn a_process_that_is_not_a_helper_does_not_serve() {
    let error = submodel::serve(agent()).await.unwrap_err();
    assert!(
        error.to_string().contains("not started as a helper"),
        "{error}"
    );
}
