//! Results of runs that are too long for a model, and the stores of `tool-agent`.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::{ModelError, Request};
use tool_agent::results::{FileResults, SqliteResults};
use tool_agent::run::{FileJournal, PortableCall, Round, Run, SqliteJournal};
use tool_agent::testing::{ScriptedModel, assert_results};
use tool_core::registry::{MemoryResults, ResultLimits, ResultScope, ResultStore};
use tool_core::{Registry, ToolCall, ToolResult, tool, tools};
use tool_dialects::OpenAiChat;

use super::interruptions::{Points, go_on, go_on_until_killed, run_and_kill};
use super::saving::TempFolder;
use super::{calling, dialect, saying};

/// Lists numbers.
#[tool(unlinked)]
fn count(to: u32) -> String {
    (1..=to)
        .map(|number| format!("number {number}\n"))
        .collect()
}

/// Waits to be killed, maybe.
#[tool(unlinked, idempotent)]
fn wait(#[param(context)] points: &Points) {
    points.pass();
}

fn keeping(store: impl ResultStore + 'static) -> Registry {
    let builder = Registry::builder().tools(tools![count]).spill(store, 200);
    builder.build().unwrap()
}

#[test]
fn every_store_keeps_the_contract() {
    let folder = TempFolder::new("kept-contract");
    fs::create_dir_all(&folder.0).unwrap();
    let memory = MemoryResults::new();
    assert_results(|limits| memory.clone().limits(limits));
    assert_results(|limits| FileResults::new(folder.0.join("a/b")).limits(limits));
    let database = folder.0.join("results.sqlite");
    assert_results(|limits| SqliteResults::open(&database).unwrap().limits(limits));
}

fn put(store: &impl ResultStore, handle: &str, text: &str) -> Result<(), String> {
    let put = store.put(&ResultScope::new("scope"), handle, text.to_owned());
    put.now_or_never()
        .unwrap()
        .map_err(|error| error.to_string())
}

fn read(store: &impl ResultStore, handle: &str) -> Result<Option<Arc<str>>, String> {
    let read = store.read(&ResultScope::new("scope"), handle);
    read.now_or_never()
        .unwrap()
        .map_err(|error| error.to_string())
}

#[test]
fn files_are_private_and_damage_is_noticed() {
    let folder = TempFolder::new("kept-files");
    let store = FileResults::new(&folder.0);
    // The folder may be that of a journal.
    let journal = FileJournal::new(&folder.0);
    super::saving::append(&journal, &mut Run::new("run-1")).unwrap();
    put(&store, "r1", "some text").unwrap();
    let files = || {
        let names = fs::read_dir(&folder.0)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let is_result = |path: &std::path::PathBuf| path.to_str().unwrap().contains("/result-");
        names.filter(is_result).collect::<Vec<_>>()
    };
    let [path] = &*files() else {
        panic!("one file")
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    // A crash leaves an unfinished file, which goes with the others.
    fs::write(format!("{}.77.0.tmp", path.display()), "some").unwrap();
    fs::write(
        path,
        fs::read_to_string(path).unwrap().replace("text", "test"),
    )
    .unwrap();
    let error = read(&store, "r1").unwrap_err();
    assert!(
        error.ends_with(": it is damaged") && error.contains("result-"),
        "{error}"
    );
    put(
        &store.clone().limits(ResultLimits::new().count(1)),
        "r2",
        "more",
    )
    .unwrap();
    assert_eq!(files().len(), 1);
    assert_eq!(read(&store, "r2").unwrap().as_deref(), Some("more"));
    assert!(journal_has(&journal, "run-1"));
    // What is in the way is named.
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let error = put(&FileResults::new(&file), "r1", "text").unwrap_err();
    assert!(error.contains("/file"), "{error}");
}

fn journal_has(journal: &FileJournal, run: &str) -> bool {
    !super::saving::load(journal, run).is_empty()
}

#[test]
fn a_database_of_another_kind_is_refused() {
    let folder = TempFolder::new("kept-databases");
    fs::create_dir_all(&folder.0).unwrap();
    let (runs, results) = (
        folder.0.join("runs.sqlite"),
        folder.0.join("results.sqlite"),
    );
    SqliteJournal::open(&runs).unwrap();
    SqliteResults::open(&results).unwrap();
    for error in [
        SqliteResults::open(&runs).unwrap_err().to_string(),
        SqliteJournal::open(&results).unwrap_err().to_string(),
    ] {
        assert!(error.contains("the tables have version "), "{error}");
    }
}

/// Returns the results of a run, which has one of each round.
fn results(run: &Run) -> Vec<&ToolResult> {
    let calls = run.rounds().iter().flat_map(Round::calls);
    calls.filter_map(|(_, result)| result).collect()
}

fn ask(agent: &Agent, run: &mut Run) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(agent.reply(run, "Go on.")).unwrap();
}

#[test]
fn only_the_run_and_the_owner_of_a_result_read_on() {
    let store = MemoryResults::new();
    let agent = |model: ScriptedModel| {
        let agent = Agent::new(keeping(store.clone()), OpenAiChat::default(), model);
        agent.contexts(async |_, call| Ok(call))
    };
    let mut run = Run::builder("run-1").owner("ada").build();
    let counting = agent(
        ScriptedModel::default()
            .call("count", json!({"to": 100}))
            .say("Done."),
    );
    ask(&counting, &mut run);
    let (handle, bytes) = results(&run)[0].kept().expect("it is kept");
    assert_eq!(bytes, 992);
    // The model was sent the start alone.
    let sent = json!(run.messages()).to_string();
    assert!(sent.contains("number 10") && sent.contains(handle) && !sent.contains("number 50"));

    let arguments = json!({"handle": handle, "line": 50, "lines": 1});
    let reading = || {
        ScriptedModel::default()
            .call("read_result", arguments.clone())
            .say("Done.")
    };
    let mut of_others = Vec::new();
    for (id, owner) in [
        ("run-1", Some("bob")),
        ("run-2", Some("ada")),
        ("run-1", None),
    ] {
        let builder = Run::builder(id);
        let mut other = match owner {
            Some(owner) => builder.owner(owner).build(),
            None => builder.build(),
        };
        ask(&agent(reading()), &mut other);
        let error = results(&other)[0].error().expect("it is unknown");
        of_others.push(error.message().replace(error.id(), ""));
    }
    assert!(
        of_others
            .iter()
            .all(|error| *error == of_others[0] && error.contains("no result has this handle"))
    );
    ask(&agent(reading()), &mut run);
    assert!(results(&run)[1].content().starts_with("number 50\n"));

    // A call that another process runs has the same scope.
    let call = ToolCall::new("call_1", "read_result", arguments);
    let call = PortableCall::new(run.info(), &call).into_call();
    let result = keeping(store).call_blocking(call);
    assert!(result.content().starts_with("number 50\n"));
}

#[test]
fn a_removed_run_leaves_no_results() {
    let folder = TempFolder::new("kept-removed");
    let store = FileResults::new(&folder.0);
    let journal = FileJournal::new(&folder.0);
    let agent = |model| {
        let agent = Agent::new(keeping(store.clone()), OpenAiChat::default(), model);
        let agent = agent.contexts(async |_, call| Ok(call));
        agent.journal(journal.clone())
    };
    let mut runs = ["run-1", "run-2"].map(|id| Run::builder(id).owner("ada").build());
    for run in &mut runs {
        let model = ScriptedModel::default().call("count", json!({"to": 100}));
        ask(&agent(model.say("Done.")), run);
    }
    let agent = agent(ScriptedModel::default());
    for id in ["run-1", "run-1", "run-3"] {
        agent.remove(id).now_or_never().unwrap().unwrap();
    }
    let has = |run: &Run| {
        let (handle, _) = results(run)[0].kept().expect("it was kept");
        let read = store.read(&run.info().result_scope(), handle);
        let read = read.now_or_never().unwrap().unwrap();
        (read.is_some(), journal_has(&journal, run.id()))
    };
    assert_eq!(runs.each_ref().map(has), [(false, false), (true, true)]);
    // If the results can't be removed, the run stays, so that somebody can try again.
    let mut paths = fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_result = |path: &std::path::PathBuf| path.to_str().unwrap().contains("/result-");
    let result = paths.find(is_result).unwrap();
    fs::remove_file(&result).unwrap();
    fs::create_dir(&result).unwrap();
    let error = agent.remove("run-2").now_or_never().unwrap().unwrap_err();
    assert!(
        error.to_string().contains("can't remove the run \"run-2\""),
        "{error}"
    );
    assert!(journal_has(&journal, "run-2"));
}

#[test]
fn the_run_of_an_inner_agent_has_a_scope_of_its_own() {
    let store = MemoryResults::new();
    let inner = ScriptedModel::default()
        .call("count", json!({"to": 100}))
        .say("Done.");
    let inner = Agent::new(keeping(store.clone()), OpenAiChat::default(), inner);
    let seen = Arc::new(std::sync::Mutex::new(String::new()));
    let sink = seen.clone();
    let inner = inner.on_event(move |event| {
        if let tool_agent::Event::Result(result) = event {
            result
                .kept()
                .expect("it is kept")
                .0
                .clone_into(&mut sink.lock().unwrap());
        }
    });
    let registry = Registry::builder()
        .tool(inner.into_tool("ask_inner", "Counts.").unwrap())
        .spill(store, 200)
        .build()
        .unwrap();
    let model = ScriptedModel::default()
        .call("ask_inner", json!({"question": "Count."}))
        .say("Done.");
    let mut run = Run::new("outer");
    ask(
        &Agent::new(registry.clone(), OpenAiChat::default(), model),
        &mut run,
    );
    let handle = seen.lock().unwrap().clone();
    let model = ScriptedModel::default()
        .call("read_result", json!({"handle": handle}))
        .say("Done.");
    ask(
        &Agent::new(registry, OpenAiChat::default(), model),
        &mut run,
    );
    assert!(
        results(&run)[1]
            .content()
            .contains("no result has this handle")
    );
}

/// Counts, waits to be killed, and reads on by the handle in its messages.
fn agent(folder: &Path, stop_at: u32) -> Agent {
    let points = Points {
        next: AtomicU32::new(0),
        stop_at,
    };
    let is_sqlite = folder.join("sqlite").exists();
    let builder = Registry::builder()
        .tools(tools![count, wait])
        .context(points);
    let builder = if is_sqlite {
        builder.spill(
            SqliteResults::open(folder.join("results.sqlite")).unwrap(),
            200,
        )
    } else {
        builder.spill(FileResults::new(folder), 200)
    };
    let model = |request: Request| {
        let messages = request.messages.iter();
        let turns = messages
            .filter(|message| message["role"] == "assistant")
            .count();
        let arguments = || {
            let text = request.messages[2]["content"].as_str().unwrap();
            let (_, rest) = text.split_once("\"handle\":\"").unwrap();
            json!({"handle": rest[..17], "search": "number 99"}).to_string()
        };
        let response: Value = match turns {
            0 => calling(&[("count", r#"{"to":100}"#)]),
            1 => calling(&[("wait", "{}")]),
            2 => calling(&[("read_result", &arguments())]),
            _ => saying("Done."),
        };
        std::future::ready(Ok::<_, ModelError>(response))
    };
    let agent = Agent::new(builder.build().unwrap(), dialect(), model);
    agent.journal(FileJournal::new(folder))
}

/// The process that is killed. Does nothing in a usual run of the tests.
#[test]
fn interrupted_process() {
    go_on_until_killed(agent);
}

#[test]
fn a_run_that_another_process_continues_reads_on() {
    for store in ["files", "sqlite"] {
        let folder = TempFolder::new(&format!("kept-{store}"));
        fs::create_dir_all(&folder.0).unwrap();
        fs::write(folder.0.join(store), "").unwrap();
        assert!(run_and_kill("kept::interrupted_process", &folder.0, 0));
        let (run, _) = go_on(&agent(&folder.0, u32::MAX));
        let found = results(&run)[2].content();
        assert!(found.starts_with("line 99, byte "), "{found}");
    }
}
