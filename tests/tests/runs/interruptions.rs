//! Runs of a process that is killed at every save, and inside of every tool.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{ModelError, Request};
use tool_agent::run::{FileJournal, Increment, Journal, Round, Run, RunHead, RunOutcome};
use tool_core::{CallContext, Registry, ToolErrorKind, tool, tools};

use super::saving::Through;
use super::{calling, dialect, saying};

/// Set in the process that is killed: its folder, and the point at which it stops.
const FOLDER: &str = "TOOL_CORE_TEST_RUN_FOLDER";
const STOP_AT: &str = "TOOL_CORE_TEST_RUN_STOP_AT";

/// Counts points, and waits at one of them to be killed.
pub(super) struct Points {
    pub(super) next: AtomicU32,
    pub(super) stop_at: u32,
}

impl Points {
    pub(super) fn pass(&self) {
        if self.next.fetch_add(1, Ordering::Relaxed) == self.stop_at {
            println!("stopped");
            loop {
                std::thread::park();
            }
        }
    }
}

pub(super) fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

struct Effects(PathBuf, Arc<Points>);

/// Looks something up.
#[tool(read_only, unlinked)]
fn look_up(key: u32, #[param(context)] effects: &Effects) -> u32 {
    effects.1.pass();
    key
}

/// Sets a value, which may be repeated.
#[tool(idempotent, unlinked)]
fn set_value(key: u32, #[param(context)] effects: &Effects, call: &CallContext) -> u32 {
    effects.1.pass();
    append(
        &effects.0,
        &format!("set {key} {}\n", call.idempotency_key().unwrap()),
    );
    effects.1.pass();
    key
}

/// Pays, which must not be repeated.
#[tool(unlinked)]
fn pay(key: u32, #[param(context)] effects: &Effects, call: &CallContext) -> u32 {
    effects.1.pass();
    append(
        &effects.0,
        &format!("pay {key} {}\n", call.idempotency_key().unwrap()),
    );
    effects.1.pass();
    key
}

/// Responds by the number of turns so far: ten calls in three responses, then the answer.
fn respond(request: &Request) -> Value {
    let turns = request
        .messages
        .iter()
        .filter(|message| message["role"] == "assistant");
    match turns.count() {
        0 => calling(&[
            ("look_up", r#"{"key":0}"#),
            ("look_up", r#"{"key":1}"#),
            ("pay", r#"{"key":2}"#),
            ("look_up", r#"{"key":3}"#),
        ]),
        1 => calling(&[
            ("pay", r#"{"key":4}"#),
            ("set_value", r#"{"key":5}"#),
            ("pay", r#"{"key":6}"#),
        ]),
        2 => calling(&[
            ("set_value", r#"{"key":7}"#),
            ("look_up", r#"{"key":8}"#),
            ("look_up", r#"{"key":9}"#),
        ]),
        _ => saying("Done."),
    }
}

fn agent(folder: &Path, stop_at: u32) -> Agent {
    let points = Arc::new(Points {
        next: AtomicU32::new(0),
        stop_at,
    });
    let effects = Effects(folder.join("effects"), points.clone());
    let builder = Registry::builder().tools(tools![look_up, set_value, pay]);
    let registry = builder.context(effects).build().unwrap();
    let model = |request: Request| std::future::ready(Ok::<_, ModelError>(respond(&request)));
    // With a point before and after every append.
    let journal = Through {
        journal: Arc::new(FileJournal::new(folder.join("journal"))),
        append: move |journal: &dyn Journal, head: RunHead, increments: Vec<Increment>| {
            points.pass();
            let appended = journal.append(head, increments);
            points.pass();
            appended
        },
    };
    Agent::new(registry, dialect(), model).journal(journal)
}

/// Continues the run in a folder, or starts it.
pub(super) fn go_on(agent: &Agent) -> (Run, RunOutcome) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut run = match agent.load("run-1").await.unwrap() {
            Some(run) => run,
            None => Run::new("run-1"),
        };
        if run.messages().is_empty() {
            run.push(json!({"role": "user", "content": "Go."})).unwrap();
        }
        let outcome = agent.run(&mut run).await.unwrap();
        (run, outcome)
    })
}

/// The process that is killed. Does nothing in a usual run of the tests.
#[test]
fn interrupted_process() {
    go_on_until_killed(agent);
}

/// Continues the run of the process that is killed, if this is it.
pub(super) fn go_on_until_killed(agent: impl Fn(&Path, u32) -> Agent) {
    if let (Ok(folder), Ok(stop_at)) = (std::env::var(FOLDER), std::env::var(STOP_AT)) {
        go_on(&agent(Path::new(&folder), stop_at.parse().unwrap()));
        println!("ended");
    }
}

/// Runs the process until it stops or ends, and kills it. Returns `true` if it stopped.
pub(super) fn run_and_kill(test: &str, folder: &Path, stop_at: u32) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(FOLDER, folder)
        .env(STOP_AT, stop_at.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut told = lines.map(Result::unwrap).filter_map(|line| {
        ["stopped", "ended"]
            .into_iter()
            .find(|word| line.ends_with(word))
    });
    let is_stopped = told.next().expect("the process stops or ends") == "stopped";
    child.kill().unwrap();
    child.wait().unwrap();
    is_stopped
}

fn effects(folder: &Path) -> Vec<String> {
    let mut text = String::new();
    if let Ok(mut file) = File::open(folder.join("effects")) {
        file.read_to_string(&mut text).unwrap();
    }
    text.lines().map(str::to_owned).collect()
}

#[test]
fn what_is_killed_at_any_point_happens_once_or_is_told() {
    let root = std::env::temp_dir().join(format!("tool-core-runs-{}", std::process::id()));
    let mut interrupted = 0;
    let mut stop_at = 0;
    loop {
        let folder = root.join(stop_at.to_string());
        fs::create_dir_all(&folder).unwrap();
        let is_stopped = run_and_kill("interruptions::interrupted_process", &folder, stop_at);
        let (run, outcome) = go_on(&agent(&folder, u32::MAX));
        assert_eq!(
            outcome,
            RunOutcome::Answered("Done.".into()),
            "stopped at {stop_at}"
        );
        let effects = effects(&folder);
        let mut calls = 0;
        for (call, result) in run.rounds().iter().flat_map(Round::calls) {
            calls += 1;
            let result = result.unwrap();
            let key = call.arguments.to_object().unwrap()["key"].to_string();
            let of_call = |line: &&String| line.split(' ').nth(1) == Some(&key);
            let happened: Vec<_> = effects.iter().filter(of_call).collect();
            let is_interrupted = result
                .error()
                .is_some_and(|error| error.kind() == ToolErrorKind::Interrupted);
            interrupted += u32::from(is_interrupted);
            match &*call.name {
                "look_up" => assert_eq!(result.content(), key),
                // Repeated with the same key.
                "set_value" => {
                    assert!(!is_interrupted && (1..=2).contains(&happened.len()));
                    assert!(happened.iter().all(|line| line == &happened[0]));
                }
                _ if is_interrupted => assert!(happened.len() <= 1, "{effects:?}"),
                _ => assert_eq!(
                    (happened.len(), result.content()),
                    (1, &*key),
                    "{effects:?}"
                ),
            }
        }
        assert_eq!(calls, 10);
        if !is_stopped {
            break;
        }
        stop_at += 1;
    }
    fs::remove_dir_all(&root).unwrap();
    // Before and after each save, and one or two in each call.
    assert!(stop_at > 40, "only {stop_at} points");
    // Each of the three payments, before and after its effect, and after its start was saved.
    assert!(interrupted >= 9, "only {interrupted} interruptions");
}
