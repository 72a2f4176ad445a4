//! Gemini's Interactions API: conversations with results, environments and typed answers.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, process, thread};

use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{HttpModel, Model, Request};
use tool_agent::run::{FileJournal, Run, RunOutcome};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolType, tool, tools};
use tool_dialects::GeminiInteractions;

use crate::server::{Server, events, json};
use crate::{KEY, ask, block_on, registry};

/// Set in the process that is killed: its folder and the URL of the server.
const FOLDER: &str = "TOOL_CORE_TEST_INTERACTIONS_FOLDER";
const URL: &str = "TOOL_CORE_TEST_INTERACTIONS_URL";

/// Counts the files of a folder. Waits to be killed in the process that is killed.
#[tool(read_only, unlinked)]
fn count_files(folder: &str) -> usize {
    if env::var_os(FOLDER).is_some() {
        println!("stopped");
        loop {
            thread::park();
        }
    }
    folder.len()
}

fn steps() -> [Value; 3] {
    [
        json!({"type": "thought", "signature": "EqIHCp8HARFNMg=="}),
        json!({"type": "model_output", "content": [{"type": "text", "text": "I count."}]}),
        json!({"type": "function_call", "id": "call_1", "name": "count_files", "arguments": {"folder": "src"}}),
    ]
}

fn answer(text: &str) -> Value {
    json!({"id": "v1_2", "object": "interaction", "status": "completed", "steps": [
        {"type": "model_output", "content": [{"type": "text", "text": text}]},
    ]})
}

/// Returns the events of an interaction.
fn streamed(interaction: &Value) -> Vec<Value> {
    let mut events = Vec::new();
    for (index, step) in interaction["steps"].as_array().unwrap().iter().enumerate() {
        events.push(json!({"event_type": "step.start", "index": index, "step": step}));
        events.push(json!({"event_type": "step.stop", "index": index}));
    }
    let mut end = interaction.clone();
    end.as_object_mut().unwrap().remove("steps");
    events.push(json!({"event_type": "interaction.completed", "interaction": end}));
    events
}

/// Continues the run in a folder, or starts it.
fn go_on(folder: &Path, url: &str) -> RunOutcome {
    let dialect = GeminiInteractions::default();
    let model = HttpModel::new(&dialect, "gemini-3.5-flash")
        .base_url(url)
        .key(KEY)
        .field("store", false)
        .field("environment", json!({"type": "remote"}))
        .streaming(true);
    let registry = Registry::builder()
        .tools(tools![count_files])
        .build()
        .unwrap();
    let agent = Agent::new(registry, dialect, model).journal(FileJournal::new(folder));
    block_on(async {
        let mut run = match agent.load("run-1").await.unwrap() {
            Some(run) => run,
            None => Run::new("run-1"),
        };
        if run.messages().is_empty() {
            run.push(dialect.user_message("How many files?")).unwrap();
        }
        agent.run(&mut run).await.unwrap()
    })
}

/// The process that is killed. Does nothing in a usual run of the tests.
#[test]
fn interrupted_process() {
    if let (Ok(folder), Ok(url)) = (env::var(FOLDER), env::var(URL)) {
        go_on(Path::new(&folder), &url);
    }
}

#[test]
fn a_run_goes_on_in_its_environment_after_its_process_was_killed() {
    let asked = json!({"id": "v1_1", "object": "interaction", "status": "requires_action",
        "environment_id": "env_7", "steps": steps()});
    let answers = [streamed(&asked), streamed(&answer("There are 3."))];
    let server = Server::start(answers.map(|stream| events(&stream, 50, true)));
    let folder = env::temp_dir().join(format!("tool-core-interactions-{}", process::id()));
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "interactions::interrupted_process",
            "--nocapture",
        ])
        .env(FOLDER, &folder)
        .env(URL, &server.url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_stopped = lines.any(|line| line.unwrap().ends_with("stopped"));
    assert!(is_stopped, "the process ended");
    child.kill().unwrap();
    child.wait().unwrap();

    let outcome = go_on(&folder, &server.url);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(outcome, RunOutcome::Answered("There are 3.".into()));
    let [first, second] = &server.received()[..] else {
        panic!("{} requests", server.received().len());
    };
    assert_eq!(first.body["environment"], json!({"type": "remote"}));
    // Results go to the environment of their calls.
    assert_eq!(second.body["environment"], "env_7");
    assert_eq!(second.body["store"], false);
    let question =
        json!({"type": "user_input", "content": [{"type": "text", "text": "How many files?"}]});
    let result = json!({"type": "function_result", "call_id": "call_1", "name": "count_files",
        "result": [{"type": "text", "text": "3"}]});
    let [thought, text, call] = steps();
    assert_eq!(
        second.body["input"],
        json!([question, thought, text, call, result])
    );
}

/// The server has the turn, which the request does not repeat.
#[test]
fn a_stored_interaction_needs_the_results_alone() {
    let dialect = GeminiInteractions::default();
    let mut asked = json!({"id": "v1_1", "object": "interaction", "status": "requires_action"});
    asked["steps"] = json!([{"type": "function_call", "id": "call_1", "name": "add", "arguments": {"a": 2, "b": 3}}]);
    let turn = dialect.read(&asked).unwrap();
    let calls = turn.calls.iter().cloned();
    let results: Vec<_> = calls.map(|call| registry().call_blocking(call)).collect();
    let server = Server::start([json(&answer("5"))]);
    let model = HttpModel::new(&dialect, "gemini-3.5-flash")
        .base_url(&server.url)
        .key(KEY)
        .field("previous_interaction_id", asked["id"].clone());
    let tools = registry().request(&dialect).build().unwrap();
    block_on(model.ask(Request::new(dialect.results(&results), tools))).unwrap();
    let body = &server.received()[0].body;
    assert_eq!(body["previous_interaction_id"], "v1_1");
    let result = json!({"type": "function_result", "call_id": "call_1", "name": "add",
        "result": [{"type": "text", "text": "5"}]});
    assert_eq!(body["input"], json!([result]));
    assert!(body["tools"].is_array());
}

#[derive(Debug, PartialEq, ToolType)]
struct Sum {
    total: u8,
}

#[test]
fn an_agent_calls_tools_before_it_answers_with_a_type() {
    let asked = json!({"id": "v1_1", "status": "requires_action", "steps": [
        {"type": "function_call", "id": "call_1", "name": "add", "arguments": {"a": 2, "b": 3}},
    ]});
    let server = Server::start([asked, answer(r#"{"total":5}"#)].map(|response| json(&response)));
    let dialect = GeminiInteractions::default();
    let model = HttpModel::new(&dialect, "gemini-3.5-flash")
        .base_url(&server.url)
        .key(KEY);
    let agent = Agent::new(registry(), dialect, model);
    let sum: Sum = block_on(agent.ask_for("What is 2 + 3?")).unwrap();
    assert_eq!(sum, Sum { total: 5 });
    for request in server.received() {
        let format = &request.body["response_format"];
        assert_eq!(format["mime_type"], "application/json");
        assert_eq!(format["schema"]["required"], json!(["total"]));
        assert_eq!(request.body["tools"][0]["name"], "add");
    }
}

#[test]
fn the_name_of_an_agent_is_not_that_of_a_model() {
    let dialect = GeminiInteractions::agent();
    let server = Server::start([json(&answer("Hi"))]);
    let model = HttpModel::new(&dialect, "antigravity-preview-09-2026")
        .base_url(&server.url)
        .key(KEY);
    ask(&dialect, &model).unwrap();
    let body = &server.received()[0].body;
    assert_eq!(body["agent"], "antigravity-preview-09-2026");
    assert_eq!(body.get("model"), None);
}
