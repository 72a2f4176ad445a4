//! Journals: the contract of all, and the files of the one in a folder.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use futures_util::FutureExt;
use properties::random::Random;
use tool_agent::run::{
    FileJournal, Increment, Journal, JournalError, MemoryJournal, Page, Run, RunHead, RunState,
    SqliteJournal,
};
use tool_agent::testing::assert_journal;
use tool_core::runtime::BoxFuture;

use super::saving::{TempFolder, append, load, saved};
use super::{calling, dialect, holding, new_run, question, run_calls, turn};

#[test]
fn every_journal_keeps_the_contract() {
    let folder = TempFolder::new("contract");
    fs::create_dir_all(&folder.0).unwrap();
    let memory = MemoryJournal::new();
    assert_journal(|| memory.clone());
    assert_journal(|| FileJournal::new(folder.0.join("files")));
    assert_journal(|| SqliteJournal::open(folder.0.join("runs.sqlite")).unwrap());
    let shared = SqliteJournal::open(folder.0.join("shared.sqlite")).unwrap();
    assert_journal(|| shared.clone());
}

/// What a journal does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mistake {
    FoldsCase,
    AppendsAnything,
    KeepsTheFirstHead,
    ListsAllOwners,
    IgnoresPages,
    ForgetsNothing,
}

#[derive(Clone)]
struct Wrong(MemoryJournal, Mistake);

impl Journal for Wrong {
    fn append(
        &self,
        mut head: RunHead,
        mut increments: Vec<Increment>,
    ) -> BoxFuture<Result<(), JournalError>> {
        let saved = load(&self.0, &head.id);
        match self.1 {
            Mistake::FoldsCase => head.id = head.id.to_lowercase(),
            Mistake::AppendsAnything => {
                let last = saved.last().map_or(0, Increment::number);
                increments.retain(|increment| increment.number() > last);
            }
            Mistake::KeepsTheFirstHead if !saved.is_empty() => {
                let heads = self.0.runs(head.owner.as_deref(), Page::new(99));
                let heads = heads.now_or_never().unwrap().unwrap();
                head = heads.into_iter().find(|first| first.id == head.id).unwrap();
            }
            _ => {}
        }
        self.0.append(head, increments)
    }

    fn load(&self, run: &str) -> BoxFuture<Result<Vec<Increment>, JournalError>> {
        match self.1 {
            Mistake::FoldsCase => self.0.load(&run.to_lowercase()),
            _ => self.0.load(run),
        }
    }

    fn in_state(
        &self,
        state: RunState,
        mut page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        if self.1 == Mistake::IgnoresPages {
            page.limit = 99;
        }
        self.0.in_state(state, page)
    }

    fn runs(
        &self,
        owner: Option<&str>,
        page: Page,
    ) -> BoxFuture<Result<Vec<RunHead>, JournalError>> {
        match self.1 {
            Mistake::ListsAllOwners => self.0.runs(owner.map(|_| "ann"), page),
            _ => self.0.runs(owner, page),
        }
    }

    fn remove(&self, run: &str) -> BoxFuture<Result<(), JournalError>> {
        self.0.remove(run)
    }

    fn remove_before(&self, saved_ms: u64) -> BoxFuture<Result<usize, JournalError>> {
        match self.1 {
            Mistake::ForgetsNothing => self.0.remove_before(0),
            _ => self.0.remove_before(saved_ms),
        }
    }
}

#[test]
fn the_contract_finds_mistakes() {
    for mistake in [
        Mistake::FoldsCase,
        Mistake::AppendsAnything,
        Mistake::KeepsTheFirstHead,
        Mistake::ListsAllOwners,
        Mistake::IgnoresPages,
        Mistake::ForgetsNothing,
    ] {
        let journal = Wrong(MemoryJournal::new(), mistake);
        let checked = catch_unwind(AssertUnwindSafe(|| assert_journal(|| journal.clone())));
        assert!(checked.is_err(), "{mistake:?}");
    }
}

#[test]
fn a_database_of_another_program_is_not_touched() {
    let folder = TempFolder::new("other-database");
    fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("notes.sqlite");
    fs::write(&path, "These are notes, and no database. ".repeat(50)).unwrap();
    let error = SqliteJournal::open(&path).unwrap_err();
    assert!(error.to_string().contains("notes.sqlite"), "{error}");
}

#[test]
fn names_of_files_differ_on_every_file_system() {
    let folder = TempFolder::new("apart");
    let journal = FileJournal::new(&folder.0);
    let long = "A".repeat(300);
    let ids = [
        "a", "A", "..", "a/b", "a_2fb", "", "ä", "con", "a\0b", &long,
    ];
    for id in ids {
        assert!(load(&journal, id).is_empty(), "{id:?}");
        append(&journal, &mut Run::new(id)).unwrap();
        assert_eq!(Run::replay(load(&journal, id)).unwrap().id(), id);
    }
    let names = fs::read_dir(&folder.0).unwrap();
    let names: HashSet<_> = names
        .map(|entry| entry.unwrap().file_name().to_ascii_lowercase())
        .collect();
    assert_eq!(names.len(), ids.len());
    assert!(names.iter().all(|name| name.len() < 200), "{names:?}");
}

fn heads(journal: &FileJournal) -> Result<Vec<RunHead>, JournalError> {
    journal.runs(None, Page::new(99)).now_or_never().unwrap()
}

/// A crash leaves any part of the last line, or all of it with a hole.
#[test]
fn a_torn_end_was_never_saved_and_the_next_append_replaces_it() {
    let folder = TempFolder::new("torn");
    let journal = FileJournal::new(&folder.0);
    let path = folder.0.join("run-run-1.jsonl");
    let mut run = new_run();
    append(&journal, &mut run).unwrap();
    let first = fs::read(&path).unwrap();
    let saved_first = saved(&run);
    let first_head = heads(&journal).unwrap();
    run.push(question()).unwrap();
    let increments = run.unsaved().to_vec();
    append(&journal, &mut run).unwrap();
    let both = fs::read(&path).unwrap();
    let second = both.len() - first.len();
    let mut ends: Vec<Vec<u8>> = (0..second)
        .map(|length| both[..first.len() + length].to_vec())
        .collect();
    for at in first.len()..both.len() - 1 {
        let mut hole = both.clone();
        let end = (at + 7).min(both.len() - 1);
        hole[at..end].fill(0);
        ends.push(hole);
    }
    ends.push([&*first, &vec![0; second]].concat());
    ends.push([&*both, b"\n".as_slice()].concat()[..both.len()].to_vec());
    let complete = ends.pop().unwrap();
    for torn in ends {
        fs::write(&path, &torn).unwrap();
        let loaded = Run::replay(load(&journal, "run-1")).unwrap();
        assert_eq!(saved(&loaded), saved_first);
        assert_eq!(heads(&journal).unwrap(), first_head);
        let appended = journal.append(run.head(), increments.clone());
        appended.now_or_never().unwrap().unwrap();
        let loaded = Run::replay(load(&journal, "run-1")).unwrap();
        assert_eq!(saved(&loaded), saved(&run));
        assert_eq!(fs::read(&path).unwrap().len(), both.len());
    }
    fs::write(&path, complete).unwrap();
    assert_eq!(
        saved(&Run::replay(load(&journal, "run-1")).unwrap()),
        saved(&run)
    );
}

#[test]
fn damage_before_a_complete_line_is_an_error_that_names_the_file() {
    let folder = TempFolder::new("damaged");
    let journal = FileJournal::new(&folder.0);
    let path = folder.0.join("run-run-1.jsonl");
    let mut run = new_run();
    append(&journal, &mut run).unwrap();
    let first = fs::metadata(&path).unwrap().len();
    run.push(question()).unwrap();
    append(&journal, &mut run).unwrap();
    let whole = fs::read(&path).unwrap();
    for at in 0..usize::try_from(first).unwrap() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let error = journal.load("run-1").now_or_never().unwrap().unwrap_err();
        assert!(error.to_string().contains("run-run-1.jsonl"), "{error}");
    }
    // Files of others are ignored.
    fs::write(&path, &whole).unwrap();
    for foreign in ["notes.jsonl", ".run-2.jsonl", "run-2.jsonl~", "run-3.txt"] {
        fs::write(folder.0.join(foreign), "{}").unwrap();
    }
    assert_eq!(heads(&journal).unwrap().len(), 1);
}

#[test]
fn a_folder_that_can_not_be_written_loses_nothing() {
    let folder = TempFolder::new("unwritable");
    let journal = FileJournal::new(&folder.0);
    let run = new_run();
    let append = || {
        let appended = journal.append(run.head(), run.unsaved().to_vec());
        appended.now_or_never().unwrap()
    };
    let fails_at = |path: &Path| {
        let error = append().unwrap_err();
        assert!(matches!(error, JournalError::Failed(_)), "{error}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(error.to_string().contains(name), "{error}");
    };
    let file = folder.0.join("run-run-1.jsonl");
    // The folder is a file.
    fs::write(&folder.0, "").unwrap();
    fails_at(&folder.0);
    fs::remove_file(&folder.0).unwrap();
    // The file is a folder.
    fs::create_dir_all(&file).unwrap();
    fails_at(&file);
    fs::remove_dir(&file).unwrap();
    assert!(load(&journal, "run-1").is_empty());
    append().unwrap();
    assert_eq!(load(&journal, "run-1").len(), run.unsaved().len());
    // The run can't be marked as one that waits, so it does not wait.
    let marks = folder.0.join("states/waiting");
    fs::write(&marks, "").unwrap();
    let mut waiting = Run::new("run-2");
    append_waiting(&journal, &mut waiting).unwrap_err();
    assert!(load(&journal, "run-2").is_empty());
    fs::remove_file(&marks).unwrap();
    append_waiting(&journal, &mut waiting).unwrap();
    assert_eq!(listed(&journal, RunState::Waiting), ["run-2"]);
    let names = fs::read_dir(&folder.0).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["run-run-1.jsonl", "run-run-2.jsonl", "states"]);
}

/// Appends a run that waits for a decision.
fn append_waiting(journal: &dyn Journal, run: &mut Run) -> Result<(), JournalError> {
    if run.rounds().is_empty() {
        run.push(question()).unwrap();
        let response = turn(&calling(&[("delete_note", r#"{"id":7}"#)]));
        run.respond(&dialect(), &holding(), response).unwrap();
        run_calls(run, &holding());
    }
    append(journal, run)
}

/// Returns the ids of the runs in a state.
fn listed(journal: &dyn Journal, state: RunState) -> Vec<String> {
    let heads = journal.in_state(state, Page::new(9999)).now_or_never();
    let heads = heads.unwrap().unwrap().into_iter();
    let mut ids: Vec<_> = heads.map(|head| head.id).collect();
    ids.sort();
    ids
}

/// Asserts that each run is listed in its state.
fn assert_listed(journal: &FileJournal) {
    let states = [RunState::Waiting, RunState::Unfinished, RunState::Idle];
    // Before `runs`, which adds missing marks.
    let all = states.map(|state| listed(journal, state));
    let heads = heads(journal).unwrap();
    for (state, listed) in states.into_iter().zip(all) {
        let heads = heads.iter().filter(|head| head.state() == state);
        let mut expected: Vec<_> = heads.map(|head| head.id.clone()).collect();
        expected.sort();
        assert_eq!(listed, expected, "{state:?}");
    }
}

/// Returns how many bytes this thread reads from files meanwhile.
#[cfg(target_os = "linux")]
fn bytes_read(work: impl FnOnce()) -> u64 {
    let count = || {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
        (line.unwrap().parse::<u64>().unwrap(), io.len() as u64)
    };
    let (before, own) = count();
    work();
    count().0 - before - own
}

#[cfg(target_os = "linux")]
#[test]
fn a_list_of_a_state_costs_what_is_in_it() {
    let folder = TempFolder::new("list-costs");
    let journal = FileJournal::new(&folder.0);
    append_waiting(&journal, &mut Run::new("waiting")).unwrap();
    append(&journal, &mut new_run()).unwrap();
    append(&journal, &mut Run::new("idle")).unwrap();
    let idle = folder.0.join("run-idle.jsonl");
    let mut costs = Vec::new();
    let (mut first, mut copies) = (0, 0);
    for size in [10, 100, 1000] {
        while copies < size {
            copies += 1;
            fs::copy(&idle, folder.0.join(format!("run-idle-{copies}.jsonl"))).unwrap();
        }
        // As an earlier version left it: the first list reads all runs, and no other one does.
        fs::remove_dir_all(folder.0.join("states")).unwrap();
        first = bytes_read(|| assert_eq!(listed(&journal, RunState::Waiting), ["waiting"]));
        costs.push(bytes_read(|| {
            assert_eq!(listed(&journal, RunState::Waiting), ["waiting"]);
            assert_eq!(listed(&journal, RunState::Unfinished), ["run-1"]);
        }));
    }
    assert!(
        costs[0] > 0 && costs.iter().all(|cost| *cost == costs[0]),
        "{costs:?}"
    );
    assert!(first > 100 * costs[0], "{first} and {costs:?}");
}

#[test]
fn marks_that_are_missing_or_no_longer_true_change_no_list() {
    let folder = TempFolder::new("marks");
    let journal = FileJournal::new(&folder.0);
    let mut waiting = Run::new("waiting");
    append_waiting(&journal, &mut waiting).unwrap();
    append(&journal, &mut new_run()).unwrap();
    append(&journal, &mut Run::new("idle")).unwrap();
    let mark = |state: &str, run: &str| folder.0.join(format!("states/{state}/run-{run}.jsonl"));
    assert_listed(&journal);
    assert!(mark("waiting", "waiting").exists() && mark("unfinished", "run-1").exists());
    // A crash after a mark was written, or before one was removed.
    for run in ["waiting", "run-1", "idle", "removed"] {
        fs::write(mark("waiting", run), "").unwrap();
        fs::write(mark("unfinished", run), "").unwrap();
    }
    assert_listed(&journal);
    // The next state removes it.
    waiting.cancel(&dialect()).unwrap();
    append(&journal, &mut waiting).unwrap();
    assert!(!mark("waiting", "waiting").exists() && !mark("unfinished", "waiting").exists());
    journal.remove("run-1").now_or_never().unwrap().unwrap();
    assert!(!mark("waiting", "run-1").exists() && !mark("unfinished", "run-1").exists());
    assert_listed(&journal);
    // A program of an earlier version writes none. The next list of all runs adds them.
    append_waiting(&journal, &mut Run::new("run-2")).unwrap();
    fs::remove_file(mark("waiting", "run-2")).unwrap();
    heads(&journal).unwrap();
    assert_listed(&journal);
    assert_eq!(listed(&journal, RunState::Waiting), ["run-2"]);
}

/// Set in a process that is killed.
const APPENDING: &str = "TOOL_CORE_TEST_APPENDING";

/// The process that is killed: brings runs into all states. Does nothing in a usual run of the tests.
#[test]
fn appending_process() {
    let Some(folder) = std::env::var_os(APPENDING) else {
        return;
    };
    let journal = FileJournal::new(folder);
    // Made before, so that most of the time passes within the journal.
    let appends = ["run-1", "run-2", "run-3"].map(|id| {
        let memory = MemoryJournal::new();
        let mut run = Run::new(id);
        append(&memory, &mut run).unwrap();
        let mut appends = vec![(run.head(), load(&memory, id))];
        append_waiting(&memory, &mut run).unwrap();
        appends.push((run.head(), load(&memory, id)));
        run.cancel(&dialect()).unwrap();
        append(&memory, &mut run).unwrap();
        appends.push((run.head(), load(&memory, id)));
        run.push(question()).unwrap();
        append(&memory, &mut run).unwrap();
        appends.push((run.head(), load(&memory, id)));
        for at in (1..appends.len()).rev() {
            let before = appends[at - 1].1.len();
            appends[at].1.drain(..before);
        }
        appends
    });
    println!("appending");
    loop {
        for appends in &appends {
            // Another process has some of them, so that there are conflicts.
            let _ = journal.remove(&appends[0].0.id).now_or_never();
            for (head, increments) in appends {
                let _ = journal
                    .append(head.clone(), increments.clone())
                    .now_or_never();
            }
        }
    }
}

#[test]
fn processes_that_are_killed_lose_no_mark() {
    let folder = TempFolder::new("killed-marks");
    let journal = FileJournal::new(&folder.0);
    append(&journal, &mut new_run()).unwrap();
    assert_listed(&journal);
    let mut random = Random::named("killed-marks", 1);
    for _ in 0..20 {
        let start = || {
            let test = "journals::appending_process";
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", test, "--nocapture"])
                .env(APPENDING, &folder.0)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let mut processes = [start(), start()];
        let outputs = processes.each_mut().map(|process| {
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            lines.find(|line| line.as_ref().unwrap().ends_with("appending"));
            lines
        });
        // At any point of an append or of a removal.
        sleep(Duration::from_micros(random.below(20_000) as u64));
        for mut process in processes {
            process.kill().unwrap();
            process.wait().unwrap();
        }
        drop(outputs);
        assert_listed(&journal);
    }
}

#[cfg(unix)]
#[test]
fn nobody_else_reads_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempFolder::new("permissions");
    append(&FileJournal::new(&folder.0), &mut new_run()).unwrap();
    let file = fs::metadata(folder.0.join("run-run-1.jsonl")).unwrap();
    assert_eq!(file.permissions().mode() & 0o077, 0);
}

/// Each journal has a run of three appends.
fn three_appends(journal: &dyn Journal) -> Run {
    let mut run = new_run();
    let append = |run: &mut Run| {
        let appended = journal.append(run.head(), run.unsaved().to_vec());
        appended.now_or_never().unwrap().unwrap();
        run.mark_saved(u64::MAX);
    };
    append(&mut run);
    let response = turn(&calling(&[("delete_note", r#"{"id":7}"#)]));
    run.respond(&dialect(), &holding(), response).unwrap();
    append(&mut run);
    run_calls(&mut run, &holding());
    append(&mut run);
    run
}

/// Somebody copies a file onto its end, or removes or copies a line.
#[test]
fn a_line_in_another_place_is_an_error() {
    let folder = TempFolder::new("moved");
    let journal = FileJournal::new(&folder.0);
    let path = folder.0.join("run-run-1.jsonl");
    let mut run = three_appends(&journal);
    let whole = fs::read(&path).unwrap();
    let lines: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let [one, two, three] = lines[..] else {
        panic!("{} lines", lines.len());
    };
    run.cancel(&dialect()).unwrap();
    for (what, damaged) in [
        ("the file twice", [&*whole, &whole].concat()),
        ("a line twice", [&*whole, one].concat()),
        ("the first line missing", [two, three].concat()),
        ("a line missing", [one, three].concat()),
        ("lines in another order", [one, three, two].concat()),
    ] {
        fs::write(&path, &damaged).unwrap();
        let appended = journal.append(run.head(), run.unsaved().to_vec());
        let error = appended.now_or_never().unwrap().unwrap_err();
        assert!(
            error.to_string().contains("run-run-1.jsonl"),
            "{what}: {error}"
        );
        let error = journal.load("run-1").now_or_never().unwrap().unwrap_err();
        assert!(
            error.to_string().contains("run-run-1.jsonl"),
            "{what}: {error}"
        );
        assert_eq!(fs::read(&path).unwrap(), damaged);
    }
    // One line twice is a copy, too.
    fs::write(&path, [one, one].concat()).unwrap();
    journal.load("run-1").now_or_never().unwrap().unwrap_err();
    fs::write(&path, &whole).unwrap();
    append(&journal, &mut run).unwrap();
    assert_eq!(
        saved(&Run::replay(load(&journal, "run-1")).unwrap()),
        saved(&run)
    );
}

/// A disk changes bits, loses an end or a block, or writes one twice: an error, or an earlier state of the run.
#[test]
fn what_a_disk_damages_is_never_taken_for_what_was_saved() {
    let rounds = if std::env::var_os("TOOL_CORE_LONG").is_some() {
        5_000
    } else {
        100
    };
    let folder = TempFolder::new("disk");
    let file = FileJournal::new(&folder.0);
    let run = three_appends(&file);
    let database = folder.0.join("runs.sqlite");
    three_appends(&SqliteJournal::open(&database).unwrap());
    let increments = load(&file, "run-1");
    let states = (1..=increments.len()).map(|end| {
        let run = Run::replay(increments[..end].iter().cloned()).unwrap();
        saved(&run)
    });
    let states: Vec<_> = states.collect();
    assert_eq!(states.last(), Some(&saved(&run)));
    let mut random = Random::named("disk", 1);
    for path in [folder.0.join("run-run-1.jsonl"), database] {
        let whole = fs::read(&path).unwrap();
        let mut errors = 0;
        for round in 0..rounds {
            let mut bytes = whole.clone();
            let at = random.below(bytes.len());
            match round % 4 {
                0 | 1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes.truncate(at),
                _ => {
                    let (from, to) = (at / 512 * 512, random.below(whole.len()) / 512 * 512);
                    let end = (from + 512).min(whole.len()).min(from + whole.len() - to);
                    bytes[to..to + end - from].copy_from_slice(&whole[from..end]);
                }
            }
            fs::write(&path, &bytes).unwrap();
            for rest in ["-wal", "-shm"] {
                let _ = fs::remove_file(format!("{}{rest}", path.display()));
            }
            let loaded = if path.extension().unwrap() == "sqlite" {
                let journal = SqliteJournal::open(&path);
                journal.and_then(|journal| journal.load("run-1").now_or_never().unwrap())
            } else {
                file.load("run-1").now_or_never().unwrap()
            };
            match loaded {
                Ok(increments) if increments.is_empty() => {}
                Ok(increments) => match Run::replay(increments) {
                    Ok(run) => assert!(states.contains(&saved(&run)), "round {round}"),
                    Err(_) => errors += 1,
                },
                Err(_) => errors += 1,
            }
        }
        assert!(errors > rounds / 10, "{errors} of {}", path.display());
    }
}
