//! What each version of the saved form has written, in `saved`: it loads, as `POLICIES.md` promises.

use std::fs;
use std::path::{Path, PathBuf};

use futures_util::FutureExt;
use serde_json::{Value, json};
use tool_agent::run::{FileJournal, Increment, Journal, Run, SqliteJournal, Step};
use tool_core::dialect::RequestOptions;
use tool_core::hooks::Decision;
use tool_core::registry::WAIT_FOR_RESULTS;
use tool_core::{Registry, tools};

use super::saving::{TempFolder, append, build, first_line, load, publish, saved};
use super::{calling, dialect, holding, question, run_calls, saying, turn};

const IDS: [&str; 2] = ["run-1", "run-2"];

/// Starts the calls that are ready, and runs those that are not in the background.
fn start_calls(run: &mut Run, registry: &Registry) {
    while let Step::Call(calls) = run.next() {
        run.start(&calls).unwrap();
        run.acknowledge(&dialect(), registry, &calls).unwrap();
        for call in calls {
            if !run.is_in_background(&call) {
                let result = registry.call_blocking(call);
                run.finish(&dialect(), result).unwrap();
            }
        }
    }
}

/// Ends a call in the background.
fn end_call(run: &mut Run, registry: &Registry) {
    let call = run.in_background().next().unwrap();
    run.finish(&dialect(), registry.call_blocking(call))
        .unwrap();
}

/// Runs with about everything that happens to runs.
fn runs() -> [Run; 2] {
    let registry = holding();
    registry.add(tools![build, publish]).unwrap();
    let respond = |run: &mut Run, response: &Value| {
        run.respond(&dialect(), &registry, turn(response)).unwrap();
    };
    let (look_up, delete) = (
        ("look_up", r#"{"key":"a"}"#),
        ("delete_note", r#"{"id":7}"#),
    );
    let (build, wait) = (("build", r#"{"id":1}"#), (WAIT_FOR_RESULTS, "{}"));

    let mut decided = Run::new(IDS[0]);
    decided.push(question()).unwrap();
    respond(
        &mut decided,
        &calling(&[look_up, delete, ("unknown", "{}"), ("look_up", "{")]),
    );
    run_calls(&mut decided, &registry);
    let fingerprint = decided.pending()[0].fingerprint().to_owned();
    decided
        .decide(&registry, &fingerprint, Decision::Allow, "Ada")
        .unwrap();
    run_calls(&mut decided, &registry);
    respond(&mut decided, &saying("Done."));
    decided.push(question()).unwrap();
    respond(&mut decided, &calling(&[delete]));
    run_calls(&mut decided, &registry);

    let options = RequestOptions::new().parallel(false);
    let builder = Run::builder(IDS[1]).owner("ann").meta(json!({"case": 7}));
    let mut owned = builder.request_options(options).build();
    owned.push(question()).unwrap();
    respond(&mut owned, &calling(&[build, build]));
    start_calls(&mut owned, &registry);
    respond(&mut owned, &calling(&[wait]));
    end_call(&mut owned, &registry);
    respond(&mut owned, &saying("One is built."));
    end_call(&mut owned, &registry);
    respond(&mut owned, &saying("Both are built."));
    owned.push(question()).unwrap();
    respond(&mut owned, &calling(&[look_up]));
    owned.cancel(&dialect()).unwrap();
    owned.set_request_options(None);
    owned.push(question()).unwrap();
    respond(&mut owned, &calling(&[look_up, build]));
    let Step::Call(calls) = owned.next() else {
        panic!("{owned:?}");
    };
    owned.start(&calls).unwrap();
    [decided, owned]
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs/saved")
}

/// Writes what this version saves.
fn write(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let files = FileJournal::new(folder);
    let database = SqliteJournal::open(folder.join("runs.sqlite")).unwrap();
    for mut run in runs() {
        let state = serde_json::to_string_pretty(&run).unwrap();
        fs::write(folder.join(format!("{}.json", run.id())), state + "\n").unwrap();
        append(&files, &mut run.clone()).unwrap();
        append(&database, &mut run).unwrap();
    }
}

#[test]
fn what_each_version_has_saved_still_loads() {
    let version = saved(&Run::new("run-1"))["version"].to_string();
    let current = folder().join(&version);
    if std::env::var_os("BLESS").is_some() && !current.exists() {
        write(&current);
    }
    assert!(current.exists(), "write {} with BLESS=1", current.display());
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let copy = TempFolder::new(&format!("version-{}", entry.file_name().display()));
        fs::create_dir_all(&copy.0).unwrap();
        for file in fs::read_dir(entry.path()).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), copy.0.join(file.file_name())).unwrap();
        }
        let files = FileJournal::new(&copy.0);
        let database = SqliteJournal::open(copy.0.join("runs.sqlite")).unwrap();
        let mut loaded = Vec::new();
        for id in IDS {
            let state = fs::read(copy.0.join(format!("{id}.json"))).unwrap();
            let mut run: Run = serde_json::from_slice(&state).unwrap();
            assert_eq!(saved(&Run::replay(load(&files, id)).unwrap()), saved(&run));
            assert_eq!(
                saved(&Run::replay(load(&database, id)).unwrap()),
                saved(&run)
            );
            loaded.push(run.clone());
            // They go on.
            run.resume(&dialect(), &holding()).unwrap();
            run.cancel(&dialect()).unwrap();
            run.push(question()).unwrap();
            append(&files, &mut run.clone()).unwrap();
            append(&database, &mut run).unwrap();
        }
        let [decided, owned] = &loaded[..] else {
            panic!()
        };
        let by: Vec<_> = decided.rounds()[0]
            .decisions(1)
            .map(|(_, _, by)| by)
            .collect();
        assert_eq!((by, decided.pending().len()), (vec!["Ada"], 1));
        assert_eq!(
            (owned.info().owner(), &owned.info().meta()["case"]),
            (Some("ann"), &json!(7))
        );
        assert_eq!(owned.background_messages().len(), 1);
        assert_eq!(owned.rounds().len(), 6);
    }
}

/// The error says who can read the run, also if its increments have kinds of changes that this program does not know.
#[test]
fn a_run_of_a_newer_version_names_the_program_that_wrote_it() {
    let newer = json!([
        {"number": 1, "change": {"Created": {"version": 9, "program": "tool-agent 0.9.0", "id": "run-1", "new": 1}}},
        {"number": 2, "change": {"Rewound": 7}},
    ]);
    serde_json::from_value::<Vec<Increment>>(newer.clone()).unwrap_err();
    let folder = TempFolder::new("newer");
    fs::create_dir_all(&folder.0).unwrap();
    fs::write(folder.0.join("run-run-1.jsonl"), first_line(2, &newer)).unwrap();
    let loaded = FileJournal::new(&folder.0)
        .load("run-1")
        .now_or_never()
        .unwrap();
    let error = loaded.unwrap_err().to_string();
    let said = "the run was saved by tool-agent 0.9.0 in version 9 of its form";
    assert!(
        error.contains(said) && error.contains("run-run-1.jsonl"),
        "{error}"
    );
}
