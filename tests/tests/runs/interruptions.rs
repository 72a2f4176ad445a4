//! Runs of a process that is killed at every save, and inside of every tool.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::FutureExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{ModelError, Request};
use tool_agent::run::{
    FileJournal, Increment, Journal, Run, RunHead, RunOutcome, RunSettings, SqliteJournal,
};
use tool_core::registry::WAIT_FOR_RESULTS;
use tool_core::{CallContext, Registry, ToolError, ToolErrorKind, tool, tools};

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

/// Sets a value while the model goes on, which may be repeated.
#[tool(background, idempotent, unlinked)]
async fn set_aside(key: u32, #[param(context)] effects: &Effects, call: &CallContext) -> u32 {
    turns(key).await;
    let set = set_value(key, effects, call);
    turns(key).await;
    set
}

/// Pays while the model goes on, which must not be repeated.
#[tool(background, unlinked)]
async fn pay_aside(key: u32, #[param(context)] effects: &Effects, call: &CallContext) -> u32 {
    turns(key).await;
    let paid = pay(key, effects, call);
    turns(key).await;
    paid
}

/// Lets the run go on for a while, which differs by the call. Some don't wait at all.
async fn turns(key: u32) {
    for _ in 0..[0, 1, 5, 12][key as usize % 4] {
        tokio::task::yield_now().await;
    }
}

const TOOLS: [&str; 6] = [
    "look_up",
    "set_value",
    "pay",
    "set_aside",
    "pay_aside",
    WAIT_FOR_RESULTS,
];

/// What the model does: the tools that each of its responses calls, until it answers.
type Script = Vec<Vec<usize>>;

/// Responds by the number of turns so far. The keys of the calls count up.
fn respond(request: &Request, script: &[Vec<usize>]) -> Value {
    let turns = request.messages.iter();
    let turns = turns.filter(|message| message["role"] == "assistant");
    let turns = turns.count();
    let Some(tools) = script.get(turns) else {
        return saying("Done.");
    };
    let first: usize = script[..turns].iter().map(Vec::len).sum();
    let calls = tools.iter().enumerate().map(|(index, tool)| {
        let arguments = match TOOLS[*tool] {
            WAIT_FOR_RESULTS => "{}".to_owned(),
            _ => format!(r#"{{"key":{}}}"#, first + index),
        };
        (TOOLS[*tool], arguments)
    });
    let calls: Vec<_> = calls.collect();
    let calls = calls.iter().map(|(tool, arguments)| (*tool, &**arguments));
    calling(&calls.collect::<Vec<_>>())
}

/// Writes what the process in a folder does.
fn prepare(folder: &Path, script: &Script, is_sqlite: bool) {
    fs::create_dir_all(folder).unwrap();
    let script = json!([script, is_sqlite]).to_string();
    fs::write(folder.join("script"), script).unwrap();
}

fn agent(folder: &Path, stop_at: u32) -> Agent {
    let script = fs::read_to_string(folder.join("script")).unwrap();
    let (script, is_sqlite): (Script, bool) = serde_json::from_str(&script).unwrap();
    let points = Arc::new(Points {
        next: AtomicU32::new(0),
        stop_at,
    });
    let effects = Effects(folder.join("effects"), points.clone());
    let tools = tools![look_up, set_value, pay, set_aside, pay_aside];
    let registry = Registry::builder().tools(tools).context(effects);
    let registry = registry.build().unwrap();
    let model =
        move |request: Request| std::future::ready(Ok::<_, ModelError>(respond(&request, &script)));
    let journal: Arc<dyn Journal> = if is_sqlite {
        Arc::new(SqliteJournal::open(folder.join("runs.sqlite")).unwrap())
    } else {
        Arc::new(FileJournal::new(folder.join("journal")))
    };
    // With a point before and after every append.
    let journal = Through {
        journal,
        append: move |journal: &dyn Journal, head: RunHead, increments: Vec<Increment>| {
            points.pass();
            let appending = journal.append(head, increments);
            let points = points.clone();
            let passing = async move {
                let appended = appending.await;
                points.pass();
                appended
            };
            passing.boxed()
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
            None => {
                let mut settings = RunSettings::default();
                settings.max_rounds = 40;
                Run::builder("run-1").settings(settings).build()
            }
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

/// Continues the run of a process that was killed so often, and checks it. Returns the number of interrupted calls.
fn end_and_check(folder: &Path, kills: usize) -> usize {
    let (run, outcome) = go_on(&agent(folder, u32::MAX));
    assert_eq!(outcome, RunOutcome::Answered("Done.".into()));
    let effects = effects(folder);
    let told = told(&run);
    let mut interrupted = 0;
    let messages = run.messages().iter();
    let mut shown = messages.filter(|message| message["role"] == "tool");
    for (number, round) in run.rounds().iter().enumerate() {
        for (index, (call, result)) in round.calls().enumerate() {
            let result = result.unwrap();
            let shown = &shown.next().unwrap()["content"];
            if call.name == WAIT_FOR_RESULTS {
                continue;
            }
            // The model gets each result once: in its place, or after an acknowledgement.
            let told = told
                .iter()
                .filter(|told| told["id"] == format!("{}-{}", number + 1, index + 1));
            let told: Vec<_> = told.collect();
            match told[..] {
                [] => assert_eq!(shown, result.content()),
                [told] => {
                    let text = shown.as_str().unwrap();
                    assert!(text.starts_with("Started in the background"), "{text}");
                    let key = if result.is_error() { "error" } else { "result" };
                    let output = told[key].as_str().map(str::to_owned);
                    let output = output.unwrap_or_else(|| told[key].to_string());
                    assert_eq!(output, result.content());
                }
                _ => panic!("{told:?}"),
            }

            let key = call.arguments.to_object().unwrap()["key"].to_string();
            let of_call = |line: &&String| line.split(' ').nth(1) == Some(&key);
            let happened: Vec<_> = effects.iter().filter(of_call).collect();
            let kind = result.error().map(ToolError::kind);
            let is_interrupted = kind == Some(ToolErrorKind::Interrupted);
            if is_interrupted {
                interrupted += 1;
                assert!(result.content().contains("was interrupted"));
            } else {
                assert_eq!((kind, result.content()), (None, &*key));
            }
            match &*call.name {
                "look_up" => assert!(!is_interrupted),
                // Repeated with the same key.
                "set_value" | "set_aside" => {
                    assert!(!is_interrupted, "{effects:?}");
                    assert!((1..=1 + kills).contains(&happened.len()), "{effects:?}");
                    assert!(happened.iter().all(|line| line == &happened[0]));
                }
                _ if is_interrupted => assert!(happened.len() <= 1, "{effects:?}"),
                _ => assert_eq!(happened.len(), 1, "{effects:?}"),
            }
        }
    }
    interrupted
}

/// Returns the results of calls in the background that the model was told.
fn told(run: &Run) -> Vec<Value> {
    let messages = run.messages().iter();
    let texts = messages.filter(|message| message["role"] != "assistant");
    let texts = texts.map(|message| message["content"].as_str().unwrap());
    let results = texts.filter_map(|text| {
        let results = text.split_once('\n').map_or(text, |(_, results)| results);
        serde_json::from_str::<Value>(results)
            .ok()?
            .as_array()
            .cloned()
    });
    results.flatten().collect()
}

fn root(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tool-core-{name}-{}", std::process::id()))
}

#[test]
fn what_is_killed_at_any_point_happens_once_or_is_told() {
    let root = root("runs");
    let script = [vec![0, 0, 2, 4, 0], vec![2, 3, 1, 4, 2], vec![5, 1, 0, 0]];
    let mut interrupted = 0;
    for is_sqlite in [false, true] {
        let mut stop_at = 0;
        loop {
            let folder = root.join(format!("{is_sqlite}-{stop_at}"));
            prepare(&folder, &script.to_vec(), is_sqlite);
            let is_stopped = run_and_kill("interruptions::interrupted_process", &folder, stop_at);
            interrupted += end_and_check(&folder, 1);
            if !is_stopped {
                break;
            }
            stop_at += 1;
        }
        // Before and after each save, and one or two in each call.
        assert!(stop_at > 50, "only {stop_at} points");
    }
    fs::remove_dir_all(&root).unwrap();
    // Each of the five payments, before and after its effect, and after its start was saved; in both journals.
    assert!(interrupted >= 30, "only {interrupted} interruptions");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("TOOL_CORE_LONG").is_some() { 2_000 } else { 60 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_killed_again_and_again_happens_once_or_is_told(
        script in proptest::collection::vec(proptest::collection::vec(0..TOOLS.len(), 1..5), 1..5),
        is_sqlite: bool,
        stops in proptest::collection::vec(0..40_u32, 1..4),
    ) {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = root("again").join(number.to_string());
        prepare(&folder, &script, is_sqlite);
        for stop_at in &stops {
            run_and_kill("interruptions::interrupted_process", &folder, *stop_at);
        }
        end_and_check(&folder, stops.len());
        fs::remove_dir_all(&folder).unwrap();
    }
}
