//! What a developer reads: each error names the run, the file and what is wrong.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::{Value, json};
use tool_agent::Agent;
use tool_agent::model::ModelError;
use tool_agent::run::{
    DecideError, FileJournal, Journal, MemoryJournal, Run, RunError, SqliteJournal,
};
use tool_agent::testing::{RecordedModel, Recorder, Recording, ScriptedModel};
use tool_core::hooks::{Decision, Gate};
use tool_core::{Registry, RegistryBuilder, tools};
use tool_dialects::{Anthropic, OpenAiChat};

use super::saving::{TempFolder, first_line};
use super::{calling, dialect, new_run, question, registry, saying};

fn agent(journal: impl Journal + 'static) -> Agent {
    let model = ScriptedModel::new([]);
    Agent::new(Registry::new(), OpenAiChat::default(), model).journal(journal)
}

/// Loads the run `run-1`, and returns the message of the error without the path of the folder.
fn said(journal: impl Journal + 'static, folder: &TempFolder) -> String {
    let loaded = agent(journal).load("run-1").now_or_never().unwrap();
    loaded
        .unwrap_err()
        .to_string()
        .replace(folder.0.to_str().unwrap(), "FOLDER")
}

/// Saves a run in a folder, and returns its file.
fn saved(folder: &TempFolder) -> PathBuf {
    let mut run = new_run();
    let agent = agent(FileJournal::new(&folder.0));
    agent.save(&mut run).now_or_never().unwrap().unwrap();
    folder.0.join("run-run-1.jsonl")
}

const START: &str = "the journal can't load the run \"run-1\": ";

#[test]
fn a_file_that_is_not_of_the_journal_is_named_and_kept() {
    let folder = TempFolder::new("other-file");
    let file = saved(&folder);
    let said_of = || said(FileJournal::new(&folder.0), &folder);
    let foreign = format!(
        "{START}FOLDER/run-run-1.jsonl: it is not a file of this journal; move it away, or give the journal another \
         folder"
    );
    for other in ["{\"half", "{\"other\": 1}", "{\"other\": 1}\n", "notes\n"] {
        fs::write(&file, other).unwrap();
        assert_eq!(said_of(), foreign);
        let journal = FileJournal::new(&folder.0);
        let run = new_run();
        let appended = journal.append(run.head(), run.unsaved().to_vec());
        let error = appended.now_or_never().unwrap().unwrap_err().to_string();
        assert!(
            error.contains("it is not a file of this journal"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), other);
    }
    // What a crash has left of a first line is no run.
    for torn in ["0f", "0123456789abcdef {\"la", "0123\0\0\0\0\0\0\0\0\0\0"] {
        fs::write(&file, torn).unwrap();
        let loaded = agent(FileJournal::new(&folder.0))
            .load("run-1")
            .now_or_never();
        assert!(loaded.unwrap().unwrap().is_none(), "{torn:?}");
    }
}

#[test]
fn a_folder_that_is_none_is_named() {
    let folder = TempFolder::new("no-folder");
    fs::write(&folder.0, "").unwrap();
    let message = said(FileJournal::new(&folder.0), &folder);
    let start = format!("{START}FOLDER is not a folder: ");
    assert!(message.starts_with(&start), "{message}");
}

#[test]
fn a_database_is_named() {
    let folder = TempFolder::new("database");
    let open = |name: &str| {
        let error = SqliteJournal::open(folder.0.join(name))
            .unwrap_err()
            .to_string();
        error.replace(folder.0.to_str().unwrap(), "FOLDER")
    };
    assert_eq!(
        open("runs.sqlite"),
        "the journal failed: FOLDER/runs.sqlite: there is no folder FOLDER"
    );
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(
        folder.0.join("notes.txt"),
        "notes of somebody, longer than a header",
    )
    .unwrap();
    assert_eq!(
        open("notes.txt"),
        "the journal failed: FOLDER/notes.txt: file is not a database"
    );
    // `user_version` is in the header of the file.
    let path = folder.0.join("other.sqlite");
    drop(SqliteJournal::open(&path).unwrap());
    for (version, said) in [
        (
            0,
            "it is the database of another program; give the store a file of its own",
        ),
        (
            7,
            "the tables have version 7, and this program reads version 2",
        ),
    ] {
        let mut bytes = fs::read(&path).unwrap();
        bytes[63] = version;
        fs::write(&path, bytes).unwrap();
        assert_eq!(
            open("other.sqlite"),
            format!("the journal failed: FOLDER/other.sqlite: {said}")
        );
    }
}

#[test]
fn a_message_is_an_object() {
    for message in [json!("hi"), json!(["hi"]), Value::Null] {
        let mut run = Run::new("run-1");
        let error = run.push(message).unwrap_err();
        assert!(matches!(error, RunError::NotAMessage));
        assert_eq!(
            error.to_string(),
            "the message is not an object in the provider's format; make one of a text with `Dialect::user_message`"
        );
        assert!(run.messages().is_empty());
        run.push(question()).unwrap();
    }
}

#[test]
fn a_script_that_has_ended_says_what_to_add() {
    let agent = agent(MemoryJournal::new());
    assert_eq!(
        agent.ask_blocking("Go.").unwrap_err().to_string(),
        "the request to the model failed: the script has no response for request 1; add one with `ScriptedModel::say` or `push`"
    );
}

#[test]
fn a_request_without_a_recording_says_what_is_compared() {
    let agent = Agent::new(
        Registry::new(),
        OpenAiChat::default(),
        RecordedModel::new([]),
    );
    assert_eq!(
        agent.ask_blocking("Go.").unwrap_err().to_string(),
        "the request to the model failed: no recording fits the request: what came after the last response has the \
         `after` of none"
    );
}

/// The error of a replay shows what has changed since the recording.
#[test]
fn a_request_that_was_not_recorded_shows_in_what_it_differs() {
    let recorder = Recorder::new(ScriptedModel::new([saying("5"), saying("6")])).keep_requests();
    let agent = Agent::new(registry(), dialect(), recorder.clone());
    agent.ask_blocking("What is 2 + 3?").unwrap();
    agent
        .ask_blocking("What is the sum of 3 and 3, please?")
        .unwrap();
    // The recordings come from a file.
    let saved = serde_json::to_string(&recorder.recordings()).unwrap();
    let replayed = |registry: Registry, question: &str| {
        let recordings: Vec<Recording> = serde_json::from_str(&saved).unwrap();
        let model = RecordedModel::new(recordings);
        let answer = Agent::new(registry, dialect(), model).ask_blocking(question);
        answer.map_err(|error| error.to_string())
    };
    assert_eq!(replayed(registry(), "What is 2 + 3?").unwrap(), "5");
    let error = replayed(registry(), "What is 2 + 4?").unwrap_err();
    assert!(error.contains("`messages[0]`, which has `"), "{error}");
    assert!(
        error.contains("2 + 4?") && error.ends_with("; record it again"),
        "{error}"
    );
    // The tools are the first difference, because the question was recorded.
    let error = replayed(Registry::new(), "What is 2 + 3?").unwrap_err();
    assert!(
        error.contains("first in `tools`, which has nothing in place of `[{"),
        "{error}"
    );
    assert!(error.len() < 500, "{error}");
}

#[test]
fn a_run_of_another_dialect_is_named() {
    let folder = TempFolder::new("other-dialect");
    let journal = FileJournal::new(&folder.0);
    saved(&folder);
    let model = ScriptedModel::new([]);
    let agent = Agent::new(Registry::new(), Anthropic::default(), model).journal(journal);
    let loaded = agent.load("run-1").now_or_never().unwrap();
    let mut run = loaded.unwrap().unwrap();
    assert_eq!(
        agent.run_blocking(&mut run).unwrap_err().to_string(),
        "the run \"run-1\" has the messages of chat completions, not of Anthropic; use the dialect of chat completions, or \
         move the run with `Run::translate`"
    );
}

#[test]
fn an_increment_that_is_missing_is_named() {
    let folder = TempFolder::new("missing-increment");
    let mut run = new_run();
    let mut increments = run.unsaved().to_vec();
    run.push(question()).unwrap();
    increments.push(run.unsaved().last().unwrap().clone());
    increments.remove(1);
    fs::create_dir_all(&folder.0).unwrap();
    let line = first_line(3, &serde_json::to_value(&increments).unwrap());
    fs::write(folder.0.join("run-run-1.jsonl"), line).unwrap();
    assert_eq!(
        said(FileJournal::new(&folder.0), &folder),
        "the run can't be loaded: run \"run-1\": increment 2 is missing: the next one has the number 3"
    );
}

/// Outside of a runtime.
#[test]
fn a_limit_of_time_without_timers_says_what_it_needs() {
    let model = |_| std::future::pending::<Result<Value, ModelError>>();
    let agent = Agent::new(Registry::new(), OpenAiChat::default(), model);
    let agent = agent.max_duration(Duration::from_secs(9));
    assert_eq!(
        agent.ask_blocking("Go.").unwrap_err().to_string(),
        "`Agent::max_duration` needs timers: run the agent in a runtime of tokio that has them enabled"
    );
}

/// A new run gets an id that an earlier one has.
#[test]
fn an_id_that_is_used_twice_is_named() {
    let agent = agent(MemoryJournal::new());
    agent.save(&mut new_run()).now_or_never().unwrap().unwrap();
    let error = agent
        .save(&mut new_run())
        .now_or_never()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal has more of the run \"run-1\": another program continued it, or an earlier run had the same id; load \
         it, or choose another id"
    );
}

mod before {
    /// Pays an amount.
    #[tool_core::tool(unlinked)]
    pub(super) fn pay(amount: u32) -> u32 {
        amount
    }
}

mod after {
    /// Pays an amount.
    #[tool_core::tool(unlinked)]
    pub(super) fn pay(amount: u32, currency: &str) -> String {
        format!("{amount} {currency}")
    }
}

/// A deploy changes a tool while a call of it waits.
#[test]
fn a_call_that_no_longer_fits_its_tool_can_not_be_allowed() {
    let held = |builder: RegistryBuilder| builder.before(async |_| Gate::hold("it costs money"));
    let old = held(Registry::builder().tools(tools![before::pay]));
    let new = held(Registry::builder().tools(tools![after::pay]));
    let call = calling(&[("pay", r#"{"amount":3}"#)]);
    let model = ScriptedModel::new([call, saying("Paid.")]);
    let agent = Agent::new(old.build().unwrap(), dialect(), model);
    let mut run = new_run();
    agent.run_blocking(&mut run).unwrap();
    let fingerprint = run.pending()[0].fingerprint().to_owned();
    let new = new.build().unwrap();
    let mut decide = |registry, decision| run.decide(registry, &fingerprint, decision, "ada");
    let error = decide(&new, Decision::Allow).unwrap_err();
    assert!(matches!(error, DecideError::Outdated(_)));
    let error = error.to_string();
    let start = "the tool has changed since the call, so deny the call or change its arguments: invalid arguments for pay";
    assert!(
        error.starts_with(start) && error.contains("currency: missing"),
        "{error}"
    );
    // A process without the tools decides, too.
    decide(&Registry::new(), Decision::Allow).unwrap();
}
